package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Row locks of one table beyond which a transaction tries to lock the table instead,
// and how many more it takes between attempts: MS docs, "Lock escalation".
const (
	escalateAt    = 5000
	escalateAgain = 1250
)

// hold is a lock that a transaction holds.
type hold struct {
	mode LockMode
	// since is the transaction's sequence number when the lock was taken, for
	// RollbackTo.
	since uint64
	// statement locks end with their statement.
	statement bool
	// times counts the requests for an application lock.
	times int
}

// LockTable takes a lock on a whole table until the transaction's end.
func (t *Txn) LockTable(table int64, mode LockMode) error {
	if t.done {
		return ErrTxnDone
	}
	return t.lock(t.tableResource(table), mode, false)
}

func (t *Txn) tableResource(table int64) resource {
	return resource{db: t.db.id, table: table}
}

// heldMode returns the mode in which the transaction holds a resource.
func (t *Txn) heldMode(res resource) LockMode {
	if h := t.held[res]; h != nil {
		return h.mode
	}
	return LockNone
}

// lock takes a lock, waiting as long as the transaction may.
func (t *Txn) lock(res resource, mode LockMode, statement bool) error {
	w := t.tryLock(res, mode, statement, false)
	if w == nil {
		return nil
	}
	if err := t.wait(w); err != nil {
		return err
	}
	t.record(res, mode, statement)
	return nil
}

// lockNow is lock, which with nowait does not wait.
func (t *Txn) lockNow(nowait bool, res resource, mode LockMode, statement bool) error {
	if !nowait {
		return t.lock(res, mode, statement)
	}
	if t.tryLock(res, mode, statement, true) != nil {
		return lockTimeoutError()
	}
	return nil
}

// tryLock takes a lock if it is free; else it returns a waiter, after whose success the
// caller calls record. With nowait the waiter is refused without having waited.
func (t *Txn) tryLock(res resource, mode LockMode, statement, nowait bool) *waiter {
	want := mode
	if h := t.held[res]; h != nil {
		want = h.mode.with(mode)
		if want == h.mode {
			h.statement = h.statement && statement
			return nil
		}
	}
	w, granted := t.db.store.locks.request(t, res, want, nowait || t.lockTimeout == NoWait)
	if granted {
		t.record(res, mode, statement)
		return nil
	}
	if w == nil {
		w = refused
	}
	return w
}

// refused stands for a wait that must not happen.
var refused = &waiter{}

// record notes a granted lock.
func (t *Txn) record(res resource, mode LockMode, statement bool) {
	if h := t.held[res]; h != nil {
		h.mode = h.mode.with(mode)
		h.statement = h.statement && statement
		return
	}
	t.held[res] = &hold{mode: mode, since: t.seq, statement: statement}
	if statement {
		t.statementLocks = append(t.statementLocks, res)
	}
	if res.row != 0 {
		t.countRowLock(res)
	}
}

// countRowLock escalates to a table lock when there are many row locks, if nobody is
// in the way.
func (t *Txn) countRowLock(res resource) {
	n := t.rowLocks[res.table] + 1
	t.rowLocks[res.table] = n
	if n < escalateAt || (n-escalateAt)%escalateAgain != 0 {
		return
	}
	mode := LockS
	var rows []resource
	for r, h := range t.held {
		if r.table == res.table && r.row != 0 {
			rows = append(rows, r)
			if h.mode != LockS {
				mode = LockX
			}
		}
	}
	if t.tryLock(t.tableResource(res.table), mode, false, true) != nil {
		return
	}
	// An escalation outlives a rollback to a savepoint.
	t.held[t.tableResource(res.table)].since = 0
	for _, r := range rows {
		t.unlock(r)
	}
}

// unlock gives a lock back before the transaction's end.
func (t *Txn) unlock(res resource) {
	if t.held[res] == nil {
		return
	}
	delete(t.held, res)
	if res.row != 0 {
		t.rowLocks[res.table]--
	}
	t.db.store.locks.release(t, res)
}

// releaseStatementLocks ends the locks that are held for the statement only.
func (t *Txn) releaseStatementLocks() {
	for _, res := range t.statementLocks {
		if h := t.held[res]; h != nil && h.statement {
			t.unlock(res)
		}
	}
	t.statementLocks = t.statementLocks[:0]
}

// releaseSince ends the locks taken at or after the sequence number since.
func (t *Txn) releaseSince(since uint64) {
	for res, h := range t.held {
		if h.since >= since {
			t.unlock(res)
		}
	}
}

// waitForWriter waits until target, which has a lock of that mode on res through its
// versions or ranges, has ended or taken versions back. Nobody holds a latch.
func (t *Txn) waitForWriter(target *Txn, res resource, mode LockMode) error {
	if target == nil {
		return nil
	}
	if t.lockTimeout == NoWait {
		return t.wait(refused)
	}
	if w := t.db.store.locks.waitForTxn(t, target, res, mode); w != nil {
		return t.wait(w)
	}
	return nil
}

// wait waits for a waiter's outcome: nil, 1222, 1205 with the transaction rolled back,
// or the statement's context.
func (t *Txn) wait(w *waiter) error {
	err := t.await(w)
	if errors.Is(err, ErrDeadlockVictim) {
		t.Rollback()
		return sqltypes.Errorf(1205, 51, 13, "Transaction (Process ID %d) was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction.", t.owner.SPID)
	}
	return err
}

// await waits for a waiter's outcome and leaves the transaction as it is.
func (t *Txn) await(w *waiter) error {
	if w == refused {
		return lockTimeoutError()
	}
	m := t.db.store.locks
	if t.lockTimeout > 0 {
		stop := t.db.store.clock.AfterFunc(t.lockTimeout, func() { m.cancel(w, lockTimeoutError()) })
		defer stop()
	}
	select {
	case err := <-w.done:
		return err
	case <-t.ctx.Done():
		m.cancel(w, fmt.Errorf("waiting for a lock: %w", context.Cause(t.ctx)))
		return <-w.done
	}
}

func lockTimeoutError() error {
	return sqltypes.Errorf(1222, 51, 16, "Lock request time out period exceeded.")
}

// SetLockTimeout changes TxnOptions.LockTimeout.
func (t *Txn) SetLockTimeout(d time.Duration) { t.lockTimeout = d }
