package cdc

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// emitFunc takes one row of an instance's change table.
type emitFunc func(in *instance, row storage.Row) error

// converter turns the log records of one transaction into change rows.
type converter struct {
	commit storage.LSN
	start  sqltypes.Value // the same, as all rows share it
	// command is the id given last. It counts changes over all instances: one
	// insert, update and delete of a table with two instances is numbered 1, 3, 5
	// in the first and 2, 4, 6 in the second (recorded on 2022 CU27).
	command int64
	rows    int64
	emit    emitFunc
}

func newConverter(commit storage.LSN, emit emitFunc) *converter {
	return &converter{commit: commit, start: lsnValue(commit), emit: emit}
}

// record writes the rows of one change to the instances of its table.
func (c *converter) record(r *storage.LogRecord, instances []*instance) error {
	for _, in := range instances {
		if c.commit.Compare(in.startLSN) < 0 {
			continue
		}
		if err := c.change(in, r); err != nil {
			return err
		}
	}
	return nil
}

func (c *converter) change(in *instance, r *storage.LogRecord) error {
	switch r.Op {
	case storage.LogInsert:
		seq := r.LSN
		if !r.PairLSN.IsZero() {
			seq = r.PairLSN
		}
		c.command++
		return c.row(in, seq, opInsert, in.full, r.After, nil)
	case storage.LogDelete:
		c.command++
		return c.row(in, r.LSN, opDelete, in.full, r.Before, nil)
	case storage.LogUpdate:
		changed := in.changes(r.Before, r.After)
		if changed == nil {
			return nil
		}
		c.command++
		mask := sqltypes.BytesOf(changed)
		if err := c.row(in, r.LSN, opUpdateBefore, mask, r.Before, changed); err != nil {
			return err
		}
		return c.row(in, r.LSN, opUpdateAfter, mask, r.After, changed)
	}
	return nil
}

// changes is the update mask, nil when no captured column changed. Values are
// compared as stored, so that a change of case counts under every collation.
func (in *instance) changes(before, after storage.Row) []byte {
	var mask []byte
	for i := range in.columns {
		c := &in.columns[i]
		if c.image == never || c.value(before) == c.value(after) {
			continue
		}
		if mask == nil {
			mask = newMask(len(in.columns))
		}
		setBit(mask, i+1)
	}
	return mask
}

// row emits one change row.
func (c *converter) row(in *instance, seq storage.LSN, op int64, mask sqltypes.Value, source storage.Row, changed []byte) error {
	row := make(storage.Row, in.width)
	row[ctStartLSN] = c.start
	row[ctSeqVal] = lsnValue(seq)
	row[ctOperation] = sqltypes.IntOf(op)
	row[ctUpdateMask] = mask
	row[in.command] = sqltypes.IntOf(c.command)
	for i := range in.columns {
		col := &in.columns[i]
		if col.kept(op, i+1, changed) {
			row[col.slot] = col.value(source)
		}
	}
	c.rows++
	return c.emit(in, row)
}

// kept reports whether the column's value is in the image of an operation.
func (c *captured) kept(op int64, ordinal int, changed []byte) bool {
	switch c.image {
	case lobMax:
		return op != opUpdateBefore || isBitSet(string(changed), int64(ordinal))
	case lobOld:
		return op == opInsert || op == opUpdateAfter
	case never:
		return false
	}
	return true
}

// lsnValue is an LSN as binary(10).
func lsnValue(l storage.LSN) sqltypes.Value { return sqltypes.BytesOf(l[:]) }

// lsnOf reads a binary(10); NULL and other lengths are not ok.
func lsnOf(v sqltypes.Value) (l storage.LSN, ok bool) {
	if v.IsNull() || len(v.Raw()) != len(l) {
		return l, false
	}
	copy(l[:], v.Raw())
	return l, true
}
