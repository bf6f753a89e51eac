package debeziumconfig

import (
	"regexp"
	"strconv"
)

// Properties with a parameter in their names.
var (
	truncateName = regexp.MustCompile(`^column\.truncate\.to\.(\d+)\.chars$`)
	maskCharName = regexp.MustCompile(`^column\.mask\.with\.(\d+)\.chars$`)
	maskHashName = regexp.MustCompile(`^column\.mask\.hash\.(v2\.)?([^.]+)\.with\.salt\.(.+)$`)
)

func truncations(t *translation, s section) {
	t.columnRules(s, "column_truncate_to_chars", truncateName, length)
}

func masks(t *translation, s section) {
	t.columnRules(s, "column_mask_with_chars", maskCharName, length)
}

// length reads the number in the name of a property.
func length(match []string) map[string]any {
	n, err := strconv.Atoi(match[1])
	if err != nil {
		return nil
	}
	return map[string]any{"length": n}
}

func hashes(t *translation, s section) {
	t.columnRules(s, "column_mask_hash", maskHashName, func(match []string) map[string]any {
		version := 1
		if match[1] != "" {
			version = 2
		}
		return map[string]any{"algorithm": match[2], "salt": match[3], "version": version}
	})
}

// columnRules makes a list of objects of the properties that a pattern matches;
// read returns what their names say.
func (t *translation) columnRules(s section, field string, pattern *regexp.Regexp, read func(match []string) map[string]any) {
	var list []map[string]any
	property := ""
	rests, values := t.takeMatching(pattern)
	for _, name := range rests {
		object := read(pattern.FindStringSubmatch(name))
		columns := split(values[name])
		switch {
		case object == nil:
			t.note(s, name, Invalid, "the number in the name is too large")
		case len(columns) == 0:
		default:
			object["columns"] = columns
			list = append(list, object)
			property = name
		}
	}
	if len(list) > 0 {
		t.set(Field{Name: field, Value: list, Property: maskName(property), section: s})
	}
}
