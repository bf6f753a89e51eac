package schema

import (
	"database/sql/driver"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func computedTable() *Table {
	column := func(id int, name string, kind Kind, computed bool) Column {
		return Column{ID: id, Ordinal: id, Name: name, Type: Type{Kind: kind, Name: "t"}, Computed: computed}
	}
	return &Table{Database: "db", Schema: "dbo", Name: "t", Key: []int{1}, Columns: []Column{
		column(1, "first", Int, true), column(2, "id", Int, false), column(3, "middle", VarChar, true), column(4, "v", Int, false), column(5, "last", BigInt, true),
	}}
}

func TestTable_WithoutComputed(t *testing.T) {
	table := computedTable()
	plain := table.WithoutComputed()
	assert.Equal(t, []string{"id", "v"}, columnNamesOf(plain))
	assert.Equal(t, []int{0}, plain.Key)
	assert.Len(t, table.Columns, 5, "the table given is not changed")
	assert.Same(t, plain, plain.WithoutComputed())
}

func columnNamesOf(t *Table) []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

func TestSelection_ComputedColumns(t *testing.T) {
	for _, test := range []struct {
		name string
		opts SelectionOptions
		want []string
		key  []string
	}{
		{"omitted", SelectionOptions{}, []string{"id", "v"}, []string{"id"}},
		{"kept", SelectionOptions{Computed: true}, []string{"first", "id", "middle", "v", "last"}, []string{"id"}},
		{"never in a key", SelectionOptions{Computed: true, Keys: "dbo.t:first,v"}, []string{"first", "id", "middle", "v", "last"}, []string{"v"}},
		{"some excluded", SelectionOptions{Computed: true, ColumnExclude: []string{"dbo.t.(first|last|v)"}}, []string{"id", "middle"}, []string{"id"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := NewSelection(test.opts)
			require.NoError(t, err)
			shaped, _ := s.Shape(computedTable())
			assert.Equal(t, test.want, columnNamesOf(shaped))
			var key []string
			for _, i := range shaped.Key {
				key = append(key, shaped.Columns[i].Name)
			}
			assert.Equal(t, test.key, key)
			for _, c := range shaped.Columns {
				assert.Equal(t, c.Computed, c.SnapshotOnly, c.Name)
			}
		})
	}
}

// Computed columns are in rows of snapshots, in no change and, optional, in the
// schema of both.
func TestPlan_ComputedColumns(t *testing.T) {
	s, err := NewSelection(SelectionOptions{Computed: true})
	require.NoError(t, err)
	shaped, _ := s.Shape(computedTable())
	p, err := Compile(shaped, DefaultModes())
	require.NoError(t, err)
	assert.Empty(t, p.Omitted())
	for _, test := range []struct {
		name string
		role Role
		row  []driver.Value
		want string
	}{
		{"snapshot", Snapshot, []driver.Value{int64(3), int64(1), "one", int64(2), int64(5)}, `{"first":3,"id":1,"middle":"one","v":2,"last":5}`},
		{"snapshot of NULL", Snapshot, []driver.Value{nil, int64(1), nil, int64(2), nil}, `{"first":null,"id":1,"middle":null,"v":2,"last":null}`},
		{"insert", Inserted, []driver.Value{nil, int64(1), nil, int64(2), nil}, `{"id":1,"v":2}`},
		{"delete", Deleted, []driver.Value{nil, int64(1), nil, int64(2), nil}, `{"id":1,"v":2}`},
		{"before", Before, []driver.Value{nil, int64(1), nil, int64(2), nil}, `{"id":1,"v":2}`},
		{"after", After, []driver.Value{nil, int64(1), nil, int64(2), nil}, `{"id":1,"v":2}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := p.AppendRow(nil, test.row, RowImage{Role: test.role})
			require.NoError(t, err)
			assert.Equal(t, test.want, string(got))
			structured, err := p.StructuredRow(test.row, RowImage{Role: test.role})
			require.NoError(t, err)
			text, err := json.Marshal(structured)
			require.NoError(t, err)
			assert.JSONEq(t, test.want, string(text))
		})
	}
	for i, f := range p.RowSchema("row").Fields {
		assert.Equal(t, shaped.Columns[i].Name, f.Name)
		assert.Equal(t, shaped.Columns[i].Computed, f.Schema.Optional, f.Name)
		assert.Equal(t, shaped.Columns[i].Computed, p.Common().Children[i].Optional, f.Name)
	}

	p.Relax("v")
	got, err := p.AppendRow(nil, []driver.Value{nil, int64(1), nil, nil, nil}, RowImage{Role: Inserted})
	require.NoError(t, err)
	assert.Equal(t, `{"id":1,"v":null}`, string(got), "a field that became optional is so in changes too")
}

// A table of computed columns alone has changes without fields.
func TestPlan_OnlyComputedColumns(t *testing.T) {
	table := &Table{Columns: []Column{{Name: "a", Type: Type{Kind: Int}, Computed: true, SnapshotOnly: true}}}
	p, err := Compile(table, DefaultModes())
	require.NoError(t, err)
	got, err := p.AppendRow(nil, []driver.Value{nil}, RowImage{Role: Inserted})
	require.NoError(t, err)
	assert.Equal(t, "{}", string(got))
}
