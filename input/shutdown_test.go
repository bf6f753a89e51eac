package input_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// prompt is how long a stream may take to stop, in virtual time.
const prompt = 5 * time.Second

// Whatever a stream is doing, it stops in time, without a goroutine left (the
// bubble would not end) and without a session left on the server.
func TestShutdown_FromEveryState(t *testing.T) {
	blocked := func(ctx context.Context, _ []received) error {
		<-ctx.Done()
		return ctx.Err()
	}
	stall := func(on string) func(*simulator.Server) {
		return func(s *simulator.Server) { s.Control(simulator.Fault{On: on, Keep: true, Do: simulator.Stall()}) }
	}
	delay := func(on string) func(*simulator.Server) {
		return func(s *simulator.Server) {
			s.Control(simulator.Fault{On: on, Keep: true, Do: simulator.Delay(time.Hour)})
		}
	}
	tests := []struct {
		name   string
		before func(*simulator.Server)
		s      settings
		during func(*testing.T, *simulator.Server)
	}{
		{name: "at once"},
		{name: "poll sleep of an hour", s: settings{fields: "poll_interval: 1h"}},
		{name: "output blocked in the snapshot", s: settings{output: blocked, fields: "max_batch_size: 1\nsnapshot_fetch_size: 1\nmax_queue_size: 2"}},
		{name: "output blocked in the stream", s: settings{output: blocked, fields: "snapshot_mode: no_data\nmax_batch_size: 1\nmax_queue_size: 2"}, during: insertMany},
		{name: "checkpoint limit reached", s: settings{output: blocked, fields: "snapshot_mode: no_data\nmax_batch_size: 1\ncheckpoint_limit: 1\nmax_queue_size: 2"}, during: insertMany},
		{name: "batch being collected", s: settings{fields: "batching: { count: 1000, period: 1h }"}},
		{name: "long snapshot query", before: delay("select from dbo.customers")},
		{name: "long poll", before: delay("select from cdc.lsn_time_mapping")},
		{name: "long catalogue query", before: delay("select from sys.columns")},
		{name: "snapshot on a dead network", before: stall("select from dbo.customers")},
		{name: "poll on a dead network", before: stall("select from cdc.lsn_time_mapping")},
		{name: "catalogue on a dead network", before: stall("select from sys.tables")},
		{name: "change page on a dead network", before: stall("select from cdc.dbo_customers_ct"), during: insertMany},
		{name: "login on a dead network", before: stall("login")},
		{name: "reconnect pause", before: func(s *simulator.Server) {
			s.Control(simulator.Fault{On: "login", Keep: true, Do: simulator.Cut()})
		}},
		{name: "pause after a lost connection", before: func(s *simulator.Server) {
			s.Control(simulator.Fault{On: "select from cdc.lsn_time_mapping", Keep: true, Do: simulator.Cut()})
		}},
		{name: "pause after a deadlock", before: func(s *simulator.Server) {
			s.Control(simulator.Fault{On: "select from cdc.lsn_time_mapping", Keep: true, Do: deadlock})
		}},
		{name: "fatal wait", s: settings{fields: "table_include_list: [ 'dbo\\.none' ]"}},
		{name: "no LSN yet", before: func(s *simulator.Server) { s.StopAgent() }},
		{name: "pause after a rejection", s: settings{output: func(context.Context, []received) error { return errRejected }}},
		{name: "cache hangs on write", s: settings{store: hangingStore()}},
	}
	moments := []time.Duration{0, time.Second, 5 * time.Minute}
	for i, tt := range tests {
		for k := range race.Every(len(moments), len(moments)) {
			after := moments[(i+k)%len(moments)]
			t.Run(tt.name+" after "+after.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newServer(t, customers)
					if tt.before != nil {
						tt.before(server)
					}
					p := startPipeline(t, server, tt.s)
					if tt.during != nil {
						<-time.After(time.Second)
						tt.during(t, server)
					}
					<-time.After(after)
					synctest.Wait()
					begin := time.Now()
					stopInput(t, p)
					assert.LessOrEqual(t, time.Since(begin), prompt)
					synctest.Wait()
					require.Zero(t, sessionsOf(t, server))
				})
			})
		}
	}
}

var deadlock = simulator.Fail(1205, 13, 51, "Transaction was deadlocked on lock resources with another process and has been chosen as the deadlock victim. Rerun the transaction.")

func insertMany(t *testing.T, server *simulator.Server) {
	change(t, server, "INSERT dbo.customers VALUES (11, N'a'), (12, N'b'), (13, N'c'), (14, N'd'), (15, N'e'), (16, N'f')")
}

// stopInput stops a stream with no time for what the output still holds, as a
// second signal would.
func stopInput(t *testing.T, p *pipeline) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_ = p.stream.Stop(ctx)
	select {
	case err := <-p.ended:
		p.ended <- err
	case <-time.After(time.Hour):
		require.Fail(t, "the stream does not end", "log:\n%s", p.logs)
	}
}

// sessionsOf counts the sessions that the input has on the server.
func sessionsOf(t *testing.T, server *simulator.Server) int {
	t.Helper()
	sets, err := server.Query("SELECT session_id FROM sys.dm_exec_sessions WHERE program_name LIKE N'sqlserver%'")
	require.NoError(t, err)
	return len(sets[0].Rows)
}

// hangingStore is a store whose writes never return by themselves.
func hangingStore() *store {
	s := newStore()
	s.onSet = func(ctx context.Context, _ string, _ []byte) error { <-ctx.Done(); return ctx.Err() }
	return s
}
