package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"maps"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// transaction is a session's transaction. It spans the databases that its
// statements touch: one storage transaction each, committed one after another,
// so a crash in between keeps the first only.
type transaction struct {
	s          *Session
	descriptor uint64
	// count is @@TRANCOUNT; 0 while a statement runs in autocommit mode.
	count  int
	name   string
	doomed bool
	order  []*Database
	txns   map[*Database]*storage.Txn
	txState
	saves map[string]txMark
	// tempBefore are the session's # tables when the transaction began.
	tempBefore map[string]*Table
	// applocks are released with the transaction.
	onEnd []func()
}

// txState is the part of a transaction that a rollback to a mark restores.
type txState struct {
	// catalogs are the changed catalogues, ops the changes in order.
	catalogs map[*Database]*Catalog
	ops      []catalogOp
}

// catalogOp is one change of a catalogue, replayed on the newest one at commit.
type catalogOp struct {
	db    *Database
	apply func(*Catalog)
}

// txMark is a place to return to, in all databases of the transaction.
type txMark struct {
	state txState
	marks map[*Database]storage.Mark
	temp  map[string]*Table
}

func (s *Session) newTransaction() *transaction {
	return &transaction{
		s: s, descriptor: s.in.descriptors.Add(1), txns: map[*Database]*storage.Txn{},
		saves: map[string]txMark{}, tempBefore: maps.Clone(s.temp),
	}
}

// current is the session's transaction, begun in autocommit mode when there is
// none.
func (s *Session) current() *transaction {
	if s.tx == nil {
		s.tx = s.newTransaction()
	}
	return s.tx
}

// txn is the storage transaction in a database, begun when needed.
func (t *transaction) txn(ctx context.Context, db *Database) *storage.Txn {
	if txn := t.txns[db]; txn != nil {
		return txn
	}
	opts := storage.TxnOptions{
		Isolation: t.s.isolation, LockTimeout: t.s.lockTimeout, Owner: t.s.owner, DeadlockPriority: t.s.deadlockPriority,
	}
	if db.id == tempdbID {
		opts.Isolation = storage.ReadCommitted
	}
	txn := db.store.Begin(opts)
	t.txns[db] = txn
	t.order = append(t.order, db)
	if t.s.statementDepth > 0 {
		txn.BeginStatement(ctx)
	}
	return txn
}

// setIsolation brings the session's isolation level to a storage transaction.
func (t *transaction) setIsolation(db *Database, txn *storage.Txn) error {
	if db.id == tempdbID || txn.Isolation() == t.s.isolation {
		return nil
	}
	if err := txn.SetIsolation(t.s.isolation); err != nil {
		return raise(3951, "Transaction failed in database '%s' because the statement was run under snapshot isolation but the transaction did not start in snapshot isolation. You cannot change the isolation level of the transaction to snapshot after the transaction has started unless the transaction was originally started under snapshot isolation level.", db.Name())
	}
	return nil
}

// ended reports that a storage transaction ended by itself: as a deadlock
// victim or in an update conflict.
func (t *transaction) ended() bool {
	for _, txn := range t.txns {
		if txn.Done() {
			return true
		}
	}
	return false
}

func (t *transaction) rollback() {
	for i := len(t.order) - 1; i >= 0; i-- {
		t.txns[t.order[i]].Rollback()
	}
	t.s.temp = t.tempBefore
	t.finish()
}

func (t *transaction) finish() {
	for _, f := range t.onEnd {
		f()
	}
	t.onEnd = nil
}

// commit makes the changes of all databases visible, catalogues first.
func (t *transaction) commit() error {
	published := t.publish()
	for i, db := range t.order {
		if _, err := t.txns[db].Commit(); err != nil {
			for _, rest := range t.order[i+1:] {
				t.txns[rest].Rollback()
			}
			for db, old := range published {
				db.catalog.Store(old)
			}
			t.s.temp = t.tempBefore
			t.finish()
			return err
		}
	}
	t.finish()
	return nil
}

// publish replays the changes of definitions on the newest catalogues.
func (t *transaction) publish() map[*Database]*Catalog {
	old := map[*Database]*Catalog{}
	for db := range t.catalogs {
		db.publish.Lock()
		before := db.catalog.Load()
		old[db] = before
		c := before.clone()
		for _, op := range t.ops {
			if op.db == db {
				op.apply(c)
			}
		}
		c.version = db.in.versions.Add(1)
		db.catalog.Store(c)
		db.publish.Unlock()
		db.store.SetReadCommittedSnapshot(c.options.ReadCommittedSnapshot)
	}
	return old
}

func (t *transaction) mark() txMark {
	m := txMark{state: txState{catalogs: maps.Clone(t.catalogs), ops: t.ops}, marks: map[*Database]storage.Mark{}, temp: maps.Clone(t.s.temp)}
	for db, txn := range t.txns {
		m.marks[db] = txn.Mark()
	}
	return m
}

// restore undoes the definitions and # tables made since the mark.
func (t *transaction) restore(m txMark) {
	t.catalogs, t.ops = maps.Clone(m.state.catalogs), m.state.ops
	t.s.temp = maps.Clone(m.temp)
}

// undo takes back a failed statement.
func (t *transaction) undo(m txMark) error {
	t.restore(m)
	for _, db := range t.order {
		txn := t.txns[db]
		if txn.Done() {
			continue
		}
		// A database that the statement touched first has no mark: its zero Mark is
		// the transaction's beginning.
		if err := txn.Undo(m.marks[db]); err != nil {
			return err
		}
	}
	return nil
}

// catalog is a database's catalogue as the transaction sees it.
func (x *Exec) catalog(db *Database) *Catalog {
	if t := x.s.tx; t != nil {
		if c := t.catalogs[db]; c != nil {
			return c
		}
	}
	return db.catalog.Load()
}

// change applies a change to a database's catalogue inside the transaction.
func (x *Exec) change(db *Database, apply func(*Catalog)) {
	t := x.s.current()
	c := x.catalog(db).clone()
	apply(c)
	c.version = x.in.versions.Add(1)
	if t.catalogs == nil {
		t.catalogs = map[*Database]*Catalog{}
	}
	t.catalogs[db] = c
	t.ops = append(t.ops[:len(t.ops):len(t.ops)], catalogOp{db, apply})
}

// writer is the storage transaction for writing in a database.
func (x *Exec) writer(db *Database) (*storage.Txn, error) {
	t := x.s.current()
	if t.doomed {
		return nil, raise(3930, "The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.")
	}
	txn := t.txn(x.ctx, db)
	if err := t.setIsolation(db, txn); err != nil {
		return nil, err
	}
	return txn, nil
}

// reader is the storage transaction for reading a table. SNAPSHOT isolation is
// checked here, at the first access to a user table (error 3952).
func (x *Exec) reader(db *Database, table *Table) (*storage.Txn, error) {
	if table.tableVariable {
		return x.s.tableVariableTxn(), nil
	}
	if x.s.isolation == storage.Snapshot && !x.system && !db.Catalog().options.SnapshotIsolation && db.id != tempdbID && !table.heldBySession {
		return nil, raise(3952, "Snapshot isolation transaction failed accessing database '%s' because snapshot isolation is not allowed in this database. Use ALTER DATABASE to allow snapshot isolation.", db.Name())
	}
	t := x.s.current()
	txn := t.txn(x.ctx, db)
	if err := t.setIsolation(db, txn); err != nil {
		return nil, err
	}
	return txn, nil
}

func descriptorBytes(d uint64) []byte {
	return binary.LittleEndian.AppendUint64(nil, d)
}

// beginTran is BEGIN TRANSACTION.
func (x *Exec) beginTran(name string) error {
	s := x.s
	if s.tx != nil && s.tx.count > 0 {
		s.tx.count++
		return nil
	}
	t := s.current()
	t.count, t.name = 1, name
	return x.sink.EnvChange(EnvBegin, descriptorBytes(t.descriptor), nil)
}

// startImplicit opens a transaction under SET IMPLICIT_TRANSACTIONS ON, at the
// first statement that MS docs list for it.
func (x *Exec) startImplicit() error {
	s := x.s
	if !s.implicit || s.tx != nil && s.tx.count > 0 || x.system {
		return nil
	}
	return x.beginTran("")
}

// commitTran is COMMIT.
func (x *Exec) commitTran() error {
	s := x.s
	if s.tx == nil || s.tx.count == 0 {
		return raise(3902, "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.")
	}
	if s.tx.doomed {
		return raise(3930, "The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.")
	}
	if s.tx.count--; s.tx.count > 0 {
		return nil
	}
	t := s.tx
	s.tx = nil
	if err := t.commit(); err != nil {
		if e := x.sink.EnvChange(EnvRollback, nil, descriptorBytes(t.descriptor)); e != nil {
			return e
		}
		return err
	}
	return x.sink.EnvChange(EnvCommit, nil, descriptorBytes(t.descriptor))
}

// rollbackAll ends the whole transaction.
func (x *Exec) rollbackAll() error {
	s := x.s
	t := s.tx
	if t == nil {
		return nil
	}
	s.tx = nil
	explicit := t.count > 0
	t.rollback()
	if !explicit {
		return nil
	}
	return x.sink.EnvChange(EnvRollback, nil, descriptorBytes(t.descriptor))
}

// rollbackTran is ROLLBACK, of everything or to a savepoint.
func (x *Exec) rollbackTran(name string) error {
	s := x.s
	if s.tx == nil || s.tx.count == 0 {
		return raise(3903, "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION.")
	}
	if name == "" || fold(name) == fold(s.tx.name) {
		return x.rollbackAll()
	}
	if s.tx.doomed {
		return raise(3931, "The current transaction cannot be committed and cannot be rolled back to a savepoint. Roll back the entire transaction.")
	}
	m, ok := s.tx.saves[fold(name)]
	if !ok {
		return raise(6401, "Cannot roll back %s. No transaction or savepoint of that name was found.", name)
	}
	s.tx.restore(m)
	for _, db := range s.tx.order {
		txn := s.tx.txns[db]
		err := txn.RollbackTo(fold(name))
		if errors.Is(err, storage.ErrNoSavepoint) {
			err = txn.Undo(storage.Mark{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// saveTran is SAVE TRANSACTION.
func (x *Exec) saveTran(name string) error {
	s := x.s
	if s.tx == nil || s.tx.count == 0 {
		return raise(628, "Cannot issue SAVE TRANSACTION when there is no active transaction.")
	}
	if len(name) > 32 {
		name = name[:32]
	}
	s.tx.saves[fold(name)] = s.tx.mark()
	for _, txn := range s.tx.txns {
		if err := txn.Savepoint(fold(name)); err != nil {
			return err
		}
	}
	return nil
}

// tranCount is @@TRANCOUNT.
func (s *Session) tranCount() int {
	if s.tx == nil {
		return 0
	}
	return s.tx.count
}

// xactState is XACT_STATE().
func (s *Session) xactState() int64 {
	switch {
	case s.tx == nil || s.tx.count == 0:
		return 0
	case s.tx.doomed:
		return -1
	}
	return 1
}

// Begin is the transaction manager's request to begin a transaction. isolation
// is that of MS-TDS 2.2.6.9: 0 keeps the session's, 1 to 5 set it.
func (s *Session) Begin(ctx context.Context, isolation byte, name string, sink Sink) error {
	return s.request(ctx, sink, func(x *Exec) error {
		if isolation > 5 {
			return unsupported("This isolation level")
		}
		if isolation > 0 {
			s.isolation = isolationLevels[isolation]
		}
		return x.beginTran(name)
	})
}

// Commit is the transaction manager's commit request.
func (s *Session) Commit(ctx context.Context, name string, sink Sink) error {
	return s.request(ctx, sink, func(x *Exec) error { return x.commitTran() })
}

// Rollback is the transaction manager's rollback request; name may be that of a
// savepoint.
func (s *Session) Rollback(ctx context.Context, name string, sink Sink) error {
	return s.request(ctx, sink, func(x *Exec) error { return x.rollbackTran(name) })
}

// Save is the transaction manager's request for a savepoint.
func (s *Session) Save(ctx context.Context, name string, sink Sink) error {
	return s.request(ctx, sink, func(x *Exec) error { return x.saveTran(name) })
}

func (s *Session) request(ctx context.Context, sink Sink, f func(x *Exec) error) error {
	ctx, end := s.begin(ctx)
	defer end()
	x := s.exec(ctx, sink)
	if err := f(x); err != nil {
		return x.report(err, true)
	}
	return sink.Done(DoneInfo{})
}

// isolationLevels are the levels as numbered by the protocol and package tsql.
var isolationLevels = [...]storage.Isolation{
	1: storage.ReadUncommitted, 2: storage.ReadCommitted, 3: storage.RepeatableRead, 4: storage.Serializable, 5: storage.Snapshot,
}

// abortsTransaction reports errors after which the server has rolled the
// transaction back: deadlock victim, update conflict, failed conversions.
func abortsTransaction(e *sqltypes.Error) bool {
	switch e.Number {
	case 1205, 3960, 3961, 3951, 241, 242, 245, 8114:
		return true
	}
	return e.Class >= 20
}
