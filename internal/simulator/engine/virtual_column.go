package engine

import (
	"errors"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// A computed column that is neither persisted nor in an index is computed when
// it is read, so that an expression that fails, such as 1 / 0, harms no write.
// Rows hold its value all the same, and NULL where it failed: a statement that
// reads such a NULL computes it again, for the error.
// Source: MS docs, "Specify Computed Columns in a Table".

// virtual reports whether a column is computed when it is read.
func (t *Table) virtual(col *TableColumn) bool {
	return col.Computed != "" && col.Nullable && !col.Persisted && !slices.ContainsFunc(t.Indexes, func(ix *Index) bool {
		return slices.Contains(ix.Included, col.ID) || slices.ContainsFunc(ix.Keys, func(k IndexKey) bool { return k.ColumnID == col.ID })
	})
}

// failsWhenRead reports whether an error of a column's expression is one for its
// readers alone.
func (c computedColumn) failsWhenRead(err error) bool {
	var known *sqltypes.Error
	return c.virtual && errors.As(err, &known)
}

// readColumns are the slots of a source's columns that a statement reads, and
// whether its conditions do.
type readColumns map[int]bool

// noteRead notes that a statement reads a column.
func (s *source) noteRead(slot int, inCondition bool) {
	if s.read == nil {
		s.read = readColumns{}
	}
	s.read[slot] = s.read[slot] || inCondition
}

// virtualColumns are the columns that are computed when they are read, of those
// that a statement reads: in conditions, and elsewhere.
func (x *Exec) virtualColumns(t *Table, read readColumns) (early, late computedSet, err error) {
	if len(read) == 0 || !slices.ContainsFunc(t.Columns, t.virtual) {
		return nil, nil, nil
	}
	set, err := x.computedColumns(t)
	for _, c := range set {
		switch inCondition, reads := read[c.slot]; {
		case !c.virtual || !reads:
		case inCondition:
			early = append(early, c)
		default:
			late = append(late, c)
		}
	}
	return early, late, err
}

// check returns the error of the first column that cannot be computed.
func (s computedSet) check(x *Exec, row []value) error {
	for _, c := range s {
		if !row[c.slot].IsNull() {
			continue
		}
		if _, err := c.value(&frame{x: x, rows: [][]value{row}}); err != nil {
			return err
		}
	}
	return nil
}
