package builtin

import (
	"math/bits"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// The bit functions of SQL Server 2022 for integers.
// Source: MS docs, "Bit manipulation functions" and the page of each.
var bitFunctions = []Function{
	{Name: "LEFT_SHIFT", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: bitsType("LEFT_SHIFT"), Eval: shifted("<<")},
	{Name: "RIGHT_SHIFT", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: bitsType("RIGHT_SHIFT"), Eval: shifted(">>")},
	{Name: "BIT_COUNT", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: bitCountType, Eval: evalBitCount},
	{Name: "GET_BIT", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: getBitType, Eval: evalGetBit},
	{Name: "SET_BIT", MinArgs: 2, MaxArgs: 3, Deterministic: true, ResultType: bitsType("SET_BIT"), Eval: evalSetBit},
}

// bitsType is the type of the first argument, which has to be an integer.
func bitsType(function string) typeFunc {
	return func(args []sqltypes.Type) (sqltypes.Type, error) {
		for i, t := range args {
			if !t.ID.IsInteger() && t.ID != sqltypes.Unknown {
				return sqltypes.Type{}, invalidArgument(t, i+1, function)
			}
		}
		if args[0].ID == sqltypes.Unknown {
			return sqltypes.Simple(sqltypes.Int), nil
		}
		return args[0], nil
	}
}

func bitCountType(args []sqltypes.Type) (sqltypes.Type, error) {
	if t := args[0]; !t.ID.IsInteger() && !t.ID.IsBinary() && t.ID != sqltypes.Unknown {
		return sqltypes.Type{}, invalidArgument(t, 1, "BIT_COUNT")
	}
	return sqltypes.Simple(sqltypes.BigInt), nil
}

func getBitType(args []sqltypes.Type) (sqltypes.Type, error) {
	_, err := bitsType("GET_BIT")(args)
	return sqltypes.Simple(sqltypes.Bit), err
}

func shifted(op string) evalFunc {
	return func(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
		v, _, err := sqltypes.Arithmetic(op, args[0], types[0], args[1], types[1])
		return v, err
	}
}

func evalBitCount(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	if types[0].ID.IsBinary() {
		n := 0
		for _, b := range []byte(args[0].Raw()) {
			n += bits.OnesCount8(b)
		}
		return sqltypes.IntOf(int64(n)), nil
	}
	width := sqltypes.BitWidth(types[0].ID)
	return sqltypes.IntOf(int64(bits.OnesCount64(uint64(args[0].Int64()) << (64 - width)))), nil
}

// bitOffset checks the number of a bit, which counts from the lowest: error 9836.
func bitOffset(v sqltypes.Value, t sqltypes.Type) (uint, error) {
	n := v.Int64()
	if n < 0 || n >= int64(sqltypes.BitWidth(t.ID)) {
		return 0, sqltypes.Errorf(9836, 1, 16, "Invalid bit offset '%d' for data type %s.", n, t.Name())
	}
	return uint(n), nil
}

func evalGetBit(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	n, err := bitOffset(args[1], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	return sqltypes.IntOf(args[0].Int64() >> n & 1), nil
}

func evalSetBit(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	n, err := bitOffset(args[1], types[0])
	if err != nil {
		return sqltypes.Null(), err
	}
	mask := int64(1) << n
	v := args[0].Int64() | mask
	if len(args) == 3 && !args[2].Bool() {
		v = args[0].Int64() &^ mask
	}
	return sqltypes.IntOf(sqltypes.SignExtend(v, types[0].ID)), nil
}
