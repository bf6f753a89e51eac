package storage

import (
	"cmp"
	"slices"
	"time"
)

// LockInfo is one lock that is held or waited for (sys.dm_tran_locks).
type LockInfo struct {
	Database int
	// Table is the object id; 0 for an application lock and for a database.
	Table int64
	// Row is 0 for a lock on a table.
	Row RowID
	// App is the name of an application lock.
	App string
	// Range marks the lock of a stretch of an index.
	Range bool
	Mode  LockMode
	// Txn is the transaction's number in its database, SPID its session's.
	Txn  uint64
	SPID int
	// Waiting is set for a request that is not granted; Converting as well if the
	// transaction holds the resource in a weaker mode. Since is when the wait began and
	// Blocker the session in the way.
	Waiting, Converting bool
	Since               time.Time
	Blocker             int
}

// Locks returns all locks by database, table and row: what the lock manager has, the
// ranges of SERIALIZABLE, and the X locks that uncommitted rows are.
func (s *Store) Locks() []LockInfo {
	list := s.locks.snapshot()
	written := map[resource]bool{}
	for _, l := range list {
		if l.Row == 0 && !l.Waiting && l.Mode >= LockIX {
			written[resource{db: l.Database, table: l.Table}] = true
		}
	}
	for _, db := range s.Databases() {
		for _, tab := range db.allTables() {
			list = append(list, tab.ranges.snapshot(db.id)...)
			if written[resource{db: db.id, table: tab.id}] {
				list = append(list, tab.writtenRows(db.id)...)
			}
		}
	}
	list = dropConverted(list)
	slices.SortStableFunc(list, func(a, b LockInfo) int {
		return cmp.Or(a.Database-b.Database, cmp.Compare(a.Table, b.Table), cmp.Compare(a.Row, b.Row), cmp.Compare(a.App, b.App), a.SPID-b.SPID)
	})
	return list
}

// dropConverted leaves out the row locks that their transaction has converted to X by
// writing the row.
func dropConverted(list []LockInfo) []LockInfo {
	type key struct {
		res resource
		txn uint64
	}
	of := func(l LockInfo) key { return key{resource{db: l.Database, table: l.Table, row: l.Row}, l.Txn} }
	written := map[key]bool{}
	for _, l := range list {
		if l.Row != 0 && !l.Waiting && l.Mode == LockX {
			written[of(l)] = true
		}
	}
	return slices.DeleteFunc(list, func(l LockInfo) bool {
		return l.Row != 0 && !l.Waiting && l.Mode != LockX && written[of(l)]
	})
}

// snapshot lists what is granted and waited for.
func (m *lockManager) snapshot() []LockInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []LockInfo
	for res, q := range m.locks {
		for _, g := range q.granted {
			list = append(list, infoOf(g.txn, res, g.mode))
			for _, w := range g.txn.waiters {
				list = append(list, m.waitInfo(w))
			}
		}
		for _, w := range q.waiting {
			list = append(list, m.waitInfo(w))
		}
	}
	return slices.CompactFunc(sortWaits(list), func(a, b LockInfo) bool { return a == b })
}

// sortWaits brings equal entries together: a wait for a transaction is met once for
// each lock that this one holds.
func sortWaits(list []LockInfo) []LockInfo {
	slices.SortFunc(list, func(a, b LockInfo) int {
		return cmp.Or(a.Database-b.Database, cmp.Compare(a.Table, b.Table), cmp.Compare(a.Row, b.Row), cmp.Compare(a.App, b.App),
			a.SPID-b.SPID, cmp.Compare(a.Txn, b.Txn), cmp.Compare(a.Mode, b.Mode), a.Since.Compare(b.Since))
	})
	return list
}

func infoOf(t *Txn, res resource, mode LockMode) LockInfo {
	return LockInfo{Database: res.db, Table: res.table, Row: res.row, App: res.app, Mode: mode, Txn: t.id, SPID: t.owner.SPID}
}

func (m *lockManager) waitInfo(w *waiter) LockInfo {
	l := infoOf(w.txn, w.res, w.mode)
	l.Waiting, l.Converting, l.Since = true, w.convert, w.since
	m.blockers(w, func(o *Owner) bool {
		l.Blocker = o.SPID
		return false
	})
	return l
}

// snapshot lists the ranges.
func (l *rangeLocks) snapshot(db int) []LockInfo {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []LockInfo
	for _, r := range l.held {
		mode := LockS
		if r.update {
			mode = LockU
		}
		info := infoOf(r.txn, resource{db: db, table: r.tab.id}, mode)
		info.Range = true
		list = append(list, info)
	}
	return list
}

// writtenRows lists the rows with an uncommitted version.
func (tab *table) writtenRows(db int) []LockInfo {
	tab.latch.RLock()
	defer tab.latch.RUnlock()
	var list []LockInfo
	tab.records.each(func(rec *record) {
		if t, running := rec.writer(nil); running && t != nil {
			list = append(list, infoOf(t, resource{db: db, table: tab.id, row: rec.id}, LockX))
		}
	})
	return list
}

// TxnInfo is an open transaction (sys.dm_tran_database_transactions).
type TxnInfo struct {
	Database int
	ID       uint64
	SPID     int
	// Begun is when and BeginLSN where it wrote for the first time; zero before.
	Begun    time.Time
	BeginLSN LSN
	// Records is the number of its changes.
	Records int64
	// Snapshot is set when it has a view under SNAPSHOT, of the version clock's time
	// SnapshotAt, taken at ViewedAt.
	Snapshot   bool
	SnapshotAt uint64
	ViewedAt   time.Time
}

// Transactions returns the open transactions by database and number.
func (s *Store) Transactions() []TxnInfo {
	var list []TxnInfo
	for _, db := range s.Databases() {
		views := db.views.snapshots()
		for _, t := range db.running.list() {
			info := TxnInfo{Database: db.id, ID: t.id, SPID: t.owner.SPID, Records: t.changes.Load()}
			if first := t.began.Load(); first != nil {
				info.Begun, info.BeginLSN = first.at, first.lsn
			}
			if v := views[t]; v != nil {
				info.Snapshot, info.SnapshotAt, info.ViewedAt = true, v.at, v.taken
			}
			list = append(list, info)
		}
	}
	return list
}
