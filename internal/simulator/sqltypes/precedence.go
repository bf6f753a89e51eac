package sqltypes

// precedence ranks types: of two that meet, the lower-ranked one is converted (MS docs,
// "Data type precedence").
var precedence = func() map[ID]int {
	order := []ID{
		Unknown, Binary, VarBinary, Char, VarChar, NChar, NVarChar, UniqueIdentifier, RowVersion, Image, Text, NText,
		Bit, TinyInt, SmallInt, Int, BigInt, SmallMoney, Money, Decimal, Numeric, Real, Float,
		Time, Date, SmallDateTime, DateTime, DateTime2, DateTimeOffset, XML, SQLVariant, HierarchyID, Geometry, Geography,
	}
	ranks := make(map[ID]int, len(order))
	for rank, id := range order {
		ranks[id] = rank
	}
	return ranks
}()

// Common returns the type in which values of two types meet: in comparisons, CASE,
// COALESCE and UNION. Errors 206 and 257 for types that do not.
func Common(a, b Type) (Type, error) {
	high, low := a, b
	if precedence[b.ID] > precedence[a.ID] {
		high, low = b, a
	}
	if low.ID == Unknown {
		return high, nil
	}
	if err := checkImplicit(low.ID, high.ID); err != nil {
		return Type{}, err
	}
	switch {
	case high.ID.IsText() && low.ID.IsText():
		return commonText(high, low), nil
	case high.ID.IsBinary() && low.ID.IsBinary():
		high.Length = widerLength(high.Length, low.Length)
		return high, nil
	case high.ID.IsDecimal() && low.ID.IsNumber():
		return commonDecimal(high, asDecimal(low)), nil
	case high.ID.IsTemporal() && low.ID.IsTemporal():
		if high.ID != DateTime && high.ID != SmallDateTime && high.ID != Date {
			high.Scale = max(high.Scale, temporalScale(low))
		}
		return high, nil
	default:
		return high, nil
	}
}

func widerLength(a, b int) int {
	if a == Max || b == Max {
		return Max
	}
	return max(a, b)
}

func commonText(high, low Type) Type {
	high.Length = widerLength(high.Length, low.Length)
	if high.Collation == nil {
		high.Collation = low.Collation
	}
	return high
}

// temporalScale is the number of fractional digits a date or time type has.
func temporalScale(t Type) uint8 {
	if t.ID == DateTime {
		return 3
	}
	return t.Scale
}

// asDecimal returns the decimal that holds every value of a number type.
func asDecimal(t Type) Type {
	switch t.ID {
	case Bit:
		return NumericOf(1, 0)
	case TinyInt:
		return NumericOf(3, 0)
	case SmallInt:
		return NumericOf(5, 0)
	case Int:
		return NumericOf(10, 0)
	case BigInt:
		return NumericOf(19, 0)
	case Money:
		return NumericOf(19, 4)
	case SmallMoney:
		return NumericOf(10, 4)
	default:
		return t
	}
}

func commonDecimal(a, b Type) Type {
	scale := max(a.Scale, b.Scale)
	whole := max(a.Precision-a.Scale, b.Precision-b.Scale)
	return additiveDecimal(a.ID, int(whole), int(scale), 0)
}
