package storage

import (
	"context"
	"time"
)

// LockApp takes a lock on a name of the application's own (sp_getapplock) in the
// database of that id, which need not be the transaction's, until
// [Txn.UnlockApp], a rollback to a savepoint before it, or the transaction's end. It
// waits up to timeout as TxnOptions.LockTimeout does. Each success counts: as many calls
// of UnlockApp give the lock back.
//
// Errors are 1222, [ErrDeadlockVictim] and ctx's cause. Unlike other waits they never
// roll the transaction back (MS docs, sp_getapplock).
func (t *Txn) LockApp(ctx context.Context, db int, name string, mode LockMode, timeout time.Duration) (waited bool, err error) {
	if t.done {
		return false, ErrTxnDone
	}
	savedTimeout, savedCtx := t.lockTimeout, t.ctx
	t.lockTimeout, t.ctx = timeout, ctx
	defer func() { t.lockTimeout, t.ctx = savedTimeout, savedCtx }()
	res := appResource(db, name)
	if w := t.tryLock(res, mode, false, false); w != nil {
		if err := t.await(w); err != nil {
			return true, err
		}
		t.record(res, mode, false)
		waited = true
	}
	t.held[res].times++
	return waited, nil
}

// UnlockApp takes back one LockApp; false if the transaction does not hold the lock.
func (t *Txn) UnlockApp(db int, name string) bool {
	res := appResource(db, name)
	h := t.held[res]
	if h == nil {
		return false
	}
	if h.times--; h.times == 0 {
		t.unlock(res)
	}
	return true
}

// AppLock returns the mode in which the transaction holds an application lock.
func (t *Txn) AppLock(db int, name string) LockMode { return t.heldMode(appResource(db, name)) }

// TestApp reports that LockApp would succeed at once (APPLOCK_TEST).
func (t *Txn) TestApp(db int, name string, mode LockMode) bool {
	m := t.db.store.locks
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.locks[appResource(db, name)]
	return q == nil || q.admits(t, mode) && (len(q.waiting) == 0 || q.holds(t, LockNone))
}

func appResource(db int, name string) resource { return resource{db: db, app: name} }
