package engine

import (
	"errors"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// foreignKeyCheck is a foreign key with both of its tables.
type foreignKeyCheck struct {
	fk            *ForeignKey
	child, parent *Table
}

func foreignKeyChecks(c *Catalog, t *Table) (own, children []foreignKeyCheck) {
	for _, fk := range t.ForeignKeys {
		parent := c.tables[fk.RefTable]
		if fk.RefTable == t.ID {
			parent = t
		}
		if parent != nil && !fk.Disabled {
			own = append(own, foreignKeyCheck{fk, t, parent})
		}
	}
	for _, other := range c.tables {
		for _, fk := range other.ForeignKeys {
			if fk.RefTable == t.ID && !fk.Disabled {
				children = append(children, foreignKeyCheck{fk, other, t})
			}
		}
	}
	slices.SortFunc(children, func(a, b foreignKeyCheck) int { return int(a.fk.ID - b.fk.ID) })
	return own, children
}

func (x *Exec) addForeignKey(db *Database, t *Table, con *tsql.Constraint, column string) error {
	id := db.newObjectID()
	fk := &ForeignKey{ID: id, Name: con.Name, OnDelete: con.OnDelete, OnUpdate: con.OnUpdate, Created: x.Now()}
	parent := t
	if con.References.Base() != t.Name {
		_, p, err := x.findTable(con.References)
		if err != nil {
			return raise(1767, "Foreign key '%s' references invalid table '%s'.", con.Name, con.References.String())
		}
		parent = p
	}
	fk.RefTable = parent.ID
	names := con.Columns
	if len(names) == 0 {
		names = []tsql.IndexColumn{{Name: column}}
	}
	for _, n := range names {
		col := t.Column(n.Name)
		if col == nil {
			return raise(1769, "Foreign key '%s' references invalid column '%s' in referencing table '%s'.", con.Name, n.Name, t.Name)
		}
		fk.Columns = append(fk.Columns, col.ID)
	}
	refs := con.RefColumns
	if len(refs) == 0 {
		pk := parent.PrimaryKey()
		if pk == nil {
			return raise(1773, "Foreign key '%s' has implicit reference to object '%s' which does not have a primary key defined on it.", con.Name, parent.Name)
		}
		for _, k := range pk.Keys {
			fk.RefColumns = append(fk.RefColumns, k.ColumnID)
		}
	}
	for _, name := range refs {
		col := parent.Column(name)
		if col == nil {
			return raise(1770, "Foreign key '%s' references invalid column '%s' in referenced table '%s'.", con.Name, name, parent.Name)
		}
		fk.RefColumns = append(fk.RefColumns, col.ID)
	}
	if len(fk.Columns) != len(fk.RefColumns) {
		return raise(8139, "Number of referencing columns in foreign key differs from number of referenced columns, table '%s'.", t.Name)
	}
	if uniqueOn(parent, fk.RefColumns) == nil {
		return raise(1776, "There are no primary or candidate keys in the referenced table '%s' that match the referencing column list in the foreign key '%s'.", parent.Name, con.Name)
	}
	if fk.Name == "" {
		fk.Name, fk.SystemNamed = systemName("FK", t.Name, column, id), true
	}
	t.ForeignKeys = append(t.ForeignKeys, fk)
	return nil
}

// uniqueOn finds the unique index over exactly these columns.
func uniqueOn(t *Table, columns []int) *Index {
	for _, ix := range t.Indexes {
		if !ix.Unique || len(ix.Keys) != len(columns) || ix.Filter != "" {
			continue
		}
		if !slices.ContainsFunc(ix.Keys, func(k IndexKey) bool { return !slices.Contains(columns, k.ColumnID) }) {
			return ix
		}
	}
	return nil
}

// referencing names a foreign key that needs the index, "" when there is none.
func (x *Exec) referencing(db *Database, t *Table, ix *Index) string {
	for _, other := range x.catalog(db).tables {
		for _, fk := range other.ForeignKeys {
			if fk.RefTable == t.ID && uniqueOn(t, fk.RefColumns) == ix {
				return fk.Name
			}
		}
	}
	return ""
}

// checkParents looks for the referenced row of each foreign key of a new row.
func (w *tableWriter) checkParents(x *Exec, row []value, verb string) error {
	for _, k := range w.keys {
		key := make([]value, len(k.fk.Columns))
		null := false
		for i, id := range k.fk.Columns {
			key[i] = row[id-1]
			null = null || key[i].IsNull()
		}
		if null {
			continue
		}
		self := k.parent.ID == w.table.ID
		if self && matches(row, k.fk.RefColumns, key, k.parent) {
			continue
		}
		found := false
		err := x.findRows(w.db, k.parent, k.fk.RefColumns, key, func(storage.RowID, storage.Row) error {
			found = true
			return errStop
		})
		if err != nil {
			return err
		}
		if !found {
			column := 0
			if len(k.fk.RefColumns) == 1 {
				column = k.fk.RefColumns[0]
			}
			kind := "FOREIGN KEY"
			if self {
				kind = "FOREIGN KEY SAME TABLE"
			}
			return w.conflict(verb, kind, k.fk.Name, k.parent, column)
		}
	}
	return nil
}

func matches(row []value, columns []int, key []value, t *Table) bool {
	for i, id := range columns {
		v := row[id-1]
		if v.IsNull() || sqltypes.Compare(v, key[i], t.ColumnByID(id).Type) != 0 {
			return false
		}
	}
	return true
}

// findRows calls f with the rows whose columns have the key's values, through an
// index that begins with those columns when there is one.
func (x *Exec) findRows(db *Database, t *Table, columns []int, key []value, f func(storage.RowID, storage.Row) error) error {
	txn, err := x.writer(db)
	if err != nil {
		return err
	}
	index, rng := storage.BaseIndex, storage.Range{}
	for _, ix := range t.Indexes {
		if len(ix.Keys) < len(columns) || ix.Filter != "" {
			continue
		}
		prefix := make([]value, 0, len(columns))
		for _, k := range ix.Keys[:len(columns)] {
			if at := slices.Index(columns, k.ColumnID); at >= 0 {
				prefix = append(prefix, key[at])
			}
		}
		if len(prefix) == len(columns) {
			index, rng = ix.ID, storage.Point(prefix...)
			break
		}
	}
	it := txn.Scan(t.ID, index, rng, storage.ScanOptions{ReadCommitted: true})
	defer it.Close()
	for {
		id, row, ok := it.Next()
		if !ok {
			return x.storageError(it.Err(), t)
		}
		if !matches(row, columns, key, t) {
			continue
		}
		if err := f(id, row); err != nil {
			if errors.Is(err, errStop) {
				return nil
			}
			return err
		}
	}
}

// checkChildren acts on the rows that reference a row which goes, or whose key
// changes: refuses, or cascades (MS docs: foreign key referential actions).
func (w *tableWriter) checkChildren(x *Exec, old, row []value, verb string) error {
	for _, k := range w.children {
		key := make([]value, len(k.fk.RefColumns))
		changed := row == nil
		for i, id := range k.fk.RefColumns {
			key[i] = old[id-1]
			if row != nil && compareNullable(old[id-1], row[id-1], w.table.ColumnByID(id).Type) != 0 {
				changed = true
			}
		}
		if !changed {
			continue
		}
		action := k.fk.OnDelete
		if row != nil {
			action = k.fk.OnUpdate
		}
		type victim struct {
			id  storage.RowID
			row storage.Row
		}
		var victims []victim
		err := x.findRows(w.db, k.child, k.fk.Columns, key, func(id storage.RowID, r storage.Row) error {
			if k.child.ID == w.table.ID && row == nil && &r[0] == &old[0] {
				return nil
			}
			victims = append(victims, victim{id, r})
			return nil
		})
		if err != nil {
			return err
		}
		if len(victims) == 0 {
			continue
		}
		c := &compiler{x: x}
		child, err := c.tableWriter(w.db, k.child)
		if err != nil {
			return err
		}
		for _, v := range victims {
			switch {
			case action == "CASCADE" && row == nil:
				err = child.delete(x, v.id, v.row, "DELETE")
			case action == "CASCADE", action == "SET NULL":
				next := slices.Clone(v.row)
				for i, id := range k.fk.Columns {
					next[id-1] = value{}
					if action == "CASCADE" {
						next[id-1] = row[k.fk.RefColumns[i]-1]
					}
				}
				child.note(x, "UPDATE", v.row, next)
				err = child.replace(x, v.id, v.row, next)
			default:
				column := 0
				if len(k.fk.Columns) == 1 {
					column = k.fk.Columns[0]
				}
				err = w.conflict(verb, "REFERENCE", k.fk.Name, k.child, column)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// checkExisting validates stored rows against new CHECK constraints.
func (x *Exec) checkExisting(db *Database, t *Table, checks []*Check) error {
	c := &compiler{x: x}
	w, err := c.tableWriter(db, t)
	if err != nil {
		return err
	}
	txn, err := x.writer(db)
	if err != nil {
		return err
	}
	it := txn.Scan(t.ID, storage.BaseIndex, storage.Range{}, storage.ScanOptions{})
	defer it.Close()
	for {
		_, row, ok := it.Next()
		if !ok {
			return it.Err()
		}
		for _, ck := range w.checks {
			if !slices.Contains(checks, ck.check) {
				continue
			}
			r, err := ck.cond.eval(&frame{x: x, rows: [][]value{row}})
			if err != nil {
				return err
			}
			if r == no {
				return w.conflict("ALTER TABLE", "CHECK", ck.check.Name, t, ck.check.ColumnID)
			}
		}
	}
}
