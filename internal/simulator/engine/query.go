package engine

import (
	"maps"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// queryPlan is a compiled query expression.
type queryPlan struct {
	columns []columnDesc
	// outerUses are the sources of the enclosing block that the query reads.
	outerUses uint64
	volatile  bool
	// run emits the rows. The emitted slice is reused for the next row.
	run func(x *Exec, outer *frame, emit func(row []value) error) error
	// json says that the query's value is JSON text (FOR JSON).
	json bool
	// spec is set when the query is a single SELECT.
	spec *selectPlan
}

func (q *queryPlan) types() []sqltypes.Type {
	out := make([]sqltypes.Type, len(q.columns))
	for i := range q.columns {
		out[i] = q.columns[i].typ
	}
	return out
}

// query compiles a query expression with everything that belongs to it.
func (c *compiler) query(q *tsql.SelectQuery, outer *block) (*queryPlan, error) {
	return c.queryWith(q, outer, nil)
}

func (c *compiler) queryWith(q *tsql.SelectQuery, outer *block, ctes map[string]*cteDef) (*queryPlan, error) {
	if q.For != nil && q.For.Kind != "BROWSE" {
		return c.forQuery(q, outer, ctes)
	}
	ctes, err := c.withClause(q.With, outer, ctes)
	if err != nil {
		return nil, err
	}
	if q.Offset != nil && len(q.OrderBy) == 0 {
		return nil, sqltypes.Errorf(102, 1, 15, "Incorrect syntax near 'OFFSET'.")
	}
	switch body := q.Body.(type) {
	case *tsql.SelectSpec:
		return c.selectSpec(body, q, outer, ctes)
	default:
		return c.setQuery(q, outer, ctes)
	}
}

// withClause adds common table expressions to those in scope.
func (c *compiler) withClause(list []tsql.CTE, outer *block, ctes map[string]*cteDef) (map[string]*cteDef, error) {
	if len(list) == 0 {
		return ctes, nil
	}
	for i := range list {
		before := ctes
		ctes = maps.Clone(ctes)
		if ctes == nil {
			ctes = map[string]*cteDef{}
		}
		key := fold(list[i].Name)
		for k := range list[:i] {
			if fold(list[k].Name) == key {
				return nil, raise(239, "Duplicate common table expression name '%s' was specified.", list[i].Name)
			}
		}
		ctes[key] = &cteDef{name: list[i].Name, columns: list[i].Columns, query: list[i].Query, before: before, outer: outer}
	}
	return ctes, nil
}

// cteRef compiles a reference to a common table expression: each is a copy of
// the query, as SQL Server expands them.
func (c *compiler) cteRef(d *cteDef, level int, alias string, b *block) (*fromTree, error) {
	if d.recursing != nil {
		d.recursing.used = true
		b.noteOuter(1, outerBit)
		return b.add(&leaf{src: &source{alias: alias, columns: d.recursing.columns}, recurse: d.recursing})
	}
	q, err := c.cteQuery(d)
	if err != nil {
		return nil, err
	}
	cols, err := renamed(q.columns, d.columns, d.name, b.names)
	if err != nil {
		return nil, err
	}
	if q.outerUses != 0 {
		b.noteOuter(level+1, outerBit)
	}
	return b.add(&leaf{src: &source{alias: alias, columns: cols}, query: q, up: level + 1})
}

func (c *compiler) cteQuery(d *cteDef) (*queryPlan, error) {
	union, ok := d.query.Body.(*tsql.SetOperation)
	if !ok || union.Op != tsql.UnionAll {
		return c.queryWith(d.query, d.outer, d.before)
	}
	// A recursive expression names itself in the last member.
	ctes := maps.Clone(d.before)
	if ctes == nil {
		ctes = map[string]*cteDef{}
	}
	self := *d
	ctes[fold(d.name)] = &self
	anchor, err := c.queryBody(union.L, d.outer, d.before)
	if err != nil {
		return c.queryWith(d.query, d.outer, d.before)
	}
	rec := &recursion{}
	if rec.columns, err = renamed(anchor.columns, d.columns, d.name, c.x.db.nameRules()); err != nil {
		return nil, err
	}
	for i := range rec.columns {
		rec.columns[i].nullable = true
	}
	self.recursing = rec
	step, err := c.queryBody(union.R, d.outer, ctes)
	if err != nil {
		return nil, err
	}
	if !rec.used {
		return c.queryWith(d.query, d.outer, d.before)
	}
	if len(step.columns) != len(anchor.columns) {
		return nil, errSetColumns()
	}
	return c.recursive(rec, anchor, step), nil
}

// maxRecursion is the default of OPTION (MAXRECURSION).
const maxRecursion = 100

func (c *compiler) recursive(rec *recursion, anchor, step *queryPlan) *queryPlan {
	types := anchor.types()
	from := step.types()
	for i := range anchor.columns {
		anchor.columns[i].mask = joinMasks(anchor.columns[i].mask, step.columns[i].mask)
	}
	limit := c.maxRecursion
	return &queryPlan{
		columns: anchor.columns, outerUses: anchor.outerUses | step.outerUses,
		run: func(x *Exec, outer *frame, emit func([]value) error) error {
			var current [][]value
			err := anchor.run(x, outer, func(row []value) error {
				current = append(current, append([]value(nil), row...))
				return emit(row)
			})
			if x.recursions == nil {
				x.recursions = map[*recursion][][]value{}
			}
			saved := x.recursions[rec]
			defer func() { x.recursions[rec] = saved }()
			for depth := 0; err == nil && len(current) > 0; depth++ {
				if limit > 0 && depth >= limit {
					return raise(530, "The statement terminated. The maximum recursion %d has been exhausted before statement completion.", limit)
				}
				x.recursions[rec] = current
				current = nil
				err = step.run(x, outer, func(row []value) error {
					next := make([]value, len(row))
					for i, v := range row {
						var err error
						if next[i], err = convertValue(v, from[i], types[i]); err != nil {
							return err
						}
					}
					current = append(current, next)
					return emit(next)
				})
			}
			return err
		},
	}
}

func convertValue(v value, from, to sqltypes.Type) (value, error) {
	if v.IsNull() || !needsConversion(from, to) {
		return v, nil
	}
	return sqltypes.Convert(v, from, to, 0)
}

// queryBody compiles a body without ORDER BY.
func (c *compiler) queryBody(body tsql.QueryBody, outer *block, ctes map[string]*cteDef) (*queryPlan, error) {
	switch body := body.(type) {
	case *tsql.SelectSpec:
		return c.selectSpec(body, &tsql.SelectQuery{Body: body}, outer, ctes)
	case *tsql.ParenQuery:
		return c.queryBody(body.Body, outer, ctes)
	case *tsql.SetOperation:
		return c.setOperation(body, outer, ctes)
	default:
		return nil, unsupported("This query")
	}
}

func errSetColumns() error {
	return raise(205, "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an equal number of expressions in their target lists.")
}
