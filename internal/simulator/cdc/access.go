package cdc

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// access is what the session may know of a capture instance. db_owner reads all;
// others need SELECT on every captured column of the source and, if the instance
// has one, membership in its gating role (MS docs: cdc.fn_cdc_get_all_changes;
// measured on 2022 CU27 by emanuel-luis/mssql-cdc-pyspark). A GRANT on the change
// table itself is another matter: it opens direct reads and nothing else.
type access int

const (
	unknownInstance access = iota
	outsideRole
	sourceDenied
	readable
)

// instanceAccess finds what the session may do with the instance of that name.
func instanceAccess(x *engine.Exec, name string) (access, error) {
	row, err := one(x, `SELECT source_object_id, object_id, role_name FROM cdc.change_tables WHERE capture_instance = @instance`, arg("instance", name))
	if err != nil || row == nil {
		return unknownInstance, err
	}
	return accessTo(x, row[0].Int64(), row[1].Int64(), row[2])
}

// accessTo is instanceAccess for a row of cdc.change_tables.
func accessTo(x *engine.Exec, source, changeTable int64, role sqltypes.Value) (access, error) {
	if isOwner(x) {
		return readable, nil
	}
	if !role.IsNull() && !x.IsRoleMember(x.Database(), role.Str()) {
		return outsideRole, nil
	}
	list, err := rows(x, `SELECT column_id FROM cdc.captured_columns WHERE object_id = @object`, arg("object", changeTable))
	if err != nil {
		return sourceDenied, err
	}
	var ids []int
	for _, r := range list {
		ids = append(ids, int(r[0].Int64()))
	}
	if !canSelect(x, source, ids) {
		return sourceDenied, nil
	}
	return readable, nil
}
