package builtin

import (
	"math"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

var float = sqltypes.Simple(sqltypes.Float)

// mathFunctions work in float, or keep the type of their argument.
var mathFunctions = []Function{
	{Name: "PI", Deterministic: true, ResultType: always(float), Eval: constant(math.Pi)},
	{Name: "SQRT", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(float), Eval: ofFloat(math.Sqrt)},
	{Name: "SQUARE", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(float), Eval: ofFloat(func(x float64) float64 { return x * x })},
	{Name: "EXP", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(float), Eval: ofFloat(math.Exp)},
	{Name: "LOG", MinArgs: 1, MaxArgs: 2, Deterministic: true, ResultType: always(float), Eval: evalLog},
	{Name: "LOG10", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(float), Eval: ofFloat(math.Log10)},
	{Name: "SIN", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(float), Eval: ofFloat(math.Sin)},
	{Name: "COS", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(float), Eval: ofFloat(math.Cos)},
	{Name: "TAN", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(float), Eval: ofFloat(math.Tan)},
	{Name: "COT", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(float), Eval: ofFloat(func(x float64) float64 { return 1 / math.Tan(x) })},
	{Name: "ASIN", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(float), Eval: ofFloat(math.Asin)},
	{Name: "ACOS", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(float), Eval: ofFloat(math.Acos)},
	{Name: "ATAN", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(float), Eval: ofFloat(math.Atan)},
	{Name: "ATN2", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: always(float), Eval: evalAtan2},
	{Name: "DEGREES", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: numberType("degrees"), Eval: scaled(180 / math.Pi)},
	{Name: "RADIANS", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: numberType("radians"), Eval: scaled(math.Pi / 180)},
	{Name: "RAND", MaxArgs: 1, ResultType: always(float), Eval: evalRand, nulls: true},
	{Name: "ABS", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: numberType("abs"), Eval: evalAbs},
	{Name: "SIGN", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: numberType("sign"), Eval: evalSign},
	{Name: "POWER", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: powerType, Eval: evalPower},
}

// numberType is the argument's own type: the small integers become int, bit, text and
// real become float.
func numberType(name string) typeFunc {
	return func(args []sqltypes.Type) (sqltypes.Type, error) {
		return widened(name, args[0])
	}
}

func widened(name string, t sqltypes.Type) (sqltypes.Type, error) {
	switch {
	case t.ID == sqltypes.TinyInt || t.ID == sqltypes.SmallInt || t.ID == sqltypes.Int || t.ID == sqltypes.Unknown:
		return sqltypes.Simple(sqltypes.Int), nil
	case t.ID == sqltypes.BigInt, t.ID.IsDecimal():
		return t, nil
	case t.ID.IsMoney():
		return sqltypes.Simple(sqltypes.Money), nil
	case t.ID.IsFloat() || t.ID == sqltypes.Bit || t.ID.IsText():
		return float, nil
	default:
		return sqltypes.Type{}, invalidArgument(t, 1, name)
	}
}

func constant(f float64) evalFunc {
	return func(Env, []sqltypes.Value, []sqltypes.Type) (sqltypes.Value, error) { return sqltypes.FloatOf(f), nil }
}

// checkedFloat is error 3623 where a function is not defined, 8115 for a result that is
// too large.
func checkedFloat(f float64) (sqltypes.Value, error) {
	switch {
	case math.IsNaN(f):
		return sqltypes.Null(), sqltypes.Errorf(3623, 1, 16, "An invalid floating point operation occurred.")
	case math.IsInf(f, 0):
		return sqltypes.Null(), overflow(float)
	default:
		return sqltypes.FloatOf(f), nil
	}
}

// overflow is error 8115.
func overflow(t sqltypes.Type) error {
	name := t.Name()
	if t.ID == sqltypes.Decimal {
		name = sqltypes.Numeric.Name()
	}
	return sqltypes.Errorf(8115, 2, 16, "Arithmetic overflow error converting expression to data type %s.", name)
}

func ofFloat(f func(float64) float64) evalFunc {
	return func(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
		x, err := floatOf(args[0], types[0])
		if err != nil {
			return sqltypes.Null(), err
		}
		y := f(x)
		if math.IsInf(y, -1) {
			y = math.NaN() // LOG(0)
		}
		return checkedFloat(y)
	}
}

func twoFloats(args []sqltypes.Value, types []sqltypes.Type) (x, y float64, err error) {
	if x, err = floatOf(args[0], types[0]); err != nil {
		return 0, 0, err
	}
	y, err = floatOf(args[1], types[1])
	return x, y, err
}

func evalLog(env Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	if len(args) == 1 {
		return ofFloat(math.Log)(env, args, types)
	}
	x, base, err := twoFloats(args, types)
	if err != nil {
		return sqltypes.Null(), err
	}
	if x <= 0 || base <= 0 || base == 1 {
		return checkedFloat(math.NaN())
	}
	return checkedFloat(math.Log(x) / math.Log(base))
}

func evalAtan2(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	y, x, err := twoFloats(args, types)
	if err != nil {
		return sqltypes.Null(), err
	}
	return checkedFloat(math.Atan2(y, x))
}

// scaled multiplies and goes back to the argument's type, so that integers are cut.
func scaled(factor float64) evalFunc {
	return func(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
		x, err := floatOf(args[0], types[0])
		if err != nil {
			return sqltypes.Null(), err
		}
		t, err := widened("degrees", types[0])
		if err != nil {
			return sqltypes.Null(), err
		}
		return sqltypes.Convert(sqltypes.FloatOf(x*factor), float, t, sqltypes.DefaultStyle)
	}
}

// evalRand starts the session's generator again when it is given a seed.
func evalRand(env Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	source := env.Session().Rand
	if len(args) == 1 {
		seed := int64(0)
		if !args[0].IsNull() {
			n, err := intOf(args[0], types[0])
			if err != nil {
				return sqltypes.Null(), err
			}
			seed = int64(n)
		}
		if source == nil {
			source = &Rand{}
		}
		source.reseed(seed)
	}
	return sqltypes.FloatOf(source.float64()), nil
}

// widen converts the argument to the type that the function works in.
func widen(name string, v sqltypes.Value, t sqltypes.Type) (sqltypes.Value, sqltypes.Type, error) {
	to, err := widened(name, t)
	if err != nil {
		return sqltypes.Null(), to, err
	}
	v, err = sqltypes.Convert(v, t, to, sqltypes.DefaultStyle)
	return v, to, err
}

func evalAbs(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	v, t, err := widen("abs", args[0], types[0])
	if err != nil || signOf(v) >= 0 {
		return v, err
	}
	return sqltypes.Negate(v, t)
}

func signOf(v sqltypes.Value) int {
	switch v.Kind() {
	case sqltypes.KindFloat:
		switch f := v.Float64(); {
		case f > 0:
			return 1
		case f < 0:
			return -1
		}
		return 0
	case sqltypes.KindDecimal:
		d := v.Dec()
		switch {
		case d.IsZero():
			return 0
		case d.Neg:
			return -1
		}
		return 1
	default:
		switch i := v.Int64(); {
		case i > 0:
			return 1
		case i < 0:
			return -1
		}
		return 0
	}
}

func evalSign(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	v, t, err := widen("sign", args[0], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	return sqltypes.Convert(sqltypes.IntOf(int64(signOf(v))), sqltypes.Simple(sqltypes.Int), t, sqltypes.DefaultStyle)
}

// powerType is the base's type; decimals get all 38 digits.
func powerType(args []sqltypes.Type) (sqltypes.Type, error) {
	t, err := widened("power", args[0])
	if t.ID.IsDecimal() {
		t.Precision = sqltypes.MaxPrecision
	}
	return t, err
}

func evalPower(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	t, err := powerType(types)
	if err != nil {
		return sqltypes.Null(), err
	}
	x, y, err := twoFloats(args, types)
	if err != nil {
		return sqltypes.Null(), err
	}
	if t.ID.IsInteger() && y >= 0 && y == math.Trunc(y) {
		return integerPower(args[0].Int64(), int64(y), t)
	}
	if x == 0 && y < 0 {
		return sqltypes.Null(), sqltypes.DivideByZero()
	}
	result, err := checkedFloat(math.Pow(x, y))
	if err != nil {
		return sqltypes.Null(), err
	}
	v, err := sqltypes.Convert(result, float, t, sqltypes.DefaultStyle)
	if err != nil {
		return sqltypes.Null(), overflow(t)
	}
	return v, nil
}

// integerPower is exact; past the type's range it is error 8115.
func integerPower(base, exponent int64, t sqltypes.Type) (sqltypes.Value, error) {
	result := sqltypes.IntOf(1)
	for range exponent {
		if base == 0 || base == 1 || base == -1 {
			if base == -1 && exponent%2 == 0 {
				base = 1
			}
			return sqltypes.IntOf(base), nil
		}
		next, _, err := sqltypes.Arithmetic("*", result, t, sqltypes.IntOf(base), t)
		if err != nil {
			return sqltypes.Null(), err
		}
		result = next
	}
	return result, nil
}
