package input_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

const tenRows = `
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)
INSERT dbo.t VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL
`

// reads returns what a snapshot of rows of dbo.t delivers.
func reads(from, to int) (want []string) {
	for id := from; id <= to; id++ {
		want = append(want, fmt.Sprintf(`r dbo.t {"id":%d}`, id))
	}
	return want
}

// A snapshot is done when its last row is acknowledged, not when it is read: a
// process that dies while the output holds rows delivers all of them after the
// restart (redpanda connect #4677, #4675, #4687).
func TestCases_SnapshotIsDoneWhenItsRowsAreAcknowledged(t *testing.T) {
	for _, accept := range []int{0, 4, 8} {
		for _, size := range []int{1, 3, 100} {
			t.Run(fmt.Sprintf("%d accepted, pages of %d", accept, size), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newQuietServer(t, tenRows)
					s := settings{store: newStore(), fields: "max_batch_size: 4\n" + pageSizes(size)}
					accepted, left := crash(t, server, s, accept)
					s.store = left
					p := startPipeline(t, server, s)
					got := shorts(p.settled())
					assert.Equal(t, reads(1, len(accepted)), append([]string(nil), shorts(accepted)...))
					assert.Equal(t, reads(11-len(got), 10), got, "from a row on to the end")
					assert.GreaterOrEqual(t, len(got), 10-len(accepted), "no row between")
					change(t, server, "INSERT dbo.t VALUES (11)")
					p.want(`c dbo.t {"id":11}`)
					p.stop()

					again := startPipeline(t, server, s)
					assert.Empty(t, again.settled(), "now it is done")
				})
			})
		}
	}
}

// rejecter is an output that rejects batches with a row of an id a few times.
type rejecter struct {
	mu   sync.Mutex
	text string
	left int
}

func (r *rejecter) write(_ context.Context, batch []received) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range batch {
		if r.left > 0 && strings.Contains(m.Value, r.text) {
			r.left--
			return fmt.Errorf("rejecting %s", m)
		}
	}
	return nil
}

// A rejected batch of the snapshot, be it the last, comes again, and with it
// all that was behind it, in order; only then is the snapshot done.
func TestCases_RejectedSnapshotRowsComeAgain(t *testing.T) {
	for _, id := range []int{1, 5, 10} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newQuietServer(t, tenRows)
				output := &rejecter{text: fmt.Sprintf(`{"id":%d}`, id), left: 2}
				s := settings{store: newStore(), fields: "max_batch_size: 4\n" + pageSizes(4), output: output.write}
				p := startPipeline(t, server, s)
				<-time.After(time.Minute)
				got := shorts(p.rest())
				assert.Zero(t, output.left, "it was rejected twice")
				var last []string
				for i, row := range got {
					if !slices.Contains(got[i+1:], row) {
						last = append(last, row)
					}
				}
				assert.Equal(t, reads(1, 10), last, "the last delivery of each: %v", got)
				p.stop()
				again := startPipeline(t, server, settings{store: s.store})
				assert.Empty(t, again.settled())
			})
		})
	}
}

// Computed columns, persisted or not, are in neither phase, so that the first
// update does not seem to clear them (datazip-inc/olake-docs#424).
func TestCases_ComputedColumnsAreInNoPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newQuietServer(t, lines(
			"CREATE TABLE dbo.t (first AS a * 3, a int NOT NULL PRIMARY KEY, b AS a * 2, c AS a + 1 PERSISTED, v varchar(9), d AS v + '!' PERSISTED)",
			"INSERT dbo.t (a, v) VALUES (1, 'x')", enable("dbo", "t")))
		p := startPipeline(t, server, settings{})
		p.want(`r dbo.t {"a":1,"v":"x"}`)
		change(t, server, "INSERT dbo.t (a, v) VALUES (2, 'y')\nUPDATE dbo.t SET v = 'z'\nDELETE dbo.t WHERE a = 1")
		p.want(
			`c dbo.t {"a":2,"v":"y"}`, `u dbo.t {"a":1,"v":"z"}`, `u dbo.t {"a":2,"v":"z"}`,
			`d dbo.t {"a":1,"v":"z"}`, `tombstone dbo.t {"a":1}`)
		for _, m := range p.all[1:4] {
			for _, row := range []string{"before", "after"} {
				for _, column := range []string{"first", "b", "c", "d"} {
					assert.NotContains(t, rowText(t, m.Value, row), `"`+column+`"`)
				}
			}
		}
	})
}

// Only the captured columns are read, in both phases, and a key that is not
// captured is none.
func TestCases_CapturedColumnsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		snapshot, stream := bothWays(t, lines(
			"CREATE TABLE dbo.t (a int, id int NOT NULL PRIMARY KEY, secret varchar(9), z int)",
			"EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @captured_column_list = N'z, id'",
			"CREATE TABLE dbo.u (id int NOT NULL UNIQUE, v int)",
			"EXEC sys.sp_cdc_enable_table N'dbo', N'u', @role_name = NULL, @captured_column_list = N'v'"),
			"INSERT dbo.t VALUES (1, 2, 'secret', 3), (4, 5, 'secret', 6), (7, 8, 'secret', 9)\nINSERT dbo.u VALUES (1, 10), (2, 10), (3, 10)",
			pageSizes(1))
		want := map[string][]string{
			"dbo.t": {`{"id":2} {"id":2,"z":3}`, `{"id":5} {"id":5,"z":6}`, `{"id":8} {"id":8,"z":9}`},
			"dbo.u": {` {"v":10}`, ` {"v":10}`, ` {"v":10}`},
		}
		assert.Equal(t, want, images(t, snapshot))
		assert.Equal(t, want, images(t, stream))
	})
}

// Rows that change while the snapshot is read come out right in the end: the
// start position is taken before the first row is read.
func TestCases_ChangesDuringTheSnapshotAreNotLost(t *testing.T) {
	for _, isolation := range []string{"snapshot", "read_committed"} {
		for _, size := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%s by %d", isolation, size), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newServer(t, lines(
						"CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int NOT NULL)",
						"CREATE TABLE dbo.u (id int NOT NULL PRIMARY KEY, v int NOT NULL)",
						"INSERT dbo.t VALUES (10, 0), (20, 0), (30, 0), (40, 0), (50, 0), (60, 0)",
						"INSERT dbo.u SELECT id, v FROM dbo.t",
						enable("dbo", "t"), enable("dbo", "u")))
					// Each batch that arrives changes rows behind and before it.
					scripts := []string{
						"INSERT dbo.t VALUES (5, 1), (65, 1)", "UPDATE dbo.t SET v = 2", "DELETE dbo.t WHERE id IN (10, 60)",
						"UPDATE dbo.t SET id = id + 1", "INSERT dbo.u VALUES (15, 1)", "DELETE dbo.u WHERE id > 40", "UPDATE dbo.u SET v = 9 WHERE id < 30",
					}
					var mu sync.Mutex
					output := func(context.Context, []received) error {
						mu.Lock()
						defer mu.Unlock()
						if len(scripts) > 0 {
							script := scripts[0]
							scripts = scripts[1:]
							return server.Exec("USE db\n" + script)
						}
						return nil
					}
					p := startPipeline(t, server, settings{
						fields: "max_batch_size: 1\nmax_queue_size: 2\nsnapshot_isolation_mode: " + isolation + "\n" + pageSizes(size), output: output,
					})
					<-time.After(time.Minute)
					require.Empty(t, scripts)
					want := tableRows(t, server, "SELECT id, v FROM dbo.t UNION ALL SELECT id, v FROM dbo.u")
					assert.ElementsMatch(t, want, upserts(t, p.rest()))
				})
			})
		}
	}
}

// upserts applies events as a sink does that takes deletes of rows it does not
// have, and returns the rows that are left.
func upserts(t *testing.T, messages []received) (rows []string) {
	t.Helper()
	left := map[string]string{}
	for _, m := range messages {
		switch {
		case m.Kind == "tombstone":
		case m.Op == "d":
			delete(left, m.Topic+m.Key)
		default:
			left[m.Topic+m.Key] = after(t, m)
		}
	}
	for _, row := range left {
		rows = append(rows, row)
	}
	return rows
}

// An error while a table is read never ends it early: the rest of its rows
// come, each once, and then the other tables.
func TestCases_SnapshotReadErrorIsNotTheEndOfRows(t *testing.T) {
	for _, rows := range []int64{0, 1, 2, 3} {
		for i := range race.Every(4, 2) {
			nth := i + 1
			t.Run(fmt.Sprintf("after %d rows of page %d", rows, nth), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newQuietServer(t, tenRows+lines("CREATE TABLE dbo.u (id int NOT NULL PRIMARY KEY)", "INSERT dbo.u VALUES (1)", enable("dbo", "u")))
					armed := server.Control(simulator.Fault{On: "select from dbo.t", Nth: nth, AfterRows: rows, Do: simulator.Cut()})
					p := startPipeline(t, server, settings{fields: pageSizes(3)})
					<-time.After(time.Minute)
					assert.Equal(t, append(reads(1, 10), `r dbo.u {"id":1}`), shorts(p.rest()))
					assert.LessOrEqual(t, armed.Fired(), 1)
					if rows < 2 {
						assert.Equal(t, 1, armed.Fired(), "the fault struck")
					}
				})
			})
		}
	}
}

// A database where nothing was ever captured has no maximum LSN: the input
// waits for one and then reads.
func TestCases_NoMaximumLSNYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "")
		server.StopAgent()
		sqlExec(t, server, "USE db\n"+tenRows)
		p := startPipeline(t, server, settings{})
		assert.Empty(t, p.settled())
		require.NoError(t, server.CaptureNow("db"))
		p.want(reads(1, 10)...)
		change(t, server, "DELETE dbo.t WHERE id = 1")
		p.want(`d dbo.t {"id":1}`, `tombstone dbo.t {"id":1}`)
	})
}
