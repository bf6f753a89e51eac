package storage

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// runningTxns knows the open transactions of a database. mu is a leaf.
type runningTxns struct {
	mu   sync.Mutex
	txns map[*Txn]struct{}
}

func (r *runningTxns) add(t *Txn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.txns[t] = struct{}{}
}

func (r *runningTxns) remove(t *Txn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.txns, t)
}

// list returns the open transactions, oldest first.
func (r *runningTxns) list() []*Txn {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*Txn, 0, len(r.txns))
	for t := range r.txns {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *Txn) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return list
}

// InUse reports that a transaction of another owner is open.
func (db *Database) InUse(owner *Owner) bool {
	return slices.ContainsFunc(db.running.list(), func(t *Txn) bool { return t.owner != owner })
}

// Drain waits until all transactions of other owners that are open now have ended
// (ALTER DATABASE .. SET ALLOW_SNAPSHOT_ISOLATION). Errors: 1222 and 1205 as for a lock,
// or ctx's cause.
func (db *Database) Drain(ctx context.Context, opts TxnOptions) error {
	t := db.Begin(opts)
	defer t.Rollback()
	t.BeginStatement(ctx)
	for _, other := range db.running.list() {
		for other.owner != t.owner {
			w := db.store.locks.waitForTxn(t, other, resource{db: db.id}, LockS)
			if w == nil {
				break
			}
			if t.lockTimeout == NoWait {
				return errors.Join(lockTimeoutError(), t.giveUp(w))
			}
			if err := t.wait(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// giveUp ends a wait that was queued but must not take place.
func (t *Txn) giveUp(w *waiter) error {
	t.db.store.locks.cancel(w, nil)
	return <-w.done
}
