package cdc

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// registerCloudProcedures adds what Amazon RDS has instead of sys.sp_cdc_enable_db,
// since nobody is a sysadmin there (AWS docs: Using change data capture with
// Amazon RDS for SQL Server). They need db_owner of the database.
func (a *Agent) registerCloudProcedures() {
	name := engine.Param{Name: "@db_name", Type: sysname}
	a.msdbProcedure("rds_cdc_enable_db", func(x *engine.Exec, args []sqltypes.Value) error {
		return a.asProvider(x, args[0].Str(), a.enableDatabase)
	}, name)
	a.msdbProcedure("rds_cdc_disable_db", func(x *engine.Exec, args []sqltypes.Value) error {
		return a.asProvider(x, args[0].Str(), a.disableDatabase)
	}, name)
}

// asProvider runs f in a database with the rights of the provider.
func (a *Agent) asProvider(x *engine.Exec, name string, f func(x *engine.Exec) (int32, error)) error {
	db := a.in.Database(name)
	if db == nil {
		return raise(50000, "Database %s does not exist.", name)
	}
	if !x.IsDBOwner(db) {
		return errNotOwner()
	}
	_, err := f(x.In(db).Elevated())
	return err
}
