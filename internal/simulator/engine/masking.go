package engine

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Dynamic data masking (MS docs: Dynamic data masking). Conditions, joins and
// sorts use the values; what a statement of a session without UNMASK shows or
// copies is masked: a masked column by its function, an expression that reads
// one by default(). Where that cannot be done the statement is refused.

// defaultMask is the function for expressions.
const defaultMask = "default()"

// maskUse notes the masked columns that a compiler has met.
type maskUse struct {
	// met counts the references, shown those whose values are masked.
	met, shown int
	// last is the function of the last reference.
	last string
}

// maskSource marks the columns of a base table that the session may see only
// masked.
func (c *compiler) maskSource(src *source) {
	for i, col := range src.table.Columns {
		if col.MaskedWith != "" && !c.x.allowed(src.db, src.table.Object, "UNMASK", col.ID) {
			src.columns[i].mask = col.MaskedWith
		}
	}
}

// meet notes a reference to a column.
func (c *compiler) meet(d *columnDesc) {
	if d.mask != "" {
		c.masks.met++
		c.masks.last = d.mask
	}
}

// maskSince is the mask of an expression compiled since a number of references
// had been met: the column's own for a plain reference, "" when it reads no
// masked column.
func (c *compiler) maskSince(met int, plainColumn bool) string {
	switch {
	case c.masks.met == met:
		return ""
	case plainColumn:
		return c.masks.last
	}
	return defaultMask
}

// joinMasks is the mask of a column that comes from either of two.
func joinMasks(a, b string) string {
	switch {
	case a == b || b == "":
		return a
	case a == "":
		return b
	}
	return defaultMask
}

// showMasked makes a query emit masked values: it is one whose rows leave the
// statement.
func (c *compiler) showMasked(q *queryPlan) error {
	c.masks.shown = c.masks.met
	masks := make([]maskFunc, len(q.columns))
	masked := false
	for i, d := range q.columns {
		if d.mask == "" {
			continue
		}
		m, err := parseMask(d.mask, d.typ)
		if err != nil {
			return err
		}
		masks[i], masked = m, true
	}
	if !masked {
		return nil
	}
	run := q.run
	q.run = func(x *Exec, outer *frame, emit func([]value) error) error {
		var out []value
		return run(x, outer, func(row []value) error {
			out = append(out[:0], row...)
			for i, m := range masks {
				if m != nil && !out[i].IsNull() {
					out[i] = m(out[i])
				}
			}
			return emit(out)
		})
	}
	return nil
}

// refuseMasked is an error when the statement reads masked columns elsewhere
// than in what a query shows.
func (c *compiler) refuseMasked() error {
	if c.masks.met > c.masks.shown {
		return unsupported("Reading a masked column here without the UNMASK permission")
	}
	return nil
}

// maskFunc makes the masked value of one that is not NULL.
type maskFunc func(value) value

// checkMask is error 16003 unless the function fits the type.
func checkMask(function, column string, t sqltypes.Type) error {
	if function == "" {
		return nil
	}
	_, err := parseMask(function, t)
	if e := asServerError(err); e != nil && e.Number == 16003 {
		return raise(16003, "The data type of column '%s' does not support data masking function '%s'.", column, maskName(function))
	}
	return err
}

func maskName(function string) string {
	name, _, _ := strings.Cut(function, "(")
	return fold(strings.TrimSpace(name))
}

// parseMask reads a masking function such as partial(1,"xx",2).
func parseMask(function string, t sqltypes.Type) (maskFunc, error) {
	_, rest, _ := strings.Cut(function, "(")
	args := maskArguments(strings.TrimSuffix(strings.TrimSpace(rest), ")"))
	misfit := raise(16003, "The data type does not support data masking function '%s'.", maskName(function))
	textual := t.ID.IsText() && t.ID != sqltypes.Text && t.ID != sqltypes.NText
	switch name := maskName(function); {
	case name == "default" && len(args) == 0:
		return maskDefault(t)
	case name == "email" && len(args) == 0:
		if !textual {
			return nil, misfit
		}
		return fitted(t, func(s []rune) string { return string(s[:min(1, len(s))]) + "XXX@XXXX.com" }), nil
	case name == "partial" && len(args) == 3:
		prefix, err1 := strconv.Atoi(args[0])
		suffix, err2 := strconv.Atoi(args[2])
		if !textual || err1 != nil || err2 != nil || prefix < 0 || suffix < 0 {
			return nil, misfit
		}
		padding := strings.Trim(args[1], `"`)
		return fitted(t, func(s []rune) string {
			if len(s) <= prefix+suffix {
				return padding
			}
			return string(s[:prefix]) + padding + string(s[len(s)-suffix:])
		}), nil
	case name == "random" && len(args) == 2:
		return maskRandom(t, args, misfit)
	}
	return nil, unsupported("The data masking function " + function)
}

// maskArguments splits at the commas outside of quotes.
func maskArguments(list string) []string {
	var out []string
	quoted, start := false, 0
	for i, r := range list + "," {
		switch {
		case r == '"':
			quoted = !quoted
		case r == ',' && !quoted:
			out = append(out, strings.TrimSpace(list[start:i]))
			start = i + 1
		}
	}
	if len(out) == 1 && out[0] == "" {
		return nil
	}
	return out
}

// fitted makes a mask of text that is cut to the column's length.
func fitted(t sqltypes.Type, mask func([]rune) string) maskFunc {
	return func(v value) value {
		s := mask([]rune(v.Str()))
		if t.Length > 0 && t.Length != sqltypes.Max {
			s = string([]rune(s)[:min(len([]rune(s)), t.Length)])
		}
		return text(s)
	}
}

// maskDefault is the value that default() shows for all values of a type.
func maskDefault(t sqltypes.Type) (maskFunc, error) {
	var shown string
	switch {
	case t.ID.IsText():
		shown = "xxxx"
		if t.Length > 0 && t.Length < 4 {
			shown = shown[:t.Length]
		}
		return func(value) value { return text(shown) }, nil
	case t.ID.IsBinary():
		return func(value) value { return sqltypes.BytesOf([]byte{0}) }, nil
	}
	switch t.ID {
	case sqltypes.Date, sqltypes.DateTime, sqltypes.SmallDateTime, sqltypes.DateTime2, sqltypes.DateTimeOffset:
		shown = "1900-01-01"
	case sqltypes.Time:
		shown = "00:00:00"
	case sqltypes.UniqueIdentifier:
		shown = "00000000-0000-0000-0000-000000000000"
	case sqltypes.XML:
		shown = "<masked />"
	case sqltypes.SQLVariant:
		zero := sqltypes.VariantOf(integer(0), typeInt)
		return func(value) value { return zero }, nil
	default:
		shown = "0"
	}
	v, err := sqltypes.Convert(text(shown), typeNVarMax, t, 0)
	if err != nil {
		return nil, unsupported("Masking a value of type " + t.Name())
	}
	return func(value) value { return v }, nil
}

// maskRandom draws a whole number between two bounds.
func maskRandom(t sqltypes.Type, args []string, misfit error) (maskFunc, error) {
	low, err1 := strconv.ParseFloat(args[0], 64)
	high, err2 := strconv.ParseFloat(args[1], 64)
	if err1 != nil || err2 != nil || high < low {
		return nil, misfit
	}
	draw := func() (value, error) {
		n := int64(low) + rand.Int64N(int64(high)-int64(low)+1)
		return sqltypes.Convert(integer(n), typeBigInt, t, 0)
	}
	first, err := draw()
	if err != nil || t.ID.IsText() || t.ID.IsBinary() {
		return nil, misfit
	}
	return func(value) value {
		if v, err := draw(); err == nil {
			return v
		}
		return first
	}, nil
}
