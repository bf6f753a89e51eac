package stream

import (
	"context"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Reader reads the changes of one database. It is not safe for concurrent use.
type Reader struct {
	conn Connection
	sink Sink
	opts Options

	// position is that of the last event handed over, or stands for all of a
	// commit.
	position lsn.Position
	serials  event.Serials
	waiting  bool // said that there is no LSN yet
	// behind is since when the server's newest LSN lies before the position;
	// zero while it does not.
	behind time.Time
	// pending are changes of structure to be told, in the order of positions.
	pending  []structureChange
	previous previous
	// newest is the newest LSN seen; pausedAt is where the stream paused last for
	// rows, and has got them.
	newest, pausedAt lsn.LSN

	// bound is the commit LSN up to which a reader reads that catches up; zero:
	// there is no bound.
	bound lsn.LSN

	instances
	holding
}

// New returns a reader that goes on from a state. It does not talk to the
// server before the first pass. To follow a lost connection, make a new reader
// from State.
func New(conn Connection, sink Sink, opts Options, start State) *Reader {
	return &Reader{
		conn: conn, sink: sink, opts: opts.withDefaults(),
		position:  start.Position,
		holding:   holding{held: start.Held, tried: map[string]trial{}},
		instances: instances{known: start.Instances, structures: start.Structures, byCommand: start.ByCommand},
	}
}

// State returns the state after the last event handed over.
func (r *Reader) State() State {
	return State{Position: r.position, ByCommand: r.byCommand, Held: r.held, Instances: r.known, Structures: r.structures}
}

// PollOnce does one pass. More reports that the next should follow at once:
// because a limit has cut this one, or it has removed what was in the way. After
// an error the reader can be used again, if the connection can: it goes on after
// the last event handed over. [ErrBehind] is no failure and no success: the pass
// should be done again later.
func (r *Reader) PollOnce(ctx context.Context) (more bool, err error) {
	if len(r.catchingUp) > 0 {
		err = r.catchUp(ctx)
		return err == nil, err
	}
	if more, err = r.readOn(ctx); err != nil {
		return r.mend(ctx, err)
	}
	r.rechosen = false
	begun, err := r.beginCatchingUp(ctx)
	if err == nil && !begun {
		err = r.checkLeft()
	}
	return more || begun, err
}

// readOn reads on from the position: to the newest LSN, as far as the limits of
// one pass allow, or to where the stream pauses for rows.
func (r *Reader) readOn(ctx context.Context) (more bool, err error) {
	poll, err := r.look(ctx)
	if err != nil || poll.Max.IsZero() {
		return false, err
	}
	if err := r.checkReached(poll.Max); err != nil {
		return false, err
	}
	if err := r.refresh(ctx, poll.Instances); err != nil {
		return false, err
	}
	if err := r.forgetCompleted(ctx); err != nil {
		return false, err
	}
	pause, pauses := r.nextPause()
	if pauses && r.readUpTo(pause) {
		return true, r.readAgain(ctx, pause)
	}
	if pauses {
		poll = until(poll, pause)
	}
	if err := r.read(ctx, poll); err != nil {
		return false, err
	}
	upTo, cut := bounds(poll, r.opts.MaxIterationTransactions)
	if err := r.tellAlone(ctx, upTo); err != nil {
		return false, err
	}
	if err := r.advance(ctx, lsn.EndOf(upTo)); err != nil {
		return false, err
	}
	r.endHandovers()
	// A pause that follows another waits for the next LSN.
	return cut || pauses && r.readUpTo(pause), nil
}

// look asks what there is behind the position. As long as nothing at all is
// captured, the maximum it returns is zero.
func (r *Reader) look(ctx context.Context) (sqlserver.Poll, error) {
	poll, err := r.conn.Poll(ctx, firstCommit(r.position), r.opts.MaxIterationTransactions)
	if err != nil {
		return poll, err
	}
	if r.opts.OnPoll != nil {
		r.opts.OnPoll(poll)
	}
	if poll.Max.IsZero() {
		r.sayWaiting()
		return poll, nil
	}
	r.waiting, r.newest = false, poll.Max
	if !r.bound.IsZero() {
		poll = until(poll, r.bound)
	}
	return poll, nil
}

// read emits the events of the transactions that a look has found. Where nothing
// else does, it makes sure that none of them was cleaned up.
func (r *Reader) read(ctx context.Context, poll sqlserver.Poll) error {
	// A change of order, or of instances, may have moved the position back since
	// the look, but never before its own transaction, which the look covers unless
	// it stood for the whole.
	from := firstCommit(r.position)
	if len(poll.Commits) == 0 || !r.asksForChanges() {
		if err := r.checkRetention(ctx, poll.HighestStart, from); err != nil {
			return err
		}
	}
	if len(poll.Commits) == 0 {
		return nil
	}
	p := pass{
		Reader: r, from: from, to: poll.Commits[len(poll.Commits)-1].LSN, commits: poll.Commits,
		resume: r.position, batch: &event.Batch{}, transactions: newTransactions(r.opts.Transactions),
	}
	return p.run(ctx)
}

// readUpTo reports whether everything up to a commit LSN has been emitted.
func (r *Reader) readUpTo(commit lsn.LSN) bool { return !r.position.Before(lsn.EndOf(commit)) }

// advance tells of the place behind a pass, if that is news.
func (r *Reader) advance(ctx context.Context, to lsn.Position) error {
	if !r.position.Before(to) {
		to = r.position
	}
	if to == r.position && !r.untold {
		return nil
	}
	if err := r.sink.Advance(ctx, r.placeAt(to)); err != nil {
		return err
	}
	r.position, r.untold = to, false
	return nil
}

// bounds returns the LSN up to which a poll covers everything, and whether its
// limit has cut it: then that is its last transaction, else the maximum.
func bounds(poll sqlserver.Poll, limit int) (upTo lsn.LSN, cut bool) {
	n := len(poll.Commits)
	if n == limit && poll.Commits[n-1].LSN.Before(poll.Max) {
		return poll.Commits[n-1].LSN, true
	}
	return poll.Max, false
}

func (r *Reader) sayWaiting() {
	if r.waiting {
		return
	}
	r.waiting = true
	const text = "no LSN captured yet: waiting for the capture job, which SQL Server Agent runs"
	if r.position.IsZero() {
		r.opts.Logger.Warn(text)
		return
	}
	r.opts.Logger.Warn(text+"; there is a stored position, so change data capture was enabled anew, or this is another database",
		"position", r.position.String())
}

// behindGrace is how long the server may lie before the position until that is
// taken for a mistake. A replica that lags, or a listener that has changed
// over, catches up.
const behindGrace = 10 * time.Second

// checkReached makes sure that the server has reached the position. Until it
// has, nothing is read.
func (r *Reader) checkReached(newest lsn.LSN) error {
	if !newest.Before(r.position.Commit) {
		r.behind = time.Time{}
		return nil
	}
	behind := &PositionError{Saved: r.position.Commit, Max: newest}
	if r.behind.IsZero() {
		r.behind = time.Now()
		r.opts.Logger.Warn("waiting for the server to reach the stored position", "problem", behind.Error())
	}
	if time.Since(r.behind) >= behindGrace {
		return behind
	}
	return ErrBehind
}
