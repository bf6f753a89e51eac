package input

import (
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// heartbeats says when a heartbeat is due, and makes it. One outlives the
// readings of an input, which use it one after the other.
type heartbeats struct {
	interval time.Duration
	encoder  *event.Heartbeats
	last     time.Time // of the last one; at first of the beginning
	owes     bool      // a heartbeat was sent, and its action not begun
}

// newHeartbeats returns nil for an interval of zero: no heartbeats.
func newHeartbeats(interval time.Duration, opts event.Options) (*heartbeats, error) {
	if interval == 0 {
		return nil, nil
	}
	encoder, err := event.NewHeartbeats(opts)
	if err != nil {
		return nil, err
	}
	return &heartbeats{interval: interval, encoder: encoder, last: time.Now()}, nil
}

// due reports whether the interval has passed since the last heartbeat.
func (h *heartbeats) due() bool {
	return h != nil && time.Since(h.last) >= h.interval
}

// beat appends a heartbeat to a batch. It repeats the last position: once it
// is acknowledged, so is everything before it.
func (h *heartbeats) beat(b *event.Batch, database string, at lsn.Position) error {
	h.last, h.owes = time.Now(), true
	return h.encoder.Append(b, database, at, h.last)
}

// act begins the action of the heartbeats sent since the last call, if any.
func (h *heartbeats) act(a *heartbeatAction) {
	if h == nil || a == nil || !h.owes {
		return
	}
	h.owes = false
	a.begin()
}
