package engine

import (
	"context"
	"errors"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// Exec is the context of running statements: a batch, a procedure or a function
// in its session. Hooks get it to read and write in the statement's transaction.
type Exec struct {
	s    *Session
	in   *Instance
	ctx  context.Context
	sink Sink
	db   *Database

	scope *variables
	vars  []value
	prog  *tsql.Program
	// cachedPlan is the entry of the plan cache that the scope runs, nil for none.
	cachedPlan *cachedPlan
	// proc is the running procedure's name, "" in a batch.
	proc   string
	line   int
	inProc bool
	// tries counts the TRY blocks around, callers' included: an error is thrown to
	// them instead of sent.
	tries int
	// outerTries are those of the callers alone.
	outerTries int
	// caught are the errors of the CATCH blocks around.
	caught []*sqltypes.Error
	// system lifts permission checks and the protection of system objects.
	system bool
	// shipping marks new objects as made by the server (is_ms_shipped).
	shipping bool
	// firing is set in a trigger's own scope.
	firing *firing
	// function forbids side effects.
	function bool
	// onTable is given the table that a multi-statement function returns, before
	// it goes with the function's scope.
	onTable     func(t *Table) error
	onTableName string
	// identity is the scope's last identity value (SCOPE_IDENTITY).
	identity    value
	returnValue value
	returnType  sqltypes.Type
	status      int32
	// condition is the outcome of the last IF or WHILE condition.
	condition tri

	statementState
}

// statementState belongs to one statement and is empty when the next one starts.
type statementState struct {
	now            time.Time
	rowsRead       int64
	nullEliminated bool
	viewCache      map[viewKey][][]value
	held           map[*materialized]*heldRows
	subqueries     map[*queryPlan]*cachedRows
	recursions     map[*recursion][][]value
	fault          Fault
	// changes are what the statement did to tables with triggers.
	changes []*changeSet
}

// Context ends when the statement must stop.
func (x *Exec) Context() context.Context { return x.ctx }

// Session is the session that runs the statement.
func (x *Exec) Session() *Session { return x.s }

// Instance is the server.
func (x *Exec) Instance() *Instance { return x.in }

// Database is the database in which names without one are looked up.
func (x *Exec) Database() *Database { return x.db }

// Catalog is the catalogue of a database as the statement's transaction sees it.
func (x *Exec) Catalog(db *Database) *Catalog { return x.catalog(db) }

// Sink receives what the statement answers.
func (x *Exec) Sink() Sink { return x.sink }

// IsSystem reports work of the server itself, without permission checks.
func (x *Exec) IsSystem() bool { return x.system }

// Now is the server's time: the same during one statement.
func (x *Exec) Now() time.Time {
	if x.now.IsZero() {
		x.now = x.in.Now()
	}
	return x.now
}

// Location is the server's time zone.
func (x *Exec) Location() *time.Location { return x.in.location }

// RowsRead is the number of rows that the statement has read so far.
func (x *Exec) RowsRead() int64 { return x.rowsRead }

// within is the same statement with another current database.
func (x *Exec) within(db *Database) *Exec {
	if db == x.db {
		return x
	}
	y := *x
	y.db = db
	return &y
}

// In is the same statement with another current database.
func (x *Exec) In(db *Database) *Exec { return x.within(db) }

func (x *Exec) collation() *sqltypes.Collation { return x.db.collation() }

// child starts a nested scope: a procedure, a function, EXEC of a string.
func (x *Exec) child() *Exec {
	return &Exec{
		s: x.s, in: x.in, ctx: x.ctx, sink: x.sink, db: x.db, scope: newVariables(), inProc: true,
		tries: x.tries, outerTries: x.tries, caught: x.caught, system: x.system, shipping: x.shipping, function: x.function, proc: x.proc,
		statementState: statementState{},
	}
}

// throwAll makes the scope throw every error to its caller, which is Go code.
func (x *Exec) throwAll() {
	x.tries++
	x.outerTries++
}

// maxNesting is the deepest nesting of procedures (error 217).
const maxNesting = 32

// nested runs f one nesting level deeper.
func (x *Exec) nested(f func() error) error {
	if x.s.nestLevel >= maxNesting {
		return sqltypes.Errorf(217, 1, 16, "Maximum stored procedure, function, trigger, or view nesting level exceeded (limit 32).")
	}
	x.s.nestLevel++
	defer func() { x.s.nestLevel-- }()
	return f()
}

// Message sends an information or error message to the client.
func (x *Exec) Message(m *Message) error {
	if m.Line == 0 {
		m.Line = max(x.line, 1)
	}
	if m.Procedure == "" {
		m.Procedure = x.proc
	}
	return x.sink.Message(m)
}

// Print sends text as PRINT does.
func (x *Exec) Print(text string) error {
	return x.Message(&Message{Number: 0, State: 1, Class: 0, Text: text})
}

// SendRows sends a result set.
func (x *Exec) SendRows(cols []Column, rows [][]value) error {
	if err := x.sink.Columns(cols); err != nil {
		return err
	}
	if x.s.fmtOnly {
		rows = nil
	}
	for _, row := range rows {
		if err := x.sink.Row(row); err != nil {
			return err
		}
	}
	x.s.rowCount = int64(len(rows))
	return x.done(CommandSelect, int64(len(rows)))
}

// done ends a statement that counted rows.
func (x *Exec) done(command uint16, count int64) error {
	return x.sink.Done(DoneInfo{Count: count, HasCount: !x.s.nocount, Command: command, InProc: x.inProc})
}

// errAbort ends a batch after an error that the client has got already.
var errAbort = errors.New("the batch was aborted")

// report sends an error to the client and ends the statement.
func (x *Exec) report(err error, done bool) error {
	se := asServerError(err)
	if se == nil {
		return err
	}
	x.s.lastError = se.Number
	if err := x.sink.Message(messageOf(se, x)); err != nil {
		return err
	}
	if !done {
		return nil
	}
	return x.sink.Done(DoneInfo{Error: true, InProc: x.inProc})
}

func messageOf(e *sqltypes.Error, x *Exec) *Message {
	m := &Message{Number: e.Number, State: e.State, Class: e.Class, Text: e.Message, Procedure: e.Procedure, Line: int(e.Line)}
	if m.Line == 0 {
		m.Line = max(x.line, 1)
	}
	if m.Procedure == "" {
		m.Procedure = x.proc
	}
	return m
}

// finish turns the outcome of an outermost scope into the session's: an error
// that nobody caught has been sent, a doomed transaction is rolled back.
func (x *Exec) finish(err error) error {
	s := x.s
	if s.tx != nil && s.tx.doomed {
		if cause := x.rollbackAll(); cause != nil {
			return cause
		}
		if err == nil {
			err = x.report(sqltypes.Errorf(3998, 1, 16, "Uncommittable transaction is detected at the end of the batch. The transaction is rolled back."), true)
		}
	}
	if errors.Is(err, errAbort) {
		return nil
	}
	if cause := context.Cause(x.ctx); cause != nil && err != nil {
		if s.xactAbort {
			// An attention is a run-time error to XACT_ABORT (MS docs: SET XACT_ABORT).
			return errors.Join(x.rollbackAll(), cause)
		}
		return cause
	}
	return err
}

// Txn is the statement's transaction in the current database, begun when needed.
func (x *Exec) Txn() (*storage.Txn, error) { return x.writer(x.db) }

// storageError names a storage error as the server does.
func (x *Exec) storageError(err error, t *Table) error {
	if err == nil {
		return nil
	}
	var dup *storage.DuplicateKeyError
	switch {
	case errors.As(err, &dup):
		return x.duplicateKey(dup, t)
	case errors.Is(err, storage.ErrTxnDone):
		if cause := context.Cause(x.ctx); cause != nil {
			return cause
		}
	}
	return err
}
