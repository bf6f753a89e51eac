package notice

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redpanda-data/benthos/v4/public/service"
)

// handler gives packages that log through slog the logger of a pipeline.
type handler struct{ log *service.Logger }

// Logger returns a logger that writes to that of a pipeline.
func Logger(log *service.Logger) *slog.Logger { return slog.New(handler{log}) }

var _ slog.Handler = handler{}

// Enabled implements [slog.Handler]; the pipeline's logger has its own level.
func (h handler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (h handler) Handle(_ context.Context, r slog.Record) error {
	log := h.log
	r.Attrs(func(a slog.Attr) bool {
		log = log.With(a.Key, attrValue(a.Value))
		return true
	})
	switch {
	case r.Level >= slog.LevelError:
		log.Error(r.Message)
	case r.Level >= slog.LevelWarn:
		log.Warn(r.Message)
	case r.Level >= slog.LevelInfo:
		log.Info(r.Message)
	default:
		log.Debug(r.Message)
	}
	return nil
}

// WithAttrs implements [slog.Handler].
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	log := h.log
	for _, a := range attrs {
		log = log.With(a.Key, attrValue(a.Value))
	}
	return handler{log}
}

// WithGroup implements [slog.Handler]; groups are flattened.
func (h handler) WithGroup(string) slog.Handler { return h }

// attrValue returns what Benthos prints well: scalars as they are, everything
// else as text.
func attrValue(v slog.Value) any {
	switch v = v.Resolve(); v.Kind() {
	case slog.KindAny, slog.KindGroup:
		return fmt.Sprint(v.Any())
	default:
		return v.Any()
	}
}
