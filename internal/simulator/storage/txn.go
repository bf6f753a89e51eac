package storage

import (
	"context"
	"time"
)

// Isolation is a transaction isolation level.
type Isolation uint8

// The isolation levels. ReadCommitted is the default.
const (
	ReadCommitted Isolation = iota
	ReadUncommitted
	RepeatableRead
	Serializable
	Snapshot
)

// NoWait is the LockTimeout that never waits (SET LOCK_TIMEOUT 0).
const NoWait time.Duration = -1

// TxnOptions configures a transaction.
type TxnOptions struct {
	Isolation Isolation
	// LockTimeout bounds each wait for a lock; 0 waits for ever, [NoWait] not at all.
	LockTimeout time.Duration
	// ReadOnly refuses writes.
	ReadOnly bool
	// SPID is the session's number in the text of error 1205.
	SPID int
	// DeadlockPriority is SET DEADLOCK_PRIORITY, -10 to 10: of the transactions of a
	// deadlock the lowest is the victim, of equals the one that changed least.
	DeadlockPriority int
	// With names the session's transaction in another database, so that a deadlock
	// over both is seen. Each still commits by itself: a crash between two commits
	// keeps the first only.
	With *Txn
}

// CommitInfo describes a commit.
type CommitInfo struct {
	// LSN is the commit LSN; zero when nothing was written.
	LSN  LSN
	Time time.Time
}

// Txn is a transaction in one database.
type Txn struct{}

// ID returns the transaction's number in its database.
func (t *Txn) ID() uint64 { panic("unfinished") }

// Database returns the transaction's database.
func (t *Txn) Database() *Database { panic("unfinished") }

// Done reports that the transaction has ended.
func (t *Txn) Done() bool { panic("unfinished") }

// Isolation returns the isolation level.
func (t *Txn) Isolation() Isolation { panic("unfinished") }

// SetIsolation changes the isolation level from the next statement on. Changing to
// Snapshot is refused once data was read or written (3951).
func (t *Txn) SetIsolation(level Isolation) error { panic("unfinished") }

// SetLockTimeout changes TxnOptions.LockTimeout.
func (t *Txn) SetLockTimeout(d time.Duration) { panic("unfinished") }

// BeginStatement starts a statement: it releases the locks that the last one held
// for its duration only, fixes the view of READ COMMITTED under
// READ_COMMITTED_SNAPSHOT, and makes ctx end lock waits (with context.Cause).
// Without it all statements are one.
func (t *Txn) BeginStatement(ctx context.Context) { panic("unfinished") }

// EndStatement releases the locks and the view of the statement.
func (t *Txn) EndStatement() { panic("unfinished") }

// Commit makes the transaction's changes visible at once and, with Options.Dir,
// durable. If that fails it is rolled back.
func (t *Txn) Commit() (CommitInfo, error) { panic("unfinished") }

// Rollback undoes the transaction. After the end it does nothing.
func (t *Txn) Rollback() { panic("unfinished") }

// Mark is a place in a transaction that [Txn.Undo] returns to.
type Mark struct{ ops int }

// Mark returns the current place, for undoing a statement that fails half-way.
func (t *Txn) Mark() Mark { panic("unfinished") }

// Undo takes back all changes after m. Locks stay, as for a failed statement.
func (t *Txn) Undo(m Mark) error { panic("unfinished") }

// Savepoint names the current place (SAVE TRANSACTION). A name may be used again;
// the newest counts.
func (t *Txn) Savepoint(name string) error { panic("unfinished") }

// RollbackTo takes back all changes after the savepoint and frees the locks taken
// after it, except conversions and escalations (MS docs, ROLLBACK TRANSACTION). The
// savepoint stays.
func (t *Txn) RollbackTo(name string) error { panic("unfinished") }

// LogMarker appends a record of the caller's own to the log, for ReadLog.
func (t *Txn) LogMarker(table int64, data []byte) (LSN, error) { panic("unfinished") }

// PutMeta stores a document under a key: transactional, versioned, durable. A key
// that another transaction is changing is waited for.
func (t *Txn) PutMeta(key string, value []byte) error { panic("unfinished") }

// DeleteMeta removes a document; a missing one is no error.
func (t *Txn) DeleteMeta(key string) error { panic("unfinished") }

// Meta returns the document of that key: the transaction's own, else the newest
// committed one (under Snapshot, that of the view). It never waits.
func (t *Txn) Meta(key string) (value []byte, ok bool) { panic("unfinished") }

// ScanMeta calls f with the documents whose keys begin with prefix, in key order,
// until f returns false. It sees what Meta sees, at one point in time.
func (t *Txn) ScanMeta(prefix string, f func(key string, value []byte) bool) { panic("unfinished") }

// LockMode is the mode of a lock.
type LockMode uint8

// The lock modes, weakest first.
const (
	LockNone LockMode = iota
	LockSchS          // schema stability: every access
	LockIS
	LockIX
	LockS
	LockU
	LockSIX
	LockX
	LockSchM // schema modification
)

// LockTable takes a lock on a whole table until the transaction's end.
func (t *Txn) LockTable(table int64, mode LockMode) error { panic("unfinished") }

// WriteOptions qualifies one write.
type WriteOptions struct {
	// Unlogged keeps the change out of ReadLog (tables that nobody captures, the
	// change tables themselves). It is as durable as others.
	Unlogged bool
	// Pair makes an insert the second half of a deferred update: the LSN that
	// DeleteLSN returned for its delete.
	Pair LSN
}

// Insert stores a row and returns its id. The row belongs to the store from then on.
// Errors: *DuplicateKeyError, *sqltypes.Error 1222 and 1205, *NoTableError.
func (t *Txn) Insert(table int64, row Row, opts WriteOptions) (RowID, error) { panic("unfinished") }

// Update replaces a row. Errors as Insert's, 3960 under Snapshot, ErrRowNotFound.
func (t *Txn) Update(table int64, id RowID, row Row, opts WriteOptions) error { panic("unfinished") }

// Delete removes a row and returns the LSN of the log record (for WriteOptions.Pair).
func (t *Txn) Delete(table int64, id RowID, opts WriteOptions) (LSN, error) { panic("unfinished") }

// CreateTable makes an empty table. All DDL locks the table against every other
// access until the transaction's end, and is undone by a rollback.
func (t *Txn) CreateTable(def TableDef) error { panic("unfinished") }

// AlterTable gives a table new columns and indexes; rewrite makes the new row of an
// old one (nil: rows stay). Row ids stay. Snapshots taken before cannot read the
// table any more (3961).
func (t *Txn) AlterTable(def TableDef, rewrite func(Row) (Row, error)) error { panic("unfinished") }

// TruncateTable removes all rows without logging them.
func (t *Txn) TruncateTable(table int64) error { panic("unfinished") }

// DropTable removes a table.
func (t *Txn) DropTable(table int64) error { panic("unfinished") }

// CreateIndex adds an index; *DuplicateKeyError if a unique one meets equal keys.
func (t *Txn) CreateIndex(table int64, def IndexDef) error { panic("unfinished") }

// DropIndex removes an index; without its clustered index a table is a heap.
func (t *Txn) DropIndex(table int64, index int) error { panic("unfinished") }

// TableDef returns a table's definition as the transaction sees it.
func (t *Txn) TableDef(table int64) (TableDef, error) { panic("unfinished") }
