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
	// Failures says what becomes of values that have no form.
	Failures FailureMode
	// OnNull is told of each NULL in a NOT NULL column, which is emitted as
	// null; nil if nobody asks.
	OnNull func(NullNotice)
	// OnReplaced is told of texts that hold U+FFFD; nil if nobody asks.
	OnReplaced func(ReplacedNotice)
	// OnValue is told of each value for which null is written; nil if nobody
	// asks.
	OnValue func(ValueNotice)
	// OnFailure takes changes of which no event can be made, which are left out
	// then; if it is nil, they are errors.
	OnFailure func(FailureNotice)
}

// FailureMode is event_converting_failure_handling_mode.
type FailureMode string

// What becomes of a NULL that change data capture made in a NOT NULL column,
// and of a value outside the range of its type in events.
const (
	FailuresUnset FailureMode = ""     // null for the one, an error for the other
	FailuresWarn  FailureMode = "warn" // null
	FailuresFail  FailureMode = "fail" // an error
	FailuresSkip  FailureMode = "skip" // null
)

// writesNull reports whether null is written for a value out of range.
func (m FailureMode) writesNull() bool { return m == FailuresWarn || m == FailuresSkip }

// ValueNotice reports a value that has no form in events, so that null stands
// for it.
type ValueNotice struct {
	Table    *schema.Table
	Err      *schema.ValueError
	Position lsn.Position
	First    bool // of its column
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
