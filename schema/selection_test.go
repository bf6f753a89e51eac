package schema

import (
	"database/sql/driver"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// people is a table with a key and columns to hide.
func people() *Table {
	column := func(id int, name, system string, maxLength int, nullable bool) Column {
		return Column{ID: id, Ordinal: id, Name: name, Nullable: nullable, Type: TypeOf(CatalogueType{System: system, MaxLength: maxLength})}
	}
	return &Table{
		Database: "db", Schema: "dbo", Name: "people", Key: []int{0},
		Columns: []Column{
			column(1, "id", "int", 4, false),
			column(2, "name", "varchar", 20, true),
			column(3, "photo", "varbinary", 8000, true),
			column(4, "token", "uniqueidentifier", 16, true),
		},
	}
}

func selection(t *testing.T, opts SelectionOptions) *Selection {
	t.Helper()
	s, err := NewSelection(opts)
	require.NoError(t, err)
	return s
}

func columnsOf(t *Table) (names []string) {
	for _, c := range t.Columns {
		if c.KeyOnly {
			names = append(names, "("+c.Name+")")
			continue
		}
		names = append(names, c.Name)
	}
	return names
}

func keyOfTable(t *Table) (names []string) {
	for _, i := range t.Key {
		names = append(names, t.Columns[i].Name)
	}
	return names
}

func TestSelection_Columns(t *testing.T) {
	tests := []struct {
		name string
		opts SelectionOptions
		want []string
	}{
		{"all", SelectionOptions{}, []string{"id", "name", "photo", "token"}},
		{"exclude", SelectionOptions{ColumnExclude: []string{`dbo\.people\.(photo|token)`}}, []string{"id", "name"}},
		{"the database is no part of the name", SelectionOptions{ColumnExclude: []string{`db\.dbo\.people\.photo`}}, []string{"id", "name", "photo", "token"}},
		{"anchored", SelectionOptions{ColumnExclude: []string{`dbo\.people\.na`, `people\.name`}}, []string{"id", "name", "photo", "token"}},
		{"an excluded key column stays for the key", SelectionOptions{ColumnExclude: []string{`.*\.(id|photo)`}}, []string{"(id)", "name", "token"}},
		{"include", SelectionOptions{ColumnInclude: []string{`.*\.NAME`}}, []string{"(id)", "name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shaped, _ := selection(t, tt.opts).Shape(people())
			assert.Equal(t, tt.want, columnsOf(shaped))
			assert.Equal(t, []string{"id"}, keyOfTable(shaped))
			assert.Len(t, shaped.Captured(), 4)
		})
	}
}

func TestSelection_Keys(t *testing.T) {
	tests := []struct {
		name, keys string
		want       []string
	}{
		{"none", "", []string{"id"}},
		{"other table", "dbo.orders:id,name", []string{"id"}},
		{"in the order given", "dbo.people:token,name", []string{"token", "name"}},
		{"with the database", `other\..*:id ; db\.dbo\.(.*):name`, []string{"name"}},
		{"a pattern takes columns in table order", "dbo.people:(token|name)", []string{"name", "token"}},
		{"each column once", "dbo.people:name;db.dbo.people:NAME,id", []string{"name", "id"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			shaped, _ := selection(t, SelectionOptions{Keys: tt.keys}).Shape(people())
			assert.Equal(t, tt.want, keyOfTable(shaped))
			assert.Equal(t, []string{"id"}, shaped.OwnKey())
		})
	}
	for _, bad := range []string{"dbo.people", "dbo.people:", ":id", "dbo.people:id,,name", "dbo.(:id"} {
		_, err := NewSelection(SelectionOptions{Keys: bad})
		assert.ErrorContains(t, err, "message_key_columns", bad)
	}
}

func TestSelection_Rules(t *testing.T) {
	length := func(n int) *int { return &n }
	name := []string{`dbo\.people\.name`}
	guid := []byte{0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	row := []driver.Value{int64(7), "some_name", []byte("picture"), guid}
	tests := []struct {
		name   string
		rule   RuleOptions
		row    []driver.Value
		want   string
		params string
	}{
		{
			"asterisks",
			RuleOptions{Columns: name, MaskChars: length(3)},
			row,
			`{"id":7,"name":"***","photo":"cGljdHVyZQ==","token":"00112233-4455-6677-8899-AABBCCDDEEFF"}`, `{"masked":"true"}`,
		},
		{
			"asterisks for NULL",
			RuleOptions{Columns: name, MaskChars: length(3)},
			[]driver.Value{int64(7), nil, nil, nil},
			`{"id":7,"name":"***","photo":null,"token":null}`, `{"masked":"true"}`,
		},
		{
			"only texts are masked",
			RuleOptions{Columns: []string{`.*\.(id|photo|token)`}, MaskChars: length(1)},
			row,
			`{"id":7,"name":"some_name","photo":"cGljdHVyZQ==","token":"*"}`, `{"masked":"true"}`,
		},
		{
			// The first 20 digits: the column is varchar(20). Source: Debezium documentation of the property.
			"hash, version 1",
			RuleOptions{Columns: name, Hash: &HashOptions{"SHA-256", "CzQMA0cB5K", 1}},
			row,
			`{"id":7,"name":"3b225d0696535d66f2c0","photo":"cGljdHVyZQ==","token":"00112233-4455-6677-8899-AABBCCDDEEFF"}`, `{"masked":"true"}`,
		},
		{
			"hash, version 2",
			RuleOptions{Columns: name, Hash: &HashOptions{"sha-256", "CzQMA0cB5K", 2}},
			row,
			`{"id":7,"name":"c694718f0d951ba89c41","photo":"cGljdHVyZQ==","token":"00112233-4455-6677-8899-AABBCCDDEEFF"}`, `{"masked":"true"}`,
		},
		{
			"truncated",
			RuleOptions{Columns: []string{`.*`}, Truncate: length(4)},
			row,
			`{"id":7,"name":"some","photo":"cGljdA==","token":"0011"}`, `{"truncateLength":"4"}`,
		},
		{
			"not truncated: the column is no longer",
			RuleOptions{Columns: name, Truncate: length(20)},
			row,
			`{"id":7,"name":"some_name","photo":"cGljdHVyZQ==","token":"00112233-4455-6677-8899-AABBCCDDEEFF"}`, ``,
		},
		{
			"a pair cut in two",
			RuleOptions{Columns: name, Truncate: length(2)},
			[]driver.Value{int64(7), "a\U0001F600b", nil, nil},
			`{"id":7,"name":"a\uD83D","photo":null,"token":null}`, `{"truncateLength":"2"}`,
		},
		{
			"type of a column",
			RuleOptions{Columns: name, Propagate: true},
			row,
			`{"id":7,"name":"some_name","photo":"cGljdHVyZQ==","token":"00112233-4455-6677-8899-AABBCCDDEEFF"}`,
			`{"__debezium.source.column.type":"VARCHAR","__debezium.source.column.length":"20","__debezium.source.column.name":"name"}`,
		},
		{
			"type by its name",
			RuleOptions{Columns: []string{`db\.dbo\.people\.VARCHAR`}, PropagateType: true},
			row,
			`{"id":7,"name":"some_name","photo":"cGljdHVyZQ==","token":"00112233-4455-6677-8899-AABBCCDDEEFF"}`,
			`{"__debezium.source.column.type":"VARCHAR","__debezium.source.column.length":"20","__debezium.source.column.name":"name"}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.rule.Field = "rule"
			s := selection(t, SelectionOptions{Rules: []RuleOptions{tt.rule}})
			shaped, _ := s.Shape(people())
			p, err := Compile(shaped, DefaultModes())
			require.NoError(t, err)
			got, err := p.AppendRow(nil, tt.row, RowImage{})
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(got))
			structured, err := p.StructuredRow(tt.row, RowImage{})
			require.NoError(t, err)
			requireSame(t, got, structured)
			key, err := p.AppendKey(nil, tt.row)
			require.NoError(t, err)
			assert.Equal(t, `{"id":7}`, string(key), "keys stay real")

			row := p.RowSchema("x")
			text := string(row.Append(nil))
			assert.Equal(t, tt.params != "", strings.Contains(text, `"parameters"`), text)
			assert.Contains(t, text, tt.params)
			assert.Empty(t, s.UnmatchedColumns())
		})
	}
}

func TestSelection_FirstRuleCounts(t *testing.T) {
	three, one := 3, 1
	s := selection(t, SelectionOptions{Rules: []RuleOptions{
		{Field: "a", Columns: []string{`.*\.name`}, Truncate: &three},
		{Field: "b", Columns: []string{`.*\.name`, `.*\.nome`}, MaskChars: &one},
		{Field: "c", Columns: []string{`.*\.(name|token)`, `dbo\.people\.token`}, MaskChars: &one},
	}})
	shaped, _ := s.Shape(people())
	p, err := Compile(shaped, DefaultModes())
	require.NoError(t, err)
	got, err := p.AppendRow(nil, []driver.Value{int64(1), "abcdef", nil, nil}, RowImage{})
	require.NoError(t, err)
	assert.Contains(t, string(got), `"name":"abc"`)
	assert.Equal(t, []string{`b: .*\.nome`}, s.UnmatchedColumns(), "a rule that is overruled matches")
	assert.Equal(t, []string{`b: .*\.name`}, s.OverruledColumns(), "a rule that counts for some columns is not")
}

// A key column that none of its tables has is told from a table that is not
// there, and from one that only some of the tables have.
func TestSelection_UnknownKeyColumns(t *testing.T) {
	s := selection(t, SelectionOptions{Keys: `dbo.people:id,nme;dbo.orders:id;dbo\.(.*):Name,db;db\.dbo\.people:TOKEN;dbo.p.*:nme`})
	_, _ = s.Shape(people())
	assert.Equal(t, []string{"message_key_columns: dbo.people:nme", `message_key_columns: dbo\.(.*):db`, "message_key_columns: dbo.p.*:nme"}, s.UnknownKeyColumns())
	other := people()
	other.Name, other.Columns[1].Name = "pets", "nme"
	_, _ = s.Shape(other)
	assert.Equal(t, []string{"message_key_columns: dbo.people:nme", `message_key_columns: dbo\.(.*):db`}, s.UnknownKeyColumns())
}

func TestSelection_MaskedKey(t *testing.T) {
	two := 2
	opts := SelectionOptions{Keys: "dbo.people:name", Rules: []RuleOptions{{Field: "column_mask_with_chars", Columns: []string{`.*\.name`}, MaskChars: &two}}}
	for _, maskKeys := range []bool{false, true} {
		opts.MaskKeys = maskKeys
		shaped, notes := selection(t, opts).Shape(people())
		p, err := Compile(shaped, DefaultModes())
		require.NoError(t, err)
		key, err := p.AppendKey(nil, []driver.Value{int64(1), "Ann", nil, nil})
		require.NoError(t, err)
		if maskKeys {
			assert.Equal(t, `{"name":"**"}`, string(key))
			assert.Empty(t, notes)
			continue
		}
		assert.Equal(t, `{"name":"Ann"}`, string(key))
		require.Len(t, notes, 1)
		assert.Contains(t, notes[0], "column_mask_keys")
	}
}

func TestNewSelection_Errors(t *testing.T) {
	minus := -1
	for name, tt := range map[string]struct {
		opts SelectionOptions
		want string
	}{
		"both column lists": {SelectionOptions{ColumnInclude: []string{"a"}, ColumnExclude: []string{"b"}}, "column_include_list"},
		"no columns":        {SelectionOptions{Rules: []RuleOptions{{Field: "f", MaskChars: new(int)}}}, "f: names no columns"},
		"negative length":   {SelectionOptions{Rules: []RuleOptions{{Field: "f", Columns: []string{"a"}, Truncate: &minus}}}, "f: length -1"},
		"algorithm":         {SelectionOptions{Rules: []RuleOptions{{Field: "f", Columns: []string{"a"}, Hash: &HashOptions{"MD2", "", 1}}}}, `f: unknown algorithm "MD2"; use MD5`},
		"version":           {SelectionOptions{Rules: []RuleOptions{{Field: "f", Columns: []string{"a"}, Hash: &HashOptions{"MD5", "", 3}}}}, "unknown version 3"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewSelection(tt.opts)
			assert.ErrorContains(t, err, tt.want)
		})
	}
}

func TestFilter_SchemasAndBuiltin(t *testing.T) {
	f, err := NewFilter(FilterOptions{SchemaInclude: []string{"sales|cdc"}, TableExclude: []string{`sales\.tmp`}})
	require.NoError(t, err)
	assert.True(t, f.Match("Sales", "orders"))
	assert.False(t, f.Match("sales", "tmp"))
	assert.False(t, f.Match("sales2", "orders"))
	assert.False(t, f.Match("cdc", "ddl_history"))
	assert.False(t, f.Match("sales", "systranschemas"))
	f, err = NewFilter(FilterOptions{Builtin: true})
	require.NoError(t, err)
	assert.True(t, f.Match("cdc", "ddl_history"))
}

func TestNameAdjustment(t *testing.T) {
	for _, tt := range []struct{ name, avro, unicode string }{
		{"plain", "plain", "plain"},
		{"with_underscore", "with_underscore", "with_u005funderscore"},
		{"1st", "_1st", "_u0031st"},
		{"a b", "a_b", "a_u0020b"},
		{"č", "_", "_u10d"},
		{"\U0001F600", "__", "_ud83d_ude00"},
		{"a.b", "a_b", "a_u002eb"},
	} {
		assert.Equal(t, tt.name, NamesUnchanged.field(tt.name))
		assert.Equal(t, tt.avro, NamesAvro.field(tt.name), tt.name)
		assert.Equal(t, tt.unicode, NamesAvroUnicode.field(tt.name), tt.name)
	}
	assert.Equal(t, "server1.dbo.a_b.Key", NamesAvro.Schema("server1.dbo.a-b.Key"))
}

func TestCompile_AdjustedNames(t *testing.T) {
	table := people()
	table.Columns[1].Name, table.Columns[2].Name = "a b", "a-b"
	modes := DefaultModes()
	modes.FieldNames = NamesAvro
	_, err := Compile(table, modes)
	assert.ErrorContains(t, err, `columns "a b" and "a-b" are both called "a_b"`)
	modes.FieldNames = NamesAvroUnicode
	p, err := Compile(table, modes)
	require.NoError(t, err)
	got, err := p.AppendRow(nil, []driver.Value{int64(1), "x", nil, nil}, RowImage{})
	require.NoError(t, err)
	assert.Equal(t, `{"id":1,"a_u0020b":"x","a_u002db":null,"token":null}`, string(got))
}

func TestCompile_Defaults(t *testing.T) {
	table := people()
	table.Columns[1].DefaultValue = "unknown"
	p, err := Compile(table, DefaultModes())
	require.NoError(t, err)
	got, err := p.AppendRow(nil, []driver.Value{int64(1), nil, nil, nil}, RowImage{})
	require.NoError(t, err)
	assert.Equal(t, `{"id":1,"name":"unknown","photo":null,"token":null}`, string(got))
	row := p.RowSchema("x")
	assert.Contains(t, string(row.Append(nil)), `{"type":"string","optional":true,"default":"unknown","field":"name"}`)
}

func TestSelection_UnmatchedColumnLists(t *testing.T) {
	s := selection(t, SelectionOptions{ColumnExclude: []string{`dbo\.people\.photo`, `dbo\.people\.ph.*`, `dbo\.people\.tokn`}})
	_, _ = s.Shape(people())
	assert.Equal(t, []string{`column_exclude_list: dbo\.people\.tokn`}, s.UnmatchedColumns())
}
