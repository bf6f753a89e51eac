package input

import (
	"context"
	"errors"
	"fmt"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
)

// session follows messages from hand-over to acknowledgement. It ends with the
// first message that is rejected, and outlives lost connections: what was
// handed over before one is neither repeated nor forgotten.
type session struct {
	tracker *checkpoint.Tracker[mark]
	batches *assembler

	// ctx ends when a message is rejected, with a *rejectedError as its cause,
	// or when the input is closed.
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// rejectedError ends a session: the output, or a processor of batching, would
// not have a message.
type rejectedError struct{ err error }

func (e *rejectedError) Error() string { return fmt.Sprintf("message rejected: %v", e.err) }
func (e *rejectedError) Unwrap() error { return e.err }

// newSession begins a session behind a mark.
func (in *input) newSession(start mark) (*session, error) {
	batches, err := newAssembler(in.maker, in.cfg.batching, in.mgr, start)
	if err != nil {
		return nil, err
	}
	s := &session{batches: batches}
	s.ctx, s.cancel = context.WithCancelCause(in.ctx)
	s.tracker = checkpoint.NewTracker(start, checkpoint.TrackerOptions[mark]{
		Limit:      in.cfg.checkpointLimit,
		Extra:      in.cfg.maxQueueSize,
		ExtraBytes: in.cfg.maxQueueBytes,
		OnStall:    in.warnStalled,
		OnAdvance:  in.keeper.acknowledge,
	})
	return s, nil
}

// close ends the session: acknowledgements that come later change nothing.
func (s *session) close(cause error) {
	s.tracker.Close()
	s.cancel(cause)
}

// rejected returns the rejection that ended the session, or nil.
func (s *session) rejected() error {
	var rejected *rejectedError
	if errors.As(context.Cause(s.ctx), &rejected) {
		return rejected
	}
	return nil
}

// bind returns a context that ends with ctx or with the session, and says
// which in its cause.
func (s *session) bind(ctx context.Context) (context.Context, func()) { return bind(ctx, s.ctx) }

// bind returns a context that ends with either of two, with its cause, and a
// function that releases it.
func bind(ctx, other context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// handOver registers a batch with the tracker and returns it with the function
// that settles it.
func (in *input) handOver(ctx context.Context, s *session, h handover) (service.MessageBatch, service.AckFunc, error) {
	n := len(h.messages)
	resolve, err := s.tracker.Track(ctx, &h.mark, n, h.bytes)
	if err != nil {
		return nil, nil, err
	}
	database := in.keeper.database
	return h.messages, func(_ context.Context, err error) error {
		if err != nil {
			in.metrics.nacks.Incr(int64(n), database)
			if in.cfg.replayNacks {
				s.close(&rejectedError{err})
				return nil
			}
			in.log.Warnf("Dropping %d messages that were rejected downstream, because %s is false: %v", n, fieldAutoReplayNacks, err)
		}
		resolve()
		return nil
	}, nil
}

func (in *input) warnStalled() {
	in.metrics.checkpointStalls.Incr(1, in.keeper.database)
	in.log.Warnf("Nothing was acknowledged for %v with %d messages handed over (%s); the output seems to collect more before it sends. Handing over up to %d more (%s). Raise %s, or lower batching.count of the output or give it a batching.period",
		checkpoint.StallAfter, in.cfg.checkpointLimit, fieldCheckpointLimit, in.cfg.maxQueueSize, fieldMaxQueueSize, fieldCheckpointLimit)
}
