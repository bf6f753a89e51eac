package input_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// streaming reads changes alone, with few polls in the minutes that tests let pass.
const streaming = noData + "poll_interval: 5s\n"

// firstRow starts a stream of dbo.t that has delivered its first row.
func firstRow(t *testing.T, s settings) (*simulator.Server, *pipeline) {
	t.Helper()
	server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\n"+enable("dbo", "t"))
	p := startPipeline(t, server, s)
	<-time.After(time.Minute)
	change(t, server, "INSERT dbo.t VALUES (1)")
	p.want(`c dbo.t {"id":1}`)
	return server, p
}

// A table that is renamed keeps its capture instance, and the stream its place: no
// change is lost or repeated, while the pipeline runs and while it is down
// (debezium DBZ-5423).
func TestCases_RenamedTable(t *testing.T) {
	for name, down := range map[string]bool{"running": false, "down": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := settings{store: newStore(), fields: streaming}
				server, p := firstRow(t, s)
				if down {
					p.stop()
				}
				change(t, server, "INSERT dbo.t VALUES (2)\nEXEC sp_rename N'dbo.t', N'u'")
				change(t, server, "INSERT dbo.u VALUES (3)")
				if down {
					p = startPipeline(t, server, s)
				}
				got := p.next(2)
				assert.Equal(t, []string{`{"id":2}`, `{"id":3}`}, keysOf(got))
				p.stop()
				first := p
				change(t, server, "INSERT dbo.u VALUES (4)")
				p = startPipeline(t, server, s)
				p.want(`c dbo.u {"id":4}`)
				p.quiet()
				assert.NotContains(t, p.logs.String(), "Cannot go on")
				said, later := countLines(first, "table has another name"), countLines(p, "table has another name")
				assert.Equal(t, 1, said+later, "once, by whoever looks at the catalogue first: log:\n%s%s", first.logs, p.logs)
				assert.Contains(t, first.logs.String()+p.logs.String(), "was=dbo.t table=dbo.u")
			})
		})
	}
}

// The mapping of LSNs to times may be cleaned up to its last row, while nothing is
// captured: then there is no maximum LSN, as before the first. The stream waits,
// says so once and goes on (debezium DBZ-4631).
func TestCases_MaximumLSNGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, p := firstRow(t, settings{fields: streaming})
		server.StopAgent()
		sqlExec(t, server, "USE db\nDELETE cdc.lsn_time_mapping")
		<-time.After(10 * time.Minute)
		require.Equal(t, 1, countLines(p, "no LSN captured yet"), "log:\n%s", p.logs)
		server.StartAgent()
		change(t, server, "INSERT dbo.t VALUES (2)")
		p.want(`c dbo.t {"id":2}`)
		p.quiet()
		assert.NotContains(t, p.logs.String(), "Cannot go on")
	})
}

// Change data capture that is disabled for the whole database and enabled again
// loses what lies in between, and that is said (Schema-Smith/SchemaSmith#398).
func TestCases_DatabaseEnabledAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, p := firstRow(t, settings{fields: streaming})
		sqlExec(t, server, "USE db\nEXEC sys.sp_cdc_disable_db")
		p.logged("(cdc_disabled)")
		sqlExec(t, server, "USE db\nINSERT dbo.t VALUES (2)\nEXEC sys.sp_cdc_enable_db\nGO\nUSE db\n"+enable("dbo", "t")+"INSERT dbo.t VALUES (3)")
		p.logged("(instance_replaced)")
		assert.Empty(t, shorts(p.rest()), "what comes later does not hide what is missing")
	})
}

// A row larger than all that may wait, in memory and unacknowledged, passes alone.
func TestCases_RowLargerThanTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v varchar(max) NULL)\n"+enable("dbo", "t"))
		p := startPipeline(t, server, settings{fields: streaming + "max_queue_size_in_bytes: 1000\nmax_queue_size: 2\nmax_batch_size: 1\ncheckpoint_limit: 1"})
		<-time.After(time.Minute)
		change(t, server, "DECLARE @i int = 0\nWHILE @i < 5 BEGIN INSERT dbo.t VALUES (@i, REPLICATE(CONVERT(varchar(max), 'x'), 20000 * (@i % 2))); SET @i += 1 END")
		var keys []string
		for i := range 5 {
			keys = append(keys, fmt.Sprintf(`{"id":%d}`, i))
		}
		require.Equal(t, keys, keysOf(p.next(5)))
		p.quiet()
	})
}
