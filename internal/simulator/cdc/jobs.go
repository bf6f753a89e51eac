package cdc

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// jobSettings is a row of msdb.dbo.cdc_jobs.
type jobSettings struct {
	maxTrans, maxScans, pollingInterval, retention, threshold int64
	continuous                                                bool
}

// defaultsOf are the settings of sp_cdc_add_job (MS docs; 2025 as measured there).
func defaultsOf(in *engine.Instance, kind string) jobSettings {
	cloud := in.IsAzure() || in.IsManagedInstance()
	if kind == cleanupJob {
		s := jobSettings{retention: 4320, threshold: 5000}
		if in.AtLeast(engine.Release2025) {
			s.threshold = 4999
		}
		return s
	}
	s := jobSettings{maxTrans: 500, maxScans: 10, continuous: true, pollingInterval: 5}
	if in.AtLeast(engine.Release2025) {
		s.maxTrans = 10000
	}
	if cloud {
		s.maxScans = 100
	}
	if in.IsAzure() { // no job goes on there: a scheduler calls it
		s.continuous, s.pollingInterval = false, 0
	}
	return s
}

// maxRetention is a hundred years in minutes (error 22994).
const maxRetention = 52594800

// validate checks in the order of the real procedures.
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
	case s.pollingInterval < 0 || s.pollingInterval >= secondsPerDay:
		return errPollingInterval()
	case s.maxTrans < 1:
		return errMaxTrans()
	case s.maxScans < 1:
		return errMaxScans()
	}
	return nil
}

const secondsPerDay = 86400

// ensureJobs makes and starts the jobs with a database's first instance.
func (a *Agent) ensureJobs(x *engine.Exec) error {
	for _, kind := range []string{captureJob, cleanupJob} {
		settings := defaultsOf(a.in, kind)
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
// agent is down, which is no error here. Azure SQL Database says nothing.
func (a *Agent) startJob(x *engine.Exec, kind string, settings jobSettings) error {
	started := a.start(jobKey{x.Database().ID(), kind}, settings)
	switch {
	case a.in.IsAzure():
		return nil
	case !started:
		return x.Print(agentDown)
	}
	return x.Print("Job '" + jobName(x.Database(), kind) + "' started successfully.")
}
