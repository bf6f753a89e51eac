package tds

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// typeCase is a type with a generator of its values.
type typeCase struct {
	t   sqltypes.Type
	gen *rapid.Generator[sqltypes.Value]
}

func ints(lo, hi int64) *rapid.Generator[sqltypes.Value] {
	return rapid.Map(rapid.Int64Range(lo, hi), sqltypes.IntOf)
}

func texts(limit int) *rapid.Generator[sqltypes.Value] {
	return rapid.Map(rapid.StringN(0, limit, -1), sqltypes.StringOf)
}

func ascii(limit int) *rapid.Generator[sqltypes.Value] {
	return rapid.Map(rapid.StringMatching(fmt.Sprintf(`[ -~éüß]{0,%d}`, limit)), sqltypes.StringOf)
}

func binaries(lo, hi int) *rapid.Generator[sqltypes.Value] {
	return rapid.Map(rapid.SliceOfN(rapid.Byte(), lo, hi), sqltypes.BytesOf)
}

func ticks(scale uint8) *rapid.Generator[int64] {
	unit := ticksPerUnit(scale)
	return rapid.Map(rapid.Int64Range(0, ticksPerDay/unit-1), func(n int64) int64 { return n * unit })
}

func decimals(precision, scale uint8) typeCase {
	gen := rapid.Custom(func(t *rapid.T) sqltypes.Value {
		hi := uint64(0)
		if precision > 28 {
			hi = rapid.Uint64Max(1<<60).Draw(t, "hi")
		}
		lo := rapid.Uint64Max(uint64(math.Pow10(int(min(precision, 18))))-1).Draw(t, "lo")
		return sqltypes.DecimalOf(rapid.Bool().Draw(t, "neg"), hi, lo, scale)
	})
	return typeCase{sqltypes.Type{ID: sqltypes.Decimal, Precision: precision, Scale: scale}, gen}
}

func typeCases() []typeCase {
	days := rapid.IntRange(0, maxDate)
	simple := sqltypes.Simple
	cases := []typeCase{
		{simple(sqltypes.Bit), rapid.Map(rapid.Bool(), sqltypes.BoolOf)},
		{simple(sqltypes.TinyInt), ints(0, 255)},
		{simple(sqltypes.SmallInt), ints(math.MinInt16, math.MaxInt16)},
		{simple(sqltypes.Int), ints(math.MinInt32, math.MaxInt32)},
		{simple(sqltypes.BigInt), ints(math.MinInt64, math.MaxInt64)},
		{simple(sqltypes.Real), rapid.Map(rapid.Float32Range(-1e30, 1e30), func(f float32) sqltypes.Value { return sqltypes.FloatOf(float64(f)) })},
		{simple(sqltypes.Float), rapid.Map(rapid.Float64Range(-1e300, 1e300), sqltypes.FloatOf)},
		{simple(sqltypes.Money), rapid.Map(rapid.Int64(), sqltypes.MoneyOf)},
		{simple(sqltypes.SmallMoney), rapid.Map(rapid.Int64Range(math.MinInt32, math.MaxInt32), sqltypes.MoneyOf)},
		{simple(sqltypes.Date), rapid.Map(days, sqltypes.DateOf)},
		{simple(sqltypes.DateTime), rapid.Custom(func(t *rapid.T) sqltypes.Value {
			return sqltypes.DateTimeOf(rapid.IntRange(minDateTimeDays, maxDateTimeDays).Draw(t, "days"), rapid.Int64Range(0, dateTimeTicks-1).Draw(t, "ticks"))
		})},
		{simple(sqltypes.SmallDateTime), rapid.Custom(func(t *rapid.T) sqltypes.Value {
			return sqltypes.DateTimeOf(rapid.IntRange(0, math.MaxUint16).Draw(t, "days"), rapid.Int64Range(0, minutesPerDay-1).Draw(t, "minutes")*dateTimePerMinute)
		})},
		{simple(sqltypes.UniqueIdentifier), rapid.Map(rapid.SliceOfN(rapid.Byte(), 16, 16), func(b []byte) sqltypes.Value { return sqltypes.GUIDOf([16]byte(b)) })},
		{sqltypes.Type{ID: sqltypes.NChar, Length: 10}, texts(5)},
		{sqltypes.NVarCharOf(4000), texts(50)},
		{sqltypes.NVarCharOf(sqltypes.Max), texts(300)},
		{sqltypes.Type{ID: sqltypes.Char, Length: 20}, ascii(20)},
		{sqltypes.VarCharOf(8000), ascii(50)},
		{sqltypes.VarCharOf(sqltypes.Max), ascii(300)},
		{simple(sqltypes.Text), ascii(50)},
		{simple(sqltypes.NText), texts(50)},
		{simple(sqltypes.Image), binaries(0, 50)},
		{sqltypes.BinaryOf(8), binaries(8, 8)},
		{sqltypes.VarBinaryOf(8000), binaries(0, 100)},
		{sqltypes.VarBinaryOf(sqltypes.Max), binaries(0, 300)},
		{simple(sqltypes.RowVersion), binaries(8, 8)},
		{simple(sqltypes.XML), texts(50)},
		{simple(sqltypes.HierarchyID), binaries(0, 50)},
		{simple(sqltypes.Geometry), binaries(0, 50)},
		{simple(sqltypes.Geography), binaries(0, 50)},
		decimals(1, 0), decimals(9, 2), decimals(18, 18), decimals(28, 4), decimals(38, 10),
	}
	for scale := range uint8(8) {
		cases = append(cases,
			typeCase{sqltypes.Type{ID: sqltypes.Time, Scale: scale}, rapid.Map(ticks(scale), sqltypes.TimeOf)},
			typeCase{sqltypes.Type{ID: sqltypes.DateTime2, Scale: scale}, rapid.Custom(func(t *rapid.T) sqltypes.Value {
				return sqltypes.DateTime2Of(days.Draw(t, "days"), ticks(scale).Draw(t, "ticks"))
			})},
			typeCase{sqltypes.Type{ID: sqltypes.DateTimeOffset, Scale: scale}, rapid.Custom(func(t *rapid.T) sqltypes.Value {
				return sqltypes.DateTimeOffsetOf(days.Draw(t, "days"), ticks(scale).Draw(t, "ticks"), rapid.IntRange(-maxOffsetMinutes, maxOffsetMinutes).Draw(t, "offset"))
			})})
	}
	return cases
}

// readRow reads back COLMETADATA and one row.
func readRow(t require.TestingT, payload []byte) []sqltypes.Value {
	tr := tracer{cursor: cursor{b: payload}}
	tr.token()
	var nulls []byte
	if tr.u8() == tokenNBCRow {
		nulls = tr.bytes((len(tr.columns) + 7) / 8)
	}
	var row []sqltypes.Value
	for i, w := range tr.columns {
		if nulls != nil && nulls[i/8]&(1<<(i%8)) != 0 {
			row = append(row, sqltypes.Null())
			continue
		}
		v, invalid := tr.value(w)
		require.False(t, invalid, "column %d", i)
		row = append(row, v)
	}
	require.NoError(t, tr.err)
	require.Zero(t, tr.left())
	return row
}

func TestValues_RoundTrip(t *testing.T) {
	for _, tc := range typeCases() {
		t.Run(tc.t.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				v := tc.gen.Draw(t, "value")
				nullable := rapid.Bool().Draw(t, "nullable")
				columns := []Column{{Name: "c", Type: tc.t, Nullable: nullable}}
				b := NewRowEncoder(columns).AppendRow(AppendColMetadata(nil, columns), []sqltypes.Value{v})
				if got := readRow(t, b); got[0] != v {
					t.Fatalf("want %s, got %s", printValue(v, false), printValue(got[0], false))
				}
				c := cursor{b: appendTypeInfo(nil, tc.t, true)}
				c.b = compileColumn(tc.t, true).appendTo(c.b, sqltypes.Null())
				if got, invalid := c.value(c.typeInfo(true)); invalid || c.err != nil || !got.IsNull() || c.left() != 0 {
					t.Fatalf("NULL came back as %s, error %v", printValue(got, invalid), c.err)
				}
			})
		})
	}
}

func TestVariant_RoundTrip(t *testing.T) {
	for _, tc := range typeCases() {
		switch {
		case tc.t.IsLOB(), tc.t.ID == sqltypes.HierarchyID, tc.t.ID == sqltypes.RowVersion:
			continue // cannot stand in a sql_variant
		}
		t.Run(tc.t.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				want := tc.gen.Draw(t, "value")
				columns := []Column{{Name: "c", Type: sqltypes.Simple(sqltypes.SQLVariant), Nullable: true}}
				b := NewRowEncoder(columns).AppendRow(AppendColMetadata(nil, columns), []sqltypes.Value{sqltypes.VariantOf(want, tc.t)})
				got, base := readRow(t, b)[0].Variant()
				if got != want || base.String() != tc.t.String() {
					t.Fatalf("want %s of %v, got %s of %v", printValue(want, false), tc.t, printValue(got, false), base)
				}
			})
		})
	}
}

func TestRowEncoder_NBCRow(t *testing.T) {
	columns := make([]Column, 10)
	row := make([]sqltypes.Value, len(columns))
	for i := range columns {
		columns[i] = Column{Name: fmt.Sprint("c", i), Type: sqltypes.Simple(sqltypes.Int), Nullable: true}
		row[i] = sqltypes.IntOf(int64(i))
	}
	row[0], row[9] = sqltypes.Null(), sqltypes.Null()
	b := NewRowEncoder(columns).AppendRow(nil, row)
	assert.Equal(t, []byte{tokenNBCRow, 0x01, 0x02, 4, 1, 0, 0, 0}, b[:8])
	assert.Equal(t, row, readRow(t, append(AppendColMetadata(nil, columns), b...)))
}

func TestRowEncoder_RefusesWrongValues(t *testing.T) {
	e := NewRowEncoder([]Column{{Type: sqltypes.Simple(sqltypes.Int)}})
	assert.Panics(t, func() { e.AppendRow(nil, []sqltypes.Value{sqltypes.StringOf("1")}) })
	assert.Panics(t, func() { e.AppendRow(nil, nil) })
	e = NewRowEncoder([]Column{{Type: sqltypes.NumericOf(5, 2)}})
	assert.Panics(t, func() { e.AppendRow(nil, []sqltypes.Value{sqltypes.DecimalOf(false, 0, 1, 3)}) })
}

// changeRow is a row of a change table of 10 columns.
func changeRow() ([]Column, []sqltypes.Value) {
	lsn := sqltypes.BytesOf([]byte("\x00\x00\x00\x25\x00\x00\x04\x48\x00\x03"))
	columns := []Column{
		{Name: "__$start_lsn", Type: sqltypes.BinaryOf(10)},
		{Name: "__$seqval", Type: sqltypes.BinaryOf(10)},
		{Name: "__$operation", Type: sqltypes.Simple(sqltypes.Int)},
		{Name: "__$update_mask", Type: sqltypes.VarBinaryOf(128), Nullable: true},
		{Name: "id", Type: sqltypes.Simple(sqltypes.Int), Nullable: true},
		{Name: "name", Type: sqltypes.NVarCharOf(100), Nullable: true},
		{Name: "email", Type: sqltypes.VarCharOf(100), Nullable: true},
		{Name: "price", Type: sqltypes.Type{ID: sqltypes.Decimal, Precision: 10, Scale: 2}, Nullable: true},
		{Name: "at", Type: sqltypes.Simple(sqltypes.DateTime2), Nullable: true},
		{Name: "__$command_id", Type: sqltypes.Simple(sqltypes.Int), Nullable: true},
	}
	return columns, []sqltypes.Value{
		lsn, lsn, sqltypes.IntOf(2), sqltypes.BytesOf([]byte{0x1F}), sqltypes.IntOf(123456),
		sqltypes.StringOf("Sally Thomas the first"), sqltypes.StringOf("sally.thomas@acme.example"),
		sqltypes.DecimalOf(false, 0, 123456, 2), sqltypes.DateTime2Of(738000, 123456789), sqltypes.IntOf(1),
	}
}

func TestRowEncoder_AllocatesNothing(t *testing.T) {
	columns, row := changeRow()
	e := NewRowEncoder(columns)
	buf := make([]byte, 0, 1<<10)
	assert.Zero(t, testing.AllocsPerRun(100, func() { buf = e.AppendRow(buf[:0], row) }))
	row[3] = sqltypes.Null()
	assert.Zero(t, testing.AllocsPerRun(100, func() { buf = e.AppendRow(buf[:0], row) }))
}

func BenchmarkRowEncoder(b *testing.B) {
	columns, row := changeRow()
	e := NewRowEncoder(columns)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = e.AppendRow(buf[:0], row)
	}
	b.SetBytes(int64(len(buf)))
}

func TestValues_ChunkedParameter(t *testing.T) {
	text := strings.Repeat("é", 3000)
	raw := appendUTF16(nil, text)
	b := []byte{typeNVarChar, 0xFF, 0xFF, 9, 4, 0xD0, 0, 0x34, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}
	for len(raw) > 0 {
		n := min(len(raw), 1001) // chunks may end inside a character
		b = append(b, byte(n), byte(n>>8), 0, 0)
		b = append(b, raw[:n]...)
		raw = raw[n:]
	}
	c := cursor{b: append(b, 0, 0, 0, 0)}
	v, invalid := c.value(c.typeInfo(false))
	require.NoError(t, c.err)
	require.False(t, invalid)
	assert.Equal(t, text, v.Str())
}

// A long value travels in chunks about a packet long: tedious copies what it
// has of a chunk at each packet, so one of 20 MB would take it half a minute.
func TestRowEncoder_SplitsLongValues(t *testing.T) {
	for _, length := range []int{0, 1, maxChunk, maxChunk + 1, 3*maxChunk + 7} {
		data := make([]byte, length)
		for i := range data {
			data[i] = byte(i * 7)
		}
		e := NewRowEncoder([]Column{{Name: "v", Type: sqltypes.Type{ID: sqltypes.VarBinary, Length: sqltypes.Max}}})
		b := e.AppendRow(nil, []sqltypes.Value{sqltypes.BytesOf(data)})[1:]
		require.EqualValues(t, length, binary.LittleEndian.Uint64(b))
		var joined []byte
		for b = b[8:]; ; {
			n := int(binary.LittleEndian.Uint32(b))
			require.LessOrEqual(t, n, maxChunk)
			if n == 0 {
				break
			}
			joined = append(joined, b[4:4+n]...)
			b = b[4+n:]
		}
		assert.True(t, bytes.Equal(data, joined), "%d bytes", length)
	}
}
