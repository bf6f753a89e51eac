package stream

import (
	"context"
	"log/slog"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Sink takes the events of one database. Its methods block for back pressure;
// the order of calls is the order of events.
type Sink interface {
	// Emit hands over a batch, whose last event stands at upTo. The batch
	// belongs to the sink even if it returns an error.
	Emit(ctx context.Context, b *event.Batch, upTo lsn.Position) error
	// Advance says that there is nothing up to a position beyond what was
	// emitted before. It holds once all that is acknowledged.
	Advance(ctx context.Context, to lsn.Position) error
}

// Options are the settings of a [Reader].
type Options struct {
	// Match decides which tables are read; nil reads all that have a capture
	// instance.
	Match func(schema, table string) bool
	// Encoder makes the encoder of a table version.
	Encoder func(*schema.Table) (*event.Encoder, error)
	// OnInstances is told of the capture instances that will be read before
	// the first event of a new one; what it returns an error for is not read.
	// It should store them with the position. Nil if nobody asks.
	OnInstances func(ctx context.Context, byCommand bool, instances []InstanceIdentity) error

	FetchSize                int // rows a page; zero: 10000
	MaxIterationTransactions int // transactions a pass; zero: as many as memory allows
	MaxBatchSize             int // events a batch; zero: 2048
	MaxBytes                 int // of rows read and not emitted; zero: 64 MiB
	// Logger takes what changed, never each retry; nil discards.
	Logger *slog.Logger
}

// Reader reads the changes of one database. It is not safe for concurrent use.
type Reader struct{}

// New returns a reader that goes on from a state. It does not talk to the
// server before the first pass.
func New(src Source, sink Sink, opts Options, start State) *Reader { panic("unwritten") }

// Source is the connection a [Reader] reads from: a *sqlserver.Conn, and in
// tests whatever plays one.
type Source interface {
	Catalogue(ctx context.Context, match func(schema, table string) bool) ([]*sqlserver.Table, error)
}

// PollOnce does one pass. More reports that a limit has cut it and that the
// next should follow at once.
func (r *Reader) PollOnce(ctx context.Context) (more bool, err error) { panic("unwritten") }

// State returns the state after the last event handed over.
func (r *Reader) State() State { panic("unwritten") }
