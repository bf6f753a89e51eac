package storage

import (
	"slices"
	"sync"
	"sync/atomic"
)

// rangeLocks are the stretches of a table's indexes that SERIALIZABLE transactions have
// read: no other may change what a reader would find there. They stand for the server's
// key-range locks, which lock the same stretch up to the next key and so somewhat more
// (MS docs, "Key-range locking").
//
// A writer looks for ranges under the table's write latch; a reader enters its range
// before it reads under the read latch. So either the writer finds the range, or the
// reader finds the writer's row. mu is a leaf.
type rangeLocks struct {
	mu   sync.Mutex
	held []*rangeLock
	// pending are the writers that wait for a range: later readers queue behind them, so
	// that readers coming and going do not starve a writer.
	pending []*pendingWrite
	// count is len(held), so that writers need not look when there are none.
	count atomic.Int64
}

// rangeLock is one stretch of one index. update ranges bar each other, so that two
// updates of the same rows wait instead of ending in a deadlock.
type rangeLock struct {
	txn    *Txn
	tab    *table
	ix     *index
	span   span // ascending
	update bool
	since  uint64
}

// pendingWrite is a write that waits: rows that would leave or enter a range.
type pendingWrite struct {
	txn           *Txn
	before, after Row
}

// maxRanges is the number of ranges on one table beyond which a transaction locks the
// table instead.
const maxRanges = 100

// touches reports that the row is in the range, or would be.
func (r *rangeLock) touches(row Row) bool {
	if row == nil || !r.ix.covers(row) {
		return false
	}
	e := entry{key: row}
	return (!r.span.bounded || r.ix.compareBound(r.span.from.key, e) < 0) &&
		(!r.span.stops || r.ix.compareBound(r.span.stop.key, e) > 0)
}

// overlaps reports that two ranges of one index have keys in common.
func (r *rangeLock) overlaps(o *rangeLock) bool {
	if r.ix != o.ix {
		return false
	}
	before := func(a, b span) bool {
		return a.stops && b.bounded && r.ix.compareBounds(a.stop.key, b.from.key) <= 0
	}
	return !before(r.span, o.span) && !before(o.span, r.span)
}

// compareBounds compares two bounds of prefixes, which may differ in length.
func (ix *index) compareBounds(a, b Row) int {
	n, m := len(a)-1, len(b)-1
	for i := range min(n, m) {
		if c := ix.cols[i].compare(&a[i], &b[i]); c != 0 {
			return c
		}
	}
	switch {
	case n < m:
		return int(a[n].Int64())
	case n > m:
		return -int(b[m].Int64())
	}
	return int(a[n].Int64() - b[m].Int64())
}

// lockRange enters the range of a serializable scan, waiting for update ranges and for
// writers that came first.
func (it *Iterator) lockRange() error {
	r := &rangeLock{
		txn: it.t, tab: it.tab, ix: it.ix, span: it.rng.span(it.ix, false),
		update: it.opts.RowLock != LockNone, since: it.t.seq,
	}
	for {
		other := it.tab.ranges.enter(r)
		if other == nil {
			return nil
		}
		mode := LockS
		if r.update {
			mode = LockU
		}
		if err := it.t.waitForWriter(other, it.t.tableResource(it.tableID), mode); err != nil {
			return err
		}
	}
}

// enter adds the range, or returns the transaction that must end first.
func (l *rangeLocks) enter(r *rangeLock) *Txn {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := false
	for _, h := range l.held {
		switch {
		case h.txn == r.txn:
			own = true
			if h.ix == r.ix && h.update == r.update && r.ix.sameSpan(h.span, r.span) {
				return nil
			}
		case h.txn.owner == r.txn.owner:
		case h.update && r.update && h.overlaps(r):
			return h.txn
		}
	}
	for _, p := range l.pending {
		if !own && p.txn.owner != r.txn.owner && (r.touches(p.before) || r.touches(p.after)) {
			return p.txn
		}
	}
	l.held = append(l.held, r)
	l.count.Store(int64(len(l.held)))
	r.txn.ranges = append(r.txn.ranges, r)
	return nil
}

// sameSpan reports that two ranges have the same bounds.
func (ix *index) sameSpan(a, b span) bool {
	same := func(has, hasOther bool, x, y entry) bool {
		return has == hasOther && (!has || ix.compareBounds(x.key, y.key) == 0)
	}
	return same(a.bounded, b.bounded, a.from, b.from) && same(a.stops, b.stops, a.stop, b.stop)
}

// blocker returns a transaction whose range the write of a row would change.
func (l *rangeLocks) blocker(own *Txn, before, after Row) *Txn {
	if l.count.Load() == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.held {
		if r.txn.owner != own.owner && (r.touches(before) || r.touches(after)) {
			return r.txn
		}
	}
	return nil
}

// queue notes a writer that waits and returns what takes the note back.
func (l *rangeLocks) queue(t *Txn, before, after Row) (done func()) {
	p := &pendingWrite{txn: t, before: before, after: after}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, p)
	return func() {
		l.mu.Lock()
		l.pending = slices.DeleteFunc(l.pending, func(o *pendingWrite) bool { return o == p })
		l.mu.Unlock()
		t.db.store.locks.wake(t)
	}
}

// remove gives a range back.
func (l *rangeLocks) remove(r *rangeLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held = slices.DeleteFunc(l.held, func(o *rangeLock) bool { return o == r })
	l.count.Store(int64(len(l.held)))
}

// releaseRanges ends the ranges taken at or after the sequence number since. Whoever
// waits for them is woken by the caller.
func (t *Txn) releaseRanges(since uint64) {
	t.ranges = slices.DeleteFunc(t.ranges, func(r *rangeLock) bool {
		if r.since < since {
			return false
		}
		r.tab.ranges.remove(r)
		return true
	})
}

// tooManyRanges reports that the transaction had better lock the whole table.
func (t *Txn) tooManyRanges(tab *table) bool {
	n := 0
	for _, r := range t.ranges {
		if r.tab == tab {
			n++
		}
	}
	return n >= maxRanges
}
