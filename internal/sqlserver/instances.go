package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// commandColumn is the last column of a change table, of those that have it.
const commandColumn = "__$command_id"

// Sources: MS docs, cdc.change_tables and cdc.captured_columns, whose
// object_id is the change table's, whatever the docs say of it. The change
// table's name is NULL for a login that may not read it (MS docs, "Metadata
// visibility configuration").
var (
	changeTablesStatement = `SELECT ct.object_id, ct.source_object_id, ct.capture_instance, ct.start_lsn, ct.create_date, o.name
FROM cdc.change_tables AS ct LEFT JOIN sys.objects AS o ON o.object_id = ct.object_id ORDER BY ct.create_date, ct.object_id`

	hiddenStatement = `SELECT ct.capture_instance FROM cdc.change_tables AS ct
LEFT JOIN sys.objects AS o ON o.object_id = ct.source_object_id WHERE o.object_id IS NULL ORDER BY ct.capture_instance`

	capturedColumnsStatement = `SELECT object_id, column_name, column_id, column_ordinal, is_computed FROM cdc.captured_columns
WHERE object_id IN (` + idParameters + `) ORDER BY object_id, column_ordinal`
)

// capturedColumn is one row of cdc.captured_columns.
type capturedColumn struct {
	name        string
	id, ordinal int
	computed    bool
}

// instances reads the capture instances of tables that are selected and hangs
// them on.
func (c *Conn) instances(ctx context.Context, tables []*Table, selection Selection, sources map[int32][]schema.Column, indexes map[int32][]index) error {
	byID := make(map[int32]*Table, len(tables))
	for _, t := range tables {
		byID[t.ObjectID] = t
	}
	var found []*CaptureInstance
	err := c.each(ctx, func(row []driver.Value) error {
		s := scanner{row: row}
		ci := &CaptureInstance{ObjectID: int32(s.int()), SourceObjectID: int32(s.int()), Name: s.text()}
		ci.StartLSN, _ = s.lsn()
		ci.CreateDate = s.time()
		ci.ChangeTable = s.text()
		t := byID[ci.SourceObjectID]
		switch {
		case s.err != nil:
			return s.err
		case t == nil, selection != nil && !selection.MatchInstance(ci.Name):
			return nil
		}
		found = append(found, ci)
		return nil
	}, changeTablesStatement)
	if err != nil {
		return withGrant(err, "cdc.change_tables")
	}
	ids := make([]int32, 0, len(found))
	for _, ci := range found {
		ids = append(ids, ci.ObjectID)
	}
	captured, err := c.capturedColumns(ctx, ids)
	if err != nil {
		return withGrant(err, "cdc.captured_columns")
	}
	stored, err := c.columns(ctx, ids)
	if err != nil {
		return err
	}
	for _, ci := range found {
		t := byID[ci.SourceObjectID]
		if err := ci.describe(t, captured[ci.ObjectID], stored[ci.ObjectID], sources[t.ObjectID], indexes[t.ObjectID]); err != nil {
			return err
		}
		t.Instances = append(t.Instances, ci)
	}
	return nil
}

func (c *Conn) capturedColumns(ctx context.Context, ids []int32) (map[int32][]capturedColumn, error) {
	captured := make(map[int32][]capturedColumn, len(ids))
	err := c.eachOf(ctx, ids, func(row []driver.Value) error {
		s := scanner{row: row}
		id := int32(s.int())
		captured[id] = append(captured[id], capturedColumn{name: s.text(), id: int(s.int()), ordinal: int(s.int()), computed: s.bool()})
		return s.err
	}, capturedColumnsStatement)
	return captured, err
}

// describe makes the instance's shape: names from cdc.captured_columns, types
// from the change table, which follows an ALTER COLUMN only when the capture
// job gets there, and the rest from the source column of the same column_id. A
// column that the source has dropped since is nullable: it is NULL from then
// on. Of a change table that the login cannot see, types are those of the
// source, and what that has dropped is left out.
func (ci *CaptureInstance) describe(t *Table, captured []capturedColumn, stored, source []schema.Column, indexes []index) error {
	hidden := ci.ChangeTable == ""
	if len(captured) == 0 || len(stored) == 0 && !hidden {
		return fmt.Errorf("reading capture instance %q: %w", ci.Name, errCatalogue)
	}
	ci.HasCommand = slices.ContainsFunc(stored, func(col schema.Column) bool { return col.Name == commandColumn })
	columns := make([]schema.Column, 0, len(captured))
	for _, cc := range captured {
		i := slices.IndexFunc(source, func(s schema.Column) bool { return s.ID == cc.id })
		at := slices.IndexFunc(stored, func(col schema.Column) bool { return col.Name == cc.name })
		var col schema.Column
		switch {
		case at >= 0:
			col = stored[at]
		case !hidden:
			return fmt.Errorf("reading capture instance %q: column %q: %w", ci.Name, cc.name, errCatalogue)
		case i < 0:
			continue
		default:
			col = source[i]
			col.Name = cc.name
		}
		col.ID, col.Ordinal, col.Nullable, col.Computed = cc.id, cc.ordinal, true, cc.computed
		if i >= 0 {
			col = captureOf(source[i], col)
		}
		columns = append(columns, col)
	}
	ci.Shape = &schema.Table{
		Database: t.Source.Database, Schema: t.Source.Schema, Name: t.Source.Name,
		Columns: columns, Key: chooseKey(columns, indexes, &t.Notes),
	}
	return nil
}

// captureOf returns the column that events show: the source's, with the change
// table's type where that really is another one.
func captureOf(source, stored schema.Column) schema.Column {
	col := source
	col.Name, col.Ordinal = stored.Name, stored.Ordinal
	col.Computed = source.Computed || stored.Computed
	if !sameStorage(source.Type, stored.Type) {
		col.Type, col.Collation = stored.Type, stored.Collation
	}
	return col
}

// sameStorage reports whether a change table column holds the values of a
// source column in the source's type, given that a change table declares alias
// types by their base and a rowversion as binary(8).
func sameStorage(source, stored schema.Type) bool {
	if source.Kind == schema.RowVersion {
		return stored.Kind == schema.Binary || stored.Kind == schema.RowVersion
	}
	source.Name, stored.Name = "", ""
	return source == stored
}

// withGrant gives a refused catalogue read the statement that allows it.
func withGrant(err error, object string) error {
	if Classify(err) != ClassPermission {
		return err
	}
	return NotPermitted("reading "+object+" is not permitted",
		"run GRANT SELECT ON SCHEMA::cdc TO the login's user, and GRANT SELECT ON the captured tables, which cannot be listed without it", err)
}

// hiddenInstances names the instances of tables whose change table the login
// cannot see.
func hiddenInstances(tables []*Table) (names []string) {
	for _, t := range tables {
		for _, ci := range t.Instances {
			if ci.ChangeTable == "" {
				names = append(names, ci.Name)
			}
		}
	}
	return names
}

// HiddenChangeTable returns the problem of a table with a capture instance
// whose change table the login cannot see, so that only the instance's function
// can be read; nil if there is none.
func (t *Table) HiddenChangeTable() error {
	at := slices.IndexFunc(t.Instances, func(ci *CaptureInstance) bool { return ci.ChangeTable == "" })
	if at < 0 {
		return nil
	}
	return NotPermitted(
		fmt.Sprintf("the change table of capture instance %q of table %s cannot be seen by the login", t.Instances[at].Name, t.Source.ID()),
		t.Instances[at].GrantRemedy(), nil)
}

// GrantRemedy is what lets a login see and read the instance's change table. It
// names the table itself, because a DENY on it outlives a grant on its schema;
// its name follows from the instance's (MS docs: cdc.<capture_instance>_CT).
func (ci *CaptureInstance) GrantRemedy() string {
	return "run GRANT SELECT ON [cdc]." + Quote(ci.Name+"_CT") + " TO the login's user, which also ends a DENY of it to that user"
}

// HiddenTable is the problem of a table that has a capture instance, but
// cannot be seen by the login.
func HiddenTable(schemaName, table, instance string) error {
	object := Quote(schemaName) + "." + Quote(table)
	return NotPermitted(
		fmt.Sprintf("table %s of capture instance %q cannot be seen by the login", object, instance),
		"run GRANT SELECT ON "+object+" TO the login's user", nil)
}

// HiddenInstances names the capture instances whose source table the login
// cannot see, so that its name is not known either.
func (c *Conn) HiddenInstances(ctx context.Context) ([]string, error) {
	var (
		names  []string
		hidden confirmed
	)
	err := Retry(ctx, func() error {
		names = nil
		err := c.each(ctx, func(row []driver.Value) error {
			s := scanner{row: row}
			names = append(names, s.text())
			return s.err
		}, hiddenStatement)
		if err != nil {
			return err
		}
		return hidden.confirm(names)
	})
	switch {
	case Classify(err) == ClassPermission:
		return nil, withGrant(err, "cdc.change_tables")
	case err != nil:
		return nil, fmt.Errorf("looking for tables that the login cannot see: %w", err)
	}
	return names, nil
}
