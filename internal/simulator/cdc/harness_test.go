package cdc_test

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/cdc"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// manualClock stands still until it is advanced; timers then run one after the
// other in the caller's goroutine.
type manualClock struct {
	mu     sync.Mutex
	now    time.Time
	timers []*manualTimer
}

type manualTimer struct {
	at time.Time
	f  func()
}

func newClock() *manualClock {
	return &manualClock{now: time.Date(2024, 3, 5, 12, 0, 0, 0, time.UTC)}
}

func (c *manualClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *manualClock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &manualTimer{at: c.now.Add(d), f: f}
	c.timers = append(c.timers, t)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.remove(t)
	}
}

func (c *manualClock) remove(t *manualTimer) bool {
	for i, have := range c.timers {
		if have == t {
			c.timers = append(c.timers[:i:i], c.timers[i+1:]...)
			return true
		}
	}
	return false
}

// advance moves the clock and runs what becomes due, in order.
func (c *manualClock) advance(d time.Duration) {
	c.mu.Lock()
	end := c.now.Add(d)
	for {
		sort.SliceStable(c.timers, func(i, j int) bool { return c.timers[i].at.Before(c.timers[j].at) })
		if len(c.timers) == 0 || c.timers[0].at.After(end) {
			break
		}
		t := c.timers[0]
		c.timers = c.timers[1:]
		if t.at.After(c.now) {
			c.now = t.at
		}
		c.mu.Unlock()
		t.f()
		c.mu.Lock()
	}
	c.now = end
	c.mu.Unlock()
}

// server is an instance with change data capture and one session of sa.
type server struct {
	t       *testing.T
	in      *engine.Instance
	agent   *cdc.Agent
	clock   *manualClock
	session *engine.Session
}

func newServer(t *testing.T, dir string, clock *manualClock) *server {
	t.Helper()
	return openServer(t, engine.Options{Dir: dir}, clock)
}

// openServer is newServer with a version, an edition or a time zone.
func openServer(t *testing.T, opts engine.Options, clock *manualClock) *server {
	t.Helper()
	opts.Clock, opts.Logins = clock, map[string]string{"sa": "secret"}
	in, err := engine.New(opts)
	require.NoError(t, err)
	s := &server{t: t, in: in, agent: cdc.Enable(in, clock), clock: clock}
	s.session = s.login("sa", "secret", "master")
	return s
}

// start is a server with a database that captures.
func start(t *testing.T) *server {
	t.Helper()
	return startWith(t, engine.Options{}, newClock())
}

// startWith is start with a version, an edition or a time zone.
func startWith(t *testing.T, opts engine.Options, clock *manualClock) *server {
	t.Helper()
	s := openServer(t, opts, clock)
	t.Cleanup(s.close)
	s.exec("CREATE DATABASE shop")
	s.session.Close()
	s.session = s.login("sa", "secret", "shop") // Azure SQL Database has no USE
	s.exec("EXEC sys.sp_cdc_enable_db")
	return s
}

// reader is a session of a user with no rights at first.
func (s *server) reader() *engine.Session {
	s.t.Helper()
	s.exec("CREATE LOGIN reader WITH PASSWORD = 'pw', CHECK_POLICY = OFF; CREATE USER reader FOR LOGIN reader")
	session := s.login("reader", "pw", "shop")
	s.t.Cleanup(session.Close)
	return session
}

func (s *server) close() {
	s.session.Close()
	s.agent.Stop()
	require.NoError(s.t, s.in.Close())
}

func (s *server) login(user, password, database string) *engine.Session {
	s.t.Helper()
	session, err := s.in.Login(engine.Login{User: user, Password: password, Database: database})
	require.NoError(s.t, err)
	return session
}

// answer collects what a batch sends.
type answer struct {
	rows   [][]sqltypes.Value
	info   []string
	errors []*sqltypes.Error
	status []int32
}

func (a *answer) Columns([]engine.Column) error { return nil }
func (a *answer) Row(r []sqltypes.Value) error {
	a.rows = append(a.rows, append([]sqltypes.Value(nil), r...))
	return nil
}
func (a *answer) Done(engine.DoneInfo) error { return nil }
func (a *answer) Message(m *engine.Message) error {
	if m.Class <= 10 {
		a.info = append(a.info, m.Text)
		return nil
	}
	a.errors = append(a.errors, &sqltypes.Error{Number: m.Number, State: m.State, Class: m.Class, Message: m.Text, Procedure: m.Procedure})
	return nil
}
func (a *answer) EnvChange(engine.EnvKind, []byte, []byte) error { return nil }
func (a *answer) ReturnStatus(s int32) error                     { a.status = append(a.status, s); return nil }

func (a *answer) ReturnValue(string, int, sqltypes.Type, sqltypes.Value) error {
	return nil
}

func batch(t *testing.T, session *engine.Session, sql string) *answer {
	t.Helper()
	var a answer
	require.NoError(t, session.Batch(context.Background(), sql, &a), sql)
	return &a
}

// exec runs a batch that must succeed.
func (s *server) exec(sql string) *answer {
	s.t.Helper()
	a := batch(s.t, s.session, sql)
	if len(a.errors) > 0 {
		require.NoError(s.t, a.errors[0], sql)
	}
	return a
}

// fails runs a batch that must fail and returns its first error.
func (s *server) fails(sql string) *sqltypes.Error {
	s.t.Helper()
	a := batch(s.t, s.session, sql)
	require.NotEmpty(s.t, a.errors, sql)
	return a.errors[0]
}

// query returns the rows of a batch, values separated by blanks.
func (s *server) query(sql string) []string {
	s.t.Helper()
	var lines []string
	for _, r := range s.exec(sql).rows {
		var fields []string
		for _, v := range r {
			fields = append(fields, show(v))
		}
		lines = append(lines, strings.Join(fields, " "))
	}
	return lines
}

// value is the only value of a query.
func (s *server) value(sql string) string {
	s.t.Helper()
	rows := s.query(sql)
	require.Len(s.t, rows, 1, sql)
	return rows[0]
}

func show(v sqltypes.Value) string {
	switch v.Kind() {
	case sqltypes.KindNull:
		return "NULL"
	case sqltypes.KindInt:
		return fmt.Sprint(v.Int64())
	case sqltypes.KindBytes:
		return fmt.Sprintf("0x%X", v.Raw())
	case sqltypes.KindDateTime:
		at := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, v.Days()).Add(time.Duration(v.Ticks()) * time.Second / 300)
		return at.Format("2006-01-02T15:04:05")
	}
	return v.Str()
}

// capture runs the capture job's work now.
func (s *server) capture() {
	s.t.Helper()
	require.NoError(s.t, s.agent.CaptureNow("shop"))
}

// track enables capture of dbo.<table> with the arguments given after it.
func (s *server) track(table string, more ...string) {
	s.t.Helper()
	args := append([]string{"@source_schema = N'dbo'", "@source_name = N'" + table + "'", "@role_name = NULL"}, more...)
	s.exec("EXEC sys.sp_cdc_enable_table " + strings.Join(args, ", "))
}

// changes prints an instance's change rows in the order of the change table:
// transaction and sequence by their rank among those of all rows, operation,
// mask, command id, then the named columns.
func (s *server) changes(instance string, columns ...string) []string {
	s.t.Helper()
	list := ""
	for _, c := range columns {
		list += ", [" + c + "]"
	}
	return s.query(fmt.Sprintf(`SELECT DENSE_RANK() OVER (ORDER BY [__$start_lsn]), DENSE_RANK() OVER (PARTITION BY [__$start_lsn] ORDER BY [__$seqval]),
	[__$operation], [__$update_mask], [__$command_id]%s FROM cdc.[%s_CT] ORDER BY [__$start_lsn], [__$command_id], [__$seqval], [__$operation]`, list, instance))
}
