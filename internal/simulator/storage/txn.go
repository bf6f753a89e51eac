package storage

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
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
	// Replica refuses writes (3906) and reads versions only, whatever hints ask for,
	// at View when it is set.
	Replica bool
	View    *HeldView
	// Maintenance lets the transaction write although the database is read-only: for
	// the statement that makes it writable again.
	Maintenance bool
	// Owner is the session; nil makes one for this transaction alone.
	Owner *Owner
}

// CommitInfo describes a commit.
type CommitInfo struct {
	// LSN is the commit LSN; zero when nothing was written.
	LSN  LSN
	Time time.Time
}

// Txn is a transaction in one database. It is used by one goroutine at a time.
type Txn struct {
	db     *Database
	id     uint64
	opts   TxnOptions
	status *txnStatus
	ctx    context.Context // of the running statement
	done   bool

	isolation   Isolation
	lockTimeout time.Duration

	// seq grows with every change and every savepoint; it never goes back.
	seq uint64
	// statementSeq is seq at the statement's start.
	statementSeq uint64
	ops          []op
	// changes is len(ops), for the choice of a deadlock victim by others.
	changes    atomic.Int64
	began      atomic.Pointer[beginning] // nil before the first change
	savepoints []savepoint
	// used is set by the first access to a table, which fixes the isolation level as
	// far as Snapshot goes.
	used bool

	snapshot      *viewRef // Snapshot isolation, from the first access to data on
	statementView *viewRef // READ_COMMITTED_SNAPSHOT

	held           map[resource]*hold
	statementLocks []resource
	rowLocks       map[int64]int // explicit row locks per table
	ranges         []*rangeLock

	owner *Owner
	// Guarded by lockManager.mu.
	waiters  []*waiter
	released bool
}

// beginning is where the log has the transaction's first record.
type beginning struct {
	lsn LSN
	at  time.Time
}

type savepoint struct {
	name string
	mark Mark
}

// Mark is a place in a transaction that [Txn.Undo] returns to.
type Mark struct {
	ops int
	seq uint64
}

// Begin starts a transaction. It must be ended by Commit or Rollback.
func (db *Database) Begin(opts TxnOptions) *Txn {
	t := &Txn{
		db: db, id: db.nextTxn.Add(1), opts: opts, status: new(txnStatus), ctx: context.Background(),
		isolation: opts.Isolation, lockTimeout: opts.LockTimeout, seq: 1, statementSeq: 1,
		held: make(map[resource]*hold), rowLocks: make(map[int64]int),
	}
	if t.owner = opts.Owner; t.owner == nil {
		t.owner = NewOwner()
	}
	t.status.txn.Store(t)
	db.running.add(t)
	return t
}

// ID returns the transaction's number in its database.
func (t *Txn) ID() uint64 { return t.id }

// Database returns the transaction's database.
func (t *Txn) Database() *Database { return t.db }

// Done reports that the transaction has ended.
func (t *Txn) Done() bool { return t.done }

// Isolation returns the isolation level.
func (t *Txn) Isolation() Isolation { return t.isolation }

// SetIsolation changes the isolation level from the next statement on. Changing to
// Snapshot is refused (3951) once the transaction has accessed a table under another
// level first (MS docs, SET TRANSACTION ISOLATION LEVEL).
func (t *Txn) SetIsolation(level Isolation) error {
	if level == Snapshot && t.isolation != Snapshot && t.used && t.snapshot == nil {
		return sqltypes.Errorf(3951, 1, 16, "Transaction failed in database '%s' because the statement was run under snapshot isolation but the transaction did not start in snapshot isolation. You cannot change the isolation level of the transaction to snapshot after the transaction has started unless the transaction was originally started under snapshot isolation level.", t.db.Name())
	}
	t.isolation = level
	return nil
}

// BeginStatement starts a statement: it releases the locks that the last one held
// for its duration only, fixes the view of READ COMMITTED under
// READ_COMMITTED_SNAPSHOT, and makes ctx end lock waits (with context.Cause).
// Without it all statements are one.
func (t *Txn) BeginStatement(ctx context.Context) {
	t.EndStatement()
	t.ctx = ctx
	t.statementSeq = t.nextSeq()
}

// EndStatement releases the locks and the view of the statement.
func (t *Txn) EndStatement() {
	t.releaseStatementLocks()
	t.db.views.release(t.statementView)
	t.statementView = nil
	t.ctx = context.Background()
}

func (t *Txn) nextSeq() uint64 {
	t.seq++
	return t.seq
}

// Rollback undoes the transaction. After the end it does nothing.
func (t *Txn) Rollback() {
	if t.done {
		return
	}
	defer t.end() // nothing stays locked, whatever happens
	t.undoTo(0)
}

// end gives back all that the transaction holds.
func (t *Txn) end() {
	t.done = true
	t.status.txn.Store(nil)
	t.db.running.remove(t)
	t.releaseRanges(0)
	t.db.store.locks.releaseAll(t)
	t.held, t.statementLocks, t.savepoints, t.ops = nil, nil, nil, nil
	t.db.views.release(t.snapshot)
	t.db.views.release(t.statementView)
	t.snapshot, t.statementView = nil, nil
	t.db.collectGarbage()
}

// Mark returns the current place, for undoing a statement that fails half-way.
func (t *Txn) Mark() Mark { return Mark{ops: len(t.ops), seq: t.nextSeq()} }

// Undo takes back all changes after m. Locks stay, as for a failed statement.
func (t *Txn) Undo(m Mark) error {
	if t.done {
		return ErrTxnDone
	}
	t.undoTo(m.ops)
	t.db.store.locks.wake(t)
	return nil
}

// Savepoint names the current place (SAVE TRANSACTION). A name may be used again;
// the newest counts.
func (t *Txn) Savepoint(name string) error {
	if t.done {
		return ErrTxnDone
	}
	t.savepoints = append(t.savepoints, savepoint{name, t.Mark()})
	return nil
}

// RollbackTo takes back all changes after the savepoint and frees the locks taken
// after it, except conversions and escalations (MS docs, ROLLBACK TRANSACTION). The
// savepoint stays, later ones go.
func (t *Txn) RollbackTo(name string) error {
	if t.done {
		return ErrTxnDone
	}
	for i, s := range slices.Backward(t.savepoints) {
		if s.name != name {
			continue
		}
		t.savepoints = t.savepoints[:i+1]
		t.undoTo(s.mark.ops)
		t.releaseSince(s.mark.seq)
		t.releaseRanges(s.mark.seq)
		t.db.store.locks.wake(t)
		return nil
	}
	return ErrNoSavepoint
}

// undoTo takes back the changes after the first n, newest first.
func (t *Txn) undoTo(n int) {
	for i := len(t.ops) - 1; i >= n; i-- {
		t.ops[i].undo(t.db)
	}
	clear(t.ops[n:])
	t.ops = t.ops[:n]
	t.changes.Store(int64(n))
}

// addOp notes a change that is done.
func (t *Txn) addOp(o op) {
	t.ops = append(t.ops, o)
	t.changes.Store(int64(len(t.ops)))
}

// nextLSN returns the LSN of the transaction's next record, of about that many bytes.
func (t *Txn) nextLSN(size int) LSN {
	if t.began.Load() == nil {
		t.began.Store(&beginning{lsn: t.db.lsns.next(beginRecordSize), at: t.db.store.now()})
	}
	return t.db.lsns.next(size)
}
