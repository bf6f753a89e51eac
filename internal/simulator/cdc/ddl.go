package cdc

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// onDDL sees every statement that changes a table's definition. Those on
// tracked tables are refused, or recorded in the log for the capture job.
func (a *Agent) onDDL(x *engine.Exec, ev engine.DDLEvent) error {
	if ev.Before == nil || !ev.Before.TrackedByCDC {
		return nil
	}
	x = x.In(ev.Database)
	if ev.Phase == engine.DDLBefore {
		return a.beforeDDL(x, ev)
	}
	if ev.Kind != "ALTER TABLE" || ev.After == nil {
		return nil
	}
	doc, err := newMarker(ev.Before, ev.After, ev.Text).encode()
	if err != nil {
		return err
	}
	txn, err := x.Txn()
	if err != nil {
		return err
	}
	_, err = txn.LogMarker(ev.Before.ID, doc)
	return err
}

func (a *Agent) beforeDDL(x *engine.Exec, ev engine.DDLEvent) error {
	if !x.IsRoleMember(x.Database(), "db_ddladmin") {
		return errNotDDLAdmin()
	}
	switch ev.Kind {
	case "TRUNCATE TABLE":
		return errTruncate(ev.Before.Name)
	case "DROP TABLE":
		return a.dropInstancesOf(x, ev.Before)
	case "RENAME COLUMN":
		return refuseCaptured(x, ev)
	}
	if ev.Index != "" && ev.Before.Index(ev.Index) != nil { // it exists, so it is to go
		return refuseIndex(x, ev)
	}
	return nil
}

// dropInstancesOf lets a table be dropped: its instances go with it.
func (a *Agent) dropInstancesOf(x *engine.Exec, source *engine.Table) error {
	list, err := instancesOf(x, source.ID)
	if err != nil {
		return err
	}
	for _, instance := range list {
		if err := a.dropInstance(x, instance); err != nil {
			return err
		}
	}
	return nil
}

// refuseCaptured refuses the rename of a captured column; an uncaptured one
// may be renamed.
func refuseCaptured(x *engine.Exec, ev engine.DDLEvent) error {
	for _, name := range ev.Columns {
		column := ev.Before.Column(name)
		if column == nil {
			continue
		}
		found, err := one(x, `SELECT 1 FROM cdc.captured_columns AS c JOIN cdc.change_tables AS t ON t.object_id = c.object_id
WHERE t.source_object_id = @source AND c.column_id = @column`, arg("source", ev.Before.ID), arg("column", column.ID))
		if err != nil {
			return err
		}
		if found != nil {
			return errRename(column.Name)
		}
	}
	return nil
}

// refuseIndex refuses to change the index that identifies rows, whether or not
// net changes are supported (MS docs: Enable and disable change data capture).
func refuseIndex(x *engine.Exec, ev engine.DDLEvent) error {
	list, err := rows(x, `SELECT index_name FROM cdc.change_tables WHERE source_object_id = @source AND index_name IS NOT NULL`, arg("source", ev.Before.ID))
	if err != nil {
		return err
	}
	for _, r := range list {
		if !strings.EqualFold(r[0].Str(), ev.Index) {
			continue
		}
		if ev.Before.Index(ev.Index).Constraint != "" {
			return errConstraintInUse(ev.Index, ev.Before.Name)
		}
		return errIndexInUse(ev.Index, ev.Before.Name)
	}
	return nil
}
