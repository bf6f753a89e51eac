package engine

import (
	"errors"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// subquery compiles a query inside an expression of block b.
func (c *compiler) subquery(q *tsql.SelectQuery, b *block) (*queryPlan, error) {
	outer := b
	if outer == nil {
		outer = &block{}
	}
	return c.query(q, outer)
}

// cachedRows holds the result of a subquery that does not depend on outer rows,
// for the length of one statement.
type cachedRows struct {
	scalar          value
	exists          bool
	set             *rowSet
	hasNull, loaded bool
}

func (x *Exec) cached(q *queryPlan) *cachedRows {
	if x.subqueries == nil {
		x.subqueries = map[*queryPlan]*cachedRows{}
	}
	c := x.subqueries[q]
	if c == nil {
		c = &cachedRows{}
		x.subqueries[q] = c
	}
	return c
}

func (c *compiler) scalarSubquery(sq *tsql.SelectQuery, b *block) (*expr, error) {
	q, err := c.subquery(sq, b)
	if err != nil {
		return nil, err
	}
	if len(q.columns) != 1 {
		return nil, raise(116, "Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.")
	}
	out := &expr{typ: q.columns[0].typ, nullable: true, uses: q.outerUses, volatile: q.volatile, json: q.json}
	out.eval = func(fr *frame) (value, error) {
		if q.outerUses != 0 {
			return scalarOf(q, fr)
		}
		k := fr.x.cached(q)
		if !k.loaded {
			v, err := scalarOf(q, fr)
			if err != nil {
				return v, err
			}
			k.scalar, k.loaded = v, true
		}
		return k.scalar, nil
	}
	return out, nil
}

func scalarOf(q *queryPlan, fr *frame) (value, error) {
	var v value
	n := 0
	err := q.run(fr.x, fr, func(row []value) error {
		if n++; n > 1 {
			return raise(512, "Subquery returned more than 1 value. This is not permitted when the subquery follows =, !=, <, <= , >, >= or when the subquery is used as an expression.")
		}
		v = row[0]
		return nil
	})
	return v, err
}

func (c *compiler) exists(sq *tsql.SelectQuery, b *block, negate bool) (*cond, error) {
	q, err := c.subquery(sq, b)
	if err != nil {
		return nil, err
	}
	return &cond{uses: q.outerUses, volatile: q.volatile, eval: func(fr *frame) (tri, error) {
		if q.outerUses != 0 {
			found, err := anyRow(q, fr)
			return triOf(found != negate), err
		}
		k := fr.x.cached(q)
		if !k.loaded {
			found, err := anyRow(q, fr)
			if err != nil {
				return unknown, err
			}
			k.exists, k.loaded = found, true
		}
		return triOf(k.exists != negate), nil
	}}, nil
}

func anyRow(q *queryPlan, fr *frame) (bool, error) {
	found := false
	err := q.run(fr.x, fr, func([]value) error {
		found = true
		return errStop
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return found, err
}

func (c *compiler) inQuery(e *tsql.In, b *block, negate bool) (*cond, error) {
	x, err := c.expr(e.X, b)
	if err != nil {
		return nil, err
	}
	q, err := c.subquery(e.Query, b)
	if err != nil {
		return nil, err
	}
	if len(q.columns) != 1 {
		return nil, raise(116, "Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.")
	}
	col := &expr{typ: q.columns[0].typ, coercion: coercion{rank: collationImplicit}}
	t, err := comparisonType("=", x, col)
	if err != nil {
		return nil, err
	}
	from := col.typ
	x = comparand(x, t)
	if t.ID.IsDecimal() && from.ID.IsDecimal() {
		t = from // whose scale the values keep
	}
	uses := x.uses | q.outerUses
	return &cond{uses: uses, volatile: q.volatile, eval: func(fr *frame) (tri, error) {
		v, err := x.eval(fr)
		if err != nil {
			return unknown, err
		}
		set, hasNull, err := inSet(q, fr, from, t)
		if err != nil {
			return unknown, err
		}
		result := no
		switch {
		case len(set.keys) == 0 && !hasNull:
		case v.IsNull():
			result = unknown
		case set.find([]value{v}) >= 0:
			result = yes
		case hasNull:
			result = unknown
		}
		if negate {
			return result.not(), nil
		}
		return result, nil
	}}, nil
}

// inSet reads a subquery's values into a set, once for the statement when it
// does not depend on outer rows.
func inSet(q *queryPlan, fr *frame, from, t sqltypes.Type) (*rowSet, bool, error) {
	var k *cachedRows
	if q.outerUses == 0 {
		if k = fr.x.cached(q); k.loaded {
			return k.set, k.hasNull, nil
		}
	}
	set, hasNull := newRowSet([]sqltypes.Type{t}), false
	err := q.run(fr.x, fr, func(row []value) error {
		if row[0].IsNull() {
			hasNull = true
			return nil
		}
		v, err := convertValue(row[0], from, t)
		if err == nil {
			set.add([]value{v})
		}
		return err
	})
	if err == nil && k != nil {
		k.set, k.hasNull, k.loaded = set, hasNull, true
	}
	return set, hasNull, err
}

// quantified compiles comparisons with ANY, SOME and ALL.
func (c *compiler) quantified(e *tsql.Quantified, b *block, negate bool) (*cond, error) {
	x, err := c.expr(e.X, b)
	if err != nil {
		return nil, err
	}
	q, err := c.subquery(e.Query, b)
	if err != nil {
		return nil, err
	}
	if len(q.columns) != 1 {
		return nil, raise(116, "Only one expression can be specified in the select list when the subquery is not introduced with EXISTS.")
	}
	item := &expr{typ: q.columns[0].typ, nullable: true, coercion: coercion{rank: collationImplicit}}
	t, err := comparisonType(e.Op, x, item)
	if err != nil {
		return nil, err
	}
	from := item.typ
	x = comparand(x, t)
	if t.ID.IsDecimal() && from.ID.IsDecimal() {
		t = from // whose scale the values keep
	}
	want := compareTable(e.Op)
	all := e.All
	return &cond{uses: x.uses | q.outerUses, volatile: q.volatile, eval: func(fr *frame) (tri, error) {
		v, err := x.eval(fr)
		if err != nil {
			return unknown, err
		}
		result := triOf(all)
		err = q.run(fr.x, fr, func(row []value) error {
			one := unknown
			if !v.IsNull() && !row[0].IsNull() {
				w, err := convertValue(row[0], from, t)
				if err != nil {
					return err
				}
				one = want[compareValues(v, w, t)+1]
			}
			switch {
			case all && one == no, !all && one == yes:
				result = one
				return errStop
			case one == unknown:
				result = unknown
			}
			return nil
		})
		if errors.Is(err, errStop) {
			err = nil
		}
		if negate {
			result = result.not()
		}
		return result, err
	}}, nil
}
