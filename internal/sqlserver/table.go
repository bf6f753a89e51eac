package sqlserver

import (
	"database/sql/driver"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Table is what the catalogue says of one source table.
type Table struct {
	ObjectID int32
	// Source has all columns of the table, in column_id order, and its key.
	Source *schema.Table
	// PageKey orders the table for reading it in pages: the primary key or a
	// unique index without nullable columns. It is nil for a table without
	// one, which is read in a single scan. Its columns need not be captured.
	PageKey []KeyColumn
	// Instances are the table's capture instances, the oldest first: none, one
	// or two.
	Instances []*CaptureInstance
	// Notes are remarks of the catalogue reader that deserve one warning, such
	// as an index that is no key.
	Notes []string
}

// CaptureInstance is one capture instance of a table.
type CaptureInstance struct {
	Name string
	// ObjectID is the change table's: with CreateDate it is the instance's
	// identity, which a re-enabled instance of the same name does not share.
	ObjectID       int32
	CreateDate     time.Time // server-local, as the catalogue says
	SourceObjectID int32
	ChangeTable    string // name of the change table in schema cdc; empty if the login cannot see it
	// StartLSN is change_tables.start_lsn: the lowest LSN that the instance
	// still holds, which every cleanup moves up. Zero if NULL.
	StartLSN lsn.LSN
	// HasCommand tells whether the change table has __$command_id, which
	// instances made before its introduction lack.
	// Source: MS docs, KB3030352.
	HasCommand bool
	// Shape has the captured columns that are selected, in capture order: what a
	// change row and a snapshot row of the table hold.
	Shape *schema.Table
}

// KeyColumn is one column of a paging key.
type KeyColumn struct {
	Name       string
	ID         int
	Type       schema.Type
	Collation  string
	Descending bool
}

// Facts are what matters of a database and its server.
type Facts struct {
	Database              string // exact name
	CDCEnabled            bool
	SnapshotAllowed       bool // ALLOW_SNAPSHOT_ISOLATION is ON
	ReadCommittedSnapshot bool
	Collation             string
	Version               string // ProductVersion, for example 16.0.4135.4
	EngineEdition         int64
	// Offset is the server's present distance from UTC.
	Offset time.Duration
	// TimeZone is CURRENT_TIMEZONE_ID() where the server has it, else empty.
	TimeZone string
	// RDS is true in Amazon RDS, which keeps a database rdsadmin on each
	// server. Source: AWS docs, "Amazon RDS for Microsoft SQL Server".
	RDS bool
}

// ChangeRow is one row of a change table. It is good until its page is
// released; the values, one by one, may be kept.
type ChangeRow struct {
	Commit, Change lsn.LSN
	Command        int32 // zero when read without command ids
	Operation      uint8
	Mask           []byte
	// Values hold one value for each column of the instance's Shape.
	Values []driver.Value
}

// Clone returns a copy that outlives the page.
func (r *ChangeRow) Clone() *ChangeRow {
	c := *r
	c.Values = slices.Clone(r.Values)
	return &c
}

// Position returns the row's place in the order of its database.
func (r *ChangeRow) Position() lsn.Position {
	return lsn.Position{Commit: r.Commit, Command: r.Command, Change: r.Change, Operation: r.Operation}
}
