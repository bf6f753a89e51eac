package cdc

import (
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// agentJob is a job as msdb shows it.
type agentJob struct {
	key      jobKey
	db       *engine.Database
	id       sqltypes.Value
	name     string
	settings jobSettings
}

// agentJobs lists the jobs of all databases.
func (a *Agent) agentJobs(x *engine.Exec) ([]agentJob, error) {
	if a.in.IsAzure() {
		return nil, nil
	}
	list, err := jobRows(x)
	if err != nil {
		return nil, err
	}
	var jobs []agentJob
	for _, r := range list {
		db := a.in.DatabaseByID(int(r[6].Int64()))
		if db == nil {
			continue
		}
		kind := r[7].Str()
		jobs = append(jobs, agentJob{key: jobKey{db.ID(), kind}, db: db, id: r[8], name: jobName(db, kind), settings: jobFrom(r)})
	}
	return jobs, nil
}

// jobView registers a table of msdb about jobs: one row or more for each.
func (a *Agent) jobView(name string, columns []engine.Column, emitJob func(x *engine.Exec, j *agentJob, emit func([]sqltypes.Value) error) error) {
	a.in.RegisterView(engine.View{
		Schema: "dbo", Name: name, Columns: columns,
		Visible: func(db *engine.Database) bool { return db.Name() == "msdb" && !a.in.IsAzure() },
		Rows: func(x *engine.Exec, db *engine.Database, emit func([]sqltypes.Value) error) error {
			if !x.MayReadSystemTable(db, "dbo") { // MS docs: dbo.sysjobs, "Permissions"
				return sqltypes.Errorf(229, 5, 14, "The SELECT permission was denied on the object '%s', database 'msdb', schema 'dbo'.", name)
			}
			jobs, err := a.agentJobs(x)
			if err != nil {
				return err
			}
			for i := range jobs {
				if err := emitJob(x, &jobs[i], emit); err != nil {
					return err
				}
			}
			return nil
		},
	})
}

// registerAgentViews adds the tables of msdb that people ask whether the jobs run
// (MS docs: SQL Server Agent tables).
func (a *Agent) registerAgentViews() {
	text := sqltypes.NVarCharOf(4000)
	a.jobView("sysjobs", []engine.Column{
		column("job_id", guidType), column("originating_server_id", intType), column("name", sysname), column("enabled", tinyintType),
		column("description", sqltypes.NVarCharOf(512)), column("start_step_id", intType), column("category_id", intType),
		column("owner_sid", sqltypes.VarBinaryOf(85)), column("date_created", datetimeType), column("date_modified", datetimeType), column("version_number", intType),
	}, func(x *engine.Exec, j *agentJob, emit func([]sqltypes.Value) error) error {
		created := localTime(j.db.Options().Created, x.Location())
		return emit([]sqltypes.Value{
			j.id, sqltypes.IntOf(0), sqltypes.StringOf(j.name), sqltypes.IntOf(1), sqltypes.StringOf(j.description()), sqltypes.IntOf(1),
			sqltypes.IntOf(j.category()), sqltypes.BytesOf([]byte{1}), created, created, sqltypes.IntOf(1),
		})
	})
	a.jobView("sysjobsteps", []engine.Column{
		column("job_id", guidType), column("step_id", intType), column("step_name", sysname), column("subsystem", sqltypes.NVarCharOf(40)),
		column("command", textType), column("database_name", sysname), column("retry_attempts", intType), column("retry_interval", intType),
		column("last_run_outcome", intType),
	}, func(_ *engine.Exec, j *agentJob, emit func([]sqltypes.Value) error) error {
		for i, s := range j.steps() {
			attempts := int64(0)
			if j.key.kind == captureJob && i > 0 {
				attempts = retryAttempts
			}
			err := emit([]sqltypes.Value{
				j.id, sqltypes.IntOf(int64(i + 1)), sqltypes.StringOf(s.name), sqltypes.StringOf("TSQL"), sqltypes.StringOf(s.command),
				sqltypes.StringOf(j.db.Name()), sqltypes.IntOf(attempts), sqltypes.IntOf(int64(retryInterval / time.Minute)), sqltypes.IntOf(runSucceeded),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	a.jobView("sysjobactivity", []engine.Column{
		column("session_id", intType), column("job_id", guidType), column("run_requested_date", datetimeType), column("run_requested_source", sysname),
		column("queued_date", datetimeType), column("start_execution_date", datetimeType), column("last_executed_step_id", intType),
		column("last_executed_step_date", datetimeType), column("stop_execution_date", datetimeType), column("job_history_id", intType),
		column("next_scheduled_run_date", datetimeType),
	}, a.emitActivity)
	a.jobView("sysjobhistory", []engine.Column{
		column("instance_id", intType), column("job_id", guidType), column("step_id", intType), column("step_name", sysname), column("sql_message_id", intType),
		column("sql_severity", intType), column("message", text), column("run_status", intType), column("run_date", intType), column("run_time", intType),
		column("run_duration", intType), column("retries_attempted", intType), column("server", sysname),
	}, a.emitHistory)
	a.jobView("sysjobservers", []engine.Column{
		column("job_id", guidType), column("server_id", intType), column("last_run_outcome", tinyintType), column("last_outcome_message", text),
		column("last_run_date", intType), column("last_run_time", intType), column("last_run_duration", intType),
	}, func(x *engine.Exec, j *agentJob, emit func([]sqltypes.Value) error) error {
		last := jobRun{status: 5} // unknown
		for _, r := range a.runs() {
			if r.key == j.key {
				last = r
			}
		}
		date, at := agentDate(last.started, x.Location())
		return emit([]sqltypes.Value{
			j.id, sqltypes.IntOf(0), sqltypes.IntOf(last.status), sqltypes.StringOf(last.message), date, at, agentDuration(last.took),
		})
	})
	a.registerScheduleViews()
}

// registerScheduleViews adds when the jobs run: the capture job whenever the agent
// starts, the cleanup job every night.
func (a *Agent) registerScheduleViews() {
	a.jobView("sysjobschedules", []engine.Column{
		column("schedule_id", intType), column("job_id", guidType), column("next_run_date", intType), column("next_run_time", intType),
	}, func(x *engine.Exec, j *agentJob, emit func([]sqltypes.Value) error) error {
		date, at := agentDate(a.activityOf(j.key).next, x.Location())
		return emit([]sqltypes.Value{sqltypes.IntOf(j.schedule()), j.id, date, at})
	})
	a.jobView("sysschedules", []engine.Column{
		column("schedule_id", intType), column("name", sysname), column("enabled", intType), column("freq_type", intType), column("freq_interval", intType),
		column("active_start_date", intType), column("active_start_time", intType),
	}, func(_ *engine.Exec, j *agentJob, emit func([]sqltypes.Value) error) error {
		const atAgentStart, daily = 64, 4 // freq_type
		kind, every, at, name := int64(atAgentStart), int64(0), int64(0), "CDC capture agent schedule."
		if j.key.kind == cleanupJob {
			kind, every, at, name = daily, 1, 20000, "CDC cleanup agent schedule."
		}
		return emit([]sqltypes.Value{
			sqltypes.IntOf(j.schedule()), sqltypes.StringOf(name), sqltypes.IntOf(1), sqltypes.IntOf(kind), sqltypes.IntOf(every),
			sqltypes.IntOf(20080101), sqltypes.IntOf(at),
		})
	})
	msdbOnly := func(db *engine.Database) bool { return db.Name() == "msdb" && !a.in.IsAzure() }
	a.in.RegisterView(engine.View{
		Schema: "dbo", Name: "syscategories", Visible: msdbOnly,
		Columns: []engine.Column{column("category_id", intType), column("category_class", intType), column("category_type", tinyintType), column("name", sysname)},
		Rows: func(_ *engine.Exec, _ *engine.Database, emit func([]sqltypes.Value) error) error {
			for _, c := range []struct {
				id   int64
				name string
			}{{0, "[Uncategorized (Local)]"}, {captureCategory, "REPL-LogReader"}, {cleanupCategory, "REPL-Checkup"}} {
				if err := emit([]sqltypes.Value{sqltypes.IntOf(c.id), sqltypes.IntOf(1), sqltypes.IntOf(1), sqltypes.StringOf(c.name)}); err != nil {
					return err
				}
			}
			return nil
		},
	})
	a.in.RegisterView(engine.View{
		Schema: "dbo", Name: "syssessions", Visible: msdbOnly,
		Columns: []engine.Column{column("session_id", intType), column("agent_start_date", datetimeType)},
		Rows: func(x *engine.Exec, _ *engine.Database, emit func([]sqltypes.Value) error) error {
			a.mu.Lock()
			began := a.began
			a.mu.Unlock()
			return emit([]sqltypes.Value{sqltypes.IntOf(agentSession), localTime(began, x.Location())})
		},
	})
}

// agentSession is the agent's only session.
const agentSession = 1

// The categories of the jobs.
const (
	captureCategory = 13
	cleanupCategory = 16
)

func (j *agentJob) category() int64 {
	if j.key.kind == captureJob {
		return captureCategory
	}
	return cleanupCategory
}

func (j *agentJob) description() string {
	if j.key.kind == captureJob {
		return "CDC Log Scan Job"
	}
	return "CDC Cleanup Job"
}

// schedule is the id of the job's schedule: two for each database.
func (j *agentJob) schedule() int64 {
	id := 2 * int64(j.key.database)
	if j.key.kind == cleanupJob {
		id++
	}
	return id
}

type jobStep struct{ name, command string }

func (j *agentJob) steps() []jobStep {
	if j.key.kind == captureJob {
		return []jobStep{{"Starting Change Data Capture Collection Agent", "RAISERROR(22801, 10, -1)"}, {"Change Data Capture Collection Agent", "sys.sp_MScdc_capture_job"}}
	}
	return []jobStep{{"Change Data Capture Cleanup Agent", "sys.sp_MScdc_cleanup_job"}}
}

// emitActivity is a row of sysjobactivity: a job at work has started and not
// stopped.
func (a *Agent) emitActivity(x *engine.Exec, j *agentJob, emit func([]sqltypes.Value) error) error {
	act := a.activityOf(j.key)
	when := func(t time.Time) sqltypes.Value {
		if t.IsZero() {
			return sqltypes.Null()
		}
		return localTime(t, x.Location())
	}
	step, run := sqltypes.Null(), sqltypes.Null()
	if !act.started.IsZero() {
		step = sqltypes.IntOf(1)
	}
	if act.run != 0 && !act.isExecuting() {
		run = sqltypes.IntOf(act.run)
	}
	return emit([]sqltypes.Value{
		sqltypes.IntOf(agentSession), j.id, when(act.started), sqltypes.StringOf("4"), sqltypes.Null(), when(act.started), step, when(act.started),
		when(act.stopped), run, when(act.next),
	})
}

// emitHistory is the rows of sysjobhistory: the outcome of each run.
func (a *Agent) emitHistory(x *engine.Exec, j *agentJob, emit func([]sqltypes.Value) error) error {
	for _, r := range a.runs() {
		if r.key != j.key {
			continue
		}
		date, at := agentDate(r.started, x.Location())
		err := emit([]sqltypes.Value{
			sqltypes.IntOf(r.id), j.id, sqltypes.IntOf(0), sqltypes.StringOf("(Job outcome)"), sqltypes.IntOf(0), sqltypes.IntOf(0), sqltypes.StringOf(r.message),
			sqltypes.IntOf(r.status), date, at, agentDuration(r.took), sqltypes.IntOf(0), sqltypes.StringOf(a.in.ServerName()),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// agentDate is a time as the agent writes it: 20240305 and 130742, zeros for none.
func agentDate(t time.Time, loc *time.Location) (date, clock sqltypes.Value) {
	if t.IsZero() {
		return sqltypes.IntOf(0), sqltypes.IntOf(0)
	}
	t = t.In(loc)
	return sqltypes.IntOf(int64(t.Year()*10000 + int(t.Month())*100 + t.Day())), sqltypes.IntOf(int64(t.Hour()*10000 + t.Minute()*100 + t.Second()))
}

// agentDuration is a duration as HHMMSS.
func agentDuration(d time.Duration) sqltypes.Value {
	seconds := int64(d / time.Second)
	return sqltypes.IntOf(seconds/3600*10000 + seconds/60%60*100 + seconds%60)
}

// findJob finds a job by name or id, nil when there is none.
func (a *Agent) findJob(x *engine.Exec, name, id sqltypes.Value) (*agentJob, error) {
	jobs, err := a.agentJobs(x)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		j := &jobs[i]
		if !name.IsNull() && strings.EqualFold(j.name, name.Str()) || !id.IsNull() && j.id == id {
			return j, nil
		}
	}
	return nil, nil
}
