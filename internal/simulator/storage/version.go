package storage

import "sync/atomic"

// txnStatus is what versions know of the transaction that wrote them. Storing commit
// makes all its versions visible in one step, whatever their number.
type txnStatus struct {
	// commit is the version clock's time of the commit, 0 before it.
	commit atomic.Uint64
	// txn is the running transaction, nil once it has ended, so that versions do not
	// keep it alive.
	txn atomic.Pointer[Txn]
}

// frozen is the status of rows that were read from a file: older than every view.
var frozen = func() *txnStatus {
	s := new(txnStatus)
	s.commit.Store(1)
	return s
}()

// version is one state of a row. All fields but prev are constant; prev changes only
// under the table's write latch, when versions that no view needs are cut off.
type version struct {
	row    Row // nil: the row is deleted
	prev   *version
	status *txnStatus
	seq    uint64 // the writer's sequence number
}

// record is a row through its life: a chain of versions, newest first. At most one
// running transaction has versions in a chain, at its head; that is the row's X lock
// (see doc.go). head is guarded by the table's latch.
type record struct {
	id   RowID
	head *version
}

// view is a point in time at which a reader looks at rows.
type view struct {
	// at is the version clock's time; later commits are not seen.
	at uint64
	// own is the reader's status, whose versions are seen if their sequence number is
	// below before.
	own    *txnStatus
	before uint64
}

// newest is the time of a view that sees every committed version.
const newest = ^uint64(0)

// sees returns the version of the chain that the view shows; nil if the row did not
// exist then.
func (w view) sees(v *version) *version {
	for ; v != nil; v = v.prev {
		if v.status == w.own {
			if v.seq < w.before {
				return v
			}
			continue
		}
		if at := v.status.commit.Load(); at != 0 && at <= w.at {
			return v
		}
	}
	return nil
}

// writer returns the running transaction other than own that wrote the head; nil if
// there is none. A transaction that is just ending counts as running until its status
// says so.
func (r *record) writer(own *txnStatus) (t *Txn, running bool) {
	s := r.head.status
	if s == own || s.commit.Load() != 0 {
		return nil, false
	}
	return s.txn.Load(), true
}

// pageSize is the number of row ids of a page.
const pageSize = 256

// page maps adjacent row ids to records.
type page struct {
	records [pageSize]*record
	used    int
}

// recordMap finds records by row id. Ids are dense, so pages beat a hash map.
type recordMap struct {
	pages map[RowID]*page
	len   int
}

func newRecordMap() recordMap { return recordMap{pages: make(map[RowID]*page)} }

func (m *recordMap) get(id RowID) *record {
	p := m.pages[id/pageSize]
	if p == nil {
		return nil
	}
	return p.records[id%pageSize]
}

func (m *recordMap) put(r *record) {
	p := m.pages[r.id/pageSize]
	if p == nil {
		p = new(page)
		m.pages[r.id/pageSize] = p
	}
	if p.records[r.id%pageSize] == nil {
		p.used++
		m.len++
	}
	p.records[r.id%pageSize] = r
}

func (m *recordMap) remove(id RowID) {
	p := m.pages[id/pageSize]
	if p == nil || p.records[id%pageSize] == nil {
		return
	}
	p.records[id%pageSize] = nil
	m.len--
	if p.used--; p.used == 0 {
		delete(m.pages, id/pageSize)
	}
}

// each calls f with every record, in no order.
func (m *recordMap) each(f func(*record)) {
	for _, p := range m.pages {
		for _, r := range p.records {
			if r != nil {
				f(r)
			}
		}
	}
}
