package signal

import (
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Notifier tells of what happens to a database's snapshot and capture instances,
// in messages and in the log, as far as either is asked for. It outlives the
// readings of its source, which use it one after the other.
type Notifier struct {
	connector string
	encoder   *event.Notifications // nil: no messages
	log       *service.Logger      // nil: not in the log
	waiting   []event.Notification // to be told before the next event of the stream
	begun     bool                 // something was read since the start
}

// NewNotifier returns the notifier of a database, in the name of a connector.
// Without an encoder there are no messages, without a log nothing is logged.
func NewNotifier(connector string, encoder *event.Notifications, log *service.Logger) *Notifier {
	return &Notifier{connector: connector, encoder: encoder, log: log}
}

// Tell appends a notification to a batch. It repeats a position, so it holds
// back no acknowledgement but that of its batch.
func (n *Notifier) Tell(dst *event.Batch, database string, what event.Notification, at lsn.Position) error {
	now := time.Now()
	if n.log != nil {
		n.log.Infof("Notification: %s", what.AppendJSON(nil, now))
	}
	if n.encoder == nil {
		return nil
	}
	return n.encoder.Append(dst, database, what, at, now)
}

// Later keeps a notification until the stream has something to hand over, or
// has looked for changes.
func (n *Notifier) Later(what event.Notification) { n.waiting = append(n.waiting, what) }

// Begin notes that reading begins. The first time since the start, a snapshot
// that is done already is told of as skipped, as Debezium does.
func (n *Notifier) Begin(snapshotted bool) {
	if !n.begun && snapshotted {
		n.Later(Snapshot{Connector: n.connector}.Skipped())
	}
	n.begun = true
}

// Take returns a batch of what waits; nil if there is nothing.
func (n *Notifier) Take(database string, at lsn.Position) (*event.Batch, error) {
	if len(n.waiting) == 0 {
		return nil, nil
	}
	b := event.NewBatch(len(n.waiting))
	for _, what := range n.waiting {
		if err := n.Tell(b, database, what, at); err != nil {
			return nil, err
		}
	}
	n.waiting = nil
	return b, nil
}
