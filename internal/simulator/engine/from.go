package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// fromTree is a compiled FROM clause before the planner decides how to run it.
type fromTree struct {
	bits uint64
	// leaf is set for a single source, else the tree is a join.
	leaf *leaf
	kind tsql.JoinKind
	l, r *fromTree
	on   *cond
}

// leaf is one source and how its rows are made.
type leaf struct {
	index int
	src   *source
	hints []tsql.TableHint
	// Exactly one of the following is set; a base table has src.table.
	view    *View
	viewDB  *Database
	query   *queryPlan
	values  [][]*expr
	table   *tableCall
	recurse *recursion
	// guards are the filter predicates of row-level security.
	guards []*cond
	// up says which frame is the outer one of query: 0 the block's own, n the one
	// n blocks out, -1 none.
	up int
	// lateral marks a source that reads its siblings to the left (APPLY).
	lateral bool
}

// tableCall is a call of a table-valued function.
type tableCall struct {
	args []*expr
	// rows calls a Go function; query is an inline function's body.
	rows  func(x *Exec, args []value, emit func([]value) error) error
	query *queryPlan
}

// from compiles a FROM clause into the block's sources.
func (c *compiler) from(list []tsql.TableSource, b *block) (*fromTree, error) {
	var tree *fromTree
	for _, ts := range list {
		t, err := c.tableSource(ts, b)
		if err != nil {
			return nil, err
		}
		if tree == nil {
			tree = t
			continue
		}
		tree = &fromTree{bits: tree.bits | t.bits, kind: tsql.CrossJoin, l: tree, r: t}
	}
	return tree, nil
}

func (c *compiler) tableSource(ts tsql.TableSource, b *block) (*fromTree, error) {
	switch ts := ts.(type) {
	case *tsql.Join:
		return c.join(ts, b)
	case *tsql.TableRef:
		return c.tableRef(ts, b)
	case *tsql.VariableTable:
		t := c.x.scope.tables[fold(ts.Name)]
		if t == nil {
			return nil, sqltypes.Errorf(1087, 2, 15, "Must declare the table variable \"%s\".", ts.Name)
		}
		c.uncached = true
		return b.add(&leaf{src: tableSourceOf(t, c.x.in.tempdb, ts.Alias, ts.Name), hints: ts.Hints})
	case *tsql.DerivedTable:
		return c.derivedTable(ts, b, false)
	case *tsql.ValuesTable:
		return c.valuesTable(ts, b)
	case *tsql.FuncTable:
		return c.functionTable(ts, b, false)
	case *tsql.PivotTable:
		return c.pivotTable(ts, b)
	case *tsql.UnpivotTable:
		return c.unpivotTable(ts, b)
	default:
		return nil, unsupported("This table source")
	}
}

// add makes the leaf a source of the block.
func (b *block) add(l *leaf) (*fromTree, error) {
	if len(b.sources) >= 60 {
		return nil, unsupported("A query with more than 60 tables")
	}
	for _, s := range b.sources {
		if s.names.same(s.alias, l.src.alias) && (s.schema == l.src.schema || s.table == nil || l.src.table == nil) && s.alias != "" {
			return nil, raise(1013, "The objects \"%s\" and \"%s\" in the FROM clause have the same exposed names. Use correlation names to distinguish them.", l.src.alias, s.alias)
		}
	}
	if l.src.table == nil {
		l.src.names = b.names
	}
	l.index = len(b.sources)
	b.sources = append(b.sources, l.src)
	return &fromTree{bits: 1 << l.index, leaf: l}, nil
}

func (c *compiler) join(j *tsql.Join, b *block) (*fromTree, error) {
	l, err := c.tableSource(j.L, b)
	if err != nil {
		return nil, err
	}
	var r *fromTree
	apply := j.Kind == tsql.CrossApply || j.Kind == tsql.OuterApply
	switch right := j.R.(type) {
	case *tsql.DerivedTable:
		r, err = c.derivedTable(right, b, apply)
	case *tsql.FuncTable:
		r, err = c.functionTable(right, b, apply)
	default:
		r, err = c.tableSource(j.R, b)
	}
	if err != nil {
		return nil, err
	}
	t := &fromTree{bits: l.bits | r.bits, kind: j.Kind, l: l, r: r}
	if j.On != nil {
		saved := b.hidden
		b.hidden = ^t.bits &^ outerBit
		t.on, err = c.cond(j.On, b)
		b.hidden = saved
		if err != nil {
			return nil, err
		}
	}
	switch j.Kind {
	case tsql.RightJoin:
		t.kind, t.l, t.r = tsql.LeftJoin, r, l
		nullable(b, l.bits)
	case tsql.LeftJoin, tsql.OuterApply:
		nullable(b, r.bits)
	case tsql.FullJoin:
		nullable(b, t.bits)
	}
	return t, nil
}

// nullable marks the columns of null-extended sources.
func nullable(b *block, bits uint64) {
	for i, s := range b.sources {
		if bits&(1<<i) != 0 {
			for k := range s.columns {
				s.columns[k].nullable = true
			}
		}
	}
}

func tableSourceOf(t *Table, db *Database, alias, name string) *source {
	s := &source{alias: alias, table: t, db: db, names: t.names}
	if db != nil {
		s.database = db.Name()
	}
	if s.alias == "" {
		s.alias = name
	}
	for _, col := range t.Columns {
		s.columns = append(s.columns, columnDesc{
			name: col.Name, typ: col.Type, nullable: col.Nullable, identity: col.Identity != nil,
			computed: col.Computed != "", rowguid: col.RowGUID, table: t.Name,
			updatable: col.Computed == "" && col.Identity == nil && col.Type.ID != sqltypes.RowVersion,
		})
	}
	return s
}

func (c *compiler) tableRef(ts *tsql.TableRef, b *block) (*fromTree, error) {
	n := ts.Name
	if n.Server() != "" {
		return nil, errNoServer(n.Server())
	}
	alias := ts.Alias
	if alias == "" {
		alias = n.Base()
	}
	if len(n.Parts) == 1 {
		if d, level := b.cte(n.Base()); d != nil {
			return c.cteRef(d, level, alias, b)
		}
		if l := c.triggerTable(n.Base(), alias); l != nil {
			return b.add(l)
		}
	}
	if strings.HasPrefix(n.Base(), "#") {
		t := c.x.s.tempTable(n.Base())
		if t == nil {
			return nil, errInvalidObject(n.Base())
		}
		c.uncached = true
		return b.add(&leaf{src: tableSourceOf(t, c.x.in.tempdb, alias, n.Base()), hints: ts.Hints})
	}
	found, err := c.resolveTable(n)
	if err != nil {
		return nil, err
	}
	c.objects = append(c.objects, hookName(found.schema, n.Base()))
	switch {
	case found.table != nil:
		src := tableSourceOf(found.table, found.db, alias, n.Base())
		src.schema = found.schema
		if err := c.x.checkPermission(found.db, found.schema, found.table.Object, "SELECT"); err != nil && !c.owned() {
			return nil, err
		}
		src.restricted = !c.owned() && c.x.hasColumnRules(found.db, found.table.Object)
		return c.addTable(b, &leaf{src: src, hints: ts.Hints})
	case found.view != nil:
		src := &source{alias: alias, schema: found.schema, database: found.db.Name(), columns: describe(found.view.Columns), db: found.db}
		return b.add(&leaf{src: src, view: found.view, viewDB: found.db})
	default:
		if err := c.x.checkPermission(found.db, found.schema, found.module.Object, "SELECT"); err != nil {
			return nil, err
		}
		return c.viewRef(found, alias, b)
	}
}

func describe(cols []Column) []columnDesc {
	out := make([]columnDesc, len(cols))
	for i, col := range cols {
		out[i] = columnDesc{name: col.Name, typ: col.Type, nullable: col.Nullable, table: col.Table}
	}
	return out
}

// viewRef expands a user view into a derived table.
func (c *compiler) viewRef(found *resolved, alias string, b *block) (*fromTree, error) {
	if c.depth > 32 {
		return nil, raise(4415, "View has too many levels of nesting.")
	}
	parsed, err := c.x.in.module(found.module)
	if err != nil {
		return nil, err
	}
	v, ok := parsed.stmt.(*tsql.CreateViewStmt)
	if !ok {
		return nil, errInvalidObject(found.module.Name)
	}
	saved := c.module
	c.module = &moduleScope{db: found.db, schema: found.schema}
	c.depth++
	q, err := c.query(v.Query, nil)
	c.depth--
	c.module = saved
	if err != nil {
		return nil, err
	}
	src := &source{alias: alias, schema: found.schema, database: found.db.Name(), columns: q.columns}
	if src.columns, err = renamed(q.columns, v.Columns, found.module.Name, found.db.nameRules()); err != nil {
		return nil, err
	}
	return b.add(&leaf{src: src, query: q, up: -1})
}

// renamed gives a derived table's columns the names of its column list.
func renamed(cols []columnDesc, names []string, object string, rules nameRules) ([]columnDesc, error) {
	out := append([]columnDesc(nil), cols...)
	if len(names) > 0 {
		if len(names) != len(cols) {
			number, word := int32(8158), "more"
			if len(names) > len(cols) {
				number, word = 8159, "fewer"
			}
			return nil, raise(number, "'%s' has %s columns than were specified in the column list.", object, word)
		}
		for i := range out {
			out[i].name, out[i].unnamed = names[i], false
		}
	}
	for i := range out {
		out[i].table = ""
		if out[i].unnamed {
			return nil, raise(8155, "No column name was specified for column %d of '%s'.", i+1, object)
		}
		for k := range out[:i] {
			if rules.same(out[i].name, out[k].name) {
				return nil, raise(8156, "The column '%s' was specified multiple times for '%s'.", out[i].name, object)
			}
		}
	}
	return out, nil
}

func (c *compiler) derivedTable(ts *tsql.DerivedTable, b *block, lateral bool) (*fromTree, error) {
	saved := b.hidden
	if !lateral {
		b.hidden = ^outerBit
	}
	q, err := c.query(ts.Query, b)
	b.hidden = saved
	if err != nil {
		return nil, err
	}
	cols, err := renamed(q.columns, ts.Columns, ts.Alias, b.names)
	if err != nil {
		return nil, err
	}
	return b.add(&leaf{src: &source{alias: ts.Alias, columns: cols}, query: q, lateral: q.outerUses != 0})
}

func (c *compiler) valuesTable(ts *tsql.ValuesTable, b *block) (*fromTree, error) {
	l := &leaf{}
	var cols []columnDesc
	mask := ""
	for _, row := range ts.Rows {
		met := c.masks.met
		list, err := c.exprs(row, b)
		if err != nil {
			return nil, err
		}
		mask = joinMasks(mask, c.maskSince(met, false))
		l.values = append(l.values, list)
		if len(list) != len(l.values[0]) {
			return nil, sqltypes.Errorf(10709, 1, 16, "The number of columns for each row in a table value constructor must be the same.")
		}
		for _, e := range list {
			l.lateral = l.lateral || e.uses != 0
		}
	}
	for i := range l.values[0] {
		var column []*expr
		null := false
		for _, row := range l.values {
			column = append(column, row[i])
			null = null || row[i].nullable
		}
		t, err := commonType(column)
		if err != nil {
			return nil, err
		}
		for _, row := range l.values {
			row[i] = implicit(row[i], t)
		}
		cols = append(cols, columnDesc{typ: t, nullable: null, unnamed: true, mask: mask})
	}
	cols, err := renamed(cols, ts.Columns, ts.Alias, b.names)
	if err != nil {
		return nil, err
	}
	l.src = &source{alias: ts.Alias, columns: cols}
	return b.add(l)
}

func (c *compiler) functionTable(ts *tsql.FuncTable, b *block, lateral bool) (*fromTree, error) {
	f, ok := ts.Call.(*tsql.FuncCall)
	if !ok {
		return nil, unsupported("A method as a table source")
	}
	if len(f.Name.Parts) == 1 && fold(f.Name.Base()) == "openjson" {
		return nil, unsupported("OPENJSON")
	}
	saved := b.hidden
	if !lateral {
		b.hidden = ^outerBit
	}
	call, cols, err := c.tableFunction(f, b)
	b.hidden = saved
	if err != nil {
		return nil, err
	}
	alias := ts.Alias
	if alias == "" {
		alias = f.Name.Base()
	}
	if cols, err = renamed(cols, ts.Columns, alias, b.names); err != nil {
		return nil, err
	}
	l := &leaf{src: &source{alias: alias, columns: cols}, table: call}
	for _, a := range call.args {
		l.lateral = l.lateral || a.uses&^outerBit != 0
	}
	return b.add(l)
}

// tableFunction resolves and compiles a table-valued function's call.
func (c *compiler) tableFunction(f *tsql.FuncCall, b *block) (*tableCall, []columnDesc, error) {
	name := f.Name.Base()
	tf, err := c.systemTableFunction(f)
	if err != nil {
		return nil, nil, err
	}
	if tf != nil {
		return c.goTableFunction(tf, f, c.x.db, b)
	}
	db, err := c.database(f.Name)
	if err != nil {
		return nil, nil, err
	}
	schema := f.Name.Schema()
	if schema == "" {
		schema = c.defaultSchema(db)
	}
	c.objects = append(c.objects, hookName(schema, name))
	for _, resolve := range c.x.in.hooks.tableFunctions {
		if tf, ok := resolve(db, schema, name); ok {
			// A registered function comes and goes with catalogue changes that the
			// hook knows of, so its plan is made anew each time.
			c.uncached = true
			return c.goTableFunction(tf, f, db, b)
		}
	}
	if s := c.catalog(db).synonym(schema, name); s != nil {
		call := *f
		call.Name = s.target()
		return c.tableFunction(&call, b)
	}
	m := c.catalog(db).module(schema, name)
	if m == nil || m.Kind != KindInlineFunction && m.Kind != KindTableFunction {
		return nil, nil, errInvalidObject(f.Name.String())
	}
	return c.moduleTableFunction(db, schema, m, f, b)
}

// tableArguments compiles a table-valued function's arguments. What the function
// makes of a masked one cannot be told.
func (c *compiler) tableArguments(name string, list []tsql.Expr, params []Param, b *block) ([]*expr, error) {
	met := c.masks.met
	args, err := c.arguments(name, list, params, b)
	if err == nil && c.masks.met > met {
		err = unsupported("A masked column as an argument of a table-valued function, without the UNMASK permission,")
	}
	return args, err
}

func (c *compiler) goTableFunction(tf *TableFunction, f *tsql.FuncCall, db *Database, b *block) (*tableCall, []columnDesc, error) {
	args, err := c.tableArguments(f.Name.String(), f.Args, tf.Params, b)
	if err != nil {
		return nil, nil, err
	}
	if tf.Query == "" {
		call := &tableCall{args: args, rows: func(x *Exec, vals []value, emit func([]value) error) error {
			return tf.Rows(x.within(db), vals, emit)
		}}
		return call, describe(tf.Columns), nil
	}
	prog, err := c.x.in.parse(tf.Query, true)
	if err != nil {
		return nil, nil, err
	}
	sel, ok := prog.Stmts[0].(*tsql.SelectStmt)
	if !ok {
		return nil, nil, errInvalidObject(f.Name.String())
	}
	q, err := c.functionBody(sel.Query, tf.Params, db, f.Name.Schema())
	if err != nil {
		return nil, nil, err
	}
	return &tableCall{args: args, query: q}, q.columns, nil
}

// functionBody compiles an inline function's query, whose only outer names are
// its parameters.
func (c *compiler) functionBody(q *tsql.SelectQuery, params []Param, db *Database, schema string) (*queryPlan, error) {
	outer := &block{params: []string{}}
	for _, p := range params {
		outer.params = append(outer.params, p.Name)
		outer.paramTypes = append(outer.paramTypes, p.Type)
	}
	saved := c.module
	c.module = &moduleScope{db: db, schema: schema}
	c.depth++
	plan, err := c.query(q, outer)
	c.depth--
	c.module = saved
	return plan, err
}

func (c *compiler) moduleTableFunction(db *Database, schema string, m *Module, f *tsql.FuncCall, b *block) (*tableCall, []columnDesc, error) {
	if c.depth > 32 {
		return nil, nil, sqltypes.Errorf(217, 1, 16, "Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).")
	}
	parsed, err := c.x.in.module(m)
	if err != nil {
		return nil, nil, err
	}
	params, _, err := c.x.within(db).functionTypes(parsed)
	if err != nil {
		return nil, nil, err
	}
	args, err := c.tableArguments(m.Name, f.Args, params, b)
	if err != nil {
		return nil, nil, err
	}
	fn, ok := parsed.stmt.(*tsql.CreateFunctionStmt)
	if !ok {
		return nil, nil, errInvalidObject(f.Name.String())
	}
	if m.Kind == KindInlineFunction {
		q, err := c.functionBody(fn.Query, params, db, schema)
		if err != nil {
			return nil, nil, err
		}
		return &tableCall{args: args, query: q}, q.columns, nil
	}
	table, err := c.x.within(db).tableTypeOf(fn.ReturnTable, fn.ReturnVariable)
	if err != nil {
		return nil, nil, err
	}
	call := &tableCall{args: args, rows: func(x *Exec, vals []value, emit func([]value) error) error {
		return x.callTableFunction(db, m, parsed, vals, emit)
	}}
	return call, tableSourceOf(table, nil, m.Name, m.Name).columns, nil
}
