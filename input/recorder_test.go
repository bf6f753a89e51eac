package input

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/metrics"
)

// recorder keeps what an input says in logs and metrics.
type recorder struct {
	mu      sync.Mutex
	lines   []string         // "LEVEL message"
	metrics map[string]int64 // `name{label values}` -> value
}

func newRecorder() *recorder { return &recorder{metrics: map[string]int64{}} }

// resources returns Benthos resources that log and count into the recorder.
func (r *recorder) resources(t *testing.T) *service.Resources {
	t.Helper()
	env := service.NewEnvironment()
	require.NoError(t, env.RegisterMetricsExporter("recorder", service.NewConfigSpec(),
		func(*service.ParsedConfig, *service.Logger) (service.MetricsExporter, error) { return r, nil }))
	b := env.NewResourceBuilder()
	b.SetLogger(slog.New(r))
	require.NoError(t, b.SetMetricsYAML("recorder: {}"))
	res, stop, err := b.Build()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stop(context.Background())) })
	return res
}

func (r *recorder) logged(part string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, line := range r.lines {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

func (r *recorder) metric(name string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.metrics[name]
}

// shows tells whether a metric has been set at all.
func (r *recorder) shows(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.metrics[name]
	return ok
}

// Enabled, Handle, WithAttrs and WithGroup implement slog.Handler.
func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }

func (r *recorder) Handle(_ context.Context, rec slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, rec.Level.String()+" "+rec.Message)
	return nil
}
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler { return r }
func (r *recorder) WithGroup(string) slog.Handler      { return r }

// recorded is one counter, gauge or timer.
type recorded struct {
	r    *recorder
	name string
}

func (r *recorder) of(name string, values []string) recorded {
	return recorded{r, fmt.Sprintf("%s{%s}", name, strings.Join(values, ","))}
}

func (m recorded) add(n int64, set bool) {
	m.r.mu.Lock()
	defer m.r.mu.Unlock()
	if set {
		m.r.metrics[m.name] = 0
	}
	m.r.metrics[m.name] += n
}
func (m recorded) Incr(n int64)   { m.add(n, false) }
func (m recorded) Set(n int64)    { m.add(n, true) }
func (m recorded) Timing(n int64) { m.add(n, false) }

// NewCounterCtor, NewTimerCtor, NewGaugeCtor and Close implement
// service.MetricsExporter.
func (r *recorder) NewCounterCtor(name string, _ ...string) service.MetricsExporterCounterCtor {
	return func(values ...string) service.MetricsExporterCounter { return r.of(name, values) }
}

func (r *recorder) NewTimerCtor(name string, _ ...string) service.MetricsExporterTimerCtor {
	return func(values ...string) service.MetricsExporterTimer { return r.of(name, values) }
}

func (r *recorder) NewGaugeCtor(name string, _ ...string) service.MetricsExporterGaugeCtor {
	return func(values ...string) service.MetricsExporterGauge { return r.of(name, values) }
}
func (r *recorder) Close(context.Context) error { return nil }

// recordedInput is testInput with logs and metrics recorded.
func recordedInput(t *testing.T, f *fakeServer, cache *memoryCache, fields string, opts options) (*input, *recorder) {
	t.Helper()
	r := newRecorder()
	in := testInputWith(t, f, cache, fields, opts)
	in.mgr = r.resources(t)
	in.log = in.mgr.Logger()
	in.metrics = metrics.NewSet(in.mgr.Metrics())
	return in, r
}
