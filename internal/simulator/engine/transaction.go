package engine

import (
	"context"
	"maps"
	"time"

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
	saves []savepoint
	// accessed is set by the first access to a user table, and snapshot if that was
	// under SNAPSHOT: it decides whether the level may be changed to it (3951).
	accessed, snapshot bool
	began              time.Time
	// tempBefore are the session's # tables when the transaction began.
	tempBefore map[string]*Table
}

// savepoint is a named mark. A name may be used again; the newest counts.
type savepoint struct {
	name string
	mark txMark
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
		tempBefore: maps.Clone(s.temp), began: s.in.Now(),
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
		Isolation: t.s.isolation, LockTimeout: t.s.lockTimeout, Owner: t.s.owner, Maintenance: t.s.maintenance,
	}
	if db.id == tempdbID {
		opts.Isolation = storage.ReadCommitted
	}
	txn := db.store.Begin(t.s.secondaryOptions(db, opts))
	t.txns[db] = txn
	t.order = append(t.order, db)
	for _, save := range t.saves {
		// A rollback to a savepoint from before takes all of this database back.
		_ = txn.Savepoint(save.name) // only an ended transaction refuses
	}
	if t.s.statementDepth > 0 {
		txn.BeginStatement(ctx)
	}
	return txn
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
	t.s.in.users.changed()
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
			t.s.in.users.changed()
			return err
		}
	}
	t.s.in.users.changed()
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
		db.applyOptions(c.options)
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
