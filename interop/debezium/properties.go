package debezium

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"strings"
)

// Properties are a connector's configuration.
type Properties map[string]string

// ParseProperties reads the part of Java's properties format that connector
// files use: name=value lines, blank lines, comments with # or !, and a
// backslash at the end of a line to continue it. Names and values are trimmed;
// a name that stands twice is an error.
func ParseProperties(r io.Reader) (Properties, error) {
	properties := Properties{}
	scanner := bufio.NewScanner(r)
	number, pending := 0, ""
	for scanner.Scan() {
		number++
		line := pending + strings.TrimSpace(scanner.Text())
		if pending == "" && (line == "" || line[0] == '#' || line[0] == '!') {
			continue
		}
		if continued, ok := strings.CutSuffix(line, `\`); ok {
			pending = continued
			continue
		}
		pending = ""
		if err := properties.set(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("reading properties: %w", err)
	}
	if pending != "" {
		return nil, fmt.Errorf("line %d: nothing follows %q", number, pending+`\`)
	}
	return properties, nil
}

// set adds one name=value.
func (p Properties) set(assignment string) error {
	name, value, ok := strings.Cut(assignment, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		return fmt.Errorf("want name=value, got %q", assignment)
	}
	if _, twice := p[name]; twice {
		return fmt.Errorf("%q stands twice", name)
	}
	p[name] = strings.TrimSpace(value)
	return nil
}

// With returns a copy where the other's values take precedence.
func (p Properties) With(other Properties) Properties {
	merged := maps.Clone(p)
	if merged == nil {
		merged = Properties{}
	}
	maps.Copy(merged, other)
	return merged
}

// Databases are the databases that the connector reads, database.names.
func (p Properties) Databases() []string {
	return splitList(p["database.names"])
}

// Mask reports whether rows hold other values than the tables.
func (p Properties) Mask() bool {
	for name := range p {
		if strings.HasPrefix(name, "column.mask.") || strings.HasPrefix(name, "column.truncate.") {
			return true
		}
	}
	return false
}

// SignalTable is the first table of signal.data.collection as database, schema
// and table; ok is false if there is none.
func (p Properties) SignalTable() (database, schema, table string, ok bool) {
	tables := splitList(p["signal.data.collection"])
	if len(tables) == 0 {
		return "", "", "", false
	}
	parts := strings.Split(tables[0], ".")
	if len(parts) != 3 {
		return "", "", "", false
	}
	return parts[0], parts[1], parts[2], true
}

func splitList(list string) []string {
	var items []string
	for item := range strings.SplitSeq(list, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
