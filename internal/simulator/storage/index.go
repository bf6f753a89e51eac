package storage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/btree"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// entry is an item of an index: a record under one of the keys that its versions
// have. A chain with several keys has several entries; a reader takes the one whose
// key is that of the version it sees.
//
// An entry without a record is a bound: key holds a prefix in the order of the index's
// columns and then, as its last value, the side: -1 before all entries that begin with
// the prefix, 1 after them.
type entry struct {
	rec *record
	key Row // a whole row with this key
}

type keyColumn struct {
	ordinal int
	desc    bool
	typ     sqltypes.Type
}

// compare orders two values of the column as the index does. The commonest kinds of
// keys, integers and LSNs, take a short way to what sqltypes.Compare says.
func (c *keyColumn) compare(a, b *sqltypes.Value) int {
	var order int
	switch {
	case a.Kind() == sqltypes.KindInt && b.Kind() == sqltypes.KindInt && c.typ.ID.IsInteger():
		order = cmp.Compare(a.Int64(), b.Int64())
	case a.Kind() == sqltypes.KindBytes && b.Kind() == sqltypes.KindBytes && c.typ.ID.IsBinary() && len(a.Raw()) == len(b.Raw()):
		order = strings.Compare(a.Raw(), b.Raw())
	default:
		order = sqltypes.Compare(*a, *b, c.typ)
	}
	if c.desc {
		return -order
	}
	return order
}

// index is one ordered index of a table, guarded by the table's latch.
type index struct {
	def  IndexDef
	cols []keyColumn // none for a heap
	tree *btree.BTreeG[entry]
	// resolved is false for a filtered index whose predicate is not known yet.
	resolved bool
	// hint remembers the path of the uniqueness check for the insert that follows it.
	hint btree.PathHint
}

func newIndex(def IndexDef, columns []sqltypes.Type) *index {
	ix := &index{def: def, resolved: def.FilterSource == "" || def.Filter != nil}
	for _, c := range def.Columns {
		ix.cols = append(ix.cols, keyColumn{ordinal: c.Ordinal, desc: c.Desc, typ: columns[c.Ordinal]})
	}
	ix.tree = btree.NewBTreeGOptions(ix.less, btree.Options{NoLocks: true})
	return ix
}

// newHeap returns the base index of a table without a clustered index.
func newHeap() *index { return newIndex(IndexDef{ID: BaseIndex}, nil) }

func (ix *index) less(a, b entry) bool {
	switch {
	case a.rec == nil:
		return ix.compareBound(a.key, b) < 0
	case b.rec == nil:
		return ix.compareBound(b.key, a) > 0
	}
	if c := ix.compareKeys(a.key, b.key); c != 0 {
		return c < 0
	}
	return a.rec.id < b.rec.id
}

// compareKeys compares the keys of two rows.
func (ix *index) compareKeys(a, b Row) int {
	for i := range ix.cols {
		col := &ix.cols[i]
		if c := col.compare(&a[col.ordinal], &b[col.ordinal]); c != 0 {
			return c
		}
	}
	return 0
}

// compareBound compares a bound with an entry; they are never equal.
func (ix *index) compareBound(bound Row, e entry) int {
	n := len(bound) - 1
	for i := range n {
		col := &ix.cols[i]
		if c := col.compare(&bound[i], &e.key[col.ordinal]); c != 0 {
			return c
		}
	}
	return int(bound[n].Int64())
}

// bound makes a bound of a prefix.
func bound(prefix []sqltypes.Value, after bool) entry {
	side := int64(-1)
	if after {
		side = 1
	}
	return entry{key: append(slices.Clone(Row(prefix)), sqltypes.IntOf(side))}
}

// key returns the values of the index's columns.
func (ix *index) key(row Row) []sqltypes.Value {
	key := make([]sqltypes.Value, len(ix.cols))
	for i, c := range ix.cols {
		key[i] = row[c.ordinal]
	}
	return key
}

// covers reports that the row belongs into the index.
func (ix *index) covers(row Row) bool { return ix.def.Filter == nil || ix.def.Filter(row) }

// at reports that row has its place in the index at the entry e of its record.
func (ix *index) at(e entry, row Row) bool {
	if len(row) > 0 && len(e.key) > 0 && &row[0] == &e.key[0] {
		return true
	}
	return ix.covers(row) && ix.compareKeys(row, e.key) == 0
}

// add enters the record under row's key. An entry of the same key is replaced, which
// lets go of the older row.
func (ix *index) add(rec *record, row Row) {
	if !ix.covers(row) {
		return
	}
	e := entry{rec: rec, key: row}
	if last, ok := ix.tree.Max(); !ok || ix.less(last, e) {
		ix.tree.Load(e)
		return
	}
	ix.tree.SetHint(e, &ix.hint)
}

// holder returns the newest version from v on that has its place under row's key.
func (ix *index) holder(v *version, row Row) *version {
	for ; v != nil; v = v.prev {
		if v.row != nil && ix.compareKeys(v.row, row) == 0 && ix.covers(v.row) {
			return v
		}
	}
	return nil
}

// conflict is what checkUnique found.
type conflict struct {
	duplicate bool
	// stale: the view still shows a row of that key, which has gone since.
	stale bool
	// record is the row that is in the way; its writer must end before one can say
	// whether it is a duplicate, unless duplicate or stale is set.
	record *record
}

// checkUnique looks for other records than self with row's key in a unique index, as
// the transaction with the view w meets them.
func (ix *index) checkUnique(w view, row Row, self *record) conflict {
	if last, ok := ix.tree.Max(); !ok || ix.compareKeys(last.key, row) < 0 {
		return conflict{}
	}
	var found conflict
	ix.tree.AscendHint(bound(ix.key(row), false), func(e entry) bool {
		if ix.compareKeys(e.key, row) != 0 {
			return false
		}
		if e.rec != self {
			found = ix.conflictWith(w, row, e.rec)
		}
		return found.record == nil
	}, &ix.hint)
	return found
}

// conflictWith checks one record. Its newest committed state, what a running transaction
// makes of it, and what a snapshot shows of it can be in the way.
func (ix *index) conflictWith(w view, row Row, rec *record) conflict {
	hit := func(v *version) bool {
		return v != nil && v.row != nil && ix.covers(v.row) && ix.compareKeys(v.row, row) == 0
	}
	_, running := rec.writer(w.own)
	for v := rec.head; v != nil; v = v.prev {
		if hit(v) {
			return conflict{duplicate: !running, record: rec}
		}
		if !running || v.status.commit.Load() != 0 {
			break
		}
	}
	if rec.head.status != w.own && hit(w.sees(rec.head)) {
		return conflict{stale: true, record: rec}
	}
	return conflict{}
}

// build fills an empty index from the table's records with one entry per key of each
// chain.
func (ix *index) build(records *recordMap) {
	entries := make([]entry, 0, records.len)
	records.each(func(rec *record) {
		for v := rec.head; v != nil; v = v.prev {
			if v.row != nil && ix.covers(v.row) {
				entries = append(entries, entry{rec: rec, key: v.row})
			}
		}
	})
	slices.SortFunc(entries, func(a, b entry) int {
		switch {
		case ix.less(a, b):
			return -1
		case ix.less(b, a):
			return 1
		default:
			return 0
		}
	})
	for _, e := range entries {
		ix.tree.Load(e)
	}
}

// firstDuplicate returns a row whose key another row has as well, looking at the
// newest versions.
func (ix *index) firstDuplicate() (Row, bool) {
	var last, dup Row
	ix.tree.Scan(func(e entry) bool {
		row := e.rec.head.row
		if row == nil || !ix.at(e, row) {
			return true
		}
		if last != nil && ix.compareKeys(last, row) == 0 {
			dup = row
			return false
		}
		last = row
		return true
	})
	return dup, dup != nil
}
