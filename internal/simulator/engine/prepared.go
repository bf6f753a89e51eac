package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// prepared is a statement kept under a handle by sp_prepare or sp_prepexec, or
// the call of a procedure kept by sp_prepexecrpc.
type prepared struct {
	text   string
	params []Param
	// declared is the parameter list as written.
	declared string
	// procedure is set for a call, which has no text.
	procedure tsql.Name
}

// Call runs a procedure as a remote procedure call. Besides the session-ending
// errors of Batch everything goes to the sink.
func (s *Session) Call(ctx context.Context, proc string, args []Arg, sink Sink) error {
	ctx, end := s.begin(ctx)
	defer end()
	x := s.exec(ctx, sink)
	x.inProc = true
	text := proc
	s.lastStatement.Store(&text)
	name := splitName(proc)
	calls := make([]callArg, len(args))
	for i, a := range args {
		calls[i] = callArg{Arg: a, slot: -1}
	}
	err := x.statement(statementPlan{kind: "exec", objects: []string{procedureObject(name)}, text: callText(name, args)}, func() error {
		status, err := x.callProcedure(name, calls)
		if err != nil {
			return err
		}
		if err := sink.ReturnStatus(status); err != nil {
			return &sinkError{err}
		}
		for i, a := range calls {
			if !a.Output {
				continue
			}
			if err := sink.ReturnValue(a.Name, i, a.Type, a.Value); err != nil {
				return &sinkError{err}
			}
		}
		return nil
	})
	failed := err != nil
	if failed {
		if err = x.statementErrorAtCall(err); err != nil {
			return x.finish(err)
		}
	}
	if err := x.finish(nil); err != nil {
		return err
	}
	return sink.Done(DoneInfo{EndProc: true, Error: failed, Command: CommandExec})
}

// statementErrorAtCall reports an error that reached the call itself.
func (x *Exec) statementErrorAtCall(err error) error {
	se := asServerError(err)
	if se == nil {
		if errors.Is(err, errAbort) {
			return nil
		}
		return err
	}
	if x.s.tx != nil && (x.s.tx.ended() || abortsTransaction(se) || x.s.xactAbort) {
		if e := x.report(se, false); e != nil {
			return e
		}
		return x.rollbackAll()
	}
	return x.report(se, false)
}

// callText is the statement that a call carries, for faults.
func callText(name tsql.Name, args []Arg) string {
	switch fold(name.Base()) {
	case "sp_executesql", "sp_prepexec", "sp_prepare":
		for _, a := range args {
			if a.Type.ID.IsText() && !a.Value.IsNull() && !strings.HasPrefix(a.Value.Str(), "@") {
				return a.Value.Str()
			}
		}
	}
	return name.String()
}

// specialProcedure returns the procedures that run a text in the caller's scope.
func (x *Exec) specialProcedure(name tsql.Name) func(args []callArg) (int32, error) {
	if s := fold(name.Schema()); s != "" && s != "sys" && s != "dbo" {
		return nil
	}
	switch fold(name.Base()) {
	case "sp_executesql":
		return x.executeSQL
	case "sp_prepare":
		return x.prepareDescribed
	case "sp_prepexecrpc":
		return x.prepExecRPC
	case "sp_prepexec":
		return x.prepExec
	case "sp_execute":
		return x.executePrepared
	case "sp_unprepare":
		return func(args []callArg) (int32, error) {
			h, err := handleOf(args)
			if err != nil {
				return 0, err
			}
			if x.s.handles[h] == nil {
				return 0, errNoHandle(h)
			}
			delete(x.s.handles, h)
			return 0, nil
		}
	case "sp_cursor", "sp_cursoropen", "sp_cursorprepare", "sp_cursorexecute", "sp_cursorprepexec", "sp_cursorunprepare", "sp_cursorfetch", "sp_cursoroption", "sp_cursorclose":
		return func([]callArg) (int32, error) { return 0, unsupported("An API server cursor (" + name.Base() + ")") }
	}
	return nil
}

// handleOf is the handle in a call's first argument; NULL is handle 0, which no
// statement has.
func handleOf(args []callArg) (int32, error) {
	switch {
	case len(args) == 0, args[0].Table == nil && args[0].Value.IsNull():
		return 0, nil
	case args[0].Value.Kind() != sqltypes.KindInt:
		return 0, raise(214, "Procedure expects parameter '@handle' of type 'int'.")
	}
	return int32(args[0].Value.Int64()), nil
}

func errNoHandle(h int32) error {
	return raise(8179, "Could not find prepared statement with handle %d.", h)
}

// declaredParams reads a parameter list such as "@p1 int, @p2 nvarchar(10) OUTPUT".
func (x *Exec) declaredParams(text string) ([]Param, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	prog, err := x.in.parse("CREATE PROCEDURE p "+text+" AS RETURN", true)
	if err != nil {
		return nil, err
	}
	st, ok := prog.Stmts[0].(*tsql.CreateProcedureStmt)
	if !ok {
		return nil, sqltypes.Errorf(102, 1, 15, "Incorrect syntax near '%s'.", text)
	}
	return x.paramsOf(st.Params)
}

func textArg(args []callArg, i int) (string, bool) {
	if i >= len(args) || args[i].Value.IsNull() || !args[i].Type.ID.IsText() {
		return "", false
	}
	return args[i].Value.Str(), true
}

// executeSQL is sp_executesql (MS docs).
func (x *Exec) executeSQL(args []callArg) (int32, error) {
	text, ok := textArg(args, 0)
	if !ok {
		return 0, raise(214, "Procedure expects parameter '@statement' of type 'ntext/nchar/nvarchar'.")
	}
	decl, _ := textArg(args, 1)
	params, err := x.declaredParams(decl)
	if err != nil {
		return 0, err
	}
	rest := args[min(2, len(args)):]
	return 0, x.runPrepared(&prepared{text: text, params: params, declared: decl}, rest)
}

// runPrepared runs a text with its parameters bound.
func (x *Exec) runPrepared(p *prepared, args []callArg) error {
	vals, from, err := bindStatement(p, args)
	if err != nil {
		return err
	}
	y := *x
	y.proc = ""
	err = y.runText(p.text, &p.declared, p.params, vals, from, args)
	giveBack(p.params, vals, from, args)
	return err
}

// bindStatement is bind with the errors of parameterised queries.
func bindStatement(p *prepared, args []callArg) ([]value, []int, error) {
	vals, from, err := bind("sp_executesql", p.params, args)
	if e := asServerError(err); e != nil && e.Number == 201 {
		missing := ""
		for _, prm := range p.params {
			if strings.Contains(e.Message, "'"+prm.Name+"'") {
				missing = prm.Name
			}
		}
		return nil, nil, raise(8178, "The parameterized query '%s' expects the parameter '%s', which was not supplied.", p.text, missing)
	}
	return vals, from, err
}

// prepare is sp_prepare: handle OUTPUT, parameter list, text.
func (x *Exec) prepare(args []callArg) (int32, error) {
	if len(args) < 3 {
		return 0, raise(201, "Procedure or function 'sp_prepare' expects parameter '@stmt', which was not supplied.")
	}
	decl, _ := textArg(args, 1)
	text, _ := textArg(args, 2)
	params, err := x.declaredParams(decl)
	if err != nil {
		return 0, err
	}
	if _, err := x.in.parse(text, !x.s.quotedOff); err != nil {
		return 0, err
	}
	return x.keep(&prepared{text: text, params: params, declared: decl}, &args[0]), nil
}

// keep gives a statement a handle, which goes out in the first argument.
func (x *Exec) keep(p *prepared, handle *callArg) int32 {
	x.s.nextHandle++
	h := x.s.nextHandle
	x.s.handles[h] = p
	handle.Value, handle.Type, handle.Output = sqltypes.IntOf(int64(h)), typeInt, true
	return h
}

// optionMetadata is the bit of sp_prepare's last parameter that asks for the
// columns of the result (MS docs: sp_prepare, RETURN_METADATA).
const optionMetadata = 1

// prepareDescribed is sp_prepare, with the columns of the result if wanted.
func (x *Exec) prepareDescribed(args []callArg) (int32, error) {
	h, err := x.prepare(args)
	if err != nil || len(args) < 4 || args[3].Value.Kind() != sqltypes.KindInt || args[3].Value.Int64()&optionMetadata == 0 {
		return 0, err
	}
	p := x.s.handles[h]
	before := x.s.fmtOnly
	x.s.fmtOnly = true
	defer func() { x.s.fmtOnly = before }()
	from := make([]int, len(p.params))
	for i := range from {
		from[i] = -1
	}
	return 0, x.runText(p.text, &p.declared, p.params, make([]value, len(p.params)), from, nil)
}

// prepExecRPC is sp_prepexecrpc: handle OUTPUT, the name of a procedure, its
// arguments.
func (x *Exec) prepExecRPC(args []callArg) (int32, error) {
	name, ok := textArg(args, 1)
	if !ok {
		return 0, raise(214, "Procedure expects parameter '@rpccall' of type 'ntext/nchar/nvarchar'.")
	}
	p := &prepared{procedure: splitName(name)}
	if special := x.specialProcedure(p.procedure); special != nil {
		return 0, unsupported("sp_prepexecrpc of " + name)
	}
	x.keep(p, &args[0])
	return x.callProcedure(p.procedure, args[2:])
}

func (x *Exec) prepExec(args []callArg) (int32, error) {
	h, err := x.prepare(args)
	if err != nil {
		return 0, err
	}
	return 0, x.runPrepared(x.s.handles[h], args[3:])
}

func (x *Exec) executePrepared(args []callArg) (int32, error) {
	h, err := handleOf(args)
	if err != nil {
		return 0, err
	}
	p := x.s.handles[h]
	if p == nil {
		return 0, errNoHandle(h)
	}
	if !p.procedure.IsZero() {
		return x.callProcedure(p.procedure, args[1:])
	}
	return 0, x.runPrepared(p, args[1:])
}
