package sqltypes

import (
	"fmt"
	"strings"
)

// TargetColumn names a column for [Assign] as error 2628 does. Build it once per
// statement, not per row.
func TargetColumn(table, column string) string {
	return fmt.Sprintf("table '%s', column '%s'", table, column)
}

// Assign makes v, of type from, a value that a column, variable or parameter of type to
// holds: it converts as an implicit conversion does, rounds, pads and checks ranges.
//
// column is the target's [TargetColumn]. It is empty for variables and parameters, for
// which SQL Server cuts text and bytes that are too long without an error; for a column
// that is error 2628.
func Assign(v Value, from, to Type, column string) (Value, error) {
	if from.ID != to.ID {
		if err := checkImplicit(from.ID, to.ID); err != nil {
			return Value{}, err
		}
	}
	switch {
	case v.kind == KindNull:
		return v, nil
	case v.kind == KindText && to.ID.IsText():
		return assignText(v, to, column)
	case v.kind == KindBytes && to.ID.IsBinary() && from.ID.IsBinary():
		return assignBytes(v, to, column)
	case from.ID == to.ID && holdsUnchanged(to.ID):
		return v, nil
	default:
		return convert(v, from, to, DefaultStyle)
	}
}

// holdsUnchanged reports types without facets, whose values need no second look.
func holdsUnchanged(id ID) bool {
	switch id {
	case Decimal, Numeric, Time, DateTime2, DateTimeOffset:
		return false
	default:
		return true
	}
}

func assignText(v Value, to Type, column string) (Value, error) {
	if !to.ID.IsNational() {
		v = StringOf(to.collation().RoundTrip(v.s))
	}
	limit := textLimit(to)
	if len(v.s) > limit && TextLength(v.s, to) > limit {
		cut := CutText(v.s, to)
		if column != "" && strings.Trim(v.s[len(cut):], " ") != "" {
			return Value{}, truncated(column, cut)
		}
		v = StringOf(cut)
	}
	if to.ID != Char && to.ID != NChar {
		return StringOf(v.s), nil
	}
	return StringOf(fitText(v.s, to)), nil
}

func assignBytes(v Value, to Type, column string) (Value, error) {
	if limit := binaryLimit(to); len(v.s) > limit && column != "" {
		return Value{}, truncated(column, "")
	}
	return RawOf(fitBytes(v.s, to)), nil
}

// truncated is error 2628, which shows the part of the value that would have fitted.
func truncated(column, kept string) error {
	return Errorf(2628, 1, 16, "String or binary data would be truncated in %s. Truncated value: '%s'.", column, kept)
}
