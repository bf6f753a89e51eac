package crashtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

// witness is the pipeline that nothing happens to, but that the server's
// restarts and its cuts reach everybody.
type witness struct {
	stream *streamtest.Stream
	cache  *streamtest.Cache
	signal chan struct{}

	mu      sync.Mutex
	all     []Event
	markers markers
	fatal   error
}

func startWitness(e Environment, server Server, t traits) (*witness, error) {
	w := &witness{cache: streamtest.NewCache(), signal: make(chan struct{}, 1), markers: markers{}}
	fields := append(t.fields(e), "snapshot_mode: no_data")
	// Its starts are stored before anything else happens.
	began := make(chan struct{})
	var mu sync.Mutex
	due := map[string]bool{}
	for _, database := range t.databases() {
		due[database] = true
	}
	w.cache.OnSet = func(_ context.Context, key string, _ []byte) error {
		mu.Lock()
		defer mu.Unlock()
		for database := range due {
			if !strings.HasSuffix(key, "."+database+".snapshot.b") {
				continue
			}
			if delete(due, database); len(due) == 0 {
				close(began)
			}
		}
		return nil
	}
	var err error
	w.stream, err = streamtest.Start(streamtest.Config{
		Input: inputYAML(witnessName, "sa", fields), Cache: w.cache, Output: w.take,
		Options: []input.Option{input.WithDialer(server.Dial), input.WithOnStop(func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.fatal = err
		})},
	})
	if err != nil {
		return nil, fmt.Errorf("starting the witness: %w", err)
	}
	select {
	case <-began:
		return w, nil
	case <-w.stream.Ended():
		return nil, fmt.Errorf("the witness has ended: %s", w.stream.Log)
	}
}

func (w *witness) take(_ context.Context, batch service.MessageBatch) error {
	events, err := eventsOf(batch)
	if err != nil {
		return err
	}
	w.mu.Lock()
	w.all = append(w.all, events...)
	w.markers.note(events)
	w.mu.Unlock()
	select {
	case w.signal <- struct{}{}:
	default:
	}
	return nil
}

func (w *witness) events() []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.all)
}

// count returns how many events were delivered.
func (w *witness) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all)
}

// passed reports whether a marker was delivered.
func (w *witness) passed(m marker) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, delivered := w.markers[m]
	return delivered
}

func (w *witness) problem() *fatal {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fatalOf(w.fatal, w.stream, false)
}

// String says how far it is.
func (w *witness) String() string { return standing(w.events(), w.cache, w.stream.Log.String()) }

func (w *witness) stop(e Environment) {
	_ = w.stream.Stop(e.seconds(30_000))
	<-w.stream.Ended()
}
