package input_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

var deferredUpdates = []struct {
	name, update string
	crash        bool // also crashes after each of its events
}{
	{"primary key up", "UPDATE dbo.t SET id = id + 1", true},
	{"primary key down", "UPDATE dbo.t SET id = id - 1", false},
	{"primary key reversed", "UPDATE dbo.t SET id = 5 - id", false},
	{"unique column up", "UPDATE dbo.t SET u = u + 1", true},
	{"unique column swapped", "UPDATE dbo.t SET u = CASE u WHEN 11 THEN 12 WHEN 12 THEN 11 ELSE u END", false},
	{"both", "UPDATE dbo.t SET id = id + 1, u = u - 1", false},
	{"key to itself", "UPDATE dbo.t SET id = id, v = v + 1", false},
	{"one row", "UPDATE dbo.t SET id = 9 WHERE id = 4", true},
	{"one row's unique column", "UPDATE dbo.t SET u = 99 WHERE id = 4", true},
	{"several statements", "BEGIN TRAN\nUPDATE dbo.t SET id = id + 1\nUPDATE dbo.t SET id = id + 1, u = u + 1\nDELETE dbo.t WHERE id = 4\nINSERT dbo.t VALUES (4, 20, 0)\nCOMMIT", false},
}

const deferredTable = `
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, u int NOT NULL UNIQUE, v int NOT NULL)
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
INSERT dbo.t VALUES (1, 11, 0), (2, 12, 0), (3, 13, 0), (4, 14, 0)
`

// Updates of unique columns are deletes and inserts, in the order of their
// command ids: applied one by one they give the table, at any size of page
// (powersync-ja/powersync-service#742, debezium/debezium#7728).
func TestCases_DeferredUpdatesConverge(t *testing.T) {
	for _, c := range deferredUpdates {
		for size := 1; size <= 3; size++ {
			t.Run(fmt.Sprintf("%s by %d", c.name, size), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newQuietServer(t, deferredTable)
					p := startPipeline(t, server, settings{fields: pageSizes(size)})
					require.Len(t, p.settled(), 4)
					change(t, server, c.update)
					requireGrowing(t, p.settled())
					want := tableRows(t, server, "SELECT id, u, v FROM dbo.t ORDER BY id")
					assert.ElementsMatch(t, want, replica(t, p.all))
				})
			})
		}
	}
}

// A crash after any event of such an update neither loses nor repeats one.
func TestCases_CrashInsideADeferredUpdate(t *testing.T) {
	for _, c := range deferredUpdates {
		if !c.crash {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newQuietServer(t, deferredTable)
				s := settings{store: newStore(), fields: pageSizes(2) + "max_batch_size: 1"}
				p := startPipeline(t, server, s)
				require.Len(t, p.settled(), 4)
				p.stop()
				change(t, server, c.update)
				run := s
				run.store = s.store.copyOf()
				whole := startPipeline(t, server, run)
				events := whole.settled()
				whole.stop()
				for n := range race.Every(len(events), 3) {
					run.store = s.store.copyOf()
					accepted, left := crash(t, server, run, n)
					again := startPipeline(t, server, settings{store: left, fields: s.fields})
					assert.Equal(t, placed(events), append(placed(accepted), placed(again.settled())...), "crash after %d", n)
					again.stop()
				}
			})
		})
	}
}

// tableRows reads a table's rows as events write them, each column an int.
func tableRows(t *testing.T, server *simulator.Server, query string) []string {
	t.Helper()
	sets, err := server.Query("USE db\n" + query)
	require.NoError(t, err)
	last := sets[len(sets)-1]
	rows := []string{}
	for _, row := range last.Rows {
		var fields []string
		for i, v := range row {
			fields = append(fields, fmt.Sprintf(`"%s":%d`, last.Columns[i].Name, v.Int64()))
		}
		rows = append(rows, "{"+strings.Join(fields, ",")+"}")
	}
	return rows
}

// Over several tables the rows come in the order in which they were written,
// whatever the sizes of pages and passes: parents before children, and of one
// row the newest last (airbytehq/airbyte#23850, redpanda connect #3605).
func TestCases_OneOrderOverTables(t *testing.T) {
	for seed := uint64(1); seed <= 12; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 0))
				tables := 1 + random.IntN(4)
				var script strings.Builder
				for i := range tables {
					fmt.Fprintf(&script, "CREATE TABLE dbo.t%d (id int NOT NULL PRIMARY KEY, step int NOT NULL)\n%s", i, enable("dbo", fmt.Sprintf("t%d", i)))
				}
				server := newQuietServer(t, script.String())
				fields := pageSizes(1+random.IntN(3)) + fmt.Sprintf("max_iteration_transactions: %d\nmax_batch_size: %d\n", random.IntN(4), 1+random.IntN(5))
				p := startPipeline(t, server, settings{fields: fields})
				require.Empty(t, p.settled())

				w := &stepWriter{random: random, tables: tables, rows: map[[2]int]bool{}}
				change(t, server, w.transactions(12))
				got := p.settled()
				requireGrowing(t, got)
				var steps []int
				for _, m := range got {
					if m.Op == "c" || m.Op == "u" {
						var row struct{ Step int }
						require.NoError(t, json.Unmarshal([]byte(after(t, m)), &row))
						steps = append(steps, row.Step)
					}
				}
				assert.Equal(t, w.committed, steps, fields)
			})
		})
	}
}

// stepWriter writes transactions whose inserts and updates carry a number that
// grows.
type stepWriter struct {
	random    *rand.Rand
	tables    int
	step      int
	rows      map[[2]int]bool // table, id
	committed []int
}

func (w *stepWriter) transactions(n int) string {
	var script strings.Builder
	for range n {
		before, rows := len(w.committed), make(map[[2]int]bool, len(w.rows))
		for row := range w.rows {
			rows[row] = true
		}
		script.WriteString("BEGIN TRAN\n")
		for range 1 + w.random.IntN(6) {
			script.WriteString(w.statement() + "\n")
		}
		if w.random.IntN(4) == 0 {
			script.WriteString("ROLLBACK\n")
			w.committed, w.rows = w.committed[:before], rows
		} else {
			script.WriteString("COMMIT\n")
		}
	}
	return script.String()
}

func (w *stepWriter) statement() string {
	table, id := w.random.IntN(w.tables), w.random.IntN(4)
	row := [2]int{table, id}
	if w.rows[row] && w.random.IntN(4) == 0 {
		delete(w.rows, row)
		return fmt.Sprintf("DELETE dbo.t%d WHERE id = %d", table, id)
	}
	w.step++
	w.committed = append(w.committed, w.step)
	if w.rows[row] {
		return fmt.Sprintf("UPDATE dbo.t%d SET step = %d WHERE id = %d", table, w.step, id)
	}
	w.rows[row] = true
	return fmt.Sprintf("INSERT dbo.t%d VALUES (%d, %d)", table, id, w.step)
}

// All rows of one table may come after all rows of another in a transaction
// larger than any page; neither starves.
func TestCases_OneTableBehindAnotherInATransaction(t *testing.T) {
	for _, first := range []string{"a", "b"} {
		for size := 1; size <= 3; size++ {
			synctest.Test(t, func(t *testing.T) {
				second := map[string]string{"a": "b", "b": "a"}[first]
				server := newQuietServer(t, lines(
					"CREATE TABLE dbo.a (id int NOT NULL PRIMARY KEY)", "CREATE TABLE dbo.b (id int NOT NULL PRIMARY KEY)",
					enable("dbo", "a"), enable("dbo", "b")))
				p := startPipeline(t, server, settings{fields: pageSizes(size)})
				require.Empty(t, p.settled())
				script, want := "BEGIN TRAN\n", []string(nil)
				for _, table := range []string{first, second} {
					for id := range 10 {
						script += fmt.Sprintf("INSERT dbo.%s VALUES (%d)\n", table, id)
						want = append(want, fmt.Sprintf(`c dbo.%s {"id":%d}`, table, id))
					}
				}
				change(t, server, script+"COMMIT")
				p.want(want...)
				p.quiet()
			})
		}
	}
}

// A transaction larger than a batch loses nothing when the process dies after
// any of its batches, in one table or over two (redpanda connect #4677).
func TestCases_BatchEndsInsideATransaction(t *testing.T) {
	for _, tables := range []int{1, 2} {
		for _, accept := range []int{0, 4, 8, 9} {
			t.Run(fmt.Sprintf("%d tables, %d accepted", tables, accept), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var script strings.Builder
					for i := range tables {
						fmt.Fprintf(&script, "CREATE TABLE dbo.t%d (id int NOT NULL PRIMARY KEY)\n%s", i, enable("dbo", fmt.Sprintf("t%d", i)))
					}
					server := newQuietServer(t, script.String())
					s := settings{store: newStore(), fields: "max_batch_size: 4\n" + pageSizes(3)}
					p := startPipeline(t, server, s)
					require.Empty(t, p.settled())
					p.stop()
					transaction, want := "BEGIN TRAN\n", []string(nil)
					for id := range 10 {
						transaction += fmt.Sprintf("INSERT dbo.t%d VALUES (%d)\n", id%tables, id)
						want = append(want, fmt.Sprintf(`c dbo.t%d {"id":%d}`, id%tables, id))
					}
					change(t, server, transaction+"COMMIT")
					accepted, left := crash(t, server, s, accept)
					s.store = left
					rest := startPipeline(t, server, s).settled()
					assert.Equal(t, want, append(shorts(accepted), shorts(rest)...))
				})
			})
		}
	}
}

// An error while change tables are read and merged is never the end of rows:
// nothing behind the failed row is delivered or saved before it, wherever the
// error strikes and whatever it is (estuary da310c2d9, go-mssqldb #244).
func TestCases_ReadErrorIsNotTheEndOfRows(t *testing.T) {
	actions := []struct {
		name string
		do   simulator.Action
	}{
		{"cut", simulator.Cut()},
		{"I/O error", simulator.Fail(823, 24, 2, "The operating system returned error 21.")},
		{"deadlock", simulator.Fail(1205, 13, 51, "Transaction was deadlocked on lock resources.")},
		{"timeout", simulator.Fail(1222, 16, 51, "Lock request time out period exceeded.")},
	}
	// Each place with one of them. The first statement on a change table asks
	// whether it has changes, the second reads its first page, the third the next;
	// 2 rows is behind the last of a page.
	for i := range race.Every(2*3*3, 5) {
		action, table, nth, rows := actions[i%len(actions)], "ab"[i/9:i/9+1], i/3%3+1, int64(i%3)
		t.Run(fmt.Sprintf("%s after %d rows of statement %d on %s", action.name, rows, nth, table), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				readError(t, simulator.Fault{On: "select from cdc.dbo_" + table + "_ct", Nth: nth, AfterRows: rows, Do: action.do})
			})
		})
	}
}

// readError runs one fault while two tables are read.
func readError(t *testing.T, fault simulator.Fault) {
	t.Helper()
	server := newQuietServer(t, lines(
		"CREATE TABLE dbo.a (id int NOT NULL PRIMARY KEY)", "CREATE TABLE dbo.b (id int NOT NULL PRIMARY KEY)",
		enable("dbo", "a"), enable("dbo", "b")))
	kept, accepted := newStore(), &acceptance{}
	p := startPipeline(t, server, settings{store: kept, output: accepted.take, fields: noData + "max_batch_size: 1\nstreaming_fetch_size: 2\npoll_interval: 5s"})
	require.Empty(t, p.settled())
	kept.onSet = accepted.saves
	armed := server.Control(fault)
	change(t, server, lines(
		"INSERT dbo.a VALUES (1)", "INSERT dbo.b VALUES (2)", "INSERT dbo.b VALUES (3)", "INSERT dbo.a VALUES (5)",
		"INSERT dbo.b VALUES (6)"))
	p.want(`c dbo.a {"id":1}`, `c dbo.b {"id":2}`, `c dbo.b {"id":3}`, `c dbo.a {"id":5}`, `c dbo.b {"id":6}`)
	p.quiet()
	if fault.Nth <= 2 {
		assert.Equal(t, 1, armed.Fired(), "the fault struck")
	}
	requireGrowing(t, p.all)
	accepted.check(t)
}

// acceptance is an output that takes everything, and the positions that are saved
// beside it.
type acceptance struct {
	mu    sync.Mutex
	taken []received
	saved []savedPosition
}

// savedPosition is a position and the number of messages accepted before it was
// saved.
type savedPosition struct {
	at       string
	accepted int
}

func (a *acceptance) take(_ context.Context, batch []received) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.taken = append(a.taken, batch...)
	return nil
}

var positionOf = regexp.MustCompile(`"position":"([^"]+)"`)

// saves is a hook of a store.
func (a *acceptance) saves(_ context.Context, key string, value []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if found := positionOf.FindSubmatch(value); found != nil && strings.Contains(key, ".position.") {
		a.saved = append(a.saved, savedPosition{string(found[1]), len(a.taken)})
	}
	return nil
}

// check fails if a position was saved before a message that it stands at or
// behind was accepted.
func (a *acceptance) check(t *testing.T) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	require.NotEmpty(t, a.saved)
	for _, s := range a.saved {
		if s.accepted < len(a.taken) {
			require.Less(t, s.at, a.taken[s.accepted].Position, "saved after %d messages", s.accepted)
		}
	}
}
