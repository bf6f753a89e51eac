package input

import (
	"context"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

const (
	// endTimeout is how long a reading may take to notice that its session has
	// ended before its statement is cancelled, and with it the connection.
	endTimeout = 5 * time.Second
	// nackAlarm is the number of rejections in a row at one position after
	// which it is an error and no longer a hiccup.
	nackAlarm = 10
)

// settle deals with how the last reading ended. It returns the error if a
// person must deal with it, and otherwise waits as long as is due.
func (s *source) settle(ctx context.Context) error {
	if r := s.reading; r != nil {
		if err := r.end(ctx); err != nil {
			return err
		}
		s.reading = nil
		if s.session.rejected() == nil {
			if err := s.settleLoss(ctx, r.err); err != nil {
				return err
			}
		}
	}
	// A message may be rejected while nothing is read.
	if s.session != nil && s.session.rejected() != nil {
		return s.settleRejection(ctx)
	}
	return nil
}

// settleRejection goes back to the last acknowledged message.
func (s *source) settleRejection(ctx context.Context) error {
	cause := s.session.rejected()
	s.endSession(ctx)
	if s.db != nil && !s.db.Usable() {
		s.disconnect()
	}
	committed := s.keeper.committed()
	at, times := committed.position(), s.nacks.Next(committed.place())
	switch {
	case times%nackAlarm == 0:
		s.in.metrics.RepeatedNacks.Incr(1, s.keeper.database)
		s.log.Errorf("Messages after position %s were rejected %d times in a row; nothing behind them is delivered until they are accepted: %v", at, times, cause)
	case times == 1:
		s.log.Warnf("Reading again from the last acknowledged position %s: %v", at, cause)
	}
	return s.nacks.Pause(ctx, s.cfg.retries)
}

// settleLoss goes on, over a new connection if need be, behind the last
// message handed over.
func (s *source) settleLoss(ctx context.Context, err error) error {
	if sqlserver.Classify(err) != sqlserver.ClassRetry || !s.db.Usable() {
		s.disconnect()
	}
	if reason, _ := diagnose(err, true); reason != "" {
		return err
	}
	times := s.losses.Next(s.session.tracker.HandedOver().place())
	if reason, err := s.cfg.retries.Judge(times, err); reason != "" {
		return err
	}
	if times == 1 {
		s.log.Warnf("Reading was interrupted and starts again: %v", advised(err))
	}
	return s.losses.Pause(ctx, s.cfg.retries)
}

func (s *source) endSession(ctx context.Context) {
	if s.session == nil {
		return
	}
	s.session.close(nil)
	if err := s.session.batches.close(ctx); err != nil {
		s.log.Debugf("Closing the batching processors: %v", err)
	}
	s.session = nil
}

func (s *source) disconnect() {
	if s.db == nil {
		return
	}
	if err := s.db.Close(); err != nil {
		s.log.Debugf("Closing the connection: %v", err)
	}
	s.db = nil
}

// end waits until the reading has ended by itself, and after a while makes it.
func (r *reading) end(ctx context.Context) error {
	patience := time.NewTimer(endTimeout)
	defer patience.Stop()
	for {
		select {
		case <-r.done:
			return nil
		case <-patience.C:
			r.cancel()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
