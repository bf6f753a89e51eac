package stream

import (
	"context"
	"log/slog"
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
	// OnHeldPoll is told what looks for changes behind the positions of held tables
	// found; nil if nobody asks.
	OnHeldPoll func(Held, sqlserver.Poll)
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
