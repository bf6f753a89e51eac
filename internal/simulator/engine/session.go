package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/builtin"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// Session is one connection's state. Its methods are not safe for concurrent
// use; a running call is ended through its context.
type Session struct {
	in    *Instance
	spid  int
	owner *storage.Owner
	login *login
	from  Login
	since time.Time

	db atomic.Pointer[Database]
	tx *transaction
	settings
	rand *builtin.Rand

	// appLocks is the storage transaction that holds the session's own application
	// locks, nil before the first.
	appLocks *storage.Txn
	// tableVariables is the storage transaction of the session's table variables,
	// which its own transactions do not touch; openTables counts them.
	tableVariables *storage.Txn
	openTables     int
	// temp are the session's # tables by folded name.
	temp  map[string]*Table
	plans map[tsql.Stmt]*plan
	// bound are the programs whose statements have been compiled, and where.
	bound      map[*tsql.Program]*Database
	handles    map[int32]*prepared
	nextHandle int32
	// bulk is the INSERT BULK whose rows the next message must bring.
	bulk *bulkTarget
	// cursors are the global cursors by folded name.
	cursors map[string]*cursor
	// firing are the object ids of the running triggers, innermost last.
	firing      []int64
	fetchStatus int64
	cursorRows  int64
	// insertExec is set while INSERT .. EXEC runs its procedure.
	insertExec bool

	lastError int32
	rowCount  int64
	identity  value
	// statementDepth counts the data statements that are running inside each
	// other (a function called by a query); only the outermost fixes views.
	statementDepth int
	// lastRowsRead is the number of rows that the last statement read.
	lastRowsRead int64
	// nestLevel is @@NESTLEVEL.
	nestLevel    int
	context      value
	impersonated []*login

	// maintenance lets the session write in a read-only database: ALTER DATABASE itself.
	maintenance bool

	killed   chan struct{}
	killOnce sync.Once
	closed   bool
	// running cancels the call in progress when the session is killed.
	running atomic.Pointer[context.CancelCauseFunc]
	busy    sync.Mutex
	// callBegan and callEnded are the times of the last call.
	callBegan, callEnded time.Time
	lastStatement        atomic.Pointer[string]
	// recentPlan is what the session has run last.
	recentPlan atomic.Pointer[cachedPlan]
	// outside is what other sessions see of this one.
	outside atomic.Pointer[sessionState]
}

// sessionState is what other sessions see of a session: as it was at its last change.
type sessionState struct {
	settings
	transactions int64
	rowCount     int64
	lastError    int32
	began, ended time.Time // of the last call
	// transaction is the open transaction's descriptor, 0 for none.
	transaction   uint64
	transactionAt time.Time
	name          string
}

// restored brings settings that were put back to where they count: a procedure's SET
// ends with it (MS docs: SET Statements).
func (s *Session) restored() {
	s.owner.SetDeadlockPriority(s.deadlockPriority)
	s.setLockTimeout(s.lockTimeoutMS)
}

// showOutside publishes the session's state.
func (s *Session) showOutside() {
	state := &sessionState{
		settings: s.settings, transactions: int64(s.tranCount()), rowCount: s.rowCount, lastError: s.lastError,
		began: s.callBegan, ended: s.callEnded,
	}
	if t := s.tx; t != nil && t.count > 0 {
		state.transaction, state.transactionAt, state.name = t.descriptor, t.began, t.name
	}
	s.outside.Store(state)
}

// settings are what SET changes and a reset restores.
type settings struct {
	isolation        storage.Isolation
	lockTimeout      time.Duration
	lockTimeoutMS    int64
	nocount          bool
	xactAbort        bool
	implicit         bool
	quotedOff        bool
	fmtOnly          bool
	noExec           bool
	parseOnly        bool
	arithAbort       bool
	dateFirst        int
	rowCountLimit    int64
	textSize         int64
	deadlockPriority int
	language         string
	dateFormat       string
	identityInsert   identityInsert
}

// identityInsert names the one table for which SET IDENTITY_INSERT is on.
type identityInsert struct {
	db    *Database
	table int64
}

func defaultSettings() settings {
	return settings{lockTimeoutMS: -1, dateFirst: 7, textSize: 2147483647, language: "us_english", dateFormat: "mdy"}
}

func newSession(in *Instance, db *Database, l *login, from Login) *Session {
	s := &Session{
		in: in, login: l, from: from, since: in.Now(), settings: defaultSettings(), rand: new(builtin.Rand),
		temp: map[string]*Table{}, plans: map[tsql.Stmt]*plan{}, bound: map[*tsql.Program]*Database{}, handles: map[int32]*prepared{},
		cursors: map[string]*cursor{}, killed: make(chan struct{}), owner: storage.NewOwner(),
	}
	s.db.Store(db)
	return s
}

// SPID is the session's id (@@SPID).
func (s *Session) SPID() int { return s.spid }

// Database is the name of the current database.
func (s *Session) Database() string { return s.currentDB().Name() }

// AppName is the program name that the client gave.
func (s *Session) AppName() string { return s.from.App }

// Login is the name of the login.
func (s *Session) Login() string { return s.login.Name }

// Connection is how the client is connected.
func (s *Session) Connection() ConnectionInfo { return s.from.Connection }

// ReadIntent reports whether the client asked for a read-only connection.
func (s *Session) ReadIntent() bool { return s.from.ReadIntent }

// Done is closed when the session is killed or its instance closes.
func (s *Session) Done() <-chan struct{} { return s.killed }

func (s *Session) currentDB() *Database { return s.db.Load() }

// Transaction is the descriptor of the open transaction, which requests carry
// in their headers (MS-TDS 2.2.5.3.2).
func (s *Session) Transaction() (descriptor uint64, active bool) {
	if s.tx == nil || s.tx.count == 0 {
		return 0, false
	}
	return s.tx.descriptor, true
}

// kill ends the session from outside: the running call fails and its owner
// closes the connection.
func (s *Session) kill() {
	s.killOnce.Do(func() {
		close(s.killed)
		if cancel := s.running.Load(); cancel != nil {
			(*cancel)(errKilled)
		}
	})
}

// errKilled ends the work of a killed session.
var errKilled = sqltypes.Errorf(596, 1, 21, "Cannot continue the execution because the session is in the kill state.")

// Close rolls the open transaction back and forgets the session. Closing twice
// is fine.
func (s *Session) Close() {
	s.kill()
	s.busy.Lock()
	defer s.busy.Unlock()
	s.close()
}

// closeIdle is Close for another session's goroutine: of a session that is in a call,
// the call's end is for its owner to see to.
func (s *Session) closeIdle() {
	if s.busy.TryLock() {
		defer s.busy.Unlock()
		s.close()
	}
}

func (s *Session) close() {
	if s.closed {
		return
	}
	s.closed = true
	if s.tx != nil {
		s.tx.rollback()
		s.tx = nil
	}
	s.dropTempTables()
	s.endTableVariables()
	s.releaseAppLocks()
	s.in.forget(s)
	s.in.users.changed()
}

// begin starts a call: it makes the context end when the session is killed.
func (s *Session) begin(ctx context.Context) (context.Context, func()) {
	s.busy.Lock()
	s.bulk = nil
	s.callBegan = s.in.Now()
	s.showOutside()
	ctx, cancel := context.WithCancelCause(ctx)
	s.running.Store(&cancel)
	select {
	case <-s.killed:
		cancel(errKilled)
	default:
	}
	return ctx, func() {
		s.callEnded = s.in.Now()
		s.showOutside()
		s.running.Store(nil)
		cancel(nil)
		s.busy.Unlock()
		select {
		case <-s.killed:
			s.in.users.changed()
		default:
		}
	}
}

// Batch runs a batch of statements. It returns an error only when the session's
// work must end: the context's, the sink's, or that of a killed session. Errors
// of statements go to the sink.
func (s *Session) Batch(ctx context.Context, sql string, sink Sink) error {
	ctx, end := s.begin(ctx)
	defer end()
	x := s.exec(ctx, sink)
	s.lastStatement.Store(&sql)
	prog, err := s.in.parse(sql, !s.quotedOff)
	if err != nil {
		return x.report(err, true)
	}
	x.enter(planAdhoc, prog, "", 0)
	return x.finish(x.runProgram(prog, newVariables(), nil))
}

// Reset returns the session to its state after login (sp_reset_connection), but
// for the isolation level, which pooled connections of SQL Server hand on
// (dotnet/SqlClient issue 96).
// With keepTransaction an open transaction stays.
func (s *Session) Reset(ctx context.Context, keepTransaction bool, sink Sink) error {
	ctx, end := s.begin(ctx)
	defer end()
	if !keepTransaction {
		if err := s.exec(ctx, sink).rollbackAll(); err != nil {
			return err
		}
	}
	s.dropTempTables()
	isolation := s.isolation
	s.settings = defaultSettings()
	s.isolation = isolation
	s.impersonated = nil
	s.restored()
	s.releaseAppLocks()
	s.plans, s.bound = map[tsql.Stmt]*plan{}, map[*tsql.Program]*Database{}
	s.handles = map[int32]*prepared{}
	s.cursors = map[string]*cursor{}
	s.lastError, s.rowCount, s.identity, s.context = 0, 0, value{}, value{}
	name := s.from.Database
	if name == "" {
		name = s.login.DefaultDatabase
	}
	if db := s.in.Database(name); db != nil && db != s.currentDB() {
		old := s.Database()
		s.db.Store(db)
		if err := sink.EnvChange(EnvDatabase, []byte(db.Name()), []byte(old)); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// tempTable finds a # table of the session.
func (s *Session) tempTable(name string) *Table { return s.temp[fold(name)] }

func (s *Session) dropTempTables() {
	if len(s.temp) == 0 {
		return
	}
	txn := s.in.tempdb.store.Begin(storage.TxnOptions{Owner: s.owner})
	for _, t := range s.temp {
		if err := txn.DropTable(t.ID); err != nil {
			break
		}
	}
	s.temp = map[string]*Table{}
	if _, err := txn.Commit(); err != nil {
		txn.Rollback()
	}
}

// exec starts an outermost scope.
func (s *Session) exec(ctx context.Context, sink Sink) *Exec {
	return &Exec{s: s, in: s.in, ctx: ctx, sink: sink, db: s.currentDB(), scope: newVariables()}
}

// isSysadmin reports a member of the server role sysadmin.
func (s *Session) isSysadmin() bool { return s.effectiveLogin().Sysadmin }

// effectiveLogin is the login whose rights count, as it is now: what it was
// granted since the session began counts at once (MS docs: GRANT Server Permissions).
func (s *Session) effectiveLogin() *login {
	l := s.login
	if n := len(s.impersonated); n > 0 {
		l = s.impersonated[n-1]
	}
	if l.userOnly != "" {
		return l
	}
	if now := s.in.login(l.Name); now != nil && now.ID == l.ID {
		return now
	}
	return l
}

// RowsRead is the number of rows that the last statement read from tables and
// virtual tables: what it cost.
func (s *Session) RowsRead() int64 { return s.lastRowsRead }
