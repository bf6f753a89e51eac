package engine

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// replicatedColumns are the captured columns whose values may be larger than
// the option "max text repl size" allows.
func replicatedColumns(t *Table) []*TableColumn {
	var list []*TableColumn
	for _, c := range t.Columns {
		if slices.Contains(t.Captured, c.ID) && c.Computed == "" && isLargeObject(c.Type) {
			list = append(list, c)
		}
	}
	return list
}

func isLargeObject(t sqltypes.Type) bool {
	switch t.ID {
	case sqltypes.Text, sqltypes.NText, sqltypes.Image, sqltypes.XML:
		return true
	}
	return t.Length == sqltypes.Max && (t.ID.IsText() || t.ID.IsBinary())
}

// checkReplicated is error 7139 for a large object that is written to a captured
// column; old is nil for an insert (MS docs: Server configuration: max text repl
// size).
func (w *tableWriter) checkReplicated(x *Exec, old, next storage.Row) error {
	if len(w.replicated) == 0 {
		return nil
	}
	limit := x.in.ServerSetting("max text repl size (B)")
	if limit < 0 {
		return nil
	}
	for _, c := range w.replicated {
		v := next[c.slot()]
		if v.IsNull() || old != nil && identical(old[c.slot()], v) {
			continue
		}
		if n := int64(largeObjectSize(v, c.Type)); n > limit {
			return raise(7139, "Length of LOB data (%d) to be replicated exceeds configured maximum %d. "+
				"Use the stored procedure sp_configure to increase the configured maximum value for max text repl size option, which defaults to 65536. "+
				"A configured value of -1 indicates no limit, other that the limit imposed by the data type.", n, limit)
		}
	}
	return nil
}

// largeObjectSize is the number of bytes of a large object's value.
func largeObjectSize(v value, t sqltypes.Type) int {
	switch {
	case t.ID == sqltypes.XML || t.ID.IsText() && t.ID.IsNational():
		return 2 * sqltypes.UTF16Len(v.Str())
	case t.ID.IsText():
		return sqltypes.TextLength(v.Str(), t)
	default:
		return len(v.Raw())
	}
}
