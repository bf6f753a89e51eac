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
	list, err := chosenInstances(x, args)
	if err != nil {
		return 1, inProcedure(err, "sp_cdc_disable_table_internal")
	}
	for _, instance := range list {
		if err := a.dropInstance(x, instance); err != nil {
			return 1, err
		}
	}
	return 0, nil
}

// chosenInstances are the instances that sp_cdc_disable_table was told of.
func chosenInstances(x *engine.Exec, args []sqltypes.Value) ([]string, error) {
	for i, name := range []string{"@source_schema", "@source_name", "@capture_instance"} {
		if args[i].IsNull() || args[i].Str() == "" {
			return nil, errEmptyParameter(name)
		}
	}
	schema, name, instance := args[0].Str(), args[1].Str(), args[2].Str()
	source := tableNamed(x, schema, name)
	if source == nil {
		return nil, errNoSourceTable(schema, name)
	}
	list, err := instancesOf(x, source.ID)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, errTableNotEnabled(schema, name)
	case strings.EqualFold(instance, "all"):
		return list, nil
	}
	for _, have := range list {
		if x.Database().SameName(instance, have) {
			return []string{have}, nil
		}
	}
	return nil, errUnknownInstance(instance, schema, name)
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
	if err := dropFunctions(x, instance); err != nil {
		return err
	}
	txn, err := x.Txn()
	if err != nil {
		return err
	}
	for _, key := range []string{droppedKey, maskKey} {
		if err := txn.DeleteMeta(key + fmt.Sprint(object)); err != nil {
			return err
		}
	}
	if tableByID(x, source) == nil {
		return nil
	}
	return setTracked(x, source)
}
