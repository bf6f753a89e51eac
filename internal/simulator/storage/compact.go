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
	st := state{
		retain: db.log.retain, lastTxn: db.nextTxn.Load(), lastCommit: db.lsns.lastCommit(),
		lastCommitTime: db.lastCommitTime, log: db.log.txns,
	}
	if err := l.writeState(db.id, db.name, st, db.counters.all()); err != nil {
		return err
	}
	for _, tab := range db.allTables() {
		def, rows := tab.rowsAt(view{at: newest})
		if err := l.writeTable(def, tab.nextID.Load(), rows); err != nil {
			return err
		}
	}
	return l.writeLog(db.log.txns)
}

// writeState writes what comes before the tables.
func (l *logFile) writeState(id int, name string, st state, counters []counterValue) error {
	if err := l.writeHeader(id, name); err != nil {
		return err
	}
	if err := l.writeRetention(st.retain); err != nil {
		return err
	}
	w := l.begin(frameState)
	l.buf = append(binary.AppendUvarint(l.buf, st.lastTxn), st.lastCommit[:]...)
	l.buf = appendTime(l.buf, st.lastCommitTime)
	if err := w.end(); err != nil {
		return err
	}
	return l.writeCounters(counters)
}

// writeLog writes what the log keeps.
func (l *logFile) writeLog(txns []loggedTxn) error {
	for i := range txns {
		if err := l.writeLogged(&txns[i]); err != nil {
			return err
		}
	}
	return nil
}

// writeTable writes a table's definition and rows.
func (l *logFile) writeTable(def TableDef, nextID uint64, rows []rowImage) error {
	w := l.begin(frameTable)
	l.buf = binary.AppendUvarint(appendTableDef(l.buf, def), nextID)
	if err := w.end(); err != nil {
		return err
	}
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
