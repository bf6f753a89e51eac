package engine_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the results in testdata")

// recorder is a sink that prints what it gets.
type recorder struct {
	out     strings.Builder
	columns []engine.Column
	rows    int
	errors  []int32
	failRow int
}

var errSink = errors.New("the connection is gone")

func (r *recorder) Columns(cols []engine.Column) error {
	r.columns = cols
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = c.Name + " " + c.Type.String()
		if c.Name == "" {
			names[i] = c.Type.String()
		}
	}
	fmt.Fprintf(&r.out, "%s\n", strings.Join(names, " | "))
	return nil
}

func (r *recorder) Row(row []sqltypes.Value) error {
	r.rows++
	if r.rows == r.failRow {
		return errSink
	}
	cells := make([]string, len(row))
	for i, v := range row {
		cells[i] = show(v, r.columns[i].Type)
	}
	fmt.Fprintf(&r.out, "%s\n", strings.Join(cells, " | "))
	return nil
}

func show(v sqltypes.Value, t sqltypes.Type) string {
	switch {
	case v.IsNull():
		return "NULL"
	case v.Kind() == sqltypes.KindBytes:
		return fmt.Sprintf("0x%X", v.Raw())
	}
	if t.ID == sqltypes.SQLVariant {
		v, t = v.Variant()
	}
	s, err := sqltypes.Convert(v, t, sqltypes.NVarCharOf(sqltypes.Max), 121)
	if err != nil {
		s, err = sqltypes.Convert(v, t, sqltypes.NVarCharOf(sqltypes.Max), 0)
	}
	if err != nil {
		return "?" + err.Error()
	}
	return s.Str()
}

func (r *recorder) Done(d engine.DoneInfo) error {
	if d.HasCount {
		fmt.Fprintf(&r.out, "(%d)\n", d.Count)
	}
	return nil
}

func (r *recorder) Message(m *engine.Message) error {
	if m.Class > 10 {
		r.errors = append(r.errors, m.Number)
	}
	where := ""
	if m.Procedure != "" {
		where = ", " + m.Procedure
	}
	if m.Class == 0 && m.Number == 0 {
		fmt.Fprintf(&r.out, "%s\n", m.Text)
		return nil
	}
	fmt.Fprintf(&r.out, "Msg %d, Level %d, State %d, Line %d%s: %s\n", m.Number, m.Class, m.State, m.Line, where, m.Text)
	return nil
}

func (r *recorder) EnvChange(kind engine.EnvKind, newValue, _ []byte) error {
	switch kind {
	case engine.EnvDatabase:
		fmt.Fprintf(&r.out, "database %s\n", newValue)
	case engine.EnvBegin, engine.EnvCommit, engine.EnvRollback:
		fmt.Fprintf(&r.out, "%s\n", map[engine.EnvKind]string{engine.EnvBegin: "begin", engine.EnvCommit: "commit", engine.EnvRollback: "rollback"}[kind])
	}
	return nil
}

func (r *recorder) ReturnStatus(status int32) error {
	fmt.Fprintf(&r.out, "return %d\n", status)
	return nil
}

func (r *recorder) ReturnValue(name string, ordinal int, t sqltypes.Type, v sqltypes.Value) error {
	fmt.Fprintf(&r.out, "output %d %s = %s\n", ordinal, name, show(v, t))
	return nil
}

// stopped is a clock that stands still.
type stopped struct{ storage.SystemClock }

func (stopped) Now() time.Time { return time.Date(2024, 5, 6, 7, 8, 9, 100_000_000, time.UTC) }

func newInstance(t *testing.T) *engine.Instance {
	t.Helper()
	in, err := engine.New(engine.Options{Clock: stopped{}, Logins: map[string]string{"reader": "secret"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, in.Close()) })
	return in
}

func login(t *testing.T, in *engine.Instance, database string) *engine.Session {
	t.Helper()
	s, err := in.Login(engine.Login{User: "sa", Database: database, App: "test"})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// run executes a batch and returns what the client would see.
func run(t *testing.T, s *engine.Session, sql string) string {
	t.Helper()
	r := &recorder{}
	require.NoError(t, s.Batch(t.Context(), sql, r))
	return r.out.String()
}

// must executes a batch that may not fail.
func must(t *testing.T, s *engine.Session, sql string) *recorder {
	t.Helper()
	r := &recorder{}
	require.NoError(t, s.Batch(t.Context(), sql, r))
	require.Empty(t, r.errors, "%s\n%s", sql, r.out.String())
	return r
}

// shop is a session in a new database.
func shop(t *testing.T) (*engine.Instance, *engine.Session) {
	t.Helper()
	in := newInstance(t)
	s := login(t, in, "")
	must(t, s, "CREATE DATABASE shop")
	must(t, s, "USE shop")
	return in, s
}

// TestScripts runs testdata/*.txt. A script is prose, then sections of SQL, a
// line of four dashes, and the answer, up to a blank line. "@@@name" on the first
// line runs the section in another session, logged in as sa.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			got := runScript(t, string(text))
			if *rewrite {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got)
		})
	}
}

func runScript(t *testing.T, text string) string {
	in, first := shop(t)
	sessions := map[string]*engine.Session{"": first}
	current := first
	var out strings.Builder
	for i, section := range strings.Split(strings.TrimRight(text, "\n"), "\n\n") {
		if i > 0 {
			out.WriteString("\n")
		}
		if strings.HasPrefix(section, "#") {
			out.WriteString(section + "\n")
			continue
		}
		sql, _, _ := strings.Cut(section+"\n", "\n----\n")
		sql = strings.TrimRight(sql, "\n")
		out.WriteString(sql + "\n----\n")
		if name, rest, ok := strings.Cut(sql, "\n"); ok && strings.HasPrefix(name, "@@@") {
			name = strings.TrimPrefix(name, "@@@")
			if sessions[name] == nil {
				sessions[name] = login(t, in, "shop")
			}
			current, sql = sessions[name], rest
		}
		r := &recorder{}
		if err := current.Batch(t.Context(), sql, r); err != nil {
			fmt.Fprintf(&r.out, "session ended: %v\n", err)
		}
		out.WriteString(r.out.String())
	}
	return out.String()
}

var _ engine.Sink = (*recorder)(nil)
