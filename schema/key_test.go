package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestChooseKey(t *testing.T) {
	columns := []Column{
		{Name: "a", Type: intType, ID: 1},
		{Name: "b", Type: intType, ID: 2, Nullable: true},
		{Name: "c", Type: intType, ID: 3, Computed: true},
		{Name: "d", Type: charType, ID: 5},
		{Name: "e", Type: Type{Kind: SQLVariant, Name: "sql_variant"}, ID: 6},
	}
	primary := func(ids ...int) Index { return Index{Name: "pk", Primary: true, Unique: true, Columns: ids} }
	unique := func(name string, ids ...int) Index { return Index{Name: name, Unique: true, Columns: ids} }
	with := func(x Index, f func(*Index)) Index { f(&x); return x }

	tests := []struct {
		name     string
		indexes  []Index
		want     []int
		index    string
		rejected []RejectedIndex
	}{
		{name: "nothing"},
		{name: "plain indexes are no keys", indexes: []Index{{Name: "ix", Columns: []int{1}}}},
		{name: "primary key in key order", indexes: []Index{unique("a_first", 1), primary(5, 1)}, want: []int{3, 0}, index: "pk"},
		{name: "clustered first", indexes: []Index{unique("u1", 1), with(unique("u2", 5), func(x *Index) { x.Clustered = true })}, want: []int{3}, index: "u2"},
		{name: "then by name", indexes: []Index{unique("u2", 1), unique("u1", 5)}, want: []int{3}, index: "u1"},
		{
			name: "nullable unique index", indexes: []Index{unique("u1", 1, 2), unique("u2", 1)}, want: []int{0}, index: "u2",
			rejected: []RejectedIndex{{"u1", `its column "b" is nullable`}},
		},
		{
			name: "computed primary key column", indexes: []Index{primary(1, 3), unique("u", 5)}, want: []int{3}, index: "u",
			rejected: []RejectedIndex{{"pk", `its column "c" is computed`}},
		},
		{
			name: "key column not captured", indexes: []Index{primary(1, 4)},
			rejected: []RejectedIndex{{"pk", "its column 4 is not captured"}},
		},
		{
			name: "filtered, disabled, without a form, empty",
			indexes: []Index{
				with(unique("u1", 1), func(x *Index) { x.Filtered = true }),
				with(unique("u2", 1), func(x *Index) { x.Disabled = true }),
				unique("u3", 6), unique("u4"),
			},
			rejected: []RejectedIndex{
				{"u1", "it has a filter"},
				{"u2", "it is disabled"},
				{"u3", `its column "e" has no form in events: sql_variant has no type of its own`},
				{"u4", "it has no columns"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ChooseKey(columns, tt.indexes)
			assert.Equal(t, KeyChoice{Columns: tt.want, Index: tt.index, Rejected: tt.rejected}, got)
		})
	}
}
