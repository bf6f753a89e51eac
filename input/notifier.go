package input

import (
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/metrics"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/notice"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/signal"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// notifier tells of what happens to a database's snapshot and capture instances,
// in messages and in the log, as far as either is asked for. It outlives the
// readings of its source, which use it one after the other.
type notifier struct {
	connector string
	encoder   *event.Notifications // nil: no messages
	log       *service.Logger      // nil: not in the log
	waiting   []event.Notification // to be told before the next event of the stream
	begun     bool                 // something was read since the start
}

// newNotifier returns the notifier of a source.
func newNotifier(cfg config, opts event.Options, log *service.Logger) (*notifier, error) {
	n := &notifier{connector: cfg.topics.Prefix}
	if cfg.notifications.log {
		n.log = log
	}
	if !cfg.notifications.sink {
		return n, nil
	}
	var err error
	n.encoder, err = event.NewNotifications(cfg.notifications.topic, opts)
	return n, err
}

// tell appends a notification to a batch. It repeats a position, so it holds
// back no acknowledgement but that of its batch.
func (n *notifier) tell(dst *event.Batch, database string, what event.Notification, at lsn.Position) error {
	now := time.Now()
	if n.log != nil {
		n.log.Infof("Notification: %s", what.AppendJSON(nil, now))
	}
	if n.encoder == nil {
		return nil
	}
	return n.encoder.Append(dst, database, what, at, now)
}

// later keeps a notification until the stream has something to hand over, or
// has looked for changes.
func (n *notifier) later(what event.Notification) { n.waiting = append(n.waiting, what) }

// begin notes that reading begins. The first time since the start, a snapshot
// that is done already is told of as skipped, as Debezium does.
func (n *notifier) begin(snapshotted bool) {
	if !n.begun && snapshotted {
		n.later(signal.Snapshot{Connector: n.connector}.Skipped())
	}
	n.begun = true
}

// take returns a batch of what waits; nil if there is nothing.
func (n *notifier) take(database string, at lsn.Position) (*event.Batch, error) {
	if len(n.waiting) == 0 {
		return nil, nil
	}
	b := event.NewBatch(len(n.waiting))
	for _, what := range n.waiting {
		if err := n.tell(b, database, what, at); err != nil {
			return nil, err
		}
	}
	n.waiting = nil
	return b, nil
}

// observers are told what a connection finds; they outlive it.
type observers struct {
	notices   *notice.Once
	unmatched *notice.Unmatched // told which entries of lists match nothing
	altered   *structureWatch
	meter     *metrics.Meter
	notifier  *notifier
}

// snapshotObserver tells of the progress of a snapshot.
type snapshotObserver struct {
	observers
	database string
	tells    signal.Snapshot
}

var _ snapshot.Observer = (*snapshotObserver)(nil)

// observer returns what is told how far a snapshot has come, and tells the
// figures where it begins.
func (d *serverDatabase) observer(tables []snapshot.Table, progress *snapshot.Progress) *snapshotObserver {
	o := &snapshotObserver{observers: d.observers, database: d.name, tells: signal.Snapshot{Connector: d.cfg.topics.Prefix}}
	done := 0
	for _, t := range tables {
		o.tells.Tables = append(o.tells.Tables, t.Shape.ID())
		if progress != nil && progress.TableDone(t) {
			done++
		}
	}
	d.meter.SnapshotBegins(len(tables), done)
	return o
}

// Started implements [snapshot.Observer].
func (o *snapshotObserver) Started(dst *event.Batch, at lsn.Position) error {
	return o.notifier.tell(dst, o.database, o.tells.Started(), at)
}

// TableStarted implements [snapshot.Observer].
func (o *snapshotObserver) TableStarted(dst *event.Batch, at lsn.Position, t *schema.Table) error {
	return o.notifier.tell(dst, o.database, o.tells.InProgress(t.ID()), at)
}

// TableDone implements [snapshot.Observer].
func (o *snapshotObserver) TableDone(dst *event.Batch, at lsn.Position, t *schema.Table, rows int64) error {
	o.meter.TableRead()
	return o.notifier.tell(dst, o.database, o.tells.TableScanCompleted(t.ID(), rows), at)
}

// Completed implements [snapshot.Observer].
func (o *snapshotObserver) Completed(dst *event.Batch, at lsn.Position) error {
	o.meter.SnapshotEnds()
	return o.notifier.tell(dst, o.database, o.tells.Completed(), at)
}
