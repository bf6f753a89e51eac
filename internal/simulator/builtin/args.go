package builtin

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// always gives a function the same type whatever its arguments are.
func always(t sqltypes.Type) typeFunc {
	return func([]sqltypes.Type) (sqltypes.Type, error) { return t, nil }
}

// invalidArgument is error 8116; n counts from 1.
func invalidArgument(t sqltypes.Type, n int, function string) error {
	return sqltypes.Errorf(8116, 1, 16, "Argument data type %s is invalid for argument %d of %s function.", t.Name(), n, strings.ToLower(function))
}

// asText is the character type as which an argument enters a text function: its own, or
// varchar for what is no text.
func asText(t sqltypes.Type) sqltypes.Type {
	switch {
	case t.ID == sqltypes.Char:
		t.ID = sqltypes.VarChar
		return t
	case t.ID == sqltypes.NChar:
		t.ID = sqltypes.NVarChar
		return t
	case t.ID == sqltypes.Text:
		return sqltypes.VarCharOf(sqltypes.Max).WithCollation(t.Collation)
	case t.ID == sqltypes.NText || t.ID == sqltypes.XML:
		return sqltypes.NVarCharOf(sqltypes.Max).WithCollation(t.Collation)
	case t.ID.IsText():
		return t
	case t.ID == sqltypes.Unknown:
		return sqltypes.VarCharOf(1)
	case t.ID.IsBinary():
		length := t.Length
		if length == 0 {
			length = sqltypes.Max
		}
		return sqltypes.VarCharOf(length)
	default:
		return sqltypes.VarCharOf(displaySize(t))
	}
}

// displaySize is how many characters a value of a type takes at most.
func displaySize(t sqltypes.Type) int {
	switch t.ID {
	case sqltypes.Bit:
		return 1
	case sqltypes.TinyInt:
		return 3
	case sqltypes.SmallInt:
		return 6
	case sqltypes.Int:
		return 12
	case sqltypes.BigInt:
		return 24
	case sqltypes.UniqueIdentifier:
		return 36
	default:
		return 50
	}
}

// textOf returns an argument as text.
func textOf(v sqltypes.Value, t sqltypes.Type) (string, error) {
	if t.ID.IsText() || t.ID == sqltypes.XML {
		return v.Str(), nil
	}
	to := asText(t)
	to.Length = sqltypes.Max
	converted, err := sqltypes.Implicit(v, t, to)
	return converted.Str(), err
}

// intOf returns an argument as an int.
func intOf(v sqltypes.Value, t sqltypes.Type) (int, error) {
	if t.ID == sqltypes.Int {
		return int(v.Int64()), nil
	}
	converted, err := sqltypes.Implicit(v, t, sqltypes.Simple(sqltypes.Int))
	return int(converted.Int64()), err
}

// bigIntOf returns an argument as a bigint.
func bigIntOf(v sqltypes.Value, t sqltypes.Type) (int64, error) {
	converted, err := sqltypes.Implicit(v, t, sqltypes.Simple(sqltypes.BigInt))
	return converted.Int64(), err
}

// floatOf returns an argument as a float.
func floatOf(v sqltypes.Value, t sqltypes.Type) (float64, error) {
	converted, err := sqltypes.Implicit(v, t, sqltypes.Simple(sqltypes.Float))
	return converted.Float64(), err
}

// fitted returns s cut to the type of a text function's result.
func fitted(s string, t sqltypes.Type) sqltypes.Value {
	return sqltypes.StringOf(sqltypes.CutText(s, t))
}

// textResult is the type of a function that gives back its first argument's text.
func textResult(name string) typeFunc {
	return func(args []sqltypes.Type) (sqltypes.Type, error) {
		if err := wantText(name, args, 0); err != nil {
			return sqltypes.Type{}, err
		}
		return asText(args[0]), nil
	}
}

// wantText refuses what no text function takes as argument n (from 0).
func wantText(name string, args []sqltypes.Type, n int) error {
	switch args[n].ID {
	case sqltypes.XML, sqltypes.Image, sqltypes.HierarchyID, sqltypes.Geometry, sqltypes.Geography, sqltypes.SQLVariant:
		return invalidArgument(args[n], n+1, name)
	default:
		return nil
	}
}

// longestOf returns varchar(8000) or nvarchar(4000), or their max forms when one of the
// arguments is longer than that: the result of functions that make text longer.
func longestOf(args ...sqltypes.Type) sqltypes.Type {
	t := sqltypes.VarCharOf(8000)
	for _, a := range args {
		if a.Collation != nil && t.Collation == nil {
			t.Collation = a.Collation
		}
		if a.ID.IsNational() {
			t.ID = sqltypes.NVarChar
		}
		if a.IsLOB() {
			t.Length = sqltypes.Max
		}
	}
	if t.ID == sqltypes.NVarChar && t.Length != sqltypes.Max {
		t.Length = 4000
	}
	return t
}
