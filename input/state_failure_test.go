package input_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// killSessions ends the input's sessions as an administrator does.
const killSessions = `DECLARE @kill nvarchar(max) = N''
SELECT @kill = @kill + N'KILL ' + CONVERT(nvarchar(10), session_id) + N';' FROM sys.dm_exec_sessions WHERE program_name = N'sqlserver-cdc'
EXEC (@kill)`

// What happens to a server and its databases while the input reads costs
// nothing: it goes on by itself, with neither a loss nor a repetition.
func TestServerState_GoesOnByItself(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, server *simulator.Server){
		"sessions killed": func(t *testing.T, server *simulator.Server) { sqlExec(t, server, killSessions) },
		"database offline and online": func(t *testing.T, server *simulator.Server) {
			sqlExec(t, server, "USE master\nALTER DATABASE db SET OFFLINE WITH ROLLBACK IMMEDIATE")
			<-time.After(10 * time.Minute)
			sqlExec(t, server, "USE master\nALTER DATABASE db SET ONLINE")
		},
		"database in single user mode": func(t *testing.T, server *simulator.Server) {
			sqlExec(t, server, "USE master\nALTER DATABASE db SET SINGLE_USER WITH ROLLBACK IMMEDIATE")
			sqlExec(t, server, "USE master\nALTER DATABASE db SET MULTI_USER")
		},
		"server restarted": func(_ *testing.T, server *simulator.Server) { server.Restart() },
		"server restarted again and again": func(_ *testing.T, server *simulator.Server) {
			for range 20 {
				server.Restart()
				<-time.After(300 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, customers)
				p := startPipeline(t, server, settings{})
				p.next(2)
				for id := 3; id < 9; id += 2 {
					change(t, server, fmt.Sprintf("INSERT dbo.customers VALUES (%d, N'n')", id))
					harm(t, server)
					change(t, server, fmt.Sprintf("INSERT dbo.customers VALUES (%d, N'n')", id+1))
					p.want(fmt.Sprintf(`c dbo.customers {"id":%d,"name":"n"}`, id), fmt.Sprintf(`c dbo.customers {"id":%d,"name":"n"}`, id+1))
				}
				p.quiet()
				assert.NotContains(t, p.logs.String(), "Cannot go on")
				if name == "database offline and online" {
					assert.Contains(t, p.logs.String(), "it may be offline, being restored or failing over")
				}
				assert.NotContains(t, p.logs.String(), "check database_names", "it was read before")
			})
		})
	}
}

// listener leads to one replica of an availability group, and later to another.
type listener struct{ to atomic.Pointer[replicaDialer] }

type replicaDialer func(ctx context.Context, network, address string) (net.Conn, error)

func (l *listener) lead(to replicaDialer) { l.to.Store(&to) }

func (l *listener) option(*simulator.Server) input.Option {
	return input.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		return (*l.to.Load())(ctx, network, address)
	})
}

// After a failover the listener leads to the new primary.
func TestServerState_Failover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		second, err := server.AddSecondary(engine.ReplicaOptions{Name: "second"})
		require.NoError(t, err)
		l := &listener{}
		l.lead(server.DialContext)
		p := startPipeline(t, server, settings{dial: l.option})
		p.next(2)
		second.Failover()
		<-time.After(time.Minute) // the listener still leads to what is a secondary now
		l.lead(second.DialContext)
		<-time.After(time.Minute)
		server.FailBack()
		l.lead(server.DialContext)
		change(t, server, "INSERT dbo.customers VALUES (3, N'n')")
		second.Failover()
		l.lead(second.DialContext)
		p.want(`c dbo.customers {"id":3,"name":"n"}`)
		p.quiet()
		assert.NotContains(t, p.logs.String(), "Cannot go on")
	})
}

// A replica that lags shows less than was read before. Nothing is read again
// and nothing is passed over: it is waited for.
func TestServerState_ReplicaLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		second, err := server.AddSecondary(engine.ReplicaOptions{Name: "second", Connections: engine.SecondaryAll})
		require.NoError(t, err)
		l := &listener{}
		l.lead(server.DialContext)
		p := startPipeline(t, server, settings{dial: l.option})
		p.next(2)
		second.Pause()
		change(t, server, "INSERT dbo.customers VALUES (3, N'n')")
		p.want(`c dbo.customers {"id":3,"name":"n"}`)
		l.lead(second.DialContext)
		server.Restart()
		p.quiet()
		change(t, server, "INSERT dbo.customers VALUES (4, N'n')")
		p.quiet()
		second.Resume()
		p.want(`c dbo.customers {"id":4,"name":"n"}`)
		p.quiet()
		assert.Contains(t, p.logs.String(), "a replica that lags catches up by itself")
	})
}

// An instance that takes another's place while nobody is connected is noticed
// at the next connection, and changes in between are not passed over.
func TestServerState_InstanceReplacedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, between := newServer(t, customers), &network{}
		p := startPipeline(t, server, settings{dial: between.option, fields: "database_query_timeout: 1m"})
		p.next(2)
		between.drop(true)
		sqlExec(t, server, "USE db\nEXEC sys.sp_cdc_disable_table @source_schema = N'dbo', @source_name = N'customers', @capture_instance = N'all'\nINSERT dbo.customers VALUES (3, N'lost')\n"+enable("dbo", "customers"))
		change(t, server, "INSERT dbo.customers VALUES (4, N'n')")
		between.drop(false)
		<-time.After(20 * time.Minute)
		require.Empty(t, shorts(p.rest()))
		require.Contains(t, p.logs.String(), "Cannot go on", "log:\n%s", p.logs)
	})
}

// A password that is changed under a running input is a refused login from the
// next connection on: it is said, with what to look at, and tried again, since
// a server that fails over refuses logins too.
func TestServerState_PasswordRotated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers+"CREATE LOGIN reader WITH PASSWORD = N'"+password+"'\nCREATE USER reader FOR LOGIN reader\nALTER ROLE db_owner ADD MEMBER reader\n")
		p := startPipeline(t, server, settings{fields: "user: reader"})
		p.next(2)
		sqlExec(t, server, "ALTER LOGIN reader WITH PASSWORD = N'another-S3cret'")
		server.Restart()
		change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
		p.quiet()
		require.Contains(t, p.logs.String(), "Login failed for user 'reader'")
		require.Contains(t, p.logs.String(), "check user and password")
		require.NotContains(t, p.logs.String(), "another-S3cret")
		require.NotContains(t, p.logs.String(), "Cannot go on")
		sqlExec(t, server, "ALTER LOGIN reader WITH PASSWORD = N'"+password+"'")
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
	})
}

// Statements of the configuration run on every connection, and their texts stay
// out of the log.
func TestServerState_InitialStatements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers+"CREATE TABLE dbo.logins (at int)\n")
		p := startPipeline(t, server, settings{fields: "database_initial_statements:\n  - INSERT dbo.logins VALUES (1)"})
		p.next(2)
		server.Restart()
		change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
		results, err := server.Query("USE db\nSELECT COUNT(*) FROM dbo.logins")
		require.NoError(t, err)
		assert.EqualValues(t, 2, results[len(results)-1].Rows[0][0].Int64())

		bad := startPipeline(t, server, settings{fields: "application_name: second\ndatabase_initial_statements:\n  - SELECT 1\n  - SELECT hush FROM dbo.nothing_of_that_name"})
		bad.quiet()
		require.Contains(t, bad.logs.String(), "database_initial_statements, number 2: error 208")
		require.NotContains(t, bad.logs.String(), "hush")
		require.NotContains(t, bad.logs.String(), "nothing_of_that_name")
	})
}
