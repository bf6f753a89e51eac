package cdc

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func (a *Agent) registerJobProcedures() {
	null, one, zero := sqltypes.Null(), sqltypes.IntOf(1), sqltypes.IntOf(0)
	capture := sqltypes.StringOf(captureJob)
	kind := engine.Param{Name: "@job_type", Type: sqltypes.NVarCharOf(20), Default: &capture}
	setting := func(name string, t sqltypes.Type) engine.Param {
		return engine.Param{Name: name, Type: t, Default: &null}
	}
	settings := []engine.Param{
		setting("@maxtrans", intType), setting("@maxscans", intType), setting("@continuous", bitType),
		setting("@pollinginterval", bigintType), setting("@retention", bigintType), setting("@threshold", bigintType),
	}
	register := func(name string, run func(x *engine.Exec, args []sqltypes.Value) error, params ...engine.Param) {
		a.in.RegisterProcedure("sys", name, engine.Procedure{Params: params, Run: func(x *engine.Exec, args []sqltypes.Value) (int32, error) {
			if err := requireOwner(x); err != nil {
				return 1, err
			}
			if err := run(x, args); err != nil {
				return 1, err
			}
			return 0, nil
		}})
	}
	required := engine.Param{Name: "@job_type", Type: sqltypes.NVarCharOf(20)}
	add := append([]engine.Param{required, {Name: "@start_job", Type: bitType, Default: &one}}, settings...)
	register("sp_cdc_add_job", a.addJob, append(add, engine.Param{Name: "@check_for_logreader", Type: bitType, Default: &zero})...)
	register("sp_cdc_change_job", a.changeJob, append([]engine.Param{kind}, settings...)...)
	register("sp_cdc_drop_job", a.dropJob, required)
	register("sp_cdc_start_job", a.startJobProcedure, kind)
	register("sp_cdc_stop_job", a.stopJob, kind)
	register("sp_cdc_help_jobs", helpJobs)
}

// jobKind checks @job_type.
func jobKind(v sqltypes.Value) (string, error) {
	switch kind := strings.ToLower(strings.TrimSpace(v.Str())); kind {
	case captureJob, cleanupJob:
		return kind, nil
	default:
		return "", errJobType(v.Str())
	}
}

// override applies the settings that were given: maxtrans, maxscans,
// continuous, pollinginterval, retention, threshold; NULL keeps.
func (s *jobSettings) override(kind string, args []sqltypes.Value) error {
	given := func(list ...sqltypes.Value) bool {
		for _, v := range list {
			if !v.IsNull() {
				return true
			}
		}
		return false
	}
	if kind == captureJob && given(args[4], args[5]) {
		return errRetentionOfCapture()
	}
	if kind == cleanupJob && given(args[0], args[1], args[2], args[3]) {
		return errScanOfCleanup()
	}
	for i, field := range []*int64{&s.maxTrans, &s.maxScans, nil, &s.pollingInterval, &s.retention, &s.threshold} {
		switch {
		case args[i].IsNull():
		case field == nil:
			s.continuous = args[i].Bool()
		default:
			*field = args[i].Int64()
		}
	}
	return s.validate(kind)
}

// addJob is sys.sp_cdc_add_job (MS docs).
func (a *Agent) addJob(x *engine.Exec, args []sqltypes.Value) error {
	if err := requireEdition(x); err != nil {
		return err
	}
	kind, err := jobKind(args[0])
	if err != nil {
		return err
	}
	have, err := readJob(x, kind)
	if err != nil {
		return err
	}
	if have != nil {
		return errJobExists(jobName(x.Database(), kind))
	}
	settings := defaultsOf(a.in, kind)
	if err := settings.override(kind, args[2:8]); err != nil {
		return err
	}
	if err := insertJob(x, kind, settings); err != nil {
		return err
	}
	if !args[1].Bool() {
		return nil
	}
	return a.startJob(x, kind, settings)
}

// changeJob is sys.sp_cdc_change_job: in force from the job's next start.
func (a *Agent) changeJob(x *engine.Exec, args []sqltypes.Value) error {
	kind, settings, err := existingJob(x, args[0])
	if err != nil {
		return err
	}
	if err := settings.override(kind, args[1:]); err != nil {
		return err
	}
	return updateJob(x, kind, *settings)
}

func existingJob(x *engine.Exec, jobType sqltypes.Value) (string, *jobSettings, error) {
	kind, err := jobKind(jobType)
	if err != nil {
		return "", nil, err
	}
	if _, _, ok := jobsAt(x); !ok {
		return "", nil, errNoJobTable(x.Database().Name())
	}
	settings, err := readJob(x, kind)
	if err != nil {
		return "", nil, err
	}
	if settings == nil {
		return "", nil, errNoJob(kind)
	}
	return kind, settings, nil
}

// dropJob is sys.sp_cdc_drop_job.
func (a *Agent) dropJob(x *engine.Exec, args []sqltypes.Value) error {
	kind, _, err := existingJob(x, args[0])
	if err != nil {
		return err
	}
	a.stop(jobKey{x.Database().ID(), kind})
	return deleteJob(x, kind)
}

// startJobProcedure is sys.sp_cdc_start_job.
func (a *Agent) startJobProcedure(x *engine.Exec, args []sqltypes.Value) error {
	kind, settings, err := existingJob(x, args[0])
	if err != nil {
		return err
	}
	return a.requestStart(x, x.Database(), kind, *settings)
}

// requestStart starts a job that stands still. Starting the cleanup job runs it at
// once.
func (a *Agent) requestStart(x *engine.Exec, db *engine.Database, kind string, settings jobSettings) error {
	key := jobKey{db.ID(), kind}
	switch {
	case a.in.IsAzure():
		return a.runNow(x, key, settings)
	case !a.isRunning():
		return errAgentDown()
	case kind == cleanupJob:
		if err := a.runNow(x, key, settings); err != nil {
			return err
		}
	case a.isStarted(key):
		return errJobRunning(jobName(db, kind))
	default:
		a.start(key, settings)
	}
	return x.Print("Job '" + jobName(db, kind) + "' started successfully.")
}

// runNow runs a job once, in the statement that asks for it.
func (a *Agent) runNow(x *engine.Exec, key jobKey, settings jobSettings) error {
	j := &job{settings: settings}
	if key.kind == captureJob {
		return a.scanner(key.database).runJob(x.Context(), int(settings.maxTrans), int(settings.maxScans))
	}
	a.runCleanup(x.Context(), key, j)
	return nil
}

// stopJob is sys.sp_cdc_stop_job.
func (a *Agent) stopJob(x *engine.Exec, args []sqltypes.Value) error {
	kind, _, err := existingJob(x, args[0])
	if err != nil {
		return err
	}
	return a.requestStop(x, x.Database(), kind)
}

// requestStop stops a job that is at work.
func (a *Agent) requestStop(x *engine.Exec, db *engine.Database, kind string) error {
	key := jobKey{db.ID(), kind}
	switch {
	case !a.in.IsAzure() && !a.isRunning():
		return errAgentDown()
	case !a.isStarted(key) || kind == cleanupJob:
		return errJobIdle(jobName(db, kind))
	}
	a.stop(key)
	return x.Print("Job '" + jobName(db, kind) + "' stopped successfully.")
}

// helpJobs is sys.sp_cdc_help_jobs.
func helpJobs(x *engine.Exec, _ []sqltypes.Value) error {
	var list [][]sqltypes.Value
	if y, table, ok := jobsAt(x); ok {
		var err error
		list, err = rows(y, "SELECT job_id, job_type, "+jobSettingColumns+" FROM "+table+" WHERE database_id = @db ORDER BY job_type", arg("db", x.Database().ID()))
		if err != nil {
			return err
		}
	}
	return x.SendRows([]engine.Column{
		column("job_id", guidType), column("job_type", sqltypes.NVarCharOf(20)), column("maxtrans", intType), column("maxscans", intType),
		column("continuous", bitType), column("pollinginterval", bigintType), column("retention", bigintType), column("threshold", bigintType),
	}, list)
}

func column(name string, t sqltypes.Type) engine.Column {
	return engine.Column{Name: name, Type: t, Nullable: true}
}
