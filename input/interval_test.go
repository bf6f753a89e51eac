package input_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// polls is how many times the server was asked for changes.
func polls(t *testing.T, server *simulator.Server) int64 {
	t.Helper()
	sets, err := server.Query("SELECT t.text, MAX(s.execution_count) FROM sys.dm_exec_query_stats AS s CROSS APPLY sys.dm_exec_sql_text(s.plan_handle) AS t GROUP BY t.text")
	require.NoError(t, err)
	for _, row := range sets[0].Rows {
		if text := row[0].Str(); strings.Contains(text, "FROM cdc.lsn_time_mapping WHERE start_lsn >= @p1") {
			return row[1].Int64()
		}
	}
	return 0
}

// The pause follows the load, in virtual time.
func TestPollInterval(t *testing.T) {
	for _, test := range []struct {
		name, fields string
		idle, busy   int64 // polls of ten minutes, and of one
	}{
		{"fixed", "", 1200, 120},
		{"adaptive", "poll_interval_adaptive: { floor: 250ms, ceiling: 1m }", 10, 60},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newQuietServer(t, pagedTables+enable("dbo", "a"))
				p := startPipeline(t, server, settings{fields: "snapshot_mode: no_data\n" + test.fields})
				defer p.stop()
				<-time.After(10 * time.Minute)
				during := func(f func()) int64 {
					before := polls(t, server)
					f()
					return polls(t, server) - before
				}
				assert.InDelta(t, test.idle, during(func() { <-time.After(10 * time.Minute) }), 2)
				// A change every second: the longest pauses pass first.
				changes := func(from, n int) {
					for id := from; id < from+n; id++ {
						change(t, server, fmt.Sprintf("INSERT dbo.a VALUES (%d, 0)", id))
						<-time.After(time.Second)
					}
				}
				changes(1000, 120)
				assert.GreaterOrEqual(t, during(func() { changes(2000, 60) }), test.busy*9/10)
				require.Len(t, p.next(180), 180)
			})
		})
	}
}
