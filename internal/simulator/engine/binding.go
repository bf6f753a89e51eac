package engine

import (
	"errors"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// errScopeEnded ends the batch, procedure or string in which a statement could not
// be compiled; its caller goes on with the next statement.
var errScopeEnded = fmt.Errorf("the scope ended: %w", errAbort)

// belowError is an error of a called procedure or string that reached the call: to
// the caller it is an error at run time, whatever its number.
type belowError struct{ err error }

func (e *belowError) Error() string { return e.err.Error() }
func (e *belowError) Unwrap() error { return e.err }

// bindingErrors are the errors of statements that cannot be compiled. TRY of the
// same scope does not catch them, and XACT_ABORT does not count for them (MS docs:
// TRY...CATCH, "Errors unaffected by a TRY...CATCH construct"; SET XACT_ABORT).
var bindingErrors = map[int32]bool{
	102: true, 105: true, 107: true, 109: true, 110: true, 116: true, 120: true, 121: true, 128: true, 134: true, 137: true,
	141: true, 147: true, 156: true, 174: true, 189: true, 195: true, 205: true, 206: true, 207: true, 208: true, 209: true, 213: true,
	243: true, 263: true, 264: true, 302: true, 402: true, 1013: true, 1087: true, 2715: true, 4104: true, 4121: true, 8117: true, 8120: true,
	8155: true, 8156: true, 8158: true, 8159: true, 40000: true,
}

// deferredErrors are those that may go away before the statement runs: names are
// looked up again then (MS docs: Deferred Name Resolution and Compilation). What
// this server lacks counts only when it is reached.
var deferredErrors = map[int32]bool{208: true, 243: true, 2715: true, 4121: true, 40000: true}

// isBinding reports an error of compiling the statement itself, not one that came
// up from a scope below.
func isBinding(stmt tsql.Stmt, err error, se *sqltypes.Error) bool {
	if !bindingErrors[se.Number] {
		return false
	}
	if _, rethrown := stmt.(*tsql.ThrowStmt); rethrown {
		return false
	}
	var th *thrown
	var below *belowError
	return !errors.As(err, &th) && !errors.As(err, &below)
}

// endScope is what a statement that cannot be compiled does: it goes to a TRY of a
// scope further out, else it is sent and ends its own scope.
func (x *Exec) endScope(se *sqltypes.Error) error {
	if x.outerTries > 0 {
		return &thrown{e: se, past: x.scope}
	}
	if err := x.report(se, true); err != nil {
		return err
	}
	return errScopeEnded
}

// bindAll compiles the statements of a batch or procedure before the first one
// runs, so that a wrong column of a table that is there ends it at once. Names that
// are not there yet are left to the statement itself.
func (x *Exec) bindAll(list []tsql.Stmt) error {
	for _, stmt := range list {
		if _, moves := stmt.(*tsql.UseStmt); moves {
			return nil
		}
		if err := x.bind(stmt); err != nil {
			return err
		}
		for _, inner := range innerStatements(stmt) {
			if err := x.bindAll(inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// bind compiles one statement.
func (x *Exec) bind(stmt tsql.Stmt) error {
	compile := x.compilation(stmt)
	if compile == nil {
		return nil
	}
	x.line = stmt.Position().Line
	_, err := x.planOf(stmt, compile)
	if se := asServerError(err); se != nil && bindingErrors[se.Number] && !deferredErrors[se.Number] {
		return se
	}
	return nil
}

// innerStatements are the statement lists in a statement of control flow.
func innerStatements(stmt tsql.Stmt) [][]tsql.Stmt {
	switch st := stmt.(type) {
	case *tsql.BlockStmt:
		return [][]tsql.Stmt{st.Body}
	case *tsql.IfStmt:
		if st.Else == nil {
			return [][]tsql.Stmt{{st.Then}}
		}
		return [][]tsql.Stmt{{st.Then}, {st.Else}}
	case *tsql.WhileStmt:
		return [][]tsql.Stmt{{st.Body}}
	case *tsql.TryStmt:
		return [][]tsql.Stmt{st.Try, st.Catch}
	}
	return nil
}

// bindProcedure compiles the body of a procedure that is being created.
func (x *Exec) bindProcedure(name string, params []Param, body []tsql.Stmt) error {
	y := x.child()
	y.proc = name
	from := make([]int, len(params))
	for i := range from {
		from[i] = -1
	}
	var err error
	if y.scope, err = y.declareParams(params, from, nil); err != nil {
		return err
	}
	defer y.dropTableVariables()
	if err := y.declareAll(body); err != nil {
		return err
	}
	return y.bindAll(body)
}

// bound reports whether a program needs no binding: it was bound by this session
// in this database before, or is the server's own.
func (x *Exec) bound(prog *tsql.Program) bool {
	if x.system || x.function || x.firing != nil || x.s.fmtOnly || x.s.parseOnly {
		return true
	}
	if x.s.bound[prog] == x.db {
		return true
	}
	if len(x.s.bound) >= maxPlans {
		clear(x.s.bound)
	}
	x.s.bound[prog] = x.db
	return false
}
