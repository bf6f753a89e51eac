package storage

import "time"

// LogOp is the kind of a log record.
type LogOp uint8

// The kinds of log records.
const (
	LogInsert LogOp = iota + 1
	LogDelete
	LogUpdate
	// LogMarker is written by [Txn.LogMarker].
	LogMarker
)

// LogRecord is one change in the log.
type LogRecord struct {
	// LSN is the record's own place; it is below the commit LSN.
	LSN LSN
	Op  LogOp
	// Table is the object id.
	Table int64
	// RowID is the changed row; 0 for a marker.
	RowID RowID
	// Before is set for deletes and updates, After for inserts and updates.
	Before, After Row
	// PairLSN is set on an insert that is the second half of a deferred update: the
	// LSN of its delete. Zero otherwise.
	PairLSN LSN
	// Marker is what LogMarker was given.
	Marker []byte
}

// LoggedTxn is one committed transaction with the records that were not written with
// Unlogged, in the order of the statements that made them.
type LoggedTxn struct {
	// ID is the transaction's number in its database.
	ID        uint64
	BeginLSN  LSN
	CommitLSN LSN
	// BeginTime is when the transaction wrote for the first time.
	BeginTime  time.Time
	CommitTime time.Time
	Records    []LogRecord
}

// ReadLog returns up to max committed transactions whose commit LSN is above after,
// in commit order; transactions without a logged record are left out. The rows are
// shared, not copied.
func (db *Database) ReadLog(after LSN, max int) []LoggedTxn { panic("unfinished") }

// TruncateLog forgets the transactions with commit LSNs up to and including upto. It
// is durable with the next commit or at once, whichever the file allows.
func (db *Database) TruncateLog(upto LSN) error { panic("unfinished") }

// SetLogRetention says whether committed transactions are kept for ReadLog; a new
// database keeps none. Switching it off forgets those kept. Durable.
func (db *Database) SetLogRetention(keep bool) error { panic("unfinished") }

// LogRetention reports what SetLogRetention last set.
func (db *Database) LogRetention() bool { panic("unfinished") }

// AllocLSN returns an LSN of its own: every transaction with a lower commit LSN is
// readable by ReadLog already (and visible), and every later commit LSN is higher.
func (db *Database) AllocLSN() LSN { panic("unfinished") }

// LastCommitLSN returns the newest commit LSN, zero for a new database.
func (db *Database) LastCommitLSN() LSN { panic("unfinished") }
