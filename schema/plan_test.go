package schema

import (
	"database/sql/driver"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var (
	nvarcharMax  = Type{Kind: NVarChar, Name: "nvarchar", Length: Max}
	varcharMax   = Type{Kind: VarChar, Name: "varchar", Length: Max}
	varbinaryMax = Type{Kind: VarBinary, Name: "varbinary", Length: Max}
	imageType    = Type{Kind: Image, Name: "image", Length: Max}
	ntextType    = Type{Kind: NText, Name: "ntext", Length: Max}
)

const (
	placeholderJSON   = `"__debezium_unavailable_value"`
	placeholderBase64 = `"X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="`
)

func TestTouched(t *testing.T) {
	t.Run("recorded masks", func(t *testing.T) {
		// Ten columns: column 10 alone, then column 2 alone.
		assert.True(t, Touched([]byte{0x02, 0x00}, 10))
		assert.False(t, Touched([]byte{0x02, 0x00}, 2))
		assert.True(t, Touched([]byte{0x00, 0x02}, 2))
		assert.False(t, Touched([]byte{0x00, 0x02}, 10))
		for n := range 9 {
			assert.True(t, Touched([]byte{0x01, 0xff}, n+1))
		}
		assert.False(t, Touched([]byte{0x01, 0xff}, 10))
	})
	t.Run("outside the mask", func(t *testing.T) {
		assert.False(t, Touched(nil, 1))
		assert.False(t, Touched([]byte{0xff}, 0))
		assert.False(t, Touched([]byte{0xff}, 9))
	})
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.SampledFrom([]int{1, 7, 8, 9, 15, 16, 17, 24, 25, 64, 65, 1024}).Draw(t, "columns")
		number := new(big.Int)
		touched := make([]bool, columns+1)
		for n := 1; n <= columns; n++ {
			touched[n] = rapid.Bool().Draw(t, "touched")
			if touched[n] {
				number.SetBit(number, n-1, 1)
			}
		}
		mask := number.FillBytes(make([]byte, (columns+7)/8))
		for n := 1; n <= columns; n++ {
			require.Equal(t, touched[n], Touched(mask, n), "column %d of %d, mask %x", n, columns, mask)
		}
	})
}

// wide is a table of n columns: id, the large column v, then int columns.
func wide(n int, large Type) *Table {
	t := &Table{Database: "db", Schema: "dbo", Name: "wide", Key: []int{0}}
	for i := range n {
		c := Column{Name: fmt.Sprintf("c%d", i+1), Type: intType, Nullable: true, ID: i + 1, Ordinal: i + 1}
		switch i {
		case 0:
			c.Nullable = false
		case 1:
			c.Type = large
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

func maskOf(columns int, ordinals ...int) []byte {
	number := new(big.Int)
	for _, n := range ordinals {
		number.SetBit(number, n-1, 1)
	}
	return number.FillBytes(make([]byte, (columns+7)/8))
}

func TestPlan_LargeColumns(t *testing.T) {
	for _, columns := range []int{8, 9, 10, 16, 17} {
		for _, tt := range []struct {
			typ         Type
			placeholder string
			legacy      bool
		}{
			{nvarcharMax, placeholderJSON, false},
			{varcharMax, placeholderJSON, false},
			{xmlType, placeholderJSON, false},
			{varbinaryMax, placeholderBase64, false},
			{textType, placeholderJSON, true},
			{ntextType, placeholderJSON, true},
			{imageType, placeholderBase64, true},
		} {
			t.Run(fmt.Sprintf("%d columns/%s", columns, tt.typ.Name), func(t *testing.T) {
				p, err := Compile(wide(columns, tt.typ), DefaultModes())
				require.NoError(t, err)
				row := make([]driver.Value, columns)
				row[0] = int64(1)
				value := func(role Role, mask []byte) string {
					raw, err := p.AppendRow(nil, row, RowImage{Role: role, Mask: mask})
					require.NoError(t, err)
					twin, err := p.StructuredRow(row, RowImage{Role: role, Mask: mask})
					require.NoError(t, err)
					requireSame(t, raw, twin)
					rest, ok := strings.CutPrefix(string(raw), `{"c1":1,"c2":`)
					require.True(t, ok)
					value, _, ok := strings.Cut(rest, `,"c3":`)
					require.True(t, ok)
					return value
				}
				other, itself, all := maskOf(columns, columns), maskOf(columns, 2), []byte{0xff, 0xff, 0xff}
				legacyOr := func(otherwise string) string {
					if tt.legacy {
						return tt.placeholder
					}
					return otherwise
				}
				assert.Equal(t, tt.placeholder, value(Before, other))
				assert.Equal(t, tt.placeholder, value(After, other))
				assert.Equal(t, legacyOr("null"), value(Before, itself))
				assert.Equal(t, "null", value(After, itself))
				assert.Equal(t, legacyOr("null"), value(Deleted, all))
				assert.Equal(t, "null", value(Inserted, all))
				assert.Equal(t, "null", value(Snapshot, nil))
			})
		}
	}
}

func TestPlan_PlaceholderModes(t *testing.T) {
	m := DefaultModes()
	m.Placeholder = "n/a"
	row := []driver.Value{nil}
	for _, tt := range []struct {
		mode BinaryMode
		want string
	}{
		{BinaryBytes, `{"v":"bi9h"}`}, {BinaryBase64, `{"v":"bi9h"}`}, {BinaryBase64URLSafe, `{"v":"bi9h"}`}, {BinaryHex, `{"v":"6e2f61"}`},
	} {
		t.Run(string(tt.mode), func(t *testing.T) {
			m.Binary = tt.mode
			raw, err := oneColumn(t, imageType, m).AppendRow(nil, row, RowImage{Role: Deleted})
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(raw))
		})
	}
	raw, err := oneColumn(t, textType, m).AppendRow(nil, row, RowImage{Role: Deleted})
	require.NoError(t, err)
	assert.Equal(t, `{"v":"n/a"}`, string(raw))
}

func TestPlan_LargeColumnsAreOptional(t *testing.T) {
	for _, typ := range []Type{textType, nvarcharMax, xmlType} {
		p, err := Compile(&Table{Columns: []Column{{Name: "v", Type: typ, ID: 1, Ordinal: 1}}}, DefaultModes())
		require.NoError(t, err)
		assert.True(t, p.RowSchema("S").Fields[0].Schema.Optional, typ.Name)
	}
}

func TestPlan_NullInNotNull(t *testing.T) {
	table := &Table{Database: "db", Schema: "dbo", Name: "t", Key: []int{0}, Columns: []Column{
		{Name: "id", Type: intType, ID: 1, Ordinal: 1},
		{Name: "b", Type: bitType, ID: 2, Ordinal: 2},
	}}
	p, err := Compile(table, DefaultModes())
	require.NoError(t, err)
	var told []string
	p.OnNull = func(column string) { told = append(told, column) }

	row := []driver.Value{int64(1), nil}
	_, err = p.AppendRow(nil, row, RowImage{Role: Deleted})
	var null *NullError
	require.ErrorAs(t, err, &null)
	assert.Equal(t, "b", null.Column)
	require.ErrorContains(t, err, "db.dbo.t")
	assert.Empty(t, told)

	p.Relax("b")
	raw, err := p.AppendRow(nil, row, RowImage{Role: Deleted})
	require.NoError(t, err)
	assert.Equal(t, `{"id":1,"b":null}`, string(raw))
	assert.Equal(t, []string{"b"}, told)
	assert.True(t, p.RowSchema("S").Fields[1].Schema.Optional)
	assert.False(t, p.KeySchema("S").Fields[0].Schema.Optional)
}

func TestPlan_DefaultForNull(t *testing.T) {
	p, err := Compile(wide(2, nvarcharMax), DefaultModes())
	require.NoError(t, err)
	p.fields[1].def, p.fields[1].defStructured = []byte(`"none"`), "none"
	row := []driver.Value{int64(1), nil}
	for _, tt := range []struct {
		role Role
		want string
	}{
		{Inserted, `{"c1":1,"c2":"none"}`},
		{Before, `{"c1":1,"c2":` + placeholderJSON + `}`},
	} {
		raw, err := p.AppendRow(nil, row, RowImage{Role: tt.role})
		require.NoError(t, err)
		assert.Equal(t, tt.want, string(raw))
		twin, err := p.StructuredRow(row, RowImage{Role: tt.role})
		require.NoError(t, err)
		requireSame(t, raw, twin)
	}
	s := p.RowSchema("S")
	assert.Contains(t, string(s.Append(nil)), `{"type":"string","optional":true,"default":"none","field":"c2"}`)
}

func TestPlan_Key(t *testing.T) {
	table := &Table{Key: []int{2, 0}, Columns: []Column{
		{Name: "a", Type: intType}, {Name: "b", Type: intType, Nullable: true}, {Name: `c"`, Type: charType},
	}}
	p, err := Compile(table, DefaultModes())
	require.NoError(t, err)
	row := []driver.Value{int64(1), nil, "xy "}
	raw, err := p.AppendKey(nil, row)
	require.NoError(t, err)
	assert.Equal(t, `{"c\"":"xy ","a":1}`, string(raw))
	twin, err := p.StructuredKey(row)
	require.NoError(t, err)
	requireSame(t, raw, twin)
	assert.True(t, p.HasKey())
}

func TestPlan_Omitted(t *testing.T) {
	table := &Table{Columns: []Column{
		{Name: "a", Type: intType, Computed: true},
		{Name: "b", Type: Type{Kind: SQLVariant, Name: "sql_variant"}},
		{Name: "c", Type: TypeOf(CatalogueType{System: "vector"})},
	}}
	p, err := Compile(table, DefaultModes())
	require.NoError(t, err)
	require.Len(t, p.Omitted(), 3)
	assert.Contains(t, p.Omitted()[2].Reason, "vector")
	raw, err := p.AppendRow(nil, []driver.Value{nil, int64(1), "x"}, RowImage{})
	require.NoError(t, err)
	assert.Equal(t, "{}", string(raw))
	assert.False(t, p.HasKey())

	t.Run("a key column cannot be left out", func(t *testing.T) {
		table.Key = []int{0}
		_, err := Compile(table, DefaultModes())
		require.ErrorContains(t, err, `"a"`)
		table.Key = []int{7}
		_, err = Compile(table, DefaultModes())
		require.Error(t, err)
	})
}

// anyValue draws a type and a value of it.
func anyValue(t *rapid.T) (Type, driver.Value) {
	unix := rapid.Int64Range(utc("0001-01-01 00:00:00").Unix(), utc("9999-12-31 23:59:59").Unix())
	ticks := rapid.Int64Range(0, 9_999_999)
	moment := func() time.Time {
		return time.Unix(unix.Draw(t, "unix"), ticks.Draw(t, "ticks")*100).UTC()
	}
	switch rapid.IntRange(0, 10).Draw(t, "kind") {
	case 0:
		return bitType, rapid.Bool().Draw(t, "v")
	case 1:
		return bigIntType, rapid.Int64().Draw(t, "v")
	case 2:
		return realType, float64(rapid.Float32().Draw(t, "v"))
	case 3:
		return floatType, rapid.Float64().Draw(t, "v")
	case 4:
		typ, number := anyDecimal(t)
		return typ, []byte(number.StringFixed(int32(typ.Scale)))
	case 5:
		return charType, rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		})).Draw(t, "v")
	case 6:
		return guidType, rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "v")
	case 7:
		return varbinaryMax, rapid.SliceOf(rapid.Byte()).Draw(t, "v")
	case 8:
		return dateType, moment()
	case 9:
		return timeType(rapid.IntRange(0, 7).Draw(t, "scale")), moment()
	default:
		offset := rapid.IntRange(-840, 840).Draw(t, "offset")
		return scaled(DateTimeOffset, "datetimeoffset", 7), moment().In(time.FixedZone("", offset*60))
	}
}

func anyDecimal(t *rapid.T) (Type, decimal.Decimal) {
	precision := rapid.IntRange(1, 38).Draw(t, "precision")
	scale := rapid.IntRange(0, precision).Draw(t, "scale")
	digits := rapid.StringMatching(fmt.Sprintf("-?[0-9]{1,%d}", precision)).Draw(t, "digits")
	number, err := decimal.NewFromString(digits)
	require.NoError(t, err)
	return decimalType(precision, scale), number.Shift(-int32(scale))
}

func TestEncode_StructuredIsTheJSON(t *testing.T) {
	modes := allModes()
	rapid.Check(t, func(t *rapid.T) {
		typ, v := anyValue(t)
		encodeOne(t, typ, rapid.SampledFrom(modes).Draw(t, "modes"), v)
	})
}

// twosComplement reads a big-endian signed number.
func twosComplement(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

func TestPlan_AppendRowAllocations(t *testing.T) {
	types := []Type{
		bitType, bigIntType, realType, floatType, decimalType(38, 10), moneyType, charType, guidType, varbinaryMax,
		dateType, timeType(7), dateTime, dateTime2(7), scaled(DateTimeOffset, "datetimeoffset", 7),
	}
	at := utc("2018-07-13 11:23:45.3456789")
	row := []driver.Value{
		true, int64(5), 1.5, 2.5, []byte("-12345678901234567890.0123456789"), []byte("1.5000"), "né😀", make([]byte, 16), make([]byte, 99),
		at, at, at, at, at,
	}
	table := &Table{}
	for i, typ := range types {
		table.Columns = append(table.Columns, Column{Name: fmt.Sprint("c", i), Type: typ})
	}
	for _, m := range allModes() {
		t.Run(fmt.Sprintf("%s,%s,%s", m.Time, m.Decimal, m.Binary), func(t *testing.T) {
			p, err := Compile(table, m)
			require.NoError(t, err)
			buf := make([]byte, 0, 4096)
			assert.Zero(t, testing.AllocsPerRun(100, func() {
				if buf, err = p.AppendRow(buf[:0], row, RowImage{}); err != nil {
					t.Error(err)
				}
			}))
		})
	}
}
