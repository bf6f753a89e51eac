package sqltypes_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// typeOf parses "decimal(10,2)"-like declarations of the tables below.
func typeOf(t testing.TB, name string, args ...int) Type {
	t.Helper()
	typ, err := ParseType(name, args)
	require.NoError(t, err)
	return typ
}

// text renders a value as CAST AS varchar(max) does, in the most exact style.
func text(t testing.TB, v Value, typ Type) string {
	t.Helper()
	if v.IsNull() {
		return "NULL"
	}
	style := DefaultStyle
	switch {
	case typ.ID == DateTime || typ.ID == SmallDateTime:
		style = 121
	case typ.ID.IsBinary():
		style = 1
	case typ.ID.IsMoney():
		style = 2
	}
	s, err := Convert(v, typ, NVarCharOf(Max), style)
	require.NoError(t, err)
	return s.Str()
}

func errorNumber(err error) int32 {
	var e *Error
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

func TestConvert_FromText(t *testing.T) {
	tests := []struct {
		to    string
		args  []int
		in    string
		want  string
		errNo int32
	}{
		{"int", nil, " 42 ", "42", 0},
		{"int", nil, "-2147483648", "-2147483648", 0},
		{"int", nil, "", "0", 0},
		{"int", nil, "1.5", "", 245},
		{"int", nil, "2147483648", "", 248},
		{"tinyint", nil, "256", "", 244},
		{"smallint", nil, "-32769", "", 244},
		{"bigint", nil, "x", "", 8114},
		{"bigint", nil, "9223372036854775808", "", 8115},
		{"bit", nil, "true", "1", 0},
		{"bit", nil, "FALSE", "0", 0},
		{"bit", nil, "5", "1", 0},
		{"bit", nil, "yes", "", 245},
		{"decimal", []int{5, 2}, "123.455", "123.46", 0},
		{"decimal", []int{5, 2}, "-0.005", "-0.01", 0},
		{"decimal", []int{5, 2}, "1000", "", 8115},
		{"decimal", []int{38, 0}, "99999999999999999999999999999999999999", "99999999999999999999999999999999999999", 0},
		{"decimal", []int{5, 2}, "1e2", "", 8114},
		{"decimal", []int{5, 2}, "", "", 8114},
		{"money", nil, "$1,234.56789", "1234.5679", 0},
		{"money", nil, "-922337203685477.5808", "-922337203685477.5808", 0},
		{"money", nil, "922337203685477.5808", "", 8115},
		{"money", nil, "abc", "", 235},
		{"smallmoney", nil, "214748.3648", "", 8115},
		{"smallmoney", nil, "x", "", 293},
		{"float", nil, "1.5e3", "1500", 0},
		{"float", nil, "nan", "", 8114},
		{"float", nil, "0x10", "", 8114},
		{"date", nil, "2024-02-29", "2024-02-29", 0},
		{"date", nil, "2023-02-29", "", 241},
		{"date", nil, "0001-01-01", "0001-01-01", 0},
		{"date", nil, "9999-12-31", "9999-12-31", 0},
		{"datetime", nil, "2024-01-01 10:20:30.994", "2024-01-01 10:20:30.993", 0},
		{"datetime", nil, "2024-01-01 10:20:30.995", "2024-01-01 10:20:30.997", 0},
		{"datetime", nil, "2024-01-01 10:20:30.999", "2024-01-01 10:20:31.000", 0},
		{"datetime", nil, "1752-12-31", "", 242},
		{"datetime", nil, "9999-12-31 23:59:59.997", "9999-12-31 23:59:59.997", 0},
		{"datetime", nil, "9999-12-31 23:59:59.999", "", 242},
		{"datetime", nil, "2024-01-01 10:20:30.1234", "", 241},
		{"datetime", nil, "2024-13-01", "", 242},
		{"datetime", nil, "hello", "", 241},
		{"datetime", nil, "", "1900-01-01 00:00:00.000", 0},
		{"datetime", nil, "20240102", "2024-01-02 00:00:00.000", 0},
		{"datetime", nil, "240102 13:14", "2024-01-02 13:14:00.000", 0},
		{"datetime", nil, "1/2/49", "2049-01-02 00:00:00.000", 0},
		{"datetime", nil, "1/2/50", "1950-01-02 00:00:00.000", 0},
		{"datetime", nil, "Jan  2 2024  3:04PM", "2024-01-02 15:04:00.000", 0},
		{"datetime", nil, "2 January 2024", "2024-01-02 00:00:00.000", 0},
		{"datetime", nil, "12:30 AM", "1900-01-01 00:30:00.000", 0},
		{"datetime", nil, "2024-01-02T03:04:05Z", "2024-01-02 03:04:05.000", 0},
		{"datetime", nil, "12:30:20:1", "1900-01-01 12:30:20.000", 0},
		{"smalldatetime", nil, "2024-01-01 10:20:29.998", "2024-01-01 10:20:00.000", 0},
		{"smalldatetime", nil, "2024-01-01 10:20:29.999", "2024-01-01 10:21:00.000", 0},
		{"smalldatetime", nil, "2079-06-07", "", 242},
		{"smalldatetime", nil, "x", "", 295},
		{"time", []int{0}, "23:59:59.9", "00:00:00", 0},
		{"time", nil, "12:34:56.1234567", "12:34:56.1234567", 0},
		{"time", nil, "12:34:56.12345678", "", 241},
		{"datetime2", []int{3}, "2024-12-31 23:59:59.9996", "2025-01-01 00:00:00.000", 0},
		{"datetime2", nil, "0001-01-01 00:00:00.0000001", "0001-01-01 00:00:00.0000001", 0},
		{"datetimeoffset", []int{0}, "2024-01-01 00:30:00 +05:30", "2024-01-01 00:30:00 +05:30", 0},
		{"datetimeoffset", nil, "2024-01-01T00:30:00-14:00", "2024-01-01 00:30:00.0000000 -14:00", 0},
		{"datetimeoffset", nil, "2024-01-01 00:30:00 +14:01", "", 241},
		{"datetimeoffset", nil, "0001-01-01 00:00:00 +01:00", "", 241},
		{"uniqueidentifier", nil, "{6f9619ff-8b86-d011-b42d-00c04fc964ff}", "6F9619FF-8B86-D011-B42D-00C04FC964FF", 0},
		{"uniqueidentifier", nil, "nope", "", 8169},
		{"varchar", []int{3}, "abcdef", "abc", 0},
		{"char", []int{5}, "ab", "ab   ", 0},
		{"nvarchar", []int{2}, "😀a", "😀", 0},
		{"hierarchyid", nil, "/1/", "/1/", 0},
		{"xml", nil, "<a/>", "<a/>", 0},
		{"xml", nil, "<a>", "", 9400},
		{"xml", nil, "<a></b>", "", 9436},
	}
	from := VarCharOf(100)
	for _, tt := range tests {
		t.Run(tt.to+"/"+tt.in, func(t *testing.T) {
			to := typeOf(t, tt.to, tt.args...)
			src := from
			if tt.to == "nvarchar" {
				src = NVarCharOf(100)
			}
			v, err := Convert(StringOf(tt.in), src, to, DefaultStyle)
			if tt.errNo != 0 {
				require.Error(t, err)
				assert.Equal(t, tt.errNo, errorNumber(err), err.Error())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, text(t, v, to))
		})
	}
}

func TestConvert_TemporalStyles(t *testing.T) {
	// MS docs, "CAST and CONVERT", "Date and time styles".
	v, err := Convert(StringOf("2006-01-02 03:04:05.670"), VarCharOf(30), Simple(DateTime), DefaultStyle)
	require.NoError(t, err)
	tests := map[int]string{
		DefaultStyle: "Jan  2 2006  3:04AM", 100: "Jan  2 2006  3:04AM", 1: "01/02/06", 101: "01/02/2006", 102: "2006.01.02",
		103: "02/01/2006", 104: "02.01.2006", 105: "02-01-2006", 106: "02 Jan 2006", 107: "Jan 02, 2006",
		108: "03:04:05", 109: "Jan  2 2006  3:04:05:670AM", 110: "01-02-2006", 111: "2006/01/02", 112: "20060102",
		113: "02 Jan 2006 03:04:05:670", 114: "03:04:05:670", 120: "2006-01-02 03:04:05", 121: "2006-01-02 03:04:05.670",
		126: "2006-01-02T03:04:05.670", 127: "2006-01-02T03:04:05.670", 23: "2006-01-02", 12: "060102",
	}
	for style, want := range tests {
		got, err := Convert(v, Simple(DateTime), VarCharOf(40), style)
		require.NoError(t, err, style)
		assert.Equal(t, want, got.Str(), style)
		if style >= 100 && style != 107 && style != 108 && style != 114 {
			back, err := Convert(got, VarCharOf(40), Simple(DateTime), style)
			require.NoError(t, err, style)
			assert.Equal(t, v.Days(), back.Days(), style)
		}
	}
	dt2 := DateTime2Of(v.Days()+Days1900, TicksPerHour)
	got, err := Convert(dt2, Simple(DateTime2), VarCharOf(40), ExplicitStyle(0, Simple(DateTime2), VarCharOf(40)))
	require.NoError(t, err)
	assert.Equal(t, "Jan  2 2006  1:00AM", got.Str())
	got, err = Convert(dt2, Simple(DateTime2), VarCharOf(40), DefaultStyle)
	require.NoError(t, err)
	assert.Equal(t, "2006-01-02 01:00:00.0000000", got.Str())
	_, err = Convert(v, Simple(DateTime), VarCharOf(40), 999)
	assert.Equal(t, int32(281), errorNumber(err))
	short, err := Convert(v, Simple(DateTime), VarCharOf(10), 120)
	require.NoError(t, err)
	assert.Equal(t, "2006-01-02", short.Str())
}

func TestConvert_NumbersToText(t *testing.T) {
	tests := []struct {
		name  string
		v     Value
		from  Type
		to    Type
		style int
		want  string
		errNo int32
	}{
		{"int that does not fit", IntOf(12345), Simple(Int), VarCharOf(3), DefaultStyle, "*", 0},
		{"int that does not fit nvarchar", IntOf(12345), Simple(Int), NVarCharOf(3), DefaultStyle, "", 8115},
		{"decimal", DecOf(Dec{Lo: 5, Scale: 2, Neg: true}), NumericOf(5, 2), VarCharOf(30), DefaultStyle, "-0.05", 0},
		{"money", MoneyOf(12345678900), Simple(Money), VarCharOf(30), DefaultStyle, "1234567.89", 0},
		{"money style 1", MoneyOf(-12345678999), Simple(Money), VarCharOf(30), 1, "-1,234,567.90", 0},
		{"money style 2", MoneyOf(12345678999), Simple(Money), VarCharOf(30), 2, "1234567.8999", 0},
		{"float", FloatOf(1234567), Simple(Float), VarCharOf(30), DefaultStyle, "1.23457e+006", 0},
		{"float small", FloatOf(0.5), Simple(Float), VarCharOf(30), DefaultStyle, "0.5", 0},
		{"float style 3", FloatOf(1234.5), Simple(Float), VarCharOf(30), 3, "1.2345000000000000e+003", 0},
		{"float style 2", FloatOf(1234.5), Simple(Float), VarCharOf(30), 2, "1.234500000000000e+003", 0},
		{"float style 1", FloatOf(1234.5), Simple(Float), VarCharOf(30), 1, "1.2345000e+003", 0},
		{"guid too short", GUIDOf([16]byte{}), Simple(UniqueIdentifier), VarCharOf(10), DefaultStyle, "", 8170},
		{"binary style 1", RawOf("\x01\xAB"), VarBinaryOf(2), VarCharOf(30), 1, "0x01AB", 0},
		{"binary style 2", RawOf("\x01\xAB"), VarBinaryOf(2), VarCharOf(30), 2, "01AB", 0},
		{"binary as characters", RawOf("Ab"), VarBinaryOf(2), VarCharOf(30), DefaultStyle, "Ab", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := Convert(tt.v, tt.from, tt.to, tt.style)
			if tt.errNo != 0 {
				assert.Equal(t, tt.errNo, errorNumber(err))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, v.Str())
		})
	}
}

func TestConvert_BetweenNumbers(t *testing.T) {
	tests := []struct {
		name  string
		v     Value
		from  Type
		to    Type
		want  string
		errNo int32
	}{
		{"decimal is cut to int", DecOf(Dec{Lo: 199, Scale: 2, Neg: true}), NumericOf(5, 2), Simple(Int), "-1", 0},
		{"float is cut to int", FloatOf(10.9), Simple(Float), Simple(Int), "10", 0},
		{"money is rounded to int", MoneyOf(105000), Simple(Money), Simple(Int), "11", 0},
		{"int too large for tinyint", IntOf(256), Simple(Int), Simple(TinyInt), "", 220},
		{"bigint too large for int", IntOf(1 << 40), Simple(BigInt), Simple(Int), "", 8115},
		{"float too large for int", FloatOf(3e9), Simple(Float), Simple(Int), "", 232},
		{"float to decimal", FloatOf(0.1), Simple(Float), NumericOf(38, 20), "0.10000000000000001000", 0},
		{"int to decimal too small", IntOf(1000), Simple(Int), NumericOf(3, 0), "", 8115},
		{"int to date", IntOf(1), Simple(Int), Simple(Date), "", 529},
		{"int to datetime", IntOf(1), Simple(Int), Simple(DateTime), "1900-01-02 00:00:00.000", 0},
		{"datetime to int rounds at noon", DateTimeOf(10, Ticks300PerDay/2), Simple(DateTime), Simple(Int), "11", 0},
		{"datetime to float", DateTimeOf(1, Ticks300PerDay/4), Simple(DateTime), Simple(Float), "1.25", 0},
		{"datetime to datetime2", DateTimeOf(0, 1), Simple(DateTime), Simple(DateTime2), "1900-01-01 00:00:00.0033333", 0},
		{"int to binary", IntOf(258), Simple(Int), BinaryOf(6), "0x000000000102", 0},
		{"binary to int", RawOf("\xFF\xFF\xFF\xFE"), VarBinaryOf(4), Simple(Int), "-2", 0},
		{"decimal to binary", DecOf(Dec{Lo: 15, Scale: 1}), NumericOf(5, 1), VarBinaryOf(30), "0x050100010F000000", 0},
		{"datetime to binary", DateTimeOf(1, 300), Simple(DateTime), BinaryOf(8), "0x000000010000012C", 0},
		{"guid to binary", GUIDOf([16]byte{0: 1, 15: 2}), Simple(UniqueIdentifier), BinaryOf(16), "0x01000000000000000000000000000002", 0},
		{"binary to float", RawOf("\x01"), VarBinaryOf(8), Simple(Float), "", 529},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := Convert(tt.v, tt.from, tt.to, DefaultStyle)
			if tt.errNo != 0 {
				assert.Equal(t, tt.errNo, errorNumber(err))
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, text(t, v, tt.to))
		})
	}
}

func TestAssign(t *testing.T) {
	column := TargetColumn("db.dbo.t", "c")
	t.Run("text too long for a column", func(t *testing.T) {
		_, err := Assign(StringOf("abcdef"), VarCharOf(10), VarCharOf(3), column)
		require.EqualError(t, err, "Msg 2628, Level 16, State 1: String or binary data would be truncated in table 'db.dbo.t', column 'c'. Truncated value: 'abc'.")
	})
	t.Run("text too long for a variable is cut", func(t *testing.T) {
		v, err := Assign(StringOf("abcdef"), VarCharOf(10), VarCharOf(3), "")
		require.NoError(t, err)
		assert.Equal(t, "abc", v.Str())
	})
	t.Run("trailing blanks may go", func(t *testing.T) {
		v, err := Assign(StringOf("abc   "), VarCharOf(10), VarCharOf(3), column)
		require.NoError(t, err)
		assert.Equal(t, "abc", v.Str())
	})
	t.Run("char is padded", func(t *testing.T) {
		v, err := Assign(StringOf("é"), NVarCharOf(10), Type{ID: Char, Length: 3}, column)
		require.NoError(t, err)
		assert.Equal(t, "é  ", v.Str())
	})
	t.Run("code page applies", func(t *testing.T) {
		v, err := Assign(StringOf("яz"), NVarCharOf(10), VarCharOf(3), column)
		require.NoError(t, err)
		assert.Equal(t, "?z", v.Str())
	})
	t.Run("binary", func(t *testing.T) {
		v, err := Assign(RawOf("\x01"), VarBinaryOf(10), BinaryOf(3), column)
		require.NoError(t, err)
		assert.Equal(t, "\x01\x00\x00", v.Raw())
		_, err = Assign(RawOf("1234"), VarBinaryOf(10), BinaryOf(3), column)
		assert.Equal(t, int32(2628), errorNumber(err))
	})
	t.Run("types that do not mix", func(t *testing.T) {
		_, err := Assign(IntOf(1), Simple(Int), Simple(Date), column)
		require.EqualError(t, err, "Msg 206, Level 16, State 2: Operand type clash: int is incompatible with date")
		_, err = Assign(StringOf("x"), VarCharOf(1), VarBinaryOf(5), column)
		assert.Equal(t, int32(257), errorNumber(err))
	})
	t.Run("untyped NULL", func(t *testing.T) {
		v, err := Assign(Null(), Type{}, Simple(Geography), column)
		require.NoError(t, err)
		assert.True(t, v.IsNull())
	})
	t.Run("decimal rounds", func(t *testing.T) {
		v, err := Assign(DecOf(Dec{Lo: 12345, Scale: 3}), NumericOf(5, 3), NumericOf(5, 2), column)
		require.NoError(t, err)
		assert.Equal(t, "12.35", v.Dec().String())
	})
}

func TestHierarchyID(t *testing.T) {
	tests := map[string]string{"/": "", "/1/": "\x58", "/2/": "\x68", "/1/1/": "\x5A\xC0", "/1.1/": "\x62\xC0"}
	for path, raw := range tests {
		got, err := ParseHierarchyID(path)
		require.NoError(t, err)
		assert.Equal(t, raw, got, path)
		back, err := FormatHierarchyID(raw)
		require.NoError(t, err)
		assert.Equal(t, path, back)
	}
	for _, bad := range []string{"", "1", "/a/", "//", "/1", "/1./"} {
		_, err := ParseHierarchyID(bad)
		assert.Equal(t, int32(6522), errorNumber(err), bad)
	}
}
