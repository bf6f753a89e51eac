package input

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// A message that is rejected while a statement gets no answer is read again once
// that has had its time to notice: the statement is cancelled then.
func TestInput_RejectionWhileAStatementHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{changes: 1, batch: 1}
		in := testInput(t, f, newMemoryCache(), "")
		first := mustNext(t, in)
		hanging := make(chan struct{})
		f.set(func(f *fakeServer) {
			f.onPoll = func(ctx context.Context) error {
				close(hanging)
				return hang(ctx)
			}
		})
		<-hanging
		f.set(func(f *fakeServer) { f.onPoll = nil })
		start := time.Now()
		require.NoError(t, first.ack(t.Context(), errDownstream))
		again := mustNext(t, in)
		assert.Equal(t, first.numbers(t), again.numbers(t))
		assert.GreaterOrEqual(t, time.Since(start), endTimeout)
		assert.Less(t, time.Since(start), 2*endTimeout)
		again.accept(t)
		require.NoError(t, in.Close(t.Context()))
	})
}

// One of several databases that cannot go on is tried again after a minute, though
// nobody asks to connect, and heals.
func TestInput_FatalBesideOthersHeals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := map[string]*fakeServer{"a": {}, "b": {}}
		problem := sqlserver.NewProblem("retention_gap", "changes are gone", "take a new snapshot", nil)
		servers["b"].onPoll = func(context.Context) error { return problem }
		in, rec := inputOver(t, servers, newMemoryCache(), "database_names: [a, b]")
		require.NoError(t, in.Connect(t.Context()))
		time.Sleep(time.Second)
		const gauge = "sqlserver_cdc_fatal{retention_gap,b}"
		require.EqualValues(t, 1, rec.metric(gauge))
		servers["b"].set(func(f *fakeServer) { f.onPoll = nil })
		time.Sleep(fatalWait - 2*time.Second)
		assert.EqualValues(t, 1, rec.metric(gauge))
		time.Sleep(2 * time.Second)
		assert.EqualValues(t, 0, rec.metric(gauge))
		require.NoError(t, in.Close(t.Context()))
	})
}

// A cache that hangs while it is asked which databases were read before does not
// hold up the start for longer than a load may take.
func TestInput_CacheHangsDuringTheSearch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		cache.fail(nil, func(ctx context.Context, _ string) error { return hang(ctx) })
		in, _ := inputOver(t, map[string]*fakeServer{"a_1": {}}, cache, "database_names: ['a_.']")
		in.list = func(context.Context, *sqlserver.Server) ([]sqlserver.DatabaseEntry, error) {
			return []sqlserver.DatabaseEntry{{Name: "a_1"}}, nil
		}
		start := time.Now()
		require.ErrorIs(t, in.Connect(t.Context()), context.DeadlineExceeded)
		assert.Equal(t, loadTimeout, time.Since(start))
		require.NoError(t, in.Close(t.Context()))
	})
}
