package input_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// statements are what the input sends, by the objects that each reads.
var statements = []string{
	"login", "select from sys.databases", "select from sys.tables", "select from sys.columns", "select from sys.index_columns",
	"select from cdc.change_tables", "select from cdc.captured_columns", "begin", "select from dbo.a", "select from dbo.b", "select from dbo.heap",
	"select from cdc.lsn_time_mapping", "select from cdc.dbo_a_ct", "select from cdc.dbo_b_ct",
}

var lockTimeout = simulator.Fail(1222, 16, 51, "Lock request time out period exceeded.")

// Whatever happens to whichever statement, at its first, middle or last row or
// at its end, the stream goes on by itself, without a loss and without a
// change of order.
func TestServerFailure_EveryStatement(t *testing.T) {
	tables := historyTables + "CREATE TABLE dbo.heap (v int)\nINSERT dbo.heap VALUES (1), (2), (3)\nINSERT dbo.a VALUES (101, 1001), (102, 1002), (103, 1003)\nINSERT dbo.b VALUES (101, N'x'), (102, N'y')\n" +
		enable("dbo", "a") + enable("dbo", "b") + enable("dbo", "heap")
	actions := []simulator.Action{simulator.Cut(), simulator.Stall(), simulator.RestartServer(), deadlock, lockTimeout}
	type place struct {
		nth  int
		rows int64
	}
	places := []place{{1, 0}, {3, 0}, {1, 1}, {2, 2}, {1, 3}}
	for i, on := range statements {
		t.Run(on, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fired := 0
				for j := range race.Every(len(actions), 2) {
					// Each statement meets each action and each place once, and
					// each action each place.
					action, at := actions[j], places[(i+j)%len(places)]
					if on == "login" {
						if action == deadlock || action == lockTimeout {
							continue
						}
						at = places[0] // it has no rows, and is sent once
					}
					fired += survive(t, tables, simulator.Fault{On: on, App: "sqlserver-cdc", Nth: at.nth, AfterRows: at.rows, Do: action})
				}
				require.Positive(t, fired, "the faults must happen")
			})
		})
	}
}

// survive runs a snapshot and a history with one fault, and returns how often
// it happened.
func survive(t *testing.T, tables string, fault simulator.Fault) int {
	t.Helper()
	server := newServer(t, tables)
	defer func() { require.NoError(t, server.Close()) }()
	armed := server.Control(fault)
	p := startPipeline(t, server, settings{fields: "snapshot_fetch_size: 2\nstreaming_fetch_size: 3\nmax_batch_size: 2\npoll_interval: 5s"})
	waitLast(t, p, armed, func(m received) bool { return strings.Contains(m.Value, `"snapshot":"last"`) })
	change(t, server, history)
	waitLast(t, p, armed, func(m received) bool { return m.Kind == "tombstone" && m.Key == `{"id":11}` })
	p.stop()
	var read, stream []received
	for _, m := range p.rest() {
		if m.Op == "r" {
			read = append(read, m)
		} else {
			stream = append(stream, m)
		}
	}
	requireGrowing(t, stream) // neither disorder nor repeats: nothing was rejected
	requireGrowing(t, read)
	assert.Equal(t, tablesNow(t, server), tablesOf(p.rest()), "%s", armed)
	return armed.Fired()
}

// waitLast waits until the newest message is the one.
func waitLast(t *testing.T, p *pipeline, armed *simulator.ArmedFault, is func(received) bool) {
	t.Helper()
	deadline := time.After(patience)
	for {
		if all := p.rest(); len(all) > 0 && is(all[len(all)-1]) {
			return
		}
		select {
		case <-p.signal:
		case <-deadline:
			require.Fail(t, "the end did not come", "%s: %v\nlog:\n%s", armed, shorts(p.rest()), p.logs)
		}
	}
}

// tablesNow returns the tables as a snapshot reads them.
func tablesNow(t *testing.T, server *simulator.Server) map[string]string {
	t.Helper()
	p := startPipeline(t, server, settings{fields: "application_name: undisturbed"})
	<-time.After(10 * time.Second)
	p.stop()
	return tablesOf(p.rest())
}

func TestServerFailure_LoginRefusedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		p := startPipeline(t, server, settings{})
		p.next(2)
		refuse := server.Control(simulator.Fault{On: "login", Keep: true, Do: simulator.Fail(18456, 14, 1, "Login failed for user 'sa'.")})
		server.Restart()
		change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
		<-time.After(10 * time.Minute)
		refuse.Remove()
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
		require.Positive(t, refuse.Fired())
		require.NotContains(t, p.logs.String(), "Cannot go on", "a server that was reached before is not a mistake")
	})
}

// A server without an LSN, because the Agent does not run, is waited for and
// said once.
func TestServerFailure_NoLSNYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := emptyServer(t)
		server.StopAgent()
		sqlExec(t, server, "CREATE DATABASE db\nGO\nUSE db\nEXEC sys.sp_cdc_enable_db\nGO\nUSE db\n"+customers)
		p := startPipeline(t, server, settings{})
		<-time.After(20 * time.Minute)
		require.Empty(t, shorts(p.rest()))
		require.Equal(t, 1, countLines(p, "no LSN captured yet"), "log:\n%s", p.logs)
		sqlExec(t, server, "USE db\nINSERT dbo.customers VALUES (3, N'Cem')") // while the snapshot still waits
		server.StartAgent()
		p.want(`r dbo.customers {"id":1,"name":"Ada"}`, `r dbo.customers {"id":2,"name":"Bob"}`, `r dbo.customers {"id":3,"name":"Cem"}`)
	})
}

// A stopped Agent is silence, and then everything comes.
func TestServerFailure_AgentStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		p := startPipeline(t, server, settings{})
		p.next(2)
		server.StopAgent()
		sqlExec(t, server, "USE db\nINSERT dbo.customers VALUES (3, N'Cem')")
		p.quiet()
		server.StartAgent()
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
	})
}

func TestServerFailure_SnapshotIsolationOff(t *testing.T) {
	for mode, works := range map[string]bool{"auto": true, "read_committed": true, "snapshot": false} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, customers)
				sqlExec(t, server, "ALTER DATABASE db SET ALLOW_SNAPSHOT_ISOLATION OFF")
				p := startPipeline(t, server, settings{fields: "snapshot_isolation_mode: " + mode})
				if works {
					p.next(2)
					return
				}
				p.quiet()
				require.Contains(t, p.logs.String(), "ALTER DATABASE [db] SET ALLOW_SNAPSHOT_ISOLATION ON")
				sqlExec(t, server, "ALTER DATABASE db SET ALLOW_SNAPSHOT_ISOLATION ON")
				p.next(2)
			})
		})
	}
}

// Turned off after it was looked at, 3952 says the same.
func TestServerFailure_SnapshotIsolationTurnedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		off := server.Control(simulator.Fault{
			On: "select from dbo.customers", Keep: true,
			Do: simulator.Fail(3952, 16, 1, "Snapshot isolation transaction failed accessing database 'db' because snapshot isolation is not allowed in this database. Use ALTER DATABASE to allow snapshot isolation."),
		})
		p := startPipeline(t, server, settings{})
		p.quiet()
		require.Contains(t, p.logs.String(), "ALLOW_SNAPSHOT_ISOLATION")
		off.Remove()
		p.next(2)
	})
}

// Another session's lock holds a snapshot up under READ COMMITTED only.
func TestServerFailure_LockedTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		login := "USE db\nBEGIN TRAN\nUPDATE dbo.customers SET name = N'Eve' WHERE id = 1\nWAITFOR DELAY '00:05:00'\nCOMMIT"
		locked := make(chan error, 1)
		go func() { locked <- server.Exec(login) }()
		<-time.After(time.Second)
		p := startPipeline(t, server, settings{})
		p.want(`r dbo.customers {"id":1,"name":"Ada"}`, `r dbo.customers {"id":2,"name":"Bob"}`)
		q := startPipeline(t, server, settings{fields: "snapshot_isolation_mode: read_committed\napplication_name: second"})
		<-time.After(time.Minute)
		require.Empty(t, shorts(q.rest()))
		require.NoError(t, <-locked)
		q.want(`r dbo.customers {"id":1,"name":"Eve"}`, `r dbo.customers {"id":2,"name":"Bob"}`)
	})
}

// countLines counts the log's lines that contain a text.
func countLines(p *pipeline, part string) int {
	n := 0
	for line := range strings.Lines(p.logs.String()) {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}
