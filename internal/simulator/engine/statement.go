package engine

import (
	"errors"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// plan is a compiled statement.
type plan struct {
	statementPlan
	db   *Database
	deps []dependency
	// login is the one that the names and permissions were checked for.
	login *login
	run   func(x *Exec) error
}

// statementPlan is what is known of a statement before it runs.
type statementPlan struct {
	kind    string
	objects []string
	text    string
	// data marks statements that read or write tables: they run as a whole or not
	// at all, and open a transaction under IMPLICIT_TRANSACTIONS.
	data bool
}

// compilation compiles one statement.
type compilation func(c *compiler) (func(x *Exec) error, error)

// dependency is a catalogue version that a plan was made for.
type dependency struct {
	db      *Database
	version int64
}

// maxPlans bounds the plans that a session keeps.
const maxPlans = 500

// valid reports whether the names in the plan still mean the same.
func (p *plan) valid(x *Exec) bool {
	if p.db != x.db || p.login != x.s.effectiveLogin() {
		return false
	}
	for _, d := range p.deps {
		if x.catalog(d.db).version != d.version {
			return false
		}
	}
	return true
}

// planned runs a statement through its cached plan.
func (x *Exec) planned(stmt tsql.Stmt, compile compilation) error {
	p, err := x.planOf(stmt, compile)
	if err != nil {
		return err
	}
	began := x.in.Now()
	if err := x.statement(p.statementPlan, func() error { return p.run(x) }); err != nil {
		return err
	}
	x.noteExecution(stmt, p.kind, began)
	return nil
}

// planOf is a statement's cached plan, or a new one.
func (x *Exec) planOf(stmt tsql.Stmt, compile compilation) (*plan, error) {
	if p := x.s.plans[stmt]; p != nil && p.valid(x) {
		return p, nil
	}
	c := &compiler{x: x, maxRecursion: maxRecursion}
	run, err := compile(c)
	if err != nil {
		return nil, err
	}
	if err := c.refuseMasked(); err != nil {
		return nil, err
	}
	kind, data := statementKind(stmt)
	p := &plan{db: x.db, deps: c.deps, login: x.s.effectiveLogin(), run: run, statementPlan: statementPlan{
		kind: kind, data: data || c.readsTables, objects: c.objects, text: x.textOf(stmt),
	}}
	if !c.uncached && !x.system {
		if len(x.s.plans) >= maxPlans {
			clear(x.s.plans)
		}
		x.s.plans[stmt] = p
	}
	return p, nil
}

func (x *Exec) textOf(stmt tsql.Stmt) string {
	if x.prog == nil {
		return ""
	}
	sp := stmt.Position()
	if sp.Start < 0 || sp.End > len(x.prog.Text) || sp.Start > sp.End {
		return ""
	}
	return sp.Text(x.prog.Text)
}

// statement runs f as one statement: with a time and caches of its own, faults,
// and all of its changes or none.
func (x *Exec) statement(p statementPlan, f func() error) error {
	saved := x.statementState
	x.statementState = statementState{}
	defer func() {
		rows := x.rowsRead
		x.statementState = saved
		x.s.lastRowsRead = rows
	}()
	if err := x.applyFault(p); err != nil {
		return err
	}
	if !p.data {
		return x.endQuiet(f())
	}
	if err := x.startImplicit(); err != nil {
		return err
	}
	s := x.s
	outermost := s.statementDepth == 0
	s.statementDepth++
	defer func() { s.statementDepth-- }()
	if outermost && s.tx != nil {
		for _, txn := range s.tx.txns {
			txn.BeginStatement(x.ctx)
		}
	}
	auto := s.tx == nil || s.tx.count == 0
	mark := s.current().mark()
	undo := s.markTableVariables(x)
	err := f()
	if err != nil {
		err = undo(err)
	}
	return x.endStatement(err, outermost, auto, mark)
}

// markTableVariables starts a statement for the table variables and returns what
// takes it back.
func (s *Session) markTableVariables(x *Exec) func(error) error {
	txn := s.tableVariables
	if txn == nil {
		return func(err error) error { return err }
	}
	txn.BeginStatement(x.ctx)
	mark := txn.Mark()
	return func(err error) error {
		if txn.Done() {
			return err
		}
		if e := txn.Undo(mark); e != nil {
			return errors.Join(err, e)
		}
		return err
	}
}

// endStatement commits an autocommit statement, or undoes a failed one.
func (x *Exec) endStatement(err error, outermost, auto bool, mark txMark) error {
	s := x.s
	t := s.tx
	if t == nil {
		return err
	}
	if err != nil && !errors.Is(err, errAbort) {
		switch {
		case t.ended():
			if auto && outermost {
				s.tx = nil
				t.rollback()
			}
			return err
		case auto && outermost:
			s.tx = nil
			t.rollback()
			return err
		default:
			if e := t.undo(mark); e != nil {
				err = errors.Join(err, e)
			}
		}
	}
	if outermost {
		for _, txn := range t.txns {
			txn.EndStatement()
		}
		if t.count == 0 {
			s.tx = nil
			if e := t.commit(); e != nil && err == nil {
				err = e
			}
		}
	}
	return err
}

// endQuiet ends the autocommit transaction that a statement without tables has
// begun all the same, because a function in it reads some.
func (x *Exec) endQuiet(err error) error {
	t := x.s.tx
	if t == nil || t.count > 0 || x.s.statementDepth > 0 {
		return err
	}
	x.s.tx = nil
	if err != nil {
		t.rollback()
		return err
	}
	return t.commit()
}

// applyFault asks the fault hook about the statement.
func (x *Exec) applyFault(p statementPlan) error {
	hook := x.in.faultHook.Load()
	if hook == nil || x.system {
		return nil
	}
	f := (*hook)(StatementInfo{Kind: p.kind, Objects: slices.Compact(slices.Clone(p.objects)), Text: p.text, SPID: x.s.spid, App: x.s.from.App})
	if f.Do == nil {
		return nil
	}
	if f.AfterRows == 0 {
		return f.Do(x.ctx)
	}
	x.fault = f
	return nil
}

// statementKind names a statement for faults and says whether it touches data.
func statementKind(stmt tsql.Stmt) (kind string, data bool) {
	switch stmt.(type) {
	case *tsql.SelectStmt:
		return "select", false
	case *tsql.InsertStmt:
		return "insert", true
	case *tsql.UpdateStmt:
		return "update", true
	case *tsql.DeleteStmt:
		return "delete", true
	case *tsql.MergeStmt:
		return "merge", true
	case *tsql.TruncateStmt:
		return "truncate", true
	case *tsql.IfStmt:
		return "if", false
	case *tsql.WhileStmt:
		return "while", false
	case *tsql.ExecStmt:
		return "exec", false
	case *tsql.BeginTranStmt:
		return "begin", false
	case *tsql.CommitStmt:
		return "commit", false
	case *tsql.RollbackStmt:
		return "rollback", false
	case *tsql.SetVariableStmt, *tsql.SetOptionStmt, *tsql.SetValueStmt, *tsql.SetIsolationStmt:
		return "set", false
	case *tsql.DeclareStmt:
		return "declare", false
	case *tsql.PrintStmt, *tsql.RaiserrorStmt, *tsql.WaitForStmt:
		return "other", false
	}
	return "ddl", false
}
