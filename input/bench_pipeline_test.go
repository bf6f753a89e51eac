package input_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
)

// The streams of the benchmarks run in real time and write to an output that
// does what drop does, and counts.

// benchSource is what a stream reads.
type benchSource struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	store  *store
	fields string
	// settle, if set, is called after the last message, before the end.
	settle func()
}

// counter is the drop output with a count.
type counter struct {
	left atomic.Int64
	full chan struct{}
}

func newCounter(messages int) *counter {
	c := &counter{full: make(chan struct{})}
	c.left.Store(int64(messages))
	return c
}

func (c *counter) Connect(context.Context) error { return nil }
func (c *counter) Close(context.Context) error   { return nil }
func (c *counter) WriteBatch(_ context.Context, b service.MessageBatch) error {
	if n := int64(len(b)); c.left.Add(-n) <= 0 && c.left.Load()+n > 0 {
		close(c.full)
	}
	return nil
}

// runBench runs a stream from a source until it has given so many messages.
func runBench(tb testing.TB, source benchSource, messages int) {
	tb.Helper()
	env := service.NewEnvironment()
	require.NoError(tb, input.Register(env, input.WithDialer(source.dial)))
	runCounted(tb, env, source, inputYAML(source.fields), messages)
}

// runCounted runs a stream from any input.
func runCounted(tb testing.TB, env *service.Environment, source benchSource, inputYAML string, messages int) {
	tb.Helper()
	require.NoError(tb, env.RegisterCache("test_store", service.NewConfigSpec(), func(*service.ParsedConfig, *service.Resources) (service.Cache, error) {
		return source.store, nil
	}))
	count := newCounter(messages)
	require.NoError(tb, env.RegisterBatchOutput("count", service.NewConfigSpec(), func(*service.ParsedConfig, *service.Resources) (service.BatchOutput, service.BatchPolicy, int, error) {
		return count, service.BatchPolicy{}, 1, nil
	}))
	log := &complaints{first: make(chan string, 1)}
	b := env.NewStreamBuilder()
	b.SetLogger(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	b.SetThreads(1)
	require.NoError(tb, b.AddCacheYAML("label: offsets\ntest_store: {}"))
	require.NoError(tb, b.AddInputYAML(inputYAML))
	require.NoError(tb, b.AddOutputYAML("count: {}"))
	stream, err := b.Build()
	require.NoError(tb, err)
	ended := make(chan error, 1)
	go func() { ended <- stream.Run(context.Background()) }()
	select {
	case <-count.full:
	case err := <-ended:
		require.Fail(tb, "the stream has ended", "%v", err)
	case line := <-log.first:
		require.Fail(tb, "the stream has something to say", "%.2000s", line)
	case <-time.After(20 * time.Minute):
		require.Fail(tb, "messages are missing", "%d of %d", count.left.Load(), messages)
	}
	if source.settle != nil {
		source.settle()
	}
	require.NoError(tb, stream.StopWithin(20*time.Second))
	require.NoError(tb, <-ended)
	require.Empty(tb, log.first, "the stream has something to say")
}

// complaints is a log of warnings and errors that keeps the first.
type complaints struct{ first chan string }

// Write implements [io.Writer].
func (c *complaints) Write(line []byte) (int, error) {
	// The Agent takes no part in the time that is measured, so it is stopped.
	if !bytes.Contains(line, []byte("SQL Server Agent is not running")) {
		select {
		case c.first <- string(line):
		default:
		}
	}
	return len(line), nil
}

// ceiling is the least that an input can do: messages of one payload and eight
// shared metadata values, in batches.
type ceiling struct {
	payload         []byte
	messages, batch int
}

func (c *ceiling) Connect(context.Context) error { return nil }
func (c *ceiling) Close(context.Context) error   { return nil }
func (c *ceiling) ReadBatch(ctx context.Context) (service.MessageBatch, service.AckFunc, error) {
	if c.messages == 0 {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	}
	out := make(service.MessageBatch, min(c.batch, c.messages))
	c.messages -= len(out)
	for i := range out {
		out[i] = service.NewMessage(c.payload)
		for _, key := range []string{"topic", "key", "kind", "op", "database", "database_schema", "table", "position"} {
			out[i].MetaSetMut(key, ceilingValue)
		}
	}
	return out, func(context.Context, error) error { return nil }, nil
}

var ceilingValue any = "value"

// runCeiling runs a stream of as many messages that costs its input nothing.
func runCeiling(tb testing.TB, messages, payload, batch int) {
	tb.Helper()
	env := service.NewEnvironment()
	require.NoError(tb, env.RegisterBatchInput("ceiling", service.NewConfigSpec(), func(*service.ParsedConfig, *service.Resources) (service.BatchInput, error) {
		return &ceiling{payload: make([]byte, payload), messages: messages, batch: batch}, nil
	}))
	runCounted(tb, env, benchSource{store: newStore()}, "ceiling: {}", messages)
}
