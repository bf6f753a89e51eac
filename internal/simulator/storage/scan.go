package storage

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"

// Range selects index entries by prefixes of the key, in the order of the index's
// columns; a bound's values may be fewer than the columns. Values are compared in
// the column's type, NULL lowest. On a Desc column Low is where an ascending walk of
// the index begins, that is the greater value. The zero Range is everything; the heap
// ignores ranges.
type Range struct {
	Low, High []sqltypes.Value
	// An inclusive bound takes the entries that begin with it. Without it they are
	// left out.
	LowInclusive, HighInclusive bool
}

// Point is the range of entries whose keys begin with prefix.
func Point(prefix ...sqltypes.Value) Range {
	return Range{Low: prefix, High: prefix, LowInclusive: true, HighInclusive: true}
}

// ScanOptions qualifies one scan.
type ScanOptions struct {
	// Desc walks the index backwards.
	Desc bool
	// NoLock reads uncommitted rows (NOLOCK, READUNCOMMITTED).
	NoLock bool
	// ReadPast skips rows that other transactions have locked (READPAST).
	ReadPast bool
	// RowLock takes U (UPDLOCK; the read of an UPDATE or DELETE) or X (XLOCK) on each
	// returned row, until the transaction's end or [Iterator.ReleaseRow].
	RowLock LockMode
	// TableLock takes S (TABLOCK) or X (TABLOCKX) on the table: S for the statement
	// under READ COMMITTED, else to the transaction's end.
	TableLock LockMode
	// HoldLock is SERIALIZABLE for this scan (HOLDLOCK). The range is protected by an
	// S lock on the whole table.
	HoldLock bool
	// ReadCommitted reads with locks although the database or the transaction would
	// read versions (READCOMMITTEDLOCK).
	ReadCommitted bool
	// StatementStart hides what the running statement itself has written, so that an
	// UPDATE does not meet its own rows again. Otherwise the scan sees all that the
	// transaction wrote before the Scan call.
	StatementStart bool
}

// Iterator walks the rows of a scan. It holds no latch between calls, so it may stay
// open while others write. It ends with its transaction.
type Iterator struct{}

// Scan starts a scan of an index (IndexDef.ID, or [BaseIndex]). Every index returns
// whole rows. Errors show in Err after the first Next.
func (t *Txn) Scan(table int64, index int, rng Range, opts ScanOptions) *Iterator {
	panic("unfinished")
}

// Next returns the next row; ok is false at the end and on an error. The row is
// shared and must not be changed.
func (it *Iterator) Next() (id RowID, row Row, ok bool) { panic("unfinished") }

// ReleaseRow gives back the row lock that the last Next took, for a row that an
// UPDATE's or DELETE's predicate rejected.
func (it *Iterator) ReleaseRow() { panic("unfinished") }

// Err returns the error that ended the walk.
func (it *Iterator) Err() error { panic("unfinished") }

// Close ends the walk. Closing twice is fine.
func (it *Iterator) Close() { panic("unfinished") }

// Get returns one row by its id as Scan would.
func (t *Txn) Get(table int64, id RowID, opts ScanOptions) (row Row, ok bool, err error) {
	panic("unfinished")
}
