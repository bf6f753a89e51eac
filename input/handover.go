package input

import (
	"context"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
)

// offer is a batch of a source that waits for its turn.
type offer struct {
	messages service.MessageBatch
	ack      service.AckFunc
	session  *session
}

// stale reports whether the session has ended: its messages will be read
// again.
func (o offer) stale() bool { return o.session.ctx.Err() != nil }

// handOver registers a batch with the tracker and returns when the pipeline
// has taken it, or the session has ended.
func (s *source) handOver(h handover) error {
	session := s.session
	if len(h.messages) == 0 {
		session.tracker.Advance(h.mark)
		return nil
	}
	resolve, err := s.track(h)
	if err != nil {
		return err
	}
	select {
	case s.in.offers <- offer{h.messages, s.ackOf(session, len(h.messages), resolve), session}:
		return nil
	case <-session.ctx.Done():
		return context.Cause(session.ctx)
	}
}

// track waits until there is room among the unacknowledged messages and
// somebody asks for more.
func (s *source) track(h handover) (resolve func(), err error) {
	session := s.session
	for {
		asking, err := s.in.demand.await(session.ctx)
		if err != nil {
			return nil, err
		}
		ctx, release := session.bind(asking)
		resolve, err := session.tracker.Track(ctx, &h.mark, len(h.messages), h.bytes)
		release()
		switch {
		case err == nil:
			return resolve, nil
		case session.ctx.Err() != nil, asking.Err() == nil:
			return nil, err
		}
	}
}

// ackOf returns the function that settles a batch of n messages.
func (s *source) ackOf(session *session, n int, resolve func()) service.AckFunc {
	database := s.keeper.database
	return func(_ context.Context, err error) error {
		if err != nil {
			s.in.metrics.Nacks.Incr(int64(n), database)
			if s.cfg.replayNacks {
				session.close(&rejectedError{err})
				return nil
			}
			s.log.Warnf("Dropping %d messages that were rejected downstream, because %s is false: %v", n, fieldAutoReplayNacks, err)
		}
		resolve()
		return nil
	}
}

func (s *source) warnStalled() {
	s.in.metrics.CheckpointStalls.Incr(1, s.keeper.database)
	s.log.Warnf("Nothing was acknowledged for %v with %d messages handed over (%s); the output seems to collect more before it sends. Handing over up to %d more (%s). Raise %s, or lower batching.count of the output or give it a batching.period",
		checkpoint.StallAfter, s.cfg.checkpointLimit, fieldCheckpointLimit, s.in.cfg.maxQueueSize, fieldMaxQueueSize, fieldCheckpointLimit)
}
