package cdc

import (
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// disableTable is sys.sp_cdc_disable_table: the instance, or all of the table's,
// at once.
func (a *Agent) disableTable(x *engine.Exec, args []sqltypes.Value) (int32, error) {
	if err := requireOwner(x); err != nil {
		return 1, err
	}
	schema, name, instance := args[0].Str(), args[1].Str(), args[2].Str()
	source := tableNamed(x, schema, name)
	if source == nil {
		return 1, errNoSourceTable(schema, name)
	}
	list, err := instancesOf(x, source.ID)
	if err != nil {
		return 1, err
	}
	if len(list) == 0 {
		return 1, errTableNotEnabled(schema, name)
	}
	found := false
	for _, have := range list {
		if strings.EqualFold(instance, "all") || strings.EqualFold(instance, have) {
			found = true
			if err := a.dropInstance(x, have); err != nil {
				return 1, err
			}
		}
	}
	if !found {
		return 1, errUnknownInstance(instance, schema, name)
	}
	return 0, nil
}

// instancesOf lists the instances of a source table, oldest first.
func instancesOf(x *engine.Exec, source int64) ([]string, error) {
	list, err := rows(x, `SELECT capture_instance FROM cdc.change_tables WHERE source_object_id = @source ORDER BY object_id`, arg("source", source))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range list {
		names = append(names, r[0].Str())
	}
	return names, nil
}

// dropInstance removes an instance and all that belongs to it; with its last
// one the source is no longer tracked.
func (a *Agent) dropInstance(x *engine.Exec, instance string) error {
	row, err := one(x, `SELECT object_id, source_object_id FROM cdc.change_tables WHERE capture_instance = @instance`, arg("instance", instance))
	if err != nil || row == nil {
		return err
	}
	object, source := row[0].Int64(), row[1].Int64()
	for _, table := range []string{"change_tables", "captured_columns", "index_columns", "ddl_history"} {
		if err := run(x, "DELETE cdc."+table+" WHERE object_id = @object", arg("object", object)); err != nil {
			return err
		}
	}
	if err := run(x, "DROP TABLE cdc."+quote(changeTableName(instance))); err != nil {
		return err
	}
	txn, err := x.Txn()
	if err != nil {
		return err
	}
	if err := txn.DeleteMeta(droppedKey + fmt.Sprint(object)); err != nil {
		return err
	}
	rest, err := instancesOf(x, source)
	if err != nil || len(rest) > 0 || tableByID(x, source) == nil {
		return err
	}
	return setTracked(x, source, false)
}
