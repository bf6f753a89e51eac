package cdc

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// jobsAt is where the settings of a database's jobs are: msdb.dbo.cdc_jobs, in
// Azure SQL Database cdc.cdc_jobs of the database itself. ok is false while the
// table does not exist.
func jobsAt(x *engine.Exec) (y *engine.Exec, table string, ok bool) {
	if x.Instance().IsAzure() {
		return x, "cdc.cdc_jobs", tableNamed(x, "cdc", "cdc_jobs") != nil
	}
	y = x.In(x.Instance().Database("msdb"))
	return y, "dbo.cdc_jobs", tableNamed(y, "dbo", "cdc_jobs") != nil
}

const jobSettingColumns = "maxtrans, maxscans, continuous, pollinginterval, retention, threshold"

func jobFrom(r []sqltypes.Value) jobSettings {
	return jobSettings{
		maxTrans: r[0].Int64(), maxScans: r[1].Int64(), continuous: r[2].Bool(), pollingInterval: r[3].Int64(),
		retention: r[4].Int64(), threshold: r[5].Int64(),
	}
}

// allJobs reads the jobs of all databases.
func (a *Agent) allJobs() (map[jobKey]jobSettings, error) {
	jobs := map[jobKey]jobSettings{}
	homes := []string{"msdb"}
	if a.in.IsAzure() {
		homes = nil
		for _, db := range a.in.Databases() {
			if db.Options().CDCEnabled {
				homes = append(homes, db.Name())
			}
		}
	}
	for _, home := range homes {
		err := a.in.System(home, func(x *engine.Exec) error {
			list, err := jobRows(x)
			for _, r := range list {
				if db := a.in.DatabaseByID(int(r[6].Int64())); db != nil {
					jobs[jobKey{db.ID(), r[7].Str()}] = jobFrom(r)
				}
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// jobRows are the settings, database, kind and id of all jobs in reach.
func jobRows(x *engine.Exec) ([][]sqltypes.Value, error) {
	y, table, ok := jobsAt(x)
	if !ok {
		return nil, nil
	}
	return rows(y, "SELECT "+jobSettingColumns+", database_id, job_type, job_id FROM "+table+" ORDER BY database_id, job_type")
}

// readJob reads a job of the current database; nil when there is none.
func readJob(x *engine.Exec, kind string) (*jobSettings, error) {
	y, table, ok := jobsAt(x)
	if !ok {
		return nil, nil
	}
	r, err := one(y, "SELECT "+jobSettingColumns+" FROM "+table+" WHERE database_id = @db AND job_type = @kind", arg("db", x.Database().ID()), arg("kind", kind))
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
	y, table, ok := jobsAt(x)
	if !ok {
		if err := run(y, jobsTable); err != nil {
			return err
		}
	}
	return run(y, "INSERT "+table+" (database_id, job_type, job_id, "+jobSettingColumns+`)
VALUES (@db, @kind, NEWID(), @maxtrans, @maxscans, @continuous, @polling, @retention, @threshold)`, s.args(x, kind)...)
}

func updateJob(x *engine.Exec, kind string, s jobSettings) error {
	y, table, _ := jobsAt(x)
	return run(y, "UPDATE "+table+` SET maxtrans = @maxtrans, maxscans = @maxscans, continuous = @continuous, pollinginterval = @polling,
	retention = @retention, threshold = @threshold WHERE database_id = @db AND job_type = @kind`, s.args(x, kind)...)
}

func deleteJob(x *engine.Exec, kind string) error {
	y, table, _ := jobsAt(x)
	return run(y, "DELETE "+table+" WHERE database_id = @db AND job_type = @kind", arg("db", x.Database().ID()), arg("kind", kind))
}

// dropJobs removes both jobs of the current database.
func dropJobs(x *engine.Exec) error {
	y, table, ok := jobsAt(x)
	if !ok {
		return nil
	}
	return run(y, "DELETE "+table+" WHERE database_id = @db", arg("db", x.Database().ID()))
}
