package engine

import (
	"errors"
	"strconv"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// runPlanned runs the statements that are compiled, and hands on the others.
func (x *Exec) runPlanned(stmt tsql.Stmt) error {
	if compile := x.compilation(stmt); compile != nil {
		return x.planned(stmt, compile)
	}
	switch st := stmt.(type) {
	case *tsql.InsertStmt:
		return x.insertExec(st)
	case *tsql.ExecStmt:
		return x.execStmt(st)
	case *tsql.InsertBulkStmt:
		if err := x.insertBulk(st); err != nil {
			return err
		}
		return x.doneQuietly()
	}
	if f, data := x.cursorWork(stmt); f != nil {
		if err := x.statement(statementPlan{kind: "cursor", text: x.textOf(stmt), data: data}, f); err != nil {
			return err
		}
		return x.doneQuietly()
	}
	if f := x.transactionStmt(stmt); f != nil {
		kind, _ := statementKind(stmt)
		if err := x.statement(statementPlan{kind: kind, text: x.textOf(stmt)}, f); err != nil {
			return err
		}
		return x.doneQuietly()
	}
	if f := x.sessionStmt(stmt); f != nil {
		kind, _ := statementKind(stmt)
		if err := x.statement(statementPlan{kind: kind, text: x.textOf(stmt)}, f); err != nil {
			return err
		}
		return x.doneQuietly()
	}
	return x.ddl(stmt)
}

// compilation is how a statement is compiled, nil for those that are not: they look
// names up while they run.
func (x *Exec) compilation(stmt tsql.Stmt) compilation {
	switch st := stmt.(type) {
	case *tsql.SelectStmt:
		return func(c *compiler) (func(*Exec) error, error) { return c.selectStmt(st.Query) }
	case *tsql.InsertStmt:
		if st.Exec == nil {
			return func(c *compiler) (func(*Exec) error, error) { return c.insert(st) }
		}
	case *tsql.UpdateStmt:
		return func(c *compiler) (func(*Exec) error, error) { return c.update(st) }
	case *tsql.DeleteStmt:
		return func(c *compiler) (func(*Exec) error, error) { return c.delete(st) }
	case *tsql.MergeStmt:
		return func(c *compiler) (func(*Exec) error, error) { return c.merge(st) }
	case *tsql.DeclareStmt:
		return func(c *compiler) (func(*Exec) error, error) { return c.declare(st) }
	case *tsql.SetVariableStmt:
		return func(c *compiler) (func(*Exec) error, error) { return c.setVariable(st) }
	case *tsql.IfStmt:
		return condition(st.Cond)
	case *tsql.WhileStmt:
		return condition(st.Cond)
	}
	return nil
}

// condition compiles what IF and WHILE test; the outcome is in Exec.condition.
func condition(e tsql.Expr) compilation {
	return func(c *compiler) (func(x *Exec) error, error) {
		k, err := c.cond(e, nil)
		if err != nil {
			return nil, err
		}
		c.masks.shown = c.masks.met // a condition sees the values
		return func(x *Exec) error {
			t, err := k.eval(&frame{x: x})
			x.condition = t
			return err
		}, nil
	}
}

// doneQuietly ends a statement that has no result. Inside procedures the server
// sends nothing for those.
func (x *Exec) doneQuietly() error {
	x.s.lastError = 0
	if x.inProc {
		return nil
	}
	return x.sink.Done(DoneInfo{})
}

// cursorWork is the work of a statement about a cursor, nil for others. OPEN and
// FETCH begin a transaction under IMPLICIT_TRANSACTIONS (MS docs).
func (x *Exec) cursorWork(stmt tsql.Stmt) (f func() error, data bool) {
	switch st := stmt.(type) {
	case *tsql.DeclareCursorStmt:
		return func() error { return x.declareCursor(st) }, false
	case *tsql.CursorStmt:
		return func() error { return x.cursorStmt(st) }, st.Verb == "OPEN"
	case *tsql.FetchStmt:
		return func() error { return x.fetch(st) }, true
	}
	return nil, false
}

func (x *Exec) transactionStmt(stmt tsql.Stmt) func() error {
	switch st := stmt.(type) {
	case *tsql.BeginTranStmt:
		return func() error { return x.withName(st.Name, x.beginTran) }
	case *tsql.CommitStmt:
		return x.commitTran
	case *tsql.RollbackStmt:
		return func() error { return x.withName(st.Name, x.rollbackTran) }
	case *tsql.SaveTranStmt:
		return func() error { return x.withName(st.Name, x.saveTran) }
	}
	return nil
}

// withName calls f with a transaction's name, which may stand in a variable.
func (x *Exec) withName(name string, f func(string) error) error {
	variable := false
	if len(name) > 0 && name[0] == '@' {
		if slot, ok := x.scope.slots[fold(name)]; ok {
			name, variable = x.vars[slot].Str(), true
		}
	}
	name, err := checkTransactionName(name, variable)
	if err != nil {
		return err
	}
	return f(name)
}

// selectStmt compiles a SELECT as a statement: rows go to the client, into
// variables, or into a new table.
func (c *compiler) selectStmt(q *tsql.SelectQuery) (func(x *Exec) error, error) {
	for _, o := range q.Options {
		if lit, ok := o.Value.(*tsql.Literal); ok && o.Name == "MAXRECURSION" {
			limit, err := strconv.ParseUint(lit.Text, 10, 15)
			if err != nil {
				return nil, raise(310, "The value %s specified for the MAXRECURSION option exceeds the allowed maximum of 32767.", lit.Text)
			}
			c.maxRecursion = int(limit)
		}
	}
	if spec, ok := q.Body.(*tsql.SelectSpec); ok && spec.Into != nil {
		return c.selectInto(q, spec)
	}
	plan, err := c.query(q, nil)
	if err != nil {
		return nil, err
	}
	if err := c.showMasked(plan); err != nil {
		return nil, err
	}
	if plan.spec != nil && len(plan.spec.assign) > 0 {
		assign := plan.spec.assign
		return func(x *Exec) error {
			if x.s.fmtOnly {
				return nil
			}
			count := int64(0)
			err := plan.run(x, nil, func(row []value) error {
				count++
				for i, a := range assign {
					x.vars[a.slot] = row[i]
				}
				return nil
			})
			if err != nil {
				return err
			}
			x.s.rowCount, x.s.lastError = count, 0
			if x.inProc {
				return nil
			}
			return x.done(CommandSelect, count)
		}, nil
	}
	columns := make([]Column, len(plan.columns))
	for i := range plan.columns {
		columns[i] = plan.columns[i].result()
		if columns[i].Type.ID == sqltypes.Unknown {
			columns[i].Type = typeInt
		}
	}
	if q.For != nil && q.For.Kind != "BROWSE" && plan.columns[0].typ.ID != sqltypes.XML {
		text := plan.run
		plan.run = func(x *Exec, outer *frame, emit func([]value) error) error { return text(x, outer, chunked(emit)) }
		if q.For.Kind == "XML" {
			columns[0].Type = sqltypes.Type{ID: sqltypes.NText, Collation: plan.columns[0].typ.Collation}
		}
	}
	return func(x *Exec) error { return x.sendQuery(plan, columns) }, nil
}

// sendQuery runs a query and streams its rows to the client.
func (x *Exec) sendQuery(plan *queryPlan, columns []Column) error {
	if x.function {
		return raise(444, "Select statements included within a function cannot return data to a client.")
	}
	if err := x.sink.Columns(columns); err != nil {
		return &sinkError{err}
	}
	if x.s.fmtOnly {
		return x.done(CommandSelect, 0)
	}
	count := int64(0)
	limit := x.s.rowCountLimit
	fault := x.fault
	sink := x.sink
	err := plan.run(x, nil, func(row []value) error {
		if fault.Do != nil && count == fault.AfterRows {
			if err := fault.Do(x.ctx); err != nil {
				return err
			}
		}
		if err := sink.Row(row); err != nil {
			return &sinkError{err}
		}
		count++
		if count == limit {
			return errStop
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		if x.tries > 0 && asServerError(err) != nil {
			// The result that has begun ends, though TRY keeps its error from the client.
			return errors.Join(err, x.done(CommandSelect, count))
		}
		return err
	}
	if fault.Do != nil && count == fault.AfterRows {
		if err := fault.Do(x.ctx); err != nil {
			return err
		}
	}
	x.s.rowCount, x.s.lastError = count, 0
	if x.nullEliminated && !x.system {
		m := &Message{Number: 8153, State: 1, Class: 0, Text: "Warning: Null value is eliminated by an aggregate or other SET operation."}
		if err := x.Message(m); err != nil {
			return err
		}
	}
	return x.done(CommandSelect, count)
}

// sinkError marks an error of the sink, so that it is never taken for one of a
// statement.
type sinkError struct{ err error }

func (e *sinkError) Error() string { return e.err.Error() }

// Unwrap gives the sink's error, unless it is a server error.
func (e *sinkError) Unwrap() error {
	if _, ok := errors.AsType[*sqltypes.Error](e.err); ok {
		return nil
	}
	return e.err
}

// declare compiles the initial values of DECLARE.
func (c *compiler) declare(st *tsql.DeclareStmt) (func(x *Exec) error, error) {
	type initial struct {
		slot int
		e    *expr
	}
	var list []initial
	for _, v := range st.Vars {
		if v.Value == nil {
			continue
		}
		e, err := c.expr(v.Value, nil)
		if err != nil {
			return nil, err
		}
		slot := c.x.scope.slots[fold(v.Name)]
		list = append(list, initial{slot, assigned(e, c.x.scope.types[slot])})
	}
	return func(x *Exec) error {
		for _, in := range list {
			v, err := in.e.eval(&frame{x: x})
			if err != nil {
				return err
			}
			x.vars[in.slot] = v
		}
		return nil
	}, nil
}

func (c *compiler) setVariable(st *tsql.SetVariableStmt) (func(x *Exec) error, error) {
	if st.Method != nil {
		return nil, unsupported("The method " + st.Method.Name)
	}
	a, err := c.assignment(st.Name, st.Op)
	if err != nil {
		return nil, err
	}
	e, err := c.expr(st.Value, nil)
	if err != nil {
		return nil, err
	}
	if a.op != "=" {
		current := &expr{typ: a.typ, nullable: true, eval: func(fr *frame) (value, error) { return fr.x.vars[a.slot], nil }}
		if e, err = c.arithmetic(a.op[:1], current, e); err != nil {
			return nil, err
		}
	}
	e = assigned(e, a.typ)
	return func(x *Exec) error {
		v, err := e.eval(&frame{x: x})
		if err == nil {
			x.vars[a.slot] = v
			x.s.lastError = 0
		}
		return err
	}, nil
}
