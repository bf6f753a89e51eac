package event

import (
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Options are the settings that all encoders of an input share.
type Options struct {
	Topics Naming
	// SchemaNames adjusts the names of schemas.
	SchemaNames schema.NameAdjustment
	// KeySchemas and ValueSchemas wrap keys and values in schema and payload.
	KeySchemas, ValueSchemas bool
	// Tombstones follow deletes of tables with a key.
	Tombstones bool
	// SkipUnchanged leaves out updates whose two images, as they would be
	// written, are equal.
	SkipUnchanged bool
	// Structured fills ValueStructured and KeyStructured instead of Value.
	Structured bool
	// Modes choose the forms of values; schema.DefaultModes if zero.
	Modes schema.Modes
	// Now is the connector's clock, for the envelope's ts_ms; time.Now if nil.
	Now func() time.Time
	// OnNull is told of each NULL in a NOT NULL column, which is emitted as
	// null; nil if nobody asks.
	OnNull func(NullNotice)
	// OnReplaced is told of texts that hold U+FFFD; nil if nobody asks.
	OnReplaced func(ReplacedNotice)
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
