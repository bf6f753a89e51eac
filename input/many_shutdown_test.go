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

// Whatever three databases are doing, each something else, the stream stops in
// time and leaves neither a goroutine nor a session.
func TestMany_ShutdownFromEveryState(t *testing.T) {
	control := func(on string, do simulator.Action) func(*testing.T, *simulator.Server) {
		return func(_ *testing.T, s *simulator.Server) { s.Control(simulator.Fault{On: on, Keep: true, Do: do}) }
	}
	blocked := func(ctx context.Context, batch []received) error {
		if batch[0].Database == "b" {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	rejected := func(_ context.Context, batch []received) error {
		if batch[0].Database == "b" {
			return errRejected
		}
		return nil
	}
	tests := []struct {
		name   string
		s      settings
		before []func(*testing.T, *simulator.Server)
	}{
		{name: "all reading"},
		{name: "poll sleep of an hour", s: settings{fields: "poll_interval: 1h"}},
		{name: "one login on a dead network, one snapshot", before: []func(*testing.T, *simulator.Server){
			control("login:a", simulator.Stall()), control("select from dbo.only_b", simulator.Stall()),
		}},
		{name: "one long query, one reconnecting", before: []func(*testing.T, *simulator.Server){
			control("select from dbo.only_a", simulator.Delay(time.Hour)), control("login:b", simulator.Cut()),
		}},
		{
			name: "one fatal, one blocked", s: settings{output: blocked, maxInFlight: 5, fields: "max_batch_size: 1\ncheckpoint_limit: 1\nmax_queue_size: 2"},
			before: []func(*testing.T, *simulator.Server){script("USE a\nEXEC sys.sp_cdc_disable_db")},
		},
		{
			name: "one fatal, one rejected", s: settings{output: rejected},
			before: []func(*testing.T, *simulator.Server){script("USE a\nEXEC sys.sp_cdc_disable_db")},
		},
		{name: "all fatal", before: []func(*testing.T, *simulator.Server){
			script("USE a\nEXEC sys.sp_cdc_disable_db\nGO\nUSE b\nEXEC sys.sp_cdc_disable_db\nGO\nUSE c\nEXEC sys.sp_cdc_disable_db"),
		}},
		{name: "cache hangs on write", s: settings{store: hangingStore()}},
		{
			name: "looking for databases on a dead network", s: settings{fields: "database_names: [ '.*' ]"},
			before: []func(*testing.T, *simulator.Server){control("login", simulator.Stall())},
		},
		{name: "found by a pattern", s: settings{fields: "database_names: [ '.*' ]"}},
	}
	moments := []time.Duration{0, time.Second, 5 * time.Minute}
	for i, tt := range tests {
		for k := range race.Every(len(moments), len(moments)) {
			after := moments[(i+k)%len(moments)]
			t.Run(tt.name+" after "+after.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newServerOf(t, three...)
					for _, befall := range tt.before {
						befall(t, server)
					}
					s := tt.s
					if s.fields == "" || s.fields[0] != 'd' {
						s.fields = threeDatabases(s.fields)
					}
					p := startPipeline(t, server, s)
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
