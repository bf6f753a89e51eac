package cdc

import (
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// jobSession is the session id that error 22903 names for the capture job,
// whose sessions come and go with its scans here.
const jobSession = 51

func (a *Agent) registerJobProcedures() {
	null, one, zero := sqltypes.Null(), sqltypes.IntOf(1), sqltypes.IntOf(0)
	capture := sqltypes.StringOf(captureJob)
	kind := engine.Param{Name: "@job_type", Type: sqltypes.NVarCharOf(20), Default: &capture}
	setting := func(name string, t sqltypes.Type) engine.Param {
		return engine.Param{Name: name, Type: t, Default: &null}
	}
	settings := []engine.Param{
		setting("@maxtrans", intType), setting("@maxscans", intType), setting("@continuous", bitType),
		setting("@pollinginterval", bigintType), setting("@retention", bigintType),
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
	add = append(add, engine.Param{Name: "@check_for_logreader", Type: bitType, Default: &zero}, setting("@threshold", bigintType))
	register("sp_cdc_add_job", a.addJob, add...)
	register("sp_cdc_change_job", a.changeJob, append(append([]engine.Param{kind}, settings...), setting("@threshold", bigintType))...)
	register("sp_cdc_drop_job", a.dropJob, required)
	register("sp_cdc_start_job", a.startJobProcedure, kind)
	register("sp_cdc_stop_job", a.stopJob, kind)
	register("sp_cdc_help_jobs", helpJobs)
	transactions, scans := sqltypes.IntOf(500), sqltypes.IntOf(10)
	register("sp_cdc_scan", a.scanNow,
		engine.Param{Name: "@maxtrans", Type: intType, Default: &transactions}, engine.Param{Name: "@maxscans", Type: intType, Default: &scans},
		engine.Param{Name: "@continuous", Type: tinyintType, Default: &zero}, engine.Param{Name: "@pollinginterval", Type: bigintType, Default: &zero},
		engine.Param{Name: "@is_from_job", Type: intType, Default: &zero})
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
	if kind == captureJob && given(args[4]) {
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
	settings := defaultsOf(kind)
	if err := settings.override(kind, append(args[2:7:7], args[8])); err != nil {
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

// startJobProcedure is sys.sp_cdc_start_job. Starting the cleanup job runs it
// at once.
func (a *Agent) startJobProcedure(x *engine.Exec, args []sqltypes.Value) error {
	kind, settings, err := existingJob(x, args[0])
	if err != nil {
		return err
	}
	key := jobKey{x.Database().ID(), kind}
	if kind == cleanupJob && a.isRunning() {
		if err := a.cleanupByRetention(x.Context(), key.database, *settings); err != nil {
			return err
		}
	}
	if a.isStarted(key) && kind == captureJob {
		return sqltypes.Errorf(22022, 1, 16, "SQLServerAgent Error: Request to run job %s (from User %s) refused because the job is already running from a request by User sa.", jobName(x.Database(), kind), "sa")
	}
	return a.startJob(x, kind, *settings)
}

// stopJob is sys.sp_cdc_stop_job.
func (a *Agent) stopJob(x *engine.Exec, args []sqltypes.Value) error {
	kind, _, err := existingJob(x, args[0])
	if err != nil {
		return err
	}
	key := jobKey{x.Database().ID(), kind}
	a.stop(key)
	return x.Print("Job '" + jobName(x.Database(), kind) + "' stopped successfully.")
}

// helpJobs is sys.sp_cdc_help_jobs.
func helpJobs(x *engine.Exec, _ []sqltypes.Value) error {
	var list [][]sqltypes.Value
	if m := msdb(x); tableNamed(m, "dbo", "cdc_jobs") != nil {
		var err error
		list, err = rows(m, "SELECT job_id, job_type, "+jobColumns+" FROM dbo.cdc_jobs WHERE database_id = @db ORDER BY job_type", arg("db", x.Database().ID()))
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

// scanNow is sys.sp_cdc_scan: it works without the agent, but not beside the
// capture job. A continuous scan goes on until its session ends.
func (a *Agent) scanNow(x *engine.Exec, args []sqltypes.Value) error {
	maxTrans, maxScans, continuous, polling := args[0].Int64(), args[1].Int64(), args[2].Bool(), args[3].Int64()
	switch {
	case maxTrans < 1:
		return errMaxTrans()
	case maxScans < 1:
		return errMaxScans()
	case polling < 0 || polling > 86399:
		return errPollingInterval()
	case !continuous && polling > 0:
		return errScanPolling()
	}
	database := x.Database().ID()
	if a.isStarted(jobKey{database, captureJob}) {
		return errScannerRunning(jobSession)
	}
	for {
		if err := a.scanner(database).run(x.Context(), int(maxTrans), int(maxScans)); err != nil || !continuous {
			return err
		}
		if err := a.wait(x, time.Duration(polling)*time.Second); err != nil {
			return err
		}
	}
}

// wait lets time pass, or the statement end.
func (a *Agent) wait(x *engine.Exec, d time.Duration) error {
	passed := make(chan struct{})
	cancel := a.clock.AfterFunc(d, func() { close(passed) })
	defer cancel()
	select {
	case <-passed:
		return nil
	case <-x.Context().Done():
		return x.Context().Err()
	}
}
