package sqltypes

// DefaultStyle is the style of CAST, and of CONVERT without a third argument: date,
// time, datetime2 and datetimeoffset are written in style 121 then, datetime and
// smalldatetime in style 100. A CONVERT that says 0 means 100 for all of them:
// see [ExplicitStyle].
const DefaultStyle = 0

// ExplicitStyle returns the style to pass to [Convert] for a CONVERT whose third
// argument is n: dates and times have 0 and 100 as two names of one style of text,
// which is not the default of all of them.
func ExplicitStyle(n int, from, to Type) int {
	if n == 0 && from.ID.IsTemporal() && to.ID.IsText() {
		return 100
	}
	return n
}

// Convert applies CAST or CONVERT: it cuts text that is too long, and reports error
// 529 where SQL Server has no such conversion. The style is CONVERT's third argument
// or [DefaultStyle].
func Convert(v Value, from, to Type, style int) (Value, error) {
	if err := checkExplicit(from.ID, to.ID); err != nil {
		return Value{}, err
	}
	return convert(v, from, to, style)
}

// Implicit converts as an operator or a function argument does: errors 206 and 257
// for types that do not mix unasked, else as [Convert].
func Implicit(v Value, from, to Type) (Value, error) {
	if err := checkImplicit(from.ID, to.ID); err != nil {
		return Value{}, err
	}
	return convert(v, from, to, DefaultStyle)
}

// convert does the work without looking at the chart again.
func convert(v Value, from, to Type, style int) (Value, error) {
	if v.IsNull() {
		return v, nil
	}
	if from.ID == SQLVariant && to.ID != SQLVariant {
		inner, base := v.Variant()
		return Convert(inner, base, to, style)
	}
	switch {
	case to.ID == Bit:
		return toBit(v, from)
	case to.ID.IsInteger():
		return toInteger(v, from, to)
	case to.ID.IsDecimal():
		return toDecimal(v, from, to)
	case to.ID.IsMoney():
		return toMoney(v, from, to)
	case to.ID.IsFloat():
		return toFloat(v, from, to)
	case to.ID.IsTemporal():
		return toTemporal(v, from, to, style)
	case to.ID.IsText():
		return toText(v, from, to, style)
	case to.ID.IsBinary():
		return toBinary(v, from, to, style)
	}
	switch to.ID {
	case UniqueIdentifier:
		return toGUID(v, from)
	case SQLVariant:
		return VariantOf(v, from), nil
	case XML:
		return toXML(v, from, style)
	case HierarchyID:
		return toHierarchyID(v)
	default:
		return v, nil
	}
}

// conversionFailed is error 245.
func conversionFailed(v Value, from, to Type) error {
	return Errorf(245, 1, 16, "Conversion failed when converting the %s value '%s' to data type %s.", from.Name(), v.s, to.Name())
}

// errorConverting is error 8114.
func errorConverting(from Type, to string) error {
	return Errorf(8114, 5, 16, "Error converting data type %s to %s.", from.Name(), to)
}

// overflowConverting is error 8115. SQL Server names decimal and numeric alike.
func overflowConverting(from, to string, state uint8) error {
	return Errorf(8115, state, 16, "Arithmetic overflow error converting %s to data type %s.", from, to)
}

// overflowName is how error 8115 names a type.
func overflowName(t Type) string {
	if t.ID == Decimal {
		return Numeric.Name()
	}
	return t.Name()
}
