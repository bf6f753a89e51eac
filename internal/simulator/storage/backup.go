package storage

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"
)

// Backup returns the whole database as of one point in time: rows, definitions,
// documents, counters and the log that nobody has truncated. It waits for running DDL,
// not for writers.
func (db *Database) Backup(ctx context.Context, opts TxnOptions) (data []byte, last LSN, err error) {
	t := db.Begin(opts)
	defer t.Rollback()
	t.BeginStatement(ctx)
	b, err := t.photograph()
	if err != nil {
		return nil, LSN{}, err
	}
	defer db.views.release(b.view)
	var out memoryFile
	if err := b.write(&logFile{out: &out}); err != nil {
		return nil, LSN{}, fmt.Errorf("backing up database %q: %w", b.name, err)
	}
	return out, b.lastCommit, nil
}

// backup is what a database was at one point in time.
type backup struct {
	id     int
	name   string
	view   *viewRef
	tables []*table
	// state is what commits change together with the version clock.
	state
	counters []counterValue
}

// state is the part of a database that no table holds.
type state struct {
	retain         bool
	lastTxn        uint64
	lastCommit     LSN
	lastCommitTime time.Time
	log            []loggedTxn
}

// photograph fixes a point in time at which no DDL is half done: every table that is
// there then is locked against DDL.
func (t *Txn) photograph() (*backup, error) {
	db := t.db
	for {
		tables := db.allTables()
		for _, tab := range tables {
			if err := t.lock(t.tableResource(tab.id), LockSchS, true); err != nil {
				return nil, err
			}
		}
		b := db.fixState(t.id)
		complete := true
		b.tables = db.allTables()
		b.tables = slices.DeleteFunc(b.tables, func(tab *table) bool {
			at := tab.changed.commit.Load()
			return at == 0 || at > b.view.at
		})
		for _, tab := range b.tables {
			complete = complete && slices.Contains(tables, tab)
		}
		if complete {
			return b, nil
		}
		db.views.release(b.view)
	}
}

// fixState takes what no commit may change between two looks.
func (db *Database) fixState(txn uint64) *backup {
	db.commitMu.Lock()
	defer db.commitMu.Unlock()
	return &backup{
		id: db.id, name: db.name, view: db.views.take(nil), counters: db.counters.all(),
		state: state{
			retain: db.LogRetention(), lastTxn: txn, lastCommit: db.lsns.lastCommit(),
			lastCommitTime: db.lastCommitTime, log: db.log.all(),
		},
	}
}

func (b *backup) write(l *logFile) error {
	if err := l.writeState(b.id, b.name, b.state, b.counters); err != nil {
		return err
	}
	for _, tab := range b.tables {
		def, rows := tab.rowsAt(view{at: b.view.at})
		if err := l.writeTable(def, tab.nextID.Load(), rows); err != nil {
			return err
		}
	}
	return l.writeLog(b.log)
}

// RestoreDatabase puts what Backup returned in the place of the database of that id, or
// makes a new one. Nobody may use the old one. LSNs go on from those of the backup.
// Errors are *CorruptFileError, or come from the file system.
func (s *Store) RestoreDatabase(id int, name string, data []byte) (*Database, error) {
	db, end, err := s.replay(bytes.NewReader(data), int64(len(data)), name)
	if err != nil {
		return nil, err
	}
	if end != int64(len(data)) {
		return nil, &CorruptFileError{Path: name, Offset: end, Reason: "the end is missing"}
	}
	db.id, db.name = id, name
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.databases[id]; old != nil {
		if err := old.closeFile(); err != nil {
			return nil, fmt.Errorf("restoring database %q: %w", name, err)
		}
		old.retire()
	}
	if s.dir != "" {
		if err := db.replaceFile(filePath(s.dir, id), db.writeCompacted); err != nil {
			return nil, fmt.Errorf("restoring database %q: %w", name, err)
		}
	}
	s.databases[id] = db
	return db, nil
}

// retire makes commits in a database that has been replaced fail.
func (db *Database) retire() {
	db.commitMu.Lock()
	defer db.commitMu.Unlock()
	db.closed = true
}

// memoryFile is a file in memory that is written from its beginning to its end.
type memoryFile []byte

// WriteAt appends p.
func (m *memoryFile) WriteAt(p []byte, off int64) (int, error) {
	if off != int64(len(*m)) {
		return 0, fmt.Errorf("writing at %d, not at the end %d", off, len(*m))
	}
	*m = append(*m, p...)
	return len(p), nil
}
