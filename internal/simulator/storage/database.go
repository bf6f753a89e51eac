package storage

// Database is one database: its tables, its log and its version clock are its own.
// All methods are safe for concurrent use.
type Database struct{}

// Name returns the database's name.
func (db *Database) Name() string { panic("unfinished") }

// ID returns the database's id.
func (db *Database) ID() int { panic("unfinished") }

// SetReadCommittedSnapshot makes READ COMMITTED transactions read the view of their
// statement instead of taking locks (READ_COMMITTED_SNAPSHOT). It is not durable:
// the engine sets it from its catalogue.
func (db *Database) SetReadCommittedSnapshot(on bool) { panic("unfinished") }

// Begin starts a transaction. It is used by one goroutine at a time and must be
// ended by Commit or Rollback.
func (db *Database) Begin(opts TxnOptions) *Txn { panic("unfinished") }

// Tables returns the definitions of all committed tables by id.
func (db *Database) Tables() []TableDef { panic("unfinished") }

// RowCount returns the number of index entries of a table, about its number of rows.
func (db *Database) RowCount(table int64) int64 { panic("unfinished") }

// ResolveFilters gives filtered indexes their predicates back after Open; compile is
// called with each table and filtered index. Until then such a table refuses writes
// and such an index scans.
func (db *Database) ResolveFilters(compile func(TableDef, IndexDef) (func(Row) bool, error)) error {
	panic("unfinished")
}

// Counter returns the value of a durable counter; 0 if it was never set.
//
// Counters serve identities, rowversions and object ids: they take part in no
// transaction (a rollback does not take back a number, as on the server). A change
// becomes durable with the next commit.
func (db *Database) Counter(key string) int64 { panic("unfinished") }

// AddCounter adds delta and returns the new value.
func (db *Database) AddCounter(key string, delta int64) int64 { panic("unfinished") }

// SetCounter sets a counter.
func (db *Database) SetCounter(key string, value int64) { panic("unfinished") }

// DeleteCounters removes the counters whose keys begin with prefix.
func (db *Database) DeleteCounters(prefix string) { panic("unfinished") }

// Meta returns the committed document of that key.
func (db *Database) Meta(key string) (value []byte, ok bool) { panic("unfinished") }

// ScanMeta calls f with the committed documents whose keys begin with prefix, in key
// order, as of one point in time, until f returns false.
func (db *Database) ScanMeta(prefix string, f func(key string, value []byte) bool) {
	panic("unfinished")
}
