package debezium

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/debeziumconfig"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

// Pipeline is the connector of a play that runs our own input, in a Benthos
// stream of its own. It is configured by Debezium's properties and keeps its
// position from one start to the next.
type Pipeline struct {
	server   *Server
	recorder *Recorder
	store    *streamtest.Cache
	// fixed are fields that the properties have no say in.
	fixed map[string]any

	stream *service.Stream
	ended  chan error
	done   context.CancelFunc // of what watches the stream
	watch  sync.WaitGroup
	log    streamtest.Log
}

// NewPipeline returns a connector that reads a server, in memory, and emits to
// a recorder.
func NewPipeline(server *Server, recorder *Recorder) *Pipeline {
	return &Pipeline{
		server: server, recorder: recorder, store: streamtest.NewCache(),
		fixed: map[string]any{
			"checkpoint_cache": streamtest.CacheLabel, "host": "server",
			// As in Debezium's plays: a failure ends the play, answers come fast.
			"on_fatal": "stop", "poll_interval": "20ms",
		},
	}
}

// InputFields are the fields of the input that stand for properties of
// Debezium's connector.
func InputFields(properties Properties) (map[string]any, error) {
	result, err := debeziumconfig.Translate(properties.With(Properties{"connector.class": "SqlServerConnector"}))
	if err != nil {
		return nil, fmt.Errorf("translating the properties: %w", err)
	}
	return result.Input(), nil
}

// Start builds and runs a stream.
func (p *Pipeline) Start(_ context.Context, properties Properties) error {
	fields, err := InputFields(properties)
	if err != nil {
		return err
	}
	delete(fields, "port")
	for name, value := range p.fixed {
		fields[name] = value
	}
	p.recorder.Begin()
	if p.stream, err = p.build(fields); err != nil {
		return fmt.Errorf("building the stream: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.done, p.ended = cancel, make(chan error, 1)
	stream := p.stream
	p.watch.Go(func() {
		p.ended <- stream.Run(context.Background())
		cancel() // nothing will look for changes
	})
	polls := p.server.Polls()
	p.watch.Go(func() { p.awaitPoll(ctx, polls) })
	return nil
}

// awaitPoll waits until changes are looked for, which comes after a snapshot.
func (p *Pipeline) awaitPoll(ctx context.Context, before int) {
	p.recorder.Reach(PhaseStarted)
	for p.server.Polls() == before {
		select {
		case <-time.After(lookInterval):
		case <-ctx.Done():
			return
		}
	}
	p.recorder.Reach(PhaseSnapshotDone)
	p.recorder.Reach(PhaseStreaming)
}

// Stop stops the stream as a signal would; what it has emitted is acknowledged.
func (p *Pipeline) Stop(context.Context) error {
	if p.stream == nil {
		return nil
	}
	p.done()
	err := p.stream.StopWithin(stopPatience)
	for err != nil && err.Error() == notRun && len(p.ended) == 0 {
		<-time.After(lookInterval) // it was started just now
		err = p.stream.StopWithin(stopPatience)
	}
	p.watch.Wait()
	if ended := <-p.ended; err == nil && ended != nil && !errors.Is(ended, context.Canceled) {
		err = ended
	}
	if err != nil {
		return fmt.Errorf("stopping the stream: %w; log:\n%s", err, p.log.String())
	}
	return nil
}

const (
	stopPatience = 20 * time.Second
	// notRun is Benthos's error for a stop before the stream has begun to run.
	notRun = "stream has not been run yet"
)

// Queued is 0: a message is on its way until the recorder has it.
func (p *Pipeline) Queued(context.Context) (int64, error) { return 0, nil }

func (p *Pipeline) build(fields map[string]any) (*service.Stream, error) {
	// JSON is YAML.
	text, err := json.Marshal(map[string]any{input.Name: fields})
	if err != nil {
		return nil, err
	}
	return streamtest.Build(streamtest.Config{
		Input: string(text), Cache: p.store, Output: recording{p.recorder}.take,
		Options: []input.Option{input.WithDialer(p.server.DialContext), input.WithOnStop(func(err error) { p.recorder.Fail(err.Error()) })},
	}, &p.log)
}

// recording is an output that gives messages to a recorder.
type recording struct{ recorder *Recorder }

func (r recording) take(_ context.Context, batch service.MessageBatch) error {
	for _, message := range batch {
		record, err := recordOf(message)
		if err != nil {
			return err
		}
		r.recorder.Record(record)
	}
	return nil
}

// recordOf is the record that Benthos's Kafka output would make of a message.
func recordOf(message *service.Message) (Record, error) {
	value, err := message.AsBytes()
	if err != nil {
		return Record{}, err
	}
	null := json.RawMessage("null")
	record := Record{Key: null, Value: null, Headers: []Header{}}
	if value != nil {
		record.Value = json.RawMessage(strings.Clone(string(value)))
	}
	record.Topic, _ = message.MetaGet("topic")
	if key, ok := message.MetaGet("key"); ok {
		record.Key = json.RawMessage(key)
	}
	err = message.MetaWalk(func(key, value string) error {
		if strings.HasPrefix(key, "__debezium.") {
			text := json.RawMessage(value)
			if !json.Valid(text) {
				text = json.RawMessage(quoted(value))
			}
			record.Headers = append(record.Headers, Header{Key: key, Value: text})
		}
		return nil
	})
	return record, err
}
