package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// cond compiles a Boolean expression.
func (c *compiler) cond(e tsql.Expr, b *block) (*cond, error) {
	return c.condition(e, b, false)
}

// condition compiles a Boolean expression, negated when negate is set: NOT moves
// down to the comparisons, where the planner can use them for ranges.
func (c *compiler) condition(e tsql.Expr, b *block, negate bool) (*cond, error) {
	switch e := e.(type) {
	case *tsql.Unary:
		if e.Op == "NOT" {
			return c.condition(e.X, b, !negate)
		}
	case *tsql.Binary:
		switch e.Op {
		case "AND", "OR":
			l, err := c.condition(e.L, b, negate)
			if err != nil {
				return nil, err
			}
			r, err := c.condition(e.R, b, negate)
			if err != nil {
				return nil, err
			}
			if (e.Op == "AND") != negate {
				return andConds(append(conjuncts(l), conjuncts(r)...)), nil
			}
			return orConds(append(disjuncts(l), disjuncts(r)...)), nil
		case "=", "<>", "<", "<=", ">", ">=":
			op := e.Op
			if negate {
				op = negateOp(op)
			}
			return c.comparison(op, e.L, e.R, b)
		}
	case *tsql.Between:
		return c.between(e, b, e.Not != negate)
	case *tsql.IsNull:
		return c.isNull(e, b, e.Not != negate)
	case *tsql.IsDistinct:
		return c.isDistinct(e, b, e.Not != negate)
	case *tsql.Like:
		return c.like(e, b, e.Not != negate)
	case *tsql.In:
		if e.Query != nil {
			return c.inQuery(e, b, e.Not != negate)
		}
		return c.in(e, b, e.Not != negate)
	case *tsql.Exists:
		return c.exists(e.Query, b, negate)
	case *tsql.Quantified:
		return c.quantified(e, b, negate)
	case *tsql.FuncCall:
		if fold(e.Name.Base()) == "update" {
			k, err := c.updateCond(e)
			if err != nil || !negate {
				return k, err
			}
			plain := k.eval
			return &cond{volatile: true, eval: func(fr *frame) (tri, error) {
				t, err := plain(fr)
				return t.not(), err
			}}, nil
		}
		if fold(e.Name.Base()) == "contains" || fold(e.Name.Base()) == "freetext" {
			return nil, unsupported("Full-text search")
		}
	}
	return nil, sqltypes.Errorf(4145, 1, 15, "An expression of non-boolean type specified in a context where a condition is expected, near '%s'.", nearby(e))
}

func nearby(e tsql.Expr) string {
	if l, ok := e.(*tsql.Literal); ok {
		return l.Text
	}
	if r, ok := e.(*tsql.ColumnRef); ok {
		return r.Base()
	}
	return ")"
}

func disjuncts(c *cond) []*cond {
	if c.or == nil {
		return []*cond{c}
	}
	return c.or
}

func (c *compiler) comparison(op string, l, r tsql.Expr, b *block) (*cond, error) {
	x, err := c.expr(l, b)
	if err != nil {
		return nil, err
	}
	y, err := c.expr(r, b)
	if err != nil {
		return nil, err
	}
	return c.compare(op, x, y)
}

// compare builds a comparison of two compiled expressions.
func (c *compiler) compare(op string, l, r *expr) (*cond, error) {
	t, err := comparisonType(op, l, r)
	if err != nil {
		return nil, err
	}
	out := &cond{uses: l.uses | r.uses, volatile: l.volatile || r.volatile}
	out.addComparison(l, op, r)
	out.addComparison(r, flipOp(op), l)
	x, y := comparand(l, t), comparand(r, t)
	want := compareTable(op)
	out.eval = func(fr *frame) (tri, error) {
		a, err := x.eval(fr)
		if err != nil {
			return unknown, err
		}
		z, err := y.eval(fr)
		if err != nil {
			return unknown, err
		}
		if a.IsNull() || z.IsNull() {
			return unknown, nil
		}
		return want[compareValues(a, z, t)+1], nil
	}
	return out, nil
}

// compareTable answers an operator for the outcomes -1, 0 and 1.
func compareTable(op string) [3]tri {
	return [3]tri{triOf(compareOp(op, -1)), triOf(compareOp(op, 0)), triOf(compareOp(op, 1))}
}

func (k *cond) addComparison(col *expr, op string, val *expr) {
	if col.column == nil || col.column.level != 0 || op == "<>" {
		return
	}
	if val.uses&(1<<col.column.source) != 0 || val.volatile {
		return
	}
	k.compare = append(k.compare, comparison{column: col.column, op: op, value: val})
}

// comparisonType is the type in which two expressions are compared. Text, ntext
// and image cannot be (error 402).
func comparisonType(op string, l, r *expr) (sqltypes.Type, error) {
	if l.typ.ID == sqltypes.Unknown && r.typ.ID == sqltypes.Unknown {
		return typeInt, nil
	}
	if l.typ.ID == sqltypes.Unknown {
		return r.typ, nil
	}
	if r.typ.ID == sqltypes.Unknown {
		return l.typ, nil
	}
	for _, id := range []sqltypes.ID{l.typ.ID, r.typ.ID} {
		if id == sqltypes.Text || id == sqltypes.NText || id == sqltypes.Image {
			return l.typ, raise(402, "The data types %s and %s are incompatible in the equal to operator.", l.typ.Name(), r.typ.Name())
		}
	}
	t, err := sqltypes.Common(l.typ, r.typ)
	if err != nil {
		return t, err
	}
	if collation, k := joinCollations(l, r); t.ID.IsText() && collation != nil {
		t.Collation = collation
		return t, k.conflictIn(operationNames[op], collation)
	}
	return t, nil
}

// comparand brings an expression into the type of a comparison. A decimal keeps
// its own scale, which a common type of 38 digits may be too narrow for.
func comparand(e *expr, t sqltypes.Type) *expr {
	if t.ID.IsDecimal() && e.typ.ID.IsDecimal() {
		return e
	}
	if t.ID.IsDecimal() && e.typ.ID.IsInteger() {
		return implicit(e, sqltypes.NumericOf(19, 0))
	}
	return implicit(e, t)
}

func (c *compiler) between(e *tsql.Between, b *block, negate bool) (*cond, error) {
	low, high := ">=", "<="
	if negate {
		low, high = "<", ">"
	}
	l, err := c.comparison(low, e.X, e.Low, b)
	if err != nil {
		return nil, err
	}
	h, err := c.comparison(high, e.X, e.High, b)
	if err != nil {
		return nil, err
	}
	if negate {
		return orConds([]*cond{l, h}), nil
	}
	return andConds([]*cond{l, h}), nil
}

func (c *compiler) isNull(e *tsql.IsNull, b *block, negate bool) (*cond, error) {
	x, err := c.expr(e.X, b)
	if err != nil {
		return nil, err
	}
	return &cond{uses: x.uses, volatile: x.volatile, eval: func(fr *frame) (tri, error) {
		v, err := x.eval(fr)
		return triOf(v.IsNull() != negate), err
	}}, nil
}

// isDistinct compares with NULL as a value of its own (MS docs: IS [NOT]
// DISTINCT FROM).
func (c *compiler) isDistinct(e *tsql.IsDistinct, b *block, negate bool) (*cond, error) {
	if !c.x.in.AtLeast(Release2022) {
		return nil, sqltypes.Errorf(156, 1, 15, "Incorrect syntax near the keyword 'DISTINCT'.")
	}
	l, err := c.expr(e.L, b)
	if err != nil {
		return nil, err
	}
	r, err := c.expr(e.R, b)
	if err != nil {
		return nil, err
	}
	t, err := comparisonType("=", l, r)
	if err != nil {
		return nil, err
	}
	l, r = comparand(l, t), comparand(r, t)
	return &cond{uses: l.uses | r.uses, eval: func(fr *frame) (tri, error) {
		a, err := l.eval(fr)
		if err != nil {
			return unknown, err
		}
		z, err := r.eval(fr)
		if err != nil {
			return unknown, err
		}
		distinct := a.IsNull() != z.IsNull() || !a.IsNull() && compareValues(a, z, t) != 0
		return triOf(distinct != negate), nil
	}}, nil
}

func (c *compiler) like(e *tsql.Like, b *block, negate bool) (*cond, error) {
	list, err := c.exprs([]tsql.Expr{e.X, e.Pattern}, b)
	if err != nil {
		return nil, err
	}
	x, p := list[0], list[1]
	t := sqltypes.VarCharOf(sqltypes.Max)
	if x.typ.ID.IsNational() || p.typ.ID.IsNational() {
		t = sqltypes.NVarCharOf(sqltypes.Max)
	}
	collation, k := joinCollations(x, p)
	if err := k.conflictIn("like", collation); err != nil {
		return nil, err
	}
	if t.Collation = collation; collation == nil {
		t.Collation = c.x.collation()
	}
	escape := constExpr(value{}, t)
	if e.Escape != nil {
		if escape, err = c.expr(e.Escape, b); err != nil {
			return nil, err
		}
	}
	x, p = implicit(x, t), implicit(p, t)
	return &cond{uses: x.uses | p.uses | escape.uses, eval: func(fr *frame) (tri, error) {
		v, err := x.eval(fr)
		if err != nil {
			return unknown, err
		}
		pv, err := p.eval(fr)
		if err != nil {
			return unknown, err
		}
		ev, err := escape.eval(fr)
		if err != nil {
			return unknown, err
		}
		if v.IsNull() || pv.IsNull() {
			return unknown, nil
		}
		esc := rune(-1)
		if !ev.IsNull() {
			for _, r := range ev.Str() {
				esc = r
				break
			}
		}
		return triOf(sqltypes.Like(v.Str(), pv.Str(), esc, t) != negate), nil
	}}, nil
}

func (c *compiler) in(e *tsql.In, b *block, negate bool) (*cond, error) {
	x, err := c.expr(e.X, b)
	if err != nil {
		return nil, err
	}
	var list []*cond
	in := &inList{}
	seekable := x.column != nil && x.column.level == 0
	for _, item := range e.List {
		y, err := c.expr(item, b)
		if err != nil {
			return nil, err
		}
		k, err := c.compare("=", x, y)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
		in.values = append(in.values, y)
		seekable = seekable && y.uses&x.uses == 0 && !y.volatile
	}
	result := &cond{or: list, volatile: x.volatile}
	for _, k := range list {
		result.uses |= k.uses
	}
	plain := orConds(list)
	result.eval = plain.eval
	if negate {
		return &cond{uses: result.uses, volatile: result.volatile, eval: func(fr *frame) (tri, error) {
			t, err := plain.eval(fr)
			return t.not(), err
		}}, nil
	}
	if seekable {
		in.column = x.column
		result.in = in
		result.or = nil
	}
	return result, nil
}
