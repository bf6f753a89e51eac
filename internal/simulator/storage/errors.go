package storage

import (
	"errors"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// ErrTxnDone is returned by every method of a transaction that has ended: by Commit,
// Rollback, or as a victim (1205, 3960).
var ErrTxnDone = errors.New("transaction has ended")

// ErrReadOnly is returned for a write in a transaction begun as read-only.
var ErrReadOnly = errors.New("transaction is read-only")

// ErrRowNotFound is returned by Update and Delete for a row that is not there (any
// more).
var ErrRowNotFound = errors.New("row not found")

// ErrNoSavepoint is returned by RollbackTo for an unknown name (6401).
var ErrNoSavepoint = errors.New("no savepoint of that name")

// NoTableError says that a database has no table of that id.
type NoTableError struct{ Table int64 }

func (e *NoTableError) Error() string { return fmt.Sprintf("no table with object id %d", e.Table) }

// NoIndexError says that a table has no index of that id.
type NoIndexError struct {
	Table int64
	Index int
}

func (e *NoIndexError) Error() string {
	return fmt.Sprintf("table %d has no index %d", e.Table, e.Index)
}

// DuplicateKeyError says that a row would repeat the key of a unique index (2601,
// 2627). The row was not stored; the transaction stays open.
type DuplicateKeyError struct {
	Table int64
	// Index is the IndexDef.ID.
	Index int
	// Key holds the values of the index's columns.
	Key []sqltypes.Value
}

func (e *DuplicateKeyError) Error() string {
	return fmt.Sprintf("duplicate key in index %d of table %d", e.Index, e.Table)
}

// CorruptFileError says that a database file is damaged before its end, so that
// cutting it would lose commits. The remedy is to restore the file or to delete it.
type CorruptFileError struct {
	Path   string
	Offset int64
	Reason string
}

func (e *CorruptFileError) Error() string {
	return fmt.Sprintf("database file %q is corrupt at offset %d: %s; restore it from a copy, or delete it to lose the database",
		e.Path, e.Offset, e.Reason)
}
