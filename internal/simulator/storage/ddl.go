package storage

import (
	"fmt"
	"slices"
)

// CreateTable makes an empty table. All DDL locks the table against every other
// access until the transaction's end, and is undone by a rollback.
func (t *Txn) CreateTable(def TableDef) error {
	if def.ID <= 0 {
		return fmt.Errorf("table id %d is not positive", def.ID)
	}
	if err := def.validate(); err != nil {
		return err
	}
	if err := t.lockSchema(def.ID); err != nil {
		return err
	}
	if t.db.table(def.ID) != nil {
		return fmt.Errorf("table id %d is taken", def.ID)
	}
	tab := newTable(def, t.status)
	t.db.setTable(def.ID, tab)
	t.addDDL(op{kind: opCreateTable, table: tab, more: &opExtra{def: tab.def}})
	return nil
}

// AlterTable gives a table new columns and indexes; rewrite makes the new row of an
// old one (nil: rows stay). Row ids stay. Snapshots taken before cannot read the
// table any more (3961). Errors: rewrite's, *DuplicateKeyError.
func (t *Txn) AlterTable(def TableDef, rewrite func(Row) (Row, error)) error {
	if err := def.validate(); err != nil {
		return err
	}
	old, err := t.alterable(def.ID)
	if err != nil {
		return err
	}
	if rewrite == nil {
		rewrite = func(r Row) (Row, error) { return r, nil }
	}
	var rows []rowImage
	for _, r := range old.liveRows() {
		row, err := rewrite(r.row)
		if err != nil {
			return err
		}
		if len(row) != len(def.Columns) {
			return fmt.Errorf("table %d has %d columns, the rewritten row %d values", def.ID, len(def.Columns), len(row))
		}
		rows = append(rows, rowImage{r.id, row})
	}
	return t.replaceTable(old, def, rows, true)
}

// TruncateTable removes all rows without logging them.
func (t *Txn) TruncateTable(table int64) error {
	old, err := t.alterable(table)
	if err != nil {
		return err
	}
	return t.replaceTable(old, old.def, nil, false)
}

// replaceTable puts a new table with these rows in the place of old.
func (t *Txn) replaceTable(old *table, def TableDef, rows []rowImage, rewritten bool) error {
	tab := newTable(def, t.status)
	tab.nextID.Store(old.nextID.Load())
	seq := t.nextSeq()
	for _, r := range rows {
		tab.records.put(&record{id: r.id, head: &version{row: r.row, status: t.status, seq: seq}})
	}
	if err := tab.buildIndexes(tab.indexes); err != nil {
		return err
	}
	t.db.setTable(def.ID, tab)
	t.addDDL(op{kind: opReplaceTable, table: tab, more: &opExtra{def: tab.def, old: old, rows: rows, rewritten: rewritten}})
	return nil
}

// DropTable removes a table.
func (t *Txn) DropTable(table int64) error {
	tab, err := t.alterable(table)
	if err != nil {
		return err
	}
	t.db.setTable(table, nil)
	t.addDDL(op{kind: opDropTable, table: tab, more: &opExtra{def: TableDef{ID: table}}})
	return nil
}

// CreateIndex adds an index; *DuplicateKeyError if a unique one meets equal keys.
func (t *Txn) CreateIndex(table int64, def IndexDef) error {
	tab, err := t.alterable(table)
	if err != nil {
		return err
	}
	changed := tab.def
	changed.Indexes = append(slices.Clone(tab.def.Indexes), def)
	return t.changeIndexes(tab, changed)
}

// DropIndex removes an index; without its clustered index a table is a heap.
func (t *Txn) DropIndex(table int64, index int) error {
	tab, err := t.alterable(table)
	if err != nil {
		return err
	}
	changed := tab.def
	changed.Indexes = slices.DeleteFunc(slices.Clone(tab.def.Indexes), func(d IndexDef) bool { return d.ID == index })
	if len(changed.Indexes) == len(tab.def.Indexes) {
		return &NoIndexError{Table: table, Index: index}
	}
	return t.changeIndexes(tab, changed)
}

// changeIndexes gives a table the indexes of def, keeping those it has.
func (t *Txn) changeIndexes(tab *table, def TableDef) error {
	if err := def.validate(); err != nil {
		return err
	}
	tab.latch.Lock()
	defer tab.latch.Unlock()
	indexes := makeIndexes(&def)
	var fresh []*index
	for i, ix := range indexes {
		if old, err := tab.index(ix.def.ID); err == nil && old.def.ID == ix.def.ID {
			indexes[i] = old
		} else {
			fresh = append(fresh, ix)
		}
	}
	if err := tab.buildIndexes(fresh); err != nil {
		return err
	}
	more := &opExtra{def: def, oldIndexes: tab.indexes, oldDef: tab.def}
	tab.indexes, tab.def = indexes, def
	t.addDDL(op{kind: opIndexes, table: tab, more: more})
	return nil
}

// TableDef returns a table's definition as the transaction sees it.
func (t *Txn) TableDef(table int64) (TableDef, error) {
	if t.done {
		return TableDef{}, ErrTxnDone
	}
	if err := t.lock(t.tableResource(table), LockSchS, true); err != nil {
		return TableDef{}, err
	}
	tab := t.db.table(table)
	if tab == nil {
		return TableDef{}, &NoTableError{Table: table}
	}
	tab.latch.RLock()
	defer tab.latch.RUnlock()
	return tab.def, nil
}

// lockSchema locks a table, or the id of one to be, against every other access.
func (t *Txn) lockSchema(id int64) error {
	if t.done {
		return ErrTxnDone
	}
	if err := t.checkWritable(); err != nil {
		return err
	}
	return t.lock(t.tableResource(id), LockSchM, false)
}

// alterable returns a table that is locked for DDL.
func (t *Txn) alterable(id int64) (*table, error) {
	if err := t.lockSchema(id); err != nil {
		return nil, err
	}
	tab := t.db.table(id)
	if tab == nil || id <= 0 {
		return nil, &NoTableError{Table: id}
	}
	return tab, nil
}

// addDDL notes a DDL change.
func (t *Txn) addDDL(o op) {
	t.used = true
	t.nextSeq()
	o.lsn = t.nextLSN(rowRecordSize)
	o.unlogged = true
	t.addOp(o)
}

// liveRows returns the newest rows in the order of their ids. The table is locked
// against writers.
func (tab *table) liveRows() []rowImage {
	_, rows := tab.rowsOf(func(rec *record) *version { return rec.head })
	return rows
}

// rowsAt returns the table's definition and the rows that a view shows, in the order of
// their ids.
func (tab *table) rowsAt(at view) (TableDef, []rowImage) {
	return tab.rowsOf(func(rec *record) *version { return at.sees(rec.head) })
}

func (tab *table) rowsOf(version func(*record) *version) (TableDef, []rowImage) {
	tab.latch.RLock()
	defer tab.latch.RUnlock()
	rows := make([]rowImage, 0, tab.records.len)
	tab.records.each(func(rec *record) {
		if v := version(rec); v != nil && v.row != nil {
			rows = append(rows, rowImage{rec.id, v.row})
		}
	})
	slices.SortFunc(rows, func(a, b rowImage) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return tab.def, rows
}

// buildIndexes fills empty indexes of the table and checks their uniqueness. Indexes
// whose filter is not resolved stay empty.
func (tab *table) buildIndexes(indexes []*index) error {
	for _, ix := range indexes {
		if !ix.resolved {
			continue
		}
		ix.build(&tab.records)
		if !ix.def.Unique {
			continue
		}
		if row, found := ix.firstDuplicate(); found {
			return &DuplicateKeyError{Table: tab.id, Index: ix.def.ID, Key: ix.key(row)}
		}
	}
	return nil
}
