package sqltypes

import "strings"

// typeIDs finds a type by its name and SQL Server's synonyms for it.
var typeIDs = func() map[string]ID {
	ids := map[string]ID{
		"rowversion": RowVersion, "integer": Int, "dec": Decimal, "double precision": Float, "character": Char,
		"char varying": VarChar, "character varying": VarChar, "national char": NChar, "national character": NChar,
		"national char varying": NVarChar, "national character varying": NVarChar, "national text": NText,
		"binary varying": VarBinary,
	}
	for id := Bit; id <= Geography; id++ {
		ids[id.Name()] = id
	}
	return ids
}()

// ParseType returns the type of a declaration: its name in any case, with or without
// synonyms, and the numbers in parentheses, [Max] for max. Errors are SQL Server's:
// 2715 for an unknown name, 1001, 1002 and 2750 to 2752 for facets out of range.
func ParseType(name string, args []int) (Type, error) {
	lower := strings.ToLower(name)
	if lower == "sysname" {
		return NVarCharOf(128), nil
	}
	id, ok := typeIDs[lower]
	if !ok {
		return Type{}, Errorf(2715, 6, 16, "Cannot find data type %s.", name)
	}
	t := Simple(id)
	switch id {
	case Decimal, Numeric:
		return decimalFacets(t, args)
	case Float:
		return floatFacets(t, args)
	case Time, DateTime2, DateTimeOffset:
		return scaleFacet(t, args)
	case Char, VarChar, NChar, NVarChar, Binary, VarBinary:
		return lengthFacet(t, args)
	}
	if len(args) > 0 {
		return Type{}, Errorf(2716, 1, 16, "Column, parameter, or variable: Cannot specify a column width on data type %s.", id)
	}
	return t, nil
}

func decimalFacets(t Type, args []int) (Type, error) {
	if len(args) > 2 {
		return Type{}, tooManyFacets(t)
	}
	if len(args) > 0 {
		if args[0] < 1 || args[0] > MaxPrecision {
			return Type{}, Errorf(2750, 1, 16, "Column or parameter: Specified column precision %d is greater than the maximum precision of %d.", args[0], MaxPrecision)
		}
		t.Precision = uint8(args[0])
	}
	if len(args) > 1 {
		if args[1] < 0 || args[1] > int(t.Precision) {
			return Type{}, Errorf(192, 1, 16, "The scale must be less than or equal to the precision.")
		}
		t.Scale = uint8(args[1])
	}
	return t, nil
}

// floatFacets turns float(1) to float(24) into real: MS docs, "float and real".
func floatFacets(t Type, args []int) (Type, error) {
	switch {
	case len(args) == 0:
		return t, nil
	case len(args) > 1:
		return Type{}, tooManyFacets(t)
	case args[0] < 1 || args[0] > 53:
		return Type{}, Errorf(2750, 1, 16, "Column or parameter: Specified column precision %d is greater than the maximum precision of %d.", args[0], 53)
	case args[0] <= 24:
		return Simple(Real), nil
	default:
		return t, nil
	}
}

func scaleFacet(t Type, args []int) (Type, error) {
	switch {
	case len(args) == 0:
		return t, nil
	case len(args) > 1:
		return Type{}, tooManyFacets(t)
	case args[0] < 0 || args[0] > 7:
		return Type{}, Errorf(1002, 1, 15, "Line %d: Specified scale %d is invalid.", 1, args[0])
	}
	t.Scale = uint8(args[0])
	return t, nil
}

func lengthFacet(t Type, args []int) (Type, error) {
	if len(args) == 0 {
		return t, nil
	}
	if len(args) > 1 {
		return Type{}, tooManyFacets(t)
	}
	limit := 8000
	if t.ID.IsNational() {
		limit = 4000
	}
	n := args[0]
	variable := t.ID == VarChar || t.ID == NVarChar || t.ID == VarBinary
	switch {
	case n == Max && variable:
	case n < 1:
		return Type{}, Errorf(1001, 1, 15, "Line %d: Length or precision specification %d is invalid.", 1, n)
	case n > limit:
		return Type{}, Errorf(131, 3, 15, "The size (%d) given to the type '%s' exceeds the maximum allowed for any data type (%d).", n, t.ID, limit)
	}
	t.Length = n
	return t, nil
}

func tooManyFacets(t Type) error {
	return Errorf(2716, 1, 16, "Column, parameter, or variable: Cannot specify a column width on data type %s.", t.ID)
}
