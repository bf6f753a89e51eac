package stream

import (
	"context"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Offset is a place in the stream as Debezium stores it: the events of the
// transaction at Commit are delivered up to the Serial-th at Change, in the
// order of change LSNs; all of them if Change is zero.
// Source: debezium SqlServerOffsetContext.
type Offset struct {
	Commit, Change lsn.LSN
	Serial         int64
}

// Resolve returns the state behind an offset. It reads the transaction once and
// emits nothing. Where command ids order the transaction otherwise than change
// LSNs do, what was delivered of it is not its beginning: then the state is the
// one before it, and replayed is set. The change tables must still hold the
// transaction and everything after it.
func Resolve(ctx context.Context, conn Connection, opts Options, at Offset) (state State, replayed bool, err error) {
	poll, err := conn.Poll(ctx, at.Commit, 1)
	if err != nil {
		return State{}, false, err
	}
	if poll.Max.Before(at.Commit) {
		return State{}, false, &PositionError{Saved: at.Commit, Max: poll.Max}
	}
	// Nothing is told and nothing stored; one transaction is enough.
	opts.Transactions, opts.SchemaChanges, opts.OnInstances, opts.OnCompleted, opts.OnHeld = nil, nil, nil, nil, nil
	opts.MaxIterationTransactions = 1
	before := replaying(lsn.BeginOf(at.Commit))
	r := &resolver{at: at, delivered: before}
	start := before
	if at.Change.IsZero() {
		start = lsn.EndOf(at.Commit)
		r.delivered = start
	}
	reader := New(conn, r, opts, State{Position: start})
	for more := true; more && !r.passed; {
		if more, err = reader.PollOnce(ctx); err != nil {
			return State{}, false, err
		}
	}
	state = reader.State()
	state.Position = r.delivered
	if r.backwards {
		state.Position = before
	}
	return state, state.Position == before, nil
}

// resolver is a sink that finds the last of the events that an offset says are
// delivered.
type resolver struct {
	at        Offset
	delivered lsn.Position
	ended     bool // an event came that is not
	last      lsn.LSN
	backwards bool // change LSNs do not only grow
	passed    bool // all of the transaction was seen
}

// Emit implements [Sink].
func (r *resolver) Emit(_ context.Context, b *event.Batch, _ Place) error {
	for i := range b.Messages {
		r.take(&b.Messages[i])
	}
	return nil
}

// Advance implements [Sink].
func (r *resolver) Advance(_ context.Context, to Place) error {
	r.passed = r.passed || !to.Position.Before(lsn.EndOf(r.at.Commit))
	return nil
}

// take looks at an event. A tombstone, and the halves of a changed key, have the
// number of their change row, and the connector's offset counts rows.
func (r *resolver) take(m *event.Message) {
	if m.Position.Commit != r.at.Commit || r.at.Change.IsZero() {
		r.passed = true
		return
	}
	r.backwards = r.backwards || m.ChangeLSN.Before(r.last)
	r.last = m.ChangeLSN
	order := m.ChangeLSN.Compare(r.at.Change)
	if order > 0 || order == 0 && m.EventSerial > r.at.Serial {
		r.ended = true
	}
	if !r.ended {
		r.delivered = m.Position
	}
}
