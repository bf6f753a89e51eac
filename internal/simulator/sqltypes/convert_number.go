package sqltypes

import (
	"math"
	"strconv"
	"strings"
)

// blanks are what conversions from text ignore around a number.
const blanks = " \t\n\v\f\r"

// integerRange returns the bounds of an integer type.
func integerRange(id ID) (low, high int64) {
	switch id {
	case Bit:
		return 0, 1
	case TinyInt:
		return 0, math.MaxUint8
	case SmallInt:
		return math.MinInt16, math.MaxInt16
	case Int:
		return math.MinInt32, math.MaxInt32
	default:
		return math.MinInt64, math.MaxInt64
	}
}

// toBit makes 0 of zero and 1 of everything else; text may also be true or false.
func toBit(v Value, from Type) (Value, error) {
	switch v.kind {
	case KindFloat:
		return BoolOf(v.Float64() != 0), nil
	case KindDecimal:
		return BoolOf(!v.Dec().IsZero()), nil
	case KindText:
		text := strings.Trim(v.s, blanks)
		switch strings.ToLower(text) {
		case "true":
			return BoolOf(true), nil
		case "false":
			return BoolOf(false), nil
		}
		digits := strings.TrimLeft(text, "+-")
		if len(text)-len(digits) > 1 || strings.Trim(digits, "0123456789") != "" {
			return Value{}, conversionFailed(v, from, Simple(Bit))
		}
		return BoolOf(strings.Trim(digits, "0") != ""), nil
	case KindBytes:
		return BoolOf(strings.Trim(v.s[max(0, len(v.s)-1):], "\x00") != ""), nil
	case KindDateTime:
		return BoolOf(v.hi|v.n != 0), nil
	default:
		return BoolOf(v.n != 0), nil
	}
}

// toInteger converts to tinyint, smallint, int and bigint. Decimals and floats are
// cut, money and datetime are rounded (MS docs, "CAST and CONVERT", "Truncating and
// rounding results").
func toInteger(v Value, from, to Type) (Value, error) {
	low, high := integerRange(to.ID)
	switch v.kind {
	case KindInt:
		if i := v.Int64(); i < low || i > high {
			return Value{}, integerOverflow(i, from, to)
		}
		return v, nil
	case KindDecimal:
		i, ok := v.Dec().Int64()
		if !ok || i < low || i > high {
			return Value{}, overflowConverting(Numeric.Name(), to.Name(), 2)
		}
		return IntOf(i), nil
	case KindMoney:
		d, _ := Dec{Lo: magnitude64(v.Int64()), Neg: v.Int64() < 0, Scale: 4}.Rescale(0)
		i, _ := d.Int64()
		if i < low || i > high {
			return Value{}, overflowConverting("expression", to.Name(), 2)
		}
		return IntOf(i), nil
	case KindFloat:
		return floatToInteger(v.Float64(), low, high, to)
	case KindText:
		return textToInteger(v, from, to)
	case KindBytes:
		return bytesToInteger(v.s, to), nil
	case KindDateTime:
		days := int64(v.Days())
		if v.Ticks() >= Ticks300PerDay/2 {
			days++
		}
		return toInteger(IntOf(days), Simple(Int), to)
	default:
		return Value{}, OperandClash(from.ID, to.ID)
	}
}

func magnitude64(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

// integerOverflow is 220 for the small types, 8115 for int and bigint.
func integerOverflow(i int64, from, to Type) error {
	if to.ID == TinyInt || to.ID == SmallInt {
		if from.ID != BigInt {
			return Errorf(220, 2, 16, "Arithmetic overflow error for data type %s, value = %d.", to.Name(), i)
		}
	}
	return overflowConverting("expression", to.Name(), 2)
}

func floatToInteger(f float64, low, high int64, to Type) (Value, error) {
	cut := math.Trunc(f)
	// float64(high) rounds up to 2^63 for bigint, so the comparison is strict there.
	if math.IsNaN(f) || cut < float64(low) || cut > float64(high) || to.ID == BigInt && cut >= float64(high) {
		if to.ID == BigInt {
			return Value{}, overflowConverting("expression", to.Name(), 2)
		}
		return Value{}, Errorf(232, 3, 16, "Arithmetic overflow error for type %s, value = %f.", to.Name(), f)
	}
	return IntOf(int64(cut)), nil
}

// textToInteger reads blanks, a sign and digits; no digits at all are 0.
func textToInteger(v Value, from, to Type) (Value, error) {
	text := strings.Trim(v.s, blanks)
	digits := text
	neg := false
	if digits != "" && (digits[0] == '-' || digits[0] == '+') {
		neg, digits = digits[0] == '-', strings.TrimLeft(digits[1:], blanks)
	}
	if strings.Trim(digits, "0123456789") != "" {
		if to.ID == BigInt {
			return Value{}, errorConverting(from, to.Name())
		}
		return Value{}, conversionFailed(v, from, to)
	}
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return IntOf(0), nil
	}
	if neg {
		digits = "-" + digits
	}
	i, err := strconv.ParseInt(digits, 10, 64)
	low, high := integerRange(to.ID)
	if err == nil && i >= low && i <= high {
		return IntOf(i), nil
	}
	switch to.ID {
	case BigInt:
		return Value{}, overflowConverting("expression", to.Name(), 2)
	case Int:
		return Value{}, Errorf(248, 1, 16, "The conversion of the %s value '%s' overflowed an int column.", from.Name(), v.s)
	default:
		width := map[ID]string{TinyInt: "INT1", SmallInt: "INT2"}[to.ID]
		return Value{}, Errorf(244, 1, 16, "The conversion of the %s value '%s' overflowed an %s column. Use a larger integer column.", from.Name(), v.s, width)
	}
}

// bytesToInteger reads the last bytes as a big-endian number.
func bytesToInteger(raw string, to Type) Value {
	width := to.MaxLength()
	raw = raw[max(0, len(raw)-width):]
	var n uint64
	for i := range len(raw) {
		n = n<<8 | uint64(raw[i])
	}
	switch to.ID {
	case SmallInt:
		return IntOf(int64(int16(n)))
	case Int:
		return IntOf(int64(int32(n)))
	default:
		return IntOf(int64(n))
	}
}

// toDecimal rounds half away from zero to the scale of the target.
func toDecimal(v Value, from, to Type) (Value, error) {
	d, err := exactDecimal(v, from, to)
	if err != nil {
		return Value{}, err
	}
	d, ok := d.Rescale(to.Scale)
	if !ok || !d.Fits(to.Precision) {
		return Value{}, overflowConverting(overflowName(from), Numeric.Name(), 8)
	}
	return DecOf(d), nil
}

// exactDecimal returns v as a decimal, with at least the target's scale.
func exactDecimal(v Value, from, to Type) (Dec, error) {
	switch v.kind {
	case KindInt:
		return DecFromInt(v.Int64()), nil
	case KindDecimal:
		return v.Dec(), nil
	case KindMoney:
		return Dec{Lo: magnitude64(v.Int64()), Neg: v.Int64() < 0, Scale: 4}, nil
	case KindFloat:
		d, ok := decFromFloat(v.Float64(), to.Scale)
		if !ok {
			return Dec{}, overflowConverting(from.Name(), Numeric.Name(), 6)
		}
		return d, nil
	case KindText:
		text := strings.Trim(v.s, blanks)
		if strings.Trim(text, "+-.0123456789") != "" || strings.Trim(text, "+-.") == "" {
			return Dec{}, errorConverting(from, Numeric.Name())
		}
		d, ok := ParseDec(text)
		if !ok && strings.Count(text, ".") <= 1 && strings.LastIndexAny(text, "+-") <= 0 {
			return Dec{}, overflowConverting(from.Name(), Numeric.Name(), 8)
		}
		if !ok {
			return Dec{}, errorConverting(from, Numeric.Name())
		}
		return d, nil
	case KindDateTime:
		total := DecFromInt(int64(v.Days())*Ticks300PerDay + v.Ticks())
		d, _ := divDec(total, DecFromInt(Ticks300PerDay), min(to.Scale+1, 20))
		return d, nil
	case KindBytes:
		return decimalFromBytes(v.s, from)
	default:
		return Dec{}, OperandClash(from.ID, to.ID)
	}
}

// decimalFromBytes reads what converting a decimal to varbinary gives: precision,
// scale, 0, sign (1 for positive), little-endian magnitude.
func decimalFromBytes(raw string, from Type) (Dec, error) {
	if len(raw) < 5 || len(raw) > 20 || raw[1] > MaxPrecision {
		return Dec{}, errorConverting(from, Numeric.Name())
	}
	var m uint128
	for i := len(raw) - 1; i >= 4; i-- {
		m.hi, m.lo = m.hi<<8|m.lo>>56, m.lo<<8|uint64(raw[i])
	}
	d := decOf(raw[3] == 0, m, raw[1])
	if !d.Fits(MaxPrecision) {
		return Dec{}, errorConverting(from, Numeric.Name())
	}
	return d, nil
}

// toFloat converts to float and real.
func toFloat(v Value, from, to Type) (Value, error) {
	var f float64
	switch v.kind {
	case KindFloat:
		f = v.Float64()
	case KindInt:
		f = float64(v.Int64())
	case KindDecimal:
		f = v.Dec().Float64()
	case KindMoney:
		f = float64(v.Int64()) / 10000
	case KindText:
		parsed, ok := parseFloat(v.s)
		if !ok {
			return Value{}, errorConverting(from, to.Name())
		}
		f = parsed
	case KindDateTime:
		f = float64(v.Days()) + float64(v.Ticks())/float64(Ticks300PerDay)
	default:
		return Value{}, OperandClash(from.ID, to.ID)
	}
	if to.ID == Real {
		f = float64(float32(f))
	}
	if math.IsInf(f, 0) {
		return Value{}, overflowConverting("expression", to.Name(), 2)
	}
	return FloatOf(f), nil
}

// parseFloat reads a number with an optional exponent, as CAST does: empty text is 0,
// hexadecimal, Inf and NaN are none.
func parseFloat(s string) (float64, bool) {
	text := strings.Trim(s, blanks)
	if text == "" {
		return 0, true
	}
	if strings.Trim(text, "+-.0123456789eEdD") != "" {
		return 0, false
	}
	text = strings.Map(func(r rune) rune {
		if r == 'd' || r == 'D' {
			return 'e'
		}
		return r
	}, text)
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}
