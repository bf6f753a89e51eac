package storage

// readMode decides how a scan reads and which lock it takes on each row.
func (t *Txn) readMode(opts ScanOptions) (mode readMode, rowLock LockMode) {
	switch {
	case opts.RowLock != LockNone:
		return readCurrent, opts.RowLock
	case opts.NoLock:
		return readDirty, LockNone
	case t.isolation == Snapshot && !opts.ReadCommitted:
		return readView, LockNone
	case opts.HoldLock, t.isolation == Serializable:
		return readCurrent, LockNone // the table lock protects the range
	case t.isolation == RepeatableRead:
		return readCurrent, LockS
	case opts.ReadCommitted, opts.TableLock != LockNone:
		return readCurrent, LockNone
	case t.isolation == ReadUncommitted:
		return readDirty, LockNone
	case t.db.rcsi.Load():
		return readView, LockNone
	default:
		// READ COMMITTED holds no row locks: it reads past explicit locks on rows that
		// nobody has changed, as the server does, and waits for writers.
		return readCurrent, LockNone
	}
}

// scanLock returns the table lock of a scan, and whether it ends with the statement.
func (t *Txn) scanLock(opts ScanOptions, mode readMode) (lock LockMode, statement bool) {
	serializable := mode == readCurrent && (opts.HoldLock || t.isolation == Serializable)
	held := serializable || mode == readCurrent && t.isolation == RepeatableRead
	lock, statement = LockSchS, true
	if mode == readCurrent {
		lock, statement = LockIS, !held
	}
	if opts.RowLock != LockNone {
		lock, statement = LockIX, false
	}
	if serializable {
		lock = lock.with(LockS)
	}
	if opts.TableLock != LockNone {
		lock = lock.with(opts.TableLock)
		statement = statement && opts.TableLock == LockS
	}
	return lock, statement
}

// viewTime returns the time at which a reader of versions looks.
func (t *Txn) viewTime() uint64 {
	if t.isolation == Snapshot {
		return t.snapshotView().at
	}
	return t.readCommittedView().at
}
