package builtin

import (
	"encoding/binary"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// miscFunctions are those of no other group.
var miscFunctions = []Function{
	{Name: "ISNULL", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: isNullType, Eval: evalIsNull, nulls: true},
	{Name: "NULLIF", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: firstType, Eval: evalNullIf, nulls: true},
	{Name: "GREATEST", MinArgs: 1, MaxArgs: maxArguments, Deterministic: true, ResultType: commonType, Eval: extreme(1), nulls: true},
	{Name: "LEAST", MinArgs: 1, MaxArgs: maxArguments, Deterministic: true, ResultType: commonType, Eval: extreme(-1), nulls: true},
	{Name: "ISNUMERIC", MinArgs: 1, MaxArgs: 1, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.Int)), Eval: evalIsNumeric, nulls: true},
	{Name: "NEWID", ResultType: always(sqltypes.Simple(sqltypes.UniqueIdentifier)), Eval: evalNewID},
	{Name: "SQL_VARIANT_PROPERTY", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.SQLVariant)), Eval: evalVariantProperty},
	{Name: "COLLATIONPROPERTY", MinArgs: 2, MaxArgs: 2, Deterministic: true, ResultType: always(sqltypes.Simple(sqltypes.SQLVariant)), Eval: evalCollationProperty},
}

// isNullType is the first argument's type, or the second's when the first is a bare NULL.
func isNullType(args []sqltypes.Type) (sqltypes.Type, error) {
	if args[0].ID == sqltypes.Unknown {
		if args[1].ID == sqltypes.Unknown {
			return sqltypes.Simple(sqltypes.Int), nil
		}
		return args[1], nil
	}
	return args[0], sqltypes.CheckAssign(args[1], args[0])
}

func evalIsNull(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	if !args[0].IsNull() {
		return args[0], nil
	}
	t, err := isNullType(types)
	if err != nil {
		return sqltypes.Null(), err
	}
	return sqltypes.Implicit(args[1], types[1], t)
}

func firstType(args []sqltypes.Type) (sqltypes.Type, error) {
	if args[0].ID == sqltypes.Unknown {
		return sqltypes.Type{}, sqltypes.Errorf(4151, 1, 16, "The type of the first argument to NULLIF cannot be the NULL constant because the type of the first argument has to be known.")
	}
	_, err := sqltypes.Common(args[0], args[1])
	return args[0], err
}

func evalNullIf(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	if args[0].IsNull() || args[1].IsNull() {
		return args[0], nil
	}
	common, err := sqltypes.Common(types[0], types[1])
	if err != nil {
		return sqltypes.Null(), err
	}
	a, err := sqltypes.Implicit(args[0], types[0], common)
	if err != nil {
		return sqltypes.Null(), err
	}
	b, err := sqltypes.Implicit(args[1], types[1], common)
	if err != nil || sqltypes.Compare(a, b, common) == 0 {
		return sqltypes.Null(), err
	}
	return args[0], nil
}

func commonType(args []sqltypes.Type) (sqltypes.Type, error) {
	common := args[0]
	for _, t := range args[1:] {
		var err error
		if common, err = sqltypes.Common(common, t); err != nil {
			return sqltypes.Type{}, err
		}
	}
	return common, nil
}

// extreme picks the greatest (1) or least (-1) argument; NULLs are passed over.
func extreme(direction int) evalFunc {
	return func(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
		common, err := commonType(types)
		if err != nil {
			return sqltypes.Null(), err
		}
		best := sqltypes.Null()
		for i, a := range args {
			v, err := sqltypes.Implicit(a, types[i], common)
			if err != nil {
				return sqltypes.Null(), err
			}
			if !v.IsNull() && (best.IsNull() || sqltypes.Compare(v, best, common)*direction > 0) {
				best = v
			}
		}
		return best, nil
	}
}

// evalIsNumeric is 1 for what can become one of the number types, money's signs and
// lone "+", "-", "." included.
func evalIsNumeric(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	t := types[0]
	if args[0].IsNull() || !t.ID.IsText() {
		return sqltypes.BoolOf(!args[0].IsNull() && t.ID.IsNumber()), nil
	}
	text := strings.Trim(args[0].Str(), " \t\n\r\v\f")
	if text == "" {
		return sqltypes.IntOf(0), nil
	}
	switch text {
	case "+", "-", ".", ",", "$":
		return sqltypes.IntOf(1), nil
	}
	trimmed := sqltypes.StringOf(text)
	for _, id := range []sqltypes.ID{sqltypes.Float, sqltypes.Money} {
		if _, err := sqltypes.Convert(trimmed, t, sqltypes.Simple(id), sqltypes.DefaultStyle); err == nil {
			return sqltypes.IntOf(1), nil
		}
	}
	_, err := sqltypes.Convert(trimmed, t, sqltypes.NumericOf(sqltypes.MaxPrecision, 0), sqltypes.DefaultStyle)
	return sqltypes.BoolOf(err == nil), nil
}

// evalNewID makes a random GUID of version 4.
func evalNewID(env Env, _ []sqltypes.Value, _ []sqltypes.Type) (sqltypes.Value, error) {
	var wire [16]byte
	source := env.Session().Rand
	binary.LittleEndian.PutUint64(wire[:8], source.uint64())
	binary.LittleEndian.PutUint64(wire[8:], source.uint64())
	wire[7] = wire[7]&0x0F | 0x40 // the third group is little-endian
	wire[8] = wire[8]&0x3F | 0x80
	return sqltypes.GUIDOf(wire), nil
}

func variantText(s string) sqltypes.Value {
	return sqltypes.VariantOf(sqltypes.StringOf(s), sqltypes.NVarCharOf(128))
}

func variantInt(n int) sqltypes.Value {
	return sqltypes.VariantOf(sqltypes.IntOf(int64(n)), sqltypes.Simple(sqltypes.Int))
}

// evalVariantProperty describes the content of a sql_variant, or of any value.
func evalVariantProperty(_ Env, args []sqltypes.Value, types []sqltypes.Type) (sqltypes.Value, error) {
	v, t := args[0], types[0]
	if t.ID == sqltypes.SQLVariant {
		v, t = v.Variant()
	}
	switch strings.ToLower(strings.TrimSpace(args[1].Str())) {
	case "basetype":
		return variantText(t.Name()), nil
	case "precision":
		return variantInt(Precision(t)), nil
	case "scale":
		return variantInt(int(t.Scale)), nil
	case "maxlength":
		return variantInt(t.MaxLength()), nil
	case "totalbytes":
		return variantInt(dataLength(v, t) + 2 + variantPropertyBytes(t)), nil
	case "collation":
		if !t.ID.IsText() {
			return sqltypes.Null(), nil
		}
		c := t.Collation
		if c == nil {
			c = sqltypes.DefaultCollation
		}
		return variantText(c.Name), nil
	default:
		return sqltypes.Null(), nil
	}
}

// variantPropertyBytes is what a sql_variant stores beside the value: MS-TDS 2.2.5.5.4.
func variantPropertyBytes(t sqltypes.Type) int {
	switch {
	case t.ID.IsText():
		return 6
	case t.ID.IsDecimal() || t.ID == sqltypes.Binary || t.ID == sqltypes.VarBinary:
		return 2
	case t.ID == sqltypes.Time || t.ID == sqltypes.DateTime2 || t.ID == sqltypes.DateTimeOffset:
		return 1
	default:
		return 0
	}
}

// Precision is the number of digits of a type as sys.columns.precision shows it.
func Precision(t sqltypes.Type) int {
	fraction := func(digits int) int {
		if t.Scale == 0 {
			return digits
		}
		return digits + 1 + int(t.Scale)
	}
	switch t.ID {
	case sqltypes.Bit:
		return 1
	case sqltypes.TinyInt:
		return 3
	case sqltypes.SmallInt:
		return 5
	case sqltypes.Int, sqltypes.SmallMoney, sqltypes.Date:
		return 10
	case sqltypes.BigInt, sqltypes.Money:
		return 19
	case sqltypes.Decimal, sqltypes.Numeric:
		return int(t.Precision)
	case sqltypes.Real:
		return 24
	case sqltypes.Float:
		return 53
	case sqltypes.DateTime:
		return 23
	case sqltypes.SmallDateTime:
		return 16
	case sqltypes.Time:
		return fraction(8)
	case sqltypes.DateTime2:
		return fraction(19)
	case sqltypes.DateTimeOffset:
		return fraction(26)
	default:
		return 0
	}
}

func evalCollationProperty(_ Env, args []sqltypes.Value, _ []sqltypes.Type) (sqltypes.Value, error) {
	c, ok := sqltypes.LookupCollation(args[0].Str())
	if !ok {
		return sqltypes.Null(), nil
	}
	switch strings.ToLower(args[1].Str()) {
	case "codepage":
		return variantInt(c.CodePage), nil
	case "lcid":
		return variantInt(int(c.LCID)), nil
	case "comparisonstyle":
		return variantInt(comparisonStyle(c)), nil
	case "version":
		return variantInt(map[int]int{80: 0, 90: 1, 100: 2, 140: 3}[c.Version]), nil
	default:
		return sqltypes.Null(), nil
	}
}

// comparisonStyle is Windows' mask of what a collation ignores; 0 for binary ones.
func comparisonStyle(c *sqltypes.Collation) int {
	style := 0
	for _, flag := range []struct {
		sensitive bool
		bit       int
	}{{c.CaseSensitive, 1}, {c.AccentSensitive, 2}, {c.KanaSensitive, 0x10000}, {c.WidthSensitive, 0x20000}} {
		if !flag.sensitive {
			style |= flag.bit
		}
	}
	return style
}
