package storage

import (
	"fmt"
	"time"
)

// replayer rebuilds a database from its file's frames. Indexes are built at the end.
type replayer struct {
	db *Database
	// seenHeader is set by the first frame.
	seenHeader bool
	// txn collects a record until its last frame: nothing of an unfinished one counts.
	txn      *loggedTxn
	txnKind  byte
	counters []counterValue
	ops      []fileOp
	// rowsTable is the table of the last frameTable.
	rowsTable *table
}

// pending reports that a record is not complete.
func (r *replayer) pending() bool { return r.txn != nil }

// frame applies one frame.
func (r *replayer) frame(kind byte, payload []byte) error {
	d := &decoder{b: payload}
	more := kind&frameMore != 0
	kind &^= frameMore
	if r.seenHeader == (kind == frameHeader) {
		return fmt.Errorf("header frame is missing or repeated")
	}
	if r.pending() != (kind == frameContinues) {
		return fmt.Errorf("record is interrupted by a frame of kind %d", kind)
	}
	switch kind {
	case frameHeader:
		if format := d.uvarint(); format != fileFormat {
			return fmt.Errorf("file format %d is not known, only %d is", format, fileFormat)
		}
		r.seenHeader = true
		r.db.id, r.db.name = int(d.uvarint()), d.string()
	case frameTxn, frameLogged:
		txn, counters := d.txnHeader()
		r.txn, r.txnKind, r.counters, r.ops = &txn, kind, counters, nil
		r.readOps(d)
	case frameContinues:
		r.readOps(d)
	case frameTruncate:
		r.db.log.truncate(d.lsn())
	case frameRetention:
		r.db.log.setRetain(d.bool())
	case frameName:
		r.db.name = d.string()
	case frameCounters:
		r.db.counters.apply(d.counters())
	case frameState:
		r.state(d)
	case frameTable:
		r.tableFrame(d)
	case frameRows:
		r.rowsFrame(d)
	default:
		return fmt.Errorf("frame kind %d is not known", kind)
	}
	if d.err != nil {
		return d.err
	}
	if r.pending() && !more {
		return r.finishTxn()
	}
	return nil
}

func (r *replayer) readOps(d *decoder) {
	for d.more() {
		if r.txnKind == frameLogged {
			r.ops = append(r.ops, d.loggedOp(r.txn.beginLSN))
		} else {
			r.ops = append(r.ops, d.op(r.txn.beginLSN))
		}
	}
}

// finishTxn applies a complete transaction.
func (r *replayer) finishTxn() error {
	txn, ops := r.txn, r.ops
	r.txn, r.ops = nil, nil
	for i := range ops {
		if r.txnKind == frameLogged {
			txn.ops = append(txn.ops, ops[i].logged())
			continue
		}
		o, err := r.apply(&ops[i])
		if err != nil {
			return err
		}
		if !ops[i].unlogged && r.db.log.retain {
			txn.ops = append(txn.ops, o)
		}
	}
	r.db.log.append(*txn)
	r.advance(txn.id, txn.commitLSN, txn.commitTime)
	r.db.counters.apply(r.counters)
	return nil
}

// advance makes later transactions come after this one.
func (r *replayer) advance(id uint64, lsn LSN, at time.Time) {
	r.db.lsns.after(lsn)
	r.db.nextTxn.Store(max(r.db.nextTxn.Load(), id))
	if at.After(r.db.lastCommitTime) {
		r.db.lastCommitTime = at
	}
}

// logged returns an operation for the log only.
func (o *fileOp) logged() op {
	out := op{kind: o.kind, lsn: o.lsn, pair: o.pair}
	if o.kind == opMarker {
		out.more = &opExtra{marker: o.marker, markerTable: o.table}
		return out
	}
	out.table = &table{id: o.table}
	out.rec = &record{id: o.row.id}
	if o.before != nil {
		out.before = &version{row: o.before, status: frozen}
	}
	if o.row.row != nil {
		out.after = &version{row: o.row.row, status: frozen}
	}
	return out
}

// apply does what the operation did and returns it for the log.
func (r *replayer) apply(o *fileOp) (op, error) {
	out := op{kind: o.kind, unlogged: o.unlogged, lsn: o.lsn, pair: o.pair}
	if o.kind == opMarker {
		return o.logged(), nil
	}
	tab := r.db.table(o.table)
	if (tab == nil) != (o.kind == opCreateTable) {
		return out, fmt.Errorf("operation %d on table %d, which exists: %t", o.kind, o.table, tab != nil)
	}
	out.table = tab
	switch o.kind {
	case opCreateTable:
		r.db.setTable(o.table, newTable(o.def, frozen))
	case opReplaceTable:
		fresh := newTable(o.def, frozen)
		fresh.nextID.Store(tab.nextID.Load())
		r.db.setTable(o.table, fresh)
	case opDropTable:
		r.db.setTable(o.table, nil)
	case opIndexes:
		tab.def = o.def
		tab.indexes = makeIndexes(&tab.def)
	case opInsert, opRewrittenRow:
		if tab.records.get(o.row.id) != nil {
			return out, fmt.Errorf("row %d of table %d is inserted twice", o.row.id, o.table)
		}
		out.after = &version{row: o.row.row, status: frozen}
		out.rec = &record{id: o.row.id, head: out.after}
		return out, tab.load(out.rec)
	case opUpdate, opDelete:
		out.rec = tab.records.get(o.row.id)
		if out.rec == nil {
			return out, fmt.Errorf("row %d of table %d is changed but not there", o.row.id, o.table)
		}
		out.before, out.after = out.rec.head, &version{row: o.row.row, status: frozen}
		if o.kind == opDelete {
			tab.records.remove(o.row.id)
			return out, nil
		}
		out.rec.head = out.after
		return out, tab.load(out.rec)
	}
	return out, nil
}

// load puts a record of a file into the table.
func (tab *table) load(rec *record) error {
	if len(rec.head.row) != len(tab.def.Columns) {
		return fmt.Errorf("row %d of table %d has %d values, not %d", rec.id, tab.id, len(rec.head.row), len(tab.def.Columns))
	}
	tab.records.put(rec)
	tab.nextID.Store(max(tab.nextID.Load(), uint64(rec.id)))
	return nil
}

// finish makes the database usable.
func (r *replayer) finish() {
	for _, tab := range r.db.allTables() {
		for _, ix := range tab.indexes {
			if ix.resolved {
				ix.build(&tab.records)
			}
		}
	}
}

// state takes the counters of a compacted file.
func (r *replayer) state(d *decoder) {
	id, lsn, at := d.uvarint(), d.lsn(), d.time()
	r.advance(id, lsn, at)
}

// tableFrame takes a table of a compacted file.
func (r *replayer) tableFrame(d *decoder) {
	def, nextID := d.tableDef(), d.uvarint()
	if d.err != nil || r.db.table(def.ID) != nil && def.ID != metaTable {
		d.fail()
		return
	}
	r.rowsTable = newTable(def, frozen)
	r.rowsTable.nextID.Store(nextID)
	r.db.setTable(def.ID, r.rowsTable)
}

// rowsFrame takes rows of the table before it.
func (r *replayer) rowsFrame(d *decoder) {
	for d.more() {
		id := RowID(d.uvarint())
		rec := &record{id: id, head: &version{row: d.row(), status: frozen}}
		if d.err != nil {
			return
		}
		if r.rowsTable == nil || r.rowsTable.load(rec) != nil {
			d.fail()
		}
	}
}
