package sqltypes

import (
	"math"
	"math/big"
	"math/bits"
)

// DivideByZero is error 8134.
func DivideByZero() *Error { return Errorf(8134, 1, 16, "Divide by zero error encountered.") }

// Arithmetic applies a binary operator and returns the result with its type, which is
// [ResultType]'s. NULL on either side gives NULL.
func Arithmetic(op string, a Value, at Type, b Value, bt Type) (Value, Type, error) {
	t, err := ResultType(op, at, bt)
	if err != nil || a.IsNull() || b.IsNull() {
		return Value{}, t, err
	}
	v, err := ArithmeticAs(op, a, at, b, bt, t)
	return v, t, err
}

// ArithmeticAs is [Arithmetic] for a caller that knows the result's type already.
func ArithmeticAs(op string, a Value, at Type, b Value, bt, t Type) (Value, error) {
	if a.IsNull() || b.IsNull() {
		return Value{}, nil
	}
	switch {
	case t.ID.IsText() || t.ID.IsBinary():
		return concat(a, at, b, bt, t)
	case t.ID.IsDecimal():
		return decimalArithmetic(op, a, at, b, bt, t)
	}
	if op == "<<" || op == ">>" {
		return IntOf(shift(op, a.Int64(), b.Int64(), t.ID)), nil
	}
	var err error
	if at.ID != t.ID {
		if a, err = Implicit(a, at, t); err != nil {
			return Value{}, err
		}
	}
	if bt.ID != t.ID {
		if b, err = Implicit(b, bt, t); err != nil {
			return Value{}, err
		}
	}
	switch {
	case t.ID.IsInteger():
		return integerArithmetic(op, a.Int64(), b.Int64(), t)
	case t.ID.IsMoney():
		return moneyArithmetic(op, a.Int64(), b.Int64(), t)
	case t.ID.IsFloat():
		return floatArithmetic(op, a.Float64(), b.Float64(), t)
	default:
		return dateArithmetic(op, a, b, t)
	}
}

func concat(a Value, at Type, b Value, bt, t Type) (Value, error) {
	if t.ID.IsBinary() {
		return RawOf(fitConcat(a.s+b.s, t)), nil
	}
	x, err := Implicit(a, at, wideText(t, at))
	if err != nil {
		return Value{}, err
	}
	y, err := Implicit(b, bt, wideText(t, bt))
	if err != nil {
		return Value{}, err
	}
	return StringOf(CutText(Concat(x.s, y.s), t)), nil
}

// wideText is the result's type without its length, so that padding of char is kept
// and nothing is cut before the texts are joined.
func wideText(t, operand Type) Type {
	if operand.ID.IsNational() || !t.ID.IsNational() {
		return operand
	}
	return NVarCharOf(Max).WithCollation(t.Collation)
}

func fitConcat(raw string, t Type) string {
	return raw[:min(len(raw), binaryLimit(t))]
}

func integerArithmetic(op string, a, b int64, t Type) (Value, error) {
	overflow := false
	var r int64
	switch op {
	case "+":
		r = a + b
		overflow = (a^r)&(b^r) < 0
	case "-":
		r = a - b
		overflow = (a^b)&(a^r) < 0
	case "*":
		r = a * b
		overflow = a != 0 && (r/a != b || a == -1 && b == math.MinInt64)
	case "/", "%":
		if b == 0 {
			return Value{}, DivideByZero()
		}
		if overflow = a == math.MinInt64 && b == -1; !overflow {
			if r = a / b; op == "%" {
				r = a % b
			}
		}
	case "&":
		r = a & b
	case "|":
		r = a | b
	case "^":
		r = a ^ b
	}
	if low, high := integerRange(t.ID); overflow || r < low || r > high {
		return Value{}, overflowConverting("expression", t.Name(), 2)
	}
	return IntOf(r), nil
}

// moneyArithmetic multiplies and divides amounts as the server does, through the
// 10^-4 unit: a quotient is cut to it.
func moneyArithmetic(op string, a, b int64, t Type) (Value, error) {
	var r int64
	ok := true
	switch op {
	case "+":
		r = a + b
		ok = (a^r)&(b^r) >= 0
	case "-":
		r = a - b
		ok = (a^b)&(a^r) >= 0
	case "*":
		hi, lo := bits.Mul64(magnitude64(a), magnitude64(b))
		product := Dec{Hi: hi, Lo: lo, Scale: 8, Neg: (a < 0) != (b < 0)}
		product, ok = product.Rescale(4)
		product.Scale = 0
		if ok {
			r, ok = product.Int64()
		}
	default:
		if b == 0 {
			return Value{}, DivideByZero()
		}
		if op == "%" {
			if b != -1 {
				r = a % b
			}
			break
		}
		q := new(big.Int).Mul(big.NewInt(a), big.NewInt(10000))
		q.Quo(q, big.NewInt(b))
		r, ok = q.Int64(), q.IsInt64()
	}
	if low, high := moneyRange(t.ID); !ok || r < low || r > high {
		return Value{}, overflowConverting("expression", t.Name(), 2)
	}
	return MoneyOf(r), nil
}

func floatArithmetic(op string, a, b float64, t Type) (Value, error) {
	var r float64
	switch op {
	case "+":
		r = a + b
	case "-":
		r = a - b
	case "*":
		r = a * b
	default:
		if b == 0 {
			return Value{}, DivideByZero()
		}
		r = a / b
	}
	if t.ID == Real {
		r = float64(float32(r))
	}
	if math.IsInf(r, 0) || math.IsNaN(r) {
		return Value{}, overflowConverting("expression", t.Name(), 2)
	}
	return FloatOf(r), nil
}

// decimalArithmetic computes exactly, then rounds to the result's scale; quotients are
// cut.
func decimalArithmetic(op string, a Value, at Type, b Value, bt, t Type) (Value, error) {
	x, err := decimalOf(a, at, t)
	if err != nil {
		return Value{}, err
	}
	y, err := decimalOf(b, bt, t)
	if err != nil {
		return Value{}, err
	}
	var r Dec
	var ok bool
	switch op {
	case "+":
		r, ok = sumDec(x, y, t.Scale)
	case "-":
		r, ok = sumDec(x, y.Negated(), t.Scale)
	case "*":
		r, ok = mulDec(x, y, t.Scale)
	default:
		if y.IsZero() {
			return Value{}, DivideByZero()
		}
		if op == "/" {
			r, ok = divDec(x, y, t.Scale)
		} else {
			r, ok = modDec(x, y)
		}
	}
	if ok {
		r, ok = r.Rescale(t.Scale)
	}
	if !ok || !r.Fits(t.Precision) {
		return Value{}, overflowConverting("expression", Numeric.Name(), 2)
	}
	return DecOf(r), nil
}

// sumDec adds exactly and rounds the sum to the result's scale where 38 digits do
// not hold it.
func sumDec(x, y Dec, scale uint8) (Dec, bool) {
	if r, ok := addDec(x, y); ok {
		return r, true
	}
	common := max(x.Scale, y.Scale)
	sum := new(big.Int)
	for _, d := range []Dec{x, y} {
		part := new(big.Int).Mul(d.magnitude().big(), bigPow10(int(common-d.Scale)))
		if d.Neg {
			part.Neg(part)
		}
		sum.Add(sum, part)
	}
	m, ok := scaleBig(new(big.Int).Abs(sum), int(common), int(scale), true)
	return decOf(sum.Sign() < 0, m, scale), ok
}

// decimalOf returns an operand as a decimal of its own scale; text takes the scale of
// the result.
func decimalOf(v Value, from, t Type) (Dec, error) {
	if from.ID.IsNumber() {
		return exactDecimal(v, from, t)
	}
	converted, err := Implicit(v, from, Type{ID: Numeric, Precision: MaxPrecision, Scale: t.Scale})
	return converted.Dec(), err
}

// dateArithmetic adds days and ticks of two datetimes, each counted from 1900-01-01.
func dateArithmetic(op string, a, b Value, t Type) (Value, error) {
	days, ticks := b.Days(), b.Ticks()
	if op == "-" {
		days, ticks = -days, -ticks
	}
	ticks += a.Ticks()
	days += a.Days() + int(floorDiv(ticks, Ticks300PerDay))
	ticks = floorMod(ticks, Ticks300PerDay)
	if t.ID == SmallDateTime {
		if v, ok := smallDateTime(days, ticks); ok {
			return v, nil
		}
	} else if days >= days1753 && days <= maxDateTimeDays {
		return DateTimeOf(days, ticks), nil
	}
	return Value{}, overflowConverting("expression", t.Name(), 2)
}

// Negate returns -v as a value of [NegateType].
func Negate(v Value, t Type) (Value, error) {
	result, err := NegateType(t)
	if err != nil || v.IsNull() {
		return Value{}, err
	}
	switch v.kind {
	case KindFloat:
		return FloatOf(-v.Float64()), nil
	case KindDecimal:
		return DecOf(v.Dec().Negated()), nil
	case KindMoney:
		return moneyArithmetic("-", 0, v.Int64(), result)
	default:
		return integerArithmetic("-", 0, v.Int64(), result)
	}
}

// BitNot returns ~v, which integers have; of a bit it is the other bit.
func BitNot(v Value, t Type) (Value, error) {
	switch {
	case !t.ID.IsInteger():
		return Value{}, Errorf(8117, 1, 16, "Operand data type %s is invalid for '~' operator.", t.Name())
	case v.IsNull():
		return v, nil
	case t.ID == Bit:
		return BoolOf(!v.Bool()), nil
	case t.ID == TinyInt:
		return IntOf(int64(^uint8(v.Int64()))), nil
	default:
		return IntOf(^v.Int64()), nil
	}
}
