package snapshot

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Isolation is snapshot_isolation_mode.
type Isolation string

// The isolation modes. Auto is snapshot where the database allows it, else
// read committed, said once.
const (
	IsolationAuto          Isolation = "auto"
	IsolationSnapshot      Isolation = "snapshot"
	IsolationReadCommitted Isolation = "read_committed"
)

// Table is one table to read.
type Table struct {
	Source *sqlserver.Table
	// Shape has the columns to read, those that the stream has: the shape of
	// the capture instance, or Source.Source for a table without one.
	Shape *schema.Table
}

// Defaults of [Options].
const (
	DefaultFetchSize    = 2000
	DefaultMaxBatchSize = 2048
	DefaultMaxBytes     = 64 << 20
	DefaultLockTimeout  = 10 * time.Second
	DefaultPollInterval = 500 * time.Millisecond
)

// Options are the settings of a [Snapshotter].
type Options struct {
	// Tables are read in this order.
	Tables []Table
	// Start is the LSN after which the stream begins, where no rows are read or
	// the stream pauses for them; zero: the newest.
	Start lsn.LSN
	// Behind is set where rows are read in a pause of the stream: they stand
	// behind everything that was committed at Start. Otherwise the stream begins
	// there, and they stand before it.
	Behind    bool
	Isolation Isolation // zero: auto
	// Structures are told of by SchemaChanges before the first row, in this
	// order; nobody is told if that is nil.
	Structures    []*schema.Table
	SchemaChanges *event.SchemaChanges
	// Look is called where no transaction is open before rows are read that may
	// be a table's first: to see how tables are to be read by now. Begin is asked
	// before a table is begun whether that is otherwise than Tables says, because
	// it was taken up anew meanwhile. Nil, both, if nobody knows.
	Look  func(ctx context.Context) error
	Begin func(ctx context.Context, table int) (*Taken, error)
	// Optional returns the columns whose fields have become optional in an
	// earlier attempt; nil: none. OnOptional stores those that do, before the
	// first message that shows it; nil if nobody asks.
	Optional   func(*schema.Table) []string
	OnOptional func(ctx context.Context, t *schema.Table, columns []string) error
	// Observer is told how far the snapshot has come; nil if nobody asks.
	Observer Observer
	// Encoder makes the encoder of a table version.
	Encoder      func(*schema.Table) (*event.Encoder, error)
	FetchSize    int           // rows a page; zero: DefaultFetchSize
	MaxBatchSize int           // events a batch; zero: DefaultMaxBatchSize
	MaxBytes     int           // of rows read and not emitted; zero: DefaultMaxBytes
	LockTimeout  time.Duration // of one attempt to read a page, never of a scan; zero: DefaultLockTimeout
	// PollInterval paces waiting for the first LSN; zero: DefaultPollInterval.
	PollInterval time.Duration
	// Logger takes what changed, never each retry; nil discards.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Isolation == "" {
		o.Isolation = IsolationAuto
	}
	if o.FetchSize <= 0 {
		o.FetchSize = DefaultFetchSize
	}
	if o.MaxBatchSize <= 0 {
		o.MaxBatchSize = DefaultMaxBatchSize
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.LockTimeout <= 0 {
		o.LockTimeout = DefaultLockTimeout
	}
	if o.PollInterval <= 0 {
		o.PollInterval = DefaultPollInterval
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Taken is a table that was taken up anew before any of its rows was read.
type Taken struct {
	Table Table
	// Store stores that, before the first row is handed over.
	Store func(ctx context.Context) error
}

// Sink takes the rows.
type Sink interface {
	// Save stores a progress before it returns. It is called before the first
	// batch, so that no ordinal is ever used twice.
	Save(ctx context.Context, p *Progress) error
	// Emit hands over a batch and the progress that holds once it and all
	// before it are acknowledged. It blocks for back pressure. The last call
	// has p.Done set; its batch may be empty.
	Emit(ctx context.Context, b *event.Batch, p *Progress) error
}

// Source is the connection to read from: a *sqlserver.Conn, and in tests
// whatever plays one.
type Source interface {
	Facts(ctx context.Context) (sqlserver.Facts, error)
	MaxLSN(ctx context.Context) (lsn.LSN, error)
	Now(ctx context.Context) (time.Time, error)
	SetLockTimeout(ctx context.Context, d time.Duration) error
	Begin(ctx context.Context, level sqlserver.Isolation) error
	End(ctx context.Context) error
	ReadRows(ctx context.Context, r *sqlserver.TableReader, after []string, limit, maxBytes int) (sqlserver.RowPage, error)
	ScanRows(ctx context.Context, r *sqlserver.TableReader, limit, maxBytes int, f func(sqlserver.RowPage) error) error
}

var _ Source = (*sqlserver.Conn)(nil)

// Snapshotter reads a snapshot. It is not safe for concurrent use.
type Snapshotter struct {
	src      Source
	opts     Options
	progress *Progress
}

// New returns a snapshotter that begins anew, or from a stored progress if
// there is one.
func New(src Source, opts Options, progress *Progress) *Snapshotter {
	if progress == nil {
		progress = &Progress{}
	}
	return &Snapshotter{src: src, opts: opts.withDefaults(), progress: progress}
}

// Run reads the snapshot to its end; it leaves the connection without a
// transaction. To follow an error, make a new Snapshotter from the last
// progress acknowledged.
func (s *Snapshotter) Run(ctx context.Context, sink Sink) error {
	if s.progress.Done {
		return nil
	}
	level, err := s.isolation(ctx)
	if err != nil {
		return err
	}
	anew := s.progress.Start.IsZero()
	if err := s.begin(ctx); err != nil {
		return err
	}
	out, err := newEmitter(ctx, sink, s.opts, s.progress)
	if err != nil {
		return err
	}
	if anew {
		if err := out.tellStarted(); err != nil {
			return err
		}
	}
	if err := out.tell(ctx); err != nil {
		return err
	}
	in := newReading(s.src, s.opts, s.progress, level)
	return in.run(ctx, out)
}

// isolation decides how rows are read.
func (s *Snapshotter) isolation(ctx context.Context) (sqlserver.Isolation, error) {
	if s.opts.Isolation == IsolationReadCommitted {
		return sqlserver.ReadCommitted, nil
	}
	facts, err := s.src.Facts(ctx)
	switch {
	case err != nil:
		return "", err
	case facts.SnapshotAllowed:
		return sqlserver.Snapshot, nil
	case s.opts.Isolation == IsolationSnapshot:
		return "", sqlserver.SnapshotNotAllowed(facts.Database, nil)
	case len(s.opts.Tables) == 0: // no row is read
		return sqlserver.ReadCommitted, nil
	default:
		s.opts.Logger.Info("snapshot isolation is not allowed: reading committed rows, not one point in time",
			"database", facts.Database)
		return sqlserver.ReadCommitted, nil
	}
}

// begin takes the LSN at which the stream will begin, before the first row is
// read, and waits until there is one.
func (s *Snapshotter) begin(ctx context.Context) error {
	if !s.progress.Start.IsZero() {
		s.opts.Logger.Info("resuming the snapshot: it is no longer one point in time", "start_lsn", s.progress.Start.String())
		return nil
	}
	start := s.opts.Start
	if start.IsZero() {
		var err error
		if start, err = AwaitLSN(ctx, s.src, s.opts.PollInterval, s.opts.Logger); err != nil {
			return err
		}
	}
	s.progress = s.progress.clone()
	s.progress.Start = start
	return nil
}

// AwaitLSN returns the newest LSN that the capture job has passed, and waits
// until there is one.
func AwaitLSN(ctx context.Context, src Source, interval time.Duration, log *slog.Logger) (lsn.LSN, error) {
	for said := false; ; said = true {
		newest, err := src.MaxLSN(ctx)
		if err != nil || !newest.IsZero() {
			return newest, err
		}
		if !said {
			log.Warn("no LSN captured yet: waiting for the capture job, which SQL Server Agent runs")
		}
		timer := time.NewTimer(interval)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return lsn.LSN{}, fmt.Errorf("waiting for the first LSN: %w", context.Cause(ctx))
		}
	}
}
