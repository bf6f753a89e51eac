package storage

// opKind is the kind of a change in a transaction. The numbers are part of the file
// format.
type opKind uint8

const (
	opInsert       opKind = 1
	opUpdate       opKind = 2
	opDelete       opKind = 3
	opMarker       opKind = 4
	opCreateTable  opKind = 5
	opReplaceTable opKind = 6 // ALTER TABLE, TRUNCATE TABLE
	opDropTable    opKind = 7
	opIndexes      opKind = 8 // CREATE INDEX, DROP INDEX
	opRewrittenRow opKind = 9 // in files only: a row of the opReplaceTable before it
)

// op is a change that a transaction has made: what undoes it, what the log keeps of
// it and what the file stores.
type op struct {
	kind     opKind
	unlogged bool
	lsn      LSN
	pair     LSN
	table    *table // of DDL: the new table, or the dropped one
	rec      *record
	before   *version // the version that was replaced
	after    *version // the version that was made
	more     *opExtra // markers and DDL
}

// opExtra is what only rare operations need.
type opExtra struct {
	marker      []byte
	markerTable int64
	def         TableDef // after DDL, as the file stores it
	old         *table   // replaced by DDL
	oldIndexes  []*index
	oldDef      TableDef
	rewritten   bool       // the rows of the new table are listed, else it is empty
	rows        []rowImage // the rows of a replaced table
}

// rowImage is a row with its id.
type rowImage struct {
	id  RowID
	row Row
}

// undo takes the change back.
func (o *op) undo(db *Database) {
	switch o.kind {
	case opInsert, opUpdate, opDelete:
		o.table.latch.Lock()
		defer o.table.latch.Unlock()
		o.table.pop(o.rec)
	case opCreateTable:
		db.setTable(o.table.id, nil)
	case opReplaceTable:
		db.setTable(o.table.id, o.more.old)
	case opDropTable:
		db.setTable(o.table.id, o.table)
	case opIndexes:
		o.table.latch.Lock()
		defer o.table.latch.Unlock()
		o.table.indexes, o.table.def = o.more.oldIndexes, o.more.oldDef
	}
}

// logRecord returns the record for ReadLog.
func (o *op) logRecord() LogRecord {
	r := LogRecord{LSN: o.lsn, PairLSN: o.pair}
	if o.kind == opMarker {
		r.Op, r.Marker, r.Table = LogMarker, o.more.marker, o.more.markerTable
		return r
	}
	r.Table, r.RowID = o.table.id, o.rec.id
	switch o.kind {
	case opInsert:
		r.Op = LogInsert
	case opUpdate:
		r.Op = LogUpdate
	case opDelete:
		r.Op = LogDelete
	}
	if o.before != nil {
		r.Before = o.before.row
	}
	if o.after != nil {
		r.After = o.after.row
	}
	return r
}

// logged reports that ReadLog shows the operation.
func (o *op) logged() bool { return !o.unlogged && o.kind <= opMarker }
