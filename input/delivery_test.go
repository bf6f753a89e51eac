package input

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/messages"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
)

var errDownstream = errors.New("the output will not have it")

// drain reads and accepts messages until there are none for a minute.
func drain(t *testing.T, in *input) []int {
	t.Helper()
	var got []int
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		d, err := next(ctx, in)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			return got
		}
		require.NoError(t, err)
		got = append(got, d.numbers(t)...)
		d.accept(t)
	}
}

func count(from, to int) []int {
	var out []int
	for n := from; n < to; n++ {
		out = append(out, n)
	}
	return out
}

func TestInput_SnapshotThenStreamThenResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{rows: 10, changes: 7, batch: 4}
		in := testInput(t, f, cache, "")
		assert.Equal(t, count(0, 17), drain(t, in))
		require.NoError(t, in.Close(t.Context()))

		f.changes = 9
		in = testInput(t, f, cache, "")
		assert.Equal(t, count(17, 19), drain(t, in))
		require.NoError(t, in.Close(t.Context()))
		assert.Equal(t, count(0, 10), f.rowsRead, "the snapshot is read once")
	})
}

// Whatever prefix is acknowledged when the process dies, what comes next is
// exactly the rest, with any size of batches.
func TestInput_RestartAfterEveryPrefix(t *testing.T) {
	for _, fields := range []string{"", "batching: {count: 1}", "batching: {count: 3, period: 2s}", "batching: {count: 5, period: 1s}"} {
		for acked := range 12 {
			inBubble(t, fmt.Sprintf("%s/%d", fields, acked), func(t *testing.T) {
				cache := newMemoryCache()
				f := &fakeServer{rows: 5, changes: 8, batch: 4}
				in := testInput(t, f, cache, fields)
				var seen []int
				for range acked {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					d, err := next(ctx, in)
					cancel()
					if errors.Is(err, context.DeadlineExceeded) {
						break
					}
					require.NoError(t, err)
					d.accept(t)
					seen = append(seen, d.numbers(t)...)
				}
				time.Sleep(time.Second) // the position is saved
				cache = crash(in, cache)

				in = testInput(t, f, cache, fields)
				rest := drain(t, in)
				require.NoError(t, in.Close(t.Context()))
				// Inside the snapshot a page is the unit, in the stream a message.
				first := len(seen)
				if first < 5 {
					first -= first % 4
				}
				assert.Equal(t, count(first, 13), rest)
			})
		}
	}
}

func TestInput_OutOfOrderAcknowledgement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{changes: 10, batch: 4}
		in := testInput(t, f, cache, "snapshot_mode: no_data")
		mustNext(t, in)
		second := mustNext(t, in)
		second.accept(t)
		time.Sleep(time.Second)
		cache = crash(in, cache)

		in = testInput(t, f, cache, "snapshot_mode: no_data")
		assert.Equal(t, count(0, 10), drain(t, in))
		require.NoError(t, in.Close(t.Context()))
	})
}

// The position follows an idle log, but never past an unacknowledged message.
func TestInput_IdleAdvance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{changes: 1, batch: 4}
		in := testInput(t, f, cache, "")
		d := mustNext(t, in)
		f.set(func(f *fakeServer) { f.idle = 50 })
		requireNothing(t, in)
		assert.NotContains(t, cache.slots("p.db.position"), lsnOf(changeBase+50).String())

		d.accept(t)
		time.Sleep(time.Second)
		assert.Contains(t, cache.slots("p.db.position"), lsnOf(changeBase+50).String())
		require.NoError(t, in.Close(t.Context()))
	})
}

// A first start without a snapshot is stored before anything else happens.
func TestInput_StartIsStoredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{batch: 4}
		in := testInput(t, f, cache, "snapshot_mode: no_data")
		require.NoError(t, in.Connect(t.Context()))
		cache = crash(in, cache)
		for _, slot := range []string{"p.db.snapshot.a", "p.db.snapshot.b"} {
			assert.Contains(t, cache.values[slot], lsnOf(snapshotStart).String())
		}
	})
}

// A snapshot that was lost before its first row may begin later, if that is
// stored: a restart that went back would deliver rows at positions that consumers
// take for repeats.
func TestInput_SnapshotLostBeforeItsFirstRow(t *testing.T) {
	for name, lose := range map[string]func(f *fakeServer, cache *memoryCache){
		"connection": func(f *fakeServer, _ *memoryCache) {
			f.onSnapshot = func(context.Context, int) error {
				f.set(func(f *fakeServer) { f.onSnapshot, f.broken, f.later = nil, true, 5 })
				return errors.New("connection reset")
			}
		},
		"cache": func(f *fakeServer, cache *memoryCache) {
			cache.fail(func(_ context.Context, key string) error {
				if key != "p.db.snapshot.b" {
					return nil
				}
				cache.fail(nil, nil)
				f.set(func(f *fakeServer) { f.later = 5 })
				return errors.New("refused")
			}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cache := newMemoryCache()
				f := &fakeServer{rows: 10, batch: 4}
				lose(f, cache)
				in := testInput(t, f, cache, "")
				for in.Connect(t.Context()) != nil {
					time.Sleep(time.Second)
				}
				first := mustNext(t, in)
				cache = crash(in, cache)
				in = testInput(t, f, cache, "")
				again := mustNext(t, in)
				require.NoError(t, in.Close(t.Context()))

				assert.Equal(t, 5, f.later, "it was lost")
				assert.Equal(t, count(0, 4), first.numbers(t))
				assert.Equal(t, count(0, 4), again.numbers(t))
				before, _ := first.batch[3].MetaGet(messages.MetaPosition)
				after, _ := again.batch[0].MetaGet(messages.MetaPosition)
				assert.Greater(t, after, before)
			})
		})
	}
}

func TestInput_SnapshotIsDoneWithItsLastAcknowledgement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{rows: 10, batch: 4}
		in := testInput(t, f, cache, "")
		first, second, third := mustNext(t, in), mustNext(t, in), mustNext(t, in)
		first.accept(t)
		third.accept(t)
		time.Sleep(time.Minute)
		left := cache.image()
		assert.NotContains(t, left.slots("p.db.snapshot"), `"done":true,"tables"`)
		second.accept(t)
		requireNothing(t, in)
		assert.Contains(t, cache.slots("p.db.snapshot"), `"done":true,"tables"`)
		require.NoError(t, in.Close(t.Context()))

		in = testInput(t, f, left, "")
		assert.Equal(t, count(4, 10), drain(t, in))
		require.NoError(t, in.Close(t.Context()))
	})
}

// A snapshot that goes on over a new connection is ahead of what is
// acknowledged. What is stored then must not be: nor must it fall behind.
func TestInput_LostConnectionInTheSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{rows: 10, batch: 2}
		f.onSnapshot = func(_ context.Context, row int) error {
			if row < 6 {
				return nil
			}
			f.set(func(f *fakeServer) { f.onSnapshot, f.broken = nil, true })
			return errors.New("connection reset")
		}
		in := testInput(t, f, cache, "")
		first := mustNext(t, in)
		first.accept(t)
		time.Sleep(time.Second)
		for _, want := range [][]int{{2, 3}, {4, 5}, {6, 7}} {
			assert.Equal(t, want, mustNext(t, in).numbers(t), "nothing is repeated")
		}
		assert.Equal(t, 2, f.opens)
		cache = crash(in, cache)

		in = testInput(t, f, cache, "")
		assert.Equal(t, count(2, 10), drain(t, in))
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_SnapshotStartsAgainWithoutResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{rows: 10, batch: 4}
		in := testInput(t, f, cache, "snapshot_resume: false")
		d := mustNext(t, in)
		before, _ := d.batch[0].MetaGet(messages.MetaPosition)
		d.accept(t)
		time.Sleep(time.Second)
		cache = crash(in, cache)

		in = testInput(t, f, cache, "snapshot_resume: false")
		d = mustNext(t, in)
		assert.Equal(t, count(0, 4), d.numbers(t))
		after, _ := d.batch[0].MetaGet(messages.MetaPosition)
		assert.Greater(t, after, before, "an ordinal is never used twice")
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_NackReplaysInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{changes: 10, batch: 1}
		in := testInput(t, f, newMemoryCache(), "")
		var got []int
		rejected := 0
		for len(got) < 12 {
			d := mustNext(t, in)
			n := d.numbers(t)[0]
			got = append(got, n)
			if n == 3 && rejected < 2 {
				rejected++
				require.NoError(t, d.ack(t.Context(), errDownstream))
				continue
			}
			d.accept(t)
		}
		assert.Equal(t, []int{0, 1, 2, 3, 3, 3, 4, 5, 6, 7, 8, 9}, got)
		assert.Equal(t, 1, f.opens, "the connection is kept")
		require.NoError(t, in.Close(t.Context()))
	})
}

// Messages behind a rejected one are under way already; they come again after
// it, so that the last state of each key is the newest.
func TestInput_NackRepeatsWhatFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{changes: 6, batch: 1}
		in := testInput(t, f, cache, "")
		first, second, third := mustNext(t, in), mustNext(t, in), mustNext(t, in)
		first.accept(t)
		require.NoError(t, second.ack(t.Context(), errDownstream))
		third.accept(t) // late: it changes nothing
		assert.Equal(t, count(1, 6), drain(t, in))
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_NackWithoutReplayPassesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{changes: 5, batch: 1}
		in := testInput(t, f, cache, "auto_replay_nacks: false")
		var got []int
		for range 5 {
			d := mustNext(t, in)
			got = append(got, d.numbers(t)...)
			if got[len(got)-1] == 3 {
				require.NoError(t, d.ack(t.Context(), errDownstream))
				continue
			}
			d.accept(t)
		}
		assert.Equal(t, count(0, 5), got)
		require.NoError(t, in.Close(t.Context()))

		in = testInput(t, f, cache, "auto_replay_nacks: false")
		assert.Empty(t, drain(t, in))
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_RepeatedNacksSlowDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{changes: 1, batch: 1}
		in := testInput(t, f, newMemoryCache(), "")
		start := time.Now()
		for range 20 {
			d := mustNext(t, in)
			require.NoError(t, d.ack(t.Context(), errDownstream))
		}
		assert.Greater(t, time.Since(start), 80*time.Second)
		assert.Less(t, time.Since(start), 200*time.Second)
		mustNext(t, in).accept(t)
		require.NoError(t, in.Close(t.Context()))
	})
}

// A lost connection ends no session: nothing is repeated, and what is under
// way can still be acknowledged.
func TestInput_LostConnectionRepeatsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{rows: 6, changes: 5, batch: 2}
		in := testInput(t, f, cache, "")
		first := mustNext(t, in)
		lost := errors.New("connection reset")
		f.set(func(f *fakeServer) {
			f.onPoll = func(context.Context) error {
				f.set(func(f *fakeServer) { f.onPoll, f.broken = nil, true })
				return lost
			}
		})
		rest := drain(t, in)
		assert.Equal(t, count(2, 11), rest)
		assert.Equal(t, 2, f.opens)
		first.accept(t)
		require.NoError(t, in.Close(t.Context()))

		in = testInput(t, f, cache, "")
		assert.Empty(t, drain(t, in))
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_BlockedOutputStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{changes: 1000, batch: 10}
		in := testInput(t, f, newMemoryCache(), "checkpoint_limit: 50\nmax_batch_size: 29\nmax_queue_size: 30")
		for range 5 {
			mustNext(t, in)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
		defer cancel()
		handed := 50
		for {
			d, err := next(ctx, in)
			if errors.Is(err, context.DeadlineExceeded) {
				break
			}
			require.NoError(t, err)
			handed += len(d.batch)
		}
		assert.Equal(t, 80, handed, "the limit and one queue more, so that an output that collects is not starved")
		assert.LessOrEqual(t, f.count(), 80+10+30+10, "held, queued and being pushed")
		require.NoError(t, in.Close(t.Context()))
	})
}

// A batch that a cancelled read could not hand over comes with the next one.
func TestInput_CancelledReadLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{changes: 4, batch: 1}
		in := testInput(t, f, newMemoryCache(), "checkpoint_limit: 1\nmax_batch_size: 1\nmax_queue_size: 2")
		first, second, third := mustNext(t, in), mustNext(t, in), mustNext(t, in)
		requireNothing(t, in)
		first.accept(t)
		second.accept(t)
		third.accept(t)
		assert.Equal(t, []int{3}, drain(t, in))
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_Batching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{rows: 3, changes: 5, batch: 2}
		in := testInput(t, f, newMemoryCache(), "batching: {count: 5, period: 10s}")
		start := time.Now()
		assert.Equal(t, count(0, 5), mustNext(t, in).numbers(t))
		assert.Zero(t, time.Since(start))
		assert.Equal(t, count(5, 8), mustNext(t, in).numbers(t))
		assert.InDelta(t, 10, time.Since(start).Seconds(), 1)
		require.NoError(t, in.Close(t.Context()))
	})
}

// An idle log moves the mark of a batch that is being collected.
func TestInput_BatchingAndIdleAdvance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{changes: 1, idle: 50, batch: 2}
		in := testInput(t, f, cache, "batching: {count: 5, period: 10s}")
		mustNext(t, in).accept(t)
		time.Sleep(time.Second)
		assert.Contains(t, cache.slots("p.db.position"), lsnOf(changeBase+50).String())
		require.NoError(t, in.Close(t.Context()))
	})
}

func TestInput_BatchingProcessorsThatFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{changes: 4, batch: 1}
		fields := "batching: {count: 2, processors: [{mapping: 'root = if content().string().number() < 2 { deleted() }'}]}"
		in := testInput(t, f, cache, fields)
		assert.Equal(t, []int{2, 3}, mustNext(t, in).numbers(t))
		time.Sleep(time.Second)
		cache = crash(in, cache)
		in = testInput(t, f, cache, fields)
		assert.Equal(t, []int{2, 3}, drain(t, in), "what was filtered is done, the rest is not")
		require.NoError(t, in.Close(t.Context()))
	})
}

// Random acknowledgements, rejections, lost connections and crashes: in the
// end every message was accepted, and the last delivery of each is in order.
func TestInput_AnythingMayHappen(t *testing.T) {
	const rows, changes = 12, 20
	fields := []string{"", "batching: {count: 3, period: 1s}", "max_batch_size: 1\nmax_queue_size: 2\ncheckpoint_limit: 5", "snapshot_fetch_size: 1"}
	for seed := range race.Every(150, 5) {
		inBubble(t, fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 1))
			var (
				cache    = newMemoryCache()
				f        = &fakeServer{rows: rows, changes: changes, batch: 1 + r.IntN(4)}
				field    = fields[r.IntN(len(fields))]
				in       = testInput(t, f, cache, field)
				accepted = map[int]bool{}
				last     = map[int]int{} // message -> place of its last delivery
				place    int
				open     []delivery
				trouble  = 25
			)
			deliver := func(d delivery) {
				for _, n := range d.numbers(t) {
					last[n] = place
					place++
				}
				open = append(open, d)
			}
			settle := func() {
				if len(open) == 0 {
					return
				}
				i := r.IntN(len(open))
				d := open[i]
				open = slices.Delete(open, i, i+1)
				if trouble > 0 && r.IntN(6) == 0 {
					trouble--
					require.NoError(t, d.ack(t.Context(), errDownstream))
					return
				}
				d.accept(t)
				for _, n := range d.numbers(t) {
					accepted[n] = true
				}
			}
			for step := 0; ; step++ {
				require.Less(t, step, 10_000, "no end")
				switch k := r.IntN(10); {
				case k < 4:
					settle()
				case k == 4 && trouble > 0:
					trouble--
					f.set(func(f *fakeServer) {
						lost := func() error {
							f.set(func(f *fakeServer) { f.onPoll, f.onSnapshot, f.broken = nil, nil, true })
							return errors.New("connection reset")
						}
						f.onPoll = func(context.Context) error { return lost() }
						f.onSnapshot = func(context.Context, int) error { return lost() }
					})
				case k == 5 && trouble > 0:
					trouble--
					cache = crash(in, cache)
					open = nil
					in = testInput(t, f, cache, field)
				default:
					ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
					d, err := next(ctx, in)
					cancel()
					if err == nil {
						deliver(d)
						continue
					}
					if len(open) > 0 {
						settle()
						continue
					}
					if errors.Is(err, context.DeadlineExceeded) && trouble == 0 {
						require.NoError(t, in.Close(t.Context()))
						for n := range rows + changes {
							require.True(t, accepted[n], "message %d was lost", n)
							if n > 0 {
								require.Greater(t, last[n], last[n-1], "message %d came last before %d", n, n-1)
							}
						}
						return
					}
					trouble = max(0, trouble-1)
				}
			}
		})
	}
}
