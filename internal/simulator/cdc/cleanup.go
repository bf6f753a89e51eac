package cdc

import (
	"context"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// cleanupThreshold is how many rows one statement deletes at most, unless told
// otherwise.
const cleanupThreshold = 5000

func (a *Agent) registerCleanupProcedure() {
	threshold, zero := sqltypes.IntOf(cleanupThreshold), sqltypes.IntOf(0)
	a.in.RegisterProcedure("sys", "sp_cdc_cleanup_change_table", engine.Procedure{
		Params: []engine.Param{
			{Name: "@capture_instance", Type: sysname},
			{Name: "@low_water_mark", Type: lsnType},
			{Name: "@threshold", Type: bigintType, Default: &threshold},
			{Name: "@fCleanupFailed", Type: bitType, Default: &zero, Output: true},
		},
		Run: a.cleanupChangeTable,
	})
}

// cleanupChangeTable is sys.sp_cdc_cleanup_change_table (MS docs, and the text of
// the real procedure): the mark must be an entry of the mapping table and is
// lowered to the smallest entry of the same time, the instance's low end moves
// up to it, then the rows below go. A NULL mark only removes rows. When rows
// cannot be removed, @fCleanupFailed is 1 and the low end has moved all the same.
func (a *Agent) cleanupChangeTable(x *engine.Exec, args []sqltypes.Value) (int32, error) {
	if !isOwner(x) {
		return 1, errNotOwner()
	}
	database := x.Database()
	if !captures(x) {
		return 1, errCleanupDisabled(database.Name())
	}
	threshold := args[2].Int64()
	if threshold < 1 {
		return 1, errBadThreshold()
	}
	var mark storage.LSN
	if !args[1].IsNull() {
		var err error
		if mark, err = lowerMark(x, args[1]); err != nil {
			return 1, err
		}
	}
	row, err := one(x, `SELECT capture_instance FROM cdc.change_tables WHERE capture_instance = @instance`, arg("instance", args[0].Str()))
	if err != nil {
		return 1, err
	}
	if row == nil {
		return 1, inProcedure(errUnknownCapture(args[0].Str(), database.Name()), "sp_cdc_cleanup_change_table_internal")
	}
	c := cleaner{agent: a, x: x, threshold: threshold, instances: []string{row[0].Str()}}
	failed, err := c.run(mark)
	args[3] = sqltypes.BoolOf(failed)
	if err != nil {
		return 1, err
	}
	return 0, nil
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

// cleaner removes what lies below the low end of some instances.
type cleaner struct {
	agent *Agent
	// x is the caller's statement, nil for the job. In a transaction of the
	// caller everything belongs to it; else each step commits by itself, the low
	// ends before the rows.
	x         *engine.Exec
	ctx       context.Context
	database  string
	threshold int64
	instances []string
}

// step runs one statement's worth of work.
func (c *cleaner) step(f func(x *engine.Exec) error) error {
	ctx, database := c.ctx, c.database
	if c.x != nil {
		if _, active := c.x.Session().Transaction(); active {
			return f(c.x)
		}
		ctx, database = c.x.Context(), c.x.Database().Name()
	}
	return c.agent.in.SystemContext(ctx, database, f)
}

// run raises the low ends to the mark, unless it is zero, then removes rows of the
// change tables and of the mapping table. One table that fails does not keep the
// others (MS docs: Administer and monitor change data capture); failed says so.
func (c *cleaner) run(mark storage.LSN) (failed bool, err error) {
	if !mark.IsZero() {
		if err := c.step(func(x *engine.Exec) error { return c.raiseLowEnds(x, mark) }); err != nil {
			return true, err
		}
	}
	for _, instance := range c.instances {
		err := c.remove(fmt.Sprintf("cdc.%s", quote(changeTableName(instance))), "[__$start_lsn]",
			"SELECT start_lsn FROM cdc.change_tables WHERE capture_instance = @instance", arg("instance", instance))
		failed = failed || err != nil
	}
	err = c.remove("cdc.lsn_time_mapping", "start_lsn", "SELECT MIN(start_lsn) FROM cdc.change_tables")
	return failed || err != nil, c.interrupted()
}

// interrupted is why the work had to end early, if it had to.
func (c *cleaner) interrupted() error {
	if c.x != nil {
		return c.x.Context().Err()
	}
	return c.ctx.Err()
}

// raiseLowEnds moves start_lsn up, never down.
func (c *cleaner) raiseLowEnds(x *engine.Exec, mark storage.LSN) error {
	for _, instance := range c.instances {
		if err := run(x, "UPDATE cdc.change_tables SET start_lsn = @mark WHERE start_lsn < @mark AND capture_instance = @instance",
			arg("mark", mark), arg("instance", instance)); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes a table's rows below a low end in batches of the threshold.
func (c *cleaner) remove(table, column, low string, args ...engine.Arg) error {
	statement := fmt.Sprintf("DECLARE @low binary(10) = (%s); DELETE TOP (%d) FROM %s WHERE %s < @low", low, c.threshold, table, column)
	for {
		var n int64
		err := c.step(func(x *engine.Exec) (err error) {
			n, err = x.Exec(statement, args...)
			return err
		})
		if err != nil || n < c.threshold {
			return err
		}
	}
}

// cleanupByRetention is the cleanup job: it moves the low end of every instance
// up to the newest entry older than the retention, so that instances end up
// sharing one, and removes what lies below. Retention counts on the clock on the
// wall, as the mapping table does.
func (a *Agent) cleanupByRetention(ctx context.Context, database int, settings jobSettings) error {
	db := a.in.DatabaseByID(database)
	if db == nil || !db.Options().CDCEnabled {
		return nil
	}
	c := cleaner{agent: a, ctx: ctx, database: db.Name(), threshold: max(settings.threshold, 1)}
	var mark storage.LSN
	err := c.step(func(x *engine.Exec) error {
		list, err := rows(x, `SELECT capture_instance FROM cdc.change_tables`)
		if err != nil {
			return err
		}
		for _, r := range list {
			c.instances = append(c.instances, r[0].Str())
		}
		newest, err := one(x, `SELECT MAX(start_lsn) FROM cdc.lsn_time_mapping WHERE tran_end_time <= DATEADD(minute, -@retention, @now)`,
			arg("retention", typed{intType, sqltypes.IntOf(settings.retention)}), arg("now", typed{datetimeType, localTime(x.Now(), x.Location())}))
		if err != nil || newest == nil || newest[0].IsNull() {
			return err
		}
		mark, err = lowerMark(x, newest[0])
		return err
	})
	if err != nil || mark.IsZero() {
		return err
	}
	failed, err := c.run(mark)
	if err == nil && failed {
		err = errCleanupFailed(db.Name())
	}
	return err
}
