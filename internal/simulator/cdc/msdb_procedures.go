package cdc

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// registerAgentProcedures adds the agent's procedures that people use on the jobs
// of change data capture (MS docs: SQL Server Agent stored procedures).
func (a *Agent) registerAgentProcedures() {
	null := sqltypes.Null()
	name, id := engine.Param{Name: "@job_name", Type: sysname, Default: &null}, engine.Param{Name: "@job_id", Type: guidType, Default: &null}
	a.msdbProcedure("sp_start_job", func(x *engine.Exec, args []sqltypes.Value) error {
		j, err := a.requireJob(x, args[0], args[1])
		if err != nil {
			return err
		}
		return a.requestStart(x, j.db, j.key.kind, j.settings)
	}, name, id)
	a.msdbProcedure("sp_stop_job", func(x *engine.Exec, args []sqltypes.Value) error {
		j, err := a.requireJob(x, args[0], args[1])
		if err != nil {
			return err
		}
		return a.requestStop(x, j.db, j.key.kind)
	}, name, id)
	a.msdbProcedure("sp_help_job", a.helpJob, id, name, engine.Param{Name: "@job_aspect", Type: sqltypes.NVarCharOf(9), Default: &null})
	a.msdbProcedure("sp_help_jobactivity", a.helpActivity, id, name, engine.Param{Name: "@session_id", Type: intType, Default: &null})
	a.msdbProcedure("sp_help_jobhistory", a.helpHistory, id, name)
}

// msdbProcedure registers a procedure of msdb alone.
func (a *Agent) msdbProcedure(name string, run func(x *engine.Exec, args []sqltypes.Value) error, params ...engine.Param) {
	a.in.RegisterProcedure("msdb.dbo", name, engine.Procedure{Params: params, Run: func(x *engine.Exec, args []sqltypes.Value) (int32, error) {
		if a.in.IsAzure() {
			return 1, sqltypes.Errorf(2812, 62, 16, "Could not find stored procedure '%s'.", name)
		}
		if err := run(x, args); err != nil {
			return 1, err
		}
		return 0, nil
	}})
}

// requireJob is the job that the caller means, which must be one of its own
// database's or any for a sysadmin.
func (a *Agent) requireJob(x *engine.Exec, name, id sqltypes.Value) (*agentJob, error) {
	j, err := a.findJob(x, name, id)
	if err != nil {
		return nil, err
	}
	if j == nil || !x.IsDBOwner(j.db) {
		what, value := "@job_name", name.Str()
		if name.IsNull() {
			what, value = "@job_id", "NULL"
		}
		return nil, raise(14262, "The specified %s ('%s') does not exist.", what, value)
	}
	return j, nil
}

// chosenJobs are the job that was named, or all.
func (a *Agent) chosenJobs(x *engine.Exec, id, name sqltypes.Value) ([]agentJob, error) {
	if id.IsNull() && name.IsNull() {
		return a.agentJobs(x)
	}
	j, err := a.requireJob(x, name, id)
	if err != nil {
		return nil, err
	}
	return []agentJob{*j}, nil
}

// helpJob is msdb.dbo.sp_help_job: current_execution_status is 1 for a job at work
// and 4 for an idle one.
func (a *Agent) helpJob(x *engine.Exec, args []sqltypes.Value) error {
	jobs, err := a.chosenJobs(x, args[0], args[1])
	if err != nil {
		return err
	}
	const executing, idle = 1, 4
	var list [][]sqltypes.Value
	for i := range jobs {
		j := &jobs[i]
		act := a.activityOf(j.key)
		status := int64(idle)
		if act.isExecuting() {
			status = executing
		}
		last := jobRun{status: 5}
		for _, r := range a.runs() {
			if r.key == j.key {
				last = r
			}
		}
		lastDate, lastTime := agentDate(last.started, x.Location())
		nextDate, nextTime := agentDate(act.next, x.Location())
		list = append(list, []sqltypes.Value{
			j.id, sqltypes.StringOf(a.in.ServerName()), sqltypes.StringOf(j.name), sqltypes.IntOf(1), sqltypes.StringOf(j.description()), sqltypes.IntOf(1),
			sqltypes.StringOf("sa"), lastDate, lastTime, sqltypes.IntOf(last.status), nextDate, nextTime, sqltypes.IntOf(j.schedule()), sqltypes.IntOf(status),
		})
	}
	return x.SendRows([]engine.Column{
		column("job_id", guidType), column("originating_server", sysname), column("name", sysname), column("enabled", tinyintType),
		column("description", sqltypes.NVarCharOf(512)), column("start_step_id", intType), column("owner", sysname), column("last_run_date", intType),
		column("last_run_time", intType), column("last_run_outcome", intType), column("next_run_date", intType), column("next_run_time", intType),
		column("next_run_schedule_id", intType), column("current_execution_status", intType),
	}, list)
}

// helpActivity is msdb.dbo.sp_help_jobactivity.
func (a *Agent) helpActivity(x *engine.Exec, args []sqltypes.Value) error {
	jobs, err := a.chosenJobs(x, args[0], args[1])
	if err != nil {
		return err
	}
	var list [][]sqltypes.Value
	for i := range jobs {
		err := a.emitActivity(x, &jobs[i], func(r []sqltypes.Value) error {
			list = append(list, []sqltypes.Value{r[0], r[1], sqltypes.StringOf(jobs[i].name), r[2], r[5], r[6], r[8], r[9], r[10]})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return x.SendRows([]engine.Column{
		column("session_id", intType), column("job_id", guidType), column("job_name", sysname), column("run_requested_date", datetimeType),
		column("start_execution_date", datetimeType), column("last_executed_step_id", intType), column("stop_execution_date", datetimeType),
		column("job_history_id", intType), column("next_scheduled_run_date", datetimeType),
	}, list)
}

// helpHistory is msdb.dbo.sp_help_jobhistory.
func (a *Agent) helpHistory(x *engine.Exec, args []sqltypes.Value) error {
	jobs, err := a.chosenJobs(x, args[0], args[1])
	if err != nil {
		return err
	}
	var list [][]sqltypes.Value
	for i := range jobs {
		err := a.emitHistory(x, &jobs[i], func(r []sqltypes.Value) error {
			list = append(list, []sqltypes.Value{r[1], sqltypes.StringOf(jobs[i].name), r[7], r[8], r[9], r[10], r[12]})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return x.SendRows([]engine.Column{
		column("job_id", guidType), column("job_name", sysname), column("run_status", intType), column("run_date", intType), column("run_time", intType),
		column("run_duration", intType), column("server", sysname),
	}, list)
}
