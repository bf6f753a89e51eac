package sqlserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// manageLockTimeout is how long a statement that makes or drops a capture
// instance waits for each of its locks. It needs a table to itself for a moment,
// and whoever comes while it waits, waits behind it.
// Source: MS docs, "Lock compatibility (Database Engine)", Sch-M.
const manageLockTimeout = 2 * time.Second

// managePreamble makes a statement give way: it does not wait for long, and in a
// deadlock it is the victim.
// Source: MS docs, SET LOCK_TIMEOUT, SET DEADLOCK_PRIORITY.
var managePreamble = "SET LOCK_TIMEOUT " + strconv.FormatInt(manageLockTimeout.Milliseconds(), 10) + "; SET DEADLOCK_PRIORITY LOW; "

// EnableTable is a capture instance to be made.
type EnableTable struct {
	Schema, Table, Instance string
	// Columns are those to capture; nil for all.
	Columns []string
	// TableID and LastColumn, if not zero, are the table's object id and its
	// highest column_id when Columns were chosen: nothing is made if it has got
	// another column since.
	TableID    int32
	LastColumn int
	// Role, Index and Filegroup may be empty: nobody, the primary key and the
	// database's default.
	Role, Index, Filegroup string
	NetChanges             bool
	// NoPartitionSwitch forbids to switch partitions of the table.
	NoPartitionSwitch bool
}

// Statement returns what makes the instance.
// Source: MS docs, sys.sp_cdc_enable_table.
func (e EnableTable) Statement() string {
	var b strings.Builder
	if e.TableID != 0 {
		fmt.Fprintf(&b, "IF (SELECT MAX(column_id) FROM sys.columns WHERE object_id = %d) = %d ", e.TableID, e.LastColumn)
	}
	fmt.Fprintf(&b, "EXEC sys.sp_cdc_enable_table @source_schema = %s, @source_name = %s, @role_name = %s, @capture_instance = %s, @supports_net_changes = %d",
		QuoteText(e.Schema), QuoteText(e.Table), textOrNull(e.Role), QuoteText(e.Instance), bit(e.NetChanges))
	if e.Index != "" {
		b.WriteString(", @index_name = " + QuoteText(e.Index))
	}
	if e.Columns != nil {
		quoted := make([]string, len(e.Columns))
		for i, column := range e.Columns {
			quoted[i] = Quote(column)
		}
		b.WriteString(", @captured_column_list = " + QuoteText(strings.Join(quoted, ", ")))
	}
	if e.Filegroup != "" {
		b.WriteString(", @filegroup_name = " + QuoteText(e.Filegroup))
	}
	if e.NoPartitionSwitch {
		b.WriteString(", @allow_partition_switch = 0")
	}
	return b.String()
}

// DisableTable is a capture instance to be dropped.
type DisableTable struct {
	Schema, Table, Instance string
	// ObjectID is that of the change table: another instance that got the name
	// meanwhile stays.
	ObjectID int32
}

// Statement returns what drops the instance.
// Source: MS docs, sys.sp_cdc_disable_table.
func (d DisableTable) Statement() string {
	return fmt.Sprintf("IF EXISTS (SELECT 1 FROM cdc.change_tables WHERE object_id = %d AND capture_instance = %s) %s", d.ObjectID, QuoteText(d.Instance), d.ByHand())
}

// ByHand returns the statement that a person runs for it.
func (d DisableTable) ByHand() string {
	return fmt.Sprintf("EXEC sys.sp_cdc_disable_table @source_schema = %s, @source_name = %s, @capture_instance = %s",
		QuoteText(d.Schema), QuoteText(d.Table), QuoteText(d.Instance))
}

func textOrNull(text string) string {
	if text == "" {
		return "NULL"
	}
	return QuoteText(text)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Manage runs a statement that makes or drops a capture instance, as it returns
// it beside: with a bound for its locks. After an error the connection may be
// inside of a transaction and is to be closed.
func (c *Conn) Manage(ctx context.Context, statement string) error {
	return c.Exec(ctx, Managing(statement))
}

// Managing returns the text that [Conn.Manage] sends for a statement.
func Managing(statement string) string { return managePreamble + statement + ";" }

// ManageRights tells whether the login may make and drop capture instances.
type ManageRights struct {
	User string
	// Owner is membership in db_owner, which both take.
	Owner bool
	// ReadOnly tells that the database, or the replica that is read, takes no
	// changes.
	ReadOnly bool
}

// Sources: MS docs, sys.sp_cdc_enable_table (permissions), IS_ROLEMEMBER, which
// is 1 for whoever is dbo, DATABASEPROPERTYEX.
const manageRightsStatement = `SELECT USER_NAME(), CASE WHEN IS_ROLEMEMBER(N'db_owner') = 1 OR IS_SRVROLEMEMBER(N'sysadmin') = 1 THEN 1 ELSE 0 END,
 CONVERT(nvarchar(128), DATABASEPROPERTYEX(DB_NAME(), N'Updateability'))`

// ManageRights asks for the rights to manage.
func (c *Conn) ManageRights(ctx context.Context) (ManageRights, error) {
	row, err := c.oneRetried(ctx, manageRightsStatement)
	if err != nil {
		return ManageRights{}, fmt.Errorf("asking for the right to make capture instances: %w", err)
	}
	s := scanner{row: row}
	r := ManageRights{User: s.text(), Owner: s.bool()}
	r.ReadOnly = s.text() == "READ_ONLY"
	return r, s.err
}

// The errors of sp_cdc_enable_table and sp_cdc_disable_table that mean that
// somebody else was there before. Texts: MS docs, "Database Engine events and
// errors".
const (
	errNameTaken       = 22926
	errTwoInstances    = 22962
	errUnknownInstance = 22960
	errTableNotEnabled = 22985
)

// Overtaken reports whether an error of [Conn.Manage] says that what was to be
// done is done already, or that there is no room for it any more: it is to be
// looked again.
func Overtaken(err error) bool {
	for _, number := range []int32{errNameTaken, errTwoInstances, errUnknownInstance, errTableNotEnabled} {
		if HasNumber(err, number) {
			return true
		}
	}
	return false
}

// lockTimeout is the number of error "Lock request time out period exceeded".
const lockTimeout = 1222

// Busy reports whether an error says that a lock was not to be had. The
// procedures of change data capture report it inside of the text of an error of
// their own.
// Source: MS docs, "Database Engine events and errors", 22830 to 22841: "The
// error returned was %d: '%s'."
func Busy(err error) bool {
	return HasNumber(err, lockTimeout) || HasNumber(err, errDeadlock) ||
		err != nil && containsText(err, "The error returned was 1222:", "The error returned was 1205:")
}
