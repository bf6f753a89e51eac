package cdc

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// jobSettings is a row of msdb.dbo.cdc_jobs.
type jobSettings struct {
	maxTrans, maxScans, pollingInterval, retention, threshold int64
	continuous                                                bool
}

// The defaults of sp_cdc_add_job (MS docs).
var (
	captureDefaults = jobSettings{maxTrans: 500, maxScans: 10, continuous: true, pollingInterval: 5}
	cleanupDefaults = jobSettings{retention: 4320, threshold: 5000}
)

func defaultsOf(kind string) jobSettings {
	if kind == cleanupJob {
		return cleanupDefaults
	}
	return captureDefaults
}

// maxRetention is a hundred years in minutes (error 22994).
const maxRetention = 52594800

func (s jobSettings) validate(kind string) error {
	if kind == cleanupJob {
		switch {
		case s.retention < 1 || s.retention > maxRetention:
			return errRetention()
		case s.threshold < 1:
			return errBadThreshold()
		}
		return nil
	}
	switch {
	case s.maxTrans < 1:
		return errMaxTrans()
	case s.maxScans < 1:
		return errMaxScans()
	case s.pollingInterval < 0 || s.pollingInterval > 86399:
		return errPollingInterval()
	}
	return nil
}

// msdb is the same statement in msdb, where jobs live.
func msdb(x *engine.Exec) *engine.Exec { return x.In(x.Instance().Database("msdb")) }

const jobColumns = "maxtrans, maxscans, continuous, pollinginterval, retention, threshold"

func jobFrom(r []sqltypes.Value) jobSettings {
	return jobSettings{
		maxTrans: r[0].Int64(), maxScans: r[1].Int64(), continuous: r[2].Bool(), pollingInterval: r[3].Int64(),
		retention: r[4].Int64(), threshold: r[5].Int64(),
	}
}

// allJobs reads the jobs of all databases.
func (a *Agent) allJobs() (map[jobKey]jobSettings, error) {
	jobs := map[jobKey]jobSettings{}
	err := a.in.System("msdb", func(x *engine.Exec) error {
		if tableNamed(x, "dbo", "cdc_jobs") == nil {
			return nil
		}
		list, err := rows(x, "SELECT "+jobColumns+", database_id, job_type FROM dbo.cdc_jobs")
		if err != nil {
			return err
		}
		for _, r := range list {
			if db := a.in.DatabaseByID(int(r[6].Int64())); db != nil {
				jobs[jobKey{db.ID(), r[7].Str()}] = jobFrom(r)
			}
		}
		return nil
	})
	return jobs, err
}

// readJob reads a job of the current database; nil when there is none.
func readJob(x *engine.Exec, kind string) (*jobSettings, error) {
	m := msdb(x)
	if tableNamed(m, "dbo", "cdc_jobs") == nil {
		return nil, nil
	}
	r, err := one(m, "SELECT "+jobColumns+" FROM dbo.cdc_jobs WHERE database_id = @db AND job_type = @kind", arg("db", x.Database().ID()), arg("kind", kind))
	if err != nil || r == nil {
		return nil, err
	}
	s := jobFrom(r)
	return &s, nil
}

func (s jobSettings) args(x *engine.Exec, kind string) []engine.Arg {
	return []engine.Arg{
		arg("db", x.Database().ID()), arg("kind", kind), arg("maxtrans", s.maxTrans), arg("maxscans", s.maxScans), arg("continuous", s.continuous),
		arg("polling", s.pollingInterval), arg("retention", s.retention), arg("threshold", s.threshold),
	}
}

func insertJob(x *engine.Exec, kind string, s jobSettings) error {
	m := msdb(x)
	if tableNamed(m, "dbo", "cdc_jobs") == nil {
		if err := run(m, jobsTable); err != nil {
			return err
		}
	}
	return run(m, `INSERT dbo.cdc_jobs (database_id, job_type, job_id, `+jobColumns+`)
VALUES (@db, @kind, NEWID(), @maxtrans, @maxscans, @continuous, @polling, @retention, @threshold)`, s.args(x, kind)...)
}

func updateJob(x *engine.Exec, kind string, s jobSettings) error {
	return run(msdb(x), `UPDATE dbo.cdc_jobs SET maxtrans = @maxtrans, maxscans = @maxscans, continuous = @continuous, pollinginterval = @polling,
	retention = @retention, threshold = @threshold WHERE database_id = @db AND job_type = @kind`, s.args(x, kind)...)
}

func deleteJob(x *engine.Exec, kind string) error {
	return run(msdb(x), "DELETE dbo.cdc_jobs WHERE database_id = @db AND job_type = @kind", arg("db", x.Database().ID()), arg("kind", kind))
}

// dropJobs removes both jobs of the current database.
func dropJobs(x *engine.Exec) error {
	m := msdb(x)
	if tableNamed(m, "dbo", "cdc_jobs") == nil {
		return nil
	}
	return run(m, "DELETE dbo.cdc_jobs WHERE database_id = @db", arg("db", x.Database().ID()))
}

// ensureJobs makes and starts the jobs with a database's first instance.
func (a *Agent) ensureJobs(x *engine.Exec) error {
	for _, kind := range []string{captureJob, cleanupJob} {
		settings := defaultsOf(kind)
		have, err := readJob(x, kind)
		if err != nil {
			return err
		}
		if have != nil {
			continue
		}
		if err := insertJob(x, kind, settings); err != nil {
			return err
		}
		if err := a.startJob(x, kind, settings); err != nil {
			return err
		}
	}
	return nil
}

// startJob starts a job of the current database and says so, or says that the
// agent is down, which is no error.
func (a *Agent) startJob(x *engine.Exec, kind string, settings jobSettings) error {
	if !a.start(jobKey{x.Database().ID(), kind}, settings) {
		return x.Print("SQLServerAgent is not currently running so it cannot be notified of this action.")
	}
	return x.Print("Job '" + jobName(x.Database(), kind) + "' started successfully.")
}
