package input_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// The figures that no event shows: they change when and in what portions the
// same events come.

// counted is a fault that does nothing but count statements.
func counted(server *simulator.Server, on string) *simulator.ArmedFault {
	return server.Control(simulator.Fault{On: on, Keep: true})
}

// eachInBubble runs a subtest in virtual time.
func eachInBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func TestFigures_PollInterval(t *testing.T) {
	for _, interval := range []time.Duration{250 * time.Millisecond, 5 * time.Second} {
		eachInBubble(t, interval.String(), func(t *testing.T) {
			server := newQuietServer(t, "CREATE TABLE dbo.t (id int PRIMARY KEY)\n"+enable("dbo", "t"))
			p := startPipeline(t, server, settings{fields: fmt.Sprintf("poll_interval: %s", interval)})
			p.settled()
			polls := counted(server, "select from cdc.lsn_time_mapping")
			<-time.After(10 * time.Minute)
			// Once a minute the mapping is asked for the ages of the tables and
			// of the capture job too.
			assert.InDelta(t, float64(10*time.Minute/interval+2*10), float64(polls.Fired()), 2)
		})
	}
}

func TestFigures_MaxBatchSize(t *testing.T) {
	for _, tt := range []struct{ size, snapshot, stream int }{{3, 4, 4}, {10, 1, 1}} {
		eachInBubble(t, fmt.Sprint(tt.size), func(t *testing.T) {
			server := newQuietServer(t, "CREATE TABLE dbo.t (id int PRIMARY KEY)\nINSERT dbo.t SELECT value FROM GENERATE_SERIES(1, 10)\n"+enable("dbo", "t"))
			var sizes []int
			p := startPipeline(t, server, settings{
				fields: fmt.Sprintf("max_batch_size: %d", tt.size),
				output: func(_ context.Context, batch []received) error {
					sizes = append(sizes, len(batch))
					return nil
				},
			})
			require.Len(t, p.settled(), 10)
			change(t, server, "INSERT dbo.t SELECT value FROM GENERATE_SERIES(11, 20)")
			require.Len(t, p.settled(), 10)
			require.Len(t, sizes, tt.snapshot+tt.stream)
			for _, size := range sizes {
				assert.LessOrEqual(t, size, tt.size)
			}
		})
	}
}

// A round that reads few transactions asks for changes as often as there are
// portions of them.
func TestFigures_MaxIterationTransactions(t *testing.T) {
	rounds := func(t *testing.T, transactions int) int {
		server := newQuietServer(t, "CREATE TABLE dbo.t (id int PRIMARY KEY)\n"+enable("dbo", "t"))
		p := startPipeline(t, server, settings{fields: fmt.Sprintf("max_iteration_transactions: %d", transactions)})
		p.settled()
		for id := range 12 {
			sqlExec(t, server, fmt.Sprintf("USE db\nINSERT dbo.t VALUES (%d)", id))
		}
		reads := counted(server, "select from cdc.dbo_t_ct")
		require.NoError(t, server.CaptureNow("db"))
		require.Len(t, p.settled(), 12)
		return reads.Fired()
	}
	for _, tt := range []struct{ transactions, rounds int }{{500, 1}, {6, 2}, {4, 3}, {1, 12}, {0, 1}} {
		eachInBubble(t, fmt.Sprint(tt.transactions), func(t *testing.T) {
			assert.Equal(t, tt.rounds, rounds(t, tt.transactions))
		})
	}
}

func TestFigures_FetchSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := func(size int) (snapshot, stream int) {
			server := newQuietServer(t, "CREATE TABLE dbo.t (id int PRIMARY KEY)\nINSERT dbo.t SELECT value FROM GENERATE_SERIES(1, 10)\n"+enable("dbo", "t"))
			rows, changes := counted(server, "select from dbo.t"), counted(server, "select from cdc.dbo_t_ct")
			p := startPipeline(t, server, settings{fields: pageSizes(size)})
			require.Len(t, p.settled(), 10)
			snapshot, before := rows.Fired(), changes.Fired()
			change(t, server, "INSERT dbo.t SELECT value FROM GENERATE_SERIES(11, 20)")
			require.Len(t, p.settled(), 10)
			return snapshot, changes.Fired() - before
		}
		few, fewChanges := pages(2000)
		assert.Equal(t, []int{1, 1}, []int{few, fewChanges})
		many, manyChanges := pages(3)
		assert.Equal(t, 4, many, "pages of 3, 3, 3 and 1 rows")
		assert.GreaterOrEqual(t, manyChanges, 4, "a page may also end with its transaction")
	})
}
