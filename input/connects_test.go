package input

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// Two calls of Connect at once, whether or not they succeed, never make two
// readers: the changes come once and in order.
func TestInput_ConnectTwiceAtOnce(t *testing.T) {
	inBubble(t, "works", func(t *testing.T) {
		f := &fakeServer{changes: 20, batch: 1, onOpen: func(ctx context.Context) error { return sleep(ctx, time.Second) }}
		in := testInput(t, f, newMemoryCache(), "")
		connectAtOnce(t, in, 5)
		assert.Equal(t, 1, f.opened())
		var got []int
		for len(got) < 20 {
			d := mustNext(t, in)
			got = append(got, d.numbers(t)...)
			d.accept(t)
		}
		for i, n := range got {
			assert.Equal(t, i, n)
		}
		require.NoError(t, in.Close(t.Context()))
	})
	inBubble(t, "fails at first", func(t *testing.T) {
		fails := 3
		f := &fakeServer{changes: 3, batch: 1}
		f.onOpen = func(ctx context.Context) error {
			if fails--; fails >= 0 {
				return sqlserver.ErrConnectionLost
			}
			return sleep(ctx, time.Second)
		}
		in := testInput(t, f, newMemoryCache(), "")
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { _ = in.Connect(t.Context()) })
		}
		wg.Wait()
		require.NoError(t, in.Connect(t.Context()))
		assert.Equal(t, []int{0}, mustNext(t, in).numbers(t))
		assert.Equal(t, []int{1}, mustNext(t, in).numbers(t))
		assert.Equal(t, []int{2}, mustNext(t, in).numbers(t))
		assert.Equal(t, 4, f.opened())
		require.NoError(t, in.Close(t.Context()))
	})
}

// opened returns how many connections were tried.
func (f *fakeServer) opened() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.opens
}

func connectAtOnce(t *testing.T, in *input, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { assert.NoError(t, in.Connect(t.Context())) })
	}
	wg.Wait()
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
