package schema

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
// unique index, clustered first and then by name. A key is whole or none: an
// index with a column that is computed, not among columns (not captured) or
// without a form in events is passed over, and so is a unique index with a
// nullable column, a filtered and a disabled one.
func ChooseKey(columns []Column, indexes []Index) KeyChoice { panic("unwritten") }
