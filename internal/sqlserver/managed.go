package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// ManagedTable is what the catalogue says of a table to whoever makes and drops
// its capture instances.
type ManagedTable struct {
	ObjectID     int32
	Schema, Name string
	// Columns are in column_id order.
	Columns []ManagedColumn
	// Instances are all of the table's, the oldest first.
	Instances []ManagedInstance
}

// ManagedColumn is a column of a table, or one that an instance captures. Its ID
// is the column_id in the table, which no other column of the table ever gets.
type ManagedColumn struct {
	ID       int
	Name     string
	Computed bool
}

// ManagedInstance is a capture instance with the properties that another one can
// be made with.
type ManagedInstance struct {
	Name string
	// ObjectID and CreateDate are its identity; see [CaptureInstance].
	ObjectID   int32
	CreateDate time.Time
	// StartLSN is zero while it has none.
	StartLSN lsn.LSN
	// Role, Index and Filegroup are empty where change_tables has NULL, Index
	// also if the table has no such unique index any more.
	Role, Index, Filegroup      string
	NetChanges, PartitionSwitch bool
	// Captured are the columns, by their names of when it was made.
	Captured []ManagedColumn
	// DDL are the statements on the table since it was made, as far as the
	// capture job has met them, the oldest first.
	DDL []DDL
}

// DDL is one row of cdc.ddl_history.
type DDL struct {
	Command string
	LSN     lsn.LSN
	// Time is server-local, in whole minutes.
	Time time.Time
}

// Sources: MS docs, cdc.change_tables, cdc.ddl_history, sys.sp_cdc_enable_table.
var (
	managedInstancesStatement = `SELECT ct.object_id, ct.source_object_id, ct.capture_instance, ct.start_lsn, ct.create_date,
 ct.role_name, (SELECT i.name FROM sys.indexes AS i WHERE i.object_id = ct.source_object_id AND i.name = ct.index_name AND i.is_unique = 1),
 ct.filegroup_name, ct.supports_net_changes, ct.partition_switch
FROM cdc.change_tables AS ct ORDER BY ct.create_date, ct.object_id`

	ddlStatement = `SELECT object_id, ddl_command, ddl_lsn, ddl_time FROM cdc.ddl_history
WHERE object_id IN (` + idParameters + `) ORDER BY object_id, ddl_lsn`
)

// Managed is what there is to manage in a database.
type Managed struct {
	Tables []*ManagedTable // those selected, by object id
	// Names are those of all capture instances of the database.
	Names []string
}

// Managed reads the tables that are selected, with all of their capture
// instances.
func (c *Conn) Managed(ctx context.Context, selection Selection) (Managed, error) {
	var m Managed
	err := Retry(ctx, func() (err error) {
		m, err = c.managed(ctx, selection)
		return err
	})
	if err != nil {
		return Managed{}, fmt.Errorf("reading the tables whose capture instances are managed: %w", err)
	}
	return m, nil
}

func (c *Conn) managed(ctx context.Context, selection Selection) (Managed, error) {
	var m Managed
	tables, err := c.tables(ctx, c.database, selection)
	if err != nil || len(tables) == 0 {
		return m, err
	}
	byID := make(map[int32]*ManagedTable, len(tables))
	ids := make([]int32, len(tables))
	for i, t := range tables {
		managed := &ManagedTable{ObjectID: t.ObjectID, Schema: t.Source.Schema, Name: t.Source.Name}
		m.Tables = append(m.Tables, managed)
		byID[t.ObjectID], ids[i] = managed, t.ObjectID
	}
	// Instances come first: a column that is added behind them is missing in
	// them, and not taken for one that they have lost.
	if m.Names, err = c.managedInstances(ctx, byID); err != nil {
		return Managed{}, err
	}
	columns, err := c.columns(ctx, ids)
	if err != nil {
		return Managed{}, err
	}
	for id, list := range columns {
		for _, col := range list {
			byID[id].Columns = append(byID[id].Columns, ManagedColumn{ID: col.ID, Name: col.Name, Computed: col.Computed})
		}
	}
	return m, nil
}

// managedInstances hangs the instances on their tables and returns the names of
// all there are.
func (c *Conn) managedInstances(ctx context.Context, tables map[int32]*ManagedTable) (names []string, err error) {
	err = c.each(ctx, func(row []driver.Value) error {
		s := scanner{row: row}
		ci := ManagedInstance{ObjectID: int32(s.int())}
		source := int32(s.int())
		ci.Name = s.text()
		ci.StartLSN, _ = s.lsn()
		ci.CreateDate = s.time()
		ci.Role, ci.Index, ci.Filegroup = s.text(), s.text(), s.text()
		ci.NetChanges, ci.PartitionSwitch = s.bool(), s.bool()
		names = append(names, ci.Name)
		if t := tables[source]; t != nil {
			t.Instances = append(t.Instances, ci)
		}
		return s.err
	}, managedInstancesStatement)
	if err != nil {
		return nil, withGrant(err, "cdc.change_tables")
	}
	instances := map[int32]*ManagedInstance{}
	var ids []int32
	for _, t := range tables {
		for i := range t.Instances {
			ci := &t.Instances[i]
			instances[ci.ObjectID] = ci
			ids = append(ids, ci.ObjectID)
		}
	}
	captured, err := c.capturedColumns(ctx, ids)
	if err != nil {
		return nil, withGrant(err, "cdc.captured_columns")
	}
	for id, list := range captured {
		for _, col := range list {
			instances[id].Captured = append(instances[id].Captured, ManagedColumn{ID: col.id, Name: col.name, Computed: col.computed})
		}
	}
	err = c.eachOf(ctx, ids, func(row []driver.Value) error {
		s := scanner{row: row}
		ci := instances[int32(s.int())]
		ddl := DDL{Command: s.text()}
		ddl.LSN, _ = s.lsn()
		ddl.Time = s.time()
		ci.DDL = append(ci.DDL, ddl)
		return s.err
	}, ddlStatement)
	return names, withGrant(err, "cdc.ddl_history")
}

// ManagedMark changes whenever the tables of a database or its capture instances
// do.
type ManagedMark struct {
	Tables, TableSum       int64
	Modified               time.Time
	Instances, InstanceSum int64
	Newest                 time.Time
	DDL                    int64
	DDLNewest              lsn.LSN
}

// managedMarkStatement asks for what changes with the definition of any table:
// sys.objects.modify_date is that of its last ALTER.
// Source: MS docs, sys.objects, cdc.change_tables, cdc.ddl_history.
const managedMarkStatement = `SELECT COUNT_BIG(*), SUM(CONVERT(bigint, t.object_id)), MAX(t.modify_date),
 (SELECT COUNT_BIG(*) FROM cdc.change_tables), (SELECT SUM(CONVERT(bigint, object_id)) FROM cdc.change_tables), (SELECT MAX(create_date) FROM cdc.change_tables),
 (SELECT COUNT_BIG(*) FROM cdc.ddl_history), (SELECT MAX(ddl_lsn) FROM cdc.ddl_history)
FROM sys.tables AS t WHERE t.is_ms_shipped = 0`

// ManagedMark asks for the mark of a database: one statement, whatever the number
// of tables.
func (c *Conn) ManagedMark(ctx context.Context) (ManagedMark, error) {
	row, err := c.oneRetried(ctx, managedMarkStatement)
	if err != nil {
		return ManagedMark{}, fmt.Errorf("looking for changes of tables: %w", withGrant(err, "cdc.change_tables and cdc.ddl_history"))
	}
	s := scanner{row: row}
	m := ManagedMark{Tables: s.int(), TableSum: s.int(), Modified: s.time(), Instances: s.int(), InstanceSum: s.int(), Newest: s.time(), DDL: s.int()}
	m.DDLNewest, _ = s.lsn()
	return m, s.err
}
