package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Sink takes the events of one database. Its methods block for back pressure;
// the order of calls is the order of events.
type Sink interface {
	// Emit hands over a batch and the place behind its last event. The batch
	// belongs to the sink even if it returns an error.
	Emit(ctx context.Context, b *event.Batch, upTo Place) error
	// Advance says that there is nothing up to a place beyond what was emitted
	// before. It holds once all that is acknowledged.
	Advance(ctx context.Context, to Place) error
}

// Connection is what a [Reader] reads from: a *sqlserver.Conn, and in
// tests whatever plays one.
type Connection interface {
	Catalogue(ctx context.Context, selection sqlserver.Selection) ([]*sqlserver.Table, error)
	Poll(ctx context.Context, from lsn.LSN, limit int) (sqlserver.Poll, error)
	Changed(ctx context.Context, r *sqlserver.ChangedReader, from, to lsn.LSN) (sqlserver.Changes, error)
	ReadChanges(ctx context.Context, r *sqlserver.ChangeReader, q sqlserver.ChangeQuery) (sqlserver.ChangePage, error)
	LowLSNs(ctx context.Context) (map[int32]lsn.LSN, error)
	CommitTime(ctx context.Context, commit lsn.LSN) (t time.Time, found bool, err error)
}

var _ Connection = (*sqlserver.Conn)(nil)

// Defaults of [Options].
const (
	DefaultFetchSize    = 10_000
	DefaultMaxBatchSize = 2048
	DefaultMaxBytes     = 64 << 20
	// MaxTransactions bounds a pass whose options do not.
	MaxTransactions = 50_000
)

// SourceTime is source_timestamp_mode: which moment source blocks show.
type SourceTime string

// The source times of an event.
const (
	TimeCommit     SourceTime = "commit"     // when its transaction ended
	TimeBegin      SourceTime = "begin"      // when its transaction began, as in Debezium's direct mode
	TimeProcessing SourceTime = "processing" // when it was read
)

// Options are the settings of a [Reader].
type Options struct {
	// Selection decides which tables and columns are read; nil reads all that
	// are captured.
	Selection sqlserver.Selection
	// Skipped are the values of __$operation that are not read.
	Skipped []int
	// Function asks the instances' functions for changes, instead of reading
	// the change tables: without command ids, so in the order of change LSNs.
	Function bool
	// Encoder makes the encoder of a table version.
	Encoder func(*schema.Table) (*event.Encoder, error)
	// SourceTime chooses the source time of events; zero: TimeCommit.
	SourceTime SourceTime
	// Transactions marks the beginnings and ends of transactions; nil: they
	// are not told of.
	Transactions *event.Transactions
	// SchemaChanges tells of new, altered and dropped tables; nil: they are
	// not told of. Database is the exact name of theirs.
	SchemaChanges *event.SchemaChanges
	Database      string
	// Observe reads an instance on while it exists, and does not go over to a
	// newer one at its beginning.
	Observe bool
	// OnInstances is told of the capture instances that will be read before
	// the first event of a new one; if it returns an error, nothing is. It
	// should store them with the position. Nil if nobody asks.
	OnInstances func(ctx context.Context, byCommand bool, known Known) error
	// Saved returns the place from which a restart would go on; nil: that
	// is not known. Once it has passed an instance that was replaced,
	// OnCompleted is told; nil if nobody asks.
	Saved       func() Place
	OnCompleted func(Completed)
	// Gaps decides what becomes of tables whose changes were cleaned up before
	// they were read. OnSkipped is told of what is passed over; nil if nobody
	// asks.
	Gaps      GapPolicy
	OnSkipped OnSkipped
	// OnHeld is told of tables that cannot be read on and are held, while others
	// go on; nil: one such table ends the reading.
	OnHeld OnHeld
	// Reread reads the rows of tables again, with GapsReread: it hands them over
	// at positions behind its commit LSN and before all later ones, and returns
	// the last of them, or a zero position. Asked again, it goes on where it
	// ended, and has nothing to do once it was through.
	Reread func(ctx context.Context, pause Rereading) (upTo lsn.Position, err error)
	// Rereadable makes sure, before a pause, that the rows of a table may be read:
	// where they may not, it is held; nil if nobody knows.
	Rereadable func(ctx context.Context, t *sqlserver.Table) error
	// OnPoll is told what each look for changes found, before anything of it is
	// read; nil if nobody asks.
	OnPoll func(sqlserver.Poll)
	// Remark takes what a person should know of a table; the same may come
	// again, to be said once. Nil: it is logged.
	Remark func(table, text string)

	FetchSize                int // rows a page; zero: DefaultFetchSize
	MaxIterationTransactions int // transactions a pass; zero: MaxTransactions
	MaxBatchSize             int // events a batch; zero: DefaultMaxBatchSize
	MaxBytes                 int // of rows read and not emitted; zero: DefaultMaxBytes
	// Logger takes what changed, never each retry; nil discards.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.FetchSize <= 0 {
		o.FetchSize = DefaultFetchSize
	}
	if o.MaxIterationTransactions <= 0 {
		o.MaxIterationTransactions = MaxTransactions
	}
	if o.MaxBatchSize <= 0 {
		o.MaxBatchSize = DefaultMaxBatchSize
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Remark == nil {
		o.Remark = func(table, text string) { o.Logger.Warn(text, "table", table) }
	}
	return o
}

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
	// newest is the newest LSN seen; reread is where the stream paused last for
	// rows, and has got them.
	newest, reread lsn.LSN

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

// PollOnce does one pass. More reports that a limit has cut it and that the
// next should follow at once. After an error the reader can be used again, if
// the connection can: it goes on after the last event handed over. [ErrBehind]
// is no failure and no success: the pass should be done again later.
func (r *Reader) PollOnce(ctx context.Context) (more bool, err error) {
	if len(r.catchingUp) > 0 {
		err = r.catchUp(ctx)
		return err == nil, err
	}
	more, err = r.pollOnce(ctx)
	var gap *GapError
	switch {
	case err == nil:
		r.rechosen = false
		late, err := r.beginCatchingUp(ctx)
		if err == nil && !late {
			err = r.checkLeft()
		}
		return more || late, err
	case errors.Is(err, sqlserver.ErrNoCommandID) && !r.noCommand:
		// The order of the whole database falls back, and the transaction at
		// the position is replayed in it.
		r.opts.Logger.Warn("change rows without command id: ordering by change LSN", "position", r.position.String())
		r.noCommand, r.loaded = true, false
		return true, nil
	case errors.Is(err, errAltered):
		r.opts.Logger.Info("reading the catalogue again", "reason", err.Error())
		r.loaded = false
		return true, nil
	case !r.rechosen && outdated(err):
		r.opts.Logger.Info("choosing between the capture instances again", "reason", err.Error())
		r.rechosen, r.loaded = true, false
		return true, nil
	case errors.As(err, &gap) && r.opts.Gaps != GapsFail:
		var all *gapsError
		if !errors.As(err, &all) {
			all = &gapsError{gaps: []*GapError{gap}, known: r.known}
		}
		return true, r.passOver(ctx, all)
	}
	if troubles := r.troubles(err); len(troubles) > 0 {
		return true, r.hold(ctx, troubles)
	}
	return more, r.tellGone(ctx, err)
}

// outdated reports whether an error may come from instances that were chosen
// before one of them was dropped, or cleaned while another holds the rest.
func outdated(err error) bool {
	var (
		gap  *GapError
		gaps *gapsError
	)
	another := errors.As(err, &gap) && gap.another ||
		errors.As(err, &gaps) && slices.ContainsFunc(gaps.gaps, func(g *GapError) bool { return g.another })
	return another ||
		errors.Is(err, sqlserver.ErrInstanceGone) || sqlserver.Classify(err) == sqlserver.ClassMissing
}

func (r *Reader) pollOnce(ctx context.Context) (bool, error) {
	poll, err := r.conn.Poll(ctx, firstCommit(r.position), r.opts.MaxIterationTransactions)
	if err != nil {
		return false, err
	}
	if r.opts.OnPoll != nil {
		r.opts.OnPoll(poll)
	}
	if poll.Max.IsZero() {
		r.sayWaiting()
		return false, nil
	}
	r.waiting, r.newest = false, poll.Max
	if !r.bound.IsZero() {
		poll = until(poll, r.bound)
	}
	if err := r.checkReached(poll.Max); err != nil {
		return false, err
	}
	if err := r.refresh(ctx, poll); err != nil {
		return false, err
	}
	if err := r.complete(ctx); err != nil {
		return false, err
	}
	pauseAt, pauses := r.rereadDue()
	if pauses {
		if !r.position.Before(lsn.EndOf(pauseAt)) {
			return true, r.readAgain(ctx, pauseAt)
		}
		poll = until(poll, pauseAt)
	}
	// A change of order, or of instances, may have moved the position back, but
	// never before its own transaction, which the poll covers unless it stood
	// for the whole.
	from := firstCommit(r.position)
	if len(poll.Commits) == 0 || !r.asksForChanges() {
		if err := r.checkRetention(ctx, poll.HighestStart, from); err != nil {
			return false, err
		}
	}
	upTo, cut := bounds(poll, r.opts.MaxIterationTransactions)
	if len(poll.Commits) > 0 {
		last := poll.Commits[len(poll.Commits)-1].LSN
		p := pass{
			Reader: r, from: from, to: last, commits: poll.Commits, resume: r.position, batch: &event.Batch{},
			transactions: newTransactions(r.opts.Transactions),
		}
		if err := p.run(ctx); err != nil {
			return false, err
		}
	}
	if err := r.tellAlone(ctx, upTo); err != nil {
		return false, err
	}
	if err := r.advance(ctx, lsn.EndOf(upTo)); err != nil {
		return false, err
	}
	r.endHandovers()
	// A pause that follows another waits for the next LSN.
	return cut || pauses && !r.position.Before(lsn.EndOf(pauseAt)), nil
}

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

// checkRetention fails if an instance has lost changes that were not
// delivered. Cleanup moves an instance's start LSN first and takes its changes
// then: what was not there before the start LSNs were read was not cleaned away
// if they do not lie beyond it.
func (r *Reader) checkRetention(ctx context.Context, highestStart, need lsn.LSN) error {
	if !highestStart.After(need) {
		return nil
	}
	lows, err := r.conn.LowLSNs(ctx)
	if err != nil {
		return err
	}
	lost := &gapsError{known: r.known}
	for _, t := range r.tracked {
		low, listed := lows[t.id.ObjectID]
		if !listed {
			return t.trouble(fmt.Errorf("checking retention of instance %q: %w", t.id.Name, sqlserver.ErrInstanceGone))
		}
		if from := lowerBound(t.id.FirstStart, need); low.After(from) && !t.id.FirstStart.IsZero() {
			lost.gaps = append(lost.gaps, t.gap(from, low))
		}
	}
	if len(lost.gaps) > 0 {
		return lost
	}
	return nil
}

// asksForChanges reports whether a pass asks which tables have changes before
// it reads them, and checks their retention then: of one table, asking costs
// what reading does. Asking reads the change tables, which a login that has
// the functions alone may not.
func (r *Reader) asksForChanges() bool {
	hidden := func(t *tracked) bool { return t.reader.Instance().ChangeTable == "" }
	return len(r.tracked) > 1 && !r.noChangeTables && !slices.ContainsFunc(r.tracked, hidden)
}

// changed returns the tables with changes in a range.
func (r *Reader) changed(ctx context.Context, from, to lsn.LSN) ([]*tracked, error) {
	if !r.asksForChanges() {
		return r.tracked, nil
	}
	changes, err := r.conn.Changed(ctx, r.changedReader, from, to)
	var problem sqlserver.Problem
	if r.opts.Function && errors.As(err, &problem) && problem.Reason() == sqlserver.ReasonPermission {
		r.noChangeTables = true
		return r.tracked, nil
	}
	if err != nil && canHold(err) {
		return r.tracked, nil // each says for itself what is wrong with it
	}
	if err != nil {
		return nil, err
	}
	// A table without changes is not looked at again in this pass.
	if err := r.checkRetention(ctx, changes.HighestStart, from); err != nil {
		return nil, err
	}
	tables := make([]*tracked, 0, len(changes.Instances))
	for _, i := range changes.Instances {
		tables = append(tables, r.tracked[i])
	}
	return tables, nil
}
