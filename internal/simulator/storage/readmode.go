package storage

// readMode decides how a scan reads and which lock it takes on each row.
func (t *Txn) readMode(opts ScanOptions) (mode readMode, rowLock LockMode) {
	switch {
	case t.opts.Replica:
		return readView, LockNone
	case opts.RowLock != LockNone:
		return readCurrent, opts.RowLock
	case opts.NoLock:
		return readDirty, LockNone
	case opts.HoldLock:
		return readCurrent, LockNone // ranges or the table lock protect what was read
	case opts.RepeatableRead:
		return readCurrent, LockS
	case opts.ReadCommittedLock:
		return readCurrent, LockNone
	case opts.ReadCommitted:
		return t.readCommitted(), LockNone
	case t.isolation == Snapshot:
		return readView, LockNone
	case t.isolation == Serializable:
		return readCurrent, LockNone
	case t.isolation == RepeatableRead:
		return readCurrent, LockS
	case opts.TableLock != LockNone:
		return readCurrent, LockNone
	case t.isolation == ReadUncommitted:
		return readDirty, LockNone
	default:
		return t.readCommitted(), LockNone
	}
}

// readCommitted is how READ COMMITTED reads: the statement's view under
// READ_COMMITTED_SNAPSHOT, else what is committed. It holds no row locks: it reads past
// explicit locks on rows that nobody has changed, as the server does, and waits for
// writers.
func (t *Txn) readCommitted() readMode {
	if t.db.rcsi.Load() {
		return readView
	}
	return readCurrent
}

// serializable reports that nobody may change what the scan would find until the
// transaction ends.
func (t *Txn) serializable(opts ScanOptions, mode readMode) bool {
	lowered := opts.ReadCommitted || opts.ReadCommittedLock || opts.RepeatableRead
	return mode == readCurrent && (opts.HoldLock || t.isolation == Serializable && !lowered)
}

// repeatable reports that the rows which the scan returns stay as they are until the
// transaction ends.
func (t *Txn) repeatable(opts ScanOptions, mode readMode) bool {
	if mode != readCurrent || opts.ReadCommitted || opts.ReadCommittedLock {
		return false
	}
	return opts.RepeatableRead || t.isolation == RepeatableRead
}

// scanLock returns the table lock of a scan, and whether it ends with the statement.
// whole asks for the table instead of ranges.
func (t *Txn) scanLock(opts ScanOptions, mode readMode, whole bool) (lock LockMode, statement bool) {
	lock, statement = LockSchS, true
	if mode == readCurrent {
		lock, statement = LockIS, !t.repeatable(opts, mode) && !t.serializable(opts, mode)
	}
	if opts.RowLock != LockNone {
		lock, statement = LockIX, false
	}
	if whole {
		lock = lock.with(LockS)
	}
	if opts.TableLock != LockNone && mode != readView {
		table := opts.TableLock
		if opts.RowLock != LockNone {
			table = LockX // MS docs, Table Hints: UPDLOCK with TABLOCK
		}
		lock = lock.with(table)
		statement = statement && table == LockS
	}
	return lock, statement
}

// viewTime returns the time at which a reader of versions looks at a table. Definitions
// have no versions: under Snapshot a table that changed since is refused (3961), a
// statement under READ_COMMITTED_SNAPSHOT sees it as it was right after.
func (t *Txn) viewTime(tab *table, opts ScanOptions) (uint64, error) {
	if t.opts.Replica {
		return max(t.snapshotView().at, tab.changed.commit.Load()), nil
	}
	if t.isolation == Snapshot && !opts.ReadCommitted {
		at := t.snapshotView().at
		return at, t.checkUnchanged(tab, at)
	}
	return max(t.readCommittedView().at, tab.changed.commit.Load()), nil
}
