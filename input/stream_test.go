package input

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// testStream runs a whole Benthos stream that reads from a fake server, with
// its position in a cache that outlives it.
type testStream struct {
	stream *service.Stream
	ended  chan error
}

func startStream(t *testing.T, f *fakeServer, cache *memoryCache, fields string, consume func(context.Context, service.MessageBatch) error) *testStream {
	t.Helper()
	env := service.NewEnvironment()
	require.NoError(t, env.RegisterBatchInput(Name, sharedSpec(), func(parsed *service.ParsedConfig, mgr *service.Resources) (service.BatchInput, error) {
		in, err := newInput(parsed, mgr, options{})
		if err != nil {
			return nil, err
		}
		in.open, in.cache = f.open, cache
		return in, nil
	}))
	b := env.NewStreamBuilder()
	b.SetLogger(slog.New(slog.DiscardHandler))
	b.SetThreads(1)
	require.NoError(t, b.AddCacheYAML("label: offsets\nnoop: {}"))
	require.NoError(t, b.AddInputYAML(Name+": {host: h, user: u, topic_prefix: p, database_names: [db], checkpoint_cache: offsets, "+fields+"}"))
	require.NoError(t, b.AddBatchConsumerFunc(consume))
	stream, err := b.Build()
	require.NoError(t, err)
	s := &testStream{stream: stream, ended: make(chan error, 1)}
	go func() { s.ended <- stream.Run(context.Background()) }()
	return s
}

// stop stops the stream within a time and returns how Run ended.
func (s *testStream) stop(t *testing.T, within time.Duration) error {
	t.Helper()
	return errors.Join(s.stream.StopWithin(within), <-s.ended)
}

// collector gathers the messages of a stream until it has seen all and then
// the last one: a replay under way is not the end.
type collector struct {
	mu          sync.Mutex
	got         []int
	seen        map[int]bool
	first, last int
	once        sync.Once
	full        chan struct{}
}

func newCollector(first, last int) *collector {
	return &collector{first: first, last: last, seen: map[int]bool{}, full: make(chan struct{})}
}

func (c *collector) add(t *testing.T, b service.MessageBatch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range (delivery{batch: b}).numbers(t) {
		c.got = append(c.got, n)
		c.seen[n] = true
		if n == c.last && len(c.seen) == c.last-c.first+1 {
			c.once.Do(func() { close(c.full) })
		}
	}
}

func TestStream_RunsStopsAndResumes(t *testing.T) {
	cache := newMemoryCache()
	f := &fakeServer{rows: 10, changes: 10, batch: 3}
	c := newCollector(0, 19)
	s := startStream(t, f, cache, "", func(_ context.Context, b service.MessageBatch) error { c.add(t, b); return nil })
	<-c.full
	require.NoError(t, s.stop(t, 10*time.Second))
	assert.Equal(t, count(0, 20), c.got)

	f.set(func(f *fakeServer) { f.changes = 12 })
	c = newCollector(20, 21)
	s = startStream(t, f, cache, "", func(_ context.Context, b service.MessageBatch) error { c.add(t, b); return nil })
	<-c.full
	require.NoError(t, s.stop(t, 10*time.Second))
	assert.Equal(t, []int{20, 21}, c.got)
}

func TestStream_FailingOutputRepeatsInOrder(t *testing.T) {
	f := &fakeServer{changes: 10, batch: 2}
	c := newCollector(0, 9)
	failures := 0
	s := startStream(t, f, newMemoryCache(), "", func(_ context.Context, b service.MessageBatch) error {
		if n := (delivery{batch: b}).numbers(t); n[0] == 4 && failures < 2 {
			failures++
			return errDownstream
		}
		c.add(t, b)
		return nil
	})
	<-c.full
	require.NoError(t, s.stop(t, 10*time.Second))
	place := map[int]int{}
	for i, n := range c.got {
		place[n] = i
	}
	for n := range 9 {
		assert.Less(t, place[n], place[n+1], "the last delivery of each is in order")
	}
	assert.Equal(t, 2, failures)
}

// A blocked output does not keep the stream from stopping in time, and what it
// did not take comes again.
func TestStream_StopsWhileTheOutputIsBlocked(t *testing.T) {
	cache := newMemoryCache()
	f := &fakeServer{changes: 10, batch: 2}
	entered, release := make(chan struct{}, 100), make(chan struct{})
	s := startStream(t, f, cache, "", func(context.Context, service.MessageBatch) error {
		entered <- struct{}{}
		<-release
		return errDownstream
	})
	<-entered
	start := time.Now()
	_ = s.stop(t, time.Second) // an unclean stop is what is asked for
	assert.Less(t, time.Since(start), 8*time.Second)
	close(release)

	c := newCollector(0, 9)
	s = startStream(t, f, cache, "", func(_ context.Context, b service.MessageBatch) error { c.add(t, b); return nil })
	<-c.full
	require.NoError(t, s.stop(t, 10*time.Second))
	assert.Equal(t, count(0, 10), c.got)
}

func TestStream_FatalStopEndsIt(t *testing.T) {
	f := &fakeServer{onOpen: func(context.Context) error { return loginFailed() }}
	s := startStream(t, f, newMemoryCache(), "on_fatal: stop", func(context.Context, service.MessageBatch) error { return nil })
	require.NoError(t, <-s.ended, "Benthos ends such a stream with success")
}

func TestRegister_Global(t *testing.T) {
	_, ok := service.GlobalEnvironment().GetInputConfig(Name)
	assert.True(t, ok)
}
