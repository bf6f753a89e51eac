package schema

import "database/sql/driver"

// field is one compiled column of a row or of a key.
type field struct {
	codec
	column int // index into the row's values
	name   string
	// prefix is what stands before the value: `{"name":` or `,"name":`.
	prefix []byte
	// notNull is what the catalogue says, optional what the schema says: they
	// differ for columns whose values CDC may leave out.
	notNull, optional bool

	// def is the encoded default, which Kafka Connect writes for NULL; nil
	// when there is none.
	def           []byte
	defStructured any

	lob, legacyLOB        bool
	ordinal               int
	placeholder           []byte
	placeholderStructured any
}

// newField compiles a column.
func newField(column int, c Column, first bool, code codec, m Modes) field {
	prefix := []byte{','}
	if first {
		prefix[0] = '{'
	}
	f := field{
		codec:     code,
		column:    column,
		name:      c.Name,
		prefix:    append(AppendString(prefix, c.Name), ':'),
		notNull:   !c.Nullable,
		optional:  c.Nullable,
		lob:       c.Type.LOB(),
		legacyLOB: c.Type.legacyLOB(),
		ordinal:   c.Ordinal,
	}
	if f.lob {
		f.optional = true
		f.setPlaceholder(c.Type, m.Placeholder)
	}
	return f
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
	s := f.codec.schema
	s.Optional = f.optional
	s.Default = f.def
	return ConnectField{Name: f.name, Schema: s}
}
