package signal

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// What notifications are about.
const (
	aggregateSnapshot = "Initial Snapshot"
	aggregateInstance = "Capture Instance"
)

// Facts that notifications have.
const (
	factConnector  = "connector_name"
	factCurrent    = "current_collection_in_progress"
	factTables     = "data_collections"
	factScanned    = "scanned_collection"
	factRows       = "total_rows_scanned"
	factStatus     = "status"
	factInstance   = "capture_instance"
	factStart      = "start_lsn"
	factStop       = "stop_lsn"
	factCommitted  = "commit_lsn"
	factServer     = "server"
	factDatabase   = "database"
	scanSucceeded  = "SUCCEEDED"
	tableSeparator = ","
)

// Snapshot makes the notifications of the snapshot of one database.
// Source: debezium InitialSnapshotNotificationService.
type Snapshot struct {
	// Connector is topic_prefix.
	Connector string
	// Tables are those that are read, in their order.
	Tables []schema.TableID
}

// Started tells that a snapshot begins.
func (s Snapshot) Started() event.Notification { return s.notification("STARTED", nil) }

// Skipped tells that the snapshot was done before.
func (s Snapshot) Skipped() event.Notification { return s.notification("SKIPPED", nil) }

// Completed tells that all tables are read.
func (s Snapshot) Completed() event.Notification { return s.notification("COMPLETED", nil) }

// InProgress tells that a table is being read.
func (s Snapshot) InProgress(table schema.TableID) event.Notification {
	return s.notification("IN_PROGRESS", map[string]string{factCurrent: table.String(), factTables: s.tables()})
}

// TableScanCompleted tells that a table is read, and how many rows it has.
func (s Snapshot) TableScanCompleted(table schema.TableID, rows int64) event.Notification {
	return s.notification("TABLE_SCAN_COMPLETED", map[string]string{
		factScanned: table.String(), factTables: s.tables(), factRows: strconv.FormatInt(rows, 10), factStatus: scanSucceeded,
	})
}

func (s Snapshot) tables() string {
	names := make([]string, len(s.Tables))
	for i, t := range s.Tables {
		names[i] = t.String()
	}
	return strings.Join(names, tableSeparator)
}

func (s Snapshot) notification(what string, facts map[string]string) event.Notification {
	return newNotification(s.Connector, aggregateSnapshot, what, facts)
}

// Instance is a capture instance that is no longer needed.
type Instance struct {
	Database, Name string
	// Start is where it begins, Stop where another was read instead, Committed
	// the commit LSN that is delivered.
	Start, Stop, Committed lsn.LSN
}

// InstanceCompleted tells that a capture instance can be disabled.
// Source: debezium SqlServerStreamingChangeEventSource.
func InstanceCompleted(connector string, i Instance) event.Notification {
	return newNotification(connector, aggregateInstance, "COMPLETED", map[string]string{
		factServer: connector, factDatabase: i.Database, factInstance: i.Name,
		factStart: i.Start.String(), factStop: i.Stop.String(), factCommitted: i.Committed.String(),
	})
}

// newNotification returns a notification with an id of its own.
func newNotification(connector, aggregate, what string, facts map[string]string) event.Notification {
	n := event.Notification{ID: NewID(), Aggregate: aggregate, Type: what, Facts: map[string]string{factConnector: connector}}
	for name, value := range facts {
		n.Facts[name] = value
	}
	return n
}

// NewID returns a random UUID.
// Source: RFC 9562, 5.4.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
