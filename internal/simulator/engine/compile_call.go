package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/builtin"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// call compiles a function call: aggregate, window, conditional, system, built-in
// or user-defined, in the order in which T-SQL gives the names.
func (c *compiler) call(f *tsql.FuncCall, b *block) (*expr, error) {
	name := strings.ToUpper(f.Name.Base())
	if len(f.Name.Parts) > 1 {
		if m := c.columnMethod(f, b); m != nil {
			return c.method(m, b)
		}
		return c.userCall(f, b)
	}
	if !c.x.in.knowsFunction(name) {
		return nil, errUnknownFunction(f.Name.Base())
	}
	if f.Over != nil {
		return c.windowCall(name, f, b)
	}
	if isAggregate(name) {
		return c.aggregateCall(name, f, b)
	}
	switch name {
	case "IIF":
		if len(f.Args) != 3 {
			return nil, argumentCount("iif", 3)
		}
		k, err := c.cond(f.Args[0], b)
		if err != nil {
			return nil, err
		}
		results, err := c.exprs(f.Args[1:], b)
		if err != nil {
			return nil, err
		}
		return chooser([]*cond{k}, results)
	case "COALESCE":
		return c.coalesce(f, b)
	case "ISNULL":
		return c.isNullCall(f, b)
	case "NULLIF":
		return c.nullif(f, b)
	case "CHOOSE":
		return c.choose(f, b)
	case "GROUPING", "GROUPING_ID":
		return c.groupingCall(name, f, b)
	case sequentialIDName:
		return nil, errSequentialID()
	}
	if sf, ok := systemFunctions[name]; ok {
		return c.systemCall(sf, f, b)
	}
	if name == "TYPEPROPERTY" {
		return nil, unsupported("The function " + name)
	}
	return c.builtinCall(name, f.Args, b)
}

func argumentCount(name string, n int) error {
	return sqltypes.Errorf(174, 1, 15, "The %s function requires %d argument(s).", name, n)
}

func (c *compiler) coalesce(f *tsql.FuncCall, b *block) (*expr, error) {
	list, err := c.exprs(f.Args, b)
	if err != nil {
		return nil, err
	}
	allNull := true
	for _, e := range list {
		allNull = allNull && e.typ.ID == sqltypes.Unknown
	}
	if allNull {
		return nil, raise(4127, "At least one of the arguments to COALESCE must be an expression that is not the NULL constant.")
	}
	t, err := commonType(list)
	if err != nil {
		return nil, err
	}
	nullable := true
	for i := range list {
		nullable = nullable && list[i].nullable
		list[i] = implicit(list[i], t)
	}
	out := derived(t, list...)
	out.nullable = nullable
	out.eval = func(fr *frame) (value, error) {
		for _, e := range list {
			v, err := e.eval(fr)
			if err != nil || !v.IsNull() {
				return v, err
			}
		}
		return value{}, nil
	}
	return fold1(out), nil
}

// isNullCall has the type of its first argument (MS docs: ISNULL).
func (c *compiler) isNullCall(f *tsql.FuncCall, b *block) (*expr, error) {
	if len(f.Args) != 2 {
		return nil, argumentCount("isnull", 2)
	}
	list, err := c.exprs(f.Args, b)
	if err != nil {
		return nil, err
	}
	t := list[0].typ
	if t.ID == sqltypes.Unknown {
		t = list[1].typ
	}
	x, y := implicit(list[0], t), implicit(list[1], t)
	out := derived(t, x, y)
	out.nullable = x.nullable && y.nullable
	out.eval = func(fr *frame) (value, error) {
		v, err := x.eval(fr)
		if err != nil || !v.IsNull() {
			return v, err
		}
		return y.eval(fr)
	}
	return fold1(out), nil
}

func (c *compiler) nullif(f *tsql.FuncCall, b *block) (*expr, error) {
	if len(f.Args) != 2 {
		return nil, argumentCount("nullif", 2)
	}
	k, err := c.comparison("=", f.Args[0], f.Args[1], b)
	if err != nil {
		return nil, err
	}
	x, err := c.expr(f.Args[0], b)
	if err != nil {
		return nil, err
	}
	null := constExpr(value{}, sqltypes.Type{})
	return chooser([]*cond{k}, []*expr{null, x})
}

func (c *compiler) choose(f *tsql.FuncCall, b *block) (*expr, error) {
	list, err := c.exprs(f.Args, b)
	if err != nil {
		return nil, err
	}
	if len(list) < 2 {
		return nil, argumentCount("choose", 2)
	}
	index, items := list[0], list[1:]
	t, err := commonType(items)
	if err != nil {
		return nil, err
	}
	for i := range items {
		items[i] = implicit(items[i], t)
	}
	out := derived(t, list...)
	out.nullable = true
	out.eval = func(fr *frame) (value, error) {
		v, err := index.eval(fr)
		if err != nil || v.IsNull() {
			return value{}, err
		}
		n := v.Int64()
		if n < 1 || n > int64(len(items)) {
			return value{}, nil
		}
		return items[n-1].eval(fr)
	}
	return fold1(out), nil
}

// builtinEnv is what the built-in functions may know of a statement.
type builtinEnv struct{ *Exec }

// Session answers the settings that change results.
func (e builtinEnv) Session() builtin.Session {
	return builtin.Session{DateFirst: e.s.dateFirst, Collation: e.collation(), Rand: e.s.rand}
}

func (c *compiler) builtinCall(name string, args []tsql.Expr, b *block) (*expr, error) {
	f, ok := builtin.Lookup(name)
	if !ok {
		return nil, c.x.in.errNoFunction(name)
	}
	if len(args) < f.MinArgs || f.MaxArgs >= 0 && len(args) > f.MaxArgs {
		return nil, argumentCount(strings.ToLower(name), f.MinArgs)
	}
	list := make([]*expr, len(args))
	types := make([]sqltypes.Type, len(args))
	for i, a := range args {
		var err error
		if i == 0 && f.DatePart {
			ref, ok := a.(*tsql.ColumnRef)
			if !ok {
				return nil, sqltypes.Errorf(1023, 1, 15, "Invalid parameter 1 specified for %s.", strings.ToLower(name))
			}
			list[i] = constExpr(sqltypes.StringOf(ref.Base()), sqltypes.VarCharOf(30))
		} else if list[i], err = c.expr(a, b); err != nil {
			return nil, err
		}
		types[i] = list[i].typ
	}
	t, err := f.ResultType(types)
	if err != nil {
		return nil, err
	}
	if t.ID.IsText() && t.Collation == nil {
		t.Collation = c.x.collation()
	}
	out := derived(t, list...)
	out.nullable = true
	out.volatile = out.volatile || name == "NEWID" || name == "RAND" || name == "CRYPT_GEN_RANDOM"
	if b != nil && out.volatile {
		b.volatile = true
	}
	out.constant = out.constant && f.Deterministic
	out.eval = func(fr *frame) (value, error) {
		var buf [6]value
		vals := buf[:0]
		for _, e := range list {
			v, err := e.eval(fr)
			if err != nil {
				return value{}, err
			}
			vals = append(vals, v)
		}
		return f.Eval(builtinEnv{fr.x}, vals, types)
	}
	if out.constant {
		x := c.x
		inner := out.eval
		out.eval = func(fr *frame) (value, error) {
			if fr == nil {
				fr = &frame{x: x}
			}
			return inner(fr)
		}
	}
	return fold1(out), nil
}

// systemFunction is a function that reads the session or the catalogue.
type systemFunction struct {
	min, max int
	// params are the types that the arguments are converted to; the last one is
	// used for all further arguments.
	params []sqltypes.Type
	result sqltypes.Type
	eval   func(x *Exec, args []value) (value, error)
}

func (c *compiler) systemCall(sf *systemFunction, f *tsql.FuncCall, b *block) (*expr, error) {
	if len(f.Args) < sf.min || len(f.Args) > sf.max {
		return nil, argumentCount(strings.ToLower(f.Name.Base()), sf.min)
	}
	list, err := c.exprs(f.Args, b)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i] = implicit(list[i], sf.params[min(i, len(sf.params)-1)])
	}
	t := sf.result
	if t.ID.IsText() {
		t.Collation = c.x.collation()
	}
	out := derived(t, list...)
	out.nullable, out.constant = true, false
	out.eval = func(fr *frame) (value, error) {
		vals := make([]value, len(list))
		for i, e := range list {
			v, err := e.eval(fr)
			if err != nil {
				return value{}, err
			}
			vals[i] = v
		}
		return sf.eval(fr.x, vals)
	}
	return out, nil
}

// userCall compiles schema.function(...) of a registered or T-SQL function.
func (c *compiler) userCall(f *tsql.FuncCall, b *block) (*expr, error) {
	db, err := c.database(f.Name)
	if err != nil {
		return nil, err
	}
	schema, name := f.Name.Schema(), f.Name.Base()
	c.objects = append(c.objects, hookName(schema, name))
	if fn, ok := c.x.in.hooks.functions[hookName(schema, name)]; ok {
		args, err := c.arguments(name, f.Args, fn.Params, b)
		if err != nil {
			return nil, err
		}
		out := derived(fn.Returns, args...)
		out.nullable, out.constant = true, false
		out.eval = func(fr *frame) (value, error) {
			vals, err := evalAll(fr, args)
			if err != nil {
				return value{}, err
			}
			return fn.Call(fr.x.within(db), vals)
		}
		return out, nil
	}
	m := c.catalog(db).module(schema, name)
	if s := c.catalog(db).synonym(schema, name); s != nil {
		call := *f
		call.Name = s.target()
		return c.userCall(&call, b)
	}
	if m == nil || m.Kind != KindScalarFunction {
		if strings.EqualFold(schema, "sys") {
			return nil, errInvalidObject(f.Name.String())
		}
		return nil, raise(4121, "Cannot find either column \"%s\" or the user-defined function or aggregate \"%s\", or the name is ambiguous.", f.Name.Parts[0], f.Name.String())
	}
	fn, err := c.x.in.module(m)
	if err != nil {
		return nil, err
	}
	params, ret, err := c.x.within(db).functionTypes(fn)
	if err != nil {
		return nil, err
	}
	args, err := c.arguments(name, f.Args, params, b)
	if err != nil {
		return nil, err
	}
	out := derived(ret, args...)
	out.nullable, out.constant = true, false
	out.eval = func(fr *frame) (value, error) {
		vals, err := evalAll(fr, args)
		if err != nil {
			return value{}, err
		}
		return fr.x.callScalar(db, m, fn, vals, ret)
	}
	return out, nil
}

// arguments matches a call's arguments with parameters: DEFAULT takes the
// parameter's default, too few or too many is error 313 or 8144.
func (c *compiler) arguments(name string, list []tsql.Expr, params []Param, b *block) ([]*expr, error) {
	if len(list) > len(params) {
		return nil, raise(8144, "Procedure or function %s has too many arguments specified.", name)
	}
	if len(list) < len(params) {
		return nil, sqltypes.Errorf(313, 2, 16, "An insufficient number of arguments were supplied for the procedure or function %s.", name)
	}
	args := make([]*expr, len(list))
	for i, e := range list {
		if _, ok := e.(*tsql.DefaultValue); ok {
			if params[i].Default == nil {
				return nil, raise(201, "Procedure or function '%s' expects parameter '%s', which was not supplied.", name, params[i].Name)
			}
			args[i] = constExpr(*params[i].Default, params[i].Type)
			continue
		}
		x, err := c.expr(e, b)
		if err != nil {
			return nil, err
		}
		args[i] = assigned(x, params[i].Type)
	}
	return args, nil
}

// assigned converts as assignment to a variable of the type does.
func assigned(e *expr, to sqltypes.Type) *expr {
	from := e.typ
	out := derived(to, e)
	out.eval = func(fr *frame) (value, error) {
		v, err := e.eval(fr)
		if err != nil || v.IsNull() {
			return value{}, err
		}
		return sqltypes.Assign(v, from, to, "")
	}
	return out
}

func evalAll(fr *frame, list []*expr) ([]value, error) {
	vals := make([]value, len(list))
	for i, e := range list {
		v, err := e.eval(fr)
		if err != nil {
			return nil, err
		}
		vals[i] = v
	}
	return vals, nil
}
