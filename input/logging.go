package input

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redpanda-data/benthos/v4/public/service"
)

// logHandler gives packages that log through slog the logger of the pipeline.
type logHandler struct{ log *service.Logger }

var _ slog.Handler = logHandler{}

// Enabled implements [slog.Handler]; the pipeline's logger has its own level.
func (h logHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (h logHandler) Handle(_ context.Context, r slog.Record) error {
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
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	log := h.log
	for _, a := range attrs {
		log = log.With(a.Key, attrValue(a.Value))
	}
	return logHandler{log}
}

// WithGroup implements [slog.Handler]; groups are flattened.
func (h logHandler) WithGroup(string) slog.Handler { return h }

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
