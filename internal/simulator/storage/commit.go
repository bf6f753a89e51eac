package storage

import (
	"fmt"
	"time"
)

// Commit makes the transaction's changes visible at once and, with Options.Dir,
// durable. If that fails it is rolled back.
func (t *Txn) Commit() (CommitInfo, error) {
	if t.done {
		return CommitInfo{}, ErrTxnDone
	}
	if len(t.ops) == 0 {
		t.end()
		return CommitInfo{Time: t.db.store.now()}, nil
	}
	info, written, err := t.db.commit(t)
	if err != nil {
		t.Rollback()
		return CommitInfo{}, fmt.Errorf("committing: %w", err)
	}
	t.end()
	if written.file != nil && t.db.store.fsync == FsyncCommit {
		if err := written.file.syncTo(written.end); err != nil {
			return info, fmt.Errorf("flushing a commit to disk: %w", err)
		}
	}
	return info, nil
}

// place is the end of a record in a file.
type place struct {
	file *logFile // nil in memory
	end  int64
}

// commit gives the transaction its place in the order of commits: LSN, file, log and
// visibility are all in this order.
func (db *Database) commit(t *Txn) (info CommitInfo, written place, err error) {
	db.commitMu.Lock()
	defer db.commitMu.Unlock()
	if db.closed {
		return info, written, fmt.Errorf("database %q is closed", db.name)
	}
	info.Time = db.commitTime()
	info.LSN = db.lsns.commit()
	lt := loggedTxn{
		id: t.id, commitLSN: info.LSN, commitTime: info.Time, ops: t.ops,
	}
	if first := t.began.Load(); first != nil {
		lt.beginLSN, lt.beginTime = first.lsn, first.at
	}
	if db.file != nil {
		written.file = db.file
		if written.end, err = db.file.writeTxn(&lt, db.counters.takeDirty()); err != nil {
			db.counters.markAllDirty()
			return info, written, err
		}
	}
	db.log.append(lt)
	at := db.views.now() + 1
	t.status.commit.Store(at)
	db.views.publish(at)
	db.addGarbage(t.ops, at)
	return info, written, nil
}

// commitTime never goes back, whatever the clock does, so that time order is LSN order.
func (db *Database) commitTime() time.Time {
	now := db.store.now()
	if now.Before(db.lastCommitTime) {
		return db.lastCommitTime
	}
	db.lastCommitTime = now
	return now
}
