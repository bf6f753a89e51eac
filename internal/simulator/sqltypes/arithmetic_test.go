package sqltypes_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// operand is a value written as text, with its type.
type operand struct {
	text string
	typ  Type
}

func (o operand) value(t testing.TB) Value {
	t.Helper()
	if o.text == "NULL" {
		return Null()
	}
	v, err := Convert(StringOf(o.text), VarCharOf(100), o.typ, DefaultStyle)
	require.NoError(t, err)
	return v
}

func TestArithmetic(t *testing.T) {
	integer := func(s string) operand { return operand{s, Simple(Int)} }
	dec := func(s string, p, sc uint8) operand { return operand{s, NumericOf(p, sc)} }
	money := func(s string) operand { return operand{s, Simple(Money)} }
	tests := []struct {
		name     string
		a        operand
		op       string
		b        operand
		want     string
		wantType string
		errNo    int32
	}{
		{"int division cuts", integer("7"), "/", integer("-2"), "-3", "int", 0},
		{"int remainder keeps the sign", integer("-7"), "%", integer("2"), "-1", "int", 0},
		{"int overflow", integer("2147483647"), "+", integer("1"), "", "", 8115},
		{"int product overflow", integer("65536"), "*", integer("65536"), "", "", 8115},
		{"bigint overflow", operand{"9223372036854775807", Simple(BigInt)}, "+", integer("1"), "", "", 8115},
		{"bigint minimum by -1", operand{"-9223372036854775808", Simple(BigInt)}, "/", integer("-1"), "", "", 8115},
		{"tinyint overflow", operand{"255", Simple(TinyInt)}, "+", operand{"1", Simple(TinyInt)}, "", "", 8115},
		{"divide by zero", integer("1"), "/", integer("0"), "", "", 8134},
		{"decimal sum", dec("1.25", 5, 2), "+", dec("1.5", 3, 1), "2.75", "numeric(6,2)", 0},
		{"decimal product", dec("1.25", 5, 2), "*", dec("1.5", 3, 1), "1.875", "numeric(9,3)", 0},
		{"decimal quotient is cut", dec("2.0", 2, 1), "/", dec("3.0", 2, 1), "0.666666", "numeric(8,6)", 0},
		{"decimal with int", dec("1.5", 3, 1), "/", integer("2"), "0.750000000000", "numeric(14,12)", 0},
		{"decimal remainder", dec("5.5", 3, 1), "%", dec("2", 3, 0), "1.5", "numeric(3,1)", 0},
		// MS docs, "Precision, scale, and length": the scale falls to 6.
		{"large product", dec("0.0000009", 38, 7), "*", dec("1", 38, 0), "0.000001", "numeric(38,6)", 0},
		{"large sum", dec("1", 38, 0), "+", dec("0.5", 38, 10), "2", "numeric(38,0)", 0},
		{"money sum", money("1.5"), "+", integer("1"), "2.5000", "money", 0},
		{"money quotient is cut", money("2"), "/", money("3"), "0.6666", "money", 0},
		{"money product", money("1.5"), "*", money("1.5"), "2.2500", "money", 0},
		{"money overflow", money("922337203685477.5807"), "+", money("0.0001"), "", "", 8115},
		{"float", operand{"1.5", Simple(Float)}, "*", integer("2"), "3", "float", 0},
		{"float remainder", operand{"1.5", Simple(Float)}, "%", integer("2"), "", "", 402},
		{"text is converted", operand{"5", VarCharOf(5)}, "+", integer("1"), "6", "int", 0},
		{"text that is no number", operand{"x", VarCharOf(5)}, "+", integer("1"), "", "", 245},
		{"concatenation", operand{"a", VarCharOf(1)}, "+", operand{"b", NVarCharOf(2)}, "ab", "nvarchar(3)", 0},
		{"concatenation keeps blanks", operand{"a", Type{ID: Char, Length: 3}}, "+", operand{"b", VarCharOf(2)}, "a  b", "varchar(5)", 0},
		{"text has no product", operand{"a", VarCharOf(1)}, "*", operand{"b", VarCharOf(1)}, "", "", 8117},
		{"NULL", operand{"NULL", Simple(Int)}, "+", integer("1"), "NULL", "int", 0},
		{"bits", integer("6"), "&", integer("3"), "2", "int", 0},
		{"bits of decimals", dec("1", 1, 0), "|", integer("1"), "", "", 402},
		{"datetime plus days", operand{"2024-01-31", Simple(DateTime)}, "+", dec("1.5", 2, 1), "2024-02-01 12:00:00.000", "datetime", 0},
		{"datetime minus datetime", operand{"2024-01-02", Simple(DateTime)}, "-", operand{"2024-01-01 12:00", Simple(DateTime)}, "1900-01-01 12:00:00.000", "datetime", 0},
		{"date plus int", operand{"2024-01-01", Simple(Date)}, "+", integer("1"), "", "", 206},
		{"uniqueidentifier", operand{"6F9619FF-8B86-D011-B42D-00C04FC964FF", Simple(UniqueIdentifier)}, "+", operand{"6F9619FF-8B86-D011-B42D-00C04FC964FF", Simple(UniqueIdentifier)}, "", "", 8117},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, typ, err := Arithmetic(tt.op, tt.a.value(t), tt.a.typ, tt.b.value(t), tt.b.typ)
			if tt.errNo != 0 {
				require.Error(t, err)
				assert.Equal(t, tt.errNo, errorNumber(err), err.Error())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.wantType, typ.String())
			assert.Equal(t, tt.want, text(t, v, typ))
		})
	}
}

func TestNegate(t *testing.T) {
	v, err := Negate(IntOf(200), Simple(TinyInt))
	require.NoError(t, err)
	assert.Equal(t, int64(-200), v.Int64(), "tinyint becomes smallint")
	_, err = Negate(IntOf(-2147483648), Simple(Int))
	assert.Equal(t, int32(8115), errorNumber(err))
	_, err = Negate(StringOf("x"), VarCharOf(1))
	assert.Equal(t, int32(8117), errorNumber(err))
	v, err = BitNot(IntOf(1), Simple(TinyInt))
	require.NoError(t, err)
	assert.Equal(t, int64(254), v.Int64())
}

func TestCommon(t *testing.T) {
	tests := []struct {
		a, b  Type
		want  string
		errNo int32
	}{
		{Simple(Int), Simple(BigInt), "bigint", 0},
		{Simple(Int), NumericOf(5, 2), "numeric(12,2)", 0},
		{VarCharOf(10), NVarCharOf(5), "nvarchar(10)", 0},
		{VarCharOf(10), VarCharOf(Max), "varchar(max)", 0},
		{VarCharOf(10), Simple(Int), "int", 0},
		{Simple(DateTime), Type{ID: DateTime2, Scale: 0}, "datetime2(3)", 0},
		{Type{}, Simple(Date), "date", 0},
		{Simple(Int), Simple(Date), "", 206},
		{NumericOf(38, 0), NumericOf(38, 10), "numeric(38,0)", 0},
	}
	for _, tt := range tests {
		for _, pair := range [][2]Type{{tt.a, tt.b}, {tt.b, tt.a}} {
			got, err := Common(pair[0], pair[1])
			assert.Equal(t, tt.errNo, errorNumber(err))
			if err == nil {
				assert.Equal(t, tt.want, got.String())
			}
		}
	}
}

func TestParseType(t *testing.T) {
	tests := []struct {
		name  string
		args  []int
		want  string
		errNo int32
	}{
		{"INT", nil, "int", 0},
		{"decimal", nil, "decimal(18,0)", 0},
		{"dec", []int{10, 2}, "decimal(10,2)", 0},
		{"float", []int{24}, "real", 0},
		{"float", []int{25}, "float", 0},
		{"nvarchar", []int{Max}, "nvarchar(max)", 0},
		{"varchar", nil, "varchar(1)", 0},
		{"sysname", nil, "nvarchar(128)", 0},
		{"rowversion", nil, "timestamp", 0},
		{"datetime2", nil, "datetime2(7)", 0},
		{"blob", nil, "", 2715},
		{"decimal", []int{39}, "", 2750},
		{"decimal", []int{5, 6}, "", 192},
		{"varchar", []int{8001}, "", 131},
		{"nchar", []int{0}, "", 1001},
		{"time", []int{8}, "", 1002},
		{"int", []int{4}, "", 2716},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseType(tt.name, tt.args)
			assert.Equal(t, tt.errNo, errorNumber(err))
			if err == nil {
				assert.Equal(t, tt.want, got.String())
			}
		})
	}
}

func TestLike(t *testing.T) {
	const ci, cs = "SQL_Latin1_General_CP1_CI_AS", "Latin1_General_CS_AS"
	tests := []struct {
		id        ID
		collation string
		s         string
		pattern   string
		escape    rune
		want      bool
	}{
		{VarChar, ci, "Hello", "h%O", NoEscape, true},
		{VarChar, cs, "Hello", "h%", NoEscape, false},
		{VarChar, ci, "abc", "a_c", NoEscape, true},
		{VarChar, ci, "abc", "[a-c]__", NoEscape, true},
		{VarChar, ci, "dbc", "[^a-c]%", NoEscape, true},
		{VarChar, ci, "50%", "50!%", '!', true},
		{VarChar, ci, "500", "50!%", '!', false},
		{VarChar, ci, "a[b", "a[[]b", NoEscape, true},
		{VarChar, ci, "abc  ", "abc", NoEscape, true},
		{NVarChar, ci, "abc  ", "abc", NoEscape, false},
		{VarChar, ci, "", "%", NoEscape, true},
		{VarChar, ci, "", "_", NoEscape, false},
		{VarChar, ci, "abc", "[abc", NoEscape, false},
		{VarChar, ci, "a-b", "a[-]b", NoEscape, true},
		{VarChar, ci, "aXbXc", "%X%c", NoEscape, true},
		{NVarChar, "Latin1_General_CI_AI", "é", "e", NoEscape, true},
		{NVarChar, ci, "co-op", "coop", NoEscape, false},
		{NVarChar, "Latin1_General_BIN2", "b", "[a-c]", NoEscape, true},
	}
	for _, tt := range tests {
		t.Run(tt.s+" like "+tt.pattern, func(t *testing.T) {
			assert.Equal(t, tt.want, Like(tt.s, tt.pattern, tt.escape, textType(t, tt.id, tt.collation)))
		})
	}
}

func TestWTF8(t *testing.T) {
	high, low := DecodeUTF16([]byte{0x3D, 0xD8}), DecodeUTF16([]byte{0x00, 0xDE})
	assert.Equal(t, []byte{0x3D, 0xD8}, AppendUTF16(nil, high), "a lone surrogate is kept")
	assert.Equal(t, "😀", Concat(high, low), "halves that meet are one character")
	assert.Equal(t, high, SliceUTF16("😀", 0, 1))
	assert.Equal(t, low, SliceUTF16("😀", 1, 2))
	assert.Equal(t, "b😀", SliceUTF16("ab😀c", 1, 4))
	assert.Equal(t, 5, UTF16Len("ab😀c"))
	assert.Equal(t, 1, UTF16Len(high))
}
