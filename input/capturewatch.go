package input

import (
	"context"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

const (
	// captureInterval is how often the capture job is asked after.
	captureInterval = time.Minute
	// captureSilence is how long nothing may be captured until that is taken for
	// a job that stands still. A job that works writes a row about every 305
	// seconds while nothing changes, as was measured on SQL Server 2022.
	captureSilence = 11 * time.Minute
)

// reasonCaptureStalled is the reason of the problem, with strict, that nothing
// is captured.
const reasonCaptureStalled = "capture_stalled"

// captureWatch tells a capture job that stands still from a database in which
// nothing changes: to a reader of change tables both are silence, until the
// cleanup job removes what was never read. It remembers what was seen before,
// so it lives as long as its source.
type captureWatch struct {
	due     time.Time // of the next look
	looked  bool
	newest  lsn.LSN
	scan    sqlserver.LogScan
	sign    time.Time // of the latest sign of life
	down    time.Time // since the Agent or the job is known to be down; zero: it is not
	failing time.Time // since the latest reading of the log is known to have failed
	stall   stall
}

// stall is why a capture job stands still; zero: it does not, as far as is known.
type stall struct{ kind, cause, remedy string }

// The kinds of stalls. A change of kind is news.
const (
	stallAgent   = "agent"
	stallJob     = "job"
	stallFailing = "failing"
	stallSilent  = "silent"
)

// judge says why the capture job stands still, given what is seen of it now.
func (w *captureWatch) judge(now time.Time, s sqlserver.CaptureStatus) stall {
	w.notice(now, s)
	interval := time.Duration(0)
	if s.Job != nil {
		interval = s.Job.Interval
	}
	alive := now.Sub(w.sign) < captureSilence+interval
	if down := stopped(s); down == (stall{}) {
		w.down = time.Time{}
	} else {
		if w.down.IsZero() {
			w.down = now
		}
		// Whoever calls sys.sp_cdc_scan captures without the Agent. What the
		// job did last is seen for a while after its end.
		if !alive || !w.sign.After(w.down.Add(captureInterval)) {
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
		return stall{
			stallFailing, "the capture job fails: " + scanError(s.Scan),
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
		return stall{}
	case s.Replica:
		return stall{
			stallSilent, fmt.Sprintf("nothing new has come to this replica for %v, not even the rows that mark idle times", now.Sub(w.sign).Round(time.Minute)),
			"look at the capture job on the primary replica, and whether this one lags",
		}
	default:
		return stall{
			stallSilent, fmt.Sprintf("nothing has been captured for %v, not even the rows that mark idle times", now.Sub(w.sign).Round(time.Minute)),
			"see whether SQL Server Agent runs, and sys.dm_cdc_errors; " + startJob,
		}
	}
}

const startJob = "run EXEC sys.sp_cdc_start_job @job_type = N'capture' in the database"

// notice looks for signs of life.
func (w *captureWatch) notice(now time.Time, s sqlserver.CaptureStatus) {
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
func stopped(s sqlserver.CaptureStatus) stall {
	after := ""
	if s.Scan != nil && s.Scan.Failed {
		after = "; it ended with " + scanError(s.Scan)
	}
	switch {
	case s.Agent != nil && !*s.Agent:
		return stall{stallAgent, "SQL Server Agent is not running", "start the service SQL Server Agent on the server; the capture job starts with it"}
	case s.Job == nil || s.Job.Running || !s.Job.Continuous:
		return stall{}
	case !s.Job.Enabled:
		return stall{stallJob, "the capture job is disabled" + after, "enable it by msdb.dbo.sp_update_job with @enabled = 1, and " + startJob}
	default:
		return stall{stallJob, "the capture job is not running" + after, startJob}
	}
}

// scanError describes the error that a reading of the log ended with.
func scanError(scan *sqlserver.LogScan) string {
	if scan.Number == 0 {
		return "an error"
	}
	return fmt.Sprintf("error %d, %s", scan.Number, scan.Message)
}

// watchCapture looks after the capture job if it is time to, and says what has
// changed. With strict a job that stands still is an error.
func (s *source) watchCapture(ctx context.Context, db database) error {
	w := &s.capture
	now := time.Now()
	if now.Before(w.due) {
		return nil
	}
	w.due = now.Add(captureInterval)
	status, err := db.CaptureStatus(ctx)
	if err != nil {
		return err
	}
	found := w.judge(now, status)
	before := w.stall
	w.stall = found
	s.meter.Stalled(found.kind != "")
	if found.kind == "" {
		s.in.metrics.CaptureStalled.Set(0, s.databaseName())
		if before.kind != "" {
			s.log.Infof("Changes are captured again")
		}
		return nil
	}
	s.in.metrics.CaptureStalled.Set(1, s.databaseName())
	if s.cfg.watch.strict {
		return sqlserver.NewProblem(reasonCaptureStalled, "no changes are captured: "+found.cause, found.remedy, nil)
	}
	if found.kind != before.kind {
		s.log.Warnf("No changes are captured: %s. None is lost unless the log of the database is; to go on, %s", found.cause, found.remedy)
	}
	return nil
}
