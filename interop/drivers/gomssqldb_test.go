//go:build interop

package drivers

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-sql/sqlexp"
	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
	"github.com/stretchr/testify/require"
)

// goMSSQLDB is the driver that the input itself uses.
var goMSSQLDB = client{
	name:  "go-mssqldb",
	modes: []mode{plain, loginOnly, encrypted, strict},
	open:  openGoMSSQLDB,
	cannot: map[string]string{
		"metadata":    "database/sql has no catalogue functions",
		"timeout":     "contexts are its only time-outs, and cancel shows those",
		"strict bulk": "it takes TDS 8 (0x08000000) for older than 7.2 and sends short user types",
	},
}

type goSession struct {
	dsn  string
	conn *sql.Conn
	ctx  context.Context
}

func openGoMSSQLDB(t *testing.T, to target, m mode) session {
	query := url.Values{
		"encrypt":            {map[mode]string{plain: "disable", loginOnly: "false", encrypted: "true", strict: "strict"}[m]},
		"connection timeout": {"60"},
	}
	if m != plain {
		query.Set("certificate", to.authority)
		query.Set("hostnameincertificate", to.host)
	}
	dsn := url.URL{
		Scheme: "sqlserver", User: url.UserPassword("sa", to.password),
		Host: fmt.Sprintf("%s:%d", to.host, to.port), RawQuery: query.Encode(),
	}
	s := &goSession{dsn: dsn.String(), ctx: t.Context()}
	db, err := sql.Open("sqlserver", s.dsn)
	require.NoError(t, err)
	s.conn, err = db.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = s.conn.Close()
		_ = db.Close()
	})
	return s
}

func (s *goSession) do(st step) (answer, error) {
	switch st.Op {
	case "batch":
		return oneRun(s.query(s.ctx, st.SQL))
	case "params":
		return s.params(st)
	case "begin", "commit", "save", "rollback":
		return oneRun(s.query(s.ctx, transactionSQL(st)))
	case "cancel":
		return s.cancel(st)
	case "kill":
		return s.kill(st)
	case "connects":
		return s.connects(st)
	case "bulk":
		return s.bulk(st)
	case "tvp":
		return s.tvp(st)
	case "call":
		return s.call(st)
	}
	return answer{Refused: "unknown command"}, nil
}

func oneRun(r run, err error) (answer, error) { return answer{Runs: []run{r}}, err }

// transactionSQL is for clients without an interface for transactions of their
// own, and for what it lacks.
func transactionSQL(s step) string {
	switch {
	case s.Op == "begin":
		return "BEGIN TRANSACTION"
	case s.Op == "commit":
		return "COMMIT TRANSACTION"
	case s.Op == "save":
		return "SAVE TRANSACTION [" + s.Name + "]"
	case s.Name != "":
		return "ROLLBACK TRANSACTION [" + s.Name + "]"
	}
	return "ROLLBACK TRANSACTION"
}

// query runs a statement and reads all that comes of it.
func (s *goSession) query(ctx context.Context, statement string, args ...any) (run, error) {
	var r run
	message := &sqlexp.ReturnMessage{}
	rows, err := s.conn.QueryContext(ctx, statement, append([]any{message}, args...)...)
	if err != nil {
		return r, r.failed(err)
	}
	defer rows.Close()
	for active := true; active; {
		switch m := message.Message(ctx).(type) {
		case sqlexp.MsgNext:
			set, err := readSet(rows)
			if err != nil {
				return r, r.failed(err)
			}
			r.Sets = append(r.Sets, set)
		case sqlexp.MsgNotice:
			r.notice(m.Message)
		case sqlexp.MsgError:
			if err := r.failed(m.Error); err != nil {
				return r, err
			}
		case sqlexp.MsgNextResultSet:
			active = rows.NextResultSet()
		}
	}
	return r, r.failed(rows.Err())
}

func (r *run) notice(m fmt.Stringer) {
	if e, ok := m.(mssql.Error); ok && isContextChange(e.Number) {
		return
	}
	r.Messages = append(r.Messages, strings.TrimPrefix(m.String(), "mssql: "))
}

// isContextChange tells of messages that follow USE, a login or a failed
// statement and say nothing new.
func isContextChange(number int32) bool { return number == 5701 || number == 5703 || number == 3621 }

// failed keeps the first error that the server sent and returns any other.
func (r *run) failed(err error) error {
	var e mssql.Error
	if !errors.As(err, &e) {
		return err
	}
	if r.Error == nil {
		if len(e.All) > 0 {
			e = e.All[0]
		}
		r.Error = &sqlError{Number: e.Number, Level: int(e.Class), State: int(e.State), Message: e.Message}
	}
	return nil
}

func readSet(rows *sql.Rows) (resultSet, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return resultSet{}, err
	}
	var set resultSet
	values, pointers := make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		set.Columns = append(set.Columns, t.Name())
		pointers[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(pointers...); err != nil {
			return set, err
		}
		row := make([]cell, len(values))
		for i, v := range values {
			row[i] = goCell(types[i], v)
		}
		set.Rows = append(set.Rows, row)
	}
	return set, rows.Err()
}

func (s *goSession) params(st step) (answer, error) {
	prepared, err := s.conn.PrepareContext(s.ctx, st.SQL)
	if err != nil {
		return answer{}, err
	}
	defer prepared.Close()
	var a answer
	for _, row := range st.Rows {
		args, err := goArguments(st.Params, row)
		if err != nil {
			return a, err
		}
		r, err := runPrepared(s.ctx, prepared, args, returnsRows(st.SQL))
		if err != nil {
			return a, err
		}
		a.Runs = append(a.Runs, r)
	}
	return a, nil
}

// returnsRows tells the statements that are read from those whose affected
// rows are counted.
func returnsRows(statement string) bool {
	return strings.HasPrefix(strings.ToUpper(strings.TrimSpace(statement)), "SELECT")
}

func runPrepared(ctx context.Context, prepared *sql.Stmt, args []any, query bool) (run, error) {
	var r run
	if !query {
		result, err := prepared.ExecContext(ctx, args...)
		if err != nil {
			return r, r.failed(err)
		}
		n, err := result.RowsAffected()
		r.Affected = &n
		return r, err
	}
	rows, err := prepared.QueryContext(ctx, args...)
	if err != nil {
		return r, r.failed(err)
	}
	defer rows.Close()
	set, err := readSet(rows)
	r.Sets = append(r.Sets, set)
	return r, r.failed(err)
}

// cancelAfter is how long a statement runs before it is cancelled: long enough
// to have reached the server.
const cancelAfter = 200 * time.Millisecond

func (s *goSession) cancel(st step) (answer, error) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	defer time.AfterFunc(cancelAfter, cancel).Stop()
	_, err := s.conn.ExecContext(ctx, st.SQL)
	if !errors.Is(err, context.Canceled) {
		return answer{}, fmt.Errorf("cancelled, got: %w", err)
	}
	return answer{Runs: []run{{Cancelled: true}}}, nil
}

// cutter remembers the connections it made.
type cutter struct {
	net.Dialer
	mu    sync.Mutex
	conns []net.Conn
}

func (c *cutter) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := c.Dialer.DialContext(ctx, network, address)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conn)
	return conn, err
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}

// kill cuts the connection of a second session while it runs a statement.
func (s *goSession) kill(st step) (answer, error) {
	config, err := msdsn.Parse(s.dsn)
	if err != nil {
		return answer{}, err
	}
	dialer := &cutter{}
	connector := mssql.NewConnectorConfig(config)
	connector.Dialer = dialer
	db := sql.OpenDB(connector)
	defer db.Close()
	victim, err := db.Conn(s.ctx)
	if err != nil {
		return answer{}, err
	}
	if _, err := victim.ExecContext(s.ctx, st.SQL); err != nil {
		return answer{}, err
	}
	ended := make(chan error)
	go func() {
		_, err := victim.ExecContext(s.ctx, st.Then)
		ended <- err
	}()
	dialer.cut()
	if err := <-ended; err == nil {
		return answer{}, errors.New("the statement of a cut connection succeeded")
	}
	return answer{}, nil
}

func (s *goSession) connects(st step) (answer, error) {
	db, err := sql.Open("sqlserver", s.dsn)
	if err != nil {
		return answer{}, err
	}
	defer db.Close()
	db.SetMaxIdleConns(-1)
	for range st.Times {
		if err := db.PingContext(s.ctx); err != nil {
			return answer{}, err
		}
	}
	return answer{}, nil
}

func (s *goSession) bulk(st step) (answer, error) {
	names := make([]string, len(st.Params))
	for i, p := range st.Params {
		names[i] = p.Name
	}
	prepared, err := s.conn.PrepareContext(s.ctx, mssql.CopyIn(st.Name, mssql.BulkOptions{}, names...))
	if err != nil {
		return answer{}, err
	}
	defer prepared.Close()
	for _, row := range st.Rows {
		args, err := goArguments(st.Params, row)
		if err != nil {
			return answer{}, err
		}
		for i := range args {
			args[i] = bulkValue(args[i].(sql.NamedArg).Value)
		}
		if _, err := prepared.ExecContext(s.ctx, args...); err != nil {
			return answer{}, err
		}
	}
	result, err := prepared.ExecContext(s.ctx)
	if err != nil {
		r := run{}
		return oneRun(r, r.failed(err))
	}
	n, err := result.RowsAffected()
	return answer{Runs: []run{{Affected: &n}}}, err
}

// tvpRow is the row of all table types of the scripts.
type tvpRow struct {
	ID   int32
	Name *string
}

func (s *goSession) tvp(st step) (answer, error) {
	rows := make([]tvpRow, len(st.Rows))
	for i, row := range st.Rows {
		id, err := strconv.ParseInt(*row[0], 10, 32)
		if err != nil {
			return answer{}, err
		}
		rows[i] = tvpRow{ID: int32(id), Name: row[1]}
	}
	return oneRun(s.query(s.ctx, st.SQL, sql.Named("rows", mssql.TVP{TypeName: st.Type, Value: rows})))
}

func (s *goSession) call(st step) (answer, error) {
	var status mssql.ReturnStatus
	args := []any{&status}
	outputs := map[string]*sql.NullString{}
	values, err := goArguments(st.Params, st.Rows[0])
	if err != nil {
		return answer{}, err
	}
	for i, p := range st.Params {
		if !p.Output {
			args = append(args, values[i])
			continue
		}
		outputs[p.Name] = &sql.NullString{}
		if value := st.Rows[0][i]; value != nil {
			*outputs[p.Name] = sql.NullString{String: *value, Valid: true}
		}
		args = append(args, sql.Named(p.Name, sql.Out{Dest: outputs[p.Name], In: true}))
	}
	r, err := s.query(s.ctx, st.Name, args...)
	if err != nil {
		return answer{}, err
	}
	code := int32(status)
	r.Status, r.Outputs = &code, map[string]cell{}
	for name, value := range outputs {
		r.Outputs[name] = cell{text: value.String, null: !value.Valid}
	}
	return oneRun(r, nil)
}
