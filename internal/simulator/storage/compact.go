package storage

import (
	"encoding/binary"
	"fmt"
)

// A file is rewritten at Open when it is larger than minCompact and more than
// compactRatio times what it would be then.
const (
	minCompact   = 1 << 20
	compactRatio = 2
)

// compact rewrites the file of a database that was just read if most of it is history.
func (db *Database) compact(path string) error {
	if db.file.size < minCompact || db.file.size < compactRatio*db.liveSize() {
		return nil
	}
	if err := db.replaceFile(path, db.writeCompacted); err != nil {
		return fmt.Errorf("compacting database file %q: %w", path, err)
	}
	return nil
}

// liveSize estimates the size of the compacted file.
func (db *Database) liveSize() int64 {
	var size int64
	for _, tab := range db.allTables() {
		tab.records.each(func(rec *record) { size += encodedSize(rec.head.row) })
	}
	for i := range db.log.txns {
		for j := range db.log.txns[i].ops {
			r := db.log.txns[i].ops[j].logRecord()
			size += encodedSize(r.Before) + encodedSize(r.After) + int64(len(r.Marker))
		}
	}
	return size
}

// encodedSize estimates a row's bytes in a file.
func encodedSize(row Row) int64 {
	n := int64(4)
	for i := range row {
		n += 4 + int64(len(row[i].Raw()))
	}
	return n
}

// allTables returns the user's tables and the documents'.
func (db *Database) allTables() []*table { return append(db.userTables(), db.table(metaTable)) }

// writeCompacted writes the whole state of a database that nobody uses yet.
func (db *Database) writeCompacted(l *logFile) error {
	steps := []func() error{
		func() error { return l.writeHeader(db.id, db.name) },
		func() error { return l.writeRetention(db.log.retain) },
		func() error { return l.writeState(db.nextTxn.Load(), db) },
		func() error { return l.writeCounters(db.counters.all()) },
	}
	for _, tab := range db.allTables() {
		steps = append(steps, func() error { return l.writeTable(tab) })
	}
	for i := range db.log.txns {
		steps = append(steps, func() error { return l.writeLogged(&db.log.txns[i]) })
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (l *logFile) writeState(txn uint64, db *Database) error {
	w := l.begin(frameState)
	last := db.lsns.lastCommit()
	l.buf = append(binary.AppendUvarint(l.buf, txn), last[:]...)
	l.buf = appendTime(l.buf, db.lastCommitTime)
	return w.end()
}

// writeTable writes a table's definition and rows.
func (l *logFile) writeTable(tab *table) error {
	w := l.begin(frameTable)
	l.buf = binary.AppendUvarint(appendTableDef(l.buf, tab.def), tab.nextID.Load())
	if err := w.end(); err != nil {
		return err
	}
	rows := tab.liveRows()
	for len(rows) > 0 {
		w = l.begin(frameRows)
		for len(rows) > 0 && len(l.buf) < partSize {
			l.buf = appendRow(binary.AppendUvarint(l.buf, uint64(rows[0].id)), rows[0].row)
			rows = rows[1:]
		}
		if err := w.end(); err != nil {
			return err
		}
	}
	return nil
}
