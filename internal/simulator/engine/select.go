package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// selectPlan is a compiled SELECT ... FROM ... block.
type selectPlan struct {
	sources int
	root    node
	// transient are the sources whose rows are reused by the next row and must be
	// copied to be kept.
	transient uint64
	// locking are the scans of tables that a hint locks whole.
	locking []*tableScan

	grouped bool
	groupBy []*expr
	// sets are the grouping sets as indexes of groupBy; nil for a plain GROUP BY.
	sets [][]int
	// nulls are rows of NULL for the sources, for groups that have none.
	nulls      map[int][]value
	aggregates []*aggregate
	having     *cond
	windows    []*window

	out      []*expr
	distinct bool
	order    []orderKey
	// ordered says that the rows come in the order asked for without a sort.
	ordered bool
	// firstOnly ends the scan at the first row that gives the single MIN or MAX a
	// value: the index delivers the extreme one first.
	firstOnly bool
	limits    *limitPlan

	// target is the table whose row ids follow the output columns (cursors).
	target *Table

	// assign are the variables that SELECT @v = expr sets, by output column.
	assign []assignment
}

// orderKey is an ORDER BY item: an output column, or an expression of the block.
type orderKey struct {
	sortKey
	output int
}

type assignment struct {
	slot int
	op   string
	typ  sqltypes.Type
}

// selectSpec compiles one SELECT block; q carries ORDER BY, OFFSET and FETCH.
func (c *compiler) selectSpec(s *tsql.SelectSpec, q *tsql.SelectQuery, outer *block, ctes map[string]*cteDef) (*queryPlan, error) {
	b := &block{outer: outer, ctes: ctes, phase: phaseFrom, names: c.x.db.nameRules()}
	p := &selectPlan{distinct: s.Distinct}
	rowIDs := c.rowIDs
	c.rowIDs = false
	tree, err := c.from(s.From, b)
	if err != nil {
		return nil, err
	}
	b.phase = phaseWhere
	var where *cond
	if s.Where != nil {
		if where, err = c.cond(s.Where, b); err != nil {
			return nil, err
		}
	}
	if err := c.grouping(s, q, b, p); err != nil {
		return nil, err
	}
	b.phase = phaseSelect
	columns, err := c.selectList(s.Items, b, p)
	if err != nil {
		return nil, err
	}
	if s.Having != nil {
		if p.having, err = c.cond(s.Having, b); err != nil {
			return nil, err
		}
	}
	if err := c.orderBy(q.OrderBy, columns, b, p); err != nil {
		return nil, err
	}
	if p.limits, err = c.limits(s.Top, q, b); err != nil {
		return nil, err
	}
	p.aggregates, p.windows = b.aggregates, b.windows
	p.sources = len(b.sources)
	wish := p.orderWish()
	pl := &planner{c: c, b: b, wish: wish}
	if rowIDs && len(b.sources) == 1 && b.sources[0].table != nil && !p.grouped && !p.distinct && len(p.assign) == 0 {
		pl.keepID, p.target = 1, b.sources[0].table
		p.out = append(p.out, &expr{typ: typeBigInt, eval: func(fr *frame) (value, error) { return sqltypes.IntOf(int64(fr.ids[0])), nil }})
	}
	if p.root, err = pl.plan(tree, conjuncts(where)); err != nil {
		return nil, err
	}
	p.transient = pl.transient
	p.locking = pl.locking
	if pl.ordered {
		if p.grouped {
			p.firstOnly = true
		} else {
			p.ordered = true
		}
	}
	if p.sets != nil {
		p.nulls = pl.nullRows(^uint64(0))
	}
	plan := &queryPlan{columns: columns, outerUses: b.outerUses, volatile: b.volatile, spec: p}
	plan.run = p.run
	return plan, nil
}

// grouping compiles GROUP BY and decides whether the block is grouped.
func (c *compiler) grouping(s *tsql.SelectSpec, q *tsql.SelectQuery, b *block, p *selectPlan) error {
	grouped := s.GroupBy != nil || s.Having != nil
	for _, it := range s.Items {
		grouped = grouped || hasAggregate(it.Expr)
	}
	for _, o := range q.OrderBy {
		grouped = grouped || hasAggregate(o.Expr)
	}
	if !grouped {
		return nil
	}
	p.grouped = true
	b.groupKeys = map[string]int{}
	if s.GroupBy != nil {
		if err := c.groupKeys(s.GroupBy, b, p); err != nil {
			return err
		}
	}
	b.grouped = true
	return nil
}

// selectList compiles the items and names the result's columns.
func (c *compiler) selectList(items []tsql.SelectItem, b *block, p *selectPlan) ([]columnDesc, error) {
	var cols []columnDesc
	assigns, outputs := 0, 0
	for _, it := range items {
		if it.Star {
			found, err := c.star(it, b, p)
			if err != nil {
				return nil, err
			}
			cols = append(cols, found...)
			outputs++
			continue
		}
		met := c.masks.met
		e, err := c.expr(it.Expr, b)
		if err != nil {
			return nil, err
		}
		if it.Variable != "" {
			a, err := c.assignment(it.Variable, it.AssignOp)
			if err != nil {
				return nil, err
			}
			p.assign = append(p.assign, a)
			if a.op != "=" {
				slot := a.slot
				current := &expr{typ: a.typ, nullable: true, eval: func(fr *frame) (value, error) { return fr.x.vars[slot], nil }}
				if e, err = c.arithmetic(a.op[:1], current, e); err != nil {
					return nil, err
				}
			}
			e = assigned(e, a.typ)
			assigns++
		} else {
			outputs++
		}
		if k := e.coercion; k.against != nil {
			return nil, sqltypes.Errorf(451, 1, 16, "Cannot resolve collation conflict between \"%s\" and \"%s\" in add operator occurring in SELECT statement column %d.",
				k.against.Name, e.typ.Collation.Name, len(cols)+1)
		}
		_, plain := it.Expr.(*tsql.ColumnRef)
		d := itemColumn(it, e)
		d.mask = c.maskSince(met, plain && it.Variable == "")
		cols = append(cols, d)
		p.out = append(p.out, e)
	}
	if assigns > 0 && outputs > 0 {
		return nil, sqltypes.Errorf(141, 1, 15, "A SELECT statement that assigns a value to a variable must not be combined with data-retrieval operations.")
	}
	return cols, nil
}

func (c *compiler) assignment(name, op string) (assignment, error) {
	slot, ok := c.x.scope.slots[fold(name)]
	if !ok {
		return assignment{}, sqltypes.Errorf(137, 1, 15, "Must declare the scalar variable \"%s\".", name)
	}
	if op == "" {
		op = "="
	}
	return assignment{slot: slot, op: op, typ: c.x.scope.types[slot]}, nil
}

func itemColumn(it tsql.SelectItem, e *expr) columnDesc {
	d := columnDesc{typ: e.typ, nullable: e.nullable}
	if e.column != nil {
		d = *e.column.desc
		d.typ = e.typ
	}
	if e.typ.ID == sqltypes.Unknown {
		d.typ = typeInt
	}
	ref, isColumn := it.Expr.(*tsql.ColumnRef)
	if p, ok := it.Expr.(*tsql.PseudoColumn); ok && !it.HasAlias && it.Alias == "" {
		d.name, d.unnamed = p.Name, false
		return d
	}
	switch {
	case it.HasAlias || it.Alias != "":
		d.name, d.unnamed = it.Alias, it.Alias == ""
	case isColumn && e.column != nil:
		d.name = ref.Base()
	default:
		d.name, d.unnamed = "", true
	}
	return d
}

// star expands * and alias.*.
func (c *compiler) star(it tsql.SelectItem, b *block, p *selectPlan) ([]columnDesc, error) {
	if len(b.sources) == 0 {
		return nil, raise(263, "Must specify table to select from.")
	}
	var cols []columnDesc
	matched := false
	for i, src := range b.sources {
		if !it.Qualifier.IsZero() && !src.answersTo(it.Qualifier) {
			continue
		}
		matched = true
		for k := range src.columns {
			use := &columnUse{source: i, ordinal: src.slot(k), desc: &src.columns[k]}
			if err := c.columnPermission(src, use); err != nil {
				return nil, err
			}
			src.noteRead(use.ordinal, false)
			e := columnExpr(use)
			if b.grouped {
				at, ok := b.groupKeys[b.columnKey(use)]
				if !ok {
					return nil, raise(8120, "Column '%s.%s' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.", src.alias, src.columns[k].name)
				}
				e = b.groupValue(at, e)
			}
			c.meet(use.desc)
			p.out = append(p.out, e)
			cols = append(cols, src.columns[k])
		}
	}
	if !matched {
		return nil, raise(107, "The column prefix '%s' does not match with a table name or alias name used in the query.", it.Qualifier.String())
	}
	return cols, nil
}

func (c *compiler) orderBy(items []tsql.OrderItem, cols []columnDesc, b *block, p *selectPlan) error {
	for _, o := range items {
		at, err := outputColumn(o.Expr, cols, b.names)
		if err != nil {
			return err
		}
		if at >= 0 {
			p.order = append(p.order, orderKey{sortKey: sortKey{expr: p.out[at], desc: o.Desc}, output: at})
			continue
		}
		e, err := c.expr(o.Expr, b)
		if err != nil {
			return err
		}
		k := orderKey{sortKey: sortKey{expr: e, desc: o.Desc}, output: -1}
		if p.distinct {
			for i, out := range p.out {
				if sameColumn(out.column, e.column) {
					k.output = i
				}
			}
			if k.output < 0 {
				return raise(145, "ORDER BY items must appear in the select list if SELECT DISTINCT is specified.")
			}
		}
		p.order = append(p.order, k)
	}
	for _, k := range p.order {
		switch k.expr.typ.ID {
		case sqltypes.Text, sqltypes.NText, sqltypes.Image, sqltypes.XML:
			return raise(306, "The text, ntext, and image data types cannot be compared or sorted, except when using IS NULL or LIKE operator.")
		}
	}
	return nil
}

func sameColumn(a, b *columnUse) bool {
	return a != nil && b != nil && a.level == b.level && a.source == b.source && a.ordinal == b.ordinal
}

// orderWish says in which order the first source should deliver its rows, so
// that no sort is needed; nil when order does not matter or a sort is needed
// anyway.
func (p *selectPlan) orderWish() []wishColumn {
	if p.grouped {
		return p.extremeWish()
	}
	if p.distinct || len(p.windows) > 0 {
		return nil
	}
	var wish []wishColumn
	for _, k := range p.order {
		if k.expr.column == nil || k.expr.column.level != 0 {
			return nil
		}
		wish = append(wish, wishColumn{source: k.expr.column.source, slot: k.expr.column.ordinal, desc: k.desc})
	}
	return wish
}

// extremeWish lets MIN(c) or MAX(c) alone read one end of an index.
func (p *selectPlan) extremeWish() []wishColumn {
	if len(p.groupBy) > 0 || len(p.aggregates) != 1 {
		return nil
	}
	a := p.aggregates[0]
	if a.name != "MIN" && a.name != "MAX" || a.arg.column == nil || a.arg.column.level != 0 {
		return nil
	}
	return []wishColumn{{source: a.arg.column.source, slot: a.arg.column.ordinal, desc: a.name == "MAX"}}
}

// limitPlan is TOP, OFFSET and FETCH.
type limitPlan struct {
	top           *expr
	percent, ties bool
	offset, fetch *expr
}

// limit is a limitPlan's values in one execution.
type limit struct {
	offset, count int64
	limited       bool
	percent       float64
}

func (c *compiler) limits(top *tsql.Top, q *tsql.SelectQuery, b *block) (*limitPlan, error) {
	p := &limitPlan{}
	var err error
	compile := func(e tsql.Expr) (*expr, error) {
		if e == nil {
			return nil, nil
		}
		// TOP and OFFSET see variables and outer columns, not the block's own.
		var scope *block
		if b != nil {
			scope = &block{outer: b.outer}
		}
		x, err := c.expr(e, scope)
		return x, err
	}
	if top != nil {
		p.percent, p.ties = top.Percent, top.WithTies
		if p.top, err = compile(top.N); err != nil {
			return nil, err
		}
		if p.ties && len(q.OrderBy) == 0 {
			return nil, raise(1062, "The TOP N WITH TIES clause is not allowed without a corresponding ORDER BY clause.")
		}
	}
	if p.offset, err = compile(q.Offset); err != nil {
		return nil, err
	}
	if p.fetch, err = compile(q.Fetch); err != nil {
		return nil, err
	}
	if p.top != nil && p.offset != nil {
		return nil, raise(10741, "A TOP can not be used in the same query or sub-query as a OFFSET.")
	}
	return p, nil
}

func (p *limitPlan) evaluate(fr *frame) (limit, error) {
	var l limit
	get := func(e *expr) (int64, error) {
		v, err := e.eval(fr)
		if err != nil {
			return 0, err
		}
		if v.IsNull() {
			return 0, sqltypes.Errorf(1060, 1, 15, "The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.")
		}
		w, err := sqltypes.Convert(v, e.typ, typeBigInt, 0)
		if err == nil && w.Int64() < 0 {
			err = sqltypes.Errorf(1060, 1, 15, "The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.")
		}
		return w.Int64(), err
	}
	var err error
	if p.top != nil {
		if p.percent {
			v, err := p.top.eval(fr)
			if err != nil {
				return l, err
			}
			if v, err = sqltypes.Convert(v, p.top.typ, sqltypes.Simple(sqltypes.Float), 0); err != nil {
				return l, err
			}
			l.percent = v.Float64()
			return l, nil
		}
		l.limited = true
		if l.count, err = get(p.top); err != nil {
			return l, err
		}
	}
	if p.offset != nil {
		if l.offset, err = get(p.offset); err != nil {
			return l, err
		}
	}
	if p.fetch != nil {
		l.limited = true
		if l.count, err = get(p.fetch); err != nil {
			return l, err
		}
	}
	return l, nil
}
