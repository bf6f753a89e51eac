package event

import (
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Kind tells messages apart that a pipeline treats differently.
type Kind string

// The kinds of messages.
const (
	KindChange       Kind = "change"
	KindTombstone    Kind = "tombstone"
	KindSchemaChange Kind = "schema_change"
	KindTransaction  Kind = "transaction"
	KindHeartbeat    Kind = "heartbeat"
	KindNotification Kind = "notification"
)

// Operations, as Debezium abbreviates them.
const (
	OpRead   = "r"
	OpCreate = "c"
	OpUpdate = "u"
	OpDelete = "d"
)

// Message is one event, ready to become a Benthos message. Its byte slices
// point into its batch's arena, its structured values may be shared with other
// messages: both are read-only.
type Message struct {
	Kind  Kind
	Topic string

	// Key is the key as JSON, nil when there is none, in structured mode too.
	Key []byte
	// Value is the value as JSON; nil for a tombstone and in structured mode,
	// where ValueStructured holds it and a tombstone is told by its Kind.
	Value []byte
	// KeyStructured and ValueStructured hold the same values as maps, slices
	// and scalars; only in structured mode.
	KeyStructured, ValueStructured any

	// Op is the operation of a change; empty for other kinds.
	Op                      string
	Database, Schema, Table string
	Position                lsn.Position
	// Snapshot is the marker in the source block: "false" while streaming.
	Snapshot   string
	SourceTime time.Time
	// CommitLSN and ChangeLSN are zero where the source block has null.
	CommitLSN, ChangeLSN lsn.LSN
	// EventSerial is zero where the source block has null.
	EventSerial int64

	// NewKey is set on the delete and the tombstone of a key change
	// (__debezium.newkey), OldKey on its create (__debezium.oldkey): the other
	// key's JSON without schema.
	NewKey, OldKey []byte

	// TableRef is the table version of a change or a tombstone; nil for other
	// kinds, which have topics of their own.
	TableRef *schema.Table
	// RowSchema is the Benthos common schema of the row in the form of
	// schema.Common.ToAny, shared by all messages of a table version; nil for
	// other kinds than changes and tombstones.
	RowSchema any
}
