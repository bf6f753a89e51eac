package schema

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	common "github.com/redpanda-data/benthos/v4/public/schema"
)

// Plan is a table compiled for encoding. It is not safe for concurrent use.
type Plan struct {
	table    *Table
	fields   []field // of the schema, and of rows of snapshots
	recorded []field // of changes
	key      []field
	omitted  []Omission
	// OnNull, if set, is told of each NULL that was written in a NOT NULL
	// column (see [Plan.Relax]).
	OnNull func(column string)
	// StrictNulls makes every such NULL a *[NullError], even where the field
	// is optional or has a default.
	StrictNulls bool
	// OnValue, if set, is told of each value of a row that has no exact form;
	// null is written for it. In keys it stays an error.
	OnValue func(*ValueError)
}

// Omission is a column that events do not carry.
type Omission struct{ Column, Reason string }

// Compile compiles a table. Columns without a form in events are left out and
// listed by [Plan.Omitted]. A *[TableError] is a table that a person must change,
// or its configuration.
func Compile(t *Table, m Modes) (*Plan, error) {
	p := &Plan{table: t}
	for i, c := range t.Columns {
		if c.KeyOnly {
			continue
		}
		code, reason := codecOf(c.Type, m)
		if c.Computed && !c.SnapshotOnly {
			reason = "computed columns are always NULL in change tables"
		}
		if reason != "" {
			p.omitted = append(p.omitted, Omission{c.Name, reason})
			continue
		}
		p.fields = append(p.fields, newField(i, c, code, m, false))
	}
	for _, i := range t.Key {
		if i < 0 || i >= len(t.Columns) {
			return nil, fmt.Errorf("compiling table %s: key column %d of %d", t.ID(), i, len(t.Columns))
		}
		c := t.Columns[i]
		code, reason := codecOf(c.Type, m)
		if reason != "" || c.Computed {
			return nil, &TableError{t.ID(), fmt.Sprintf("key column %q is not in events", c.Name), "choose other columns as the key with message_key_columns, or leave the table out"}
		}
		p.key = append(p.key, newField(i, c, code, m, true))
	}
	for _, fields := range [][]field{p.fields, p.key} {
		if reason := finish(fields); reason != "" {
			return nil, &TableError{t.ID(), reason, "exclude one of them with column_exclude_list, or choose another mode"}
		}
	}
	p.recorded = recorded(p.fields)
	return p, nil
}

// finish gives the fields of a struct their places. No two may have one name,
// which adjusting names can lead to: then it returns what is wrong.
func finish(fields []field) (reason string) {
	names := make(map[string]string, len(fields))
	for i := range fields {
		f := &fields[i]
		if other, taken := names[f.name]; taken {
			return fmt.Sprintf("columns %q and %q are both called %q by field_name_adjustment_mode", other, f.source, f.name)
		}
		names[f.name] = f.source
		f.begin(i == 0)
	}
	return ""
}

// Table returns the table that was compiled.
func (p *Plan) Table() *Table { return p.table }

// Omitted returns the columns left out, with reasons.
func (p *Plan) Omitted() []Omission { return p.omitted }

// HasKey reports whether rows have a key.
func (p *Plan) HasKey() bool { return len(p.key) > 0 }

// AppendRow appends a row as a JSON object. A *[NullError] asks for
// [Plan.Relax]; a *[ValueError] is a value without an exact form.
func (p *Plan) AppendRow(dst []byte, row []driver.Value, img RowImage) ([]byte, error) {
	return p.appendFields(dst, p.fieldsOf(img), row, img, p.OnValue)
}

// AppendKey appends the key of a row as a JSON object.
func (p *Plan) AppendKey(dst []byte, row []driver.Value) ([]byte, error) {
	return p.appendFields(dst, p.key, row, RowImage{}, nil)
}

// fieldsOf returns the fields of a row.
func (p *Plan) fieldsOf(img RowImage) []field {
	if img.Role == Snapshot {
		return p.fields
	}
	return p.recorded
}

func (p *Plan) appendFields(dst []byte, fields []field, row []driver.Value, img RowImage, onValue func(*ValueError)) ([]byte, error) {
	if len(fields) == 0 {
		return append(dst, "{}"...), nil
	}
	var err error
	for i := range fields {
		f := &fields[i]
		dst = append(dst, f.prefix...)
		if v := row[f.column]; v != nil {
			before := len(dst)
			if dst, err = f.append(dst, v); err != nil {
				if err := p.passOver(f, v, err, onValue); err != nil {
					return dst, err
				}
				dst = append(dst[:before], "null"...)
			}
		} else if dst, err = p.appendNull(dst, f, img); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func (p *Plan) appendNull(dst []byte, f *field, img RowImage) ([]byte, error) {
	form, err := p.null(f, img)
	switch {
	case err != nil:
		return dst, err
	case form == nullMasked:
		return append(dst, f.masked...), nil
	case form == nullPlaceholder:
		return append(dst, f.placeholder...), nil
	case form == nullDefault:
		return append(dst, f.def...), nil
	default:
		return append(dst, "null"...), nil
	}
}

// nullForm is how a NULL is written.
type nullForm uint8

const (
	nullNull nullForm = iota
	nullMasked
	nullPlaceholder
	nullDefault
)

// null decides how a NULL is written: as the mask of a column that is masked,
// as the placeholder where CDC left out a value, as the default where a field
// that may be NULL has one (Kafka Connect's replace.null.with.default), else as
// null. What CDC left out of a NOT NULL column was not its default.
func (p *Plan) null(f *field, img RowImage) (nullForm, error) {
	switch {
	case f.masked != nil:
		return nullMasked, nil
	case f.unrecorded(img):
		return nullPlaceholder, nil
	case f.notNull && p.StrictNulls:
		return 0, &NullError{p.table.ID(), f.source}
	case f.def != nil && !f.notNull:
		return nullDefault, nil
	case !f.optional:
		return 0, &NullError{p.table.ID(), f.source}
	case f.notNull && p.OnNull != nil:
		p.OnNull(f.source)
	}
	return nullNull, nil
}

// Relax makes the column's field optional from now on, in rows and keys. The
// schemas change by it: they have to be rendered again.
func (p *Plan) Relax(column string) {
	for _, fields := range [][]field{p.fields, p.recorded, p.key} {
		for i := range fields {
			if fields[i].source == column {
				fields[i].optional = true
			}
		}
	}
}

// StructuredRow returns what a reader of the JSON of [Plan.AppendRow] gets.
func (p *Plan) StructuredRow(row []driver.Value, img RowImage) (map[string]any, error) {
	return p.structuredFields(p.fieldsOf(img), row, img, p.OnValue)
}

// StructuredKey returns what a reader of the JSON of [Plan.AppendKey] gets.
func (p *Plan) StructuredKey(row []driver.Value) (map[string]any, error) {
	return p.structuredFields(p.key, row, RowImage{}, nil)
}

func (p *Plan) structuredFields(fields []field, row []driver.Value, img RowImage, onValue func(*ValueError)) (map[string]any, error) {
	m := make(map[string]any, len(fields))
	for i := range fields {
		f := &fields[i]
		v := row[f.column]
		if v == nil {
			form, err := p.null(f, img)
			if err != nil {
				return nil, err
			}
			m[f.name] = [...]any{
				nullNull: nil, nullMasked: f.maskedStructured,
				nullPlaceholder: f.placeholderStructured, nullDefault: f.defStructured,
			}[form]
			continue
		}
		value, err := f.structured(v)
		if err != nil {
			if err := p.passOver(f, v, err, onValue); err != nil {
				return nil, err
			}
			value = nil
		}
		m[f.name] = value
	}
	return m, nil
}

// RowSchema returns the Connect schema of rows.
func (p *Plan) RowSchema(name string) ConnectSchema { return structOf(p.fields, name) }

// KeySchema returns the Connect schema of keys.
func (p *Plan) KeySchema(name string) ConnectSchema { return structOf(p.key, name) }

func structOf(fields []field, name string) ConnectSchema {
	s := ConnectSchema{Type: "struct", Name: name}
	for i := range fields {
		s.Fields = append(s.Fields, fields[i].connect())
	}
	return s
}

// Common returns the Benthos common schema of rows. Its types are those of the
// values in events, so a timestamp written as a number is an integer.
func (p *Plan) Common() common.Common {
	c := common.Common{Name: p.table.Name, Type: common.Object}
	for i := range p.fields {
		child := p.fields[i].common
		child.Name, child.Optional = p.fields[i].name, p.fields[i].optional
		c.Children = append(c.Children, child)
	}
	return c
}

// passOver returns the error for a value without an exact form, or nil if null
// is to be written for it, which the field must have a place for.
func (p *Plan) passOver(f *field, v driver.Value, err error, onValue func(*ValueError)) error {
	e := p.valueError(f, v, err)
	switch {
	case onValue == nil:
		return e
	case !f.optional:
		return &NullError{p.table.ID(), f.source}
	}
	onValue(e)
	return nil
}

// valueError completes an encoder's error with the place of the value.
func (p *Plan) valueError(f *field, v driver.Value, err error) *ValueError {
	e := &ValueError{Table: p.table.ID(), Column: f.source, Value: printable(v), Reason: err.Error()}
	var r *rangeError
	if errors.As(err, &r) {
		e.Remedy = r.remedy
	}
	return e
}

// maxPrintable bounds values in error texts.
const maxPrintable = 64

// printable returns a value for an error text.
func printable(v driver.Value) string {
	var text string
	switch v := v.(type) {
	case time.Time:
		text = v.Format("2006-01-02 15:04:05.9999999")
	case string:
		text = fmt.Sprintf("%q", v)
	case []byte:
		text = fmt.Sprintf("%q", v)
	default:
		text = fmt.Sprint(v)
	}
	if len(text) > maxPrintable {
		return text[:maxPrintable] + "..."
	}
	return text
}
