package engine

import (
	"errors"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// callArg is an argument of a procedure call, evaluated.
type callArg struct {
	Arg
	// slot is the caller's variable for an output argument, -1 for none.
	slot int
}

// execStmt is EXEC of a procedure or of strings.
func (x *Exec) execStmt(st *tsql.ExecStmt) error {
	if st.At != "" {
		return errNoServer(st.At)
	}
	if len(st.Strings) > 0 {
		return x.execStrings(st)
	}
	name := st.Proc
	if st.ProcVariable != "" {
		slot, ok := x.scope.slots[fold(st.ProcVariable)]
		if !ok {
			return sqltypes.Errorf(137, 2, 15, "Must declare the scalar variable \"%s\".", st.ProcVariable)
		}
		name = splitName(x.vars[slot].Str())
	}
	args, err := x.callArgs(st)
	if err != nil {
		return err
	}
	info := statementPlan{kind: "exec", objects: []string{procedureObject(name)}, text: x.textOf(st)}
	var status int32
	err = x.below(info, name.Base(), func() error {
		var err error
		status, err = x.callProcedure(name, args)
		return err
	})
	if err != nil {
		return err
	}
	for i := range args {
		if args[i].Output && args[i].slot >= 0 {
			v := args[i].Value
			if !v.IsNull() {
				if v, err = sqltypes.Assign(v, args[i].Type, x.scope.types[args[i].slot], ""); err != nil {
					return err
				}
			}
			x.vars[args[i].slot] = v
		}
	}
	if st.ReturnVar != "" {
		slot, ok := x.scope.slots[fold(st.ReturnVar)]
		if !ok {
			return sqltypes.Errorf(137, 2, 15, "Must declare the scalar variable \"%s\".", st.ReturnVar)
		}
		if x.vars[slot], err = sqltypes.Assign(sqltypes.IntOf(int64(status)), typeInt, x.scope.types[slot], ""); err != nil {
			return err
		}
	}
	if x.inProc {
		return nil
	}
	if err := x.sink.ReturnStatus(status); err != nil {
		return &sinkError{err}
	}
	return x.sink.Done(DoneInfo{EndProc: true, Command: CommandExec})
}

// procedureObject is a procedure's name for faults.
func procedureObject(n tsql.Name) string {
	if n.Schema() == "" {
		return fold(n.Base())
	}
	return hookName(n.Schema(), n.Base())
}

func (x *Exec) callArgs(st *tsql.ExecStmt) ([]callArg, error) {
	args := make([]callArg, len(st.Args))
	for i, a := range st.Args {
		c := &compiler{x: x}
		args[i] = callArg{Arg: Arg{Name: a.Name, Output: a.Output}, slot: -1}
		switch e := a.Value.(type) {
		case *tsql.DefaultValue:
			args[i].Default = true
			continue
		case *tsql.Variable:
			if slot, ok := x.scope.slots[fold(e.Name)]; ok {
				args[i].slot = slot
			}
			if table := x.scope.tables[fold(e.Name)]; table != nil {
				var err error
				if args[i].Table, err = x.tableArg(table); err != nil {
					return nil, err
				}
				continue
			}
		}
		k, err := c.expr(a.Value, nil)
		if err != nil {
			return nil, err
		}
		if args[i].Value, err = k.eval(&frame{x: x}); err != nil {
			return nil, err
		}
		args[i].Type = k.typ
	}
	return args, nil
}

// execStrings is EXEC ('...'): a batch of its own in the same session. Its + only
// joins texts, and variables of other types are converted (MS docs: EXECUTE).
func (x *Exec) execStrings(st *tsql.ExecStmt) error {
	var text strings.Builder
	c := &compiler{x: x}
	for _, e := range st.Strings {
		k, err := c.expr(e, nil)
		if err != nil {
			return err
		}
		v, err := k.eval(&frame{x: x})
		if err != nil {
			return err
		}
		if v, err = sqltypes.Implicit(v, k.typ, sqltypes.NVarCharOf(sqltypes.Max)); err != nil {
			return err
		}
		text.WriteString(v.Str())
	}
	info := statementPlan{kind: "exec", text: x.textOf(st)}
	return x.below(info, "", func() error {
		return x.nested(func() error { return x.runText(text.String(), nil, nil, nil, nil, nil) })
	})
}

// below runs a called procedure or string as a statement of the caller, which goes
// on when the scope below has ended for a statement that could not be compiled.
func (x *Exec) below(info statementPlan, procedure string, call func() error) error {
	before := x.s.tranCount()
	err := x.statement(info, call)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errScopeEnded):
		return x.checkTranCount(before, procedure)
	}
	return &belowError{err}
}

// runText runs a batch in a nested scope: its USE and SET statements end with it.
// declared is the parameter list of a statement that has one. from and args say
// where the parameters' values came from, as bind does.
func (x *Exec) runText(text string, declared *string, params []Param, values []value, from []int, args []callArg) error {
	prog, err := x.in.parse(text, !x.s.quotedOff)
	if err != nil {
		return err
	}
	y := x.child()
	if declared == nil {
		y.enter(planAdhoc, prog, "", 0)
	} else {
		y.enter(planPrepared, prog, "("+*declared+")", 0)
	}
	scope, err := y.declareParams(params, from, args)
	if err != nil {
		return err
	}
	before := x.s.tranCount()
	err = y.runScoped(prog, scope, values)
	copy(values, y.vars)
	if err != nil {
		return err
	}
	return x.checkTranCount(before, "")
}

// runScoped runs a module's body and restores the settings that SET changed in
// it, and the database.
func (x *Exec) runScoped(prog *tsql.Program, scope *variables, values []value) error {
	s := x.s
	saved, db := s.settings, s.currentDB()
	err := x.runProgram(prog, scope, values)
	identity := s.identityInsert
	s.settings = saved
	s.identityInsert = identity
	s.restored()
	if s.currentDB() != db {
		s.db.Store(db)
		if e := x.sink.EnvChange(EnvDatabase, []byte(db.Name()), nil); e != nil && err == nil {
			err = &sinkError{e}
		}
	}
	return err
}

// callProcedure runs a procedure by name. Output arguments are stored into args.
func (x *Exec) callProcedure(name tsql.Name, args []callArg) (int32, error) {
	if special := x.specialProcedure(name); special != nil {
		var status int32
		err := x.nested(func() error {
			var err error
			status, err = special(args)
			return err
		})
		return status, err
	}
	db := x.db
	if name.Database() != "" {
		if db = x.in.Database(name.Database()); db == nil {
			return 0, errNoProcedure(name)
		}
	}
	if p := x.goProcedure(db, name); p != nil {
		return x.callGo(db, name, p, args)
	}
	if s := x.procedureSynonym(db, name); s != nil {
		return x.callProcedure(s.target(), args)
	}
	m, mdb := x.findProcedure(db, name)
	if m == nil {
		return 0, errNoProcedure(name)
	}
	return x.callModule(mdb, m, args)
}

func errNoProcedure(name tsql.Name) error {
	return sqltypes.Errorf(2812, 62, 16, "Could not find stored procedure '%s'.", name.String())
}

// goProcedure finds a registered procedure. Those of sys are found without their
// schema, and under dbo, if their name begins with sp_ or xp_.
func (x *Exec) goProcedure(db *Database, name tsql.Name) *Procedure {
	schema, base := name.Schema(), name.Base()
	for _, prefix := range []string{"", fold(db.Name()) + "."} {
		if schema != "" {
			if p := x.in.hooks.procedures[prefix+hookName(schema, base)]; p != nil {
				return p
			}
		}
	}
	if schema == "" { // one that belongs to the database
		if p := x.in.hooks.procedures[fold(db.Name())+"."+hookName("dbo", base)]; p != nil {
			return p
		}
	}
	lower := fold(base)
	if (schema == "" || fold(schema) == "dbo") && (strings.HasPrefix(lower, "sp_") || strings.HasPrefix(lower, "xp_")) {
		return x.in.hooks.procedures[hookName("sys", base)]
	}
	return nil
}

func (x *Exec) findProcedure(db *Database, name tsql.Name) (*Module, *Database) {
	schemas := []string{name.Schema()}
	if name.Schema() == "" {
		schemas = []string{x.defaultSchema(db), "dbo"}
	}
	for _, s := range schemas {
		if m := x.catalog(db).module(s, name.Base()); m != nil && m.Kind == KindProcedure {
			return m, db
		}
	}
	if strings.HasPrefix(fold(name.Base()), "sp_") && db != x.in.master {
		if m := x.catalog(x.in.master).module("dbo", name.Base()); m != nil && m.Kind == KindProcedure {
			return m, db
		}
	}
	return nil, nil
}

// bind matches arguments with parameters by name or position. It returns the
// values and, for each parameter, the argument it came from or -1.
func bind(proc string, params []Param, args []callArg) ([]value, []int, error) {
	vals, from := make([]value, len(params)), make([]int, len(params))
	for i := range from {
		from[i] = -1
	}
	for i := range args {
		at := i
		if args[i].Name != "" {
			at = -1
			for k, p := range params {
				if strings.EqualFold(p.Name, args[i].Name) {
					at = k
				}
			}
			if at < 0 {
				return nil, nil, raise(8145, "%s is not a parameter for procedure %s.", args[i].Name, proc)
			}
		}
		if at >= len(params) {
			return nil, nil, sqltypes.Errorf(8144, 2, 16, "Procedure or function %s has too many arguments specified.", proc)
		}
		if from[at] >= 0 {
			return nil, nil, sqltypes.Errorf(8143, 1, 16, "Parameter '%s' was supplied multiple times.", params[at].Name)
		}
		if args[i].Output && !params[at].Output {
			return nil, nil, sqltypes.Errorf(8162, 2, 16, "The formal parameter \"%s\" was not declared as an OUTPUT parameter, but the actual parameter passed in requested output.", params[at].Name)
		}
		if args[i].Default {
			continue
		}
		if err := bindTable(params[at], args[i].Arg); err != nil {
			return nil, nil, err
		}
		from[at] = i
		v := args[i].Value
		if !v.IsNull() {
			var err error
			if v, err = sqltypes.Assign(v, args[i].Type, params[at].Type, ""); err != nil {
				return nil, nil, err
			}
		}
		vals[at] = v
	}
	for k, p := range params {
		if from[k] >= 0 || p.table != nil {
			continue
		}
		if p.Default == nil {
			return nil, nil, sqltypes.Errorf(201, 4, 16, "Procedure or function '%s' expects parameter '%s', which was not supplied.", proc, p.Name)
		}
		vals[k] = *p.Default
	}
	return vals, from, nil
}

// giveBack stores output parameters into the arguments they came from.
func giveBack(params []Param, vals []value, from []int, args []callArg) {
	for k, p := range params {
		if i := from[k]; p.Output && i >= 0 && args[i].Output {
			args[i].Value, args[i].Type = vals[k], p.Type
		}
	}
}

// callGo runs a procedure written in Go.
func (x *Exec) callGo(db *Database, name tsql.Name, p *Procedure, args []callArg) (int32, error) {
	vals, from, err := bind(name.Base(), p.Params, args)
	if err != nil {
		return 0, err
	}
	y := x.child()
	y.db, y.proc = db, name.Base()
	var status int32
	err = x.nested(func() error {
		return y.statement(statementPlan{kind: "procedure", data: !x.atomicFree(name)}, func() error {
			var err error
			status, err = p.Run(y, vals)
			return err
		})
	})
	if err != nil {
		var se *sqltypes.Error
		if errors.As(err, &se) && se.Procedure == "" {
			located := *se
			located.Procedure = name.Base()
			err = &located
		}
		return status, err
	}
	giveBack(p.Params, vals, from, args)
	return status, nil
}

// atomicFree reports sp_getapplock, which only waits and so must not count as a
// statement with a transaction of its own.
func (x *Exec) atomicFree(name tsql.Name) bool {
	return strings.EqualFold(name.Base(), "sp_getapplock")
}

// callModule runs a T-SQL procedure.
func (x *Exec) callModule(db *Database, m *Module, args []callArg) (int32, error) {
	parsed, err := x.in.module(m)
	if err != nil {
		return 0, err
	}
	st, ok := parsed.stmt.(*tsql.CreateProcedureStmt)
	if !ok {
		return 0, errNoProcedure(st.Name)
	}
	schema := x.catalog(db).schemaName(m.SchemaID)
	if x.proc == "" {
		if err := x.checkPermission(db, schema, m.Object, "EXECUTE"); err != nil {
			return 0, err
		}
	}
	params, err := x.within(db).paramsOf(st.Params)
	if err != nil {
		return 0, err
	}
	vals, from, err := bind(m.Name, params, args)
	if err != nil {
		return 0, err
	}
	y := x.child()
	y.db, y.proc = db, m.Name
	y.enter(planProc, parsed.body, "", m.ID)
	scope, err := y.declareParams(params, from, args)
	if err != nil {
		return 0, err
	}
	before := x.s.tranCount()
	err = x.nested(func() error { return y.runScoped(parsed.body, scope, vals) })
	if err != nil {
		return 0, err
	}
	if err := x.checkTranCount(before, m.Name); err != nil {
		return 0, err
	}
	copy(vals, y.vars)
	giveBack(params, vals, from, args)
	return y.status, nil
}

// callScalar runs a T-SQL scalar function.
func (x *Exec) callScalar(db *Database, m *Module, p *parsedModule, args []value, ret sqltypes.Type) (value, error) {
	y := x.child()
	y.db, y.proc, y.function, y.returnType = db, m.Name, true, ret
	y.throwAll()
	err := y.runFunction(p, args)
	return y.returnValue, err
}

func (x *Exec) runFunction(p *parsedModule, args []value) error {
	st, ok := p.stmt.(*tsql.CreateFunctionStmt)
	if !ok {
		return unsupported("This function")
	}
	scope := newVariables()
	for _, prm := range st.Params {
		t, _, err := x.resolveType(prm.Type)
		if err != nil {
			return err
		}
		if err := scope.declare(prm.Name, t); err != nil {
			return err
		}
	}
	x.scope = scope
	if st.ReturnTable != nil {
		if err := x.declareTable(st.ReturnVariable, st.ReturnTable); err != nil {
			return err
		}
	}
	return x.nested(func() error { return x.runProgram(p.body, scope, args) })
}

// callTableFunction runs a multi-statement function and reads its table.
func (x *Exec) callTableFunction(db *Database, m *Module, p *parsedModule, args []value, emit func([]value) error) error {
	st, ok := p.stmt.(*tsql.CreateFunctionStmt)
	if !ok {
		return unsupported("This function")
	}
	y := x.child()
	y.db, y.proc, y.function = db, m.Name, true
	y.throwAll()
	y.onTable = func(t *Table) error {
		txn, err := y.reader(y.in.tempdb, t)
		if err != nil {
			return err
		}
		return readAll(txn, t, emit)
	}
	y.onTableName = fold(st.ReturnVariable)
	return y.runFunction(p, args)
}
