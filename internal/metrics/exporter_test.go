package metrics

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	_ "github.com/redpanda-data/benthos/v4/public/components/pure" // what resources are built of
	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/require"
)

// exporter is a Benthos metrics exporter, as a user's is: it keeps the last value
// of each gauge by `name{label values}`.
type exporter struct {
	mu     sync.Mutex
	gauges map[string]int64
}

// exported returns the metrics of an input and what is exported of them.
func exported(t *testing.T) (*Set, *exporter) {
	t.Helper()
	e := &exporter{gauges: map[string]int64{}}
	env := service.NewEnvironment()
	require.NoError(t, env.RegisterMetricsExporter("exporter", service.NewConfigSpec(),
		func(*service.ParsedConfig, *service.Logger) (service.MetricsExporter, error) { return e, nil }))
	b := env.NewResourceBuilder()
	b.SetLogger(slog.New(slog.DiscardHandler))
	require.NoError(t, b.SetMetricsYAML("exporter: {}"))
	resources, stop, err := b.Build()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stop(context.Background())) })
	return NewSet(resources.Metrics()), e
}

// gauge returns the value of a gauge, and whether it was ever set.
func (e *exporter) gauge(name string) (value int64, set bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	value, set = e.gauges[name]
	return value, set
}

// exportedGauge is one gauge.
type exportedGauge struct {
	to   *exporter
	name string
}

// Set implements [service.MetricsExporterGauge].
func (g exportedGauge) Set(value int64) {
	g.to.mu.Lock()
	defer g.to.mu.Unlock()
	g.to.gauges[g.name] = value
}

// ignored is a counter or a timer.
type ignored struct{}

func (ignored) Incr(int64)   {}
func (ignored) Timing(int64) {}

// NewGaugeCtor, NewCounterCtor, NewTimerCtor and Close implement
// [service.MetricsExporter].
func (e *exporter) NewGaugeCtor(name string, _ ...string) service.MetricsExporterGaugeCtor {
	return func(values ...string) service.MetricsExporterGauge {
		return exportedGauge{e, name + "{" + strings.Join(values, ",") + "}"}
	}
}

func (e *exporter) NewCounterCtor(string, ...string) service.MetricsExporterCounterCtor {
	return func(...string) service.MetricsExporterCounter { return ignored{} }
}

func (e *exporter) NewTimerCtor(string, ...string) service.MetricsExporterTimerCtor {
	return func(...string) service.MetricsExporterTimer { return ignored{} }
}
func (e *exporter) Close(context.Context) error { return nil }
