package sqlserver

import (
	"database/sql/driver"
	"math"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{
		"plain": "[plain]", "a.b": "[a.b]", "O'Hara": "[O'Hara]", "注文": "[注文]", "[x]": "[[x]]]",
		"UAT WAG CZ$Fixed Asset ['1']]": "[UAT WAG CZ$Fixed Asset ['1']]]]]",
	} {
		assert.Equal(t, want, Quote(name))
	}
}

func column(id int, name string, kind schema.Kind, typ schema.Type) schema.Column {
	typ.Kind = kind
	return schema.Column{ID: id, Name: name, Type: typ, Collation: "Latin1_General_CI_AS"}
}

func TestTableReader_Statements(t *testing.T) {
	columns := []schema.Column{
		column(1, "a", schema.Int, schema.Type{}),
		column(2, "b]", schema.VarChar, schema.Type{Length: 20}),
		column(3, "c", schema.DateTime, schema.Type{}),
		column(4, "uncaptured", schema.UniqueIdentifier, schema.Type{}),
	}
	shape := &schema.Table{Columns: []schema.Column{columns[0], columns[1], column(9, "dropped", schema.Decimal, schema.Type{Precision: 9, Scale: 2}), columns[2]}}
	table := func(key ...KeyColumn) *Table {
		return &Table{Source: &schema.Table{Schema: "s.1", Name: "t", Columns: columns}, PageKey: key}
	}
	key := func(i int, desc bool) KeyColumn {
		c := columns[i]
		return KeyColumn{Name: c.Name, ID: c.ID, Type: c.Type, Collation: c.Collation, Descending: desc}
	}
	list := "[a], [b]]], CONVERT(decimal(9, 2), NULL), [c]"

	t.Run("no key", func(t *testing.T) {
		r := NewTableReader(table(), shape)
		assert.False(t, r.Paged())
		assert.Equal(t, "SELECT "+list+" FROM [s.1].[t]", r.scan)
	})
	t.Run("one column", func(t *testing.T) {
		r := NewTableReader(table(key(0, false)), shape)
		assert.Equal(t, "SELECT TOP (@p1) "+list+" FROM [s.1].[t] ORDER BY [a]", r.first)
		assert.Equal(t, "SELECT TOP (@p1) "+list+" FROM [s.1].[t] WHERE [a] > CONVERT(int, @p2) ORDER BY [a];", r.next)
	})
	t.Run("three columns, one descending, one not captured", func(t *testing.T) {
		r := NewTableReader(table(key(1, false), key(2, true), key(3, false)), shape)
		b := "CONVERT(varchar(20), CONVERT(nvarchar(4000), CONVERT(varbinary(8000), @p2, 1)) COLLATE Latin1_General_CI_AS)"
		c := "CONVERT(datetime, @p3, 126)"
		u := "CONVERT(uniqueidentifier, CONVERT(binary(16), @p4, 1))"
		from := list + ", CONVERT(varbinary(8000), CONVERT(nvarchar(4000), [b]]])), [uncaptured] FROM [s.1].[t] WHERE "
		order := " ORDER BY [b]]], [c] DESC, [uncaptured];"
		assert.Equal(t, "DECLARE @r bigint = 0; "+
			"SELECT TOP (@p1) "+from+"[b]]] = "+b+" AND [c] = "+c+" AND [uncaptured] > "+u+order+" SET @r = CASE @@ERROR WHEN 0 THEN @r + @@ROWCOUNT ELSE @p1 END;"+
			" IF @r < @p1 BEGIN SELECT TOP (@p1 - @r) "+from+"[b]]] = "+b+" AND [c] < "+c+order+" SET @r = CASE @@ERROR WHEN 0 THEN @r + @@ROWCOUNT ELSE @p1 END; END;"+
			" IF @r < @p1 BEGIN SELECT TOP (@p1 - @r) "+from+"[b]]] > "+b+order+" SET @r = CASE @@ERROR WHEN 0 THEN @r + @@ROWCOUNT ELSE @p1 END; END;", r.next)
		assert.Equal(t, []int{4, 3, 5}, r.keyAt)
		assert.Equal(t, 6, r.columns)
	})
}

func TestChangeReader_Statements(t *testing.T) {
	ci := &CaptureInstance{ChangeTable: "my inst]_CT", HasCommand: true, Shape: &schema.Table{Columns: []schema.Column{{Name: "a"}, {Name: "x]y"}}}}
	withCommand := NewChangeReader(ci, true, nil)
	assert.Equal(t, "SELECT TOP (@p1) [__$start_lsn], [__$seqval], [__$operation], [__$update_mask], [__$command_id], [a], [x]]y]"+
		" FROM [cdc].[my inst]]_CT] WHERE [__$start_lsn] >= @p2 AND [__$start_lsn] <= @p6"+
		" ORDER BY [__$start_lsn], [__$command_id], [__$seqval], [__$operation]; SELECT start_lsn FROM cdc.change_tables WHERE object_id = @p7;", withCommand.first)
	without := NewChangeReader(ci, false, nil)
	for _, text := range []string{without.first, without.next} {
		assert.NotContains(t, text, "command_id")
	}
	assert.Contains(t, without.next, "[__$seqval] >= @p4 AND ([__$seqval] > @p4 OR [__$operation] > @p5)")
}

func TestFunctionReader_Statements(t *testing.T) {
	ci := &CaptureInstance{Name: "my inst]", HasCommand: true, Shape: &schema.Table{Columns: []schema.Column{{Name: "a"}}}}
	r := NewFunctionReader(ci, []int{1})
	assert.Equal(t, "SELECT TOP (@p1) [__$start_lsn], [__$seqval], [__$operation], [__$update_mask], @p3, [a]"+
		" FROM [cdc].[fn_cdc_get_all_changes_my inst]]](@p2, @p6, N'all update old')"+
		" WHERE [__$operation] NOT IN (1) AND [__$start_lsn] >= @p2 AND [__$start_lsn] <= @p6"+
		" ORDER BY [__$start_lsn], [__$seqval], [__$operation]; SELECT start_lsn FROM cdc.change_tables WHERE object_id = @p7;", r.first)
	assert.Equal(t, 1, strings.Count(r.next, "(@p2, @p2, N'all update old')"), "the rest of the transaction")
	assert.Equal(t, 1, strings.Count(r.next, "(@p2, @p6, N'all update old')"), "what comes after it")
	require.ErrorIs(t, r.decode(make([]driver.Value, 6), &ChangeRow{}), errNoAccess)
}

func TestKeyColumn_TextRoundTrip(t *testing.T) {
	key := func(kind schema.Kind, typ schema.Type) KeyColumn {
		typ.Kind = kind
		return KeyColumn{Name: "k", Type: typ, Collation: "Latin1_General_CI_AS"}
	}
	when := time.Date(9999, 12, 31, 23, 59, 59, 999999900, time.UTC)
	for _, test := range []struct {
		key     KeyColumn
		value   any
		text    string
		operand string
	}{
		{key(schema.Bit, schema.Type{}), true, "1", "CONVERT(bit, @p2)"},
		{key(schema.Bit, schema.Type{}), false, "0", "CONVERT(bit, @p2)"},
		{key(schema.BigInt, schema.Type{}), int64(math.MinInt64), "-9223372036854775808", "CONVERT(bigint, @p2)"},
		{key(schema.Decimal, schema.Type{Precision: 10, Scale: 3}), []byte("-0.005"), "-0.005", "CONVERT(decimal(10, 3), @p2)"},
		{key(schema.Money, schema.Type{Precision: 19, Scale: 4}), []byte("922337203685477.5807"), "922337203685477.5807", "CONVERT(money, @p2)"},
		{key(schema.Date, schema.Type{}), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), "0001-01-01", "CONVERT(date, @p2)"},
		{key(schema.Time, schema.Type{Scale: 7}), time.Date(1, 1, 1, 23, 59, 59, 999999900, time.UTC), "23:59:59.9999999", "CONVERT(time(7), @p2)"},
		{key(schema.DateTime, schema.Type{}), time.Date(2024, 5, 6, 7, 8, 9, 3000000, time.UTC), "2024-05-06T07:08:09.003", "CONVERT(datetime, @p2, 126)"},
		{key(schema.SmallDateTime, schema.Type{}), time.Date(2024, 5, 6, 7, 8, 0, 0, time.UTC), "2024-05-06T07:08:00", "CONVERT(smalldatetime, @p2, 126)"},
		{key(schema.DateTime2, schema.Type{Scale: 7}), when, "9999-12-31T23:59:59.9999999", "CONVERT(datetime2(7), @p2)"},
		{key(schema.DateTimeOffset, schema.Type{Scale: 7}), when.In(time.FixedZone("", -14*3600)), "9999-12-31T09:59:59.9999999-14:00", "CONVERT(datetimeoffset(7), @p2)"},
		{key(schema.UniqueIdentifier, schema.Type{}), []byte{0: 1, 15: 255}, "0x010000000000000000000000000000ff", "CONVERT(uniqueidentifier, CONVERT(binary(16), @p2, 1))"},
		{key(schema.VarBinary, schema.Type{Length: 20}), []byte{}, "0x", "CONVERT(varbinary(20), @p2, 1)"},
		{key(schema.RowVersion, schema.Type{Length: 8}), []byte{7: 9}, "0x0000000000000009", "CONVERT(binary(8), @p2, 1)"},
		{key(schema.NChar, schema.Type{Length: 3}), []byte{0x00, 0xd8, 'a', 0}, "0x00d86100", "CONVERT(nchar(3), CONVERT(varbinary(8000), @p2, 1)) COLLATE Latin1_General_CI_AS"},
	} {
		t.Run(test.key.Type.Name+test.text, func(t *testing.T) {
			require.True(t, test.key.carriable())
			text, err := test.key.encode(test.value)
			require.NoError(t, err)
			assert.Equal(t, test.text, text)
			assert.Equal(t, test.operand, test.key.operand("@p2"))
			arg, err := test.key.argument(text)
			require.NoError(t, err)
			assert.Equal(t, mssql.NVarCharMax(test.text), arg)
		})
	}
	t.Run("float", func(t *testing.T) {
		for _, f := range []float64{0.1, math.MaxFloat64, math.SmallestNonzeroFloat64, -1e-7, float64(float32(0.1))} {
			text, err := key(schema.Float, schema.Type{}).encode(f)
			require.NoError(t, err)
			arg, err := key(schema.Float, schema.Type{}).argument(text)
			require.NoError(t, err)
			assert.Equal(t, f, arg)
		}
		text, err := key(schema.Real, schema.Type{}).encode(float32(0.1))
		require.NoError(t, err)
		assert.Equal(t, "0.10000000149011612", text, "the column's own value, not the shortest real")
		_, err = key(schema.Real, schema.Type{}).argument("damaged")
		require.Error(t, err)
	})
	t.Run("unexpected value", func(t *testing.T) {
		_, err := key(schema.Int, schema.Type{}).encode("text")
		require.ErrorContains(t, err, `"k"`)
		_, err = key(schema.Int, schema.Type{}).encode(nil)
		require.Error(t, err)
	})
	t.Run("not for paging", func(t *testing.T) {
		for _, k := range []KeyColumn{
			key(schema.SQLVariant, schema.Type{}), key(schema.HierarchyID, schema.Type{}), key(schema.VarChar, schema.Type{Length: schema.Max}),
			{Type: schema.Type{Kind: schema.VarChar, Length: 20}, Collation: "x; DROP TABLE t"},
		} {
			assert.False(t, k.carriable())
		}
	})
}

func TestPageKey(t *testing.T) {
	columns := []schema.Column{
		column(1, "a", schema.Int, schema.Type{}), column(2, "b", schema.Int, schema.Type{}), column(3, "v", schema.SQLVariant, schema.Type{}),
		column(4, "n", schema.Int, schema.Type{}),
	}
	columns[3].Nullable = true
	ix := func(name string, primary, clustered bool, ids ...int) index {
		return index{Index: schema.Index{Name: name, Primary: primary, Unique: true, Clustered: clustered, Columns: ids}, descending: make([]bool, len(ids))}
	}
	filtered := ix("a_filtered", false, false, 1)
	filtered.Filtered = true
	disabled := ix("a_disabled", false, false, 1)
	disabled.Disabled = true
	for _, test := range []struct {
		name    string
		indexes []index
		want    string
	}{
		{"none", nil, ""},
		{"primary key first", []index{ix("a", false, true, 2), ix("z", true, false, 1)}, "[a] int"},
		{"then clustered", []index{ix("a", false, false, 2), ix("z", false, true, 1, 2)}, "[a] int, [b] int"},
		{"then by name", []index{ix("z", false, false, 1), ix("a", false, false, 2)}, "[b] int"},
		{"covers every row", []index{filtered, disabled, ix("z", false, false, 2)}, "[b] int"},
		{"no NULL", []index{ix("a", false, false, 4), ix("z", false, false, 2)}, "[b] int"},
		{"comparable", []index{ix("pk", true, true, 3)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, KeyDefinition(pageKey(columns, test.indexes)))
		})
	}
}

func TestCatalogueStatements_HaveFiftyParameters(t *testing.T) {
	for _, text := range []string{columnsStatement, indexesStatement, capturedColumnsStatement} {
		assert.Equal(t, idsPerQuery, strings.Count(text, "@p"))
	}
}
