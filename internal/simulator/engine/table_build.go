package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// newObjectID gives the next object id of a database. Real ids look random; what
// matters is that none is used twice.
func (db *Database) newObjectID() int64 {
	return 901578250 + 16*db.store.AddCounter("objects", 1)
}

// buildTable makes a table's definition from CREATE TABLE.
func (x *Exec) buildTable(db *Database, schemaID int32, name string, st *tsql.CreateTableStmt) (*Table, error) {
	now := x.Now()
	t := &Table{Object: Object{ID: db.newObjectID(), SchemaID: schemaID, Name: name, Kind: KindTable, Created: now, Modified: now}, names: db.nameRules()}
	for i := range st.Columns {
		if err := x.addColumn(t, &st.Columns[i]); err != nil {
			return nil, err
		}
	}
	for i := range st.Columns {
		if err := x.typeComputed(t, &st.Columns[i]); err != nil {
			return nil, err
		}
	}
	// The primary key comes first, so that a clustered one gets index id 1.
	for _, primary := range []bool{true, false} {
		for i := range st.Columns {
			for k := range st.Columns[i].Constraints {
				if con := &st.Columns[i].Constraints[k]; (con.Kind == tsql.PrimaryKey) == primary {
					if err := x.addConstraint(db, t, con, st.Columns[i].Name); err != nil {
						return nil, err
					}
				}
			}
		}
		for i := range st.Constraints {
			if con := &st.Constraints[i]; (con.Kind == tsql.PrimaryKey) == primary {
				if err := x.addConstraint(db, t, con, ""); err != nil {
					return nil, err
				}
			}
		}
	}
	for i := range st.Columns {
		if ix := st.Columns[i].Index; ix != nil {
			named := *ix
			if len(named.Columns) == 0 {
				named.Columns = []tsql.IndexColumn{{Name: st.Columns[i].Name}}
			}
			if err := x.addIndex(t, &named); err != nil {
				return nil, err
			}
		}
	}
	for i := range st.Indexes {
		if err := x.addIndex(t, &st.Indexes[i]); err != nil {
			return nil, err
		}
	}
	if len(t.Columns) == 0 {
		return nil, sqltypes.Errorf(1701, 1, 16, "Creating or altering table '%s' failed because it has no columns.", name)
	}
	return t, nil
}

// addColumn appends a column. Its constraints are added by the caller, who also
// calls typeComputed once all columns are there.
func (x *Exec) addColumn(t *Table, def *tsql.ColumnDef) error {
	if t.Column(def.Name) != nil {
		return raise(2705, "Column names in each table must be unique. Column name '%s' in table '%s' is specified more than once.", def.Name, t.Name)
	}
	if def.ColumnSet || def.FileStream || def.Generated != "" {
		return unsupported("This kind of column")
	}
	t.Width++
	col := &TableColumn{ID: t.Width, Name: def.Name, Nullable: def.Null != tsql.NotNull, RowGUID: def.RowGUIDCol, Sparse: def.Sparse, MaskedWith: def.Masked, Encrypted: encryptionOf(def.Encrypted), AnsiPadded: true}
	if def.Computed != nil {
		addComputed(t, col, def)
		return nil
	}
	var err error
	if col.Type, col.UserTypeID, err = x.resolveType(def.Type); err != nil {
		if e := asServerError(err); e != nil && e.Number == 243 {
			return raise(2715, "Column, parameter, or variable #%d: Cannot find data type %s.", col.ID, def.Type.Name.String())
		}
		return err
	}
	if def.Null == tsql.NullUnspecified && col.UserTypeID != 0 && col.UserTypeID != sysnameTypeID {
		for _, u := range x.catalog(x.db).types {
			if u.ID == col.UserTypeID {
				col.Nullable = u.Nullable
			}
		}
	}
	if col.UserTypeID == sysnameTypeID && def.Null == tsql.NullUnspecified {
		col.Nullable = false
	}
	if def.Collation != "" {
		if !strings.EqualFold(def.Collation, "database_default") {
			c, err := x.in.collation(def.Collation)
			if err != nil {
				return err
			}
			col.Type.Collation = c
		}
	}
	if col.Type.ID == sqltypes.RowVersion {
		col.Nullable = def.Null == tsql.Nullable
	}
	if err := checkMask(def.Masked, col.Name, col.Type); err != nil {
		return err
	}
	if id := def.Identity; id != nil {
		if err := x.addIdentity(t, col, id); err != nil {
			return err
		}
	}
	t.Columns = append(t.Columns, col)
	return nil
}

func (x *Exec) addIdentity(t *Table, col *TableColumn, id *tsql.Identity) error {
	if t.identity() != nil {
		return raise(2744, "Multiple identity columns specified for table '%s'. Only one identity column per table is allowed.", t.Name)
	}
	if !col.Type.ID.IsInteger() && !(col.Type.ID.IsDecimal() && col.Type.Scale == 0) || col.Type.ID == sqltypes.Bit {
		return raise(2749, "Identity column '%s' must be of data type int, bigint, smallint, tinyint, or decimal or numeric with a scale of 0, unencrypted, and constrained to be nonnullable.", col.Name)
	}
	spec := &Identity{Seed: 1, Increment: 1, NotForReplication: id.NotForRepl}
	for _, part := range []struct {
		e  tsql.Expr
		to *int64
	}{{id.Seed, &spec.Seed}, {id.Increment, &spec.Increment}} {
		if part.e == nil {
			continue
		}
		v, t, err := x.evaluate(part.e)
		if err != nil {
			return err
		}
		if v, err = sqltypes.Convert(v, t, typeBigInt, 0); err != nil {
			return err
		}
		*part.to = v.Int64()
	}
	col.Identity = spec
	col.Nullable = false
	return nil
}

// addComputed adds a computed column, for the time being without a type.
func addComputed(t *Table, col *TableColumn, def *tsql.ColumnDef) {
	text := def.ComputedText
	if !strings.HasPrefix(text, "(") {
		text = "(" + text + ")"
	}
	col.Computed, col.Persisted = text, def.Persisted
	col.Nullable = def.Null != tsql.NotNull
	t.Columns = append(t.Columns, col)
}

// typeComputed gives a computed column the type of its expression, which may
// name columns that come after it. It does nothing to other columns.
func (x *Exec) typeComputed(t *Table, def *tsql.ColumnDef) error {
	if def.Computed == nil {
		return nil
	}
	c := &compiler{x: x}
	e, err := c.expr(def.Computed, tableBlock(t))
	if err != nil {
		return err
	}
	col := t.Column(def.Name)
	col.Type = e.typ
	if col.Type.ID == sqltypes.Unknown {
		col.Type = typeInt
	}
	return nil
}

// tableBlock is the name space of a table's own columns, for computed columns
// and checks.
func tableBlock(t *Table) *block {
	return &block{sources: []*source{tableSourceOf(t, nil, "", t.Name)}, phase: phaseWhere}
}

// systemName makes up a constraint's name as the server does: kind, table,
// column, and the object id in hexadecimal.
func systemName(kind, table, column string, id int64) string {
	cut := func(s string, n int) string {
		if len(s) > n {
			return s[:n]
		}
		return s
	}
	hex := strings.ToUpper(fmtHex(id))
	if column != "" {
		return kind + "__" + cut(table, 9) + "__" + cut(column, 5) + "__" + hex
	}
	return kind + "__" + cut(table, 8) + "__" + hex
}

func fmtHex(n int64) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 8)
	for i := 7; i >= 0; i-- {
		out[i] = digits[n&15]
		n >>= 4
	}
	return string(out)
}

// addConstraint adds a column or table constraint; column is the one it stands
// at, or "".
func (x *Exec) addConstraint(db *Database, t *Table, con *tsql.Constraint, column string) error {
	switch con.Kind {
	case tsql.PrimaryKey, tsql.UniqueKey:
		return x.addKey(db, t, con, column)
	case tsql.Default:
		return x.addDefault(db, t, con, column)
	case tsql.Check:
		id := db.newObjectID()
		ck := &Check{ID: id, Name: con.Name, Text: con.ExprText, Created: x.Now()}
		if !strings.HasPrefix(ck.Text, "(") {
			ck.Text = "(" + ck.Text + ")"
		}
		if col := t.Column(column); col != nil {
			ck.ColumnID = col.ID
		}
		if ck.Name == "" {
			ck.Name, ck.SystemNamed = systemName("CK", t.Name, column, id), true
		}
		c := &compiler{x: x}
		if _, err := c.cond(con.Expr, tableBlock(t)); err != nil {
			return err
		}
		t.Checks = append(t.Checks, ck)
		return nil
	case tsql.ForeignKey:
		return x.addForeignKey(db, t, con, column)
	}
	return unsupported("This constraint")
}

func (x *Exec) addKey(db *Database, t *Table, con *tsql.Constraint, column string) error {
	primary := con.Kind == tsql.PrimaryKey
	if primary && t.PrimaryKey() != nil {
		return raise(1779, "Table '%s' already has a primary key defined on it.", t.Name)
	}
	cols := con.Columns
	if len(cols) == 0 {
		cols = []tsql.IndexColumn{{Name: column}}
	}
	id := db.newObjectID()
	ix := &Index{Name: con.Name, Unique: true, ConstraintID: id, Constraint: KindUnique, Created: x.Now()}
	kind := "UQ"
	ix.Clustered = con.Clustered
	if primary {
		kind, ix.Constraint = "PK", KindPrimaryKey
		ix.Clustered = !con.NonClust && (con.Clustered || t.Clustered() == nil)
	}
	if ix.Name == "" {
		ix.Name, ix.SystemNamed = systemName(kind, t.Name, "", id)+fmtHex(id*2654435761), true
	}
	for _, o := range con.Options {
		if o.Name == "IGNORE_DUP_KEY" && strings.EqualFold(o.Value, "ON") {
			ix.IgnoreDupKey = true
		}
	}
	if err := setKeys(t, ix, cols); err != nil {
		return err
	}
	if primary {
		for _, k := range ix.Keys {
			col := t.ColumnByID(k.ColumnID)
			if col.Nullable && t.Created.Equal(t.Modified) {
				col.Nullable = false
			} else if col.Nullable {
				return raise(8111, "Cannot define PRIMARY KEY constraint on nullable column in table '%s'.", t.Name)
			}
		}
	}
	return placeIndex(t, ix)
}

func setKeys(t *Table, ix *Index, cols []tsql.IndexColumn) error {
	for _, kc := range cols {
		col := t.Column(kc.Name)
		if col == nil {
			return raise(1911, "Column name '%s' does not exist in the target table or view.", kc.Name)
		}
		if col.Type.IsLOB() {
			return raise(1919, "Column '%s' in table '%s' is of a type that is invalid for use as a key column in an index.", col.Name, t.Name)
		}
		ix.Keys = append(ix.Keys, IndexKey{ColumnID: col.ID, Desc: kc.Desc})
	}
	return nil
}

// placeIndex gives an index its id and appends it.
func placeIndex(t *Table, ix *Index) error {
	if t.Index(ix.Name) != nil {
		return raise(1913, "The operation failed because an index or statistics with name '%s' already exists on table '%s'.", ix.Name, t.Name)
	}
	if ix.Clustered {
		if c := t.Clustered(); c != nil {
			return raise(1902, "Cannot create more than one clustered index on table '%s'. Drop the existing clustered index '%s' before creating another.", t.Name, c.Name)
		}
		ix.ID = storage.ClusteredIndex
		t.Indexes = append([]*Index{ix}, t.Indexes...)
		return nil
	}
	ix.ID = 2
	for _, other := range t.Indexes {
		ix.ID = max(ix.ID, other.ID+1)
	}
	t.Indexes = append(t.Indexes, ix)
	return nil
}

func (x *Exec) addIndex(t *Table, st *tsql.CreateIndexStmt) error {
	if st.ColumnStore || st.Kind != "" {
		return unsupported("A " + strings.TrimSpace(st.Kind+" index of this kind"))
	}
	ix := &Index{Name: st.Name, Unique: st.Unique, Clustered: st.Clustered, Created: x.Now()}
	if st.WhereText != "" {
		ix.Filter = "(" + strings.TrimSuffix(strings.TrimPrefix(st.WhereText, "("), ")") + ")"
	}
	for _, o := range st.Options {
		if o.Name == "IGNORE_DUP_KEY" && strings.EqualFold(o.Value, "ON") {
			ix.IgnoreDupKey = true
		}
	}
	if err := setKeys(t, ix, st.Columns); err != nil {
		return err
	}
	for _, name := range st.Include {
		col := t.Column(name)
		if col == nil {
			return raise(1911, "Column name '%s' does not exist in the target table or view.", name)
		}
		ix.Included = append(ix.Included, col.ID)
	}
	return placeIndex(t, ix)
}

func (x *Exec) addDefault(db *Database, t *Table, con *tsql.Constraint, column string) error {
	if con.ForColumn != "" {
		column = con.ForColumn
	}
	col := t.Column(column)
	if col == nil {
		return raise(1752, "Column '%s' in table '%s' is invalid for creating a default constraint.", column, t.Name)
	}
	if col.Default != nil {
		return raise(1781, "Column already has a DEFAULT bound to it.")
	}
	if col.Identity != nil {
		return raise(1754, "Defaults cannot be created on columns with an IDENTITY attribute. Table '%s', column '%s'.", t.Name, col.Name)
	}
	id := db.newObjectID()
	d := &DefaultConstraint{ID: id, Name: con.Name, Text: defaultText(con), Created: x.Now()}
	if d.Name == "" {
		d.Name, d.SystemNamed = systemName("DF", t.Name, col.Name, id), true
	}
	c := &compiler{x: x}
	if _, err := c.columnDefault(con.Expr, col.Type); err != nil {
		return err
	}
	col.Default = d
	return nil
}

// physical is a table's shape in the storage.
func (x *Exec) physical(t *Table) storage.TableDef {
	def := storage.TableDef{ID: t.ID, Name: t.Name, Columns: make([]sqltypes.Type, t.Width)}
	for i := range def.Columns {
		def.Columns[i] = typeInt // the place of a dropped column
	}
	for _, c := range t.Columns {
		def.Columns[c.slot()] = c.Type
	}
	for _, ix := range t.Indexes {
		def.Indexes = append(def.Indexes, x.physicalIndex(t, ix))
	}
	return def
}

func (x *Exec) physicalIndex(t *Table, ix *Index) storage.IndexDef {
	d := storage.IndexDef{ID: ix.ID, Unique: ix.Unique}
	for _, k := range ix.Keys {
		d.Columns = append(d.Columns, storage.IndexColumn{Ordinal: k.ColumnID - 1, Desc: k.Desc})
	}
	if ix.Filter != "" {
		d.FilterSource = ix.Filter
		d.Filter = x.filterOf(t, ix.Filter)
	}
	return d
}

// filterOf compiles the predicate of a filtered index. A row for which it fails
// is not in the index.
func (x *Exec) filterOf(t *Table, text string) func(storage.Row) bool {
	k, err := x.tableCondition(t, text)
	if err != nil {
		return func(storage.Row) bool { return false }
	}
	pure := &Exec{s: x.s, in: x.in, ctx: x.ctx, db: x.db, scope: newVariables(), system: true}
	return func(row storage.Row) bool {
		ok, err := k.eval(&frame{x: pure, rows: [][]value{row}})
		return err == nil && ok == yes
	}
}

// tableCondition compiles a condition over a table's own columns.
func (x *Exec) tableCondition(t *Table, text string) (*cond, error) {
	prog, err := x.in.parse("IF "+text+" RETURN", true)
	if err != nil {
		return nil, err
	}
	st, ok := prog.Stmts[0].(*tsql.IfStmt)
	if !ok {
		return nil, raise(102, "Incorrect syntax near '%s'.", text)
	}
	c := &compiler{x: x}
	return c.cond(st.Cond, tableBlock(t))
}

// resolveFilters gives filtered indexes their predicates back after a start.
func (db *Database) resolveFilters() error {
	s := newSession(db.in, db, &login{Name: "sa", Sysadmin: true}, Login{})
	x := &Exec{s: s, in: db.in, db: db, scope: newVariables(), system: true}
	return db.store.ResolveFilters(func(def storage.TableDef, ix storage.IndexDef) (func(storage.Row) bool, error) {
		t := db.Catalog().tables[def.ID]
		if t == nil {
			return func(storage.Row) bool { return false }, nil
		}
		return x.filterOf(t, ix.FilterSource), nil
	})
}
