package storage

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"

// Row holds one value per column of its table. It is immutable once stored: readers,
// indexes and the log share it.
type Row []sqltypes.Value

// RowID identifies a row of a table for as long as the row lives; updates keep it.
// RowIDs grow with every insert, are never used twice, and survive a restart.
type RowID uint64

// BaseIndex is the index that every table has: its clustered index if it has one,
// else the heap in the order of RowIDs.
const BaseIndex = 0

// ClusteredIndex is the ID of a clustered index, as in sys.indexes.index_id.
const ClusteredIndex = 1

// TableDef is the physical shape of a table. Names live in the engine's catalogue.
type TableDef struct {
	// ID is the object id. It must be positive.
	ID int64
	// Name is for error texts only: "dbo.orders".
	Name string
	// Columns are the types of a row's values, in order.
	Columns []sqltypes.Type
	// Indexes have distinct IDs.
	Indexes []IndexDef
}

// IndexDef is one index of a table.
type IndexDef struct {
	// ID is 1 ([ClusteredIndex]) for the clustered index, 2 and up for others.
	ID int
	// Columns of the key, most significant first. Rows of equal keys are ordered by
	// RowID.
	Columns []IndexColumn
	// Unique forbids two rows of equal keys; as on the server, NULL equals NULL.
	Unique bool
	// Filter selects the rows of a filtered index; nil takes all. It must be pure.
	Filter func(Row) bool
	// FilterSource is stored in Filter's place, so that [Database.ResolveFilters] can
	// compile it again after a restart. It is set exactly when Filter is.
	FilterSource string
}

// IndexColumn is one column of an index key.
type IndexColumn struct {
	// Ordinal is the column's place in the row, from 0.
	Ordinal int
	Desc    bool
}
