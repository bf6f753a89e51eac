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

// gatedTables are the three tables for a login that reads their changes by the
// functions, as a member of the gating role of each.
func gatedTables(t *testing.T) *simulator.Server {
	t.Helper()
	script := newReader + "CREATE USER reader FOR LOGIN reader\nGRANT SELECT ON SCHEMA::dbo TO reader\n" +
		"GRANT SELECT ON cdc.change_tables TO reader\nGRANT SELECT ON cdc.captured_columns TO reader\nGRANT SELECT ON cdc.ddl_history TO reader\n"
	for _, table := range []string{"a", "b", "c"} {
		script += strings.ReplaceAll("CREATE TABLE dbo.{t} (id int NOT NULL PRIMARY KEY, v int)\n"+
			"EXEC sys.sp_cdc_enable_table N'dbo', N'{t}', @role_name = N'gate_{t}'\nALTER ROLE gate_{t} ADD MEMBER reader\n", "{t}", table)
	}
	server := newServer(t, script)
	require.NoError(t, server.CaptureNow("db"))
	return server
}

// heldBy is a way to read changes, and what takes the right to a table's away and
// gives it back.
type heldBy struct {
	mode        string
	server      func(*testing.T) *simulator.Server
	deny, grant string
}

var heldByBoth = []heldBy{
	{"direct", threeTables, "DENY SELECT ON cdc.dbo_{t}_CT TO reader", "REVOKE SELECT ON cdc.dbo_{t}_CT FROM reader"},
	{"function", gatedTables, "ALTER ROLE gate_{t} DROP MEMBER reader", "ALTER ROLE gate_{t} ADD MEMBER reader"},
}

func (h heldBy) run(t *testing.T, server *simulator.Server, statement string, tables ...string) {
	t.Helper()
	for _, table := range tables {
		sqlExec(t, server, "USE db\n"+strings.ReplaceAll(statement, "{t}", table))
	}
}

// Whether all tables are held or one is, and whether the pipeline runs meanwhile,
// the policy rules what becomes of a table that loses changes until it is granted;
// the others come to what they have missed.
func TestCases_HeldTableLosesChanges(t *testing.T) {
	tests := []struct {
		by     heldBy
		policy string
		denied []string
		down   bool
		want   []string // of table b
	}{
		{heldByBoth[0], "fail", []string{"b"}, true, rows("b", "1")},
		{heldByBoth[0], "skip", []string{"b", "a", "c"}, false, rows("b", "1", "3", "4", "5")},
		{heldByBoth[1], "skip", []string{"b", "a", "c"}, true, rows("b", "1", "3", "4", "5")},
		{heldByBoth[0], "snapshot", []string{"b", "a", "c"}, true, append(append(rows("b", "1"), reread("b", "1", "2", "3", "4")...), row("b", "5"))},
		{heldByBoth[1], "snapshot", []string{"b"}, false, append(append(rows("b", "1"), reread("b", "1", "2", "3", "4")...), row("b", "5"))},
	}
	for i := range race.Every(len(tests), 2) {
		test := tests[i]
		t.Run(test.by.mode+" "+test.policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := test.by.server(t)
				s := settings{store: newStore(), fields: asReader + "data_query_mode: " + test.by.mode + "\nretention_gap_policy: " + test.policy}
				p := startPipeline(t, server, s)
				<-time.After(time.Minute)
				insertAll(t, server, "1")
				<-time.After(time.Minute)
				test.by.run(t, server, test.by.deny, test.denied...)
				insertAll(t, server, "2")
				<-time.After(2 * time.Minute)
				insertAll(t, server, "3")
				<-time.After(time.Minute)
				if test.down {
					p.stop()
				}
				third := "(SELECT MAX(__$start_lsn) FROM cdc.dbo_b_CT)"
				sqlExec(t, server, "USE db\nDECLARE @mark binary(10) = "+third+"\nEXEC sys.sp_cdc_cleanup_change_table N'dbo_b', @mark")
				insertAll(t, server, "4")
				got := p.everything()
				if test.down {
					p = startPipeline(t, server, s)
				}
				<-time.After(2 * time.Minute)
				test.by.run(t, server, test.by.grant, test.denied...)
				<-time.After(2 * time.Minute)
				insertAll(t, server, "5")
				<-time.After(time.Minute)
				if got = append(got[:len(got):len(got)], p.everything()...); !test.down {
					got = p.everything()
				}
				assert.Equal(t, test.want, shorts(ofTable("b", got)))
				for _, table := range []string{"a", "c"} {
					assert.Equal(t, rows(table, "1", "2", "3", "4", "5"), shorts(ofTable(table, got)))
				}
				p.stop()
			})
		})
	}
}

// reread are the short forms of rows of a table that is read again.
func reread(table string, ids ...string) (list []string) {
	for _, r := range rows(table, ids...) {
		list = append(list, "r"+strings.TrimPrefix(r, "c"))
	}
	return list
}

// Rows are read again while another table is held, with heartbeats in between:
// wherever the process dies, the next one goes on, and the held table comes to
// where the others are, behind the rows, as soon as it is granted.
func TestCases_RowsReadAgainBesideAHeldTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, kept := threeTables(t), newStore()
		s := settings{store: kept, fields: asReader + "heartbeat_interval: 1s\nretention_gap_policy: snapshot\nmax_batch_size: 1\nsnapshot_fetch_size: 1"}
		p := startPipeline(t, server, s)
		<-time.After(time.Minute)
		insertAll(t, server, "1")
		<-time.After(time.Minute)
		heldByBoth[0].run(t, server, heldByBoth[0].deny, "b")
		insertAll(t, server, "2")
		<-time.After(time.Minute)
		p.stop()
		insertAll(t, server, "3")
		sqlExec(t, server, "USE db\nDECLARE @mark binary(10) = sys.fn_cdc_get_max_lsn()\nEXEC sys.sp_cdc_cleanup_change_table N'dbo_a', @mark")

		var copies []*store // as each message with a row finds it
		s.output = func(_ context.Context, batch []received) error {
			<-time.After(2 * time.Second) // what is acknowledged is stored
			if len(changesOf(batch)) > 0 {
				copies = append(copies, kept.copyOf())
			}
			return nil
		}
		p = startPipeline(t, server, s)
		<-time.After(time.Minute)
		heldByBoth[0].run(t, server, heldByBoth[0].grant, "b")
		<-time.After(2 * time.Minute)
		insertAll(t, server, "4")
		<-time.After(time.Minute)
		p.stop()
		got := changesOf(p.everything())
		want := append([]string{row("c", "3")}, reread("a", "1", "2", "3")...)
		want = append(append(want, rows("b", "2", "3")...), row("a", "4"), row("b", "4"), row("c", "4"))
		require.Equal(t, want, got)

		s.output = nil
		for n, left := range copies {
			s.store = left
			again := startPipeline(t, server, s)
			<-time.After(3 * time.Minute)
			again.stop()
			// Rows that are read again later may hold the last change too.
			assert.Subset(t, append(want[:n:n], changesOf(again.everything())...), want, "crash behind %d", n)
		}
	})
}

// changesOf returns the short forms of the changes among messages.
func changesOf(messages []received) (list []string) {
	for _, m := range messages {
		if m.Kind == "change" {
			list = append(list, m.String())
		}
	}
	return list
}

// What befalls the reading of a table that catches up costs nothing but time.
func TestCases_FaultWhileCatchingUp(t *testing.T) {
	for name, do := range map[string]simulator.Action{"cut": simulator.Cut(), "deadlock": deadlock, "server restarted": simulator.RestartServer()} {
		for _, by := range heldByBoth {
			t.Run(by.mode+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := by.server(t)
					p := startPipeline(t, server, settings{fields: asReader + "streaming_fetch_size: 1\nmax_batch_size: 1\nmax_iteration_transactions: 2\ndata_query_mode: " + by.mode})
					<-time.After(time.Minute)
					by.run(t, server, by.deny, "b")
					for _, id := range []string{"1", "2", "3", "4"} {
						insertAll(t, server, id)
					}
					<-time.After(time.Minute)
					on := map[string]string{"direct": "select from cdc.dbo_b_ct", "function": "select from cdc.fn_cdc_get_all_changes_dbo_b"}[by.mode]
					fault := server.Control(simulator.Fault{On: on, Nth: 2, AfterRows: 1, Do: do})
					by.run(t, server, by.grant, "b")
					<-time.After(10 * time.Minute)
					insertAll(t, server, "5")
					<-time.After(time.Minute)
					require.Equal(t, 1, fault.Fired())
					for _, table := range []string{"a", "b", "c"} {
						assert.Equal(t, rows(table, "1", "2", "3", "4", "5"), shorts(ofTable(table, p.everything())))
					}
				})
			})
		}
	}
}

// A table that is captured anew has no gap of retention: no policy hides what was
// changed in between, and the other tables go on, whatever the pipeline did.
func TestCases_CapturedAnewUnderAnyPolicy(t *testing.T) {
	for _, policy := range []string{"skip", "snapshot"} {
		for name, down := range map[string]bool{"running": false, "down": true} {
			t.Run(policy+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := threeTables(t)
					s := settings{store: newStore(), fields: noData + "data_query_mode: function\nretention_gap_policy: " + policy}
					p := startPipeline(t, server, s)
					<-time.After(time.Minute)
					insertAll(t, server, "1")
					p.next(3)
					if down {
						p.stop()
					}
					sqlExec(t, server, "USE db\nEXEC sys.sp_cdc_disable_table N'dbo', N'b', N'all'")
					insertAll(t, server, "2")
					sqlExec(t, server, "USE db\n"+enable("dbo", "b"))
					insertAll(t, server, "3")
					if down {
						p = startPipeline(t, server, s)
					}
					p.want(row("a", "2"), row("c", "2"), row("a", "3"), row("c", "3"))
					p.quiet()
					assert.Contains(t, p.logs.String(), "(instance_replaced)")
					p.stop()
				})
			})
		}
	}
}
