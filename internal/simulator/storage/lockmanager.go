package storage

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// resource names what is locked: a table (row 0), a row, or an application's own name
// (table 0).
type resource struct {
	db    int
	table int64
	row   RowID
	app   string
}

// lockManager grants locks in the order of arrival, conversions first, and finds
// deadlocks. Row locks that a transaction has through its own uncommitted versions are
// not here (doc.go): whoever meets one waits for the transaction, see waitForTxn.
//
// mu is a leaf: nothing else is locked under it.
type lockManager struct {
	now   func() time.Time
	mu    sync.Mutex
	locks map[resource]*lockQueue
	// rowLocks counts the locked rows, so that writers need not look for row locks when
	// there are none at all.
	rowLocks atomic.Int64
	searches uint64
}

type lockQueue struct {
	granted []grant
	waiting []*waiter
}

type grant struct {
	txn  *Txn
	mode LockMode
}

// waiter is one wait of a transaction: for a lock, or for the end of another
// transaction (target).
type waiter struct {
	txn     *Txn
	res     resource
	mode    LockMode
	convert bool
	target  *Txn
	since   time.Time
	// done receives the outcome once; it is buffered, so that nobody waits to tell.
	done chan error
}

// Owner is the session that transactions belong to. The transactions of one owner run
// in one goroutine at a time, never bar each other, and are one party in a deadlock.
type Owner struct {
	// SPID is the session's number, for error 1205 and for [Store.Locks]. It is set
	// before the first transaction begins.
	SPID     int
	priority atomic.Int32

	// Guarded by lockManager.mu.
	waiting *waiter
	// visited is the number of the last deadlock search that came by.
	visited uint64
}

// SetDeadlockPriority is SET DEADLOCK_PRIORITY, -10 to 10: of the transactions of a
// deadlock the lowest is the victim, of equals the one that changed least.
func (o *Owner) SetDeadlockPriority(n int) { o.priority.Store(int32(n)) }

// NewOwner returns an owner without transactions.
func NewOwner() *Owner { return &Owner{} }

// ErrDeadlockVictim is the outcome of a wait that was chosen to end a deadlock.
// Callers see it from [Txn.LockApp] only; other waits turn it into error 1205.
var ErrDeadlockVictim = errors.New("deadlock victim")

func newLockManager(now func() time.Time) *lockManager {
	return &lockManager{now: now, locks: make(map[resource]*lockQueue)}
}

// request asks for a lock. It returns nil when the lock is granted, else a waiter whose
// done channel tells; a txn that holds the resource already asks for a stronger mode.
// With try it does not queue: granted is false then.
func (m *lockManager) request(t *Txn, res resource, mode LockMode, try bool) (w *waiter, granted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.locks[res]
	if q == nil {
		q = &lockQueue{}
		m.locks[res] = q
		if res.row != 0 {
			m.rowLocks.Add(1)
		}
	}
	convert := slices.ContainsFunc(q.granted, func(g grant) bool { return g.txn == t })
	if q.admits(t, mode) && (convert || len(q.waiting) == 0) {
		q.grant(t, mode)
		return nil, true
	}
	if try {
		return nil, false
	}
	w = &waiter{txn: t, res: res, mode: mode, convert: convert, done: make(chan error, 1)}
	q.enqueue(w)
	m.block(w)
	return w, false
}

// waitForTxn returns a waiter for the end (or a partial rollback) of target, nil if it
// has ended.
func (m *lockManager) waitForTxn(t, target *Txn, res resource, mode LockMode) *waiter {
	m.mu.Lock()
	defer m.mu.Unlock()
	if target.released {
		return nil
	}
	w := &waiter{txn: t, target: target, res: res, mode: mode, done: make(chan error, 1)}
	target.waiters = append(target.waiters, w)
	m.block(w)
	return w
}

// block records the wait and ends the deadlocks that it closes.
func (m *lockManager) block(w *waiter) {
	w.since = m.now()
	w.txn.owner.waiting = w
	for {
		cycle := m.findCycle(w)
		if cycle == nil {
			return
		}
		victim := chooseVictim(cycle)
		m.finish(victim, ErrDeadlockVictim)
		if victim == w {
			return
		}
	}
}

// conflicts reports that own cannot take mode on res without asking: another
// transaction holds a lock that bars it, or waits in front.
func (m *lockManager) conflicts(own *Txn, res resource, mode LockMode) bool {
	if m.rowLocks.Load() == 0 {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	q := m.locks[res]
	return q != nil && (!q.admits(own, mode) || len(q.waiting) > 0 && !q.holds(own, mode))
}

// release gives back one lock.
func (m *lockManager) release(t *Txn, res resource) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.releaseLocked(t, res)
}

func (m *lockManager) releaseLocked(t *Txn, res resource) {
	q := m.locks[res]
	if q == nil {
		return
	}
	q.granted = slices.DeleteFunc(q.granted, func(g grant) bool { return g.txn == t })
	m.promote(res, q)
}

// releaseAll gives back a transaction's locks at its end.
func (m *lockManager) releaseAll(t *Txn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for res := range t.held {
		m.releaseLocked(t, res)
	}
	t.released = true
	m.wakeLocked(t)
}

// wake ends the waits for t, which has taken back versions.
func (m *lockManager) wake(t *Txn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wakeLocked(t)
}

func (m *lockManager) wakeLocked(t *Txn) {
	for _, w := range t.waiters {
		w.txn.owner.waiting = nil
		w.done <- nil
	}
	t.waiters = nil
}

// cancel ends a wait with err unless it has an outcome already.
func (m *lockManager) cancel(w *waiter, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.txn.owner.waiting == w {
		m.finish(w, err)
	}
}

// finish takes w out of its queue and tells it the outcome.
func (m *lockManager) finish(w *waiter, outcome error) {
	w.txn.owner.waiting = nil
	isW := func(o *waiter) bool { return o == w }
	if w.target != nil {
		w.target.waiters = slices.DeleteFunc(w.target.waiters, isW)
	} else if q := m.locks[w.res]; q != nil {
		q.waiting = slices.DeleteFunc(q.waiting, isW)
		m.promote(w.res, q)
	}
	w.done <- outcome
}

// promote grants what can be granted from the front of the queue.
func (m *lockManager) promote(res resource, q *lockQueue) {
	for len(q.waiting) > 0 && q.admits(q.waiting[0].txn, q.waiting[0].mode) {
		w := q.waiting[0]
		q.waiting = slices.Delete(q.waiting, 0, 1)
		q.grant(w.txn, w.mode)
		w.txn.owner.waiting = nil
		w.done <- nil
	}
	if len(q.granted) == 0 && len(q.waiting) == 0 {
		delete(m.locks, res)
		if res.row != 0 {
			m.rowLocks.Add(-1)
		}
	}
}

// admits reports that no holder but t's owner bars mode.
func (q *lockQueue) admits(t *Txn, mode LockMode) bool {
	for _, g := range q.granted {
		if g.txn.owner != t.owner && !mode.compatibleWith(g.mode) {
			return false
		}
	}
	return true
}

// holds reports that t holds mode or a stronger one.
func (q *lockQueue) holds(t *Txn, mode LockMode) bool {
	return slices.ContainsFunc(q.granted, func(g grant) bool { return g.txn == t && g.mode.with(mode) == g.mode })
}

func (q *lockQueue) grant(t *Txn, mode LockMode) {
	for i := range q.granted {
		if q.granted[i].txn == t {
			q.granted[i].mode = mode
			return
		}
	}
	q.granted = append(q.granted, grant{t, mode})
}

// enqueue puts conversions before new requests.
func (q *lockQueue) enqueue(w *waiter) {
	at := len(q.waiting)
	if w.convert {
		at = slices.IndexFunc(q.waiting, func(o *waiter) bool { return !o.convert })
		if at < 0 {
			at = len(q.waiting)
		}
	}
	q.waiting = slices.Insert(q.waiting, at, w)
}
