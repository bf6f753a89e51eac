package engine

import (
	"sort"
	"strconv"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// setOperation compiles UNION, UNION ALL, EXCEPT and INTERSECT.
func (c *compiler) setOperation(s *tsql.SetOperation, outer *block, ctes map[string]*cteDef) (*queryPlan, error) {
	l, err := c.queryBody(s.L, outer, ctes)
	if err != nil {
		return nil, err
	}
	r, err := c.queryBody(s.R, outer, ctes)
	if err != nil {
		return nil, err
	}
	if len(l.columns) != len(r.columns) {
		return nil, errSetColumns()
	}
	out := &queryPlan{outerUses: l.outerUses | r.outerUses, volatile: l.volatile || r.volatile}
	types := make([]sqltypes.Type, len(l.columns))
	for i := range l.columns {
		lt, rt := l.columns[i].typ, r.columns[i].typ
		switch {
		case lt.ID == sqltypes.Unknown:
			types[i] = rt
		case rt.ID == sqltypes.Unknown:
			types[i] = lt
		default:
			if types[i], err = sqltypes.Common(lt, rt); err != nil {
				return nil, err
			}
		}
		d := l.columns[i]
		d.typ = types[i]
		d.nullable = d.nullable || r.columns[i].nullable
		d.mask = joinMasks(d.mask, r.columns[i].mask)
		d.identity, d.computed, d.updatable, d.table = false, false, false, ""
		out.columns = append(out.columns, d)
	}
	left, right := converted(l, types), converted(r, types)
	switch s.Op {
	case tsql.UnionAll:
		out.run = func(x *Exec, outer *frame, emit func([]value) error) error {
			if err := left(x, outer, emit); err != nil {
				return err
			}
			return right(x, outer, emit)
		}
	case tsql.Union:
		out.run = func(x *Exec, outer *frame, emit func([]value) error) error {
			seen := newRowSet(types)
			once := func(row []value) error {
				if _, added := seen.add(row); !added {
					return nil
				}
				return emit(row)
			}
			if err := left(x, outer, once); err != nil {
				return err
			}
			return right(x, outer, once)
		}
	default:
		wanted := s.Op == tsql.Intersect
		out.run = func(x *Exec, outer *frame, emit func([]value) error) error {
			other, seen := newRowSet(types), newRowSet(types)
			err := right(x, outer, func(row []value) error {
				other.add(row)
				return nil
			})
			if err != nil {
				return err
			}
			return left(x, outer, func(row []value) error {
				if (other.find(row) >= 0) != wanted {
					return nil
				}
				if _, added := seen.add(row); !added {
					return nil
				}
				return emit(row)
			})
		}
	}
	return out, nil
}

// converted runs a plan with its columns in the given types.
func converted(q *queryPlan, types []sqltypes.Type) func(x *Exec, outer *frame, emit func([]value) error) error {
	from := q.types()
	plain := true
	for i := range types {
		plain = plain && !needsConversion(from[i], types[i])
	}
	if plain {
		return q.run
	}
	return func(x *Exec, outer *frame, emit func([]value) error) error {
		buf := make([]value, len(types))
		return q.run(x, outer, func(row []value) error {
			for i, v := range row {
				var err error
				if buf[i], err = convertValue(v, from[i], types[i]); err != nil {
					return err
				}
			}
			return emit(buf)
		})
	}
}

// setQuery compiles a set operation with its ORDER BY, OFFSET and FETCH.
func (c *compiler) setQuery(q *tsql.SelectQuery, outer *block, ctes map[string]*cteDef) (*queryPlan, error) {
	body, err := c.queryBody(q.Body, outer, ctes)
	if err != nil {
		return nil, err
	}
	if len(q.OrderBy) == 0 {
		return body, nil
	}
	keys := make([]int, len(q.OrderBy))
	order := make([]sortKey, len(q.OrderBy))
	for i, o := range q.OrderBy {
		at, err := outputColumn(o.Expr, body.columns, c.x.db.nameRules())
		if err != nil {
			return nil, err
		}
		if at < 0 {
			return nil, raise(104, "ORDER BY items must appear in the select list if the statement contains a UNION, INTERSECT or EXCEPT operator.")
		}
		keys[i] = at
		order[i] = sortKey{expr: &expr{typ: body.columns[at].typ}, desc: o.Desc}
	}
	limits, err := c.limits(nil, q, nil)
	if err != nil {
		return nil, err
	}
	out := *body
	out.spec = nil
	out.run = func(x *Exec, outer *frame, emit func([]value) error) error {
		var rows [][]value
		err := body.run(x, outer, func(row []value) error {
			rows = append(rows, append([]value(nil), row...))
			return nil
		})
		if err != nil {
			return err
		}
		sort.SliceStable(rows, func(i, j int) bool {
			for k, at := range keys {
				r := compareNullable(rows[i][at], rows[j][at], order[k].expr.typ)
				if order[k].desc {
					r = -r
				}
				if r != 0 {
					return r < 0
				}
			}
			return false
		})
		lim, err := limits.evaluate(&frame{x: x, outer: outer})
		if err != nil {
			return err
		}
		for i, row := range rows {
			if int64(i) < lim.offset {
				continue
			}
			if lim.limited && int64(i)-lim.offset >= lim.count {
				break
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	}
	return &out, nil
}

// outputColumn finds the column of the result that an ORDER BY item names by
// position or alias; -1 when it is some other expression.
func outputColumn(e tsql.Expr, cols []columnDesc, rules nameRules) (int, error) {
	switch e := e.(type) {
	case *tsql.Literal:
		if e.Kind != tsql.IntLiteral {
			return -1, raise(408, "A constant expression was encountered in the ORDER BY list, position %d.", 1)
		}
		n, err := strconv.Atoi(e.Text)
		if err != nil || n < 1 || n > len(cols) {
			return -1, raise(108, "The ORDER BY position number %s is out of range of the number of items in the select list.", e.Text)
		}
		return n - 1, nil
	case *tsql.ColumnRef:
		if len(e.Parts) != 1 {
			return -1, nil
		}
		found := -1
		for i := range cols {
			if !cols[i].unnamed && rules.same(cols[i].name, e.Base()) {
				if found >= 0 {
					return -1, raise(209, "Ambiguous column name '%s'.", e.Base())
				}
				found = i
			}
		}
		return found, nil
	}
	return -1, nil
}
