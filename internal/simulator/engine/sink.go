package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Sink receives what a statement answers, in stream order. All calls come from
// the goroutine that called the session. An error returned by the sink (the
// connection is gone, the client sent an attention) ends the execution and is
// returned by the session's method.
type Sink interface {
	// Columns starts a result set.
	Columns(cols []Column) error
	// Row carries one row of the current result set. The slice and its values
	// are valid only during the call.
	Row(row []sqltypes.Value) error
	// Done ends a statement, or a procedure's statement when InProc is set.
	Done(d DoneInfo) error
	// Message carries an error, or information when the class is 10 or less.
	Message(m *Message) error
	// EnvChange reports a changed session property. Text kinds (database,
	// language, packet size) carry their text as bytes of UTF-8; collation and
	// the transaction kinds carry the raw bytes of MS-TDS 2.2.7.9.
	EnvChange(kind EnvKind, newValue, oldValue []byte) error
	// ReturnStatus carries the integer a procedure returned.
	ReturnStatus(status int32) error
	// ReturnValue carries an output parameter; ordinal is the parameter's
	// position in the call, from 0.
	ReturnValue(name string, ordinal int, t sqltypes.Type, v sqltypes.Value) error
}

// Column describes one column of a result set.
type Column struct {
	Name          string
	Type          sqltypes.Type
	Nullable      bool
	Identity      bool
	Computed      bool
	CaseSensitive bool
	Updatable     bool
	// Table is the base table's name, which MS-TDS wants for text, ntext and
	// image columns only.
	Table string
}

// DoneInfo is the content of a DONE token.
type DoneInfo struct {
	// Count is the number of rows, valid when HasCount is set.
	Count    int64
	HasCount bool
	// Error says that the statement failed; its message came before.
	Error bool
	// Command is the token's curcmd: 0xC1 SELECT, 0xC3 INSERT and so on.
	Command uint16
	// InProc says that the statement ran inside a procedure or a remote call
	// (DONEINPROC); EndProc that it ends such a procedure (DONEPROC).
	InProc  bool
	EndProc bool
}

// Values of [DoneInfo.Command] (MS-TDS 2.2.7.6; facts of go-mssqldb and mssql-jdbc).
const (
	CommandNone   uint16 = 0
	CommandSelect uint16 = 0xC1
	CommandInsert uint16 = 0xC3
	CommandDelete uint16 = 0xC4
	CommandUpdate uint16 = 0xC5
	CommandMerge  uint16 = 0x117
	CommandExec   uint16 = 0xE0
)

// Message is an ERROR or INFO token.
type Message struct {
	Number    int32
	State     uint8
	Class     uint8
	Text      string
	Procedure string
	Line      int
}

// EnvKind is the type byte of an ENVCHANGE token (MS-TDS 2.2.7.9).
type EnvKind byte

// The property kinds the engine reports.
const (
	EnvDatabase   EnvKind = 1
	EnvLanguage   EnvKind = 2
	EnvPacketSize EnvKind = 4
	EnvCollation  EnvKind = 7
	EnvBegin      EnvKind = 8
	EnvCommit     EnvKind = 9
	EnvRollback   EnvKind = 10
	EnvResetAck   EnvKind = 18
)

// Arg is one argument of a remote procedure call.
type Arg struct {
	// Name carries its leading @, or is empty for a positional argument.
	Name    string
	Type    sqltypes.Type
	Value   sqltypes.Value
	Output  bool
	Default bool
	// Table is set for a table-valued parameter, which has no Type and Value.
	Table *TableArg
}
