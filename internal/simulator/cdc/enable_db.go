package cdc

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func (a *Agent) registerDatabaseProcedures() {
	a.in.RegisterProcedure("sys", "sp_cdc_enable_db", engine.Procedure{Run: a.enableDatabase})
	a.in.RegisterProcedure("sys", "sp_cdc_disable_db", engine.Procedure{Run: a.disableDatabase})
}

// enableDatabase is sys.sp_cdc_enable_db (MS docs): schema and user cdc, the
// tables, the bit in sys.databases.
func (a *Agent) enableDatabase(x *engine.Exec, _ []sqltypes.Value) (int32, error) {
	db := x.Database()
	switch {
	case !x.IsSysadmin():
		return 1, errNotSysadmin()
	case db.IsSystem():
		return 1, errSystemDatabase(db.Name())
	case captures(x):
		return 1, message(x, errAlreadyEnabled(db.Name()))
	case x.Catalog(db).HasSchema("cdc") || x.Catalog(db).HasPrincipal("cdc"):
		return 1, errCDCNameTaken(db.Name())
	}
	// A dropped database of the same id may have left its jobs behind.
	a.forget(db.ID())
	if err := dropJobs(x); err != nil {
		return 1, err
	}
	for _, sql := range []string{"CREATE USER cdc WITHOUT LOGIN", "CREATE SCHEMA cdc AUTHORIZATION cdc"} {
		if err := run(x, sql); err != nil {
			return 1, err
		}
	}
	for _, t := range metaTables {
		if err := run(x, t.definition); err != nil {
			return 1, err
		}
		if err := markShipped(x, tableNamed(x, t.schema, t.name).ID); err != nil {
			return 1, err
		}
	}
	if err := run(x, "GRANT SELECT ON cdc.lsn_time_mapping TO public"); err != nil {
		return 1, err
	}
	if err := setEnabled(x, true); err != nil {
		return 1, err
	}
	return 0, db.Storage().SetLogRetention(true)
}

// disableDatabase is sys.sp_cdc_disable_db: everything that enabling made goes,
// with all instances and both jobs. On a database that does not capture it only
// says so.
func (a *Agent) disableDatabase(x *engine.Exec, _ []sqltypes.Value) (int32, error) {
	db := x.Database()
	if !x.IsSysadmin() {
		return 1, errNotSysadmin()
	}
	if !captures(x) {
		said := errNotEnabled(db.Name())
		said.Class = 10
		return 0, message(x, said)
	}
	instances, err := rows(x, `SELECT capture_instance FROM cdc.change_tables`)
	if err != nil {
		return 1, err
	}
	for _, r := range instances {
		if err := a.dropInstance(x, r[0].Str()); err != nil {
			return 1, err
		}
	}
	for _, t := range metaTables {
		if err := run(x, "DROP TABLE "+t.schema+"."+t.name); err != nil {
			return 1, err
		}
	}
	for _, sql := range []string{"DROP SCHEMA cdc", "DROP USER cdc"} {
		if err := run(x, sql); err != nil {
			return 1, err
		}
	}
	if err := dropJobs(x); err != nil {
		return 1, err
	}
	if err := setEnabled(x, false); err != nil {
		return 1, err
	}
	txn, err := x.Txn()
	if err != nil {
		return 1, err
	}
	a.forget(db.ID())
	return 0, txn.DeleteMeta(capturedKey)
}

// message sends an error of low severity as information.
func message(x *engine.Exec, e *sqltypes.Error) error {
	return x.Message(&engine.Message{Number: e.Number, State: e.State, Class: e.Class, Text: e.Message})
}

// requireEnabled is the check of every procedure that works on a database that
// captures.
func requireEnabled(x *engine.Exec) error {
	if !captures(x) {
		return errNotEnabled(x.Database().Name())
	}
	return nil
}

// requireOwner adds the check for db_owner.
func requireOwner(x *engine.Exec) error {
	if !isOwner(x) {
		return errNotOwner()
	}
	return requireEnabled(x)
}
