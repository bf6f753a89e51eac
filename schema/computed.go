package schema

import "slices"

// WithoutComputed returns the table without its computed columns, of which
// change tables hold NULL alone; the table itself if it has none. Keys have no
// computed columns.
// Source: MS docs, sys.sp_cdc_enable_table, "Remarks".
func (t *Table) WithoutComputed() *Table {
	if !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Computed }) {
		return t
	}
	out := *t
	out.Columns, out.Key = nil, nil
	at := make([]int, len(t.Columns)) // where a column went
	for i, c := range t.Columns {
		at[i] = len(out.Columns)
		if !c.Computed {
			out.Columns = append(out.Columns, c)
		}
	}
	for _, i := range t.Key {
		out.Key = append(out.Key, at[i])
	}
	return &out
}

// recorded returns the fields that a change has, of those that a row of a
// snapshot has: the same slice if it has all.
func recorded(fields []field) []field {
	if !slices.ContainsFunc(fields, func(f field) bool { return f.snapshotOnly }) {
		return fields
	}
	kept := slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return f.snapshotOnly })
	for i := range kept {
		kept[i].begin(i == 0)
	}
	return kept
}
