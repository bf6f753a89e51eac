package builtin_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/builtin"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// functionNames are asked for by name, as a query does.
var functionNames = []string{
	"LEN", "DATALENGTH", "LEFT", "RIGHT", "SUBSTRING", "STUFF", "REPLICATE", "SPACE", "REVERSE", "UPPER", "LOWER", "LTRIM", "RTRIM",
	"TRIM", "CONCAT", "CONCAT_WS", "STR", "CHARINDEX", "PATINDEX", "REPLACE", "TRANSLATE", "ASCII", "UNICODE", "CHAR", "NCHAR",
	"QUOTENAME", "PARSENAME", "SOUNDEX", "DIFFERENCE", "DATEADD", "DATEDIFF", "DATEDIFF_BIG", "DATETRUNC", "EOMONTH", "ISDATE",
	"SWITCHOFFSET", "TODATETIMEOFFSET", "DATEFROMPARTS", "DATETIMEFROMPARTS", "SMALLDATETIMEFROMPARTS", "DATETIME2FROMPARTS",
	"DATETIMEOFFSETFROMPARTS", "TIMEFROMPARTS", "DATEPART", "DATENAME", "YEAR", "MONTH", "DAY", "SQRT", "SQUARE", "EXP", "LOG",
	"LOG10", "SIN", "COS", "TAN", "COT", "ASIN", "ACOS", "ATAN", "ATN2", "DEGREES", "RADIANS", "RAND", "ABS", "SIGN", "POWER",
	"ROUND", "CEILING", "FLOOR", "HASHBYTES", "CHECKSUM", "BINARY_CHECKSUM", "ISNULL", "NULLIF", "GREATEST", "LEAST", "ISNUMERIC",
	"NEWID", "SQL_VARIANT_PROPERTY", "COLLATIONPROPERTY", "FORMAT",
}

func drawArg(t *rapid.T) arg {
	texts := []string{"", "a", "day", "MONTH", "ns", "abc  ", "é😀", "2024-02-29", "12:30", "-5", "1.5", "x%[a-", "+05:30", "N2", "yyyy", "[a].b"}
	numbers := []int64{0, 1, -1, 2, 5, 31, 2024, 255, -2147483648, 2147483647}
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return null()
	case 1:
		return nullText()
	case 2, 3:
		return s(rapid.SampledFrom(texts).Draw(t, "text"))
	case 4:
		return ns(rapid.SampledFrom(texts).Draw(t, "text"))
	case 5:
		return n(rapid.SampledFrom(numbers).Draw(t, "int"))
	case 6:
		return arg{sqltypes.IntOf(rapid.Int64().Draw(t, "bigint")), sqltypes.Simple(sqltypes.BigInt)}
	case 7:
		return f(rapid.Float64().Draw(t, "float"))
	case 8:
		types := []sqltypes.ID{sqltypes.Date, sqltypes.Time, sqltypes.DateTime, sqltypes.SmallDateTime, sqltypes.DateTime2, sqltypes.DateTimeOffset}
		typ := sqltypes.Simple(rapid.SampledFrom(types).Draw(t, "temporal"))
		v, ok := sqltypes.BuildTemporal(typ, rapid.IntRange(0, sqltypes.MaxDays).Draw(t, "days"), rapid.Int64Range(0, sqltypes.TicksPerDay-1).Draw(t, "ticks"), 0)
		if !ok {
			return arg{t: typ}
		}
		return arg{v, typ}
	default:
		typ := sqltypes.NumericOf(38, uint8(rapid.IntRange(0, 38).Draw(t, "scale")))
		return arg{sqltypes.DecimalOf(rapid.Bool().Draw(t, "neg"), rapid.Uint64Range(0, 1<<61).Draw(t, "hi"), rapid.Uint64().Draw(t, "lo"), typ.Scale), typ}
	}
}

// TestProperty_ResultsAreOfTheirType calls every function with arguments of any type:
// it gives a value of the type it promised, or an error of SQL Server's.
func TestProperty_ResultsAreOfTheirType(t *testing.T) {
	e := newEnv(t)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(functionNames).Draw(t, "function")
		fn, ok := builtin.Lookup(name)
		require.True(t, ok, name)
		most := fn.MaxArgs
		if most < 0 || most > 10 {
			most = fn.MinArgs + 2
		}
		args := make([]arg, rapid.IntRange(fn.MinArgs, most).Draw(t, "count"))
		for i := range args {
			args[i] = drawArg(t)
		}
		v, typ, err := call(e, name, args...)
		if err != nil {
			var server *sqltypes.Error
			require.True(t, errors.As(err, &server), "%s: %v", name, err)
			return
		}
		if v.IsNull() {
			return
		}
		again, err := sqltypes.Assign(v, typ, typ, "result")
		require.NoError(t, err, "%s gives %s", name, typ)
		require.Equal(t, v.Kind(), again.Kind())
		require.Equal(t, kindOf(typ), v.Kind(), "%s gives %s", name, typ)
	})
}

// kindOf is the kind of values that a type has.
func kindOf(t sqltypes.Type) sqltypes.Kind {
	switch {
	case t.ID.IsInteger():
		return sqltypes.KindInt
	case t.ID.IsDecimal():
		return sqltypes.KindDecimal
	case t.ID.IsMoney():
		return sqltypes.KindMoney
	case t.ID.IsFloat():
		return sqltypes.KindFloat
	case t.ID.IsText():
		return sqltypes.KindText
	case t.ID.IsBinary():
		return sqltypes.KindBytes
	case t.ID == sqltypes.UniqueIdentifier:
		return sqltypes.KindGUID
	case t.ID == sqltypes.Date:
		return sqltypes.KindDate
	case t.ID == sqltypes.Time:
		return sqltypes.KindTime
	case t.ID == sqltypes.DateTime || t.ID == sqltypes.SmallDateTime:
		return sqltypes.KindDateTime
	case t.ID == sqltypes.DateTime2:
		return sqltypes.KindDateTime2
	case t.ID == sqltypes.DateTimeOffset:
		return sqltypes.KindDateTimeOffset
	default:
		return sqltypes.KindText // the properties of variants that this test asks for
	}
}
