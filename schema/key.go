package schema

import (
	"cmp"
	"fmt"
	"slices"
)

// Index is a candidate for a table's key: the primary key or a unique index.
type Index struct {
	Name      string
	Primary   bool
	Unique    bool
	Clustered bool
	// Filtered indexes (has_filter) and disabled ones are never keys.
	Filtered bool
	Disabled bool
	// Columns are the ids (column_id) of the key columns in key order, without
	// included columns.
	Columns []int
}

// KeyChoice is what [ChooseKey] decided.
type KeyChoice struct {
	// Columns are indexes into the columns given; nil for no key.
	Columns []int
	// Index is the name of the index chosen.
	Index string
	// Rejected says why an index that would have come earlier is no key: worth
	// one warning, since the table's keys are then not what one expects.
	Rejected []RejectedIndex
}

// RejectedIndex is an index passed over as a key.
type RejectedIndex struct{ Name, Reason string }

// ChooseKey decides a table's key: the primary key, else the first usable
// unique index, clustered first and then by name, which is the order of
// sp_statistics that Debezium relies on. A key is whole or none: an index with
// a column that is computed, not among columns (not captured) or without a
// form in events is passed over, and so is a unique index with a nullable
// column, a filtered and a disabled one. Indexes that are neither primary nor
// unique are ignored.
func ChooseKey(columns []Column, indexes []Index) KeyChoice {
	candidates := slices.DeleteFunc(slices.Clone(indexes), func(x Index) bool { return !x.Primary && !x.Unique })
	slices.SortStableFunc(candidates, func(a, b Index) int {
		return cmp.Or(
			first(a.Primary, b.Primary),
			first(a.Clustered, b.Clustered),
			cmp.Compare(a.Name, b.Name),
		)
	})
	var choice KeyChoice
	for _, x := range candidates {
		key, reason := keyOf(columns, x)
		if reason == "" {
			choice.Columns, choice.Index = key, x.Name
			return choice
		}
		choice.Rejected = append(choice.Rejected, RejectedIndex{x.Name, reason})
	}
	return choice
}

// first orders true before false.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// keyOf resolves an index's columns, or says why it is no key.
func keyOf(columns []Column, x Index) (key []int, reason string) {
	switch {
	case x.Filtered:
		return nil, "it has a filter"
	case x.Disabled:
		return nil, "it is disabled"
	case len(x.Columns) == 0:
		return nil, "it has no columns"
	}
	for _, id := range x.Columns {
		i := slices.IndexFunc(columns, func(c Column) bool { return c.ID == id })
		if i < 0 {
			return nil, fmt.Sprintf("its column %d is not captured", id)
		}
		c := columns[i]
		unsupported := c.Type.WithoutForm()
		switch {
		case c.Computed:
			return nil, fmt.Sprintf("its column %q is computed", c.Name)
		case c.Nullable && !x.Primary:
			return nil, fmt.Sprintf("its column %q is nullable", c.Name)
		case unsupported != "":
			return nil, fmt.Sprintf("its column %q has no form in events: %s", c.Name, unsupported)
		}
		key = append(key, i)
	}
	return key, ""
}
