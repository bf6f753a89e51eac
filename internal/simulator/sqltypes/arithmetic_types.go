package sqltypes

// operatorNames are the names of operators in error texts.
var operatorNames = map[string]string{
	"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "modulo",
	"<<": "'<<'", ">>": "'>>'",
	"&": "'&'", "|": "'|'", "^": "'^'",
}

// invalidOperand is error 8117.
func invalidOperand(t Type, op string) error {
	return Errorf(8117, 1, 16, "Operand data type %s is invalid for %s operator.", t.Name(), operatorNames[op])
}

// incompatible is error 402.
func incompatible(a, b Type, op string) error {
	return Errorf(402, 1, 16, "The data types %s and %s are incompatible in the %s operator.", a.Name(), b.Name(), operatorNames[op])
}

// ResultType returns the type of a binary operator's result: op is one of + - * / % & |
// ^. Errors are 402, 8117, 206 and 257.
func ResultType(op string, a, b Type) (Type, error) {
	if a.ID == Unknown && b.ID == Unknown {
		return Simple(Int), nil
	}
	if a.ID == Unknown {
		a = b
	} else if b.ID == Unknown {
		b = a
	}
	switch {
	case a.ID.IsText() && b.ID.IsText():
		return concatType(op, a, b)
	case a.ID.IsBinary() && b.ID.IsBinary():
		return concatType(op, a, b)
	case a.ID.IsTemporal() || b.ID.IsTemporal():
		return temporalResult(op, a, b)
	}
	common, err := Common(a, b)
	if err != nil {
		return Type{}, err
	}
	switch {
	case !common.ID.IsNumber():
		return Type{}, invalidOperand(common, op)
	case op == "&" || op == "|" || op == "^":
		return bitwiseResult(op, a, b, common)
	case op == "<<" || op == ">>":
		_, err := bitwiseResult(op, a, b, common)
		return a, err
	case common.ID == Bit:
		return Type{}, invalidOperand(common, op)
	case common.ID.IsFloat() && op == "%":
		return Type{}, incompatible(a, b, op)
	case common.ID.IsDecimal():
		return decimalResult(op, decimalOperand(a, common), decimalOperand(b, common)), nil
	default:
		return common, nil
	}
}

// decimalOperand is the type as which an operand enters decimal arithmetic; text takes
// the type of the other side.
func decimalOperand(t, common Type) Type {
	if t.ID.IsNumber() {
		return asDecimal(t)
	}
	return common
}

func bitwiseResult(op string, a, b, common Type) (Type, error) {
	if !common.ID.IsInteger() {
		return Type{}, incompatible(a, b, op)
	}
	return common, nil
}

// concatType is the type of two texts, or two binaries, joined.
func concatType(op string, a, b Type) (Type, error) {
	if op != "+" {
		return Type{}, invalidOperand(a, op)
	}
	if isOldLOB(a.ID) || isOldLOB(b.ID) {
		return Type{}, incompatible(a, b, op)
	}
	t := a
	if precedence[b.ID] > precedence[a.ID] {
		t = b
	}
	if t.Collation == nil {
		t.Collation = a.Collation
		if t.Collation == nil {
			t.Collation = b.Collation
		}
	}
	limit := 8000
	if t.ID.IsNational() {
		limit = 4000
	}
	t.Length = min(a.Length+b.Length, limit)
	if a.Length == Max || b.Length == Max {
		t.Length = Max
		switch t.ID {
		case Char:
			t.ID = VarChar
		case NChar:
			t.ID = NVarChar
		case Binary:
			t.ID = VarBinary
		}
	}
	return t, nil
}

func isOldLOB(id ID) bool { return id == Text || id == NText || id == Image }

// temporalResult allows what SQL Server allows: adding and subtracting on datetime and
// smalldatetime, with each other, numbers and text.
func temporalResult(op string, a, b Type) (Type, error) {
	old := func(id ID) bool { return id == DateTime || id == SmallDateTime }
	for _, pair := range [][2]Type{{a, b}, {b, a}} {
		t, other := pair[0], pair[1]
		if !t.ID.IsTemporal() || old(t.ID) {
			continue
		}
		switch {
		case other.ID.IsNumber():
			return Type{}, OperandClash(t.ID, other.ID)
		case other.ID.IsTemporal() && other.ID != t.ID:
			return Type{}, incompatible(a, b, op)
		default:
			return Type{}, invalidOperand(t, op)
		}
	}
	common, err := Common(a, b)
	if err != nil {
		return Type{}, err
	}
	if op != "+" && op != "-" {
		return Type{}, invalidOperand(common, op)
	}
	return common, nil
}

// decimalResult applies the rules of "Precision, scale, and length" (MS docs).
func decimalResult(op string, a, b Type) Type {
	p1, s1, p2, s2 := int(a.Precision), int(a.Scale), int(b.Precision), int(b.Scale)
	switch op {
	case "*":
		return multiplicativeDecimal(p1+p2+1, s1+s2)
	case "/":
		scale := max(6, s1+p2+1)
		return multiplicativeDecimal(p1-s1+s2+scale, scale)
	case "%":
		scale := max(s1, s2)
		return multiplicativeDecimal(min(p1-s1, p2-s2)+scale, scale)
	default:
		return additiveDecimal(Numeric, max(p1-s1, p2-s2), max(s1, s2), 1)
	}
}

// additiveDecimal gives up fraction digits when whole and carry leave no room for them.
func additiveDecimal(id ID, whole, scale, carry int) Type {
	precision := whole + scale + carry
	if precision > MaxPrecision {
		scale = min(scale, max(MaxPrecision-whole, 0))
		precision = MaxPrecision
	}
	return Type{ID: id, Precision: uint8(precision), Scale: uint8(scale)}
}

// multiplicativeDecimal keeps at least six fraction digits, if there were that many,
// when the whole part takes more than 32.
func multiplicativeDecimal(precision, scale int) Type {
	if precision > MaxPrecision {
		whole := precision - scale
		if whole < 32 {
			scale = min(scale, MaxPrecision-whole)
		} else {
			scale = min(scale, 6)
		}
		precision = MaxPrecision
	}
	return NumericOf(uint8(precision), uint8(scale))
}

// NegateType returns the type of -x: smallint for tinyint, else x's own.
func NegateType(t Type) (Type, error) {
	switch {
	case t.ID == Unknown:
		return Simple(Int), nil
	case t.ID == TinyInt:
		return Simple(SmallInt), nil
	case t.ID == Bit || !t.ID.IsNumber():
		return Type{}, Errorf(8117, 1, 16, "Operand data type %s is invalid for minus operator.", t.Name())
	default:
		return t, nil
	}
}
