package snapshot

import (
	"context"
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

// Options are the settings of a [Snapshotter].
type Options struct {
	// Tables are read in this order.
	Tables    []Table
	Isolation Isolation // zero: auto
	// Encoder makes the encoder of a table version.
	Encoder      func(*schema.Table) (*event.Encoder, error)
	FetchSize    int           // rows a page; zero: 2000
	MaxBatchSize int           // events a batch; zero: 2048
	MaxBytes     int           // of rows read and not emitted; zero: 64 MiB
	LockTimeout  time.Duration // zero: 10 s
	// PollInterval paces waiting for the first LSN; zero: 500 ms.
	PollInterval time.Duration
	// Logger takes what changed, never each retry; nil discards.
	Logger *slog.Logger
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

// Progress says how far a snapshot has come. It does not change once made.
type Progress struct {
	// Start is the LSN at which the stream begins: everything after it.
	Start lsn.LSN `json:"start"`
	// NextOrdinal is the first ordinal that no row has had.
	NextOrdinal uint64 `json:"next_ordinal"`
	// Done is set when all tables are.
	Done bool `json:"done"`
	// Tables holds the tables begun, by schema.table, each part quoted.
	Tables map[string]TableProgress `json:"tables,omitempty"`
}

// TableProgress says how far a table has come.
type TableProgress struct {
	Done bool `json:"done"`
	// ObjectID tells the table from one made later under its name.
	ObjectID int32 `json:"object_id"`
	// Key is the definition of the paging key. A key that has changed since
	// makes After worthless.
	Key string `json:"key,omitempty"`
	// After is the key of the last row acknowledged, in the forms of
	// sqlserver.KeyColumn; empty when none was.
	After []string `json:"after,omitempty"`
}

// Position returns where the stream begins once the snapshot is done.
func (p *Progress) Position() lsn.Position { return lsn.EndOf(p.Start) }

// Snapshotter reads a snapshot. It is not safe for concurrent use.
type Snapshotter struct{}

// New returns a snapshotter that begins anew, or from a stored progress if
// there is one.
func New(src Source, opts Options, progress *Progress) *Snapshotter { panic("unwritten") }

// Source is the connection to read from: a *sqlserver.Conn, and in tests
// whatever plays one.
type Source interface{}

// Run reads the snapshot to its end and closes nothing. An error may be
// followed by a new Snapshotter with the last progress acknowledged.
func (s *Snapshotter) Run(ctx context.Context, sink Sink) error { panic("unwritten") }
