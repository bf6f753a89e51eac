package storage

import (
	"sync"
	"time"
)

// viewRef is a registered point in time, whose versions are kept.
type viewRef struct {
	at uint64
	// snapshot is the transaction whose view under SNAPSHOT it is, nil for a
	// statement's.
	snapshot *Txn
	taken    time.Time // of a snapshot
}

// views knows the open views of a database. mu is a leaf.
type views struct {
	mu   sync.Mutex
	open map[*viewRef]struct{}
	// visible is the time of the newest commit.
	visible uint64
}

// take opens a view of all that is committed now; of a transaction, or of a statement.
func (v *views) take(snapshot *Txn) *viewRef {
	v.mu.Lock()
	defer v.mu.Unlock()
	ref := &viewRef{at: v.visible, snapshot: snapshot}
	if snapshot != nil {
		ref.taken = snapshot.db.store.now()
	}
	v.open[ref] = struct{}{}
	return ref
}

// release closes a view; nil is none.
func (v *views) release(ref *viewRef) {
	if ref == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.open, ref)
}

// publish makes the commit of that time part of later views.
func (v *views) publish(at uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.visible = at
}

// now returns the time of the newest commit.
func (v *views) now() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.visible
}

// oldest returns the time that no open or later view is before.
func (v *views) oldest() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	oldest := v.visible
	for ref := range v.open {
		oldest = min(oldest, ref.at)
	}
	return oldest
}

// snapshots returns the times of the open views of transactions.
func (v *views) snapshots() map[*Txn]*viewRef {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := map[*Txn]*viewRef{}
	for ref := range v.open {
		if ref.snapshot != nil {
			list[ref.snapshot] = ref
		}
	}
	return list
}

// snapshotView returns the transaction's view under Snapshot isolation, which begins
// with the first access to data.
func (t *Txn) snapshotView() *viewRef {
	switch {
	case t.snapshot != nil:
	case t.opts.View != nil:
		t.snapshot = t.db.views.takeHeld(t, t.opts.View)
	default:
		t.snapshot = t.db.views.take(t)
	}
	return t.snapshot
}

// readCommittedView returns the statement's view under READ_COMMITTED_SNAPSHOT.
func (t *Txn) readCommittedView() *viewRef {
	if t.statementView == nil {
		t.statementView = t.db.views.take(nil)
	}
	return t.statementView
}
