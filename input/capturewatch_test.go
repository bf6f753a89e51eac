package input_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// watcher is a login with the documented rights and some of those that show how
// the capture job does.
func watcher(rights string) string {
	return newReader + "CREATE USER reader FOR LOGIN reader\nGRANT SELECT ON SCHEMA::dbo TO reader\nGRANT SELECT ON SCHEMA::cdc TO reader\n" + rights
}

const (
	seesScans   = "GRANT VIEW DATABASE STATE TO reader\n"
	seesService = "GRANT VIEW SERVER STATE TO reader\n"
	seesJobs    = "USE msdb\nCREATE USER reader FOR LOGIN reader\nGRANT SELECT ON SCHEMA::dbo TO reader\nGRANT SELECT ON dbo.cdc_jobs TO reader\nUSE db\n"
	stalled     = "No changes are captured"
	again       = "Changes are captured again"
)

// With every right, and with less and less of them, a job or an Agent that
// stands still is said once, with what to do, and so is its end; nothing is lost
// meanwhile. What is not seen is not an error.
func TestCapture_StandsStill(t *testing.T) {
	const stopJob, startJob = "EXEC sys.sp_cdc_stop_job N'capture'", "EXEC sys.sp_cdc_start_job N'capture'"
	stopAgent, startAgent := (*simulator.Server).StopAgent, (*simulator.Server).StartAgent
	script := func(sql string) func(*simulator.Server) {
		return func(s *simulator.Server) { _ = s.Exec("USE db\n" + sql) }
	}
	for name, test := range map[string]struct {
		rights      string
		stop, start func(*simulator.Server)
		within      time.Duration
		says        []string
	}{
		"Agent, seen":          {seesService, stopAgent, startAgent, 2 * time.Minute, []string{"SQL Server Agent is not running", "start the service"}},
		"job, seen":            {seesJobs, script(stopJob), script(startJob), 2 * time.Minute, []string{"the capture job is not running", "EXEC sys.sp_cdc_start_job @job_type = N'capture'"}},
		"job, all seen":        {seesScans + seesService + seesJobs, script(stopJob), script(startJob), 2 * time.Minute, []string{"the capture job is not running"}},
		"job dropped, seen":    {seesJobs, script("EXEC sys.sp_cdc_drop_job N'capture'"), script("EXEC sys.sp_cdc_add_job N'capture'\n" + startJob), 14 * time.Minute, []string{"the database has no capture job", "EXEC sys.sp_cdc_add_job @job_type = N'capture'"}},
		"job, its scans seen":  {seesScans, script(stopJob), script(startJob), 14 * time.Minute, []string{"nothing has been captured for 1", "see whether SQL Server Agent runs"}},
		"job, nothing seen":    {"", script(stopJob), script(startJob), 14 * time.Minute, []string{"nothing has been captured for 1"}},
		"Agent, nothing seen":  {"", stopAgent, startAgent, 14 * time.Minute, []string{"nothing has been captured for 1"}},
		"Agent, by a function": {"GRANT EXECUTE ON dbo.agent TO reader\n", stopAgent, startAgent, 2 * time.Minute, []string{"SQL Server Agent is not running"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fields := "user: reader\npoll_interval: 30s"
				functions := ""
				if strings.Contains(test.rights, "dbo.agent") {
					functions = "GO\nCREATE FUNCTION dbo.agent() RETURNS bit AS BEGIN RETURN (SELECT running FROM dbo.state) END\nGO\nCREATE TABLE dbo.state (running bit)\nINSERT dbo.state VALUES (1)\n"
					fields += "\ndatabase_sqlserver_agent_status_query: 'SELECT [#db].dbo.agent()'"
				}
				server := newServer(t, customers+functions+watcher(test.rights))
				if functions != "" {
					down := test.stop
					test.stop = func(s *simulator.Server) { down(s); script("UPDATE dbo.state SET running = 0")(s) }
					up := test.start
					test.start = func(s *simulator.Server) { up(s); script("UPDATE dbo.state SET running = 1")(s) }
				}
				p := startPipeline(t, server, settings{fields: fields})
				p.next(2)
				<-time.After(40 * time.Minute)
				require.Zero(t, countLines(p, stalled), "an idle database is none that stands still; log:\n%s", p.logs)

				test.stop(server)
				<-time.After(time.Second) // a scan that was under way ends
				sqlExec(t, server, "USE db\nINSERT dbo.customers VALUES (3, N'Cem')")
				<-time.After(test.within)
				require.Equal(t, 1, countLines(p, stalled), "log:\n%s", p.logs)
				<-time.After(30 * time.Minute)
				require.Equal(t, 1, countLines(p, stalled), "log:\n%s", p.logs)
				for _, part := range test.says {
					assert.Contains(t, p.logs.String(), part)
				}
				assert.Zero(t, countLines(p, again))
				assert.Empty(t, shorts(p.rest()))

				test.start(server)
				p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
				<-time.After(2 * time.Minute)
				assert.Equal(t, 1, countLines(p, again), "log:\n%s", p.logs)
				assert.NotContains(t, p.logs.String(), "Cannot go on")
				assert.NotContains(t, p.logs.String(), "interrupted")
			})
		})
	}
}

// A job that fails again and again is said with its error, one failure is not.
func TestCapture_Fails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers+watcher(seesScans))
		p := startPipeline(t, server, settings{fields: "user: reader"})
		p.next(2)
		var failures atomic.Int64
		failures.Store(1)
		server.OnScan(func(string) error {
			if failures.Add(-1) >= 0 {
				return sqltypes.Errorf(2628, 1, 16, "String or binary data would be truncated.")
			}
			return nil
		})
		<-time.After(10 * time.Minute)
		require.Negative(t, failures.Load())
		require.Zero(t, countLines(p, stalled), "log:\n%s", p.logs)
		failures.Store(5)
		p.logged(stalled + ": the capture job fails: error 2628, String or binary data would be truncated.")
		require.Positive(t, failures.Load())
		p.logged(again)
		require.Equal(t, 1, countLines(p, stalled), "log:\n%s", p.logs)
	})
}

// Without the Agent from the start there is no LSN: that is said once, with the
// reason where it can be seen, and the pipeline waits at its pace.
func TestCapture_NoAgentFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := emptyServer(t)
		server.StopAgent()
		sqlExec(t, server, "CREATE DATABASE db\nGO\nUSE db\nEXEC sys.sp_cdc_enable_db\nGO\nUSE db\n"+customers+watcher(seesService))
		statements := counted(server, "")
		p := startPipeline(t, server, settings{fields: "user: reader\npoll_interval: 1s"})
		<-time.After(time.Hour)
		require.Equal(t, 1, countLines(p, "SQL Server Agent is not running"), "log:\n%s", p.logs)
		require.Less(t, statements.Fired(), 8000, "one look a second, which counts as two, and some each minute")
		require.NotContains(t, p.logs.String(), "Cannot go on")
		server.StartAgent()
		p.next(2)
		change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
		p.logged(again)
	})
}

// What is not seen is said once with the right that shows it.
func TestCapture_Blind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers+watcher(""))
		p := startPipeline(t, server, settings{fields: "user: reader\npoll_interval: 20s"})
		p.next(2)
		<-time.After(time.Hour)
		for _, part := range []string{
			"GRANT VIEW DATABASE PERFORMANCE STATE TO [reader]", "GRANT VIEW SERVER SECURITY STATE TO [reader] in master",
			"in msdb CREATE USER [reader] FOR LOGIN [reader]; GRANT SELECT ON dbo.cdc_jobs TO [reader]; GRANT SELECT ON dbo.sysjobs TO [reader]; GRANT SELECT ON dbo.sysjobactivity TO [reader]",
		} {
			assert.Equal(t, 1, countLines(p, part), part)
		}
		assert.NotContains(t, p.logs.String(), "level=WARN")
	})
}

// A status query that is wrong is a warning and nothing more.
func TestCapture_StatusQueryRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		p := startPipeline(t, server, settings{fields: "poll_interval: 20s\ndatabase_sqlserver_agent_status_query: 'SELECT * FROM [#db].dbo.none'"})
		p.next(2)
		<-time.After(time.Hour)
		require.Equal(t, 1, countLines(p, "The query of database_sqlserver_agent_status_query is refused"), "log:\n%s", p.logs)
		change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
	})
}

// On a replica only what arrives can tell.
func TestCapture_Replica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		p := startPipeline(t, g.primary, settings{dial: g.option, fields: "application_intent: ReadOnly\npoll_interval: 20s"})
		p.next(2)
		<-time.After(time.Hour)
		require.Zero(t, countLines(p, stalled), "log:\n%s", p.logs)
		g.primary.StopAgent()
		<-time.After(14 * time.Minute)
		require.Equal(t, 1, countLines(p, "look at the capture job on the primary replica"), "log:\n%s", p.logs)
	})
}

// In Azure SQL Database there is no Agent to ask after, and an idle hour is no
// stall.
func TestCapture_Azure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := azureServer(t, "a")
		p := startPipeline(t, server, settings{fields: "database_names: [ a ]\npoll_interval: 20s"})
		<-time.After(time.Hour)
		require.Len(t, p.rest(), 2)
		require.NotContains(t, p.logs.String(), "level=WARN")
		require.NotContains(t, p.logs.String(), "Agent")
	})
}

// With strict a capture job that stands still is a fatal state, and heals.
func TestCapture_Strict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		p := startPipeline(t, server, settings{fields: "strict: true"})
		p.next(2)
		server.StopAgent()
		sqlExec(t, server, "USE db\nINSERT dbo.customers VALUES (3, N'Cem')")
		p.logged("Cannot go on (capture_stalled)")
		<-time.After(time.Hour)
		require.Equal(t, 1, countLines(p, "Cannot go on"), "log:\n%s", p.logs)
		require.Zero(t, countLines(p, "Going on"))
		server.StartAgent()
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
		p.logged("capture_stalled is cured")
	})
}
