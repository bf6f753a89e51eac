package streamtest

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	_ "github.com/redpanda-data/benthos/v4/public/components/pure" // what streams are built of
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
)

// CacheLabel is the label of the cache resource, for checkpoint_cache.
const CacheLabel = "offsets"

const (
	cacheType  = "test_cache"
	outputType = "test_output"
)

// Config says what a stream is made of.
type Config struct {
	// Input is the YAML, or JSON, of the input.
	Input string
	// Options are those that the input is registered with.
	Options []input.Option
	// Cache is the cache resource; nil: a new one.
	Cache service.Cache
	// Output is asked to take each batch; its error is a nack. Its context
	// ends when the stream stops less than gracefully.
	Output func(ctx context.Context, batch service.MessageBatch) error
	// MaxInFlight is how many batches Output is asked for at once; zero: 1.
	MaxInFlight int
	// Threads is how many threads the pipeline has between input and output,
	// which matters once there is a processor; zero: 1 and none.
	Threads int
}

// Stream is a running stream.
type Stream struct {
	// Log is what it logs.
	Log *Log

	stream *service.Stream
	ended  chan struct{}
	err    error // of Run, once ended is closed
}

// Start builds a stream and runs it in the background.
func Start(c Config) (*Stream, error) {
	s := &Stream{Log: &Log{}, ended: make(chan struct{})}
	var err error
	if s.stream, err = Build(c, s.Log); err != nil {
		return nil, err
	}
	go func() {
		defer close(s.ended)
		s.err = s.stream.Run(context.Background())
	}()
	return s, nil
}

// Build builds a stream that logs to log.
func Build(c Config, log io.Writer) (*service.Stream, error) {
	if c.Cache == nil {
		c.Cache = NewCache()
	}
	env := service.NewEnvironment()
	err := errors.Join(
		input.Register(env, c.Options...),
		env.RegisterCache(cacheType, service.NewConfigSpec(), func(*service.ParsedConfig, *service.Resources) (service.Cache, error) {
			return c.Cache, nil
		}),
		env.RegisterBatchOutput(outputType, service.NewConfigSpec(), func(*service.ParsedConfig, *service.Resources) (service.BatchOutput, service.BatchPolicy, int, error) {
			return output(c.Output), service.BatchPolicy{}, max(1, c.MaxInFlight), nil
		}),
	)
	if err != nil {
		return nil, err
	}
	builder := env.NewStreamBuilder()
	builder.SetLogger(slog.New(slog.NewTextHandler(log, nil)))
	builder.SetThreads(max(1, c.Threads))
	if err := errors.Join(
		builder.AddCacheYAML("label: "+CacheLabel+"\n"+cacheType+": {}"),
		builder.AddInputYAML(c.Input),
		builder.AddOutputYAML(outputType+": {}"),
	); err != nil {
		return nil, err
	}
	if c.Threads > 1 {
		// Without a processor there are no threads.
		if err := builder.AddProcessorYAML("noop: {}"); err != nil {
			return nil, err
		}
	}
	return builder.Build()
}

// Stop ends the stream as a signal would. It returns nil if everything taken
// by the output is acknowledged and stored; stopping again does no harm.
func (s *Stream) Stop(within time.Duration) error {
	err := s.stream.StopWithin(within)
	for err != nil && err.Error() == "stream has not been run yet" {
		<-time.After(time.Millisecond)
		err = s.stream.StopWithin(within)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	<-s.ended
	if s.err != nil && !errors.Is(s.err, context.Canceled) {
		return s.err
	}
	return nil
}

// Ended is closed when the stream has ended, by whatever.
func (s *Stream) Ended() <-chan struct{} { return s.ended }

// output is a function that takes batches.
type output func(ctx context.Context, batch service.MessageBatch) error

func (output) Connect(context.Context) error { return nil }
func (output) Close(context.Context) error   { return nil }

func (o output) WriteBatch(ctx context.Context, batch service.MessageBatch) error {
	return o(ctx, batch)
}
