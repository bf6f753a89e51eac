package schema

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
)

// RuleOptions is one rule for columns. Exactly one of its kinds is set.
type RuleOptions struct {
	// Field is the field of the configuration that it comes from, for errors.
	Field string
	// Columns are patterns for database.schema.table.column or
	// schema.table.column. For PropagateType the type's name takes the place
	// of the column's.
	Columns []string

	Truncate      *int // to so many characters or bytes
	MaskChars     *int // by so many asterisks
	Hash          *HashOptions
	Propagate     bool // the type, as parameters of the field's schema
	PropagateType bool
}

// HashOptions choose a hash in place of a value.
type HashOptions struct {
	// Algorithm is its name in Java, such as SHA-256.
	Algorithm string
	Salt      string
	// Version is 1 for the hash of the value as Java serialises it, 2 for that
	// of the value's UTF-8 text.
	Version int
}

// rule is a compiled rule.
type rule struct {
	RuleOptions
	patterns []*Pattern
	digest   digest
}

func newRule(o RuleOptions) (*rule, error) {
	r := &rule{RuleOptions: o}
	var err error
	if r.patterns, err = compileList(o.Field, o.Columns); err != nil {
		return nil, err
	}
	if len(r.patterns) == 0 {
		return nil, fmt.Errorf("%s: names no columns", o.Field)
	}
	for _, length := range []*int{o.Truncate, o.MaskChars} {
		if length != nil && *length < 0 {
			return nil, fmt.Errorf("%s: length %d: must be at least 0", o.Field, *length)
		}
	}
	if o.Hash != nil {
		if r.digest, err = newDigest(*o.Hash); err != nil {
			return nil, fmt.Errorf("%s: %w", o.Field, err)
		}
	}
	return r, nil
}

// label names a pattern of the rule, for people.
func (r *rule) label(pattern int) string { return r.Field + ": " + r.patterns[pattern].String() }

// matches returns the indexes of the patterns that match a column to which the
// rule applies.
func (r *rule) matches(t *Table, c Column) (patterns []int) {
	name := c.Name
	if r.PropagateType {
		name = c.typeName()
	}
	names := columnNames(t, name)
	for i, p := range r.patterns {
		if matchAny(p, names) {
			patterns = append(patterns, i)
		}
	}
	return patterns
}

// changesValues reports whether the rule changes more than the schema.
func (r *rule) changesValues() bool { return !r.Propagate && !r.PropagateType }

// typeName is the type as the JDBC driver names it.
func (c Column) typeName() string {
	if c.Identity {
		return c.Type.Name + " identity"
	}
	return c.Type.Name
}

// apply changes the form of a column's values.
func (r *rule) apply(f *field, c Column) {
	length := c.Type.JDBC().Length
	switch {
	case r.Truncate != nil:
		if length <= *r.Truncate {
			return
		}
		f.codec = truncated(f.codec, *r.Truncate)
		f.addParameter("truncateLength", strconv.Itoa(*r.Truncate))
	case r.MaskChars != nil:
		if hasText(c.Type) {
			f.mask(strings.Repeat("*", *r.MaskChars))
		}
		f.addParameter("masked", "true")
	case r.Hash != nil:
		if hasText(c.Type) {
			f.codec = withText(f.codec, func(text string) string { return cutUnits(r.digest.text(text), length) })
		}
		f.addParameter("masked", "true")
	default:
		const prefix = "__debezium.source.column."
		f.addParameter(prefix+"type", strings.ToUpper(c.typeName()))
		if length != NoLength {
			f.addParameter(prefix+"length", strconv.Itoa(length))
		}
		if scale := c.Type.JDBC().Scale; scale != NoLength {
			f.addParameter(prefix+"scale", strconv.Itoa(scale))
		}
		f.addParameter(prefix+"name", c.Name)
	}
}

// hasText reports whether values of the type are texts that rules can mask.
// Source: Debezium, MaskStrings, by the types that its JDBC driver reports.
func hasText(t Type) bool {
	switch t.Kind {
	case Char, VarChar, Text, NChar, NVarChar, NText, XML, UniqueIdentifier:
		return true
	default:
		return false
	}
}

// withText returns a codec that changes the text of values.
func withText(c codec, change func(string) string) codec {
	text := func(v driver.Value) (string, error) {
		value, err := c.structured(v)
		if err != nil {
			return "", err
		}
		s, ok := value.(string)
		if !ok {
			return "", errNoText
		}
		return change(s), nil
	}
	changed := c
	changed.append = func(dst []byte, v driver.Value) ([]byte, error) {
		s, err := text(v)
		if err != nil {
			return dst, err
		}
		return AppendString(dst, s), nil
	}
	changed.structured = func(v driver.Value) (any, error) {
		s, err := text(v)
		if err != nil {
			return nil, err
		}
		return decodedString(s), nil
	}
	return changed
}

var errNoText = errors.New("is not text")

// truncated returns a codec that cuts texts to a number of UTF-16 units and
// binary values to a number of bytes. Other values have no length to cut.
func truncated(c codec, length int) codec {
	switch {
	case c.schema.Type == "string":
		return withText(c, func(s string) string { return cutUnits(s, length) })
	case c.schema.Type == "bytes" && c.schema.Name == "":
		cut := func(v driver.Value) driver.Value {
			if b, ok := v.([]byte); ok && len(b) > length {
				return b[:length]
			}
			return v
		}
		changed := c
		changed.append = func(dst []byte, v driver.Value) ([]byte, error) { return c.append(dst, cut(v)) }
		changed.structured = func(v driver.Value) (any, error) { return c.structured(cut(v)) }
		return changed
	default:
		return c
	}
}

// cutUnits cuts text to a number of UTF-16 units. A pair that the cut goes
// through leaves its first half, written as three bytes of its own.
func cutUnits(s string, units int) string {
	if len(s) <= units {
		return s
	}
	for i, r := range s {
		if units == 0 {
			return s[:i]
		}
		units--
		if r <= 0xffff {
			continue
		}
		if units == 0 {
			high, _ := utf16.EncodeRune(r)
			return string(appendUnitUTF8([]byte(s[:i]), high))
		}
		units--
	}
	return s
}
