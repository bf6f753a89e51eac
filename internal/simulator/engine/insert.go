package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// inserter builds and stores rows for INSERT, SELECT INTO, OUTPUT INTO and
// MERGE: columns are those that the source gives values for, in its order.
type inserter struct {
	*tableWriter
	columns []*TableColumn
	// explicit says that the identity column is among the columns.
	explicit bool
	output   *outputPlan
	verb     string
}

// target resolves the table that a DML statement writes to.
func (c *compiler) target(t tsql.Target, permission string) (*Database, *Table, error) {
	if _, err := targetLock(t.Hints); err != nil {
		return nil, nil, err
	}
	if t.Variable != "" {
		table := c.x.scope.tables[fold(t.Variable)]
		if table == nil {
			return nil, nil, sqltypes.Errorf(1087, 1, 15, "Must declare the table variable \"%s\".", t.Variable)
		}
		if table.readOnly {
			return nil, nil, raise(10700, "The table-valued parameter \"%s\" is READONLY and cannot be modified.", t.Variable)
		}
		c.uncached = true
		return c.x.in.tempdb, table, nil
	}
	if strings.HasPrefix(t.Name.Base(), "#") {
		table := c.x.s.tempTable(t.Name.Base())
		if table == nil {
			return nil, nil, errInvalidObject(t.Name.Base())
		}
		c.uncached = true
		return c.x.in.tempdb, table, nil
	}
	r, err := c.resolveTable(t.Name)
	if err != nil {
		return nil, nil, err
	}
	c.objects = append(c.objects, hookName(r.schema, t.Name.Base()))
	if r.module != nil {
		return nil, nil, unsupported("Changing rows through a view")
	}
	if r.table == nil {
		return nil, nil, raise(259, "Ad hoc updates to system catalogs are not allowed.")
	}
	if err := c.x.checkPermission(r.db, r.schema, r.table.Object, permission); err != nil && c.x.proc == "" {
		return nil, nil, err
	}
	return r.db, r.table, nil
}

// inserter compiles the column list of an INSERT. given is the number of values
// in each source row, -1 when it does not matter.
func (c *compiler) inserter(db *Database, t *Table, names []string, given int) (*inserter, error) {
	w, err := c.tableWriter(db, t)
	if err != nil {
		return nil, err
	}
	in := &inserter{tableWriter: w, verb: "INSERT"}
	allowIdentity := c.x.s.identityInsert == identityInsert{db, t.ID}
	c.uncached = c.uncached || allowIdentity
	if len(names) == 0 {
		for _, col := range t.Columns {
			if col.Computed == "" && (col.Type.ID != sqltypes.RowVersion || given >= 0) && col.Identity == nil {
				in.columns = append(in.columns, col)
			}
		}
		if given >= 0 && given != len(in.columns) {
			if given == len(in.columns)+1 && t.identity() != nil {
				return nil, raise(8101, "An explicit value for the identity column in table '%s' can only be specified when a column list is used and IDENTITY_INSERT is ON.", t.Name)
			}
			return nil, raise(213, "Column name or number of supplied values does not match table definition.")
		}
		if allowIdentity && t.identity() != nil && given >= 0 {
			return nil, raise(545, "Explicit value must be specified for identity column in table '%s' either when IDENTITY_INSERT is set to ON or when a replication user is inserting into a NOT FOR REPLICATION identity column.", t.Name)
		}
		return in, nil
	}
	for i, name := range names {
		col := t.Column(name)
		if col == nil {
			return nil, errInvalidColumn(name)
		}
		for _, before := range names[:i] {
			if t.names.same(before, name) {
				return nil, raise(264, "The column name '%s' is specified more than once in the SET clause or column list of an INSERT. A column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the duplication in your code.", name)
			}
		}
		switch {
		case col.Computed != "":
			return nil, raise(271, "The column \"%s\" cannot be modified because it is either a computed column or is the result of a UNION operator.", col.Name)
		case col.Type.ID == sqltypes.RowVersion && !c.x.system:
			return nil, raise(273, "Cannot insert an explicit value into a timestamp column. Use INSERT with a column list to exclude the timestamp column, or insert a DEFAULT into the timestamp column.")
		case col.Identity != nil:
			if !allowIdentity {
				return nil, raise(544, "Cannot insert explicit value for identity column in table '%s' when IDENTITY_INSERT is set to OFF.", t.Name)
			}
			in.explicit = true
		}
		in.columns = append(in.columns, col)
	}
	if allowIdentity && !in.explicit && t.identity() != nil {
		return nil, raise(545, "Explicit value must be specified for identity column in table '%s' either when IDENTITY_INSERT is set to ON or when a replication user is inserting into a NOT FOR REPLICATION identity column.", t.Name)
	}
	if given >= 0 && given != len(in.columns) {
		if given > len(in.columns) {
			return nil, sqltypes.Errorf(110, 1, 15, "There are fewer columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.")
		}
		return nil, sqltypes.Errorf(109, 1, 15, "There are more columns in the INSERT statement than values specified in the VALUES clause. The number of values in the VALUES clause must match the number of columns specified in the INSERT statement.")
	}
	return in, nil
}

// insert compiles INSERT.
func (c *compiler) insert(st *tsql.InsertStmt) (func(x *Exec) error, error) {
	db, t, err := c.target(st.Target, "INSERT")
	if err != nil {
		return nil, err
	}
	given := -1
	switch {
	case len(st.Rows) > 0:
		given = len(st.Rows[0])
	case st.Query != nil:
	}
	var query *queryPlan
	if st.Query != nil {
		ctes, err := c.withClause(st.With, nil, nil)
		if err != nil {
			return nil, err
		}
		if query, err = c.queryWith(st.Query, nil, ctes); err != nil {
			return nil, err
		}
		if err := c.showMasked(query); err != nil {
			return nil, err
		}
		given = len(query.columns)
	}
	in, err := c.inserter(db, t, st.Columns, given)
	if err != nil {
		if e := asServerError(err); e != nil && query != nil && (e.Number == 109 || e.Number == 110) {
			return nil, selectCount(e.Number)
		}
		return nil, err
	}
	if in.lock, err = targetLock(st.Target.Hints); err != nil {
		return nil, err
	}
	if query != nil && slices.ContainsFunc(in.columns, isRowVersion) {
		return nil, errRowVersion()
	}
	if in.output, err = c.output(st.Output, in.tableWriter, nil); err != nil {
		return nil, err
	}
	var source func(x *Exec, add func(vals []value, missing []bool) error) error
	switch {
	case query != nil:
		source = in.fromQuery(query)
	case st.DefaultValues:
		in.columns = nil
		source = func(x *Exec, add func([]value, []bool) error) error { return add(nil, nil) }
	default:
		if source, err = c.insertRows(st, in); err != nil {
			return nil, err
		}
	}
	top, err := c.limits(st.Top, &tsql.SelectQuery{}, nil)
	if err != nil {
		return nil, err
	}
	return func(x *Exec) error {
		lim, err := top.evaluate(&frame{x: x})
		if err != nil {
			return err
		}
		if n := x.s.rowCountLimit; n > 0 && !x.system && (!lim.limited || lim.count > n) {
			lim.limited, lim.count = true, n
		}
		count := int64(0)
		in.begin(x, "INSERT", nil)
		out := in.output.start(x)
		err = source(x, func(vals []value, missing []bool) error {
			if lim.limited && count >= lim.count {
				return errStop
			}
			if err := in.add(x, vals, missing, out); err != nil {
				return err
			}
			count++
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			return err
		}
		return out.finish(CommandInsert, count)
	}, nil
}

func isRowVersion(c *TableColumn) bool { return c.Type.ID == sqltypes.RowVersion }

func errRowVersion() error {
	return raise(273, "Cannot insert an explicit value into a timestamp column. Use INSERT with a column list to exclude the timestamp column, or insert a DEFAULT into the timestamp column.")
}

func selectCount(number int32) error {
	if number == 110 {
		return sqltypes.Errorf(121, 1, 15, "The select list for the INSERT statement contains more items than the insert list. The number of SELECT values must match the number of INSERT columns.")
	}
	return sqltypes.Errorf(120, 1, 15, "The select list for the INSERT statement contains fewer items than the insert list. The number of SELECT values must match the number of INSERT columns.")
}

func (in *inserter) fromQuery(q *queryPlan) func(x *Exec, add func([]value, []bool) error) error {
	from := q.types()
	return func(x *Exec, add func([]value, []bool) error) error {
		buf := make([]value, len(from))
		return q.run(x, nil, func(row []value) error {
			for i, v := range row {
				var err error
				if buf[i], err = in.assign(v, from[i], in.columns[i]); err != nil {
					return err
				}
			}
			return add(buf, nil)
		})
	}
}

// assign converts a value to a column's type as INSERT and UPDATE do.
func (w *tableWriter) assign(v value, from sqltypes.Type, col *TableColumn) (value, error) {
	if v.IsNull() {
		return v, nil
	}
	return sqltypes.Assign(v, from, col.Type, w.targets[col.slot()])
}

func (c *compiler) insertRows(st *tsql.InsertStmt, in *inserter) (func(x *Exec, add func([]value, []bool) error) error, error) {
	rows := make([][]*expr, len(st.Rows))
	for r, list := range st.Rows {
		c.sequences = nil
		if len(list) != len(st.Rows[0]) {
			return nil, sqltypes.Errorf(10709, 1, 16, "The number of columns for each row in a table value constructor must be the same.")
		}
		rows[r] = make([]*expr, len(list))
		for i, e := range list {
			if _, ok := e.(*tsql.DefaultValue); ok {
				continue
			}
			if isRowVersion(in.columns[i]) {
				return nil, errRowVersion()
			}
			k, err := c.expr(e, nil)
			if err != nil {
				return nil, err
			}
			rows[r][i] = k
		}
	}
	return func(x *Exec, add func([]value, []bool) error) error {
		vals, missing := make([]value, len(rows[0])), make([]bool, len(rows[0]))
		fr := &frame{x: x}
		for _, row := range rows {
			for i, e := range row {
				missing[i] = e == nil
				if e == nil {
					continue
				}
				v, err := e.eval(fr)
				if err != nil {
					return err
				}
				if vals[i], err = in.assign(v, e.typ, in.columns[i]); err != nil {
					return err
				}
			}
			if err := add(vals, missing); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// build makes the full row from the given values; missing marks DEFAULT.
func (in *inserter) build(x *Exec, vals []value, missing []bool) (storage.Row, error) {
	row := make(storage.Row, in.table.Width)
	given := uint64(0)
	var set map[int]bool
	if in.table.Width > 64 {
		set = map[int]bool{}
	}
	for i, col := range in.columns {
		if missing != nil && missing[i] {
			continue
		}
		row[col.slot()] = vals[i]
		if set != nil {
			set[col.slot()] = true
		} else {
			given |= 1 << col.slot()
		}
	}
	for _, col := range in.table.Columns {
		slot := col.slot()
		if set != nil && set[slot] || set == nil && given&(1<<slot) != 0 {
			continue
		}
		switch {
		case col.Identity != nil:
			row[slot] = x.nextIdentity(in.db, in.table, col.Identity)
		case col.Type.ID == sqltypes.RowVersion:
			row[slot] = x.nextRowVersion(in.db)
		case in.defaults[slot] != nil:
			v, err := in.defaults[slot].eval(&frame{x: x})
			if err != nil {
				return nil, err
			}
			row[slot] = v
		}
	}
	if id := in.table.identity(); id != nil {
		v := row[id.slot()]
		if v.Kind() == sqltypes.KindInt {
			x.s.identity, x.identity = v, v
			if in.explicit {
				noteIdentity(in.db, in.table, id.Identity, v.Int64())
			}
			w, err := sqltypes.Assign(v, typeBigInt, id.Type, "")
			if err != nil {
				return nil, raise(8115, "Arithmetic overflow error converting IDENTITY to data type %s.", id.Type.Name())
			}
			row[id.slot()] = w
		}
	}
	if err := in.complete(x, row, in.verb); err != nil {
		return nil, err
	}
	return row, in.checkReplicated(x, nil, row)
}

// add builds and stores one row.
func (in *inserter) add(x *Exec, vals []value, missing []bool, out *outputRun) error {
	row, err := in.build(x, vals, missing)
	if err != nil {
		return err
	}
	if err := in.insert(x, row, storage.LSN{}); err != nil {
		if in.ignoresDuplicate(err) {
			return nil
		}
		return err
	}
	in.note(x, "INSERT", nil, row)
	return out.add(nil, row, "INSERT")
}

// ignoresDuplicate reports a duplicate that IGNORE_DUP_KEY lets pass.
func (in *inserter) ignoresDuplicate(err error) bool {
	e := asServerError(err)
	if e == nil || e.Number != 2601 && e.Number != 2627 {
		return false
	}
	for _, ix := range in.table.Indexes {
		if ix.IgnoreDupKey && strings.Contains(e.Message, "'"+ix.Name+"'") {
			return true
		}
	}
	return false
}

// insertExec is INSERT ... EXEC: the rows of all result sets are inserted.
func (x *Exec) insertExec(st *tsql.InsertStmt) error {
	c := &compiler{x: x, maxRecursion: maxRecursion}
	db, t, err := c.target(st.Target, "INSERT")
	if err != nil {
		return err
	}
	in, err := c.inserter(db, t, st.Columns, -1)
	if err != nil {
		return err
	}
	if in.output, err = c.output(st.Output, in.tableWriter, nil); err != nil {
		return err
	}
	if x.s.insertExec {
		return raise(8164, "An INSERT EXEC statement cannot be nested.")
	}
	x.s.insertExec = true
	defer func() { x.s.insertExec = false }()
	info := statementPlan{kind: "insert", objects: c.objects, text: x.textOf(st), data: true}
	return x.statement(info, func() error {
		captured := &captureSink{next: x.sink}
		y := *x
		y.sink = captured
		y.tries++
		if err := y.execStmt(st.Exec); err != nil {
			return err
		}
		count := int64(0)
		in.begin(x, "INSERT", nil)
		out := in.output.start(x)
		for _, set := range captured.sets {
			if len(set.Columns) != len(in.columns) {
				return raise(213, "Column name or number of supplied values does not match table definition.")
			}
			vals := make([]value, len(in.columns))
			for _, row := range set.Rows {
				for i, v := range row {
					if vals[i], err = in.assign(v, set.Columns[i].Type, in.columns[i]); err != nil {
						return err
					}
				}
				if err := in.add(x, vals, nil, out); err != nil {
					return err
				}
				count++
			}
		}
		return out.finish(CommandInsert, count)
	})
}

// selectInto is SELECT ... INTO: a new table with the result's columns.
func (c *compiler) selectInto(q *tsql.SelectQuery, spec *tsql.SelectSpec) (func(x *Exec) error, error) {
	c.uncached, c.readsTables = true, true
	plain := *spec
	plain.Into = nil
	body := *q
	body.Body = &plain
	plan, err := c.query(&body, nil)
	if err != nil {
		return nil, err
	}
	if err := c.showMasked(plan); err != nil {
		return nil, err
	}
	name := *spec.Into
	return func(x *Exec) error {
		now := x.Now()
		temp := strings.HasPrefix(name.Base(), "#")
		db, schemaID := x.in.tempdb, int32(1)
		if !temp {
			d, s, err := x.place(name)
			if err != nil {
				return err
			}
			if err := x.needDDL(d, "CREATE TABLE"); err != nil {
				return err
			}
			db, schemaID = d, s.ID
			if x.catalog(db).lookup(s.Name, name.Base()) != 0 {
				return sqltypes.Errorf(2714, 6, 16, "There is already an object named '%s' in the database.", name.Base())
			}
		} else if x.s.tempTable(name.Base()) != nil {
			return sqltypes.Errorf(2714, 6, 16, "There is already an object named '%s' in the database.", name.Base())
		}
		t := &Table{Object: Object{ID: db.newObjectID(), SchemaID: schemaID, Name: name.Base(), Kind: KindTable, Created: now, Modified: now}, names: db.nameRules()}
		if err := intoColumns(t, plan.columns); err != nil {
			return err
		}
		if temp {
			err = x.addTempTable(t)
		} else {
			err = x.addTable(db, t, "SELECT INTO")
		}
		if err != nil {
			return err
		}
		w := &inserter{tableWriter: &tableWriter{db: db, table: t, write: storage.WriteOptions{Unlogged: true}}, columns: t.Columns, explicit: true, verb: "INSERT"}
		count := int64(0)
		err := plan.run(x, nil, func(row []value) error {
			count++
			stored := append(storage.Row(nil), row...)
			if id := t.identity(); id != nil && stored[id.slot()].Kind() == sqltypes.KindInt {
				noteIdentity(db, t, id.Identity, stored[id.slot()].Int64())
			}
			return w.insert(x, stored, storage.LSN{})
		})
		if err != nil {
			return err
		}
		x.s.rowCount, x.s.lastError = count, 0
		return x.done(CommandSelect, count)
	}, nil
}

func intoColumns(t *Table, cols []columnDesc) error {
	seen := false
	for i, d := range cols {
		if d.unnamed || d.name == "" {
			return raise(1038, "An object or column name is missing or empty. For SELECT INTO statements, verify each column has a name. For other statements, look for empty alias names. Aliases defined as \"\" or [] are not allowed. Change the alias to a valid name.")
		}
		if t.Column(d.name) != nil {
			return raise(2705, "Column names in each table must be unique. Column name '%s' in table '%s' is specified more than once.", d.name, t.Name)
		}
		col := &TableColumn{ID: i + 1, Name: d.name, Type: d.typ, Nullable: d.nullable, AnsiPadded: true}
		if col.Type.ID == sqltypes.Unknown {
			col.Type = typeInt
		}
		if col.Type.ID == sqltypes.RowVersion {
			col.Type = sqltypes.BinaryOf(8)
		}
		if d.identity && !seen {
			col.Identity, seen = &Identity{Seed: 1, Increment: 1}, true
		}
		t.Columns = append(t.Columns, col)
	}
	t.Width = len(t.Columns)
	return nil
}
