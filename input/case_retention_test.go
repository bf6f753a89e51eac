package input_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// One gap after the other, each passed over in a life of its own, are both on
// record, and told once each.
func TestCases_TwoGaps(t *testing.T) {
	for policy, want := range map[string][2][]string{
		"skip": {
			{`c dbo.u {"id":2}`, `c dbo.u {"id":3}`, `c dbo.t {"id":5,"v":5}`, `c dbo.u {"id":4}`},
			{`c dbo.u {"id":5}`, `c dbo.t {"id":7,"v":7}`},
		},
		"snapshot": {
			{`c dbo.u {"id":2}`, `c dbo.u {"id":3}`, `c dbo.u {"id":4}`, `r dbo.t {"id":1,"v":10}`, `r dbo.t {"id":3,"v":3}`, `r dbo.t {"id":4,"v":4}`, `r dbo.t {"id":5,"v":5}`},
			{`c dbo.u {"id":5}`, `r dbo.t {"id":1,"v":10}`, `r dbo.t {"id":3,"v":3}`, `r dbo.t {"id":4,"v":4}`, `r dbo.t {"id":5,"v":5}`, `r dbo.t {"id":6,"v":6}`, `r dbo.t {"id":7,"v":7}`},
		},
	} {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, s := gapServer(t, "retention_gap_policy: "+policy)
				for life, events := range want {
					p := startPipeline(t, server, s)
					assert.Equal(t, events, shorts(p.settled()))
					assert.Equal(t, 1, countLines(p, "Changes were cleaned up before they were read"))
					p.stop()
					kept := max(strings.Count(string(s.store.values["server1.db.instances.a"]), `"from":`), strings.Count(string(s.store.values["server1.db.instances.b"]), `"from":`))
					assert.Equal(t, life+1, kept)
					if life == 0 {
						change(t, server, "INSERT dbo.t VALUES (6, 6)")
						cleaned(t, server, "t")
						change(t, server, "INSERT dbo.t VALUES (7, 7)")
					}
				}
				change(t, server, "INSERT dbo.t VALUES (8, 8)")
				p := startPipeline(t, server, s)
				assert.Equal(t, []string{`c dbo.t {"id":8,"v":8}`}, shorts(p.settled()))
			})
		})
	}
}

// Offsets that were imported, and whose next changes were cleaned up before the
// pipeline started, have a gap like any other position.
func TestCases_GapBehindImportedOffsets(t *testing.T) {
	for policy, want := range map[string][]string{
		"fail": {}, "skip": {`c dbo.t {"id":4}`},
		"snapshot": {`r dbo.t {"id":1}`, `r dbo.t {"id":2}`, `r dbo.t {"id":3}`, `r dbo.t {"id":4}`},
	} {
		t.Run(policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, _ := historyServer(t)
				s := settings{fields: noData + "retention_gap_policy: " + policy, store: newStore()}
				second := commitOf(t, server, "2")[2:]
				_, err := importOffsets(t, server, s, offsetAt(second[:8]+":"+second[8:16]+":"+second[16:], "NULL", 0), "shop")
				require.NoError(t, err)
				<-time.After(time.Minute) // a cleanup spares what ended at the same moment
				change(t, server, "INSERT dbo.t VALUES (4)")
				sqlExec(t, server, "USE db\nEXEC sys.sp_cdc_cleanup_change_table N'dbo_t', "+commitOf(t, server, "4")+", 5000")
				p := startPipeline(t, server, s)
				assert.Equal(t, want, shorts(p.settled()))
				change(t, server, "INSERT dbo.t VALUES (5)")
				if policy == "fail" {
					p.quiet()
					assert.Contains(t, p.logs.String(), "Cannot go on (retention_gap)")
					return
				}
				p.want(`c dbo.t {"id":5}`)
			})
		})
	}
}

// Rows are read again on a readable secondary as well, without a lock or a write.
func TestCases_RowsReadAgainOnAReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		s := settings{dial: g.option, store: newStore(), fields: noData + "application_intent: ReadOnly\nretention_gap_policy: snapshot\ndata_query_mode: function"}
		p := startPipeline(t, g.primary, s)
		p.settled()
		p.stop()
		change(t, g.primary, "INSERT dbo.customers VALUES (3, N'Cem')")
		change(t, g.primary, "DELETE dbo.customers WHERE id = 1")
		sqlExec(t, g.primary, "USE db\nDECLARE @mark binary(10) = sys.fn_cdc_get_max_lsn()\nEXEC sys.sp_cdc_cleanup_change_table N'dbo_customers', @mark")
		p = startPipeline(t, g.primary, s)
		p.want(`r dbo.customers {"id":2,"name":"Bob"}`, `r dbo.customers {"id":3,"name":"Cem"}`)
		change(t, g.primary, "INSERT dbo.customers VALUES (4, N'Dan')")
		p.want(`c dbo.customers {"id":4,"name":"Dan"}`)
		assert.Equal(t, 2, g.dialled("second:1500"))
	})
}

// rowsReadAgain are the events of gapServer with rows read again.
var rowsReadAgain = []string{
	`c dbo.u {"id":2}`, `c dbo.u {"id":3}`, `c dbo.u {"id":4}`,
	`r dbo.t {"id":1,"v":10}`, `r dbo.t {"id":3,"v":3}`, `r dbo.t {"id":4,"v":4}`, `r dbo.t {"id":5,"v":5}`,
}

// Whatever befalls the server while rows are read again, and though the output
// rejects some of them, each comes, and the stream goes on behind them.
func TestCases_FaultWhileRowsAreReadAgain(t *testing.T) {
	actions := []simulator.Action{simulator.Cut(), deadlock, lockTimeout, simulator.Stall(), simulator.RestartServer()}
	for i := range race.Every(10, 3) {
		fault := simulator.Fault{On: "select from dbo.t", App: "sqlserver-cdc", Nth: 1 + i%2, AfterRows: int64(i % 3), Do: actions[i%len(actions)]}
		t.Run(fault.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, s := gapServer(t, rereadFields)
				s.fields += "poll_interval: 5s"
				armed := server.Control(fault)
				rejections := 0
				s.output = func(_ context.Context, batch []received) error {
					if batch[0].Op == "r" && rejections < i%3 {
						rejections++
						return errRejected
					}
					return nil
				}
				p := startPipeline(t, server, s)
				<-time.After(15 * time.Minute)
				require.Equal(t, 1, armed.Fired())
				assert.Equal(t, rowsReadAgain, unique(shorts(p.everything())))
				p.next(len(p.rest()))
				change(t, server, "DELETE dbo.t WHERE id = 3")
				p.want(`d dbo.t {"id":3,"v":3}`, `tombstone dbo.t {"id":3}`)
			})
		})
	}
}

// A stream stops in time while rows are read again, while a table catches up, and
// while a statement of its own waits on the server.
func TestCases_ShutdownOfWhatIsAside(t *testing.T) {
	late := func(s *simulator.Server, on string) {
		s.Control(simulator.Fault{On: on, App: "sqlserver-cdc", Keep: true, Do: simulator.Delay(time.Hour)})
	}
	for name, begin := range map[string]func(t *testing.T) (*simulator.Server, *pipeline){
		"rows read again": func(t *testing.T) (*simulator.Server, *pipeline) {
			server, s := gapServer(t, rereadFields)
			late(server, "select from dbo.t")
			return server, startPipeline(t, server, s)
		},
		"catching up": func(t *testing.T) (*simulator.Server, *pipeline) {
			server := threeTables(t)
			p := startPipeline(t, server, settings{fields: asReader})
			<-time.After(time.Minute)
			heldByBoth[0].run(t, server, heldByBoth[0].deny, "b")
			insertAll(t, server, "1")
			p.want(row("a", "1"), row("c", "1"))
			late(server, "select from cdc.dbo_b_ct")
			heldByBoth[0].run(t, server, heldByBoth[0].grant, "b")
			return server, p
		},
		"managing": func(t *testing.T) (*simulator.Server, *pipeline) {
			server := newServer(t, pagedTables+enable("dbo", "a"))
			p := startPipeline(t, server, settings{fields: managed + noData + "poll_interval: 10s\nheartbeat_interval: 5s\nheartbeat_action_query: UPDATE dbo.b SET v = 1"})
			<-time.After(time.Minute)
			late(server, "exec sys.sp_cdc_enable_table")
			late(server, "update dbo.b")
			change(t, server, "ALTER TABLE dbo.a ADD w int NULL")
			return server, p
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, p := begin(t)
				<-time.After(2 * time.Minute)
				start := time.Now()
				stopInput(t, p)
				assert.LessOrEqual(t, time.Since(start), prompt)
				synctest.Wait()
				require.Zero(t, sessionsOf(t, server))
			})
		})
	}
}
