package schema

import (
	"database/sql/driver"
	"slices"
)

// Table is one version of a table, or of a capture instance of it: its
// columns in catalogue order and its key. It does not change once made.
type Table struct {
	Database, Schema, Name string
	// Columns are those that a row of driver values holds, in that order. For
	// a capture instance they are the captured columns.
	Columns []Column
	// captured are all captured columns, where a [Selection] has left some of
	// them out of Columns; nil otherwise.
	captured []Column
	// Key holds the indexes into Columns of the key's columns, in key order;
	// nil when the table has no key. See [ChooseKey].
	Key []int
	// ownKey are the columns of the table's own key, where a [Selection] has
	// given it another; nil otherwise.
	ownKey []string
}

// OwnKey returns the names of the columns of the table's own key, which
// message_key_columns does not change; none if it has no key.
func (t *Table) OwnKey() []string {
	if t.ownKey != nil {
		return t.ownKey
	}
	names := make([]string, len(t.Key))
	for i, k := range t.Key {
		names[i] = t.Columns[k].Name
	}
	return names
}

// Captured returns all columns that are captured, those among them too that a
// [Selection] has left out of events.
func (t *Table) Captured() []Column {
	if t.captured != nil {
		return t.captured
	}
	return t.Columns
}

// WithNullable returns the table with columns that may be NULL beside those of
// which the catalogue says so; the table itself if there are none.
func (t *Table) WithNullable(columns []string) *Table {
	if len(columns) == 0 {
		return t
	}
	out := *t
	out.Columns, out.captured = slices.Clone(t.Columns), slices.Clone(t.captured)
	for _, list := range [][]Column{out.Columns, out.captured} {
		for i, c := range list {
			list[i].Nullable = c.Nullable || slices.Contains(columns, c.Name)
		}
	}
	return &out
}

// ID returns the table's exact name.
func (t *Table) ID() TableID { return TableID{t.Database, t.Schema, t.Name} }

// TableID names a table. Identity is exact, whatever the collation.
type TableID struct{ Database, Schema, Name string }

// String returns database.schema.table, unquoted, as Debezium prints it.
func (id TableID) String() string { return id.Database + "." + id.Schema + "." + id.Name }

// Column is one column of a [Table].
type Column struct {
	Name     string
	Type     Type
	Nullable bool
	Identity bool
	Computed bool
	// SnapshotOnly columns are in the rows of snapshots and left out of
	// changes: computed columns, which change data capture does not record.
	SnapshotOnly bool
	// Default is the text of the default constraint (COLUMN_DEF), such as
	// "((0))"; empty when there is none.
	Default string
	// ID is column_id of sys.columns, which a re-created column does not share
	// with the dropped one of the same name.
	ID int
	// Ordinal is the column_ordinal of cdc.captured_columns, from 1: the
	// column's place in the update mask. Zero outside CDC.
	Ordinal   int
	Collation string
	// DefaultValue is Default as a driver value of the column's type; nil when
	// there is none or it is no constant. See [ParseDefault].
	DefaultValue driver.Value
	// KeyOnly columns are read for the key and left out of values.
	KeyOnly bool

	rule      *rule // changes the column in values; nil: none
	ruleInKey bool  // in keys too
}
