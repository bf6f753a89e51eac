package storage

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// table holds the rows of one table. DDL that changes the columns makes a new one in
// its place.
type table struct {
	id int64
	// changed is the transaction whose DDL made this table; older views cannot read it.
	changed *txnStatus
	nextID  atomic.Uint64
	ranges  rangeLocks

	// latch guards the fields below, the records and the trees. It is held for a few
	// microseconds, never across a wait.
	latch   sync.RWMutex
	def     TableDef
	records recordMap
	indexes []*index // the base index first
}

func (d *TableDef) validate() error {
	seen := map[int]bool{BaseIndex: true}
	for _, ix := range d.Indexes {
		if seen[ix.ID] {
			return fmt.Errorf("table %d: index id %d is used twice", d.ID, ix.ID)
		}
		seen[ix.ID] = true
		if err := ix.validate(len(d.Columns)); err != nil {
			return fmt.Errorf("table %d: %w", d.ID, err)
		}
	}
	if len(d.Columns) == 0 {
		return fmt.Errorf("table %d: no columns", d.ID)
	}
	return nil
}

func (d *IndexDef) validate(columns int) error {
	if len(d.Columns) == 0 {
		return fmt.Errorf("index %d: no columns", d.ID)
	}
	for _, c := range d.Columns {
		if c.Ordinal < 0 || c.Ordinal >= columns {
			return fmt.Errorf("index %d: no column %d", d.ID, c.Ordinal)
		}
	}
	if d.Filter != nil && d.FilterSource == "" {
		return fmt.Errorf("index %d: filter without a source", d.ID)
	}
	return nil
}

// newTable returns an empty table.
func newTable(def TableDef, changed *txnStatus) *table {
	tab := &table{id: def.ID, def: def, changed: changed, records: newRecordMap()}
	tab.def.Indexes = slices.Clone(def.Indexes)
	tab.indexes = makeIndexes(&tab.def)
	return tab
}

// makeIndexes returns empty indexes, the base index first.
func makeIndexes(def *TableDef) []*index {
	var base *index
	var others []*index
	for _, d := range def.Indexes {
		if ix := newIndex(d, def.Columns); d.ID == ClusteredIndex {
			base = ix
		} else {
			others = append(others, ix)
		}
	}
	if base == nil {
		base = newHeap()
	}
	return append([]*index{base}, others...)
}

// index returns the index of that id.
func (tab *table) index(id int) (*index, error) {
	if id == BaseIndex {
		return tab.indexes[0], nil
	}
	for _, ix := range tab.indexes {
		if ix.def.ID == id {
			return ix, nil
		}
	}
	return nil, &NoIndexError{Table: tab.id, Index: id}
}

// checkRow refuses what the indexes cannot hold.
func (tab *table) checkRow(row Row) error {
	if len(row) != len(tab.def.Columns) {
		return fmt.Errorf("table %d has %d columns, the row %d values", tab.id, len(tab.def.Columns), len(row))
	}
	for _, ix := range tab.indexes {
		if !ix.resolved {
			return fmt.Errorf("table %d: the filter of index %d is not resolved", tab.id, ix.def.ID)
		}
	}
	return nil
}

// errStale says that a key belongs to a row which has gone since the snapshot.
var errStale = errors.New("key of a row that was deleted since the snapshot")

// checkUnique checks all unique indexes; self is the record that takes the row, nil
// for a new one. Indexes in which self's key stays need no look.
func (tab *table) checkUnique(w view, row Row, self *record) (blocker *record, err error) {
	for _, ix := range tab.indexes {
		if !ix.def.Unique || !ix.covers(row) {
			continue
		}
		if self != nil && self.head.row != nil && ix.covers(self.head.row) && ix.compareKeys(self.head.row, row) == 0 {
			continue
		}
		c := ix.checkUnique(w, row, self)
		if c.duplicate {
			return nil, &DuplicateKeyError{Table: tab.id, Index: ix.def.ID, Key: ix.key(row)}
		}
		if c.stale {
			return nil, errStale
		}
		if c.record != nil {
			return c.record, nil
		}
	}
	return nil, nil
}

// insert adds a record of one version. The latch is held.
func (tab *table) insert(rec *record) {
	tab.records.put(rec)
	for _, ix := range tab.indexes {
		ix.add(rec, rec.head.row)
	}
}

// enter puts v, the newest version of rec, into the indexes. The latch is held.
func (tab *table) enter(rec *record, v *version) {
	if v.row == nil {
		return
	}
	for _, ix := range tab.indexes {
		ix.add(rec, v.row)
	}
}

// pop takes the newest version of rec away, and the record with its last one. The
// latch is held.
func (tab *table) pop(rec *record) {
	gone := rec.head
	rec.head = gone.prev
	if gone.row != nil {
		for _, ix := range tab.indexes {
			if v := ix.holder(rec.head, gone.row); v != nil {
				ix.tree.Set(entry{rec: rec, key: v.row})
			} else {
				ix.tree.Delete(entry{rec: rec, key: gone.row})
			}
		}
	}
	if rec.head == nil {
		// Iterators and lock waiters may still know the record.
		rec.head = &version{status: frozen}
		tab.records.remove(rec.id)
	}
}

// prune cuts off the versions of rec that no view at or after the time oldest sees,
// and removes a record that is nothing but deleted. The latch is held.
func (tab *table) prune(rec *record, oldest uint64) {
	keep := view{at: oldest}.sees(rec.head)
	if keep == nil {
		return
	}
	gone := keep.prev
	keep.prev = nil
	for v := gone; v != nil; {
		if v.row != nil {
			for _, ix := range tab.indexes {
				if ix.holder(rec.head, v.row) == nil {
					ix.tree.Delete(entry{rec: rec, key: v.row})
				}
			}
		}
		// The log may keep a version; it must not keep those before it.
		next := v.prev
		v.prev = nil
		v = next
	}
	if keep == rec.head && keep.row == nil && tab.records.get(rec.id) == rec {
		tab.records.remove(rec.id)
	}
}
