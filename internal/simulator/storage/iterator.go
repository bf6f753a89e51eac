package storage

import "fmt"

// readMode is how a scan looks at rows that others are changing.
type readMode uint8

const (
	readCurrent readMode = iota // the newest committed state; waits for writers
	readView                    // a point in time; never waits
	readDirty                   // the newest state, committed or not; never waits
)

// Iterator walks the rows of a scan. It holds no latch between calls, so it may stay
// open while others write: it reads rows in chunks and finds its place again by key.
// It ends with its statement: its locks and its view do.
type Iterator struct {
	t       *Txn
	tableID int64
	indexID int
	rng     Range
	opts    ScanOptions

	// Set by open.
	opened  bool
	tab     *table
	ix      *index
	span    span
	mode    readMode
	view    view
	rowLock LockMode

	rows  []rowImage // read and not yet returned: rows[next:]
	next  int
	chunk int
	last  *entry // the last entry looked at
	place entry
	ended bool
	err   error
	// locked is the row lock that the last Next took.
	locked resource
	few    [firstChunk]rowImage
}

// The rows of the first chunk, enough for a seek, and of the largest.
const (
	firstChunk = 4
	maxChunk   = 512
)

// Scan starts a scan of an index (IndexDef.ID, or [BaseIndex]). Every index returns
// whole rows. Errors show in Err after the first Next.
func (t *Txn) Scan(table int64, index int, rng Range, opts ScanOptions) *Iterator {
	return &Iterator{
		t: t, tableID: table, indexID: index, rng: rng, opts: opts, chunk: firstChunk,
		view: view{at: newest, own: t.status, before: t.ownBefore(opts)},
	}
}

// ownBefore returns the sequence number from which on a scan does not see the
// transaction's own changes.
func (t *Txn) ownBefore(opts ScanOptions) uint64 {
	if opts.StatementStart {
		return t.statementSeq
	}
	return t.seq + 1
}

// Next returns the next row; ok is false at the end and on an error. The row is
// shared and must not be changed.
func (it *Iterator) Next() (id RowID, row Row, ok bool) {
	if it.next == len(it.rows) && !it.fill() {
		return 0, nil, false
	}
	r := &it.rows[it.next]
	it.next++
	return r.id, r.row, true
}

// ReleaseRow gives back the row lock that the last Next took, for a row that an
// UPDATE's or DELETE's predicate rejected.
func (it *Iterator) ReleaseRow() {
	if it.locked.row != 0 && !it.t.done {
		it.t.unlock(it.locked)
	}
	it.locked = resource{}
}

// Err returns the error that ended the walk.
func (it *Iterator) Err() error { return it.err }

// Close ends the walk. Closing twice is fine.
func (it *Iterator) Close() {
	it.ended = true
	it.rows, it.next = nil, 0
}

// fill reads the next chunk; false at the end and on an error.
func (it *Iterator) fill() bool {
	it.locked = resource{}
	if it.ended {
		return false
	}
	if err := it.refill(); err != nil {
		it.err = err
		it.Close()
		return false
	}
	return len(it.rows) > 0
}

func (it *Iterator) refill() error {
	if it.t.done {
		return ErrTxnDone
	}
	if !it.opened {
		if err := it.open(); err != nil {
			return err
		}
	}
	if it.rowLock != LockNone && it.tableMode().coversRows(it.rowLock) {
		it.rowLock, it.chunk = LockNone, firstChunk // from the start, or escalated
	}
	it.rows, it.next = it.buffer(), 0
	for len(it.rows) == 0 && !it.ended {
		barrier := it.read()
		if barrier == nil || len(it.rows) > 0 {
			continue
		}
		if err := it.pass(barrier); err != nil {
			return err
		}
	}
	return nil
}

// tableMode is the lock that the transaction has on the table.
func (it *Iterator) tableMode() LockMode { return it.t.heldMode(it.t.tableResource(it.tableID)) }

// buffer returns the space for the next chunk; chunks grow as the scan proves long.
func (it *Iterator) buffer() []rowImage {
	switch {
	case it.rows == nil:
		return it.few[:0]
	case len(it.rows) == it.chunk && it.rowLock == LockNone && it.chunk < maxChunk:
		it.chunk = min(it.chunk*8, maxChunk)
		return make([]rowImage, 0, it.chunk)
	default:
		return it.rows[:0]
	}
}

// open takes the table lock and decides how rows are read.
func (it *Iterator) open() error {
	t := it.t
	t.used = true
	it.mode, it.rowLock = t.readMode(it.opts)
	serializable := t.serializable(it.opts, it.mode)
	ranged := serializable && (len(it.rng.Low) > 0 || len(it.rng.High) > 0)
	tableLock, statement := t.scanLock(it.opts, it.mode, serializable && !ranged)
	if err := t.lockNow(it.opts.NoWait, t.tableResource(it.tableID), tableLock, statement); err != nil {
		return err
	}
	if it.rowLock != LockNone {
		it.chunk = 1 // no lock on a row that nobody has asked for yet
	}
	it.tab = t.db.table(it.tableID)
	if it.tab == nil {
		return &NoTableError{Table: it.tableID}
	}
	if it.mode == readView {
		var err error
		if it.view.at, err = t.viewTime(it.tab, it.opts); err != nil {
			return err
		}
	}
	it.opened = true
	if err := it.openIndex(); err != nil {
		return err
	}
	if !ranged || it.tableMode().coversRows(LockS) {
		return nil
	}
	if len(it.ix.cols) == 0 || t.tooManyRanges(it.tab) {
		return t.lockNow(it.opts.NoWait, t.tableResource(it.tableID), LockS, false)
	}
	return it.lockRange()
}

// openIndex finds the index and the place of the range in it.
func (it *Iterator) openIndex() error {
	it.tab.latch.RLock()
	defer it.tab.latch.RUnlock()
	var err error
	if it.ix, err = it.tab.index(it.indexID); err != nil {
		return err
	}
	if !it.ix.resolved {
		return fmt.Errorf("table %d: the filter of index %d is not resolved", it.tableID, it.indexID)
	}
	it.span = it.rng.span(it.ix, it.opts.Desc)
	return nil
}

// barrier is what a scan must wait for: a writer's end, or a row lock.
type barrier struct {
	writer *Txn
	wait   *waiter
	row    resource
}

// pass waits for a barrier. A row lock stays, and the next read finds the row again.
func (it *Iterator) pass(b *barrier) error {
	if it.opts.NoWait {
		return lockTimeoutError()
	}
	if b.wait == nil {
		return it.t.waitForWriter(b.writer, b.row, LockS)
	}
	if err := it.t.wait(b.wait); err != nil {
		return err
	}
	it.t.record(b.row, it.rowLock, false)
	it.locked = b.row
	return nil
}

// read fills rows from the index until the chunk is full, the range ends, or a row is
// in the way of which nothing before it has been returned.
func (it *Iterator) read() (b *barrier) {
	it.tab.latch.RLock()
	defer it.tab.latch.RUnlock()
	full := false
	walk(it.ix, it.span, it.last, func(e entry) bool {
		row, skip, barrier := it.look(e)
		if barrier != nil && !it.opts.ReadPast {
			b = barrier
			return false
		}
		it.place = e
		it.last = &it.place
		if !skip && barrier == nil {
			it.rows = append(it.rows, rowImage{e.rec.id, row})
		}
		full = len(it.rows) >= it.chunk
		return !full
	})
	it.ended = b == nil && !full
	return b
}

// look returns the row that the scan sees at an entry, skip if there is none, or what
// it must wait for.
func (it *Iterator) look(e entry) (row Row, skip bool, b *barrier) {
	if it.mode == readDirty {
		// Dirty reads too leave out what the statement itself has written.
		v := e.rec.head
		for v != nil && v.status == it.view.own && v.seq >= it.view.before {
			v = v.prev
		}
		return it.at(e, v)
	}
	if it.mode == readCurrent {
		if writer, running := e.rec.writer(it.t.status); running {
			return nil, false, &barrier{writer: writer, row: it.t.rowResource(it.tab, e.rec.id)}
		}
	}
	row, skip, _ = it.at(e, it.view.sees(e.rec.head))
	if skip || it.rowLock == LockNone {
		return row, skip, nil
	}
	return row, false, it.lockRow(e)
}

// at returns a version's row if the entry is its place.
func (it *Iterator) at(e entry, v *version) (row Row, skip bool, b *barrier) {
	if v == nil || v.row == nil || !it.ix.at(e, v.row) {
		return nil, true, nil
	}
	return v.row, false, nil
}

// lockRow takes the scan's lock on a row, or returns the barrier.
func (it *Iterator) lockRow(e entry) *barrier {
	res := it.t.rowResource(it.tab, e.rec.id)
	if e.rec.head.status == it.t.status {
		return nil // our own change is an X lock
	}
	held := it.t.heldMode(res)
	if held.with(it.rowLock) == held {
		return nil
	}
	w := it.t.tryLock(res, it.rowLock, false, it.opts.ReadPast || it.opts.NoWait)
	if w != nil {
		return &barrier{wait: w, row: res}
	}
	if held == LockNone {
		it.locked = res
	}
	return nil
}

// Get returns one row by its id as Scan would.
func (t *Txn) Get(table int64, id RowID, opts ScanOptions) (row Row, ok bool, err error) {
	it := t.Scan(table, BaseIndex, Range{}, opts)
	defer it.Close()
	if t.done {
		return nil, false, ErrTxnDone
	}
	if err := it.open(); err != nil {
		return nil, false, err
	}
	for {
		row, skip, b := it.lookAt(id)
		switch {
		case b == nil:
			return row, !skip, nil
		case opts.ReadPast:
			return nil, false, nil
		}
		if err := it.pass(b); err != nil {
			return nil, false, err
		}
	}
}

// lookAt looks at one row by its id.
func (it *Iterator) lookAt(id RowID) (row Row, skip bool, b *barrier) {
	it.tab.latch.RLock()
	defer it.tab.latch.RUnlock()
	rec := it.tab.records.get(id)
	if rec == nil {
		return nil, true, nil
	}
	// A row by its id is in its place whatever its key, so the entry is that of the
	// version seen.
	e := entry{rec: rec}
	if it.mode == readDirty {
		e.key = rec.head.row
	} else if v := it.view.sees(rec.head); v != nil {
		e.key = v.row
	}
	return it.look(e)
}
