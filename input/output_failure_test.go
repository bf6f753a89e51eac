package input_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// threeRows is a stream without a snapshot, and three events in it.
func threeRows(t *testing.T, s settings) (*pipeline, *simulator.Server) {
	t.Helper()
	server := newServer(t, customers)
	s.fields = "snapshot_mode: no_data\nmax_batch_size: 1\npoll_interval: 5s\n" + s.fields
	p := startPipeline(t, server, s)
	<-time.After(5 * time.Second)
	change(t, server, "INSERT dbo.customers VALUES (11, N'a'), (12, N'b'), (13, N'c')")
	return p, server
}

// rejecting is an output that rejects a key a number of times and notes all it
// was offered.
type rejecting struct {
	mu      sync.Mutex
	key     string
	times   int // left; negative: for ever
	offered []string
}

func (r *rejecting) write(_ context.Context, batch []received) error {
	// Benthos passes acknowledgements on from goroutines of their own: without a
	// pause one could come after the rejection that follows it, and not count.
	<-time.After(100 * time.Millisecond)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range batch {
		r.offered = append(r.offered, m.Key)
		if m.Key == r.key && r.times != 0 {
			r.times--
			return errRejected
		}
	}
	return nil
}

// take returns what was offered since the last call.
func (r *rejecting) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	offered := r.offered
	r.offered = nil
	return offered
}

func (r *rejecting) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.times = 0
}

func TestOutputFailure_Rejections(t *testing.T) {
	for _, times := range []int{1, 2, 25} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &rejecting{key: `{"id":12}`, times: times}
				p, _ := threeRows(t, settings{output: r.write})
				<-time.After(15 * time.Minute)
				last := lastDeliveries(p.rest())
				assert.Equal(t, []string{`{"id":11}`, `{"id":12}`, `{"id":13}`}, keysOf(last))
				assert.Equal(t, times/10, countLines(p, "times in a row"), "an error each ten times")
				assert.Equal(t, 1, countLines(p, "Reading again from the last acknowledged position"))
				offered := r.take()
				assert.Equal(t, times+1, countKeys(offered, `{"id":12}`))
				assert.Equal(t, 1, countKeys(offered, `{"id":11}`), "what was acknowledged is not repeated")
			})
		})
	}
}

// A message that is never accepted holds the position, not the process: a
// restart begins with it, and once it is accepted everything follows.
func TestOutputFailure_RejectedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rejecting{key: `{"id":12}`, times: -1}
		s := newStore()
		p, server := threeRows(t, settings{output: r.write, store: s})
		<-time.After(30 * time.Minute)
		p.stop()
		r.take()
		p = startPipeline(t, server, settings{fields: "snapshot_mode: no_data\nmax_batch_size: 1", output: r.write, store: s})
		<-time.After(time.Minute)
		require.Equal(t, `{"id":12}`, r.take()[0])
		r.heal()
		<-time.After(time.Minute)
		require.Equal(t, []string{`{"id":12}`, `{"id":13}`}, keysOf(lastDeliveries(p.rest())))
	})
}

func TestOutputFailure_WithoutReplayRejectedMessagesAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rejecting{key: `{"id":12}`, times: -1}
		s := newStore()
		p, server := threeRows(t, settings{output: r.write, store: s, fields: "auto_replay_nacks: false"})
		<-time.After(time.Minute)
		require.Equal(t, []string{`{"id":11}`, `{"id":13}`}, keysOf(p.rest()))
		require.Equal(t, 1, countLines(p, "Dropping 1 messages"))
		p.stop()
		p = startPipeline(t, server, settings{fields: "snapshot_mode: no_data", store: s})
		p.quiet()
	})
}

// While an output takes nothing for half an hour, memory is bounded by the
// settings and the server keeps no transaction for us.
func TestOutputFailure_BlockedForHalfAnHour(t *testing.T) {
	tables := "CREATE TABLE dbo.big (id int IDENTITY NOT NULL PRIMARY KEY, v nvarchar(2000) NOT NULL)\nDECLARE @i int = 0\nWHILE @i < 3000 BEGIN INSERT dbo.big (v) VALUES (REPLICATE(N'x', 2000)); SET @i = @i + 1 END\n" + enable("dbo", "big")
	for _, mode := range []string{"initial", "no_data"} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, tables)
				g := newGate(100)
				before := heap()
				p := startPipeline(t, server, settings{output: g.write, fields: "snapshot_mode: " + mode +
					"\nsnapshot_fetch_size: 50\nstreaming_fetch_size: 50\nmax_batch_size: 10\nmax_queue_size: 100\ncheckpoint_limit: 100"})
				<-time.After(5 * time.Second)
				if mode == "no_data" {
					change(t, server, "UPDATE dbo.big SET v = REPLICATE(N'y', 2000)")
					before = heap()
				}
				g.wait(t, p)
				if mode == "initial" {
					assert.Equal(t, 1, openTransactions(t, server), "one point in time for as long as the output keeps up")
				}
				<-time.After(2 * time.Minute)
				assert.Zero(t, openTransactions(t, server))
				<-time.After(28 * time.Minute)
				assert.Zero(t, openTransactions(t, server))
				// 3000 rows are 12 MB in the messages of a whole snapshot, 24 MB in
				// those of updates; up to 400 messages and two pages may be held.
				assert.Less(t, heap()-before, int64(8<<20))
				assert.Len(t, p.rest(), 100)
			})
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// openTransactions counts those of the input's sessions.
func openTransactions(t *testing.T, server *simulator.Server) int {
	t.Helper()
	sets, err := server.Query("SELECT session_id FROM sys.dm_exec_sessions WHERE program_name LIKE N'sqlserver%' AND open_transaction_count > 0")
	require.NoError(t, err)
	return len(sets[0].Rows)
}

// An output that takes its time gets everything, in order and once.
func TestOutputFailure_Slow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, historyTables+enable("dbo", "a")+enable("dbo", "b"))
		p := startPipeline(t, server, settings{
			fields: "snapshot_mode: no_data\nmax_batch_size: 1\nmax_queue_size: 2\ncheckpoint_limit: 2",
			output: func(context.Context, []received) error { <-time.After(20 * time.Second); return nil },
		})
		<-time.After(5 * time.Second)
		change(t, server, history)
		<-time.After(20 * time.Minute)
		requireGrowing(t, p.rest())
		require.GreaterOrEqual(t, len(p.rest()), 30)
	})
}

// Acknowledged out of order, nothing is saved past what is not acknowledged.
func TestOutputFailure_AcknowledgedOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		hold := make(chan struct{})
		p, server := threeRows(t, settings{store: s, maxInFlight: 3, output: func(_ context.Context, batch []received) error {
			if batch[0].Key == `{"id":12}` {
				<-hold
			}
			return nil
		}})
		<-time.After(time.Minute)
		require.ElementsMatch(t, []string{`{"id":11}`, `{"id":13}`}, keysOf(p.rest()))
		left := s.copyOf()
		close(hold)
		q := startPipeline(t, server, settings{fields: "snapshot_mode: no_data", store: left})
		<-time.After(time.Minute)
		require.Equal(t, []string{`{"id":12}`, `{"id":13}`}, keysOf(q.rest()))
	})
}

func keysOf(messages []received) []string {
	keys := make([]string, len(messages))
	for i, m := range messages {
		keys[i] = m.Key
	}
	return keys
}

func countKeys(keys []string, key string) (n int) {
	for _, k := range keys {
		if k == key {
			n++
		}
	}
	return n
}
