package sqlserver

import (
	"cmp"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// pageKey chooses the index that orders a table for reading in pages: the
// primary key, else a unique index, clustered before others and then by name.
// It must cover every row once, so filtered and disabled indexes are out, and
// so are nullable columns, which no simple comparison passes over.
func pageKey(columns []schema.Column, indexes []index) []KeyColumn {
	usable := slices.Clone(indexes)
	slices.SortStableFunc(usable, func(a, b index) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.Name, b.Name))
	})
	for _, ix := range usable {
		if key, ok := keyColumns(columns, ix); ok {
			return key
		}
	}
	return nil
}

// rank orders candidates: primary key, clustered, others.
func rank(ix index) int {
	switch {
	case ix.Primary:
		return 0
	case ix.Clustered:
		return 1
	default:
		return 2
	}
}

func keyColumns(columns []schema.Column, ix index) ([]KeyColumn, bool) {
	if ix.Filtered || ix.Disabled {
		return nil, false
	}
	var key []KeyColumn
	for i, id := range ix.Columns {
		at := slices.IndexFunc(columns, func(col schema.Column) bool { return col.ID == id })
		if at < 0 || columns[at].Nullable {
			return nil, false
		}
		col := KeyColumn{
			Name: columns[at].Name, ID: id, Type: columns[at].Type,
			Collation: columns[at].Collation, Descending: ix.descending[i],
		}
		if !col.carriable() {
			return nil, false
		}
		key = append(key, col)
	}
	return key, len(key) > 0
}
