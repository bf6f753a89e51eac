package storage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// The documents live in a table of their own, so that versions, locks, log and file
// need no second mechanism.
const metaTable = -1

const (
	metaKey   = 0
	metaValue = 1
)

func metaTableDef() TableDef {
	return TableDef{
		ID: metaTable, Name: "meta",
		Columns: []sqltypes.Type{sqltypes.VarBinaryOf(8000), sqltypes.VarBinaryOf(sqltypes.Max)},
		Indexes: []IndexDef{{ID: ClusteredIndex, Unique: true, Columns: []IndexColumn{{Ordinal: metaKey}}}},
	}
}

// PutMeta stores a document under a key: transactional, versioned, durable. A key
// that another transaction is changing is waited for.
func (t *Txn) PutMeta(key string, value []byte) error {
	if key == "" || strings.HasSuffix(key, "\x00") {
		// Binary columns compare as if padded with zeros.
		return fmt.Errorf("document key %q is empty or ends with a zero byte", key)
	}
	row := Row{sqltypes.RawOf(key), sqltypes.BytesOf(value)}
	for {
		id, found, err := t.lockMeta(key)
		if err != nil {
			return err
		}
		if !found {
			_, err = t.Insert(metaTable, row, WriteOptions{Unlogged: true})
		} else {
			err = t.Update(metaTable, id, row, WriteOptions{Unlogged: true})
		}
		var duplicate *DuplicateKeyError
		if !errors.As(err, &duplicate) {
			return err
		}
		// Another transaction has stored the key and committed meanwhile.
	}
}

// DeleteMeta removes a document; a missing one is no error.
func (t *Txn) DeleteMeta(key string) error {
	id, found, err := t.lockMeta(key)
	if err != nil || !found {
		return err
	}
	_, err = t.Delete(metaTable, id, WriteOptions{Unlogged: true})
	return err
}

// lockMeta finds a document's row and locks it for a change.
func (t *Txn) lockMeta(key string) (RowID, bool, error) {
	if err := t.checkWritable(); err != nil {
		return 0, false, err
	}
	it := t.Scan(metaTable, ClusteredIndex, Point(sqltypes.RawOf(key)), ScanOptions{RowLock: LockU})
	defer it.Close()
	id, _, found := it.Next()
	return id, found, it.Err()
}

// Meta returns the document of that key: the transaction's own, else the newest
// committed one whatever the isolation level, since metadata has no versions on the
// server either. It never waits.
func (t *Txn) Meta(key string) (value []byte, ok bool) {
	return t.db.meta(key, view{at: newest, own: t.status, before: t.seq + 1})
}

// ScanMeta calls f with the documents whose keys begin with prefix, in key order,
// until f returns false. It sees what Meta sees, at one point in time.
func (t *Txn) ScanMeta(prefix string, f func(key string, value []byte) bool) {
	t.db.scanMeta(prefix, view{at: newest, own: t.status, before: t.seq + 1}, f)
}

// Meta returns the committed document of that key.
func (db *Database) Meta(key string) (value []byte, ok bool) {
	return db.meta(key, view{at: newest})
}

// ScanMeta calls f with the committed documents whose keys begin with prefix, in key
// order, as of one point in time, until f returns false.
func (db *Database) ScanMeta(prefix string, f func(key string, value []byte) bool) {
	db.scanMeta(prefix, view{at: newest}, f)
}

func (db *Database) meta(key string, at view) (value []byte, ok bool) {
	rows := db.metaRows(Point(sqltypes.RawOf(key)), at, func(Row) bool { return true })
	if len(rows) == 0 {
		return nil, false
	}
	return rows[0][metaValue].Bytes(), true
}

func (db *Database) scanMeta(prefix string, at view, f func(string, []byte) bool) {
	from := Range{Low: []sqltypes.Value{sqltypes.RawOf(prefix)}, LowInclusive: true}
	rows := db.metaRows(from, at, func(r Row) bool { return strings.HasPrefix(r[metaKey].Raw(), prefix) })
	for _, r := range rows {
		if !f(r[metaKey].Raw(), r[metaValue].Bytes()) {
			return
		}
	}
}

// metaRows returns the rows of a range that the view shows, up to the first for which
// more is false. Documents are few, so the latch is held over all of them.
func (db *Database) metaRows(rng Range, at view, more func(Row) bool) []Row {
	tab := db.table(metaTable)
	tab.latch.RLock()
	defer tab.latch.RUnlock()
	// Fixing the time under the latch is not enough: commits become visible without it.
	at.at = min(at.at, db.views.now())
	ix := tab.indexes[0]
	var rows []Row
	walk(ix, rng.span(ix, false), nil, func(e entry) bool {
		v := at.sees(e.rec.head)
		if v == nil || v.row == nil || !ix.at(e, v.row) {
			return true
		}
		if !more(v.row) {
			return false
		}
		rows = append(rows, v.row)
		return true
	})
	return rows
}
