package cdc

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func (a *Agent) registerDatabaseProcedures() {
	zero := sqltypes.IntOf(0)
	a.in.RegisterProcedure("sys", "sp_cdc_enable_db", engine.Procedure{
		Params: []engine.Param{{Name: "@fCreateCDCUserImplicit", Type: bitType, Default: &zero}},
		Run:    func(x *engine.Exec, _ []sqltypes.Value) (int32, error) { return a.enableDatabase(x) },
	})
	a.in.RegisterProcedure("sys", "sp_cdc_disable_db", engine.Procedure{
		Run: func(x *engine.Exec, _ []sqltypes.Value) (int32, error) { return a.disableDatabase(x) },
	})
}

// enableDatabase is sys.sp_cdc_enable_db (MS docs): schema and user cdc, the
// tables, the functions that errors name, the bit in sys.databases.
func (a *Agent) enableDatabase(x *engine.Exec) (int32, error) {
	db := x.Database()
	if err := requireEdition(x); err != nil {
		return 1, err
	}
	if err := requireEnabler(x); err != nil {
		return 1, err
	}
	if x.Catalog(db).Options().Contained {
		return 1, errContained(db.Name())
	}
	const internal = "sp_cdc_enable_db_internal"
	switch {
	case db.IsSystem():
		return 1, inProcedure(errSystemDatabase(db.Name()), internal)
	case captures(x):
		return 1, message(x, errAlreadyEnabled(db.Name()), internal)
	case x.Catalog(db).HasSchema("cdc") || x.Catalog(db).HasPrincipal("cdc"):
		return 1, inProcedure(errCDCNameTaken(db.Name()), internal)
	}
	// A dropped database of the same id may have left its jobs behind.
	a.forget(db.ID())
	if err := dropJobs(x); err != nil {
		return 1, err
	}
	if err := createObjects(x); err != nil {
		return 1, err
	}
	if err := setEnabled(x, true); err != nil {
		return 1, err
	}
	return 0, db.Storage().SetLogRetention(true)
}

// createObjects makes what every database that captures has.
func createObjects(x *engine.Exec) error {
	for _, sql := range []string{"CREATE USER cdc WITHOUT LOGIN", "CREATE SCHEMA cdc AUTHORIZATION cdc"} {
		if err := run(x, sql); err != nil {
			return err
		}
	}
	for _, t := range metaTables(x) {
		if err := run(x, t.definition); err != nil {
			return err
		}
		if err := markShipped(x, tableNamed(x, t.schema, t.name).ID); err != nil {
			return err
		}
	}
	for _, name := range stubFunctions {
		if err := run(x.Shipped(), "CREATE FUNCTION cdc."+quote(name)+" () RETURNS int AS BEGIN RETURN 0 END"); err != nil {
			return err
		}
	}
	return run(x, "GRANT SELECT ON cdc.lsn_time_mapping TO public")
}

// disableDatabase is sys.sp_cdc_disable_db: everything that enabling made goes,
// with all instances and both jobs. On a database that does not capture it only
// says so.
func (a *Agent) disableDatabase(x *engine.Exec) (int32, error) {
	if err := requireEnabler(x); err != nil {
		return 1, err
	}
	if !captures(x) {
		said := errNotEnabled(x.Database().Name())
		said.Class = 10
		return 0, message(x, said, "sp_cdc_disable_db")
	}
	if err := a.dropCapture(x); err != nil {
		return 1, err
	}
	return 0, nil
}

// dropCapture removes change data capture from the current database.
func (a *Agent) dropCapture(x *engine.Exec) error {
	instances, err := rows(x, `SELECT capture_instance FROM cdc.change_tables`)
	if err != nil {
		return err
	}
	for _, r := range instances {
		if err := a.dropInstance(x, r[0].Str()); err != nil {
			return err
		}
	}
	if err := dropObjects(x); err != nil {
		return err
	}
	if err := dropJobs(x); err != nil {
		return err
	}
	if err := setEnabled(x, false); err != nil {
		return err
	}
	txn, err := x.Txn()
	if err != nil {
		return err
	}
	a.forget(x.Database().ID())
	return txn.DeleteMeta(capturedKey)
}

func dropObjects(x *engine.Exec) error {
	for _, name := range stubFunctions {
		if err := run(x, "DROP FUNCTION cdc."+quote(name)); err != nil {
			return err
		}
	}
	for _, t := range metaTables(x) {
		if err := run(x, "DROP TABLE "+t.schema+"."+t.name); err != nil {
			return err
		}
	}
	for _, sql := range []string{"DROP SCHEMA cdc", "DROP USER cdc"} {
		if err := run(x, sql); err != nil {
			return err
		}
	}
	return nil
}

// message sends an error of low severity as information from a procedure.
func message(x *engine.Exec, e *sqltypes.Error, procedure string) error {
	return x.Message(&engine.Message{Number: e.Number, State: e.State, Class: e.Class, Text: e.Message, Procedure: procedure})
}
