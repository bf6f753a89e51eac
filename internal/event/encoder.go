package event

import (
	"database/sql/driver"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Version is the connector version in source blocks.
var Version = "0.1.0"

// Options are the settings that all encoders of an input share.
type Options struct {
	TopicPrefix string
	// KeySchemas and ValueSchemas wrap keys and values in schema and payload.
	KeySchemas, ValueSchemas bool
	// Tombstones follow deletes of tables with a key.
	Tombstones bool
	// Structured fills ValueStructured and KeyStructured instead of Value.
	Structured bool
	Modes      schema.Modes
	// Now is the connector's clock, for the envelope's ts_ms; time.Now if nil.
	Now func() time.Time
	// OnNull is told of each NULL in a NOT NULL column, which is emitted as
	// null; nil if nobody asks.
	OnNull func(NullNotice)
}

// NullNotice reports a NULL that CDC recorded in a NOT NULL column.
type NullNotice struct {
	Table    *schema.Table
	Column   string
	Position lsn.Position
	// First is set on the first of the column, which made the field optional
	// and so changed the table's schema.
	First bool
}

// Change is one row to encode. Rows hold one driver value for each column of
// the encoder's table; they are not kept, but in structured mode the values
// in them may be.
type Change struct {
	// Op is one of the operations: read and create have After only, delete has
	// Before only, update has both.
	Op            string
	Before, After []driver.Value
	// UpdateMask is __$update_mask of an update; nil for other operations.
	UpdateMask []byte
	// Position is that of the first message; those that follow from the same
	// row have the following ordinals.
	Position             lsn.Position
	CommitLSN, ChangeLSN lsn.LSN // zero: null
	SourceTime           time.Time
	Serial               int64  // event_serial_no; zero: null
	Snapshot             string // marker of a snapshot row; empty while streaming
}

// Encoder writes the messages of one table version. It is not safe for
// concurrent use.
type Encoder struct{}

// NewEncoder compiles an encoder.
func NewEncoder(t *schema.Table, opts Options) (*Encoder, error) { panic("unwritten") }

// Table returns the table the encoder was made for.
func (e *Encoder) Table() *schema.Table { panic("unwritten") }

// Topic returns the topic of the table's messages.
func (e *Encoder) Topic() string { panic("unwritten") }

// Omitted returns the columns that events do not carry, with reasons.
func (e *Encoder) Omitted() []schema.Omission { panic("unwritten") }

// Row appends the messages of one change: the change and, after a delete, its
// tombstone; or delete, tombstone and create for an update that changes the
// key. On an error nothing is appended. A *schema.ValueError is a value that
// has no exact form in the chosen modes.
func (e *Encoder) Row(dst *Batch, c Change) error { panic("unwritten") }

// Serials counts event_serial_no over the events of one database, in stream
// order.
type Serials struct{}

// Next returns the serial number of an event: two change rows for an update
// count twice. It grows while commit and change LSN stay the same.
func (s *Serials) Next(commit, change lsn.LSN, rows int64) int64 { panic("unwritten") }

// Reset forgets the event before.
func (s *Serials) Reset() {}
