package sqltypes

// rule says whether a conversion between two types exists, and whether it happens
// unasked (MS docs, "CAST and CONVERT", the implicit conversion chart).
type rule uint8

const (
	notAllowed rule = iota
	explicitOnly
	implicitToo
)

// conversionRule looks up the chart.
func conversionRule(from, to ID) rule {
	switch {
	case from == to || from == Unknown:
		return implicitToo
	case to == SQLVariant:
		return ruleToVariant(from)
	case from == SQLVariant:
		return ruleFromVariant(to)
	case from == XML || to == XML:
		return ruleXML(from, to)
	case from == HierarchyID || to == HierarchyID:
		return ruleHierarchyID(from, to)
	case from == Geometry || from == Geography || to == Geometry || to == Geography:
		return ruleSpatial(from, to)
	case from == Text || from == NText || from == Image || to == Text || to == NText || to == Image:
		return ruleOldLOB(from, to)
	case from.IsText():
		return ruleFromText(from, to)
	case to.IsText():
		return ruleToText(from, to)
	case from == UniqueIdentifier:
		return when(to == Binary || to == VarBinary, explicitOnly)
	case to == UniqueIdentifier:
		return when(from == Binary || from == VarBinary, implicitToo)
	case from.IsBinary():
		return ruleFromBinary(from, to)
	case to.IsBinary():
		return ruleToBinary(from, to)
	case from.IsTemporal():
		return ruleFromTemporal(from, to)
	case to.IsTemporal():
		return when(to == DateTime || to == SmallDateTime, implicitToo)
	default:
		return implicitToo // numbers among themselves
	}
}

func when(cond bool, r rule) rule {
	if cond {
		return r
	}
	return notAllowed
}

func ruleToVariant(from ID) rule {
	switch from {
	case Text, NText, Image, XML, RowVersion, Geometry, Geography:
		return notAllowed
	case HierarchyID:
		return explicitOnly
	default:
		return implicitToo
	}
}

func ruleFromVariant(to ID) rule {
	switch to {
	case Text, NText, Image, XML, RowVersion, Geometry, Geography:
		return notAllowed
	default:
		return explicitOnly
	}
}

func ruleXML(from, to ID) rule {
	if to == XML {
		return when(from.IsText() || from == Binary || from == VarBinary, implicitToo)
	}
	return when(to.IsText() && to != Text && to != NText || to == Binary || to == VarBinary, explicitOnly)
}

func ruleHierarchyID(from, to ID) rule {
	if to == HierarchyID {
		switch from {
		case Char, VarChar, NChar, NVarChar:
			return implicitToo
		case Binary, VarBinary:
			return explicitOnly
		}
		return notAllowed
	}
	switch to {
	case Char, VarChar, NChar, NVarChar, Binary, VarBinary:
		return explicitOnly
	default:
		return notAllowed
	}
}

func ruleSpatial(from, to ID) rule {
	isBinary := func(id ID) bool { return id == Binary || id == VarBinary }
	return when(isBinary(from) || isBinary(to), explicitOnly)
}

func ruleOldLOB(from, to ID) rule {
	switch {
	case from == Image:
		return when(to.IsBinary(), implicitToo)
	case to == Image:
		return when(from.IsBinary() || from == Char || from == VarChar, implicitToo)
	default:
		return when(from.IsText() && to.IsText(), implicitToo)
	}
}

func ruleFromText(from, to ID) rule {
	switch {
	case to == RowVersion:
		return when(!from.IsNational(), explicitOnly)
	case to.IsBinary():
		return explicitOnly
	default:
		return implicitToo
	}
}

func ruleToText(from, to ID) rule {
	return when(from != RowVersion || !to.IsNational(), implicitToo)
}

func ruleFromBinary(from, to ID) rule {
	switch {
	case to.IsBinary():
		return implicitToo
	case to.IsFloat():
		return notAllowed
	case to == Date || to == Time || to == DateTime2 || to == DateTimeOffset:
		return when(from != RowVersion, explicitOnly)
	default:
		return implicitToo
	}
}

func ruleToBinary(from, to ID) rule {
	switch {
	case from.IsTemporal():
		return when(to != RowVersion || from == DateTime || from == SmallDateTime, explicitOnly)
	case from.IsFloat():
		return when(to != RowVersion, implicitToo)
	default:
		return implicitToo
	}
}

func ruleFromTemporal(from, to ID) rule {
	switch {
	case to.IsTemporal():
		return when(!(from == Date && to == Time || from == Time && to == Date), implicitToo)
	default:
		return when(from == DateTime || from == SmallDateTime, explicitOnly)
	}
}

// checkExplicit returns error 529 for a CAST that the chart does not have.
func checkExplicit(from, to ID) error {
	if conversionRule(from, to) == notAllowed {
		return Errorf(529, 2, 16, "Explicit conversion from data type %s to %s is not allowed.", from, to)
	}
	return nil
}

// checkImplicit returns error 206 for types that do not mix, 257 for those that mix
// only when asked.
func checkImplicit(from, to ID) error {
	switch conversionRule(from, to) {
	case notAllowed:
		return OperandClash(from, to)
	case explicitOnly:
		return Errorf(257, 3, 16, "Implicit conversion from data type %s to %s is not allowed. Use the CONVERT function to run this query.", from, to)
	default:
		return nil
	}
}

// OperandClash is error 206.
func OperandClash(from, to ID) *Error {
	return Errorf(206, 2, 16, "Operand type clash: %s is incompatible with %s", from, to)
}

// CheckAssign reports, before any row is touched, whether values of one type may be
// assigned to another: errors 206 and 257.
func CheckAssign(from, to Type) error { return checkImplicit(from.ID, to.ID) }
