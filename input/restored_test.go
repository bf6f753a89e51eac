package input_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

const (
	backup  = "BACKUP DATABASE db TO DISK = N'db.bak' WITH INIT"
	restore = "USE master\nALTER DATABASE db SET SINGLE_USER WITH ROLLBACK IMMEDIATE\nRESTORE DATABASE db FROM DISK = N'db.bak' WITH REPLACE\nALTER DATABASE db SET MULTI_USER"
)

func insertRow(id int) string { return fmt.Sprintf("INSERT dbo.customers VALUES (%d, N'n')", id) }

func insertedRow(id int) string { return fmt.Sprintf(`c dbo.customers {"id":%d,"name":"n"}`, id) }

// A database that was restored to before the position is no longer read, at
// once, however far it has come since: those are other changes at the same LSNs.
func TestRestored_BeforeThePosition(t *testing.T) {
	noFork := func(server *simulator.Server) {
		server.Control(simulator.Fault{On: "select from sys.database_recovery_status", Keep: true, Do: simulator.Fail(229, 14, 5, "The SELECT permission was denied on the object 'database_recovery_status'.")})
	}
	for name, test := range map[string]struct {
		prepare func(*simulator.Server)
		grown   int // transactions after the restore
		stopped bool
	}{
		"while running":                                  {},
		"while running, and the log has grown":           {grown: 40},
		"while stopped":                                  {stopped: true},
		"while stopped, and the log has grown":           {grown: 40, stopped: true},
		"while stopped, grown, and no fork is seen":      {grown: 40, stopped: true, prepare: noFork},
		"while running, grown, and no fork is seen":      {grown: 40, prepare: noFork},
		"while stopped, no fork is seen, behind for now": {stopped: true, prepare: noFork},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, kept := newServer(t, customers), newStore()
				if test.prepare != nil {
					test.prepare(server)
				}
				p := startPipeline(t, server, settings{store: kept})
				p.next(2)
				sqlExec(t, server, "USE db\n"+backup)
				for id := 3; id < 13; id++ {
					change(t, server, insertRow(id))
				}
				p.next(10)
				<-time.After(time.Minute) // everything is saved
				if test.stopped {
					p.stop()
				}
				held := server.Control(simulator.Fault{On: "login", App: "sqlserver-cdc", Keep: true, Do: simulator.Cut()})
				sqlExec(t, server, restore)
				for id := range test.grown {
					change(t, server, insertRow(100+id))
				}
				held.Remove()
				if test.stopped {
					p = startPipeline(t, server, settings{store: kept})
				}
				<-time.After(2 * time.Minute)
				require.Empty(t, shorts(p.rest()), "nothing is read that is not known to follow")
				reason := "(restored)"
				if test.prepare != nil && test.grown == 0 {
					reason = "(position_ahead)"
				}
				require.Contains(t, p.logs.String(), "Cannot go on "+reason, "log:\n%s", p.logs)
				require.Contains(t, p.logs.String(), "start afresh")
				require.Contains(t, p.logs.String(), "server1.db.position.a", "the keys are named")
			})
		})
	}
}

// A restore that loses nothing that was read is passed over: what comes after it
// is read, once.
func TestRestored_BehindThePosition(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		t.Run(fmt.Sprintf("stopped %v", stopped), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, kept := newServer(t, customers), newStore()
				p := startPipeline(t, server, settings{store: kept})
				p.next(2)
				change(t, server, insertRow(3))
				p.want(insertedRow(3))
				<-time.After(time.Minute)
				if stopped {
					p.stop()
				}
				held := server.Control(simulator.Fault{On: "login", App: "sqlserver-cdc", Keep: true, Do: simulator.Cut()})
				sqlExec(t, server, killSessions)
				change(t, server, insertRow(4))
				sqlExec(t, server, "USE db\n"+backup+"\n"+insertRow(99))
				sqlExec(t, server, restore)
				change(t, server, insertRow(5))
				held.Remove()
				if stopped {
					p = startPipeline(t, server, settings{store: kept})
				}
				p.want(insertedRow(4), insertedRow(5))
				p.quiet()
				require.Contains(t, p.logs.String(), "on another recovery fork")

				// The new fork is what counts from here on.
				server.Restart()
				change(t, server, insertRow(6))
				p.want(insertedRow(6))
				assert.Equal(t, 1, countLines(p, "on another recovery fork"))
				assert.NotContains(t, p.logs.String(), "Cannot go on")
			})
		})
	}
}

// Another database under the same name is not taken for the one that was read,
// and the right one is read on as soon as it is there again.
func TestRestored_AnotherDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, other, kept := newServer(t, customers), newServer(t, customers), newStore()
		for id := range 30 {
			change(t, other, insertRow(100+id))
		}
		l := &listener{}
		l.lead(server.DialContext)
		p := startPipeline(t, server, settings{store: kept, dial: l.option})
		p.next(2)
		change(t, server, insertRow(3))
		p.want(insertedRow(3))
		l.lead(other.DialContext)
		server.Restart()
		p.quiet()
		require.Contains(t, p.logs.String(), "Cannot go on (restored)", "log:\n%s", p.logs)
		require.Contains(t, p.logs.String(), "another one than the position")

		l.lead(server.DialContext)
		change(t, server, insertRow(4))
		p.want(insertedRow(4))
	})
}

// A database that is dropped and made anew under its name, with the same tables,
// has nothing of what the position is of: nothing of it is read, however far its
// log has come, and whatever of its history can be seen.
func TestRestored_MadeAnew(t *testing.T) {
	for name, test := range map[string]struct {
		events, grown int  // transactions read before, and made after
		blind         bool // the recovery fork is not seen
		down          bool
		reason        string
	}{
		"while running":                       {events: 3, grown: 40, reason: "restored"},
		"while down":                          {events: 3, down: true, reason: "restored"},
		"no fork is seen":                     {events: 3, grown: 40, blind: true, reason: "restored"},
		"no fork is seen, and it is behind":   {events: 3, blind: true, down: true, reason: "position_ahead"},
		"no fork is seen, the snapshot alone": {grown: 40, blind: true, down: true, reason: "restored"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, s := newServer(t, customers), settings{store: newStore()}
				if test.blind {
					server.Control(simulator.Fault{On: "select from sys.database_recovery_status", Keep: true, Do: simulator.Fail(229, 14, 5, "The SELECT permission was denied on the object 'database_recovery_status'.")})
				}
				p := startPipeline(t, server, s)
				p.next(2)
				for id := range test.events {
					change(t, server, insertRow(10+id))
				}
				p.next(test.events)
				<-time.After(time.Minute) // everything is saved
				if test.down {
					p.stop()
				}
				held := server.Control(simulator.Fault{On: "login", App: "sqlserver-cdc", Keep: true, Do: simulator.Cut()})
				sqlExec(t, server, "USE master\nALTER DATABASE db SET SINGLE_USER WITH ROLLBACK IMMEDIATE\nDROP DATABASE db\nGO\n"+
					"CREATE DATABASE db\nGO\nUSE db\nEXEC sys.sp_cdc_enable_db\nGO\nUSE db\n"+customers)
				for id := range test.grown {
					change(t, server, insertRow(100+id))
				}
				held.Remove()
				if test.down {
					p = startPipeline(t, server, s)
				}
				p.quiet()
				require.Contains(t, p.logs.String(), "Cannot go on ("+test.reason+")", "log:\n%s", p.logs)
				require.Contains(t, p.logs.String(), "start afresh")
			})
		})
	}
}

// Changes written to the new primary are read from it, whether the failover
// begins a recovery fork or not.
func TestRestored_Failover(t *testing.T) {
	for name, fail := range map[string]func(t *testing.T, to *simulator.Secondary){
		"planned": func(_ *testing.T, to *simulator.Secondary) { to.Failover() },
		"forced":  func(t *testing.T, to *simulator.Secondary) { require.NoError(t, to.ForceFailover()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, customers)
				second, err := server.AddSecondary(engine.ReplicaOptions{Name: "second"})
				require.NoError(t, err)
				l := &listener{}
				l.lead(server.DialContext)
				// The output is slow, so that messages are under way.
				p := startPipeline(t, server, settings{dial: l.option, fields: "max_batch_size: 1\nmax_queue_size: 4"})
				p.next(2)
				var want []string
				for id := 3; id < 10; id++ {
					sqlExec(t, server, "USE db\n"+insertRow(id))
					want = append(want, insertedRow(id))
				}
				fail(t, second)
				<-time.After(20 * time.Second) // the listener still leads to what is a secondary now
				l.lead(second.DialContext)
				for id := 10; id < 20; id++ {
					require.NoError(t, second.Exec("USE db\n"+insertRow(id)))
					want = append(want, insertedRow(id))
				}
				require.NoError(t, server.CaptureNow("db"))
				p.want(want...)
				p.quiet()
				assert.NotContains(t, p.logs.String(), "Cannot go on")
				require.Error(t, server.Exec("USE db\n"+insertRow(99)), "the old primary takes no writes")
			})
		})
	}
}

// What is stored of the server's times does not depend on how they are read: a
// time zone that is set later, and wrong, changes nothing.
func TestRestored_TimeZoneSetLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, kept := newServer(t, customers), newStore()
		p := startPipeline(t, server, settings{store: kept})
		p.next(2)
		change(t, server, insertRow(3))
		p.want(insertedRow(3))
		p.stop()
		text := string(kept.values["server1.db.position.a"]) + string(kept.values["server1.db.instances.a"])
		require.Contains(t, text, `"witness":{"commit":"`)
		require.Contains(t, text, `"lineage":{"family":"`)
		require.Contains(t, text, `"ended":"2000-01-01T00:0`)

		change(t, server, insertRow(4))
		p = startPipeline(t, server, settings{store: kept, fields: "database_server_timezone: Asia/Tokyo"})
		p.want(insertedRow(4))
		assert.NotContains(t, p.logs.String(), "Cannot go on")
	})
}
