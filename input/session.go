package input

import (
	"context"
	"errors"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
)

// session follows messages from hand-over to acknowledgement. It ends with the
// first message that is rejected, and outlives lost connections: what was
// handed over before one is neither repeated nor forgotten.
type session struct {
	tracker *checkpoint.Tracker[mark]
	batches *assembler

	// ctx ends when a message is rejected, with a *rejectedError as its cause,
	// when another input takes over, or when this one is closed.
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// rejectedError ends a session: the output, or a processor of batching, would
// not have a message.
type rejectedError struct{ err error }

func (e *rejectedError) Error() string { return fmt.Sprintf("message rejected: %v", e.err) }
func (e *rejectedError) Unwrap() error { return e.err }

// newSession begins a session behind a mark.
func (s *source) newSession(start mark) (*session, error) {
	batches, err := newAssembler(s.maker, s.cfg.batching, s.in.mgr, start)
	if err != nil {
		return nil, err
	}
	n := &session{batches: batches}
	n.ctx, n.cancel = context.WithCancelCause(s.keeper.ctx)
	n.tracker = checkpoint.NewTracker(start, checkpoint.TrackerOptions[mark]{
		Limit:      s.cfg.checkpointLimit,
		Cautious:   s.nacks.Times() > 0,
		Extra:      s.in.cfg.maxQueueSize,
		ExtraBytes: s.in.cfg.maxQueueBytes,
		OnStall:    s.warnStalled,
		OnAdvance:  s.acknowledge,
	})
	return n, nil
}

// acknowledge takes the mark up to which everything is acknowledged.
func (s *source) acknowledge(m mark) {
	s.keeper.acknowledge(m)
	if m.streaming {
		s.meter.Acknowledged(m.streamed())
	}
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
