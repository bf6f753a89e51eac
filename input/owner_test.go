package input

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// Of two inputs that keep their positions under one key the newer goes on at
// once, and the older stops by itself: it saves nothing any more, gives its
// connection up, and says who has taken over.
func TestOwner_NewerInputWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{changes: 2, batch: 1}
		older, rec := recordedInput(t, f, cache, "", options{})
		first, second := mustNext(t, older), mustNext(t, older)
		first.accept(t)
		<-time.After(time.Second)

		newer := testInput(t, f, cache, "")
		assert.Equal(t, []int{1}, mustNext(t, newer).numbers(t), "nothing is waited for")
		<-time.After(checkpoint.ClaimInterval)
		before := cache.image().values
		second.accept(t)
		synctest.Wait()
		assert.Equal(t, before, cache.image().values, "the older one saves nothing")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err := older.ReadBatch(ctx)
		require.ErrorIs(t, err, service.ErrNotConnected)
		for range 3 { // it does not take the key back
			var wait *service.ErrBackOff
			require.ErrorAs(t, older.Connect(t.Context()), &wait)
			var taken *checkpoint.TakenError
			require.ErrorAs(t, wait.Err, &taken)
			assert.Equal(t, newer.owner, taken.By)
			assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_fatal{checkpoint_taken,db}"))
			<-time.After(2 * time.Minute)
		}
		assert.Equal(t, 1, rec.logged("Cannot go on (checkpoint_taken)"))
		assert.Equal(t, 2, f.opens, "a fenced input leaves the server alone")
		require.NoError(t, older.Close(t.Context()), "nothing is lost by it")

		f.set(func(f *fakeServer) { f.changes = 3 })
		assert.Equal(t, []int{2}, mustNext(t, newer).numbers(t))
		require.NoError(t, newer.Close(t.Context()))
	})
}

// The same while a snapshot runs: the newer input goes on behind the rows that are
// acknowledged, and what the older one gets acknowledged later is saved by nobody.
func TestOwner_NewerInputWinsInTheSnapshot(t *testing.T) {
	for name, accepted := range map[string]int{"before the first row": 0, "inside": 2, "behind the last row": 4} {
		inBubble(t, name, func(t *testing.T) {
			cache := newMemoryCache()
			f := &fakeServer{rows: 4, changes: 2, batch: 1}
			older := testInput(t, f, cache, "")
			var late []delivery
			for n := range 5 {
				if d := mustNext(t, older); n < accepted {
					d.accept(t)
				} else {
					late = append(late, d)
				}
			}
			<-time.After(time.Second)
			// The newer one reads from a server of its own: the fake bears one reading.
			newer := testInput(t, &fakeServer{rows: 4, changes: 2, batch: 1}, cache, "")
			first := mustNext(t, newer)
			assert.Equal(t, []int{accepted}, first.numbers(t))
			<-time.After(checkpoint.ClaimInterval)
			before := cache.image().values
			for _, d := range late {
				d.accept(t)
			}
			<-time.After(time.Minute)
			assert.Equal(t, before, cache.image().values)
			first.accept(t)
			want := []int{0, 1, 2, 3, 4, 5}[accepted+1:]
			assert.Equal(t, want, drain(t, newer))
			require.NoError(t, older.Close(t.Context()))
			require.NoError(t, newer.Close(t.Context()))
		})
	}
}

// An input that takes over what a crashed one has left does so at once.
func TestOwner_CrashedPredecessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{changes: 1, batch: 1}
		in := testInput(t, f, cache, "")
		mustNext(t, in).accept(t)
		synctest.Wait()
		left := crash(in, cache)
		in = testInput(t, f, left, "")
		start := time.Now()
		require.NoError(t, in.Connect(t.Context()))
		assert.Zero(t, time.Since(start))
		require.NoError(t, in.Close(t.Context()))
	})
}

// A release that comes late, after Close has given up, saves what is
// acknowledged, unless another input has taken over.
func TestOwner_LateRelease(t *testing.T) {
	for name, taken := range map[string]bool{"alone": false, "taken over": true} {
		inBubble(t, name, func(t *testing.T) {
			cache := newMemoryCache()
			f := &fakeServer{changes: 2, batch: 1}
			in := testInput(t, f, cache, "")
			mustNext(t, in).accept(t)
			<-time.After(time.Second)
			d := mustNext(t, in)
			// The goroutine hangs where nothing ends it.
			come := make(chan struct{})
			f.set(func(f *fakeServer) {
				f.onPoll = func(context.Context) error { return sqlserver.ErrConnectionLost }
				f.onOpen = func(context.Context) error { <-come; return errBroken }
			})
			<-time.After(time.Second)
			cache.fail(func(context.Context, string) error { return errBroken }, nil)
			d.accept(t)
			<-time.After(time.Second)
			start := time.Now()
			require.ErrorIs(t, in.Close(t.Context()), errHangs)
			assert.Equal(t, closeTimeout, time.Since(start))

			cache.fail(nil, nil)
			want := []int(nil)
			if taken {
				want = []int{1}
				f2 := &fakeServer{changes: 2, batch: 1}
				other := testInput(t, f2, cache, "")
				assert.Equal(t, want, mustNext(t, other).numbers(t))
				defer func() { require.NoError(t, other.Close(t.Context())) }()
			}
			<-time.After(checkpoint.ClaimInterval)
			close(come)
			<-time.After(time.Minute)
			again := testInput(t, &fakeServer{changes: 2, batch: 1}, cache.image(), "")
			assert.Equal(t, want, drain(t, again))
			require.NoError(t, again.Close(t.Context()))
		})
	}
}

// A cache that takes seconds for each write has the last position all the same.
func TestOwner_SlowCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{changes: 40, batch: 1}
		in := testInput(t, f, cache, "")
		mustNext(t, in).accept(t)
		<-time.After(time.Second)
		cache.fail(func(context.Context, string) error { <-time.After(6 * time.Second); return nil }, nil)
		for range 39 {
			mustNext(t, in).accept(t)
			<-time.After(100 * time.Millisecond)
		}
		start := time.Now()
		require.NoError(t, in.Close(t.Context()))
		assert.Greater(t, time.Since(start), closeTimeout)
		cache.fail(nil, nil)
		in = testInput(t, f, cache, "")
		assert.Empty(t, drain(t, in))
		require.NoError(t, in.Close(t.Context()))
	})
}
