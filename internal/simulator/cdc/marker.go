package cdc

import (
	"encoding/json"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// marker is what a DDL statement on a tracked table leaves in the log, so that
// the capture job meets it between the rows before and after it.
type marker struct {
	// Text is the statement.
	Text string
	// Columns are those that the statement changed for change tables: a type
	// changed, or the column is gone.
	Columns []columnChange `json:",omitempty"`
}

type columnChange struct {
	ID      int
	Dropped bool   `json:",omitempty"`
	Type    string `json:",omitempty"` // the new declaration
	Name    string `json:",omitempty"` // sys.types' name of the new type
}

// newMarker compares two versions of a table.
func newMarker(before, after *engine.Table, text string) marker {
	m := marker{Text: text}
	for _, old := range before.Columns {
		switch now := after.ColumnByID(old.ID); {
		case now == nil:
			m.Columns = append(m.Columns, columnChange{ID: old.ID, Dropped: true})
		case typeText(now.Type) != typeText(old.Type):
			m.Columns = append(m.Columns, columnChange{ID: old.ID, Type: typeText(now.Type), Name: now.Type.Name()})
		}
	}
	return m
}

func (m marker) encode() ([]byte, error) { return json.Marshal(m) }

// applyMarker follows a DDL statement in every instance of its table that began
// before it: a row in ddl_history, the change table's column altered with its
// rows, a dropped column NULL from now on. Rows of an added column wait for a
// new instance.
func (s *scan) applyMarker(t *storage.LoggedTxn, r *storage.LogRecord) error {
	var m marker
	if err := json.Unmarshal(r.Marker, &m); err != nil {
		return fmt.Errorf("reading a DDL record of the log: %w", err)
	}
	for _, in := range s.instances[r.Table] {
		if t.CommitLSN.Compare(in.startLSN) < 0 {
			continue
		}
		required := false
		for _, c := range m.Columns {
			altered, err := s.applyColumn(in, c)
			if err != nil {
				return err
			}
			required = required || altered
		}
		err := run(s.x, `INSERT cdc.ddl_history (source_object_id, object_id, required_column_update, ddl_command, ddl_lsn, ddl_time)
VALUES (@source, @object, @required, @command, @lsn, @time)`,
			arg("source", in.source), arg("object", in.table), arg("required", required), arg("command", m.Text), arg("lsn", t.CommitLSN),
			arg("time", typed{datetimeType, wholeMinutes(localTime(t.CommitTime, s.x.Location()))}))
		if err != nil {
			return err
		}
		s.schemaChanges++
	}
	return nil
}

// applyColumn changes one captured column and reports whether its change table
// was altered.
func (s *scan) applyColumn(in *instance, change columnChange) (altered bool, err error) {
	for i := range in.columns {
		if in.columns[i].id != change.ID {
			continue
		}
		if change.Dropped {
			return false, s.dropColumn(in, change.ID)
		}
		return true, s.alterColumn(in, &in.columns[i], change)
	}
	return false, nil
}

func (s *scan) dropColumn(in *instance, id int) error {
	ids, err := droppedColumns(s.txn, in.table)
	if err != nil {
		return err
	}
	in.drop(id)
	return saveDroppedColumns(s.txn, in.table, append(ids, id))
}

func (s *scan) alterColumn(in *instance, c *captured, change columnChange) error {
	table := "cdc." + quote(changeTableName(in.name))
	if err := run(s.x, fmt.Sprintf("ALTER TABLE %s ALTER COLUMN %s %s NULL", table, quote(c.name), change.Type)); err != nil {
		source := ""
		if t := tableByID(s.x, in.source); t != nil {
			source = t.Name
		}
		return fmt.Errorf("%w: %w", err, errAlter(c.name, changeTableName(in.name), source))
	}
	altered := tableByID(s.x, in.table)
	c.image = imageOf(altered.Column(c.name).Type, c.image == never)
	return run(s.x, `UPDATE cdc.captured_columns SET column_type = @type WHERE object_id = @object AND column_id = @column`,
		arg("type", change.Name), arg("object", in.table), arg("column", c.id))
}

// wholeMinutes cuts the seconds off, as ddl_time shows it (recorded on 2022
// CU27).
func wholeMinutes(v sqltypes.Value) sqltypes.Value {
	const perMinute = 60 * 300
	return sqltypes.DateTimeOf(v.Days(), v.Ticks()/perMinute*perMinute)
}
