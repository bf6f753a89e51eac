package input

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// inputOver makes an input over fake servers by the names of their databases.
func inputOver(t *testing.T, servers map[string]*fakeServer, cache *memoryCache, fields string) (*input, *recorder) {
	t.Helper()
	in, rec := recordedInput(t, nil, cache, "", options{})
	parsed, err := sharedSpec().ParseYAML("host: h\nuser: u\ntopic_prefix: p\ncheckpoint_cache: offsets\n"+fields, nil)
	require.NoError(t, err)
	in.cfg, err = parseConfig(parsed)
	require.NoError(t, err)
	in.open = func(ctx context.Context, s *source) (database, error) {
		db, err := servers[s.cfg.server.Database].open(ctx, s)
		if err != nil {
			return nil, err
		}
		return namedDatabase{db, s.cfg.server.Database}, nil
	}
	return in, rec
}

// namedDatabase is a fake's database under another name.
type namedDatabase struct {
	database
	name string
}

func (d namedDatabase) Name() string { return d.name }

// An output that takes nothing is slow, and not one that waits for more.
func TestInput_SlowOutputIsNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{changes: 100, batch: 1}
		in, rec := recordedInput(t, f, newMemoryCache(), "checkpoint_limit: 2\nmax_batch_size: 2\nmax_queue_size: 3", options{})
		first, second := mustNext(t, in), mustNext(t, in)
		time.Sleep(time.Hour)
		first.accept(t)
		second.accept(t)
		mustNext(t, in)
		assert.Zero(t, rec.logged("Raise checkpoint_limit"))
		require.NoError(t, in.Close(t.Context()))
	})
}

// Sources that always have something take turns, whatever the size of their
// batches.
func TestInput_SourcesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := map[string]*fakeServer{
			"a": {rows: 10000, batch: 100}, "b": {changes: 100, batch: 1}, "c": {rows: 1000, batch: 7},
		}
		in, _ := inputOver(t, servers, newMemoryCache(), "database_names: [a, b, c]\nmax_batch_size: 1\nmax_queue_size: 2")
		require.NoError(t, in.Connect(t.Context()))
		time.Sleep(time.Second)
		sizes := map[int]int{}
		for range 60 {
			d := mustNext(t, in)
			sizes[len(d.batch)]++
			d.accept(t)
			synctest.Wait() // all have something again
		}
		for _, size := range []int{100, 1, 7} {
			assert.InDelta(t, 20, sizes[size], 1, "batches of %d", size)
		}
		require.NoError(t, in.Close(t.Context()))
	})
}

// What is read ahead is bounded for the input, not for each database.
func TestInput_SharedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := map[string]*fakeServer{}
		for _, name := range []string{"a", "b", "c"} {
			servers[name] = &fakeServer{changes: 1000, batch: 1}
		}
		in, _ := inputOver(t, servers, newMemoryCache(), "database_names: [a, b, c]\nmax_batch_size: 10\nmax_queue_size: 30")
		require.NoError(t, in.Connect(t.Context()))
		time.Sleep(time.Minute)
		read := 0
		for _, f := range servers {
			read += f.count()
		}
		// Beside its share each source holds one batch to push and one to hand
		// over.
		assert.Equal(t, 30+2*3, read)
		require.NoError(t, in.Close(t.Context()))
	})
}

// Each database has gauges of its own; Connect speaks of all only if none is
// left.
func TestInput_GaugesByDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		problem := sqlserver.NewProblem("cdc_disabled", "CDC is off", "enable it", nil)
		fail := func(context.Context) error { return problem }
		servers := map[string]*fakeServer{"a": {onPoll: fail}, "b": {}}
		in, rec := inputOver(t, servers, newMemoryCache(), "database_names: [a, b]")
		require.NoError(t, in.Connect(t.Context()))
		time.Sleep(time.Second)
		assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_fatal{cdc_disabled,a}"))
		assert.EqualValues(t, 0, rec.metric("sqlserver_cdc_fatal{cdc_disabled,b}"))
		assert.EqualValues(t, 0, rec.metric("sqlserver_cdc_connected{a}"))
		assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_connected{b}"))
		assert.Equal(t, 1, rec.logged(`ERROR Cannot go on (cdc_disabled)`))
		rec.mu.Lock()
		assert.Contains(t, rec.metrics, "sqlserver_cdc_connected{a}", "though it never was")
		rec.mu.Unlock()

		servers["b"].set(func(f *fakeServer) { f.onPoll = fail })
		_, err := next(t.Context(), in)
		var wait *service.ErrBackOff
		require.ErrorAs(t, err, &wait)
		assert.Equal(t, time.Minute, wait.Wait)
		require.ErrorContains(t, err, `database "a"`)
		require.ErrorContains(t, err, `database "b"`)

		servers["a"].set(func(f *fakeServer) { f.onPoll = nil })
		require.NoError(t, in.Connect(t.Context()))
		assert.EqualValues(t, 0, rec.metric("sqlserver_cdc_fatal{cdc_disabled,a}"))
		assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_fatal{cdc_disabled,b}"))
		require.NoError(t, in.Close(t.Context()))
	})
}

// A database that is refused while others are read is failing over at first
// and then a mistake; alone it is always taken for a failover.
func TestInput_RefusedWhileOthersAreRead(t *testing.T) {
	for _, others := range []bool{true, false} {
		inBubble(t, map[bool]string{true: "others work", false: "alone"}[others], func(t *testing.T) {
			servers := map[string]*fakeServer{"a": {}, "b": {}}
			in, rec := inputOver(t, servers, newMemoryCache(), "database_names: [a, b]")
			require.NoError(t, in.Connect(t.Context()))
			time.Sleep(time.Second)
			for name, f := range servers {
				if name == "a" || !others {
					f.set(func(f *fakeServer) {
						f.onOpen, f.broken = func(context.Context) error { return loginFailed() }, true
						f.onPoll = func(context.Context) error { return errBroken }
					})
				}
			}
			time.Sleep(5 * time.Second)
			assert.Zero(t, rec.metric("sqlserver_cdc_fatal{login,a}"))
			time.Sleep(10 * time.Minute)
			want := int64(0)
			if others {
				want = 1
			}
			assert.Equal(t, want, rec.metric("sqlserver_cdc_fatal{login,a}"))
			require.NoError(t, in.Close(t.Context()))
		})
	}
}

// The search for databases fails as a connection does.
func TestInput_SearchFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := map[string]*fakeServer{"a_1": {}, "a_2": {}}
		in, rec := inputOver(t, servers, newMemoryCache(), "database_names: ['a_.']")
		var list listing
		in.list = list.get
		var wait *service.ErrBackOff
		list.set(errBroken)
		err := in.Connect(t.Context())
		require.ErrorIs(t, err, errBroken)
		require.False(t, errors.As(err, &wait), "the server may be restarting")
		list.set(loginFailed())
		require.ErrorAs(t, in.Connect(t.Context()), &wait)
		assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_fatal{login,a_.}"))

		list.set(nil, "a_1")
		require.NoError(t, in.Connect(t.Context()))
		assert.EqualValues(t, 0, rec.metric("sqlserver_cdc_fatal{login,a_.}"))
		list.set(errBroken)
		time.Sleep(10 * time.Minute)
		assert.Equal(t, 1, rec.logged("Looking for databases failed"))
		list.set(nil, "a_1", "a_2")
		time.Sleep(2 * time.Minute)
		assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_connected{a_2}"))
		require.Len(t, in.ConnectionTest(t.Context()), 2)
		require.NoError(t, in.Close(t.Context()))
	})
}

// listing is a server's list of databases, all with change data capture.
type listing struct {
	mu    sync.Mutex
	names []string
	err   error
}

func (l *listing) set(err error, names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err, l.names = err, names
}

func (l *listing) get(context.Context, *sqlserver.Server) (entries []sqlserver.DatabaseEntry, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range l.names {
		entries = append(entries, sqlserver.DatabaseEntry{Name: name, CDCEnabled: true})
	}
	return entries, l.err
}

// Of three databases one has messages rejected, one loses its connection, its
// login and its cure, and one has no trouble: each delivers exactly its
// messages in order, the last two without a repeat.
func TestInput_AnythingMayHappenToOthers(t *testing.T) {
	const rows, changes = 12, 20
	for seed := range race.Every(30, 4) {
		inBubble(t, fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(seed), 2))
			servers := map[string]*fakeServer{}
			for i, name := range []string{"rejected", "failing", "sound"} {
				servers[name] = &fakeServer{rows: rows, changes: changes, batch: 1 + r.IntN(4), offset: 1000 * i}
			}
			fields := []string{"", "max_batch_size: 5\nmax_queue_size: 6\ncheckpoint_limit: 5", "batching: {count: 3, period: 1s}"}
			in, _ := inputOver(t, servers, newMemoryCache(), "database_names: [rejected, failing, sound]\npoll_interval: 5s\n"+fields[r.IntN(len(fields))])
			var (
				open    []delivery
				trouble = 30
				got     = map[int][]int{} // messages by source
			)
			settle := func() {
				i := r.IntN(len(open))
				d := open[i]
				open = slices.Delete(open, i, i+1)
				if trouble > 0 && d.numbers(t)[0] < 1000 && r.IntN(3) == 0 {
					trouble--
					require.NoError(t, d.ack(t.Context(), errDownstream))
					return
				}
				d.accept(t)
			}
			for {
				switch k := r.IntN(10); {
				case k < 4 && len(open) > 0:
					settle()
					continue
				case k == 4 && trouble > 0:
					trouble--
					servers["failing"].set(func(f *fakeServer) { fail(f, r.IntN(3)) })
				case k == 5:
					time.Sleep(time.Duration(r.IntN(2000)) * time.Millisecond)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				d, err := next(ctx, in)
				cancel()
				switch {
				case err == nil:
					for _, n := range d.numbers(t) {
						got[n/1000] = append(got[n/1000], n%1000)
					}
					open = append(open, d)
				case len(open) > 0:
					settle()
				default:
					require.ErrorIs(t, err, context.DeadlineExceeded)
					require.NoError(t, in.Close(t.Context()))
					assert.Equal(t, count(0, rows+changes), lastOf(got[0]))
					assert.Equal(t, count(0, rows+changes), got[1], "a lost connection repeats nothing")
					assert.Equal(t, count(0, rows+changes), got[2])
					return
				}
			}
		})
	}
}

// fail makes the next read of a server fail, in one of three ways.
func fail(f *fakeServer, way int) {
	cure := func(f *fakeServer) { f.onPoll, f.onSnapshot, f.onOpen = nil, nil, nil }
	once := func() error {
		f.set(func(f *fakeServer) {
			cure(f)
			f.broken = true
			if way == 1 {
				f.onOpen = func(context.Context) error {
					f.set(cure)
					return loginFailed()
				}
			}
		})
		if way == 2 {
			return sqlserver.NewProblem("cdc_disabled", "CDC is off", "enable it", nil)
		}
		return errBroken
	}
	f.onPoll = func(context.Context) error { return once() }
	f.onSnapshot = func(context.Context, int) error { return once() }
}

// lastOf returns messages in the order of their last delivery.
func lastOf(messages []int) []int {
	var out []int
	for i, n := range messages {
		if !slices.Contains(messages[i+1:], n) {
			out = append(out, n)
		}
	}
	return out
}
