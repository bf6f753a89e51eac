// Package storage is the row store under the simulator's engine: typed rows, ordered
// indexes, row versions, locks, a transaction log that a capture job reads, and files
// that survive kill -9.
//
// A [Store] holds databases. A [Database] has tables, documents (Meta, for the engine's
// catalogue), counters and a log of its own. A [Txn] reads with [Txn.Scan] and writes
// with Insert, Update and Delete.
//
// # Versions
//
// A row is a record: a chain of versions, newest first. Versions point to the status of
// the transaction that wrote them, so a commit is one atomic store whatever its size. A
// reader walks a chain to the version that its view shows: its own changes, else the
// newest version that was committed at the view's time. Snapshot readers, statements
// under READ_COMMITTED_SNAPSHOT and NOLOCK readers never wait for writers.
//
// An index holds an entry for each key that the versions of a record have; a reader
// takes a record at the entry whose key is that of the version it sees, so it meets each
// row once. Versions and entries that no open view needs are removed by the
// transactions that end; there is no background goroutine.
//
// # Locks
//
// Tables are locked with SQL Server's modes by a [lockManager] of the store, in the
// order of arrival, conversions first. Rows are locked in two ways. A row whose newest
// version is uncommitted is locked X by its writer, without any entry in the lock
// manager; whoever meets it waits for that transaction to end or to take the version
// back. All other row locks (S under REPEATABLE READ, U and X by hint) are in the lock
// manager. Taking the one kind checks the other under the table's latch, which makes the
// two one. Beyond 5000 row locks on a table they are escalated if nobody is in the way.
//
// READ COMMITTED takes no row locks: it waits for writers only. SERIALIZABLE enters the
// stretch of the index that a scan covers into the table's [rangeLocks], where writers
// look; a scan without bounds, or the hundredth range, locks the whole table. Names that
// applications lock are resources like tables and rows. Deadlocks are searched for, over
// all of these, when a transaction begins to wait; the victim's own goroutine rolls it
// back.
//
// A panic under a latch releases it, and an operation is noted before it is carried out,
// so that a rollback after a panic leaves nothing locked and no row half done.
//
// # Latches
//
// A latch protects memory for microseconds and is never held across a wait for a lock,
// nor between two calls of an [Iterator]: a scan copies rows in chunks under the table's
// read latch and finds its place again by key. In this order:
//
//	Store.mu
//	Database.commitMu         one commit at a time: LSN, file, log, visibility
//	garbageQueue.running
//	table.latch               records, trees and definition of one table
//	Database.tablesMu, lockManager.mu, rangeLocks.mu, runningTxns.mu, lsnAllocator.mu,
//	txnLog.mu, views.mu, garbageQueue.mu, counters.mu    leaves
//
// commitMu and table.latch are never held together. A Txn and its iterators belong to
// one goroutine; others touch only its fields that lockManager.mu guards, and atomics.
//
// # Several databases
//
// A transaction is in one database. A session that works in two has two transactions of
// one [Owner], which never bar each other and are one party in a deadlock. They commit one
// after the other: others may see the first before the second, and a crash between the
// two keeps the first only. That is good enough for msdb and tempdb beside a user
// database, and the reason why the engine keeps what must be atomic in one database.
//
// # Files
//
// A database is one file of frames, each with a checksum: a frame (or several, for large
// transactions) per commit, with its rows, DDL, documents and the counters that changed.
// Open replays them. What a crash left unfinished at the end is cut off; damage before
// whole frames is a [CorruptFileError]. A file that is mostly history is rewritten at
// Open. [Database.Backup] writes the same frames, as of one point in time.
package storage
