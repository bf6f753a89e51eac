package engine

import (
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// compiler turns one statement's syntax into closures. It holds what the
// statement's names mean at this moment; a plan is thrown away when one of the
// catalogues that it read has changed.
type compiler struct {
	x *Exec
	// deps are the catalogue versions that the plan depends on.
	deps []dependency
	// objects are the names for the fault hook.
	objects []string
	// uncached marks plans that must be compiled anew for each execution.
	uncached bool
	// readsTables is set when the statement reads a table of the catalogue.
	readsTables  bool
	maxRecursion int
	depth        int
	// sequences are those that the row at hand takes a value from; assigning is
	// set where a value is computed for a column or variable.
	sequences []int64
	assigning bool
	// rowIDs asks the next SELECT for its table's row id as a last value.
	rowIDs bool
	// module is set while a view's or function's body is compiled: names without
	// a schema belong to the module's database and schema.
	module *moduleScope
	masks  maskUse
}

type moduleScope struct {
	db     *Database
	schema string
}

// constExpr is a value known when compiling.
func constExpr(v value, t sqltypes.Type) *expr {
	return &expr{typ: t, nullable: v.IsNull(), constant: true, eval: func(*frame) (value, error) { return v, nil }}
}

// expr compiles a scalar expression.
func (c *compiler) expr(e tsql.Expr, b *block) (*expr, error) {
	if b != nil && b.grouped && b.phase == phaseSelect && b.inGroupKey == 0 {
		if at, ok := b.groupKeys[b.exprKey(e)]; ok {
			b.inGroupKey++
			k, err := c.plainExpr(e, b)
			b.inGroupKey--
			if err != nil {
				return nil, err
			}
			return b.groupValue(at, k), nil
		}
	}
	return c.plainExpr(e, b)
}

// plainExpr compiles an expression that is no grouping expression.
func (c *compiler) plainExpr(e tsql.Expr, b *block) (*expr, error) {
	switch e := e.(type) {
	case *tsql.Literal:
		return c.literal(e)
	case *tsql.Variable:
		return c.variable(e, b)
	case *tsql.GlobalVariable:
		return c.globalVariable(e)
	case *tsql.ColumnRef:
		return c.column(e, b)
	case *tsql.Unary:
		return c.unary(e, b)
	case *tsql.Binary:
		return c.binary(e, b)
	case *tsql.Case:
		return c.caseExpr(e, b)
	case *tsql.Cast:
		return c.cast(e.X, e.Type, nil, e.Try, b)
	case *tsql.Convert:
		return c.cast(e.X, e.Type, e.Style, e.Try, b)
	case *tsql.ParseCall:
		return c.parse(e, b)
	case *tsql.Collate:
		return c.collate(e, b)
	case *tsql.AtTimeZone:
		return c.atTimeZone(e, b)
	case *tsql.FuncCall:
		return c.call(e, b)
	case *tsql.Subquery:
		return c.scalarSubquery(e.Query, b)
	case *tsql.PseudoColumn:
		return c.pseudoColumn(e, b)
	case *tsql.NextValue:
		return c.nextValue(e, b)
	case *tsql.DefaultValue:
		return nil, raise(156, "Incorrect syntax near the keyword 'DEFAULT'.")
	case *tsql.IsNull, *tsql.IsDistinct, *tsql.Like, *tsql.In, *tsql.Between, *tsql.Exists, *tsql.Quantified:
		return nil, sqltypes.Errorf(102, 1, 15, "An expression of Boolean type is used where a value is expected.")
	case *tsql.MethodCall:
		return c.method(e, b)
	case *tsql.StaticMethod:
		return nil, unsupported("The static method " + e.Name)
	default:
		return nil, unsupported("This expression")
	}
}

// exprs compiles a list.
func (c *compiler) exprs(list []tsql.Expr, b *block) ([]*expr, error) {
	out := make([]*expr, len(list))
	for i, e := range list {
		x, err := c.expr(e, b)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

// literal gives a constant its type (MS docs: Constants).
func (c *compiler) literal(l *tsql.Literal) (*expr, error) {
	switch l.Kind {
	case tsql.NullLiteral:
		e := constExpr(value{}, sqltypes.Type{ID: sqltypes.Unknown})
		e.isNull = true
		return e, nil
	case tsql.IntLiteral:
		if n, err := strconv.ParseInt(l.Text, 10, 32); err == nil {
			return constExpr(sqltypes.IntOf(n), typeInt), nil
		}
		return decimalLiteral(l.Text)
	case tsql.DecimalLiteral:
		return decimalLiteral(l.Text)
	case tsql.FloatLiteral:
		f, err := strconv.ParseFloat(l.Text, 64)
		if err != nil {
			return nil, sqltypes.Errorf(168, 1, 15, "The floating point value '%s' is out of the range of computer representation (8 bytes).", l.Text)
		}
		return constExpr(sqltypes.FloatOf(f), sqltypes.Simple(sqltypes.Float)), nil
	case tsql.MoneyLiteral:
		text := sqltypes.VarCharOf(len(l.Text) + 1)
		t := sqltypes.Simple(sqltypes.Money)
		v, err := sqltypes.Convert(sqltypes.StringOf(l.Text), text, t, 0)
		if err != nil {
			return nil, err
		}
		return constExpr(v, t), nil
	case tsql.StringLiteral, tsql.NStringLiteral:
		national := l.Kind == tsql.NStringLiteral
		n := sqltypes.UTF16Len(l.Text)
		limit := 8000
		if national {
			limit = 4000
		}
		switch {
		case n > limit:
			n = sqltypes.Max
		case n == 0:
			n = 1
		}
		t := sqltypes.VarCharOf(n)
		if national {
			t = sqltypes.NVarCharOf(n)
		}
		t.Collation = c.x.collation()
		v := sqltypes.StringOf(l.Text)
		if !national {
			// Characters outside the database's code page become question marks.
			w, err := sqltypes.Convert(v, sqltypes.NVarCharOf(sqltypes.Max), t, 0)
			if err != nil {
				return nil, err
			}
			v = w
		}
		return constExpr(v, t), nil
	case tsql.BinaryLiteral:
		n := len(l.Text)
		switch {
		case n > 8000:
			n = sqltypes.Max
		case n == 0:
			n = 1
		}
		return constExpr(sqltypes.RawOf(l.Text), sqltypes.VarBinaryOf(n)), nil
	default:
		return nil, unsupported("This literal")
	}
}

func decimalLiteral(text string) (*expr, error) {
	digits := strings.TrimLeft(text, "0")
	scale := 0
	if i := strings.IndexByte(digits, '.'); i >= 0 {
		scale = len(digits) - i - 1
		digits = digits[:i] + digits[i+1:]
	}
	precision := max(len(digits), scale, 1)
	if precision > 38 {
		return nil, sqltypes.Errorf(1007, 1, 15, "The number '%s' is out of the range for numeric representation (maximum precision 38).", text)
	}
	t := sqltypes.NumericOf(uint8(precision), uint8(scale))
	v, err := sqltypes.Convert(sqltypes.StringOf(text), sqltypes.VarCharOf(len(text)), t, 0)
	if err != nil {
		return nil, err
	}
	return constExpr(v, t), nil
}

func (c *compiler) variable(v *tsql.Variable, b *block) (*expr, error) {
	if b != nil {
		if level, i, t, ok := b.param(v.Name); ok {
			return &expr{typ: t, nullable: true, uses: outerBit, eval: func(fr *frame) (value, error) {
				return fr.up(level).params[i], nil
			}}, nil
		}
	}
	slot, ok := c.x.scope.slots[fold(v.Name)]
	if !ok || c.module != nil {
		return nil, sqltypes.Errorf(137, 2, 15, "Must declare the scalar variable \"%s\".", v.Name)
	}
	return &expr{typ: c.x.scope.types[slot], nullable: true, eval: func(fr *frame) (value, error) {
		return fr.x.vars[slot], nil
	}}, nil
}

func (c *compiler) column(r *tsql.ColumnRef, b *block) (*expr, error) {
	if b == nil {
		if len(r.Parts) > 1 {
			return nil, raise(4104, "The multi-part identifier \"%s\" could not be bound.", r.Name.String())
		}
		return nil, sqltypes.Errorf(128, 1, 15, "The name \"%s\" is not permitted in this context. Valid expressions are constants, constant expressions, and (in some contexts) variables. Column names are not permitted.", r.Name.String())
	}
	use, err := b.resolve(r.Name)
	if err != nil {
		return nil, err
	}
	owner := b
	for range use.level {
		owner = owner.outer
	}
	if err := c.columnPermission(owner.sources[use.source], use); err != nil {
		return nil, err
	}
	owner.sources[use.source].noteRead(use.ordinal, b.phase == phaseWhere)
	c.meet(use.desc)
	if use.level == 0 && b.grouped && b.phase == phaseSelect && b.inGroupKey == 0 {
		at, ok := b.groupKeys[b.columnKey(use)]
		if !ok {
			src := b.sources[use.source]
			return nil, raise(8120, "Column '%s.%s' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.", src.alias, use.desc.name)
		}
		return b.groupValue(at, columnExpr(use)), nil
	}
	if err := b.groupedOutside(use); err != nil {
		return nil, err
	}
	return columnExpr(use), nil
}

func columnExpr(use *columnUse) *expr {
	e := &expr{typ: use.desc.typ, nullable: use.desc.nullable, column: use, coercion: coercion{rank: collationImplicit}}
	source, ordinal := use.source, use.ordinal
	switch use.level {
	case 0:
		e.uses = 1 << source
		e.eval = func(fr *frame) (value, error) { return fr.rows[source][ordinal], nil }
	case 1:
		e.uses = outerBit
		e.eval = func(fr *frame) (value, error) { return fr.outer.rows[source][ordinal], nil }
	default:
		e.uses = outerBit
		level := use.level
		e.eval = func(fr *frame) (value, error) { return fr.up(level).rows[source][ordinal], nil }
	}
	return e
}

func (c *compiler) pseudoColumn(e *tsql.PseudoColumn, b *block) (*expr, error) {
	if b == nil {
		return nil, errInvalidColumn(e.Name)
	}
	if e.Name == "$action" {
		return c.column(&tsql.ColumnRef{Name: tsql.Name{Parts: []string{"$action"}}}, b)
	}
	for i, src := range b.sources {
		for k := range src.columns {
			d := &src.columns[k]
			if e.Name == "$identity" && d.identity || e.Name == "$rowguid" && d.rowguid {
				c.meet(d)
				return columnExpr(&columnUse{source: i, ordinal: src.slot(k), desc: d}), nil
			}
		}
	}
	return nil, errInvalidColumn(e.Name)
}

func (c *compiler) unary(u *tsql.Unary, b *block) (*expr, error) {
	if u.Op == "NOT" {
		return nil, sqltypes.Errorf(156, 1, 15, "Incorrect syntax near the keyword 'NOT'.")
	}
	x, err := c.expr(u.X, b)
	if err != nil {
		return nil, err
	}
	if u.Op == "+" {
		return x, nil
	}
	t := x.typ
	apply := sqltypes.Negate
	if u.Op == "~" {
		apply = sqltypes.BitNot
	}
	if t.ID.IsText() && u.Op == "-" {
		return nil, raise(403, "Invalid operator for data type. Operator equals minus, type equals %s.", t.Name())
	}
	// 2147483648 is numeric as a literal; SQL Server keeps -2147483648 an int.
	if lit, ok := u.X.(*tsql.Literal); ok && u.Op == "-" && lit.Kind == tsql.IntLiteral {
		if n, err := strconv.ParseInt("-"+lit.Text, 10, 32); err == nil {
			return constExpr(sqltypes.IntOf(n), typeInt), nil
		}
	}
	if t.ID == sqltypes.Unknown {
		return x, nil
	}
	if t.ID == sqltypes.TinyInt && u.Op == "-" {
		t = sqltypes.Simple(sqltypes.SmallInt)
	}
	out := derived(t, x)
	out.eval = func(fr *frame) (value, error) {
		v, err := x.eval(fr)
		if err != nil || v.IsNull() {
			return value{}, err
		}
		return apply(v, t)
	}
	return fold1(out), nil
}

// derived starts an expression computed from others.
func derived(t sqltypes.Type, from ...*expr) *expr {
	e := &expr{typ: t, constant: true}
	for _, f := range from {
		if f == nil {
			continue
		}
		e.uses |= f.uses
		e.volatile = e.volatile || f.volatile
		e.nullable = e.nullable || f.nullable
		e.constant = e.constant && f.constant
	}
	if collation, k := joinCollations(from...); t.ID.IsText() && collation != nil {
		e.typ.Collation, e.coercion = collation, k
	}
	return e
}

// fold1 replaces a constant expression by its value; one that fails keeps
// failing when it runs, as SQL Server does.
func fold1(e *expr) *expr {
	if !e.constant || e.volatile {
		return e
	}
	v, err := e.eval(nil)
	if err != nil {
		return e
	}
	k := constExpr(v, e.typ)
	k.nullable, k.coercion = e.nullable, e.coercion
	return k
}

func (c *compiler) binary(o *tsql.Binary, b *block) (*expr, error) {
	switch o.Op {
	case "AND", "OR", "=", "<>", "<", "<=", ">", ">=":
		return nil, sqltypes.Errorf(102, 1, 15, "Incorrect syntax near '%s'.", o.Op)
	}
	l, err := c.expr(o.L, b)
	if err != nil {
		return nil, err
	}
	r, err := c.expr(o.R, b)
	if err != nil {
		return nil, err
	}
	return c.arithmetic(o.Op, narrowLiteral(o.L, l, r), narrowLiteral(o.R, r, l))
}

func (c *compiler) arithmetic(op string, l, r *expr) (*expr, error) {
	t, err := sqltypes.ResultType(op, l.typ, r.typ)
	if err != nil {
		return nil, err
	}
	out := derived(t, l, r)
	if out.coercion.rank == collationExplicit {
		if err := out.coercion.conflictIn("add", out.typ.Collation); err != nil {
			return nil, err
		}
	}
	lt, rt := l.typ, r.typ
	if lt.ID == sqltypes.Int && rt.ID == sqltypes.Int && (op == "+" || op == "-") {
		minus := op == "-"
		out.eval = func(fr *frame) (value, error) {
			a, err := l.eval(fr)
			if err != nil {
				return a, err
			}
			z, err := r.eval(fr)
			if err != nil || a.IsNull() || z.IsNull() {
				return value{}, err
			}
			n := a.Int64()
			if minus {
				n -= z.Int64()
			} else {
				n += z.Int64()
			}
			if n != int64(int32(n)) {
				return value{}, raise(8115, "Arithmetic overflow error converting expression to data type int.")
			}
			return sqltypes.IntOf(n), nil
		}
		return fold1(out), nil
	}
	out.eval = func(fr *frame) (value, error) {
		a, err := l.eval(fr)
		if err != nil {
			return a, err
		}
		z, err := r.eval(fr)
		if err != nil || a.IsNull() || z.IsNull() {
			return value{}, err
		}
		v, _, err := sqltypes.Arithmetic(op, a, lt, z, rt)
		return v, err
	}
	return fold1(out), nil
}

// needsConversion reports whether a value of one type must change its form to
// be one of the other.
func needsConversion(from, to sqltypes.Type) bool {
	if from.ID == sqltypes.Unknown {
		return false
	}
	switch {
	case from.ID.IsInteger() && to.ID.IsInteger():
		return from.ID > to.ID || to.ID == sqltypes.Bit && from.ID != to.ID
	case from.ID != to.ID:
		return true
	case from.ID.IsDecimal():
		return from.Scale != to.Scale || from.Precision > to.Precision
	case from.ID.IsText() || from.ID.IsBinary():
		fixed := to.ID == sqltypes.Char || to.ID == sqltypes.NChar || to.ID == sqltypes.Binary
		if fixed {
			return from.Length != to.Length
		}
		return to.Length != sqltypes.Max && (from.Length == sqltypes.Max || from.Length > to.Length)
	case from.ID == sqltypes.Time || from.ID == sqltypes.DateTime2 || from.ID == sqltypes.DateTimeOffset:
		return from.Scale > to.Scale
	}
	return false
}

// implicit converts an expression to another type where T-SQL does so by itself.
func implicit(e *expr, to sqltypes.Type) *expr {
	if e.typ.ID == sqltypes.Unknown {
		k := *e
		k.typ = to
		return &k
	}
	if !needsConversion(e.typ, to) {
		if e.typ == to {
			return e
		}
		k := *e
		k.typ = to
		k.column = nil
		return &k
	}
	from := e.typ
	out := derived(to, e)
	out.typ = to
	out.eval = func(fr *frame) (value, error) {
		v, err := e.eval(fr)
		if err != nil || v.IsNull() {
			return value{}, err
		}
		return sqltypes.Convert(v, from, to, 0)
	}
	return fold1(out)
}

// typeOf resolves a type as written, alias types included.
func (c *compiler) typeOf(n tsql.TypeName) (sqltypes.Type, error) {
	t, _, err := c.x.resolveType(n)
	return t, err
}

func (c *compiler) cast(x tsql.Expr, n tsql.TypeName, style tsql.Expr, try bool, b *block) (*expr, error) {
	e, err := c.expr(x, b)
	if err != nil {
		return nil, err
	}
	to, err := c.typeOf(n)
	if err != nil {
		return nil, err
	}
	if len(n.Args) == 0 && (to.ID == sqltypes.Char || to.ID == sqltypes.VarChar || to.ID == sqltypes.NChar || to.ID == sqltypes.NVarChar || to.ID == sqltypes.Binary || to.ID == sqltypes.VarBinary) && to.Length == 1 {
		// In CAST and CONVERT a length left out is 30 (MS docs: CAST and CONVERT).
		to.Length = 30
	}
	if to.ID.IsText() && e.typ.ID.IsText() && e.typ.Collation != nil {
		// Text keeps its collation (MS docs: Collation precedence); all else gets the
		// database's.
		to.Collation = e.typ.Collation
	}
	var st *expr
	if style != nil {
		if st, err = c.expr(style, b); err != nil {
			return nil, err
		}
	}
	from := e.typ
	out := derived(to, e, st)
	out.nullable = out.nullable || try
	out.eval = func(fr *frame) (value, error) {
		v, err := e.eval(fr)
		if err != nil || v.IsNull() {
			return value{}, err
		}
		k := 0
		if st != nil {
			sv, err := st.eval(fr)
			if err != nil || sv.IsNull() {
				return value{}, err
			}
			k = sqltypes.ExplicitStyle(int(sv.Int64()), from, to)
		}
		w, err := sqltypes.Convert(v, from, to, k)
		if e := asServerError(err); e != nil && try && e.Number != errNotAllowed {
			return value{}, nil
		}
		return w, err
	}
	return fold1(out), nil
}

// errNotAllowed is the error of types between which there is no conversion, which
// TRY_CAST and TRY_CONVERT raise too (MS docs, "TRY_CONVERT").
const errNotAllowed = 529

func (c *compiler) collate(e *tsql.Collate, b *block) (*expr, error) {
	x, err := c.expr(e.X, b)
	if err != nil {
		return nil, err
	}
	var col *sqltypes.Collation
	if strings.EqualFold(e.Collation, "DATABASE_DEFAULT") || strings.EqualFold(e.Collation, "CATALOG_DEFAULT") {
		col = c.x.collation()
	} else {
		if col, err = c.x.in.collation(e.Collation); err != nil {
			return nil, err
		}
	}
	if !x.typ.ID.IsText() && x.typ.ID != sqltypes.Unknown {
		return nil, raise(447, "Expression type %s is invalid for COLLATE clause.", x.typ.Name())
	}
	k := *x
	k.typ.Collation = col
	k.coercion = coercion{rank: collationExplicit}
	k.column = nil
	return &k, nil
}

func (c *compiler) caseExpr(e *tsql.Case, b *block) (*expr, error) {
	var conds []*cond
	var results []*expr
	for _, w := range e.Whens {
		var k *cond
		var err error
		if e.Operand != nil {
			k, err = c.comparison("=", e.Operand, w.When, b)
		} else {
			k, err = c.cond(w.When, b)
		}
		if err != nil {
			return nil, err
		}
		r, err := c.expr(w.Then, b)
		if err != nil {
			return nil, err
		}
		conds = append(conds, k)
		results = append(results, r)
	}
	otherwise := &expr{isNull: true, nullable: true, constant: true, eval: func(*frame) (value, error) { return value{}, nil }}
	if e.Else != nil {
		var err error
		if otherwise, err = c.expr(e.Else, b); err != nil {
			return nil, err
		}
	}
	return chooser(conds, append(results, otherwise))
}

// chooser is the expression whose value is the result of the first condition
// that holds, or the last result.
func chooser(conds []*cond, results []*expr) (*expr, error) {
	t, err := commonType(results)
	if err != nil {
		return nil, err
	}
	for i := range results {
		results[i] = implicit(results[i], t)
	}
	out := derived(t, results...)
	for _, k := range conds {
		out.uses |= k.uses
		out.volatile = out.volatile || k.volatile
	}
	out.constant = false
	last := results[len(results)-1]
	out.eval = func(fr *frame) (value, error) {
		for i, k := range conds {
			t, err := k.eval(fr)
			if err != nil {
				return value{}, err
			}
			if t == yes {
				return results[i].eval(fr)
			}
		}
		return last.eval(fr)
	}
	return out, nil
}

// commonType is the type of highest precedence among the expressions.
func commonType(list []*expr) (sqltypes.Type, error) {
	var t sqltypes.Type
	for _, e := range list {
		if e.typ.ID == sqltypes.Unknown {
			continue
		}
		if t.ID == sqltypes.Unknown {
			t = e.typ
			continue
		}
		var err error
		if t, err = sqltypes.Common(t, e.typ); err != nil {
			return t, err
		}
	}
	if t.ID == sqltypes.Unknown {
		t = typeInt
	}
	return t, nil
}
