package input

import (
	"context"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/capturejob"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// reasonCaptureStalled is the reason of the problem, with strict, that nothing
// is captured.
const reasonCaptureStalled = "capture_stalled"

// captureWatch looks after the capture job of a database.
type captureWatch struct {
	capturejob.Watch
	due   time.Time        // of the next look
	stall capturejob.Stall // as the last look found
}

// watchCapture looks after the capture job if it is time to, and says what has
// changed. With strict a job that stands still is an error.
func (s *source) watchCapture(ctx context.Context, db database) error {
	w := &s.capture
	now := time.Now()
	if now.Before(w.due) {
		return nil
	}
	w.due = now.Add(capturejob.Interval)
	status, err := db.CaptureStatus(ctx)
	if err != nil {
		return err
	}
	found := w.Judge(now, status)
	before := w.stall
	w.stall = found
	s.meter.Stalled(found.Kind != "")
	if found.Kind == "" {
		s.in.metrics.CaptureStalled.Set(0, s.databaseName())
		if before.Kind != "" {
			s.log.Infof("Changes are captured again")
		}
		return nil
	}
	s.in.metrics.CaptureStalled.Set(1, s.databaseName())
	if s.cfg.watch.strict {
		return sqlserver.NewProblem(reasonCaptureStalled, "no changes are captured: "+found.Cause, found.Remedy, nil)
	}
	if found.Kind != before.Kind {
		s.log.Warnf("No changes are captured: %s. None is lost unless the log of the database is; to go on, %s", found.Cause, found.Remedy)
	}
	return nil
}
