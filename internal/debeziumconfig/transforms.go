package debeziumconfig

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Transform is a single message transformation of Kafka Connect and the
// processors that take its place.
type Transform struct {
	Name  string
	Class string
	// Steps are what replaces it, in order; none if Why is set.
	Steps []Step
	// Remarks are differences to know of.
	Remarks []string
	// Why says why there are no steps.
	Why string
	// Details are the properties of a transformation without steps, to write
	// its replacement by hand.
	Details []string
}

// Step is one mapping and the condition, in Bloblang too, of the messages that
// it is for; empty for all.
type Step struct {
	Check, Mapping string
}

// smt is a transformation being translated.
type smt struct {
	name, class string
	target      string // Key or Value, where the class says it
	props       map[string]string
	used        map[string]bool
	generation  Generation
	schemas     struct{ key, value bool }
	// tombstones is set if deletes are followed by messages without a value.
	tombstones bool
	// textKeys and textValues are set if the converters write texts without
	// quotes.
	textKeys, textValues bool
	remarks              []string
}

// translators make steps of transformations, by their class without package
// and target.
var translators = map[string]func(*smt) ([]Step, error){
	"io.debezium.transforms.ExtractNewRecordState":           extractNewRecordState,
	"io.debezium.transforms.UnwrapFromEnvelope":              extractNewRecordState,
	"io.debezium.transforms.ByLogicalTableRouter":            byLogicalTableRouter,
	"io.debezium.transforms.ContentBasedRouter":              contentBasedRouter,
	"io.debezium.transforms.Filter":                          filterByContent,
	"io.debezium.transforms.outbox.EventRouter":              eventRouter,
	"io.debezium.transforms.HeaderToValue":                   headerToValue,
	"io.debezium.transforms.TimezoneConverter":               timezoneConverter,
	"org.apache.kafka.connect.transforms.Cast":               cast,
	"org.apache.kafka.connect.transforms.Flatten":            flattenValue,
	"org.apache.kafka.connect.transforms.SetSchemaMetadata":  setSchemaMetadata,
	"org.apache.kafka.connect.transforms.RegexRouter":        regexRouter,
	"org.apache.kafka.connect.transforms.TimestampRouter":    timestampRouter,
	"org.apache.kafka.connect.transforms.Filter":             drop,
	"org.apache.kafka.connect.transforms.ExtractField":       extractField,
	"org.apache.kafka.connect.transforms.HoistField":         hoistField,
	"org.apache.kafka.connect.transforms.InsertField":        insertField,
	"org.apache.kafka.connect.transforms.MaskField":          maskField,
	"org.apache.kafka.connect.transforms.ReplaceField":       replaceField,
	"org.apache.kafka.connect.transforms.TimestampConverter": timestampConverter,
	"org.apache.kafka.connect.transforms.ValueToKey":         valueToKey,
	"org.apache.kafka.connect.transforms.InsertHeader":       insertHeader,
	"org.apache.kafka.connect.transforms.DropHeaders":        dropHeaders,
}

// notTombstone is the condition of transformations that need a value.
const notTombstone = `@kind != "tombstone"`

// transforms translates the transformations in their order.
func (t *translation) transforms() []Transform {
	names, _ := t.take("transforms")
	var list []Transform
	for _, name := range split(names) {
		rests, values := t.takePrefix("transforms." + name + ".")
		s := &smt{
			name: name, props: values, used: map[string]bool{"type": true, "predicate": true, "negate": true},
			generation: t.result.Generation, tombstones: !strings.EqualFold(t.first("tombstones.on.delete"), "false"),
			textKeys: t.result.Converters.Key.text(), textValues: t.result.Converters.Value.text(),
		}
		s.schemas.key, s.schemas.value = t.result.Converters.Key.Schemas, t.result.Converters.Value.Schemas
		s.class, s.target, _ = strings.Cut(values["type"], "$")
		transform := s.translate(t.predicate(values["predicate"], values["negate"]))
		if transform.Why != "" {
			t.note(connect, "transforms."+name, Untranslated, transform.Why)
		} else {
			for _, rest := range rests {
				if !s.used[rest] {
					t.note(connect, "transforms."+name+"."+rest, Differs, "not in the mapping that replaces the transformation")
				}
			}
		}
		list = append(list, transform)
	}
	t.takePrefix("predicates.")
	for _, name := range slices.Sorted(maps.Keys(t.left)) {
		if strings.HasPrefix(name, "transforms.") {
			t.take(name)
			t.note(connect, name, NotApplicable, "the list transforms does not name it")
		}
	}
	t.take("predicates")
	return list
}

// translate makes the steps, for the messages that a predicate holds for.
func (s *smt) translate(predicate string, err error) Transform {
	transform := Transform{Name: s.name, Class: s.props["type"]}
	var steps []Step
	if translator, known := translators[s.class]; err == nil && known {
		steps, err = translator(s)
	} else if err == nil && transform.Class == "" {
		err = fmt.Errorf("transforms.%s.type is missing", s.name)
	} else if err == nil {
		err = fmt.Errorf("%s has no counterpart here; write a mapping", s.class)
	}
	if err != nil {
		transform.Why = err.Error()
		for _, name := range slices.Sorted(maps.Keys(s.props)) {
			if name != "type" && !isSecret(name) {
				transform.Details = append(transform.Details, name+" = "+s.props[name])
			}
		}
		return transform
	}
	for i := range steps {
		steps[i].Check = both(predicate, steps[i].Check)
	}
	transform.Steps, transform.Remarks = steps, s.remarks
	return transform
}

// both is the conjunction of two conditions, either of which may be empty.
func both(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " && " + b
}

// get returns a property of the transformation, or its default.
func (s *smt) get(name, otherwise string) string {
	s.used[name] = true
	if value, ok := s.props[name]; ok && strings.TrimSpace(value) != "" {
		return strings.TrimSpace(value)
	}
	return otherwise
}

// flag is get for a switch.
func (s *smt) flag(name string, otherwise bool) bool {
	return strings.EqualFold(s.get(name, strconv.FormatBool(otherwise)), "true")
}

func (s *smt) remark(text string) {
	s.remarks = append(s.remarks, text)
}

// predicate translates a predicate by its name, empty for none.
func (t *translation) predicate(name, negate string) (string, error) {
	if name = strings.TrimSpace(name); name == "" {
		return "", nil
	}
	prefix := "predicates." + name + "."
	class := t.first(prefix + "type")
	var check string
	switch class {
	case "org.apache.kafka.connect.transforms.predicates.TopicNameMatches":
		pattern, err := wholeMatch(t.first(prefix + "pattern"))
		if err != nil {
			return "", fmt.Errorf("predicate %s: %w", name, err)
		}
		check = "@topic.re_match(" + strconv.Quote(pattern) + ")"
	case "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone":
		check = `@kind == "tombstone"`
	case "org.apache.kafka.connect.transforms.predicates.HasHeaderKey":
		check = "@" + path(t.first(prefix+"name")) + " != null"
	case "":
		return "", fmt.Errorf("the predicate %s has no type", name)
	default:
		return "", fmt.Errorf("the predicate %s, %s, is not translated", name, class)
	}
	if strings.EqualFold(strings.TrimSpace(negate), "true") {
		check = "!(" + check + ")"
	}
	return check, nil
}

// wholeMatch anchors a Java regular expression. Bloblang's are those of Go,
// which look neither ahead nor behind.
func wholeMatch(pattern string) (string, error) {
	anchored := "^(?:" + pattern + ")$"
	if _, err := regexp.Compile(anchored); err != nil {
		return "", fmt.Errorf("regular expression %q is none of Bloblang's", pattern)
	}
	return anchored, nil
}

// replacement turns what Java puts in place of a match into Go's form.
func replacement(java string) string {
	var out strings.Builder
	for i := 0; i < len(java); i++ {
		switch c := java[i]; {
		case c == '\\' && i+1 < len(java):
			i++
			if java[i] == '$' {
				out.WriteByte('$')
			}
			out.WriteByte(java[i])
		case c == '$' && i+1 < len(java) && java[i+1] >= '0' && java[i+1] <= '9':
			// Java takes one digit, and more as long as there are such
			// groups; more than nine are rare.
			i++
			out.WriteString("${" + string(java[i]) + "}")
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// plainName matches names that Bloblang takes without quotes.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// path is a field's name as the last part of a path.
func path(field string) string {
	if plainName.MatchString(field) {
		return field
	}
	return strconv.Quote(field)
}

// quoteList is a list of texts in Bloblang.
func quoteList(items []string) string {
	quoted := make([]string, len(items))
	for i, item := range items {
		quoted[i] = strconv.Quote(item)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func lines(text ...string) string {
	return strings.Join(text, "\n")
}
