package capturejob

import (
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

const (
	// Interval is how often the capture job is to be asked after.
	Interval = time.Minute
	// silence is how long nothing may be captured until that is taken for a
	// job that stands still. A job that works writes a row about every 305
	// seconds while nothing changes, as was measured on SQL Server 2022.
	silence = 11 * time.Minute
)

// Watch tells a capture job that stands still from a database in which
// nothing changes: to a reader of change tables both are silence, until the
// cleanup job removes what was never read. It remembers what was seen before,
// so it lives as long as the source of a database.
type Watch struct {
	looked  bool
	newest  lsn.LSN
	scan    sqlserver.LogScan
	sign    time.Time // of the latest sign of life
	down    time.Time // since the Agent or the job is known to be down; zero: it is not
	failing time.Time // since the latest reading of the log is known to have failed
}

// Stall is why a capture job stands still; zero: it does not, as far as is known.
type Stall struct {
	Kind Kind
	// Cause and Remedy say what is wrong and what to do, for a person.
	Cause, Remedy string
}

// Kind is a kind of stall. A change of kind is news.
type Kind string

// The kinds of stalls.
const (
	Agent   Kind = "agent"   // SQL Server Agent does not run
	Job     Kind = "job"     // the capture job does not run
	Failing Kind = "failing" // the job runs and fails
	Silent  Kind = "silent"  // nothing is captured, for no known reason
)

// Judge says why the capture job stands still, given what is seen of it now.
func (w *Watch) Judge(now time.Time, s sqlserver.CaptureStatus) Stall {
	w.notice(now, s)
	interval := time.Duration(0)
	if s.Job != nil {
		interval = s.Job.Interval
	}
	alive := now.Sub(w.sign) < silence+interval
	if down := stopped(s); down == (Stall{}) {
		w.down = time.Time{}
	} else {
		if w.down.IsZero() {
			w.down = now
		}
		// Whoever calls sys.sp_cdc_scan captures without the Agent. What the
		// job did last is seen for a while after its end.
		if !alive || !w.sign.After(w.down.Add(Interval)) {
			return down
		}
	}
	failed := s.Scan != nil && s.Scan.Failed
	switch {
	case !failed:
		w.failing = time.Time{}
	case w.failing.IsZero():
		w.failing = now // the next reading may be better
	default:
		return Stall{
			Failing, "the capture job fails: " + scanError(s.Scan),
			"cure what the error names, or see sys.dm_cdc_errors; the job tries again by itself for about ten minutes, and later has to be started: " + startJob,
		}
	}
	scheduled := s.Job != nil && !s.Job.Continuous
	busy := s.Scan != nil && !s.Scan.Failed && s.Scan.Ended.IsZero()
	// Whether the scheduler of Azure SQL Database writes rows while nothing
	// changes is not documented.
	unknown := s.Azure && s.Scan == nil
	switch {
	case alive, scheduled, busy, unknown:
		return Stall{}
	case s.Replica:
		return Stall{
			Silent, fmt.Sprintf("nothing new has come to this replica for %v, not even the rows that mark idle times", now.Sub(w.sign).Round(time.Minute)),
			"look at the capture job on the primary replica, and whether this one lags",
		}
	case s.NoJob:
		return Stall{
			Job, fmt.Sprintf("nothing has been captured for %v, and the database has no capture job", now.Sub(w.sign).Round(time.Minute)),
			"run EXEC sys.sp_cdc_add_job @job_type = N'capture' in the database, and the same for N'cleanup': after a failover the new primary has only jobs of its own; if the database is published, look at the Log Reader Agent of replication instead",
		}
	default:
		return Stall{
			Silent, fmt.Sprintf("nothing has been captured for %v, not even the rows that mark idle times", now.Sub(w.sign).Round(time.Minute)),
			"see whether SQL Server Agent runs, and sys.dm_cdc_errors; " + startJob,
		}
	}
}

const startJob = "run EXEC sys.sp_cdc_start_job @job_type = N'capture' in the database"

// Moved reports whether the newest captured LSN is another than when the job was
// judged last.
func (w *Watch) Moved(newest lsn.LSN) bool { return w.looked && newest != w.newest }

// notice looks for signs of life.
func (w *Watch) notice(now time.Time, s sqlserver.CaptureStatus) {
	var scan sqlserver.LogScan
	if s.Scan != nil && !s.Scan.Failed {
		scan = *s.Scan
	}
	switch {
	case !w.looked:
		w.sign = now.Add(-s.Age)
	case s.Newest != w.newest, s.Scan != nil && !s.Scan.Failed && scan != w.scan:
		w.sign = now
	}
	w.looked, w.newest, w.scan = true, s.Newest, scan
}

// stopped says whether the Agent or the job is known not to run.
func stopped(s sqlserver.CaptureStatus) Stall {
	after := ""
	if s.Scan != nil && s.Scan.Failed {
		after = "; it ended with " + scanError(s.Scan)
	}
	switch {
	case s.Agent != nil && !*s.Agent:
		return Stall{Agent, "SQL Server Agent is not running", "start the service SQL Server Agent on the server; the capture job starts with it"}
	case s.Job == nil || s.Job.Running || !s.Job.Continuous:
		return Stall{}
	case !s.Job.Enabled:
		return Stall{Job, "the capture job is disabled" + after, "enable it by msdb.dbo.sp_update_job with @enabled = 1, and " + startJob}
	default:
		return Stall{Job, "the capture job is not running" + after, startJob}
	}
}

// scanError describes the error that a reading of the log ended with.
func scanError(scan *sqlserver.LogScan) string {
	if scan.Number == 0 {
		return "an error"
	}
	return fmt.Sprintf("error %d, %s", scan.Number, scan.Message)
}
