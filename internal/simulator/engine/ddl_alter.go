package engine

import (
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// alteration is one ALTER TABLE (or index statement) while it is worked out.
type alteration struct {
	db            *Database
	before, after *Table
	event         DDLEvent
	// rewrite makes the new row of an old one, nil when rows stay.
	rewrite func(storage.Row) (storage.Row, error)
	// check validates existing rows against a new constraint.
	check func(*Table) error
}

func (x *Exec) alterTable(st *tsql.AlterTableStmt) error {
	db, t, err := x.findTable(st.Table)
	if err != nil {
		return sqltypes.Errorf(4902, 1, 16, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", st.Table.String())
	}
	if err := x.needAlter(db, t.Object); err != nil {
		return err
	}
	a := &alteration{db: db, before: t, after: t.clone()}
	a.event = DDLEvent{Kind: "ALTER TABLE", Database: db, Before: t, Text: x.textOf(st)}
	y := x.within(db)
	switch {
	case len(st.AddColumns) > 0 || len(st.AddConstraints) > 0:
		err = y.alterAdd(a, st)
	case len(st.Drop) > 0:
		err = y.alterDrop(a, st)
	case st.AlterColumn != nil:
		err = y.alterColumn(a, st.AlterColumn)
	case st.Trigger != nil:
		return x.enableTriggers(st.Table, st.Trigger)
	case st.EnableCheck != nil:
		y.enableCheck(a, st.EnableCheck)
	case len(st.SetOptions) > 0:
		for _, o := range st.SetOptions {
			if o.Name == "LOCK_ESCALATION" {
				a.after.LockEscalation = strings.ToUpper(o.Value)
			}
		}
	case st.Rebuild:
		return nil
	case st.Switch != nil:
		return unsupported("ALTER TABLE SWITCH")
	default:
		return unsupported("This form of ALTER TABLE")
	}
	if err != nil {
		return err
	}
	return x.applyAlteration(a)
}

// applyAlteration asks the hooks, changes storage and catalogue, and tells the
// hooks.
func (x *Exec) applyAlteration(a *alteration) error {
	a.event.Phase = DDLBefore
	if err := x.event(a.event); err != nil {
		return err
	}
	a.after.Modified = x.Now()
	txn, err := x.writer(a.db)
	if err != nil {
		return err
	}
	if a.rewrite != nil || a.before.Width != a.after.Width || !samePhysical(a.before, a.after) {
		if err := txn.AlterTable(x.within(a.db).physical(a.after), a.rewrite); err != nil {
			return x.storageError(err, a.after)
		}
	}
	if a.after.heldBySession {
		x.s.setTemp(fold(a.after.Name), a.after)
		return nil
	}
	if err := x.newConstraintNames(a.db, a.after); err != nil {
		return err
	}
	if err := x.putTable(a.db, a.after); err != nil {
		return err
	}
	if a.check != nil {
		if err := a.check(a.after); err != nil {
			return err
		}
	}
	a.event.Phase, a.event.After = DDLAfter, a.after
	return x.event(a.event)
}

// samePhysical reports whether two versions of a table have the same columns and
// indexes in storage.
func samePhysical(a, b *Table) bool {
	same := slices.EqualFunc(a.Columns, b.Columns, func(c, d *TableColumn) bool { return c.ID == d.ID && c.Type == d.Type })
	return same && slices.EqualFunc(a.Indexes, b.Indexes, func(i, k *Index) bool {
		return i.ID == k.ID && i.Unique == k.Unique && i.Filter == k.Filter && slices.Equal(i.Keys, k.Keys)
	})
}

// alterAdd is ALTER TABLE .. ADD columns and constraints.
func (x *Exec) alterAdd(a *alteration, st *tsql.AlterTableStmt) error {
	t := a.after
	first := len(t.Columns)
	withValues := map[int]bool{}
	for i := range st.AddColumns {
		def := &st.AddColumns[i]
		if err := x.addColumn(t, def); err != nil {
			return err
		}
		if err := x.typeComputed(t, def); err != nil {
			return err
		}
		a.event.Action = "ADD"
		a.event.Columns = append(a.event.Columns, def.Name)
		for k := range def.Constraints {
			con := &def.Constraints[k]
			if err := x.addConstraint(a.db, t, con, def.Name); err != nil {
				return err
			}
			withValues[len(t.Columns)-1] = withValues[len(t.Columns)-1] || con.WithValues
		}
	}
	for i := range st.AddConstraints {
		if err := x.addConstraint(a.db, t, &st.AddConstraints[i], ""); err != nil {
			return err
		}
		if len(st.AddColumns) == 0 {
			a.event.Index = st.AddConstraints[i].Name
		}
	}
	if len(t.Checks) > len(a.before.Checks) && !st.NoCheck {
		a.check = func(t *Table) error { return x.checkExisting(a.db, t, t.Checks[len(a.before.Checks):]) }
	}
	if first < len(t.Columns) {
		return x.fillNewColumns(a, first, withValues)
	}
	return nil
}

// fillNewColumns gives existing rows the values of added columns: NULL, or the
// default of a NOT NULL column or of one added WITH VALUES.
func (x *Exec) fillNewColumns(a *alteration, first int, withValues map[int]bool) error {
	t := a.after
	rows := a.db.store.RowCount(t.ID)
	type filler struct {
		slot int
		eval func() (value, error)
	}
	var fill []filler
	for i := first; i < len(t.Columns); i++ {
		col := t.Columns[i]
		switch {
		case col.Identity != nil:
			spec := *col.Identity
			fill = append(fill, filler{col.slot(), func() (value, error) { return x.nextIdentity(a.db, t, &spec), nil }})
		case col.Type.ID == sqltypes.RowVersion:
			fill = append(fill, filler{col.slot(), func() (value, error) { return x.nextRowVersion(a.db), nil }})
		case col.Default != nil && (!col.Nullable || withValues[i]):
			d, err := x.defaultExpr(col)
			if err != nil {
				return err
			}
			fill = append(fill, filler{col.slot(), func() (value, error) { return d.eval(&frame{x: x}) }})
		case col.Computed != "":
		case !col.Nullable && rows > 0:
			return raise(4901, "ALTER TABLE only allows columns to be added that can contain nulls, or have a DEFAULT definition specified, or the column being added is an identity or timestamp column, or alternatively if none of the previous conditions are satisfied the table must be empty to allow addition of this column. Column '%s' cannot be added to non-empty table '%s' because it does not satisfy these conditions.", col.Name, t.Name)
		}
	}
	computed, err := x.computedColumns(t)
	if err != nil {
		return err
	}
	a.rewrite = func(old storage.Row) (storage.Row, error) {
		row := make(storage.Row, t.Width)
		copy(row, old)
		for _, f := range fill {
			v, err := f.eval()
			if err != nil {
				return nil, err
			}
			row[f.slot] = v
		}
		return row, computed.fill(x, row)
	}
	return nil
}

// alterDrop is ALTER TABLE .. DROP COLUMN and DROP CONSTRAINT.
func (x *Exec) alterDrop(a *alteration, st *tsql.AlterTableStmt) error {
	t := a.after
	for _, d := range st.Drop {
		if !d.Column {
			found, err := x.dropConstraint(a, d.Name)
			if err != nil {
				return err
			}
			if !found && !d.IfExists {
				return raise(3728, "'%s' is not a constraint.", d.Name)
			}
			continue
		}
		col := t.Column(d.Name)
		if col == nil {
			if d.IfExists {
				continue
			}
			return raise(4924, "ALTER TABLE DROP COLUMN failed because column '%s' does not exist in table '%s'.", d.Name, t.Name)
		}
		if by := dependents(t, col); by != "" {
			return raise(5074, "The object '%s' is dependent on column '%s'.", by, col.Name)
		}
		if len(t.Columns) == 1 {
			return raise(4923, "ALTER TABLE DROP COLUMN failed because '%s' is the only data column in table '%s'. A table must have at least one data column.", col.Name, t.Name)
		}
		t.Columns = slices.DeleteFunc(t.Columns, func(c *TableColumn) bool { return c.ID == col.ID })
		a.event.Action = "DROP"
		a.event.Columns = append(a.event.Columns, col.Name)
	}
	if len(a.event.Columns) > 0 {
		a.rewrite = func(old storage.Row) (storage.Row, error) {
			row := slices.Clone(old)
			for i := range row {
				if t.ColumnByID(i+1) == nil {
					row[i] = value{}
				}
			}
			return row, nil
		}
	}
	return nil
}

// dependents names what stands on a column, "" when nothing does.
func dependents(t *Table, col *TableColumn) string {
	for _, ix := range t.Indexes {
		if ix.has(col.ID) {
			return ix.Name
		}
	}
	if col.Default != nil {
		return col.Default.Name
	}
	for _, ck := range t.Checks {
		if ck.ColumnID == col.ID || mentions(ck.Text, col.Name) {
			return ck.Name
		}
	}
	for _, fk := range t.ForeignKeys {
		if slices.Contains(fk.Columns, col.ID) {
			return fk.Name
		}
	}
	for _, other := range t.Columns {
		if other.Computed != "" && mentions(other.Computed, col.Name) {
			return other.Name
		}
	}
	return ""
}

func (ix *Index) has(column int) bool {
	return slices.Contains(ix.Included, column) || slices.ContainsFunc(ix.Keys, func(k IndexKey) bool { return k.ColumnID == column })
}

// mentions reports whether an expression's text names the column.
func mentions(text, column string) bool {
	e, err := tsql.ParseExpr(text, tsql.Options{})
	if err != nil {
		return strings.Contains(fold(text), fold(column))
	}
	found := false
	columnNames(e, func(r *tsql.ColumnRef) { found = found || strings.EqualFold(r.Base(), column) })
	return found
}

func (x *Exec) dropConstraint(a *alteration, name string) (bool, error) {
	t := a.after
	for i, ix := range t.Indexes {
		if ix.ConstraintID != 0 && strings.EqualFold(ix.Name, name) {
			if fk := x.referencing(a.db, t, ix); fk != "" {
				return false, raise(3725, "The constraint '%s' is being referenced by table '%s', foreign key constraint '%s'.", ix.Name, t.Name, fk)
			}
			t.Indexes = slices.Delete(t.Indexes, i, i+1)
			a.event.Index = ix.Name
			return true, nil
		}
	}
	for _, col := range t.Columns {
		if col.Default != nil && strings.EqualFold(col.Default.Name, name) {
			col.Default = nil
			return true, nil
		}
	}
	n := len(t.Checks) + len(t.ForeignKeys)
	t.Checks = slices.DeleteFunc(t.Checks, func(c *Check) bool { return strings.EqualFold(c.Name, name) })
	t.ForeignKeys = slices.DeleteFunc(t.ForeignKeys, func(c *ForeignKey) bool { return strings.EqualFold(c.Name, name) })
	return len(t.Checks)+len(t.ForeignKeys) < n, nil
}

// alterColumn is ALTER TABLE .. ALTER COLUMN.
func (x *Exec) alterColumn(a *alteration, st *tsql.AlterColumn) error {
	t := a.after
	col := t.Column(st.Name)
	if col == nil {
		return raise(4924, "ALTER TABLE ALTER COLUMN failed because column '%s' does not exist in table '%s'.", st.Name, t.Name)
	}
	a.event.Action, a.event.Columns = "ALTER", []string{col.Name}
	if st.Type.IsZero() {
		return x.alterProperty(col, st)
	}
	if col.Computed != "" {
		return raise(4928, "Cannot alter column '%s' because it is 'COMPUTED'.", col.Name)
	}
	from := col.Type
	to, alias, err := x.resolveType(st.Type)
	if err != nil {
		return err
	}
	if to.ID == sqltypes.RowVersion || from.ID == sqltypes.RowVersion {
		return raise(4927, "Cannot alter column '%s' to be data type timestamp.", col.Name)
	}
	if to.ID.IsText() && st.Collation != "" {
		c, err := x.in.collation(st.Collation)
		if err != nil {
			return err
		}
		to.Collation = c
	}
	for _, ix := range t.Indexes {
		if ix.has(col.ID) && (from.ID != to.ID || to.Length != sqltypes.Max && to.Length < from.Length) {
			return raise(5074, "The object '%s' is dependent on column '%s'.", ix.Name, col.Name)
		}
	}
	col.Type, col.UserTypeID = to, alias
	switch st.Null {
	case tsql.NotNull:
		col.Nullable = false
	default:
		if pk := t.PrimaryKey(); pk == nil || !pk.has(col.ID) {
			col.Nullable = col.Identity == nil
		}
	}
	slot, target, nullable, name := col.slot(), sqltypes.TargetColumn(t.Name, col.Name), col.Nullable, col.Name
	if from == to && (nullable || !a.before.Column(name).Nullable) {
		return nil
	}
	a.rewrite = func(old storage.Row) (storage.Row, error) {
		if old[slot].IsNull() {
			if !nullable {
				return nil, nullError(a.db, x.catalog(a.db), t, name, "UPDATE")
			}
			return old, nil
		}
		v, err := sqltypes.Assign(old[slot], from, to, target)
		if err != nil {
			return nil, err
		}
		row := slices.Clone(old)
		row[slot] = v
		return row, nil
	}
	return nil
}

func (x *Exec) alterProperty(col *TableColumn, st *tsql.AlterColumn) error {
	switch {
	case st.Add == "ROWGUIDCOL":
		col.RowGUID = true
	case st.Drop == "ROWGUIDCOL":
		col.RowGUID = false
	case st.Add == "SPARSE":
		col.Sparse = true
	case st.Drop == "SPARSE":
		col.Sparse = false
	case st.Add == "PERSISTED" && col.Computed != "":
		col.Persisted = true
	case st.Drop == "PERSISTED" && col.Computed != "":
		col.Persisted = false
	case st.Add == "MASKED" && st.Masked != "":
		if err := checkMask(st.Masked, col.Name, col.Type); err != nil {
			return err
		}
		col.MaskedWith = st.Masked
	case st.Drop == "MASKED":
		col.MaskedWith = ""
	default:
		return unsupported("ALTER COLUMN " + st.Add + st.Drop)
	}
	return nil
}

func (x *Exec) enableCheck(a *alteration, e *tsql.EnableConstraint) {
	named := func(name string) bool {
		return e.All || slices.ContainsFunc(e.Names, func(n string) bool { return strings.EqualFold(n, name) })
	}
	for _, ck := range a.after.Checks {
		if named(ck.Name) {
			ck.Disabled = !e.Enable
		}
	}
	for _, fk := range a.after.ForeignKeys {
		if named(fk.Name) {
			fk.Disabled = !e.Enable
		}
	}
}

func (x *Exec) createIndex(st *tsql.CreateIndexStmt) error {
	db, t, err := x.findTable(st.Table)
	if err != nil {
		return sqltypes.Errorf(1088, 12, 16, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", st.Table.String())
	}
	if err := x.needAlter(db, t.Object); err != nil {
		return err
	}
	a := &alteration{db: db, before: t, after: t.clone()}
	for _, o := range st.Options {
		if o.Name == "DROP_EXISTING" && strings.EqualFold(o.Value, "ON") {
			a.after.Indexes = slices.DeleteFunc(a.after.Indexes, func(ix *Index) bool { return strings.EqualFold(ix.Name, st.Name) })
		}
	}
	if err := x.within(db).addIndex(a.after, st); err != nil {
		return err
	}
	a.event = DDLEvent{Kind: "CREATE INDEX", Database: db, Before: t, Text: x.textOf(st), Index: st.Name}
	return x.applyAlteration(a)
}

func (x *Exec) dropIndex(st *tsql.DropIndexStmt) error {
	for _, item := range st.Items {
		db, t, err := x.findTable(item.Table)
		if err != nil {
			return err
		}
		ix := t.Index(item.Name)
		if ix == nil {
			if st.IfExists {
				continue
			}
			return sqltypes.Errorf(3701, 7, 11, "Cannot drop the index '%s.%s', because it does not exist or you do not have permission.", t.Name, item.Name)
		}
		if ix.ConstraintID != 0 {
			return raise(3723, "An explicit DROP INDEX is not allowed on index '%s.%s'. It is being used for %s constraint enforcement.", t.Name, ix.Name, constraintWord(ix))
		}
		if err := x.needAlter(db, t.Object); err != nil {
			return err
		}
		a := &alteration{db: db, before: t, after: t.clone()}
		a.after.Indexes = slices.DeleteFunc(a.after.Indexes, func(k *Index) bool { return k.ID == ix.ID })
		a.event = DDLEvent{Kind: "DROP INDEX", Database: db, Before: t, Text: x.textOf(st), Index: ix.Name}
		if err := x.applyAlteration(a); err != nil {
			return err
		}
	}
	return nil
}

func constraintWord(ix *Index) string {
	if ix.Constraint == KindPrimaryKey {
		return "PRIMARY KEY"
	}
	return "UNIQUE KEY"
}
