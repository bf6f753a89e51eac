package simulator

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// fake is a backend for tests of the wire alone. Statements are looked up by
// their text, procedures by their name.
type fake struct {
	server     *Server
	statements map[string]func(c *call) error
	nextSPID   atomic.Int32

	mu     sync.Mutex
	logins []engine.Login
	open   int
}

// call is one statement or procedure call at work.
type call struct {
	engine.Sink
	ctx     context.Context
	args    []engine.Arg
	session *fakeSession
}

const password = "p@ss;word=1"

// newFake makes a server on a fake backend.
func newFake(t *testing.T, opts Options) *fake {
	t.Helper()
	s, err := newServer(opts)
	require.NoError(t, err)
	f := &fake{server: s, statements: map[string]func(c *call) error{}}
	s.backend = f
	f.statements["select 1;"] = func(c *call) error { return c.integers(1, 1) } // the driver's Ping
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return f
}

func (f *fake) Login(l engine.Login) (session, error) {
	if l.User != "sa" || l.Password != password {
		return nil, sqltypes.Errorf(18456, 1, 14, "Login failed for user '%s'.", l.User)
	}
	if l.Database == "nowhere" {
		return nil, sqltypes.Errorf(4060, 1, 11, "Cannot open database %q requested by the login. The login failed.", l.Database)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logins = append(f.logins, l)
	f.open++
	return &fakeSession{fake: f, spid: int(51 + f.nextSPID.Add(1)), killed: make(chan struct{})}, nil
}

// sessions is the number of open sessions.
func (f *fake) sessions() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open
}

type fakeSession struct {
	fake       *fake
	spid       int
	descriptor uint64
	resets     int
	killed     chan struct{}
}

func (s *fakeSession) run(ctx context.Context, name string, args []engine.Arg, sink engine.Sink) error {
	if hook := s.fake.server.statementFault(engine.StatementInfo{Kind: "select", Objects: []string{name}, SPID: s.spid}); hook.Do != nil {
		if hook.AfterRows == 0 {
			if err := hook.Do(ctx); err != nil {
				return err
			}
		} else {
			sink = &rowCounter{Sink: sink, left: hook.AfterRows, do: func() error { return hook.Do(ctx) }}
		}
	}
	f, ok := s.fake.statements[name]
	if !ok {
		return sqltypes.Errorf(2812, 62, 16, "Could not find stored procedure '%s'.", name)
	}
	return f(&call{Sink: sink, ctx: ctx, args: args, session: s})
}

// rowCounter runs a fault after some rows, as the engine does.
type rowCounter struct {
	engine.Sink
	left int64
	do   func() error
}

func (r *rowCounter) Row(row []sqltypes.Value) error {
	if err := r.Sink.Row(row); err != nil {
		return err
	}
	if r.left--; r.left == 0 {
		return r.do()
	}
	return nil
}

func (s *fakeSession) Batch(ctx context.Context, sql string, sink engine.Sink) error {
	return s.run(ctx, sql, nil, sink)
}

func (s *fakeSession) Call(ctx context.Context, procedure string, args []engine.Arg, sink engine.Sink) error {
	return s.run(ctx, procedure, args, sink)
}

func (s *fakeSession) BulkLoad(ctx context.Context, _ engine.BulkRows, sink engine.Sink) error {
	return s.run(ctx, "bulk load", nil, sink)
}

func (s *fakeSession) AbandonBulkLoad() {}

func (s *fakeSession) Begin(_ context.Context, isolation byte, _ string, sink engine.Sink) error {
	s.descriptor = 0x100 + uint64(isolation)
	return sink.EnvChange(engine.EnvBegin, binary.LittleEndian.AppendUint64(nil, s.descriptor), nil)
}

func (s *fakeSession) end(kind engine.EnvKind, sink engine.Sink) error {
	if s.descriptor == 0 {
		return sqltypes.Errorf(3902, 1, 16, "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION.")
	}
	old := binary.LittleEndian.AppendUint64(nil, s.descriptor)
	s.descriptor = 0
	return sink.EnvChange(kind, nil, old)
}

func (s *fakeSession) Commit(_ context.Context, _ string, sink engine.Sink) error {
	return s.end(engine.EnvCommit, sink)
}

func (s *fakeSession) Rollback(_ context.Context, _ string, sink engine.Sink) error {
	return s.end(engine.EnvRollback, sink)
}

func (s *fakeSession) Save(context.Context, string, engine.Sink) error {
	return errors.New("not called by the driver")
}

func (s *fakeSession) Reset(context.Context, bool, engine.Sink) error {
	s.resets++
	return nil
}

func (s *fakeSession) Close() {
	s.fake.mu.Lock()
	defer s.fake.mu.Unlock()
	s.fake.open--
}

func (s *fakeSession) SPID() int                   { return s.spid }
func (s *fakeSession) Database() string            { return "master" }
func (s *fakeSession) Done() <-chan struct{}       { return s.killed }
func (s *fakeSession) Transaction() (uint64, bool) { return s.descriptor, s.descriptor != 0 }

// integers answers a result set of one int column.
func (c *call) integers(from, to int) error {
	if err := c.Columns([]engine.Column{{Name: "n", Type: sqltypes.Simple(sqltypes.Int)}}); err != nil {
		return err
	}
	for n := from; n <= to; n++ {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := c.Row([]sqltypes.Value{sqltypes.IntOf(int64(n))}); err != nil {
			return err
		}
	}
	return c.Done(engine.DoneInfo{Command: engine.CommandSelect, HasCount: true, Count: int64(to - from + 1)})
}

// dates answers a result set of the types that came with TDS 7.3.
func (c *call) dates() error {
	day, tick := 738944, int64(37231234567)
	columns := []engine.Column{
		{Name: "d", Type: sqltypes.Simple(sqltypes.Date), Nullable: true},
		{Name: "t", Type: sqltypes.Type{ID: sqltypes.Time, Scale: 2}, Nullable: true},
		{Name: "d2", Type: sqltypes.Type{ID: sqltypes.DateTime2, Scale: 7}, Nullable: true},
		{Name: "o", Type: sqltypes.Type{ID: sqltypes.DateTimeOffset}, Nullable: true},
		{Name: "n", Type: sqltypes.Simple(sqltypes.Date), Nullable: true},
	}
	row := []sqltypes.Value{
		sqltypes.DateOf(day), sqltypes.TimeOf(37231200000), sqltypes.DateTime2Of(day, tick),
		sqltypes.DateTimeOffsetOf(day-1, 703230000000, 330), sqltypes.Null(),
	}
	if err := c.Columns(columns); err != nil {
		return err
	}
	if err := c.Row(row); err != nil {
		return err
	}
	return c.Done(engine.DoneInfo{Command: engine.CommandSelect, HasCount: true, Count: 1})
}

// dsn is a connection string with that user and further options.
func dsn(user, pass string, options ...string) string {
	query := url.Values{"encrypt": {"disable"}}
	for i := 0; i+1 < len(options); i += 2 {
		query.Set(options[i], options[i+1])
	}
	u := url.URL{Scheme: "sqlserver", User: url.UserPassword(user, pass), Host: "localhost", RawQuery: query.Encode()}
	return u.String()
}

// pipeDialer dials the server in memory; it keeps the connections so that a
// test can look at them.
type pipeDialer struct {
	server *Server
	wrap   func(net.Conn) net.Conn
}

func (d pipeDialer) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	c, err := d.server.Dial(ctx)
	if err == nil && d.wrap != nil {
		c = d.wrap(c)
	}
	return c, err
}

func (d pipeDialer) HostName() string { return "localhost" }

// openDB connects the real driver to the server.
func openDB(t *testing.T, s *Server, dsn string) *sql.DB {
	t.Helper()
	connector, err := mssql.NewConnector(dsn)
	require.NoError(t, err)
	connector.Dialer = pipeDialer{server: s}
	db := sql.OpenDB(connector)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}
