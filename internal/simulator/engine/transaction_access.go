package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// reader is the storage transaction for reading a table. SNAPSHOT isolation is
// checked here, at the first access to a user table.
func (x *Exec) reader(db *Database, table *Table) (*storage.Txn, error) {
	if table.tableVariable {
		return x.s.tableVariableTxn(), nil
	}
	if err := x.access(db, table); err != nil {
		return nil, err
	}
	return x.storageTxn(db)
}

// rowWriter is the storage transaction for changing the rows of a table.
func (x *Exec) rowWriter(db *Database, table *Table) (*storage.Txn, error) {
	if err := x.access(db, table); err != nil {
		return nil, err
	}
	return x.writer(db)
}

// writer is the storage transaction for writing in a database.
func (x *Exec) writer(db *Database) (*storage.Txn, error) {
	if x.s.current().doomed {
		return nil, raise(3930, "The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction.")
	}
	return x.storageTxn(db)
}

// storageTxn is the storage transaction in a database at the session's isolation
// level.
func (x *Exec) storageTxn(db *Database) (*storage.Txn, error) {
	t := x.s.current()
	txn := t.txn(x.ctx, db)
	if db.id == tempdbID || txn.Isolation() == x.s.isolation || x.s.IsSecondary() {
		return txn, nil
	}
	if err := txn.SetIsolation(x.s.isolation); err != nil {
		return nil, errNotStartedInSnapshot(db)
	}
	return txn, nil
}

// access notes the access to a user table. What SET TRANSACTION ISOLATION LEVEL
// SNAPSHOT accepted without a look fails here (MS docs: SET TRANSACTION ISOLATION
// LEVEL; errors 3951, 3952 and 3956).
func (x *Exec) access(db *Database, table *Table) error {
	if x.system || db.id == tempdbID || table.heldBySession || x.s.IsSecondary() {
		return nil
	}
	t := x.s.current()
	if x.s.isolation == storage.Snapshot {
		if t.accessed && !t.snapshot {
			return errNotStartedInSnapshot(db)
		}
		if err := db.allowsSnapshot(t.snapshot); err != nil {
			return err
		}
	}
	if !t.accessed {
		t.accessed, t.snapshot = true, x.s.isolation == storage.Snapshot
	}
	return nil
}

func errNotStartedInSnapshot(db *Database) error {
	return raise(3951, "Transaction failed in database '%s' because the statement was run under snapshot isolation but the transaction did not start in snapshot isolation. You cannot change the isolation level of the transaction to snapshot after the transaction has started unless the transaction was originally started under snapshot isolation level.", db.Name())
}

// allowsSnapshot checks that transactions may use SNAPSHOT here. Those that have
// begun go on while it is being switched off.
func (db *Database) allowsSnapshot(begun bool) error {
	switch state := db.SnapshotIsolation(); {
	case state == SnapshotOn, state == SnapshotTurningOff && begun:
		return nil
	case state == SnapshotTurningOn:
		return raise(3956, "Snapshot isolation transaction failed to start in database '%s' because the ALTER DATABASE command which enables snapshot isolation for this database has not finished yet. The database is in transition to pending ON state. You must wait until the ALTER DATABASE Command completes successfully.", db.Name())
	default:
		return raise(3952, "Snapshot isolation transaction failed accessing database '%s' because snapshot isolation is not allowed in this database. Use ALTER DATABASE to allow snapshot isolation.", db.Name())
	}
}

// refuseSnapshotDDL is error 3964 for the statements that change a table or an
// index inside an explicit transaction under SNAPSHOT (MS docs: SET TRANSACTION
// ISOLATION LEVEL).
func (x *Exec) refuseSnapshotDDL() error {
	if x.s.isolation != storage.Snapshot || x.s.tranCount() == 0 || x.system {
		return nil
	}
	return sqltypes.Errorf(3964, 1, 16, "Transaction failed because this DDL statement is not allowed inside a snapshot isolation transaction. Since metadata is not versioned, a metadata change can lead to inconsistency if mixed within snapshot isolation.")
}
