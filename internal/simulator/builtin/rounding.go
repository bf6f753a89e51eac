package builtin

import (
	"math"
	"math/big"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// roundingFunctions keep the type of their argument.
var roundingFunctions = []Function{
	{Name: "ROUND", MinArgs: 2, MaxArgs: 3, Deterministic: true, ResultType: numberType("round"), Eval: evalRound},
	{Name: "CEILING", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: wholeType("ceiling"), Eval: whole("ceiling", math.Ceil, 1)},
	{Name: "FLOOR", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: wholeType("floor"), Eval: whole("floor", math.Floor, -1)},
}

// wholeType drops the fraction digits of decimals.
func wholeType(name string) typeFunc {
	return func(args []sqltypes.Type) (sqltypes.Type, error) {
		t, err := widened(name, args[0])
		t.Scale = 0
		if t.ID.IsMoney() {
			t.Scale = 4
		}
		return t, err
	}
}

// whole rounds up (direction 1) or down (-1) to a whole number.
func whole(name string, ofFloat func(float64) float64, direction int) evalFunc {
	return func(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
		v, t, err := widen(name, args[0], types[0])
		if err != nil {
			return sqltypes.Null(), err
		}
		switch v.Kind() {
		case sqltypes.KindFloat:
			return sqltypes.FloatOf(ofFloat(v.Float64())), nil
		case sqltypes.KindDecimal, sqltypes.KindMoney:
			exact := exactOf(v)
			cut := exact.Truncate(0)
			if back, ok := cut.Rescale(exact.Scale); !ok || back != exact {
				if (direction > 0) == !exact.Neg {
					cut = addOne(cut, exact.Neg)
				}
			}
			return fromExact(cut, v, t)
		default:
			return v, nil
		}
	}
}

// exactOf returns a decimal or money as a decimal.
func exactOf(v sqltypes.Value) sqltypes.Dec {
	if v.Kind() == sqltypes.KindMoney {
		d := sqltypes.DecFromInt(v.Int64())
		d.Scale = 4
		return d
	}
	return v.Dec()
}

// fromExact brings a decimal back to the kind that v has.
func fromExact(d sqltypes.Dec, v sqltypes.Value, t sqltypes.Type) (sqltypes.Value, error) {
	if v.Kind() == sqltypes.KindMoney {
		return sqltypes.Convert(sqltypes.DecOf(d), sqltypes.NumericOf(sqltypes.MaxPrecision, d.Scale), t, sqltypes.DefaultStyle)
	}
	if !d.Fits(t.Precision) {
		return sqltypes.Null(), overflow(t)
	}
	return sqltypes.DecOf(d), nil
}

// addOne moves a whole number away from zero.
func addOne(d sqltypes.Dec, negative bool) sqltypes.Dec {
	d.Lo++
	if d.Lo == 0 {
		d.Hi++
	}
	d.Neg = negative
	return d
}

// evalRound rounds half away from zero, or cuts when a third argument is not 0. A
// negative length rounds before the point.
func evalRound(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	v, t, err := widen("round", args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	length, err := intOf(args[1], types[1])
	if err != nil {
		return sqltypes.Null(), err
	}
	cut := false
	if len(args) == 3 {
		n, err := intOf(args[2], types[2])
		if err != nil {
			return sqltypes.Null(), err
		}
		cut = n != 0
	}
	switch v.Kind() {
	case sqltypes.KindFloat:
		return sqltypes.FloatOf(roundFloat(v.Float64(), length, cut)), nil
	case sqltypes.KindInt:
		d, ok := roundDec(sqltypes.DecFromInt(v.Int64()), length, cut)
		if !ok {
			return sqltypes.Null(), overflow(t)
		}
		return sqltypes.Convert(sqltypes.DecOf(d), sqltypes.NumericOf(sqltypes.MaxPrecision, 0), t, sqltypes.DefaultStyle)
	default:
		d, ok := roundDec(exactOf(v), length, cut)
		if !ok {
			return sqltypes.Null(), overflow(t)
		}
		return fromExact(d, v, t)
	}
}

// roundDec rounds at a digit and keeps the scale.
func roundDec(d sqltypes.Dec, length int, cut bool) (sqltypes.Dec, bool) {
	scale := d.Scale
	if length >= int(scale) {
		return d, true
	}
	if length >= 0 {
		if cut {
			return d.Truncate(uint8(length)).Rescale(scale)
		}
		rounded, ok := d.Rescale(uint8(length))
		if !ok {
			return d, false
		}
		return rounded.Rescale(scale)
	}
	// Before the point: the number as a multiple of 10^-length.
	digits := int(scale) - length
	if digits > sqltypes.MaxPrecision {
		return sqltypes.Dec{Scale: scale}, true
	}
	shifted := d
	shifted.Scale = uint8(digits)
	var ok bool
	if cut {
		shifted = shifted.Truncate(0)
	} else if shifted, ok = shifted.Rescale(0); !ok {
		return d, false
	}
	shifted, ok = shifted.Rescale(uint8(digits))
	shifted.Scale = scale
	return shifted, ok
}

// roundFloat rounds the float's exact value; decimal digits past the 15th say nothing.
func roundFloat(f float64, length int, cut bool) float64 {
	if length > 15 || math.IsInf(f, 0) || math.IsNaN(f) {
		return f
	}
	shift := math.Pow10(length)
	if length < 0 {
		shift = math.Pow10(-length)
		if cut {
			return math.Trunc(f/shift) * shift
		}
		return math.Round(f/shift) * shift
	}
	scaled, _ := new(big.Float).Mul(big.NewFloat(f), big.NewFloat(shift)).Float64()
	if cut {
		return math.Trunc(scaled) / shift
	}
	return math.Round(scaled) / shift
}
