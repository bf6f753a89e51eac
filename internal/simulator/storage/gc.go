package storage

import "sync"

// garbage is a record with versions that are not needed once every view is at or after
// since.
type garbage struct {
	since uint64
	table *table
	rec   *record
}

// garbageQueue holds garbage in commit order.
type garbageQueue struct {
	// running serialises collectors; who finds it locked leaves the work to the other.
	running sync.Mutex
	mu      sync.Mutex // a leaf
	items   []garbage
}

// garbageBatch bounds how long a collector holds a table's latch.
const garbageBatch = 128

// take returns the next items that are due and of one table.
func (q *garbageQueue) take(oldest uint64) []garbage {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for n < len(q.items) && n < garbageBatch && q.items[n].since <= oldest && q.items[n].table == q.items[0].table {
		n++
	}
	batch := q.items[:n:n]
	q.items = q.items[n:]
	if len(q.items) == 0 {
		q.items = nil
	}
	return batch
}

func (q *garbageQueue) put(items []garbage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, items...)
}

// collectGarbage removes the versions and index entries that no view needs any more.
// The work is done by the transactions that end; there is no background goroutine.
func (db *Database) collectGarbage() {
	if !db.garbage.running.TryLock() {
		return
	}
	defer db.garbage.running.Unlock()
	oldest := db.views.oldest()
	for {
		batch := db.garbage.take(oldest)
		if len(batch) == 0 {
			return
		}
		pruneAll(batch, oldest)
	}
}

// pruneAll removes what a batch of one table no longer needs.
func pruneAll(batch []garbage, oldest uint64) {
	tab := batch[0].table
	tab.latch.Lock()
	defer tab.latch.Unlock()
	for _, g := range batch {
		tab.prune(g.rec, oldest)
	}
}

// addGarbage queues what a committed transaction has replaced.
func (db *Database) addGarbage(ops []op, at uint64) {
	var items []garbage
	for i := range ops {
		if ops[i].kind == opUpdate || ops[i].kind == opDelete {
			items = append(items, garbage{since: at, table: ops[i].table, rec: ops[i].rec})
		}
	}
	if len(items) > 0 {
		db.garbage.put(items)
	}
}
