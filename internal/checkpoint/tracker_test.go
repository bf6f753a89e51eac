package checkpoint_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
)

// ptr makes a mark of a number.
func ptr(n int) *int { return &n }

func TestTracker_ReportsTheContiguousPrefix(t *testing.T) {
	var got []int
	tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 100, OnAdvance: func(m int) { got = append(got, m) }})
	var acks []func()
	for n := 1; n <= 4; n++ {
		ack, err := tr.Track(t.Context(), ptr(n), 1, 1)
		require.NoError(t, err)
		acks = append(acks, ack)
	}
	acks[1]()
	acks[2]()
	assert.Empty(t, got)
	acks[0]()
	assert.Equal(t, []int{3}, got)
	acks[0]() // again
	assert.Equal(t, []int{3}, got)
	acks[3]()
	assert.Equal(t, []int{3, 4}, got)
}

func TestTracker_BatchWithoutMark(t *testing.T) {
	var got []int
	tr := checkpoint.NewTracker(7, checkpoint.TrackerOptions[int]{Limit: 100, OnAdvance: func(m int) { got = append(got, m) }})
	first, err := tr.Track(t.Context(), nil, 1, 1)
	require.NoError(t, err)
	second, err := tr.Track(t.Context(), ptr(8), 1, 1)
	require.NoError(t, err)
	first()
	second()
	assert.Equal(t, []int{7, 8}, got)
}

func TestTracker_AdvanceWaitsForWhatCameBefore(t *testing.T) {
	var got []int
	tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 100, OnAdvance: func(m int) { got = append(got, m) }})
	tr.Advance(1)
	assert.Equal(t, []int{1}, got)
	ack, err := tr.Track(t.Context(), ptr(2), 1, 1)
	require.NoError(t, err)
	tr.Advance(3)
	tr.Advance(4)
	assert.Equal(t, []int{1}, got)
	assert.Equal(t, 4, tr.HandedOver())
	ack()
	assert.Equal(t, []int{1, 4}, got)
}

func TestTracker_LateAcksChangeNothing(t *testing.T) {
	tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 100, OnAdvance: func(int) { t.Error("advanced after Close") }})
	ack, err := tr.Track(t.Context(), ptr(1), 1, 1)
	require.NoError(t, err)
	tr.Close()
	tr.Close()
	ack()
	tr.Advance(2)
	_, err = tr.Track(t.Context(), ptr(3), 1, 1)
	require.ErrorIs(t, err, checkpoint.ErrClosed)
}

func TestTracker_BlocksAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 10})
		ack, err := tr.Track(t.Context(), ptr(1), 8, 0)
		require.NoError(t, err)
		tracked := make(chan error)
		go func() {
			_, err := tr.Track(t.Context(), ptr(2), 3, 0)
			tracked <- err
		}()
		synctest.Wait()
		select {
		case err := <-tracked:
			t.Fatalf("passed the limit with %v", err)
		default:
		}
		ack()
		require.NoError(t, <-tracked)
	})
}

func TestTracker_OversizedBatchPassesAlone(t *testing.T) {
	tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 10})
	_, err := tr.Track(t.Context(), ptr(1), 1000, 0)
	require.NoError(t, err)
}

func TestTracker_BlockedTrackEnds(t *testing.T) {
	ends := map[string]func(tr *checkpoint.Tracker[int], cancel func()) error{
		"cancelled": func(_ *checkpoint.Tracker[int], cancel func()) error { cancel(); return context.Canceled },
		"closed":    func(tr *checkpoint.Tracker[int], _ func()) error { tr.Close(); return checkpoint.ErrClosed },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 1})
				_, err := tr.Track(ctx, ptr(1), 1, 0)
				require.NoError(t, err)
				tracked := make(chan error)
				go func() {
					_, err := tr.Track(ctx, ptr(2), 1, 0)
					tracked <- err
				}()
				synctest.Wait()
				want := end(tr, cancel)
				require.ErrorIs(t, <-tracked, want)
			})
		})
	}
}

func TestTracker_StallOpensTheExtraWindowOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalls := 0
		tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 10, Extra: 5, ExtraBytes: 100, OnStall: func() { stalls++ }})
		_, err := tr.Track(t.Context(), ptr(1), 10, 10)
		require.NoError(t, err)

		start := time.Now()
		_, err = tr.Track(t.Context(), ptr(2), 3, 60)
		require.NoError(t, err)
		assert.Equal(t, checkpoint.StallAfter, time.Since(start))
		assert.Equal(t, 1, stalls)

		blocked := func(n, bytes int) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			_, err := tr.Track(ctx, ptr(3), n, bytes)
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		blocked(3, 1)  // too many messages
		blocked(1, 41) // too many bytes
		_, err = tr.Track(t.Context(), ptr(3), 2, 40)
		require.NoError(t, err)
		blocked(1, 0)
		assert.Equal(t, 1, stalls)
	})
}

func TestTracker_AcksPutOffTheStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 10, OnStall: func() { t.Error("stalled though acknowledgements came") }})
		var acks []func()
		for n := range 10 {
			ack, err := tr.Track(t.Context(), ptr(n), 1, 0)
			require.NoError(t, err)
			acks = append(acks, ack)
		}
		done := make(chan error)
		go func() {
			_, err := tr.Track(t.Context(), ptr(11), 5, 0)
			done <- err
		}()
		for _, ack := range acks[:5] {
			time.Sleep(checkpoint.StallAfter - time.Second)
			ack()
		}
		require.NoError(t, <-done)
	})
}

// A call that ends before the stall is noticed leaves its time to the next: a
// source that waits for room is asked anew whenever another one has something.
func TestTracker_StallIsNoticedOverSeveralCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 10, Extra: 5})
		ack, err := tr.Track(t.Context(), ptr(1), 1, 0)
		require.NoError(t, err)
		_, err = tr.Track(t.Context(), ptr(2), 9, 0)
		require.NoError(t, err)
		wait := func(d time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			_, err := tr.Track(ctx, ptr(3), 3, 0)
			return err
		}
		require.ErrorIs(t, wait(checkpoint.StallAfter-time.Second), context.DeadlineExceeded)
		ack()
		require.ErrorIs(t, wait(3*time.Second), context.DeadlineExceeded, "the acknowledgement begins the time again")
		start := time.Now()
		require.NoError(t, wait(3*time.Second))
		assert.Equal(t, checkpoint.StallAfter-3*time.Second, time.Since(start))
	})
}

// Behind a rejection one batch is under way, then no more than was acknowledged,
// until that is the limit: what a next rejection costs is never more than what was
// gained.
func TestTracker_CautiousGrowsWithAcknowledgements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 10, Cautious: true, OnStall: func() { t.Error("this is no stall") }})
		var acks []func()
		admitted := func() (n int) {
			for {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				ack, err := tr.Track(ctx, ptr(1), 1, 0)
				cancel()
				if err != nil {
					return n
				}
				acks = append(acks, ack)
				n++
			}
		}
		acknowledge := func(n int) {
			for _, ack := range acks[:n] {
				ack()
			}
			acks = acks[n:]
		}
		assert.Equal(t, 1, admitted())
		acknowledge(1)
		assert.Equal(t, 1, admitted())
		acknowledge(1)
		assert.Equal(t, 2, admitted())
		acknowledge(2)
		assert.Equal(t, 4, admitted())
		acknowledge(3)
		assert.Equal(t, 6, admitted(), "one of the four is left of seven")
		acknowledge(7)
		assert.Equal(t, 10, admitted())
		acknowledge(10)
		assert.Equal(t, 10, admitted(), "the limit itself")
	})
}

// An output that collects more than it is given acknowledges nothing: then all it
// would get without a rejection is handed over, and only what lasts is a stall.
func TestTracker_CautionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalls := 0
		tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 10, Extra: 5, Cautious: true, OnStall: func() { stalls++ }})
		start := time.Now()
		_, err := tr.Track(t.Context(), ptr(1), 3, 0)
		require.NoError(t, err)
		assert.Zero(t, time.Since(start), "the first batch whatever its size")
		_, err = tr.Track(t.Context(), ptr(2), 7, 0)
		require.NoError(t, err)
		assert.Equal(t, checkpoint.CautiousFor, time.Since(start))
		assert.Zero(t, stalls)
		_, err = tr.Track(t.Context(), ptr(3), 5, 0)
		require.NoError(t, err)
		assert.Equal(t, checkpoint.CautiousFor+checkpoint.StallAfter, time.Since(start))
		assert.Equal(t, 1, stalls)
	})
}

// For any order of acknowledgements, advances and late ones, the mark reported
// is that of the longest acknowledged prefix, and never an earlier one.
func TestTracker_NeverPastAnUnacknowledgedMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			reported = 0
			open     = map[int]func(){} // mark -> ack
			acked    = map[int]bool{}
			last     = 0
		)
		tr := checkpoint.NewTracker(0, checkpoint.TrackerOptions[int]{Limit: 1 << 30, OnAdvance: func(m int) {
			if m < reported {
				t.Fatalf("went back from %d to %d", reported, m)
			}
			reported = m
		}})
		prefix := func() int {
			n := 0
			for acked[n+1] {
				n++
			}
			return n
		}
		t.Repeat(map[string]func(*rapid.T){
			"track": func(t *rapid.T) {
				last++
				ack, err := tr.Track(context.Background(), ptr(last), rapid.IntRange(1, 9).Draw(t, "n"), 1)
				require.NoError(t, err)
				open[last] = ack
			},
			"advance": func(*rapid.T) {
				last++
				acked[last] = true
				tr.Advance(last)
			},
			"acknowledge": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("nothing open")
				}
				var marks []int
				for m := 1; m <= last; m++ {
					if open[m] != nil {
						marks = append(marks, m)
					}
				}
				m := rapid.SampledFrom(marks).Draw(t, "mark")
				acked[m] = true
				open[m]()
				delete(open, m)
			},
			"": func(t *rapid.T) { require.Equal(t, prefix(), reported) },
		})
	})
}
