package storage

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Database is one database: its tables, its log and its version clock are its own.
// All methods are safe for concurrent use.
type Database struct {
	store *Store
	id    int

	tablesMu sync.RWMutex
	tables   map[int64]*table

	// commitMu makes commits one after the other; see doc.go for the lock order.
	commitMu       sync.Mutex
	name           string
	closed         bool // dropped, or the store is closed
	lastCommitTime time.Time
	file           *logFile // nil in memory

	lsns     *lsnAllocator
	log      txnLog
	views    views
	garbage  garbageQueue
	counters *counters
	nextTxn  atomic.Uint64
	running  runningTxns
	// readOnly refuses writes (3906).
	readOnly atomic.Bool
	// rcsi is READ_COMMITTED_SNAPSHOT.
	rcsi atomic.Bool
}

func newDatabase(s *Store, name string, id int) *Database {
	db := &Database{
		store: s, id: id, name: name,
		tables: map[int64]*table{metaTable: newTable(metaTableDef(), frozen)},
		lsns:   newLSNAllocator(), counters: newCounters(),
		running: runningTxns{txns: make(map[*Txn]struct{})},
		views:   views{open: make(map[*viewRef]struct{}), visible: frozen.commit.Load()},
	}
	return db
}

// Name returns the database's name.
func (db *Database) Name() string {
	db.commitMu.Lock()
	defer db.commitMu.Unlock()
	return db.name
}

// ID returns the database's id.
func (db *Database) ID() int { return db.id }

// SetReadCommittedSnapshot makes READ COMMITTED transactions read the view of their
// statement instead of taking locks (READ_COMMITTED_SNAPSHOT). It is not durable:
// the engine sets it from its catalogue.
func (db *Database) SetReadCommittedSnapshot(on bool) { db.rcsi.Store(on) }

// SetReadOnly makes the database refuse writes (3906) or take them again. It is not
// durable: the engine sets it from its catalogue.
func (db *Database) SetReadOnly(on bool) { db.readOnly.Store(on) }

// table returns the table of that id, nil if there is none.
func (db *Database) table(id int64) *table {
	db.tablesMu.RLock()
	defer db.tablesMu.RUnlock()
	return db.tables[id]
}

// setTable puts a table in its place; nil removes it.
func (db *Database) setTable(id int64, tab *table) {
	db.tablesMu.Lock()
	defer db.tablesMu.Unlock()
	if tab == nil {
		delete(db.tables, id)
		return
	}
	db.tables[id] = tab
}

// userTables returns the tables but the documents', by id.
func (db *Database) userTables() []*table {
	db.tablesMu.RLock()
	defer db.tablesMu.RUnlock()
	var list []*table
	for _, id := range slices.Sorted(maps.Keys(db.tables)) {
		if id != metaTable {
			list = append(list, db.tables[id])
		}
	}
	return list
}

// Tables returns the definitions of all tables by id, those of running transactions
// included.
func (db *Database) Tables() []TableDef {
	var defs []TableDef
	for _, tab := range db.userTables() {
		tab.latch.RLock()
		defs = append(defs, tab.def)
		tab.latch.RUnlock()
	}
	return defs
}

// RowCount returns the number of rows of a table, uncommitted and not yet removed ones
// included: an estimate for planning and for DMVs.
func (db *Database) RowCount(table int64) int64 {
	tab := db.table(table)
	if tab == nil {
		return 0
	}
	tab.latch.RLock()
	defer tab.latch.RUnlock()
	return int64(tab.records.len)
}

// ResolveFilters gives filtered indexes their predicates back after Open; compile is
// called with each table and filtered index. Until then such a table refuses writes
// and such an index scans.
func (db *Database) ResolveFilters(compile func(TableDef, IndexDef) (func(Row) bool, error)) error {
	for _, tab := range db.userTables() {
		if err := tab.resolveFilters(compile); err != nil {
			return err
		}
	}
	return nil
}

func (tab *table) resolveFilters(compile func(TableDef, IndexDef) (func(Row) bool, error)) error {
	tab.latch.Lock()
	defer tab.latch.Unlock()
	for _, ix := range tab.indexes {
		if ix.resolved {
			continue
		}
		filter, err := compile(tab.def, ix.def)
		if err != nil {
			return fmt.Errorf("compiling the filter of index %d of table %d: %w", ix.def.ID, tab.id, err)
		}
		ix.def.Filter, ix.resolved = filter, true
		for i := range tab.def.Indexes {
			if tab.def.Indexes[i].ID == ix.def.ID {
				tab.def.Indexes[i].Filter = filter
			}
		}
		ix.build(&tab.records)
	}
	return nil
}
