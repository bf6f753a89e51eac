package input_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// Three databases with the same tables: each has its snapshot, its changes, its
// name in every event and its position.
func TestMany_SnapshotStreamAndRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, three...)
		kept := newStore()
		p := startPipeline(t, server, settings{fields: threeDatabases("provide_transaction_metadata: true"), store: kept})
		for _, name := range three {
			p.awaitCount(name, 2)
			assert.Equal(t, twoRows, shorts(ofDatabase(p.rest(), name)))
		}
		p.next(len(p.rest()))
		changeIn(t, server, "b", inserts(10, 12))
		changeIn(t, server, "c", inserts(20, 21))
		p.awaitCount("b", 6)
		p.awaitCount("c", 3)
		for _, m := range p.next(9) {
			if m.Kind != "change" {
				continue
			}
			assert.Contains(t, m.Value, `"db":"`+m.Database+`"`)
			assert.Equal(t, "server1."+m.Database+".dbo.t", m.Topic)
			assert.Contains(t, m.Value, `"total_order":1,"data_collection_order":1`)
		}
		p.stop()
		changeIn(t, server, "a", inserts(30, 31))
		changeIn(t, server, "b", inserts(31, 32))
		p = startPipeline(t, server, settings{fields: threeDatabases(""), store: kept})
		<-time.After(time.Minute)
		got := shorts(p.rest())
		slices.Sort(got)
		assert.Equal(t, append(rowsOf(30, 31), rowsOf(31, 32)...), got, "neither more nor less")
		for _, name := range three {
			assert.Contains(t, kept.values, "server1."+name+".position.a")
		}
	})
}

// failure is what befalls database b while it is read, and what cures it.
type failure struct {
	name    string
	befall  func(t *testing.T, server *simulator.Server)
	cure    func(t *testing.T, server *simulator.Server)
	reason  string // of the fatal state, empty for none
	fields  string
	recover []string
}

func script(text string) func(*testing.T, *simulator.Server) {
	return func(t *testing.T, server *simulator.Server) { sqlExec(t, server, text) }
}

// armed is a fault that the cure removes.
func armed(f simulator.Fault) (befall, cure func(*testing.T, *simulator.Server)) {
	var on *simulator.ArmedFault
	return func(_ *testing.T, server *simulator.Server) { on = server.Control(f) },
		func(*testing.T, *simulator.Server) { on.Remove() }
}

// Whatever befalls one of three databases, the others deliver exactly their
// changes meanwhile, and it goes on once it is cured.
func TestMany_OneFailing(t *testing.T) {
	refused, admitted := armed(simulator.Fault{On: "login:b", Keep: true, Do: simulator.Fail(18456, 14, 1, "Login failed for user 'sa'.")})
	denied, allowed := armed(simulator.Fault{On: "select from cdc.dbo_only_b_ct", Keep: true, Do: simulator.Fail(916, 14, 1, `The server principal "sa" is not able to access the database "b" under the current security context.`)})
	cut, mended := armed(simulator.Fault{On: "select from cdc.dbo_only_b_ct", Keep: true, Do: simulator.Cut()})
	silent, heard := armed(simulator.Fault{On: "select from cdc.dbo_only_b_ct", Keep: true, Do: simulator.Stall()})
	both := func(fs ...func(*testing.T, *simulator.Server)) func(*testing.T, *simulator.Server) {
		return func(t *testing.T, server *simulator.Server) {
			for _, f := range fs {
				f(t, server)
			}
		}
	}
	touch := func(t *testing.T, server *simulator.Server) { changeIn(t, server, "b", "INSERT dbo.only_b VALUES (1)") }
	touched := []string{`c dbo.only_b {"id":1}`}
	for _, f := range []failure{
		{name: "offline", befall: script("ALTER DATABASE b SET OFFLINE WITH ROLLBACK IMMEDIATE"), cure: script("ALTER DATABASE b SET ONLINE"), reason: "login"},
		{name: "dropped", befall: script("ALTER DATABASE b SET SINGLE_USER WITH ROLLBACK IMMEDIATE\nDROP DATABASE b"), reason: "login"},
		{name: "connection killed", befall: func(t *testing.T, server *simulator.Server) {
			sets, err := server.Query("SELECT CONVERT(nvarchar(10), session_id) FROM sys.dm_exec_sessions WHERE database_id = DB_ID(N'b') AND program_name = N'sqlserver-cdc'")
			require.NoError(t, err)
			require.Len(t, sets[0].Rows, 1)
			sqlExec(t, server, "KILL "+sets[0].Rows[0][0].Str())
		}, cure: func(*testing.T, *simulator.Server) {}},
		{name: "capture disabled", befall: script("USE b\nEXEC sys.sp_cdc_disable_db"), reason: "cdc_disabled"},
		{name: "login refused", befall: both(refused, script("ALTER DATABASE b SET SINGLE_USER WITH ROLLBACK IMMEDIATE\nALTER DATABASE b SET MULTI_USER")), cure: admitted, reason: "login"},
		{name: "access denied", befall: both(denied, touch), cure: allowed, reason: "permission", recover: touched, fields: "strict: true"},
		{name: "connection cut at every read", befall: both(cut, touch), cure: mended, recover: touched},
		{name: "dead network at every read", befall: both(silent, touch), cure: heard, recover: touched},
	} {
		t.Run(f.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServerOf(t, three...)
				p := startPipeline(t, server, settings{fields: threeDatabases(f.fields)})
				for _, name := range three {
					p.awaitCount(name, 2)
				}
				<-time.After(10 * time.Second)
				p.next(len(p.rest()))
				f.befall(t, server)
				<-time.After(2 * time.Second)
				for round := range 5 {
					from := 100 + 10*round
					changeIn(t, server, "a", inserts(from, from+10))
					changeIn(t, server, "c", inserts(from, from+10))
					<-time.After(time.Minute)
				}
				assert.Equal(t, rowsOf(100, 150), shorts(ofDatabase(p.rest(), "a")))
				assert.Equal(t, rowsOf(100, 150), shorts(ofDatabase(p.rest(), "c")))
				assert.Empty(t, shorts(ofDatabase(p.rest(), "b")))
				if f.reason != "" {
					// A second line if the next attempts fail in another way.
					assert.Contains(t, []int{1, 2}, countLines(p, "Cannot go on ("+f.reason+")"), "log:\n%s", p.logs)
				}
				if f.cure == nil {
					return
				}
				f.cure(t, server)
				changeIn(t, server, "b", inserts(200, 203))
				want := append(slices.Clone(f.recover), rowsOf(200, 203)...)
				p.awaitCount("b", len(want))
				assert.Equal(t, want, shorts(ofDatabase(p.rest(), "b")))
				<-time.After(time.Minute)
				assert.Len(t, p.rest(), 100+len(want), "nothing is repeated")
			})
		})
	}
}

// The same while one takes its snapshot: the others take theirs.
func TestMany_OneFailingInTheSnapshot(t *testing.T) {
	for name, do := range map[string]simulator.Action{
		"cut":    simulator.Cut(),
		"stall":  simulator.Stall(),
		"denied": simulator.Fail(229, 14, 5, "The SELECT permission was denied on the object 'only_b', database 'b', schema 'dbo'."),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServerOf(t, three...)
				on := server.Control(simulator.Fault{On: "select from dbo.only_b", Keep: true, Do: do})
				p := startPipeline(t, server, settings{fields: threeDatabases("")})
				<-time.After(time.Minute)
				changeIn(t, server, "a", inserts(10, 12))
				changeIn(t, server, "c", inserts(10, 12))
				<-time.After(15 * time.Minute)
				assert.Equal(t, slices.Concat(twoRows, rowsOf(10, 12)), shorts(ofDatabase(p.rest(), "a")))
				assert.Equal(t, slices.Concat(twoRows, rowsOf(10, 12)), shorts(ofDatabase(p.rest(), "c")))
				require.Positive(t, on.Fired())
				<-time.After(betweenAttempts)
				on.Remove()
				changeIn(t, server, "b", inserts(10, 12))
				<-time.After(15 * time.Minute)
				// Its snapshot reads them, too.
				assert.Equal(t, []string{`{"id":1}`, `{"id":2}`, `{"id":10}`, `{"id":11}`}, keysOf(lastDeliveries(ofDatabase(p.rest(), "b"))))
			})
		})
	}
}

// While nothing changes each database costs one statement a poll, and a
// pattern one login and one statement a minute.
func TestMany_IdleCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, three...)
		p := startPipeline(t, server, settings{fields: "database_names: [ '.' ]\npoll_interval: 1s"})
		<-time.After(90 * time.Second)
		p.next(6)
		count := func(on string) *simulator.ArmedFault {
			return server.Control(simulator.Fault{On: on, App: "sqlserver-cdc", Keep: true, Do: simulator.Delay(0)})
		}
		polls, searches, logins := count("select from cdc.lsn_time_mapping"), count("select from sys.databases"), count("login")
		<-time.After(10 * time.Minute)
		// Of each a poll a second, and two looks a minute: after the capture job,
		// and for the figures of tables.
		assert.InDelta(t, 3*(600+2*10), polls.Fired(), 6)
		assert.Equal(t, 10, searches.Fired())
		assert.Equal(t, 10, logins.Fired())
	})
}

// A rejected message of one database restarts that one alone.
func TestMany_RejectionsOfOne(t *testing.T) {
	for name, reject := range map[string]func(n int) bool{
		"five times": func(n int) bool { return n <= 5 },
		"for ever":   func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServerOf(t, three...)
				times := 0
				output := func(_ context.Context, batch []received) error {
					<-time.After(50 * time.Millisecond)
					for _, m := range batch {
						if m.Database == "b" && m.Key == `{"id":11}` {
							if times++; reject(times) {
								return errRejected
							}
						}
					}
					return nil
				}
				p := startPipeline(t, server, settings{fields: threeDatabases("max_batch_size: 1"), output: output})
				for _, name := range three {
					p.awaitCount(name, 2)
				}
				p.next(6)
				for _, name := range three {
					changeIn(t, server, name, inserts(10, 14))
				}
				<-time.After(5 * time.Minute)
				assert.Equal(t, rowsOf(10, 14), shorts(ofDatabase(p.rest(), "a")))
				assert.Equal(t, rowsOf(10, 14), shorts(ofDatabase(p.rest(), "c")))
				of := ofDatabase(p.rest(), "b")
				if name == "for ever" {
					assert.Equal(t, 1, countKeys(keysOf(of), `{"id":10}`), "what was accepted before is not repeated")
					assert.Zero(t, countKeys(keysOf(of), `{"id":11}`))
					return
				}
				assert.Equal(t, 6, times)
				assert.Equal(t, rowsOf(10, 14), shorts(lastDeliveries(of)))
			})
		})
	}
}

// An output that holds everything of one database back stops only that one.
func TestMany_SlowOutputOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, three...)
		release := make(chan struct{})
		output := func(ctx context.Context, batch []received) error {
			if batch[0].Database != "b" {
				return nil
			}
			select {
			case <-release:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		fields := threeDatabases("max_batch_size: 1\nmax_queue_size: 3\ncheckpoint_limit: 2")
		p := startPipeline(t, server, settings{fields: fields, output: output, maxInFlight: 20})
		<-time.After(10 * time.Second)
		changeIn(t, server, "b", inserts(10, 100))
		for round := range 5 {
			from := 100 + 10*round
			changeIn(t, server, "a", inserts(from, from+10))
			changeIn(t, server, "c", inserts(from, from+10))
			<-time.After(time.Minute)
		}
		for _, name := range []string{"a", "c"} {
			got := shorts(ofDatabase(p.rest(), name))
			slices.Sort(got)
			assert.Equal(t, append(rowsOf(100, 150), twoRows...), got)
		}
		assert.Empty(t, ofDatabase(p.rest(), "b"))
		close(release)
		p.awaitCount("b", 92)
	})
}

// A snapshot of many rows in one database does not hold up the changes of
// another: they take turns.
func TestMany_Fair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServerOf(t, "a", "b")
		var rows strings.Builder
		rows.WriteString("USE a\n")
		for id := range 500 {
			rows.WriteString("INSERT dbo.only_a VALUES (" + strconv.Itoa(id) + ")\n")
		}
		sqlExec(t, server, rows.String())
		output := func(context.Context, []received) error {
			<-time.After(time.Second) // so that both always have something
			return nil
		}
		p := startPipeline(t, server, settings{fields: "database_names: [ a, b ]\nmax_batch_size: 1\ncheckpoint_limit: 10", output: output})
		p.awaitCount("b", 2)
		changeIn(t, server, "b", inserts(100, 200))
		<-time.After(10 * time.Second)
		p.next(len(p.rest()))
		p.awaitCount("b", 50)
		of := map[string]int{}
		for _, m := range p.rest() {
			of[m.Database]++
		}
		assert.InDelta(t, of["b"], of["a"], 2, "they take turns")
	})
}
