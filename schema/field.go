package schema

import (
	"database/sql/driver"
	"slices"
)

// field is one compiled column of a row or of a key.
type field struct {
	codec
	column int    // index into the row's values
	source string // the column's name
	name   string // the field's
	// prefix is what stands before the value: `{"name":` or `,"name":`.
	prefix []byte
	// notNull is what the catalogue says, optional what the schema says: they
	// differ for columns whose values CDC may leave out.
	notNull, optional bool

	// def is the encoded default, which Kafka Connect writes for NULL; nil
	// when there is none.
	def           []byte
	defStructured any

	// masked is the encoded text that stands for every value, NULL included;
	// nil where values show.
	masked           []byte
	maskedStructured any

	snapshotOnly          bool // see [Column]
	lob, legacyLOB        bool
	ordinal               int
	placeholder           []byte
	placeholderStructured any
}

// newField compiles a column, for values or for keys.
func newField(column int, c Column, code codec, m Modes, inKey bool) field {
	f := field{
		codec:     code,
		column:    column,
		source:    c.Name,
		name:      m.FieldNames.field(c.Name),
		notNull:   !c.Nullable,
		optional:  c.Nullable,
		lob:       c.Type.LOB(),
		legacyLOB: c.Type.legacyLOB(),
		ordinal:   c.Ordinal,
	}
	if c.SnapshotOnly {
		f.snapshotOnly, f.notNull, f.optional = true, false, true
	}
	f.setDefault(c, m.Decimal)
	if c.rule != nil && (!inKey || c.ruleInKey) {
		c.rule.apply(&f, c)
	}
	if f.lob {
		f.optional = true
		f.setPlaceholder(c.Type, m.Placeholder)
	}
	return f
}

// begin writes what stands before the value.
func (f *field) begin(first bool) {
	f.prefix = []byte{','}
	if first {
		f.prefix[0] = '{'
	}
	f.prefix = append(AppendString(f.prefix, f.name), ':')
}

// setDefault encodes the column's default as if it were a value. Exact numbers
// as texts keep the digits of the constraint, as in Debezium, not those of the
// column's scale.
func (f *field) setDefault(c Column, mode DecimalMode) {
	if c.DefaultValue == nil {
		return
	}
	if mode == DecimalString && c.Type.Kind.exact() {
		text := string(c.DefaultValue.([]byte))
		f.def, f.defStructured = AppendString(nil, text), text
		return
	}
	def, err := f.append(nil, c.DefaultValue)
	if err != nil {
		return // no form in the chosen modes, so none in the schema
	}
	structured, err := f.structured(c.DefaultValue)
	if err != nil {
		return
	}
	f.def, f.defStructured = def, structured
}

// mask makes a text stand for every value.
func (f *field) mask(text string) {
	encoded := AppendString(nil, text)
	f.masked, f.maskedStructured = encoded, text
	f.codec.append = func(dst []byte, _ driver.Value) ([]byte, error) { return append(dst, encoded...), nil }
	f.codec.structured = func(driver.Value) (any, error) { return text, nil }
}

// addParameter adds a parameter to the schema.
func (f *field) addParameter(name, value string) {
	f.schema.Parameters = append(slices.Clip(f.schema.Parameters), Parameter{name, value})
}

// setPlaceholder encodes the placeholder as if it were a value of the column.
func (f *field) setPlaceholder(t Type, text string) {
	var v driver.Value = text
	if t.Kind == VarBinary || t.Kind == Image {
		v = []byte(text)
	}
	var err error
	if f.placeholder, err = f.append(nil, v); err != nil {
		panic("schema: a large type's codec takes neither text nor bytes: " + err.Error())
	}
	if f.placeholderStructured, err = f.structured(v); err != nil {
		panic("schema: a large type's codec takes neither text nor bytes: " + err.Error())
	}
}

// unrecorded reports whether a NULL stands for a value that CDC did not
// record: text, ntext and image in deletes and in images before an update,
// and large values that an update did not touch.
func (f *field) unrecorded(img RowImage) bool {
	switch img.Role {
	case Deleted:
		return f.legacyLOB
	case Before:
		return f.legacyLOB || f.lob && !Touched(img.Mask, f.ordinal)
	case After:
		return f.lob && !Touched(img.Mask, f.ordinal)
	default:
		return false
	}
}

// connect returns the field's schema.
func (f *field) connect() ConnectField {
	s := f.schema
	s.Optional = f.optional
	s.Default = f.def
	return ConnectField{Name: f.name, Schema: s}
}
