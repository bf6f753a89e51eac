package builtin_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/builtin"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// env is a session at a fixed time in a fixed zone.
type env struct {
	now  time.Time
	loc  *time.Location
	sess builtin.Session
}

func (e *env) Now() time.Time           { return e.now }
func (e *env) Location() *time.Location { return e.loc }
func (e *env) Session() builtin.Session { return e.sess }

func newEnv(t testing.TB) *env {
	t.Helper()
	loc, ok := builtin.LoadZone("Central European Standard Time")
	require.True(t, ok)
	return &env{
		now:  time.Date(2024, 7, 1, 10, 20, 30, 123456789, time.UTC),
		loc:  loc,
		sess: builtin.Session{Rand: builtin.NewRand(1)},
	}
}

// arg is one argument with its type.
type arg struct {
	v sqltypes.Value
	t sqltypes.Type
}

func n(i int64) arg    { return arg{sqltypes.IntOf(i), sqltypes.Simple(sqltypes.Int)} }
func s(x string) arg   { return arg{sqltypes.StringOf(x), sqltypes.VarCharOf(max(1, len(x)))} }
func ns(x string) arg  { return arg{sqltypes.StringOf(x), sqltypes.NVarCharOf(max(1, len(x)))} }
func f(x float64) arg  { return arg{sqltypes.FloatOf(x), sqltypes.Simple(sqltypes.Float)} }
func bin(x string) arg { return arg{sqltypes.RawOf(x), sqltypes.VarBinaryOf(max(1, len(x)))} }
func null() arg        { return arg{} }
func nullText() arg    { return arg{t: sqltypes.VarCharOf(10)} }

// cast makes an argument of a type from its text.
func cast(t testing.TB, text, name string, facets ...int) arg {
	t.Helper()
	typ, err := sqltypes.ParseType(name, facets)
	require.NoError(t, err)
	v, err := sqltypes.Convert(sqltypes.StringOf(text), sqltypes.VarCharOf(100), typ, sqltypes.DefaultStyle)
	require.NoError(t, err)
	return arg{v, typ}
}

func call(e builtin.Env, name string, args ...arg) (sqltypes.Value, sqltypes.Type, error) {
	fn, ok := builtin.Lookup(name)
	if !ok {
		return sqltypes.Null(), sqltypes.Type{}, errors.New("no function " + name)
	}
	if err := fn.CheckArgs(len(args)); err != nil {
		return sqltypes.Null(), sqltypes.Type{}, err
	}
	values, types := make([]sqltypes.Value, len(args)), make([]sqltypes.Type, len(args))
	for i, a := range args {
		values[i], types[i] = a.v, a.t
	}
	t, err := fn.ResultType(types)
	if err != nil {
		return sqltypes.Null(), t, err
	}
	v, err := fn.Eval(e, values, types)
	return v, t, err
}

// show renders a result as text.
func show(t testing.TB, v sqltypes.Value, typ sqltypes.Type) string {
	t.Helper()
	if v.IsNull() {
		return "NULL"
	}
	style := sqltypes.DefaultStyle
	switch {
	case typ.ID == sqltypes.DateTime || typ.ID == sqltypes.SmallDateTime:
		style = 121
	case typ.ID.IsBinary():
		style = 1
	case typ.ID == sqltypes.SQLVariant:
		v, typ = v.Variant()
	}
	text, err := sqltypes.Convert(v, typ, sqltypes.NVarCharOf(sqltypes.Max), style)
	require.NoError(t, err)
	return text.Str()
}

func TestFunctions(t *testing.T) {
	dt := func(x string) arg { return cast(t, x, "datetime") }
	dt2 := func(x string) arg { return cast(t, x, "datetime2", 7) }
	date := func(x string) arg { return cast(t, x, "date") }
	dec := func(x string, p, sc int) arg { return cast(t, x, "decimal", p, sc) }
	dto := func(x string) arg { return cast(t, x, "datetimeoffset", 0) }
	tests := []struct {
		name  string
		args  []arg
		want  string
		errNo int32
	}{
		// Text.
		{"LEN", []arg{s("ab  ")}, "2", 0},
		{"LEN", []arg{ns("😀")}, "2", 0},
		{"DATALENGTH", []arg{ns("ab ")}, "6", 0},
		{"DATALENGTH", []arg{s("é")}, "1", 0},
		{"DATALENGTH", []arg{n(5)}, "4", 0},
		{"LEFT", []arg{s("abc"), n(2)}, "ab", 0},
		{"LEFT", []arg{s("abc"), n(-1)}, "", 537},
		{"RIGHT", []arg{s("abc"), n(2)}, "bc", 0},
		{"SUBSTRING", []arg{s("abcdef"), n(2), n(3)}, "bcd", 0},
		{"SUBSTRING", []arg{s("abcdef"), n(-1), n(3)}, "a", 0},
		{"SUBSTRING", []arg{s("abc"), n(1), n(-1)}, "", 537},
		{"SUBSTRING", []arg{bin("\x01\x02\x03"), n(2), n(1)}, "0x02", 0},
		{"STUFF", []arg{s("abcdef"), n(2), n(3), s("ijklmn")}, "aijklmnef", 0},
		{"STUFF", []arg{s("abc"), n(9), n(1), s("x")}, "NULL", 0},
		{"STUFF", []arg{s("abc"), n(1), n(1), nullText()}, "bc", 0},
		{"REPLICATE", []arg{s("ab"), n(3)}, "ababab", 0},
		{"REPLICATE", []arg{s("ab"), n(-1)}, "NULL", 0},
		{"SPACE", []arg{n(2)}, "  ", 0},
		{"REVERSE", []arg{ns("aé😀")}, "\xed\xb8\x80\xed\xa0\xbdéa", 0},
		{"UPPER", []arg{ns("straße é")}, "STRAßE É", 0},
		{"LOWER", []arg{s("ABC")}, "abc", 0},
		{"LTRIM", []arg{s("  a ")}, "a ", 0},
		{"RTRIM", []arg{s("  a ")}, "  a", 0},
		{"TRIM", []arg{s("#a#"), s("#")}, "a", 0},
		{"CONCAT", []arg{s("a"), n(1), null()}, "a1", 0},
		{"CONCAT_WS", []arg{s(","), s("a"), nullText(), n(2)}, "a,2", 0},
		{"STR", []arg{f(123.456), n(6), n(1)}, " 123.5", 0},
		{"STR", []arg{f(123.45), n(2), n(2)}, "**", 0},
		{"CHARINDEX", []arg{s("B"), s("abcb")}, "2", 0},
		{"CHARINDEX", []arg{s("b"), s("abcb"), n(3)}, "4", 0},
		{"CHARINDEX", []arg{s("x"), s("abc")}, "0", 0},
		{"PATINDEX", []arg{s("%ter%"), s("interesting data")}, "3", 0},
		{"PATINDEX", []arg{s("%[0-9]%"), s("abc7")}, "4", 0},
		{"PATINDEX", []arg{s("abc"), s("xabc")}, "0", 0},
		{"REPLACE", []arg{s("abcABC"), s("b"), s("x")}, "axcAxC", 0},
		{"REPLACE", []arg{s("abc"), s(""), s("x")}, "abc", 0},
		{"TRANSLATE", []arg{s("2*[3+4]"), s("[]"), s("()")}, "2*(3+4)", 0},
		{"TRANSLATE", []arg{s("a"), s("ab"), s("x")}, "", 9828},
		{"ASCII", []arg{s("A")}, "65", 0},
		{"UNICODE", []arg{ns("é")}, "233", 0},
		{"CHAR", []arg{n(128)}, "€", 0},
		{"CHAR", []arg{n(256)}, "NULL", 0},
		{"NCHAR", []arg{n(233)}, "é", 0},
		{"QUOTENAME", []arg{s("a]b")}, "[a]]b]", 0},
		{"QUOTENAME", []arg{s("a'b"), s("'")}, "'a''b'", 0},
		{"PARSENAME", []arg{s("srv.[d.b].dbo.t"), n(3)}, "d.b", 0},
		{"SOUNDEX", []arg{s("Smythe")}, "S530", 0},
		{"DIFFERENCE", []arg{s("Green"), s("Greene")}, "4", 0},

		// Dates.
		{"DATEADD", []arg{s("month"), n(1), date("2024-01-31")}, "2024-02-29", 0},
		{"DATEADD", []arg{s("day"), n(-1), dt("2024-03-01 10:00:00.003")}, "2024-02-29 10:00:00.003", 0},
		{"DATEADD", []arg{s("ms"), n(1), dt("2024-01-01")}, "2024-01-01 00:00:00.000", 0},
		{"DATEADD", []arg{s("ms"), n(2), dt("2024-01-01")}, "2024-01-01 00:00:00.003", 0},
		{"DATEADD", []arg{s("ns"), n(149), dt2("2024-01-01")}, "2024-01-01 00:00:00.0000001", 0},
		{"DATEADD", []arg{s("second"), n(-1), dt("2024-01-01 00:00:00.007")}, "2023-12-31 23:59:59.007", 0},
		{"DATEADD", []arg{s("year"), n(8000), dt("2024-01-01")}, "", 517},
		{"DATEADD", []arg{s("hour"), n(1), date("2024-01-01")}, "", 9810},
		{"DATEADD", []arg{s("fortnight"), n(1), date("2024-01-01")}, "", 155},
		{"DATEADD", []arg{s("hour"), n(2), dto("2024-01-01 23:00 +05:00")}, "2024-01-02 01:00:00 +05:00", 0},
		{"DATEDIFF", []arg{s("year"), dt2("2005-12-31 23:59:59.9999999"), dt2("2006-01-01 00:00:00")}, "1", 0},
		{"DATEDIFF", []arg{s("week"), date("2024-07-06"), date("2024-07-07")}, "1", 0},
		{"DATEDIFF", []arg{s("day"), s("2024-01-01 23:00"), s("2024-01-02 01:00")}, "1", 0},
		{"DATEDIFF", []arg{s("hour"), date("2024-01-01"), date("2024-01-02")}, "24", 0},
		{"DATEDIFF", []arg{s("day"), cast(t, "10:00", "time", 7), dt2("1900-01-03")}, "2", 0},
		{"DATEDIFF", []arg{s("year"), cast(t, "10:00", "time", 7), cast(t, "11:00", "time", 7)}, "0", 0},
		{"DATEDIFF", []arg{s("iso_week"), date("2024-01-01"), date("2024-01-02")}, "", 9810},
		{"DATEDIFF", []arg{s("ms"), dt("2000-01-01"), dt("2024-01-01")}, "", 535},
		{"DATEDIFF_BIG", []arg{s("ms"), dt("2000-01-01"), dt("2024-01-01")}, "757382400000", 0},
		{"DATEDIFF", []arg{s("hour"), dto("2024-01-01 00:00 +05:00"), dto("2024-01-01 00:00 +00:00")}, "5", 0},
		{"DATEPART", []arg{s("tzoffset"), dto("2024-01-01 00:00 -05:30")}, "-330", 0},
		{"DATEPART", []arg{s("ms"), dt("2024-01-01 00:00:00.997")}, "997", 0},
		{"DATEPART", []arg{s("ns"), dt2("2024-01-01 00:00:00.1234567")}, "123456700", 0},
		{"DATEPART", []arg{s("weekday"), date("2024-07-01")}, "2", 0},
		{"DATEPART", []arg{s("iso_week"), date("2021-01-03")}, "53", 0},
		{"DATEPART", []arg{s("week"), date("2024-01-07")}, "2", 0},
		{"DATEPART", []arg{s("year"), cast(t, "10:00", "time")}, "", 9810},
		{"DATENAME", []arg{s("month"), date("2024-07-01")}, "July", 0},
		{"DATENAME", []arg{s("dw"), date("2024-07-01")}, "Monday", 0},
		{"YEAR", []arg{n(0)}, "1900", 0},
		{"MONTH", []arg{s("2024-07-01")}, "7", 0},
		{"DAY", []arg{date("2024-07-31")}, "31", 0},
		{"EOMONTH", []arg{date("2024-01-15"), n(1)}, "2024-02-29", 0},
		{"DATETRUNC", []arg{s("quarter"), dt2("2024-08-15 10:11:12")}, "2024-07-01 00:00:00.0000000", 0},
		{"ISDATE", []arg{s("2024-02-30")}, "0", 0},
		{"ISDATE", []arg{s("20240229")}, "1", 0},
		{"SWITCHOFFSET", []arg{dto("2024-01-01 00:00 +00:00"), s("-05:00")}, "2023-12-31 19:00:00 -05:00", 0},
		{"SWITCHOFFSET", []arg{dto("2024-01-01 00:00 +00:00"), s("-15:00")}, "", 9812},
		{"TODATETIMEOFFSET", []arg{cast(t, "2024-01-01 00:00", "datetime2", 0), n(60)}, "2024-01-01 00:00:00 +01:00", 0},
		{"DATEFROMPARTS", []arg{n(2024), n(2), n(29)}, "2024-02-29", 0},
		{"DATEFROMPARTS", []arg{n(2023), n(2), n(29)}, "", 289},
		{"DATETIMEFROMPARTS", []arg{n(2024), n(2), n(29), n(23), n(59), n(59), n(997)}, "2024-02-29 23:59:59.997", 0},
		{"SMALLDATETIMEFROMPARTS", []arg{n(2024), n(2), n(29), n(23), n(59)}, "2024-02-29 23:59:00.000", 0},
		{"DATETIME2FROMPARTS", []arg{n(2024), n(2), n(29), n(1), n(2), n(3), n(5), n(1)}, "2024-02-29 01:02:03.5000000", 0},
		{"DATETIMEOFFSETFROMPARTS", []arg{n(2024), n(2), n(29), n(1), n(2), n(3), n(0), n(12), n(30), n(0)}, "2024-02-29 01:02:03.0000000 +12:30", 0},
		{"TIMEFROMPARTS", []arg{n(1), n(2), n(3), n(4), n(7)}, "01:02:03.0000004", 0},

		// The clock: 10:20:30.1234567 UTC, two hours later in Warsaw's summer.
		{"GETDATE", nil, "2024-07-01 12:20:30.123", 0},
		{"GETUTCDATE", nil, "2024-07-01 10:20:30.123", 0},
		{"SYSDATETIME", nil, "2024-07-01 12:20:30.1234567", 0},
		{"SYSDATETIMEOFFSET", nil, "2024-07-01 12:20:30.1234567 +02:00", 0},
		{"CURRENT_TIMEZONE_ID", nil, "Central European Standard Time", 0},
		{"CURRENT_TIMEZONE", nil, "(UTC+01:00) Central European Standard Time", 0},

		// Mathematics.
		{"ABS", []arg{n(-5)}, "5", 0},
		{"ABS", []arg{n(-2147483648)}, "", 8115},
		{"ABS", []arg{dec("-1.50", 5, 2)}, "1.50", 0},
		{"SIGN", []arg{f(-0.5)}, "-1", 0},
		{"CEILING", []arg{dec("-123.45", 5, 2)}, "-123", 0},
		{"CEILING", []arg{dec("123.45", 5, 2)}, "124", 0},
		{"FLOOR", []arg{dec("-123.45", 5, 2)}, "-124", 0},
		{"FLOOR", []arg{n(7)}, "7", 0},
		{"ROUND", []arg{dec("123.4545", 7, 4), n(2)}, "123.4500", 0},
		{"ROUND", []arg{dec("123.995", 6, 3), n(2)}, "124.000", 0},
		{"ROUND", []arg{dec("748.58", 5, 2), n(-1)}, "750.00", 0},
		{"ROUND", []arg{dec("748.58", 5, 2), n(-3)}, "", 8115},
		{"ROUND", []arg{dec("150.75", 5, 2), n(0), n(1)}, "150.00", 0},
		{"ROUND", []arg{n(15), n(-1)}, "20", 0},
		{"ROUND", []arg{f(2.5), n(0)}, "3", 0},
		{"POWER", []arg{n(2), n(10)}, "1024", 0},
		{"POWER", []arg{n(2), n(31)}, "", 8115},
		{"SQRT", []arg{n(16)}, "4", 0},
		{"SQRT", []arg{n(-1)}, "", 3623},
		{"LOG", []arg{n(0)}, "", 3623},
		{"LOG", []arg{n(8), n(2)}, "3", 0},
		{"PI", nil, "3.14159", 0},
		{"DEGREES", []arg{f(0)}, "0", 0},

		// The rest.
		{"ISNULL", []arg{nullText(), n(5)}, "5", 0},
		{"ISNULL", []arg{s("a"), s("b")}, "a", 0},
		{"NULLIF", []arg{s("a"), s("A")}, "NULL", 0},
		{"NULLIF", []arg{n(1), n(2)}, "1", 0},
		{"GREATEST", []arg{n(1), dec("2.5", 3, 1), null()}, "2.5", 0},
		{"LEAST", []arg{s("b"), s("a")}, "a", 0},
		{"ISNUMERIC", []arg{s("$1,000")}, "1", 0},
		{"ISNUMERIC", []arg{s("1e5")}, "1", 0},
		{"ISNUMERIC", []arg{s("abc")}, "0", 0},
		{"SQL_VARIANT_PROPERTY", []arg{dec("1.5", 5, 2), s("BaseType")}, "decimal", 0},
		{"SQL_VARIANT_PROPERTY", []arg{dec("1.5", 5, 2), s("Scale")}, "2", 0},
		{"COLLATIONPROPERTY", []arg{s("Latin1_General_CI_AS"), s("ComparisonStyle")}, "196609", 0},
		{"HASHBYTES", []arg{s("MD5"), s("abc")}, "0x900150983CD24FB0D6963F7D28E17F72", 0},
		{"HASHBYTES", []arg{s("SHA2_256"), s("")}, "0xE3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855", 0},
		{"HASHBYTES", []arg{s("nope"), s("")}, "NULL", 0},
		{"CHECKSUM", []arg{n(42)}, "42", 0},
		{"BINARY_CHECKSUM", []arg{s("aa")}, "1649", 0},
		{"FORMAT", []arg{n(1234567), s("N0")}, "1,234,567", 0},
		{"FORMAT", []arg{dec("-1234.5", 6, 1), s("C")}, "($1,234.50)", 0},
		{"FORMAT", []arg{n(5), s("D3")}, "005", 0},
		{"FORMAT", []arg{n(255), s("X4")}, "00FF", 0},
		{"FORMAT", []arg{dec("1234.5", 6, 1), s("#,##0.00")}, "1,234.50", 0},
		{"FORMAT", []arg{dec("0.256", 4, 3), s("P1")}, "25.6 %", 0},
		{"FORMAT", []arg{dec("0.25", 4, 2), s("0%")}, "25%", 0},
		{"FORMAT", []arg{dt("2024-07-01 15:04:05.997"), s("yyyy-MM-dd hh:mm:ss.fff tt")}, "2024-07-01 03:04:05.997 PM", 0},
		{"FORMAT", []arg{date("2024-07-01"), s("dddd, dd MMM yy")}, "Monday, 01 Jul 24", 0},
		{"FORMAT", []arg{date("2024-07-01"), s("D"), s("en-US")}, "Monday, July 1, 2024", 0},
		{"FORMAT", []arg{date("2024-07-01"), s("D"), s("de-DE")}, "", 9818},
		{"LEN", nil, "", 174},
		{"CHARINDEX", []arg{s("a")}, "", 189},
	}
	e := newEnv(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, typ, err := call(e, tt.name, tt.args...)
			if tt.errNo != 0 {
				require.Error(t, err)
				require.ErrorIs(t, err, &sqltypes.Error{Number: tt.errNo})
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, show(t, v, typ))
		})
	}
}

func TestFunctions_NullIsNull(t *testing.T) {
	e := newEnv(t)
	for _, name := range []string{"LEN", "UPPER", "ABS", "YEAR", "SQRT", "ASCII", "LTRIM"} {
		v, _, err := call(e, name, nullText())
		require.NoError(t, err, name)
		assert.True(t, v.IsNull(), name)
	}
}

func TestFunctions_SupplementaryCharacters(t *testing.T) {
	c, ok := sqltypes.LookupCollation("Latin1_General_100_CI_AS_SC_UTF8")
	require.True(t, ok)
	sc := func(x string) arg { return arg{sqltypes.StringOf(x), sqltypes.VarCharOf(50).WithCollation(c)} }
	tests := []struct {
		name string
		args []arg
		want string
	}{
		{"LEN", []arg{sc("a😀b")}, "3"},
		{"DATALENGTH", []arg{sc("a😀b")}, "6"},
		{"SUBSTRING", []arg{sc("a😀b"), n(2), n(1)}, "😀"},
		{"RIGHT", []arg{sc("a😀b"), n(2)}, "😀b"},
		{"REVERSE", []arg{sc("a😀b")}, "b😀a"},
		{"UNICODE", []arg{sc("😀")}, "128512"},
		{"CHARINDEX", []arg{sc("b"), sc("a😀b")}, "3"},
	}
	e := newEnv(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, typ, err := call(e, tt.name, tt.args...)
			require.NoError(t, err)
			assert.Equal(t, tt.want, show(t, v, typ))
		})
	}
}

func TestFunctions_TurkishCase(t *testing.T) {
	c, ok := sqltypes.LookupCollation("Turkish_CI_AS")
	require.True(t, ok)
	turkish := func(x string) arg { return arg{sqltypes.StringOf(x), sqltypes.NVarCharOf(50).WithCollation(c)} }
	e := newEnv(t)
	v, _, err := call(e, "UPPER", turkish("iı"))
	require.NoError(t, err)
	assert.Equal(t, "İI", v.Str())
	v, _, err = call(e, "LOWER", turkish("İI"))
	require.NoError(t, err)
	assert.Equal(t, "iı", v.Str())
}

func TestLookup(t *testing.T) {
	_, ok := builtin.Lookup("getdate")
	assert.True(t, ok)
	_, ok = builtin.Lookup("no_such_function")
	assert.False(t, ok)
}

func TestNewID(t *testing.T) {
	e := newEnv(t)
	a, typ, err := call(e, "NEWID")
	require.NoError(t, err)
	b, _, err := call(e, "NEWID")
	require.NoError(t, err)
	assert.NotEqual(t, a, b)
	assert.Equal(t, byte('4'), show(t, a, typ)[14], "version")
}

func TestRand_ZeroGenerator(t *testing.T) {
	e := newEnv(t)
	for _, source := range []*builtin.Rand{nil, {}} {
		e.sess.Rand = source
		v, _, err := call(e, "RAND")
		require.NoError(t, err)
		assert.Less(t, v.Float64(), 1.0)
		_, _, err = call(e, "NEWID")
		require.NoError(t, err)
		_, _, err = call(e, "RAND", n(1))
		require.NoError(t, err)
	}
}

func TestRand(t *testing.T) {
	e := newEnv(t)
	first, _, err := call(e, "RAND", n(7))
	require.NoError(t, err)
	second, _, err := call(e, "RAND")
	require.NoError(t, err)
	again, _, err := call(e, "RAND", n(7))
	require.NoError(t, err)
	assert.Equal(t, first, again)
	assert.NotEqual(t, first, second)
}

func TestAtTimeZone(t *testing.T) {
	// MS docs, AT TIME ZONE: gaps and overlaps of Central European time in 2022.
	tests := []struct {
		in   arg
		zone string
		want string
	}{
		{cast(t, "2022-03-27 01:01:00", "datetime2", 0), "Central European Standard Time", "2022-03-27 01:01:00 +01:00"},
		{cast(t, "2022-03-27 02:01:00", "datetime2", 0), "Central European Standard Time", "2022-03-27 03:01:00 +02:00"},
		{cast(t, "2022-03-27 03:01:00", "datetime2", 0), "Central European Standard Time", "2022-03-27 03:01:00 +02:00"},
		{cast(t, "2022-10-30 01:01:00", "datetime2", 0), "Central European Standard Time", "2022-10-30 01:01:00 +02:00"},
		{cast(t, "2022-10-30 02:01:00", "datetime2", 0), "Central European Standard Time", "2022-10-30 02:01:00 +02:00"},
		{cast(t, "2022-10-30 03:01:00", "datetime2", 0), "Central European Standard Time", "2022-10-30 03:01:00 +01:00"},
		{cast(t, "2022-07-01 00:00:00 +00:00", "datetimeoffset", 0), "pacific standard time", "2022-06-30 17:00:00 -07:00"},
		{cast(t, "2022-07-01 12:00:00", "datetime2", 0), "UTC", "2022-07-01 12:00:00 +00:00"},
		{cast(t, "2022-01-01 12:00:00", "datetime2", 0), "India Standard Time", "2022-01-01 12:00:00 +05:30"},
	}
	for _, tt := range tests {
		t.Run(tt.want+" "+tt.zone, func(t *testing.T) {
			v, err := builtin.AtTimeZone(tt.in.v, tt.in.t, tt.zone)
			require.NoError(t, err)
			typ, err := builtin.AtTimeZoneType(tt.in.t)
			require.NoError(t, err)
			assert.Equal(t, tt.want, show(t, v, typ))
		})
	}
	_, err := builtin.AtTimeZone(sqltypes.DateTimeOf(0, 0), sqltypes.Simple(sqltypes.DateTime), "Mars")
	require.ErrorIs(t, err, &sqltypes.Error{Number: 9820})
}

func TestZones(t *testing.T) {
	for _, name := range builtin.ZoneNames() {
		loc, ok := builtin.LoadZone(name)
		require.True(t, ok, name)
		assert.Equal(t, name, builtin.WindowsZone(loc))
	}
}

func TestParse(t *testing.T) {
	tests := []struct {
		text string
		typ  sqltypes.Type
		want string
	}{
		{"Monday, 13 December 2010", sqltypes.Simple(sqltypes.DateTime2), "2010-12-13 00:00:00.0000000"},
		{"$345.98", sqltypes.Simple(sqltypes.Money), "345.98"},
		{"(1,000)", sqltypes.Simple(sqltypes.Int), "-1000"},
		{"12/16/2010", sqltypes.Simple(sqltypes.Date), "2010-12-16"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			v, err := builtin.Parse(sqltypes.StringOf(tt.text), tt.typ, "en-US")
			require.NoError(t, err)
			assert.Equal(t, tt.want, show(t, v, tt.typ))
		})
	}
	_, err := builtin.Parse(sqltypes.StringOf("x"), sqltypes.Simple(sqltypes.Int), "en-US")
	require.ErrorIs(t, err, &sqltypes.Error{Number: 9819})
	_, err = builtin.Parse(sqltypes.StringOf("1"), sqltypes.Simple(sqltypes.Int), "xx-XX")
	require.ErrorIs(t, err, &sqltypes.Error{Number: 9818})
	_, err = builtin.Parse(sqltypes.StringOf("1"), sqltypes.VarCharOf(5), "")
	require.ErrorIs(t, err, &sqltypes.Error{Number: 10761})
}
