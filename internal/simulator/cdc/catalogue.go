package cdc

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"

// tableNamed finds a table of the current database as the transaction sees it,
// nil when there is none.
func tableNamed(x *engine.Exec, schema, name string) *engine.Table {
	return x.Catalog(x.Database()).Table(schema, name)
}

// tableByID finds a table by its object id, nil when there is none.
func tableByID(x *engine.Exec, id int64) *engine.Table {
	return x.Catalog(x.Database()).TableByID(id)
}

// captures reports whether the current database is enabled.
func captures(x *engine.Exec) bool {
	return x.Catalog(x.Database()).Options().CDCEnabled
}

// isOwner reports whether the caller is db_owner.
func isOwner(x *engine.Exec) bool { return x.IsDBOwner(x.Database()) }

// canSelect reports whether the caller may read those columns of a table.
func canSelect(x *engine.Exec, table int64, columns []int) bool {
	t := tableByID(x, table)
	if t == nil {
		return false
	}
	for _, id := range columns {
		if t.ColumnByID(id) == nil {
			continue // dropped since
		}
		if !x.HasColumnPermission(x.Database(), t.Object, "SELECT", id) {
			return false
		}
	}
	return true
}

// setEnabled sets sys.databases.is_cdc_enabled of the current database.
func setEnabled(x *engine.Exec, on bool) error {
	return x.UpdateOptions(x.Database(), func(o *engine.DatabaseOptions) { o.CDCEnabled = on })
}

// setTracked sets sys.tables.is_tracked_by_cdc, whether the log keeps the
// table's changes, and which columns its instances capture.
func setTracked(x *engine.Exec, table int64) error {
	list, err := rows(x, `SELECT DISTINCT c.column_id FROM cdc.captured_columns AS c JOIN cdc.change_tables AS t ON t.object_id = c.object_id
WHERE t.source_object_id = @source ORDER BY c.column_id`, arg("source", table))
	if err != nil {
		return err
	}
	var ids []int
	for _, r := range list {
		ids = append(ids, int(r[0].Int64()))
	}
	_, err = x.UpdateTable(x.Database(), tableByID(x, table), func(t *engine.Table) { t.TrackedByCDC, t.Captured = len(ids) > 0, ids })
	return err
}

// markShipped sets is_ms_shipped of a table.
func markShipped(x *engine.Exec, table int64) error {
	_, err := x.UpdateTable(x.Database(), tableByID(x, table), func(t *engine.Table) { t.MSShipped = true })
	return err
}
