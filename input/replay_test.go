package input

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// Rejections of the same rows are counted and slowed down in a snapshot as
// they are in the stream, although each attempt has new positions.
func TestInput_SnapshotRejectionsArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, rec := recordedInput(t, &fakeServer{rows: 2, batch: 1}, newMemoryCache(), "", options{})
		start := time.Now()
		for range 2 * nackAlarm {
			require.NoError(t, mustNext(t, in).ack(t.Context(), errDownstream))
		}
		mustNext(t, in).accept(t)
		assert.Greater(t, time.Since(start), time.Minute)
		assert.EqualValues(t, 2, rec.metric("sqlserver_cdc_repeated_nacks{db}"))
		assert.Equal(t, 1, rec.logged("WARN Reading again"))
		require.NoError(t, in.Close(t.Context()))
	})
}

// An output that takes whatever it is given and rejects one of a hundred messages
// throws away what was handed over behind that one: no more than it had accepted
// since the rejection before. All comes, in order, and nothing that was accepted
// comes again.
func TestInput_RejectionsCostWhatWasGained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const changes = 1000
		in := testInput(t, &fakeServer{changes: changes, batch: 1}, newMemoryCache(), "")
		var accepted []int
		delivered, settled := 0, 0
		for len(accepted) < changes {
			var given []delivery
			for {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
				d, err := next(ctx, in)
				cancel()
				if err != nil {
					break
				}
				given = append(given, d)
			}
			delivered += len(given)
			for _, d := range given {
				if settled++; settled%100 == 0 {
					require.NoError(t, d.ack(t.Context(), errDownstream))
					break
				}
				d.accept(t)
				accepted = append(accepted, d.numbers(t)...)
			}
		}
		assert.True(t, slices.IsSorted(accepted))
		assert.Equal(t, changes, len(slices.Compact(slices.Clone(accepted))))
		assert.Less(t, delivered, changes*5/2, "the first rejection costs all that there is")
		require.NoError(t, in.Close(t.Context()))
	})
}

// A table without a key begins anew after each lost connection; without pauses
// it would repeat its first rows as fast as the network allows.
func TestInput_SnapshotLossesArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{rows: 3, batch: 1, keyless: true, onSnapshot: func(_ context.Context, row int) error {
			if row == 1 {
				return sqlserver.ErrConnectionLost
			}
			return nil
		}}
		in, _ := recordedInput(t, f, newMemoryCache(), "", options{})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		for ctx.Err() == nil {
			if d, err := next(ctx, in); err == nil {
				d.accept(t)
			}
		}
		f.set(func(f *fakeServer) { assert.Less(t, f.opens, 60, "attempts in five minutes") })
		require.NoError(t, in.Close(t.Context()))
	})
}

// What was handed over before a connection was lost counts when it is
// acknowledged after the snapshot has gone on over another.
func TestInput_LateAcknowledgementsInTheSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failed := false
		f := &fakeServer{rows: 10, batch: 1, onSnapshot: func(_ context.Context, row int) error {
			if row == 3 && !failed {
				failed = true
				return sqlserver.ErrConnectionLost
			}
			return nil
		}}
		cache := newMemoryCache()
		in := testInput(t, f, cache, "")
		var over []delivery
		for range 4 { // the fourth comes over the second connection
			over = append(over, mustNext(t, in))
		}
		for _, d := range over[:3] {
			d.accept(t)
		}
		time.Sleep(time.Second)
		cache = crash(in, cache)

		in = testInput(t, f, cache, "")
		d := mustNext(t, in)
		assert.Equal(t, []int{3}, d.numbers(t))
		assert.Greater(t, d.position(t), over[3].position(t), "no ordinal is used twice")
		require.NoError(t, in.Close(t.Context()))
	})
}

// Messages that the batching processors lost are read again.
func TestInput_BatchingProcessorFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := testInput(t, &fakeServer{changes: 4, batch: 1}, newMemoryCache(),
			"snapshot_mode: no_data\nbatching:\n  count: 2\n  processors:\n    - sleep: { duration: 10s }\n")
		require.NoError(t, in.Connect(t.Context()))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, _, err := in.ReadBatch(ctx)
		require.Error(t, err)
		assert.Equal(t, []int{0, 1}, mustNext(t, in).numbers(t))
		require.NoError(t, in.Close(t.Context()))
	})
}

// A cache that ignores its context keeps neither Connect nor Close.
func TestInput_CacheHangsAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		cache := newMemoryCache()
		cache.fail(func(context.Context, string) error { <-release; return nil }, nil)
		in := testInput(t, &fakeServer{}, cache, "")
		connected := make(chan error, 1)
		go func() { connected <- in.Connect(context.Background()) }()
		synctest.Wait()
		start := time.Now()
		require.NoError(t, in.Close(t.Context()))
		require.Error(t, <-connected)
		assert.LessOrEqual(t, time.Since(start), closeTimeout)
		close(release)
	})
}

// A call that nothing ends does not keep Close.
func TestInput_CloseDuringAHangingCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := &fakeServer{onOpen: func(context.Context) error { <-release; return sqlserver.ErrConnectionLost }}
		in := testInput(t, f, newMemoryCache(), "")
		connected := make(chan error, 1)
		go func() { connected <- in.Connect(context.Background()) }()
		synctest.Wait()
		start := time.Now()
		require.Error(t, in.Close(t.Context()))
		assert.Less(t, time.Since(start), 5*time.Second)
		close(release)
		require.Error(t, <-connected)
	})
}
