package storage

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// plainValues draws values of every kind.
func plainValues() *rapid.Generator[sqltypes.Value] {
	return rapid.Custom(func(t *rapid.T) sqltypes.Value {
		days := rapid.IntRange(-100_000, 4_000_000)
		ticks := rapid.Int64Range(0, 864_000_000_000-1)
		switch rapid.IntRange(0, 12).Draw(t, "kind") {
		case 0:
			return sqltypes.Null()
		case 1:
			return sqltypes.IntOf(rapid.Int64().Draw(t, "int"))
		case 2:
			return sqltypes.FloatOf(rapid.Float64().Draw(t, "float"))
		case 3:
			return sqltypes.DecimalOf(rapid.Bool().Draw(t, "neg"), rapid.Uint64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo"), rapid.Uint8Range(0, 38).Draw(t, "scale"))
		case 4:
			return sqltypes.MoneyOf(rapid.Int64().Draw(t, "money"))
		case 5:
			return sqltypes.StringOf(rapid.String().Draw(t, "text"))
		case 6:
			return sqltypes.BytesOf(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		case 7:
			return sqltypes.GUIDOf([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "guid")))
		case 8:
			return sqltypes.DateOf(days.Draw(t, "days"))
		case 9:
			return sqltypes.TimeOf(ticks.Draw(t, "ticks"))
		case 10:
			return sqltypes.DateTimeOf(days.Draw(t, "days"), ticks.Draw(t, "ticks"))
		case 11:
			return sqltypes.DateTime2Of(days.Draw(t, "days"), ticks.Draw(t, "ticks"))
		default:
			return sqltypes.DateTimeOffsetOf(days.Draw(t, "days"), ticks.Draw(t, "ticks"), rapid.IntRange(-840, 840).Draw(t, "offset"))
		}
	})
}

func TestCodec_ValuesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := Row(rapid.SliceOfN(plainValues(), 1, 10).Draw(t, "row"))
		d := &decoder{b: append(appendRow(nil, row), "rest"...)}
		require.Equal(t, row, d.row())
		require.NoError(t, d.err)
		require.Equal(t, "rest", string(d.b))

		encoded := appendRow(nil, row)
		d = &decoder{b: encoded[:rapid.IntRange(0, len(encoded)-1).Draw(t, "cut")]}
		d.row()
		require.ErrorIs(t, d.err, errMalformed)
	})
}

func TestCodec_VariantsKeepTheirBaseType(t *testing.T) {
	turkish, ok := sqltypes.LookupCollation("Turkish_CI_AS")
	require.True(t, ok)
	for _, v := range []sqltypes.Value{
		sqltypes.VariantOf(sqltypes.IntOf(math.MinInt64), sqltypes.Simple(sqltypes.BigInt)),
		sqltypes.VariantOf(sqltypes.BoolOf(true), sqltypes.Simple(sqltypes.Bit)),
		sqltypes.VariantOf(sqltypes.StringOf("x"), sqltypes.NVarCharOf(20).WithCollation(turkish)),
		sqltypes.VariantOf(sqltypes.RawOf("\x00\x01"), sqltypes.VarBinaryOf(8)),
		sqltypes.VariantOf(sqltypes.TimeOf(5), sqltypes.Type{ID: sqltypes.Time, Scale: 3}),
		sqltypes.VariantOf(sqltypes.DecimalOf(true, 1, 2, 7), sqltypes.NumericOf(38, 7)),
	} {
		d := &decoder{b: appendValue(nil, v)}
		got := d.value()
		require.NoError(t, d.err)
		require.Equal(t, v, got)
	}
}

func TestCodec_TableDefsRoundTrip(t *testing.T) {
	collation, ok := sqltypes.LookupCollation("Latin1_General_BIN2")
	require.True(t, ok)
	def := TableDef{ID: 12, Name: "dbo.x", Indexes: []IndexDef{
		{ID: 1, Unique: true, Columns: []IndexColumn{{Ordinal: 3}, {Ordinal: 0, Desc: true}}},
		{ID: 7, FilterSource: "a is not null", Columns: []IndexColumn{{Ordinal: 1}}},
	}}
	for id := sqltypes.Unknown; id <= sqltypes.Geography; id++ {
		def.Columns = append(def.Columns, sqltypes.Simple(id))
	}
	def.Columns = append(def.Columns, sqltypes.NVarCharOf(sqltypes.Max).WithCollation(collation))
	d := &decoder{b: appendTableDef(nil, def)}
	require.Equal(t, def, d.tableDef())
	require.NoError(t, d.err)
	require.Empty(t, d.b)
}
