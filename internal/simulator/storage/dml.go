package storage

import (
	"errors"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// WriteOptions qualifies one write.
type WriteOptions struct {
	// Unlogged keeps the change out of ReadLog (tables that nobody captures, the
	// change tables themselves). It is as durable as others.
	Unlogged bool
	// Pair makes an insert the second half of a deferred update: the LSN that Delete
	// returned for its first half.
	Pair LSN
}

// Insert stores a row and returns its id. The row belongs to the store from then on.
// Errors: *DuplicateKeyError, *sqltypes.Error 1222, 1205 and (under Snapshot) 3960,
// *NoTableError.
func (t *Txn) Insert(table int64, row Row, opts WriteOptions) (RowID, error) {
	tab, err := t.writable(table)
	if err != nil {
		return 0, err
	}
	for {
		id, obstacle, err := t.insertOnce(tab, row, opts)
		if obstacle == nil {
			t.endOnConflict(err)
			return id, err
		}
		if err := t.overcome(tab, obstacle); err != nil {
			return 0, err
		}
	}
}

// Update replaces a row. Errors as Insert's, ErrRowNotFound.
func (t *Txn) Update(table int64, id RowID, row Row, opts WriteOptions) error {
	_, err := t.change(table, id, row, opts)
	return err
}

// Delete removes a row and returns the LSN of the log record (for WriteOptions.Pair).
func (t *Txn) Delete(table int64, id RowID, opts WriteOptions) (LSN, error) {
	return t.change(table, id, nil, opts)
}

// obstacle is what a write must wait for before it is tried again: the end of a
// transaction, or a row lock.
type obstacle struct {
	rec    *record // nil for a row that is not there yet
	writer *Txn
	lock   bool
	// inRange says that writer has read a range which the write would change, from
	// before to after.
	inRange       bool
	before, after Row
}

// overcome waits for an obstacle without any latch.
func (t *Txn) overcome(tab *table, o *obstacle) error {
	res := t.tableResource(tab.id)
	if o.rec != nil {
		res.row = o.rec.id
	}
	switch {
	case o.lock:
		return t.lock(res, LockX, false)
	case o.inRange:
		defer tab.ranges.queue(t, o.before, o.after)()
	}
	return t.waitForWriter(o.writer, res, LockX)
}

// rangeObstacle finds a range of another transaction that the write would change. The
// latch is held.
func (t *Txn) rangeObstacle(tab *table, rec *record, before, after Row) *obstacle {
	other := tab.ranges.blocker(t, before, after)
	if other == nil {
		return nil
	}
	return &obstacle{rec: rec, writer: other, inRange: true, before: before, after: after}
}

func (t *Txn) rowResource(tab *table, id RowID) resource {
	return resource{db: t.db.id, table: tab.id, row: id}
}

// writable returns a table that is locked for writing rows.
func (t *Txn) writable(id int64) (*table, error) {
	if t.done {
		return nil, ErrTxnDone
	}
	if err := t.checkWritable(); err != nil {
		return nil, err
	}
	t.used = t.used || id != metaTable
	if err := t.lock(t.tableResource(id), LockIX, false); err != nil {
		return nil, err
	}
	tab := t.db.table(id)
	if tab == nil {
		return nil, &NoTableError{Table: id}
	}
	if t.isolation == Snapshot && id != metaTable {
		if err := t.checkUnchanged(tab, t.snapshotView().at); err != nil {
			return nil, err
		}
	}
	return tab, nil
}

// checkWritable refuses writes of a transaction or in a database that is read-only.
func (t *Txn) checkWritable() error {
	if t.opts.ReadOnly {
		return ErrReadOnly
	}
	if t.opts.Replica || t.db.readOnly.Load() && !t.opts.Maintenance {
		return sqltypes.Errorf(3906, 1, 16, "Failed to update database \"%s\" because the database is read-only.", t.db.Name())
	}
	return nil
}

// checkUnchanged refuses a table whose definition is younger than the view.
func (t *Txn) checkUnchanged(tab *table, at uint64) error {
	if tab.changed == t.status || tab.changed.commit.Load() <= at {
		return nil
	}
	return sqltypes.Errorf(3961, 1, 16, "Snapshot isolation transaction failed in database '%s' because the object accessed by the statement has been modified by a DDL statement in another concurrent transaction since the start of this transaction.  It is disallowed because the metadata is not versioned. A concurrent update to metadata can lead to inconsistency if mixed with snapshot isolation.", t.db.Name())
}

// insertOnce inserts the row unless something is in the way.
func (t *Txn) insertOnce(tab *table, row Row, opts WriteOptions) (RowID, *obstacle, error) {
	tab.latch.Lock()
	defer tab.latch.Unlock()
	if err := tab.checkRow(row); err != nil {
		return 0, nil, err
	}
	if obstacle, err := t.checkUnique(tab, row, nil); obstacle != nil || err != nil {
		return 0, obstacle, err
	}
	if obstacle := t.rangeObstacle(tab, nil, nil, row); obstacle != nil {
		return 0, obstacle, nil
	}
	v := &version{row: row, status: t.status, seq: t.nextSeq()}
	rec := &record{id: RowID(tab.nextID.Add(1)), head: v}
	lsn := t.nextLSN(rowRecordSize + rowSize(row))
	// The operation is noted first, so that it is undone even if an index's filter panics.
	t.addOp(op{kind: opInsert, unlogged: opts.Unlogged, lsn: lsn, pair: opts.Pair, table: tab, rec: rec, after: v})
	tab.insert(rec)
	return rec.id, nil, nil
}

// change updates a row, or deletes it if row is nil.
func (t *Txn) change(table int64, id RowID, row Row, opts WriteOptions) (LSN, error) {
	tab, err := t.writable(table)
	if err != nil {
		return LSN{}, err
	}
	for {
		lsn, obstacle, err := t.changeOnce(tab, id, row, opts)
		if obstacle == nil {
			t.endOnConflict(err)
			return lsn, err
		}
		if err := t.overcome(tab, obstacle); err != nil {
			return LSN{}, err
		}
	}
}

// changeOnce changes the row unless something is in the way.
func (t *Txn) changeOnce(tab *table, id RowID, row Row, opts WriteOptions) (LSN, *obstacle, error) {
	tab.latch.Lock()
	defer tab.latch.Unlock()
	rec := tab.records.get(id)
	if rec == nil {
		return LSN{}, nil, ErrRowNotFound
	}
	if obstacle, err := t.claim(tab, rec); obstacle != nil || err != nil {
		return LSN{}, obstacle, err
	}
	if rec.head.row == nil {
		return LSN{}, nil, ErrRowNotFound
	}
	before := rec.head
	v := &version{row: row, status: t.status}
	o := op{kind: opDelete, unlogged: opts.Unlogged, pair: opts.Pair, table: tab, rec: rec, before: before, after: v}
	size := rowRecordSize + rowSize(before.row)
	if row != nil {
		o.kind = opUpdate
		size += rowSize(row)
		if err := tab.checkRow(row); err != nil {
			return LSN{}, nil, err
		}
		if obstacle, err := t.checkUnique(tab, row, rec); obstacle != nil || err != nil {
			return LSN{}, obstacle, err
		}
	}
	if obstacle := t.rangeObstacle(tab, rec, before.row, row); obstacle != nil {
		return LSN{}, obstacle, nil
	}
	v.seq = t.nextSeq()
	o.lsn = t.nextLSN(size)
	v.prev, rec.head = before, v
	t.addOp(o)
	tab.enter(rec, v)
	return o.lsn, nil, nil
}

// claim checks that the transaction may change the row: nobody else has changed or
// locked it, nor changed it since the snapshot. The latch is held, so that pushing a
// version next takes the row's X lock.
func (t *Txn) claim(tab *table, rec *record) (*obstacle, error) {
	if rec.head.status == t.status {
		return nil, nil
	}
	if writer, running := rec.writer(t.status); running {
		return &obstacle{rec: rec, writer: writer}, nil
	}
	if t.db.store.locks.conflicts(t, t.rowResource(tab, rec.id), LockX) {
		return &obstacle{rec: rec, lock: true}, nil
	}
	if t.isolation == Snapshot && tab.id != metaTable && rec.head.status.commit.Load() > t.snapshotView().at {
		return nil, t.updateConflictError(tab)
	}
	return nil, nil
}

// checkUnique checks the unique indexes before a write of row to self, or of a new
// record. Under Snapshot the key of a row that others have deleted since is an update
// conflict: the view would show two rows of one key.
func (t *Txn) checkUnique(tab *table, row Row, self *record) (*obstacle, error) {
	w := view{at: newest, own: t.status, before: t.seq + 1}
	if t.isolation == Snapshot && tab.id != metaTable {
		w.at = t.snapshotView().at
	}
	blocker, err := tab.checkUnique(w, row, self)
	switch {
	case errors.Is(err, errStale):
		return nil, t.updateConflictError(tab)
	case err != nil:
		return nil, err
	case blocker != nil:
		writer, _ := blocker.writer(t.status)
		return &obstacle{rec: blocker, writer: writer}, nil
	}
	return nil, nil
}

const updateConflict = 3960

// endOnConflict rolls the transaction back if err is an update conflict, as the server
// does. The latch is not held.
func (t *Txn) endOnConflict(err error) {
	var e *sqltypes.Error
	if errors.As(err, &e) && e.Number == updateConflict {
		t.Rollback()
	}
}

func (t *Txn) updateConflictError(tab *table) error {
	return sqltypes.Errorf(updateConflict, 2, 16, "Snapshot isolation transaction aborted due to update conflict. You cannot use snapshot isolation to access table '%s' directly or indirectly in database '%s' to update, delete, or insert the row that has been modified or deleted by another transaction. Retry the transaction or change the isolation level for the update/delete statement.", tab.def.Name, t.db.Name())
}
