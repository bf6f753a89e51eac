package debeziumconfig

import (
	"fmt"
	"strings"
)

// rule says what becomes of one property, or of a family of them.
type rule struct {
	section section
	// properties are the property's names, newest first.
	properties []string
	field      string
	convert    convert
	secret     bool
	// byDefault is asked when the property is not given.
	byDefault func(*translation) fallback
	// special takes the place of all of the above but the section.
	special func(*translation, section)
}

// fallback is a default of Debezium's that is written out. A nil value writes
// none.
type fallback struct {
	value any
	// comment says why the field is set; without one it is not, because the
	// input has the same default.
	comment string
	// without says what happens while the input does not offer the field;
	// empty if that makes no difference.
	without string
}

// inForce are what holds while the input does not offer a field: who asked for
// that has lost nothing.
var inForce = map[string]any{
	"snapshot_query_mode":                       "select_all",
	"snapshot_locking_mode":                     "none",
	"snapshot_delay":                            "0s",
	"snapshot_max_threads":                      1,
	"snapshot_max_threads_multiplier":           1,
	"snapshot_tables_order_by_row_count":        "disabled",
	"incremental_snapshot_allow_schema_changes": false,
	"incremental_snapshot_option_recompile":     false,
}

// apply takes the rule's property, or its default.
func (r rule) apply(t *translation) {
	if r.special != nil {
		r.special(t, r.section)
		return
	}
	taken := ""
	for _, property := range r.properties {
		value, given := t.take(property)
		switch {
		case !given || value == "" && taken != "":
		case taken != "":
			t.note(r.section, property, NotApplicable, taken+" takes its place")
		case value == "":
			// An empty property is one that is not set.
		default:
			taken = property
			r.set(t, property, value)
		}
	}
	if taken == "" && r.byDefault != nil {
		r.fallBack(t)
	}
}

// set writes the field for a value that was given.
func (r rule) set(t *translation, property, text string) {
	value, err := r.convert(text)
	if err != nil {
		t.note(r.section, property, Invalid, err.Error())
		return
	}
	if _, isList := value.([]string); isList && hasReference(text) && references.ReplaceAllString(text, "") == "" {
		t.note(r.section, property, Differs, "one variable is one item of a list; write the items out")
	}
	if !t.offer.has(r.field) {
		if _, isList := value.([]string); !isList && value == inForce[r.field] {
			return
		}
		t.note(r.section, property, Planned, "the field "+r.field+" is planned")
		return
	}
	if !t.offers(r.field, value) {
		t.note(r.section, property, Planned, fmt.Sprintf("%s: %q is not offered: one of %s", r.field, value, strings.Join(t.offer.options(r.field), ", ")))
		return
	}
	t.set(Field{Name: r.field, Value: value, Property: property, Secret: r.secret, section: r.section})
}

// fallBack writes a default of Debezium's.
func (r rule) fallBack(t *translation) {
	f := r.byDefault(t)
	if f.value == nil {
		return
	}
	if t.offer.has(r.field) && t.offers(r.field, f.value) {
		if f.comment == "" {
			return
		}
		t.set(Field{Name: r.field, Value: f.value, Comment: f.comment, section: r.section})
		return
	}
	if f.without != "" {
		t.note(r.section, r.properties[0], Default, f.without)
	}
}

// offers reports whether a field takes a value, where it is enumerated.
func (t *translation) offers(field string, value any) bool {
	text, isText := value.(string)
	options := t.offer.options(field)
	if !isText || len(options) == 0 || hasReference(text) {
		return true
	}
	for _, option := range options {
		if option == text {
			return true
		}
	}
	return false
}
