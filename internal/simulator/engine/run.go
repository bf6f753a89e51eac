package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// flow says how control leaves a statement.
type flow int

const (
	flowNext flow = iota
	flowBreak
	flowContinue
	flowReturn
)

// gotoError unwinds to the list that holds the label.
type gotoError struct{ label string }

func (g *gotoError) Error() string { return "goto " + g.label }

// runProgram runs a parsed batch or module body. params are the values of the
// variables that scope already holds.
func (x *Exec) runProgram(prog *tsql.Program, scope *variables, params []value) error {
	x.prog, x.scope = prog, scope
	x.vars = append(x.vars[:0], params...)
	if err := x.declareAll(prog.Stmts); err != nil {
		return x.statementError(nil, err)
	}
	for len(x.vars) < len(scope.types) {
		x.vars = append(x.vars, value{})
	}
	defer x.dropTableVariables()
	if !x.bound(prog) {
		if err := x.bindAll(prog.Stmts); err != nil {
			return x.statementError(nil, err)
		}
	}
	_, err := x.runList(prog.Stmts)
	var g *gotoError
	if errors.As(err, &g) {
		err = x.statementError(nil, sqltypes.Errorf(133, 1, 15, "A GOTO statement references the label '%s' but the label has not been declared.", g.label))
	}
	if err == nil && x.onTable != nil {
		err = x.onTable(scope.tables[x.onTableName])
	}
	return err
}

// runList runs statements in order.
func (x *Exec) runList(list []tsql.Stmt) (flow, error) {
	for i := 0; i < len(list); i++ {
		f, err := x.runStmt(list[i])
		var g *gotoError
		if errors.As(err, &g) {
			if at := labelIndex(list, g.label); at >= 0 {
				i = at
				continue
			}
		}
		if err != nil || f != flowNext {
			return f, err
		}
	}
	return flowNext, nil
}

func labelIndex(list []tsql.Stmt, label string) int {
	for i, s := range list {
		if l, ok := s.(*tsql.LabelStmt); ok && fold(l.Label) == fold(label) {
			return i
		}
	}
	return -1
}

// runStmt runs one statement and deals with its error.
func (x *Exec) runStmt(stmt tsql.Stmt) (flow, error) {
	if err := x.ctx.Err(); err != nil {
		return flowNext, context.Cause(x.ctx)
	}
	x.line = stmt.Position().Line
	f, err := x.dispatch(stmt)
	if err == nil {
		return f, nil
	}
	return flowNext, x.statementError(stmt, err)
}

// statementError decides what a statement's error does: under TRY it is thrown,
// else sent, and then the next statement runs, unless the error ends the batch.
func (x *Exec) statementError(stmt tsql.Stmt, err error) error {
	se := asServerError(err)
	if se == nil || errors.Is(err, errAbort) || errors.Is(err, errKilled) {
		return err
	}
	var th *thrown
	if errors.As(err, &th) && x.tries > 0 {
		return err
	}
	located := *x.truncationAsOf(se)
	if located.Line == 0 {
		located.Line = int32(max(x.line, 1))
	}
	if located.Procedure == "" {
		located.Procedure = x.proc
	}
	se = &located
	s := x.s
	s.lastError = se.Number
	if se.Class >= fatalClass {
		return x.endSession(se)
	}
	if isBinding(stmt, err, se) && len(s.firing) == 0 {
		return x.endScope(se)
	}
	abort := endsBatch(se) || s.xactAbort && !isRaiserror(stmt)
	if x.tries > 0 {
		if s.tx != nil && s.tx.count > 0 && (s.xactAbort || abortsTransaction(se)) {
			s.tx.doomed = true
		}
		if s.tx != nil && s.tx.ended() {
			if err := x.rollbackAll(); err != nil {
				return err
			}
		}
		return &thrown{e: se}
	}
	if s.tx != nil && (s.tx.ended() || abortsTransaction(se) || s.xactAbort && !isRaiserror(stmt)) {
		if err := x.sink.Message(messageOf(se, x)); err != nil {
			return err
		}
		if err := x.rollbackAll(); err != nil {
			return err
		}
		if err := x.sink.Done(DoneInfo{Error: true, InProc: x.inProc}); err != nil {
			return err
		}
		return errAbort
	}
	if err := x.report(se, false); err != nil {
		return err
	}
	if err := x.noteTermination(stmt, se); err != nil {
		return err
	}
	if err := x.sink.Done(DoneInfo{Error: true, InProc: x.inProc}); err != nil {
		return err
	}
	if abort {
		return errAbort
	}
	return nil
}

// noteTermination sends the message that follows the error of a data statement
// which has been undone while the batch goes on.
func (x *Exec) noteTermination(stmt tsql.Stmt, e *sqltypes.Error) error {
	switch stmt.(type) {
	case *tsql.InsertStmt, *tsql.UpdateStmt, *tsql.DeleteStmt, *tsql.MergeStmt:
	default:
		return nil
	}
	switch e.Number {
	case 220, 515, 547, 2601, 2627, 2628, 8115, 8134, 8152:
		return x.Message(&Message{Number: 3621, State: 0, Class: 0, Text: "The statement has been terminated."})
	}
	return nil
}

// thrown carries an error to the nearest CATCH, or, from a statement that could not
// be compiled, to the nearest outside of the scope past.
type thrown struct {
	e    *sqltypes.Error
	past *variables
}

func (t *thrown) Error() string { return t.e.Error() }
func (t *thrown) Unwrap() error { return t.e }

func isRaiserror(stmt tsql.Stmt) bool {
	_, ok := stmt.(*tsql.RaiserrorStmt)
	return ok
}

// endsBatch reports errors at run time after which the rest of the batch does not
// run, whatever XACT_ABORT says.
func endsBatch(e *sqltypes.Error) bool {
	return abortsTransaction(e) || e.Number == 3609 || e.Number == 217 || e.Number == 213
}

// fatalClass is the severity from which on an error ends the connection (MS docs:
// Database Engine error severities).
const fatalClass = 20

// endSession sends a fatal error, which no TRY catches, and ends the session.
func (x *Exec) endSession(se *sqltypes.Error) error {
	if se.Number >= 50000 {
		m := &Message{Number: 2745, State: 2, Class: 16, Text: fmt.Sprintf(
			"Process ID %d has raised user error %d, severity %d. SQL Server is terminating this process.", x.s.spid, se.Number, se.Class)}
		if err := x.Message(m); err != nil {
			return err
		}
	}
	if err := x.report(se, true); err != nil {
		return err
	}
	x.s.kill()
	return context.Cause(x.ctx)
}

// dispatch runs a statement by its kind.
func (x *Exec) dispatch(stmt tsql.Stmt) (flow, error) {
	if x.s.fmtOnly {
		return x.describe(stmt)
	}
	if (x.s.noExec || x.s.parseOnly) && !x.system && !leavesNoExec(stmt) {
		return flowNext, nil
	}
	switch st := stmt.(type) {
	case *tsql.BlockStmt:
		return x.runList(st.Body)
	case *tsql.IfStmt:
		return x.runIf(st)
	case *tsql.WhileStmt:
		return x.runWhile(st)
	case *tsql.TryStmt:
		return x.runTry(st)
	case *tsql.BreakStmt:
		return flowBreak, nil
	case *tsql.ContinueStmt:
		return flowContinue, nil
	case *tsql.ReturnStmt:
		return x.runReturn(st)
	case *tsql.GotoStmt:
		return flowNext, &gotoError{st.Label}
	case *tsql.LabelStmt:
		return flowNext, nil
	case *tsql.ThrowStmt:
		return flowNext, x.throw(st)
	}
	return flowNext, x.runPlanned(stmt)
}

// leavesNoExec reports the SET that turns NOEXEC or PARSEONLY off, the one statement
// that runs under them (MS docs: SET NOEXEC, SET PARSEONLY).
func leavesNoExec(stmt tsql.Stmt) bool {
	st, ok := stmt.(*tsql.SetOptionStmt)
	return ok && (slices.Contains(st.Names, "NOEXEC") || slices.Contains(st.Names, "PARSEONLY"))
}

func (x *Exec) runIf(st *tsql.IfStmt) (flow, error) {
	ok, err := x.test(st, st.Cond)
	if err != nil {
		return flowNext, err
	}
	switch {
	case ok:
		return x.runStmt(st.Then)
	case st.Else != nil:
		return x.runStmt(st.Else)
	}
	return flowNext, nil
}

func (x *Exec) runWhile(st *tsql.WhileStmt) (flow, error) {
	for {
		if x.ctx.Err() != nil {
			return flowNext, context.Cause(x.ctx)
		}
		x.line = st.Line
		ok, err := x.test(st, st.Cond)
		if err != nil || !ok {
			return flowNext, err
		}
		f, err := x.runStmt(st.Body)
		if err != nil {
			return f, err
		}
		switch f {
		case flowBreak:
			return flowNext, nil
		case flowReturn:
			return f, nil
		}
	}
}

// test evaluates the condition of IF or WHILE as a statement of its own.
func (x *Exec) test(stmt tsql.Stmt, e tsql.Expr) (bool, error) {
	err := x.planned(stmt, condition(e))
	return err == nil && x.condition == yes, err
}

func (x *Exec) runTry(st *tsql.TryStmt) (flow, error) {
	x.tries++
	f, err := x.runList(st.Try)
	x.tries--
	var th *thrown
	if !errors.As(err, &th) || th.past == x.scope {
		return f, err
	}
	x.caught = append(x.caught, th.e)
	defer func() { x.caught = x.caught[:len(x.caught)-1] }()
	return x.runList(st.Catch)
}

// runReturn ends a procedure with a status, a function with its value, a batch.
func (x *Exec) runReturn(st *tsql.ReturnStmt) (flow, error) {
	if st.Value == nil {
		return flowReturn, nil
	}
	v, t, err := x.evaluate(st.Value)
	if err != nil {
		return flowNext, err
	}
	if x.returnType.ID != sqltypes.Unknown {
		if v, err = sqltypes.Assign(v, t, x.returnType, ""); err != nil {
			return flowNext, err
		}
		x.returnValue = v
		return flowReturn, nil
	}
	if v, err = sqltypes.Assign(v, t, typeInt, ""); err != nil {
		return flowNext, err
	}
	x.status = int32(v.Int64())
	return flowReturn, nil
}

// evaluate computes an expression outside of a query.
func (x *Exec) evaluate(e tsql.Expr) (value, sqltypes.Type, error) {
	c := &compiler{x: x, maxRecursion: maxRecursion}
	k, err := c.expr(e, nil)
	if err != nil {
		return value{}, typeNull, err
	}
	if err := c.refuseMasked(); err != nil {
		return value{}, typeNull, err
	}
	var v value
	err = x.statement(statementPlan{kind: "expression"}, func() error {
		var err error
		v, err = k.eval(&frame{x: x})
		return err
	})
	return v, k.typ, err
}
