package cdc

import (
	"errors"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// The checks that procedures begin with, in the order of the real ones.

// requireEdition is error 22988: Express and Web have no change data capture
// (MS docs: Editions and supported features of SQL Server).
func requireEdition(x *engine.Exec) error {
	in := x.Instance()
	if in.IsAzure() || in.IsManagedInstance() {
		return nil
	}
	switch in.Edition() {
	case "Express", "Web":
		return errEdition(in.Edition() + " Edition (64-bit)")
	}
	return nil
}

// requireEnabler is error 22902: who may enable a database is a sysadmin, in
// Azure SQL Database its db_owner (MS docs: sys.sp_cdc_enable_db).
func requireEnabler(x *engine.Exec) error {
	switch {
	case x.IsSysadmin():
		return nil
	case !x.Instance().IsAzure():
		return errPrivileges("Sysadmin")
	case isOwner(x):
		return nil
	}
	return errPrivileges("DBO")
}

// requireEnabled is error 22901 in a database that does not capture.
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

// inProcedure names the inner procedure that raises an error.
func inProcedure(err error, procedure string) error {
	if e, ok := errors.AsType[*sqltypes.Error](err); ok && e.Procedure == "" {
		e.Procedure = procedure
	}
	return err
}
