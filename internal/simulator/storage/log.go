package storage

import (
	"slices"
	"sort"
	"sync"
	"time"
)

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
// Unlogged, in the order in which they were made.
type LoggedTxn struct {
	// ID is the transaction's number in its database.
	ID        uint64
	BeginLSN  LSN
	CommitLSN LSN
	// BeginTime is when the transaction wrote for the first time. CommitTime never
	// goes back from one transaction to the next.
	BeginTime  time.Time
	CommitTime time.Time
	Records    []LogRecord
}

// loggedTxn is a committed transaction as it is kept.
type loggedTxn struct {
	id                    uint64
	beginLSN, commitLSN   LSN
	beginTime, commitTime time.Time
	ops                   []op
}

// txnLog keeps committed transactions for the capture job. mu is a leaf.
type txnLog struct {
	mu     sync.Mutex
	retain bool
	txns   []loggedTxn // in commit order
}

// append keeps a transaction's logged operations.
func (l *txnLog) append(t loggedTxn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.retain {
		return
	}
	unlogged := func(o op) bool { return !o.logged() }
	if slices.ContainsFunc(t.ops, unlogged) {
		t.ops = slices.DeleteFunc(slices.Clone(t.ops), unlogged)
	}
	if len(t.ops) > 0 {
		l.txns = append(l.txns, t)
	}
}

// truncate forgets the transactions up to lsn and returns how many these were.
func (l *txnLog) truncate(lsn LSN) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.firstAfter(lsn)
	clear(l.txns[:n])
	l.txns = l.txns[n:]
	if len(l.txns) == 0 {
		l.txns = nil
	}
	return n
}

func (l *txnLog) setRetain(keep bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.retain = keep
	if !keep {
		l.txns = nil
	}
}

func (l *txnLog) firstAfter(lsn LSN) int {
	return sort.Search(len(l.txns), func(i int) bool { return l.txns[i].commitLSN.Compare(lsn) > 0 })
}

// after returns up to limit kept transactions.
func (l *txnLog) after(lsn LSN, limit int) []loggedTxn {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.firstAfter(lsn)
	return slices.Clone(l.txns[first:min(len(l.txns), first+limit)])
}

// all returns every kept transaction.
func (l *txnLog) all() []loggedTxn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.txns)
}

func (t *loggedTxn) export() LoggedTxn {
	out := LoggedTxn{
		ID: t.id, BeginLSN: t.beginLSN, CommitLSN: t.commitLSN,
		BeginTime: t.beginTime, CommitTime: t.commitTime, Records: make([]LogRecord, len(t.ops)),
	}
	for i := range t.ops {
		out.Records[i] = t.ops[i].logRecord()
	}
	return out
}

// ReadLog returns up to limit committed transactions whose commit LSN is above after,
// in commit order; transactions without a logged record are left out. The rows are
// shared, not copied.
func (db *Database) ReadLog(after LSN, limit int) []LoggedTxn {
	kept := db.log.after(after, limit)
	out := make([]LoggedTxn, len(kept))
	for i := range kept {
		out[i] = kept[i].export()
	}
	return out
}

// TruncateLog forgets the transactions with commit LSNs up to and including upto.
func (db *Database) TruncateLog(upto LSN) error {
	db.commitMu.Lock()
	defer db.commitMu.Unlock()
	if db.log.truncate(upto) == 0 || db.file == nil {
		return nil
	}
	return db.file.writeTruncate(upto)
}

// SetLogRetention says whether committed transactions are kept for ReadLog; a new
// database keeps none. Switching it off forgets those kept. Durable.
func (db *Database) SetLogRetention(keep bool) error {
	db.commitMu.Lock()
	defer db.commitMu.Unlock()
	db.log.setRetain(keep)
	if db.file == nil {
		return nil
	}
	return db.file.writeRetention(keep)
}

// LogRetention reports what SetLogRetention last set.
func (db *Database) LogRetention() bool {
	db.log.mu.Lock()
	defer db.log.mu.Unlock()
	return db.log.retain
}

// AllocLSN returns an LSN of its own: every transaction with a lower commit LSN is
// readable by ReadLog already (and visible), and every later commit LSN is higher.
func (db *Database) AllocLSN() LSN {
	db.commitMu.Lock()
	defer db.commitMu.Unlock()
	return db.lsns.commit()
}

// LastCommitLSN returns the newest LSN that a commit or AllocLSN was given, zero for a
// new database.
func (db *Database) LastCommitLSN() LSN { return db.lsns.lastCommit() }

// LogMarker appends a record of the caller's own to the log, for ReadLog.
func (t *Txn) LogMarker(table int64, data []byte) (LSN, error) {
	if t.done {
		return LSN{}, ErrTxnDone
	}
	if err := t.checkWritable(); err != nil {
		return LSN{}, err
	}
	t.nextSeq()
	lsn := t.nextLSN(rowRecordSize + len(data))
	t.addOp(op{kind: opMarker, lsn: lsn, more: &opExtra{marker: slices.Clone(data), markerTable: table}})
	return lsn, nil
}
