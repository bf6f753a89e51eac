package storage

import (
	"encoding/binary"
	"slices"
)

// Bits of an operation's first byte beside its kind.
const (
	opBitUnlogged = 0x80
	opBitPair     = 0x40
	opKindMask    = 0x3f
)

// fileOp is an operation as a file holds it.
type fileOp struct {
	kind      opKind
	unlogged  bool
	lsn, pair LSN
	table     int64
	row       rowImage
	before    Row // in frameLogged only
	marker    []byte
	def       TableDef
	rewritten bool
}

// appendTxnHeader appends what precedes a transaction's operations.
func appendTxnHeader(b []byte, t *loggedTxn, counters []counterValue) []byte {
	b = binary.AppendUvarint(b, t.id)
	b = append(b, t.beginLSN[:]...)
	b = append(b, t.commitLSN[:]...)
	b = appendTime(appendTime(b, t.beginTime), t.commitTime)
	return appendCounters(b, counters)
}

func appendCounters(b []byte, list []counterValue) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, c := range list {
		b = binary.AppendVarint(appendBool(appendString(b, c.key), c.deleted), c.value)
	}
	return b
}

// appendLSN appends an LSN that is not far above base.
func appendLSN(b []byte, lsn, base LSN) []byte {
	baseVLF, _, _ := base.Parts()
	vlf, block, slot := lsn.Parts()
	b = binary.AppendUvarint(b, uint64(vlf-baseVLF))
	b = binary.AppendUvarint(b, uint64(block))
	return binary.AppendUvarint(b, uint64(slot))
}

// appendOpHead appends what every operation begins with.
func appendOpHead(b []byte, o *op, base LSN) []byte {
	first := byte(o.kind)
	if o.unlogged {
		first |= opBitUnlogged
	}
	if !o.pair.IsZero() {
		first |= opBitPair
	}
	b = appendLSN(append(b, first), o.lsn, base)
	if !o.pair.IsZero() {
		b = appendLSN(b, o.pair, base)
	}
	return b
}

// appendOp appends an operation of a committed transaction.
func appendOp(b []byte, o *op, base LSN) []byte {
	b = appendOpHead(b, o, base)
	switch o.kind {
	case opInsert, opUpdate:
		b = appendRow(appendRowID(b, o), o.after.row)
	case opDelete:
		b = appendRowID(b, o)
	case opMarker:
		b = appendString(binary.AppendVarint(b, o.more.markerTable), string(o.more.marker))
	case opCreateTable, opIndexes:
		b = appendTableDef(b, o.more.def)
	case opReplaceTable:
		b = appendBool(appendTableDef(b, o.more.def), o.more.rewritten)
	case opDropTable:
		b = binary.AppendVarint(b, o.table.id)
	}
	return b
}

func appendRowID(b []byte, o *op) []byte {
	return binary.AppendUvarint(binary.AppendVarint(b, o.table.id), uint64(o.rec.id))
}

// appendRewrittenRow appends a row of the opReplaceTable before it.
func appendRewrittenRow(b []byte, table int64, r rowImage) []byte {
	b = binary.AppendVarint(append(b, byte(opRewrittenRow)|opBitUnlogged, 0, 0, 0), table)
	return appendRow(binary.AppendUvarint(b, uint64(r.id)), r.row)
}

// appendLoggedOp appends an operation that only the log needs, with both images.
func appendLoggedOp(b []byte, o *op, base LSN) []byte {
	b = appendOpHead(b, o, base)
	if o.kind == opMarker {
		return appendString(binary.AppendVarint(b, o.more.markerTable), string(o.more.marker))
	}
	b = appendRowID(b, o)
	if o.kind != opInsert {
		b = appendRow(b, o.before.row)
	}
	if o.kind != opDelete {
		b = appendRow(b, o.after.row)
	}
	return b
}

func (d *decoder) lsn() LSN {
	var l LSN
	copy(l[:], d.take(uint64(len(l))))
	return l
}

func (d *decoder) lsnAbove(base LSN) LSN {
	baseVLF, _, _ := base.Parts()
	vlf, block, slot := d.uvarint(), d.uvarint(), d.uvarint()
	return MakeLSN(baseVLF+uint32(vlf), uint32(block), uint16(slot))
}

func (d *decoder) txnHeader() (loggedTxn, []counterValue) {
	t := loggedTxn{id: d.uvarint(), beginLSN: d.lsn(), commitLSN: d.lsn(), beginTime: d.time(), commitTime: d.time()}
	return t, d.counters()
}

func (d *decoder) counters() []counterValue {
	var list []counterValue
	for range d.count() {
		list = append(list, counterValue{key: d.string(), deleted: d.bool(), value: d.varint()})
	}
	return list
}

func (d *decoder) opHead(base LSN) fileOp {
	first := d.byte()
	o := fileOp{kind: opKind(first & opKindMask), unlogged: first&opBitUnlogged != 0, lsn: d.lsnAbove(base)}
	if first&opBitPair != 0 {
		o.pair = d.lsnAbove(base)
	}
	return o
}

func (d *decoder) op(base LSN) fileOp {
	o := d.opHead(base)
	switch o.kind {
	case opInsert, opUpdate, opRewrittenRow:
		o.table, o.row.id = d.varint(), RowID(d.uvarint())
		o.row.row = d.row()
	case opDelete:
		o.table, o.row.id = d.varint(), RowID(d.uvarint())
	case opMarker:
		o.table, o.marker = d.varint(), slices.Clone(d.take(d.uvarint()))
	case opCreateTable, opIndexes:
		o.def = d.tableDef()
		o.table = o.def.ID
	case opReplaceTable:
		o.def, o.rewritten = d.tableDef(), d.bool()
		o.table = o.def.ID
	case opDropTable:
		o.table = d.varint()
	default:
		d.fail()
	}
	return o
}

func (d *decoder) loggedOp(base LSN) fileOp {
	o := d.opHead(base)
	switch o.kind {
	case opInsert, opUpdate, opDelete:
		o.table, o.row.id = d.varint(), RowID(d.uvarint())
		if o.kind != opInsert {
			o.before = d.row()
		}
		if o.kind != opDelete {
			o.row.row = d.row()
		}
	case opMarker:
		o.table, o.marker = d.varint(), slices.Clone(d.take(d.uvarint()))
	default:
		d.fail()
	}
	return o
}
