package manage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// world is a database whose tables have columns and instances, and the sessions
// with it.
type world struct {
	tables   []*sqlserver.ManagedTable
	rights   sqlserver.ManageRights
	denied   error // of the rights
	version  int64 // changes with the tables
	looks    int   // how often everything was asked for
	marks    int
	sessions int // open
	connects int
	refuse   error // of connections
	next     int32 // object id
	columns  int32 // the last column_id, of any table
	lsn      byte
	// fail returns what becomes of a statement instead.
	fail func(statement string) error
	// deaf returns what becomes of a statement that has run.
	deaf func() error
	ran  []string // statements that succeeded, by verb and instance
	log  strings.Builder
	said []string // warnings
}

func newWorld(tables ...*sqlserver.ManagedTable) *world {
	return &world{tables: tables, rights: sqlserver.ManageRights{User: "u", Owner: true}, next: 1000, columns: 100, lsn: 100}
}

func (w *world) manager(t *testing.T, enable bool) *Manager {
	t.Helper()
	return New(Options{
		Owner: owner, Enable: enable, Selection: everything(t),
		Connect: func(context.Context) (Session, error) {
			w.sessions++
			w.connects++
			return session{w}, w.refuse
		},
		Logger: slog.New(slog.NewTextHandler(&w.log, nil)),
		Warn:   func(table, text string) { w.said = append(w.said, table+": "+text) },
	})
}

type session struct{ *world }

func (w *world) ManageRights(context.Context) (sqlserver.ManageRights, error) {
	return w.rights, w.denied
}

func (w *world) ManagedMark(context.Context) (sqlserver.ManagedMark, error) {
	w.marks++
	return sqlserver.ManagedMark{Tables: w.version}, nil
}

func (w *world) Managed(context.Context, sqlserver.Selection) (sqlserver.Managed, error) {
	w.looks++
	var m sqlserver.Managed
	for _, t := range w.tables {
		c := *t
		c.Instances = slices.Clone(t.Instances)
		m.Tables = append(m.Tables, &c)
		for _, ci := range t.Instances {
			m.Names = append(m.Names, ci.Name)
		}
	}
	return m, nil
}

// alter adds a column to a table.
func (w *world) alter(t *sqlserver.ManagedTable, column string) {
	w.version++
	w.columns++
	t.Columns = append(slices.Clone(t.Columns), sqlserver.ManagedColumn{ID: int(w.columns), Name: column})
}

func (s session) Close() error { s.sessions--; return nil }

// Manage does what a statement says, as far as tests ask.
func (s session) Manage(_ context.Context, statement string) error {
	w := s.world
	if w.fail != nil {
		if err := w.fail(statement); err != nil {
			return err
		}
	}
	w.version++
	_, rest, _ := strings.Cut(statement, "@source_name = N'")
	name, rest, _ := strings.Cut(rest, "'")
	_, rest, _ = strings.Cut(rest, "@capture_instance = N'")
	instance, _, _ := strings.Cut(rest, "'")
	t := w.tables[slices.IndexFunc(w.tables, func(t *sqlserver.ManagedTable) bool { return t.Name == name })]
	if strings.Contains(statement, "sp_cdc_disable_table") {
		t.Instances = slices.DeleteFunc(t.Instances, func(ci sqlserver.ManagedInstance) bool { return ci.Name == instance })
		w.ran = append(w.ran, "drop "+instance)
		return w.answer()
	}
	w.next++
	w.lsn++
	captured := slices.Clone(t.Columns)
	if _, list, partial := strings.Cut(statement, "@captured_column_list = N'"); partial {
		captured = slices.DeleteFunc(captured, func(col sqlserver.ManagedColumn) bool { return !strings.Contains(list, "["+col.Name+"]") })
	}
	t.Instances = append(t.Instances, sqlserver.ManagedInstance{Name: instance, ObjectID: w.next, CreateDate: time.Now(), StartLSN: at(w.lsn), Captured: captured, PartitionSwitch: true})
	w.ran = append(w.ran, "make "+instance)
	return w.answer()
}

func (w *world) answer() error {
	if w.deaf == nil {
		return nil
	}
	return w.deaf()
}

func everything(t *testing.T) *schema.Selection {
	t.Helper()
	selection, err := schema.NewSelection(schema.SelectionOptions{})
	require.NoError(t, err)
	return selection
}

// wait lets the manager run for a while.
func wait(m *Manager, d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d+time.Millisecond)
	defer cancel()
	m.Run(ctx)
}

func named2(name string, t *sqlserver.ManagedTable) *sqlserver.ManagedTable {
	c := *t
	c.Name, c.ObjectID = name, c.ObjectID+int32(len(name))
	return &c
}

// A column that is added gets an instance; once everything is read of the one
// before it, that is dropped if the manager made it; and so on.
func TestManager_Life(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(table(cols("id")))
		m := w.manager(t, true)
		require.NoError(t, m.Begin(t.Context()))
		assert.Equal(t, []string{"make dbo_t_m12345678_1"}, w.ran)
		settle := func() {
			last := w.tables[0].Instances[len(w.tables[0].Instances)-1]
			m.Know([]Read{{Table: 9, Instance: identify(&last), Alone: true}})
		}
		settle()
		for i, column := range []string{"a", "b", "c"} {
			w.ran = nil
			w.alter(w.tables[0], column)
			wait(m, 3*lookInterval)
			name := []string{"dbo_t_m12345678_1", "dbo_t_m12345678_2", "dbo_t_m12345678_3", "dbo_t_m12345678_4"}
			require.Equal(t, []string{"make " + name[i+1]}, w.ran)
			settle()
			wait(m, 3*lookInterval)
			require.Equal(t, []string{"make " + name[i+1], "drop " + name[i]}, w.ran)
		}
		assert.Contains(t, w.log.String(), `statement="SET LOCK_TIMEOUT 2000; SET DEADLOCK_PRIORITY LOW; EXEC sys.sp_cdc_enable_table`)
		assert.Zero(t, w.sessions)
	})
}

// Whatever statement is the last of a process, run or not: the next process comes
// to the same end.
func TestManager_CrashAtEachStatement(t *testing.T) {
	lost := fmt.Errorf("the end of the process: %w", sqlserver.ErrConnectionLost)
	live := func(t *testing.T, crashAt int, ran bool) (w *world, statements int) {
		w = newWorld(table(cols("id")))
		w.fail = func(string) error {
			if statements++; statements == crashAt && !ran {
				return lost
			}
			return nil
		}
		w.deaf = func() error {
			if statements == crashAt && ran {
				return lost
			}
			return nil
		}
		m, restarted := w.manager(t, true), false
		require.NoError(t, m.Begin(t.Context()))
		for _, column := range []string{"", "a", "b"} {
			if column != "" {
				w.alter(w.tables[0], column)
			}
			for range 10 {
				wait(m, lookInterval)
				if statements == crashAt && !restarted {
					m, restarted = w.manager(t, true), true
					require.NoError(t, m.Begin(t.Context()))
				}
				if instances := w.tables[0].Instances; len(instances) > 0 {
					m.Know([]Read{{Table: 9, Instance: identify(&instances[len(instances)-1]), Alone: true}})
				}
			}
		}
		return w, statements
	}
	synctest.Test(t, func(t *testing.T) {
		undisturbed, n := live(t, 0, false)
		require.Equal(t, []string{"make dbo_t_m12345678_1", "make dbo_t_m12345678_2", "drop dbo_t_m12345678_1", "make dbo_t_m12345678_3", "drop dbo_t_m12345678_2"}, undisturbed.ran)
		for at := 1; at <= n; at++ {
			for _, ran := range []bool{false, true} {
				w, _ := live(t, at, ran)
				assert.Equal(t, undisturbed.ran, w.ran, "statement %d, run %v", at, ran)
			}
		}
	})
}

// Idle, the database is asked one question every five seconds, and everything
// every five minutes.
func TestManager_Idle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(table(cols("id"), instance("theirs", 10, cols("id"))))
		m := w.manager(t, true)
		require.NoError(t, m.Begin(t.Context()))
		wait(m, time.Minute)
		w.looks, w.marks = 0, 0
		wait(m, time.Hour)
		assert.InDelta(t, 12, w.looks, 1)
		assert.InDelta(t, 720, w.marks+w.looks, 2)
		assert.Empty(t, w.ran)
	})
}

// What fails is tried again after pauses that grow, warned of once, and stops no
// other table.
func TestManager_Failure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(table(cols("id")), named2("u", table(cols("id"))))
		attempts := 0
		w.fail = func(statement string) error {
			if strings.Contains(statement, "N't'") {
				attempts++
				return mssql.Error{Number: 22939, Class: 16, Message: "no key"}
			}
			return nil
		}
		m := w.manager(t, true)
		require.NoError(t, m.Begin(t.Context()))
		assert.Equal(t, []string{"make dbo_u_m12345678_1"}, w.ran)
		wait(m, 24*time.Hour)
		assert.InDelta(t, 33, attempts, 2, "5, 10, 20 seconds and so on, then every hour")
		assert.Equal(t, 1, strings.Count(w.log.String(), "level=WARN"))
		assert.Contains(t, w.log.String(), "no key")
		assert.Zero(t, w.sessions)
		w.fail = nil
		wait(m, 2*time.Hour)
		assert.Equal(t, []string{"make dbo_u_m12345678_1", "make dbo_t_m12345678_1"}, w.ran)
		assert.Contains(t, w.log.String(), "managed again")
	})
}

// Before anything is read a busy table is tried three times, and later as others
// are.
func TestManager_BusyAtTheStart(t *testing.T) {
	for _, test := range []struct {
		name string
		busy int
		ran  []string
	}{
		{"for a moment", 2, []string{"make dbo_u_m12345678_1", "make dbo_t_m12345678_1"}},
		{"for long", 10, []string{"make dbo_u_m12345678_1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(table(cols("id")), named2("u", table(cols("id"))))
				busy := test.busy
				w.fail = func(statement string) error {
					if strings.Contains(statement, "N't'") && busy > 0 {
						busy--
						return mssql.Error{Number: 1222, Class: 16, Message: "busy"}
					}
					return nil
				}
				m := w.manager(t, true)
				require.NoError(t, m.Begin(t.Context()))
				assert.Equal(t, test.ran, w.ran)
				assert.Equal(t, max(0, test.busy-startAttempts), busy)
				wait(m, 24*time.Hour)
				assert.Len(t, w.ran, 2)
			})
		})
	}
}

// Schemas and tables whose names run together get instances of different names in
// one look, so that neither table misses the snapshot.
func TestManager_NamesThatMeet(t *testing.T) {
	first, second := named2("b_c", table(cols("id"))), named2("c", table(cols("id")))
	first.Schema, second.Schema = "a", "a_b"
	w := newWorld(first, second)
	w.fail = func(statement string) error {
		for _, done := range w.ran {
			if strings.Contains(statement, "N'"+strings.TrimPrefix(done, "make ")+"'") {
				return mssql.Error{Number: 22926, Class: 16, Message: "the name is in use"}
			}
		}
		return nil
	}
	require.NoError(t, w.manager(t, true).Begin(t.Context()))
	assert.Equal(t, []string{"make a_b_c_m12345678_1", "make a_b_c_m12345678_2"}, w.ran)
}

// Somebody else was quicker: it is looked again, without a word.
func TestManager_Overtaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		subject := table(cols("id"))
		w := newWorld(subject)
		w.fail = func(string) error {
			if len(subject.Instances) > 0 {
				return nil
			}
			subject.Instances = append(subject.Instances, instance("dbo_t_m12345678_1", 10, cols("id")))
			w.version++
			return mssql.Error{Number: 22926, Class: 16, Message: "taken"}
		}
		m := w.manager(t, true)
		require.NoError(t, m.Begin(t.Context()))
		wait(m, time.Minute)
		assert.Empty(t, w.ran)
		assert.NotContains(t, w.log.String(), "WARN")
	})
}

// A name that stays taken is tried as rarely as anything that fails, and what
// somebody else has done is not looked after any more.
func TestManager_TakenForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(table(cols("id")))
		attempts := 0
		w.fail = func(string) error {
			attempts++
			return mssql.Error{Number: 22926, Class: 16, Message: "taken"}
		}
		m := w.manager(t, true)
		require.NoError(t, m.Begin(t.Context()))
		wait(m, 24*time.Hour)
		assert.InDelta(t, 33, attempts, 3)
		assert.Equal(t, 1, strings.Count(w.log.String(), "level=WARN"))
		w.tables[0].Instances = append(w.tables[0].Instances, instance("theirs", 10, cols("id")))
		wait(m, time.Hour)
		w.looks = 0
		wait(m, time.Hour)
		assert.InDelta(t, 12, w.looks, 2)
	})
}

// Without the right, and where nothing can be written, nothing is tried, and a
// remark says why.
func TestManager_NotPermitted(t *testing.T) {
	for _, test := range []struct {
		rights sqlserver.ManageRights
		says   string
	}{
		{sqlserver.ManageRights{User: "the]user"}, "run ALTER ROLE db_owner ADD MEMBER [the]]user]"},
		{sqlserver.ManageRights{Owner: true, ReadOnly: true}, "takes no changes"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(table(cols("id")))
			rights := w.rights
			w.rights = test.rights
			m := w.manager(t, true)
			require.NoError(t, m.Begin(t.Context()))
			require.Len(t, w.said, 1)
			assert.Contains(t, w.said[0], test.says)
			assert.Zero(t, w.looks)
			assert.False(t, m.Permitted())
			w.rights = rights
			wait(m, 2*wholeInterval)
			assert.Len(t, w.ran, 1, "it is asked again")
			assert.True(t, m.Permitted())
		})
	}
}

// The end of the input ends a statement, and nothing is made of that; nor of a
// server that cannot be reached, which is asked ever more rarely.
func TestManager_Connections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(table(cols("id"), instance("theirs", 10, cols("id"))))
		m := w.manager(t, true)
		require.NoError(t, m.Begin(t.Context()))
		wait(m, time.Hour)
		assert.LessOrEqual(t, w.connects, 2, "it is kept")
		assert.Zero(t, w.sessions)
		w.refuse, w.connects = sqlserver.ErrConnectionLost, 0
		wait(m, time.Hour)
		assert.InDelta(t, 60, w.connects, 6)
		assert.NotContains(t, w.log.String(), "WARN")
		assert.Empty(t, w.said)
		w.refuse = nil
		w.alter(w.tables[0], "v")
		ctx, cancel := context.WithCancel(t.Context())
		w.fail = func(string) error {
			cancel()
			return ctx.Err()
		}
		m.Run(ctx)
		assert.NotContains(t, w.log.String(), "WARN")
		w.fail = nil
		wait(m, 2*lookInterval)
		assert.Equal(t, []string{"make dbo_t_m12345678_1"}, w.ran)
	})
}

// More tables than are allowed: those without an instance get none, others do.
func TestManager_TooManyTables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(table(cols("id")), named2("u", table(cols("id", "v"), instance("theirs", 10, cols("id"), added("v")...))))
		m := w.manager(t, true)
		m.opts.Most = 1
		require.NoError(t, m.Begin(t.Context()))
		assert.Equal(t, []string{"make dbo_u_m12345678_1"}, w.ran)
		require.NotEmpty(t, w.said)
		assert.Contains(t, w.said[0], "name 2 tables, more than the 1 of guardrail_collections_max")
	})
}

// A table that somebody has disabled is not enabled again.
func TestManager_DisabledBySomebody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(table(cols("id")))
		m := w.manager(t, true)
		m.Know([]Read{{Table: 9}})
		require.NoError(t, m.Begin(t.Context()))
		wait(m, time.Hour)
		assert.Empty(t, w.ran)
		assert.Contains(t, w.said[0], "to have one, run EXEC sys.sp_cdc_enable_table")
		w.tables[0].ObjectID++ // dropped and made again
		w.version++
		wait(m, 2*lookInterval)
		assert.Len(t, w.ran, 1)
	})
}

// What the catalogue refuses is the caller's before anything is read, and said once
// later.
func TestManager_CatalogueFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.denied = errors.New("no catalogue")
		m := w.manager(t, true)
		require.ErrorIs(t, m.Begin(t.Context()), w.denied)
		wait(m, time.Hour)
		require.NotEmpty(t, w.said)
		assert.Equal(t, ": Capture instances are not managed while they cannot be looked at: no catalogue", w.said[0])
		assert.Zero(t, w.sessions)
	})
}
