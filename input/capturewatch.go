package input

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/capturejob"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// reasonCaptureStalled is the reason of the problem, with strict, that nothing
// is captured.
const reasonCaptureStalled = "capture_stalled"

// captureWatch looks after the capture job of a database.
type captureWatch struct {
	looking sync.Mutex // held while it does; guards the rest
	capturejob.Watch
	asked time.Time        // when it looked last
	due   time.Time        // of the next look
	stall capturejob.Stall // as the last look found
}

// watchCapture looks after the capture job if it is time to, and says what has
// changed. With strict a job that stands still is an error.
func (s *source) watchCapture(ctx context.Context, db database) error {
	return s.watchCaptureBy(ctx, db.CaptureStatus)
}

// watched does what keeps a connection busy for long, while the capture job is
// looked after over another one. That it cannot be is for the first to notice.
func (r *reading) watched(ctx context.Context, db database, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var (
		watching sync.WaitGroup
		stalled  error
	)
	watching.Go(func() {
		ticker := time.NewTicker(capturejob.Interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
			err := r.source.watchCaptureBy(ctx, db.CaptureStatusApart)
			var problem sqlserver.Problem
			switch {
			case errors.As(err, &problem) && problem.Reason() == reasonCaptureStalled:
				stalled = err
				cancel()
				return
			case err != nil:
				r.source.log.Debugf("How the capture job does is not known: %v", err)
			}
		}
	})
	err := do(ctx)
	cancel()
	watching.Wait()
	return cmp.Or(stalled, err)
}

// watchCaptureBy is watchCapture by some way to ask.
func (s *source) watchCaptureBy(ctx context.Context, ask func(context.Context) (sqlserver.CaptureStatus, error)) error {
	w := &s.capture
	w.looking.Lock()
	defer w.looking.Unlock()
	now := time.Now()
	if now.Before(w.due) {
		return nil
	}
	w.asked, w.due = now, now.Add(capturejob.Interval)
	status, err := ask(ctx)
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

// hurriedInterval is how often the capture job is looked after while changes are
// captured though it seemed to stand still.
const hurriedInterval = 10 * time.Second

// captured notes the newest captured LSN: while the job is taken for one that
// stands still, news of it is a reason to look again soon.
func (w *captureWatch) captured(newest lsn.LSN) {
	w.looking.Lock()
	defer w.looking.Unlock()
	if w.stall.Kind != "" && w.Moved(newest) {
		w.due = w.asked.Add(hurriedInterval)
	}
}
