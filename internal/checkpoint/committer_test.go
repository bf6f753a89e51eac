package checkpoint_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// saver records what is saved.
type saver struct {
	mu       sync.Mutex
	saved    []int
	fault    func(ctx context.Context) error
	errors   int
	recovers int
}

func (s *saver) options() checkpoint.CommitterOptions[int] {
	return checkpoint.CommitterOptions[int]{
		Save: func(ctx context.Context, mark int) error {
			s.mu.Lock()
			fault := s.fault
			s.mu.Unlock()
			if fault != nil {
				if err := fault(ctx); err != nil {
					return err
				}
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.saved = append(s.saved, mark)
			return nil
		},
		Before:    func(a, b int) bool { return a < b },
		OnError:   func(error, int) { s.mu.Lock(); s.errors++; s.mu.Unlock() },
		OnRecover: func(int) { s.mu.Lock(); s.recovers++; s.mu.Unlock() },
	}
}

func (s *saver) fail(fault func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

func (s *saver) marks() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]int(nil), s.saved...)
}

func TestCommitter_Coalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s saver
		c := checkpoint.NewCommitter(s.options())
		c.Offer(1)
		synctest.Wait()
		assert.Equal(t, []int{1}, s.marks(), "the first is written at once")
		for n := 2; n <= 100; n++ {
			c.Offer(n)
		}
		time.Sleep(time.Second)
		assert.Equal(t, []int{1, 100}, s.marks())
		require.NoError(t, c.Close(t.Context()))
	})
}

func TestCommitter_KeepsTheMaximum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s saver
		c := checkpoint.NewCommitter(s.options())
		c.Offer(5)
		time.Sleep(time.Second)
		c.Offer(3)
		time.Sleep(time.Second)
		require.NoError(t, c.Close(t.Context()))
		assert.Equal(t, []int{5}, s.marks())
	})
}

func TestCommitter_CloseFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s saver
		c := checkpoint.NewCommitter(s.options())
		c.Offer(1)
		synctest.Wait()
		c.Offer(2)
		require.NoError(t, c.Close(t.Context()))
		assert.Equal(t, []int{1, 2}, s.marks())
		require.NoError(t, c.Close(t.Context()), "twice")
		c.Offer(3)
		assert.Equal(t, []int{1, 2}, s.marks())
	})
}

func TestCommitter_SaveWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s saver
		c := checkpoint.NewCommitter(s.options())
		s.fail(func(context.Context) error { time.Sleep(time.Second); return nil })
		c.Offer(1)
		synctest.Wait()
		require.NoError(t, c.Save(t.Context(), 2))
		assert.Equal(t, []int{1, 2}, s.marks())

		s.fail(func(context.Context) error { return errRefused })
		require.ErrorIs(t, c.Save(t.Context(), 3), errRefused)
		s.fail(nil)
		require.NoError(t, c.Close(t.Context()))
		assert.Equal(t, []int{1, 2, 3}, s.marks(), "it was tried again")
		require.ErrorIs(t, c.Save(t.Context(), 4), checkpoint.ErrClosed)
	})
}

func TestCommitter_RetriesWithBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s saver
		s.fail(func(context.Context) error { return errRefused })
		c := checkpoint.NewCommitter(s.options())
		c.Offer(1)
		time.Sleep(time.Hour)
		assert.Empty(t, s.marks())
		assert.Greater(t, s.errors, 300)
		assert.Less(t, s.errors, 400, "ten seconds apart in the end")
		c.Offer(2) // the newest is what is tried again
		s.fail(nil)
		time.Sleep(time.Minute)
		assert.Equal(t, []int{2}, s.marks())
		assert.Equal(t, 1, s.recovers)
		require.NoError(t, c.Close(t.Context()))
	})
}

func TestCommitter_CloseDuringLongPauseTriesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s saver
		s.fail(func(context.Context) error { return errRefused })
		c := checkpoint.NewCommitter(s.options())
		c.Offer(1)
		time.Sleep(time.Hour)
		s.fail(nil)
		start := time.Now()
		require.NoError(t, c.Close(t.Context()))
		assert.Zero(t, time.Since(start))
		assert.Equal(t, []int{1}, s.marks())
	})
}

func TestCommitter_CloseIsBounded(t *testing.T) {
	faults := map[string]func(context.Context) error{
		"refuses": func(context.Context) error { return errRefused },
		"hangs":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s saver
				s.fail(fault)
				c := checkpoint.NewCommitter(s.options())
				c.Offer(1)
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				start := time.Now()
				require.ErrorContains(t, c.Close(ctx), "saving the last position")
				assert.Equal(t, 2*time.Second, time.Since(start))
				assert.Empty(t, s.marks())
			})
		})
	}
}

func TestCommitter_HangingWriteIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s saver
		hung := 0
		s.fail(func(ctx context.Context) error {
			if hung++; hung > 2 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		})
		c := checkpoint.NewCommitter(s.options())
		c.Offer(1)
		time.Sleep(2 * time.Minute)
		assert.Equal(t, []int{1}, s.marks())
		require.NoError(t, c.Close(t.Context()))
	})
}

// Many goroutines acknowledge at once: what is saved only grows, and in the
// end it is the last mark.
func TestCommitter_ConcurrentAcknowledgements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s saver
		c := checkpoint.NewCommitter(s.options())
		tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 1 << 30, OnAdvance: c.Offer})
		var acks []func()
		for n := 1; n <= 500; n++ {
			ack, err := tr.Track(t.Context(), ptr(n), 1, 1)
			require.NoError(t, err)
			acks = append(acks, ack)
		}
		rand.Shuffle(len(acks), func(i, j int) { acks[i], acks[j] = acks[j], acks[i] })
		var wg sync.WaitGroup
		for _, ack := range acks {
			wg.Go(func() {
				time.Sleep(rand.N(time.Second))
				ack()
			})
		}
		wg.Wait()
		require.NoError(t, c.Close(t.Context()))
		saved := s.marks()
		assert.IsIncreasing(t, saved)
		assert.Equal(t, 500, saved[len(saved)-1])
	})
}
