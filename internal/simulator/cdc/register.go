package cdc

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// register writes the instance into the cdc tables. From here on the source
// is locked until the transaction ends: writers that were open have ended (and
// have lower commit LSNs than the instance's start), later ones are captured.
func (r *tableRequest) register(x *engine.Exec, changeTable int64) error {
	txn, err := x.Txn()
	if err != nil {
		return err
	}
	if err := txn.LockTable(r.source.ID, storage.LockX); err != nil {
		return err
	}
	start := x.Database().Storage().AllocLSN()
	index, role := sqltypes.Null(), sqltypes.Null()
	if r.index != nil {
		index = sqltypes.StringOf(r.index.Name)
	}
	if r.role != "" {
		role = sqltypes.StringOf(r.role)
	}
	err = run(x, `INSERT cdc.change_tables (object_id, version, source_object_id, capture_instance, start_lsn, end_lsn, supports_net_changes,
	has_drop_pending, role_name, index_name, filegroup_name, create_date, partition_switch)
VALUES (@object, 0, @source, @instance, @start, NULL, @net, NULL, @role, @index, @filegroup, @now, 1)`,
		arg("object", changeTable), arg("source", r.source.ID), arg("instance", r.instance), arg("start", start), arg("net", r.netChanges),
		arg("role", typed{sysname, role}), arg("index", typed{sysname, index}), arg("filegroup", typed{sysname, r.filegroup}),
		arg("now", typed{datetimeType, localTime(x.Now(), x.Location())}))
	if err != nil {
		return err
	}
	for i, c := range r.columns {
		if err := r.registerColumn(x, changeTable, c, i+1); err != nil {
			return err
		}
	}
	return r.registerIndex(x, changeTable)
}

func (r *tableRequest) registerColumn(x *engine.Exec, changeTable int64, c *engine.TableColumn, ordinal int) error {
	mask := sqltypes.Null()
	if c.MaskedWith != "" {
		mask = sqltypes.StringOf(c.MaskedWith)
	}
	return run(x, `INSERT cdc.captured_columns (object_id, column_name, column_id, column_type, column_ordinal, is_computed, masking_function)
VALUES (@object, @name, @column, @type, @ordinal, @computed, @mask)`,
		arg("object", changeTable), arg("name", c.Name), arg("column", c.ID), arg("type", c.Type.Name()), arg("ordinal", ordinal),
		arg("computed", c.Computed != ""), arg("mask", typed{textType, mask}))
}

func (r *tableRequest) registerIndex(x *engine.Exec, changeTable int64) error {
	if r.index == nil {
		return nil
	}
	for i, key := range r.index.Keys {
		err := run(x, `INSERT cdc.index_columns (object_id, column_name, index_ordinal, column_id) VALUES (@object, @name, @ordinal, @column)`,
			arg("object", changeTable), arg("name", r.source.ColumnByID(key.ColumnID).Name), arg("ordinal", i+1), arg("column", key.ColumnID))
		if err != nil {
			return err
		}
	}
	return nil
}
