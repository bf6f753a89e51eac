package cdc

import (
	"context"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

func (a *Agent) registerCleanupProcedure() {
	threshold, zero := sqltypes.IntOf(cleanupDefaults.threshold), sqltypes.IntOf(0)
	a.in.RegisterProcedure("sys", "sp_cdc_cleanup_change_table", engine.Procedure{
		Params: []engine.Param{
			{Name: "@capture_instance", Type: sysname},
			{Name: "@low_water_mark", Type: lsnType},
			{Name: "@threshold", Type: bigintType, Default: &threshold},
			{Name: "@fCleanupFailed", Type: bitType, Default: &zero, Output: true},
		},
		Run: cleanupChangeTable,
	})
}

// cleanupChangeTable is sys.sp_cdc_cleanup_change_table (MS docs, and the text of
// the real procedure): the mark must be an entry of the mapping table and is
// lowered to the smallest entry of the same time, the instance's low end moves
// up to it, then the rows below go. A NULL mark only removes rows.
func cleanupChangeTable(x *engine.Exec, args []sqltypes.Value) (int32, error) {
	if !isOwner(x) {
		return 1, errNotOwner()
	}
	if !captures(x) {
		return 1, errCleanupDisabled(x.Database().Name())
	}
	if args[2].Int64() < 1 {
		return 1, errBadThreshold()
	}
	instance := args[0].Str()
	row, err := one(x, `SELECT capture_instance FROM cdc.change_tables WHERE capture_instance = @instance`, arg("instance", instance))
	if err != nil {
		return 1, err
	}
	if row == nil {
		return 1, errUnknownCapture(instance, x.Database().Name())
	}
	if !args[1].IsNull() {
		mark, err := lowerMark(x, args[1])
		if err != nil {
			return 1, err
		}
		if err := raiseLowEnd(x, mark, "AND capture_instance = @instance", arg("instance", instance)); err != nil {
			return 1, err
		}
	}
	if err := removeOldRows(x, row[0].Str()); err != nil {
		return 1, err
	}
	return 0, removeOldMapping(x)
}

// lowerMark is the smallest entry of the mapping table with the time of the
// given one.
func lowerMark(x *engine.Exec, v sqltypes.Value) (storage.LSN, error) {
	mark, _ := lsnOf(v)
	row, err := one(x, `SELECT MIN(low.start_lsn) FROM cdc.lsn_time_mapping AS given
JOIN cdc.lsn_time_mapping AS low ON low.tran_end_time = given.tran_end_time WHERE given.start_lsn = @mark`, arg("mark", mark))
	if err != nil {
		return mark, err
	}
	if row == nil || row[0].IsNull() {
		return mark, errBadMark(fmt.Sprintf("0x%X", v.Raw()))
	}
	lowered, _ := lsnOf(row[0])
	return lowered, nil
}

// raiseLowEnd moves start_lsn up, never down.
func raiseLowEnd(x *engine.Exec, mark storage.LSN, which string, args ...engine.Arg) error {
	return run(x, "UPDATE cdc.change_tables SET start_lsn = @mark WHERE start_lsn < @mark "+which, append(args, arg("mark", mark))...)
}

// removeOldRows deletes an instance's rows below its low end.
func removeOldRows(x *engine.Exec, instance string) error {
	return run(x, fmt.Sprintf("DECLARE @low binary(10) = (SELECT start_lsn FROM cdc.change_tables WHERE capture_instance = @instance); "+
		"DELETE cdc.%s WHERE [__$start_lsn] < @low", quote(changeTableName(instance))), arg("instance", instance))
}

// removeOldMapping deletes mapping rows that no instance reaches any more.
func removeOldMapping(x *engine.Exec) error {
	return run(x, "DECLARE @low binary(10) = (SELECT MIN(start_lsn) FROM cdc.change_tables); DELETE cdc.lsn_time_mapping WHERE start_lsn < @low")
}

// cleanupByRetention is the cleanup job: it moves the low end of every instance
// up to the newest entry older than the retention, so that instances end up
// sharing one, and removes what lies below.
func (a *Agent) cleanupByRetention(ctx context.Context, database int, settings jobSettings) error {
	db := a.in.DatabaseByID(database)
	if db == nil || !db.Options().CDCEnabled {
		return nil
	}
	return a.in.SystemContext(ctx, db.Name(), func(x *engine.Exec) error {
		cutoff := x.Now().Add(-time.Duration(settings.retention) * time.Minute)
		mark, err := mapTime(x, timeRelations["largest less than or equal"], localTime(cutoff, x.Location()))
		if err != nil || mark.IsNull() {
			return err
		}
		lsn, err := lowerMark(x, mark)
		if err != nil {
			return err
		}
		if err := raiseLowEnd(x, lsn, ""); err != nil {
			return err
		}
		list, err := rows(x, `SELECT capture_instance FROM cdc.change_tables`)
		if err != nil {
			return err
		}
		for _, r := range list {
			if err := removeOldRows(x, r[0].Str()); err != nil {
				return err
			}
		}
		return removeOldMapping(x)
	})
}
