package input

import (
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/metrics"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/notice"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/signal"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// newNotifier returns the notifier of a source.
func newNotifier(cfg config, opts event.Options, log *service.Logger) (*signal.Notifier, error) {
	if !cfg.notifications.log {
		log = nil
	}
	if !cfg.notifications.sink {
		return signal.NewNotifier(cfg.topics.Prefix, nil, log), nil
	}
	encoder, err := event.NewNotifications(cfg.notifications.topic, opts)
	if err != nil {
		return nil, err
	}
	return signal.NewNotifier(cfg.topics.Prefix, encoder, log), nil
}

// observers are told what a connection finds; they outlive it.
type observers struct {
	notices   *notice.Once
	unmatched *notice.Unmatched // told which entries of lists match nothing
	altered   *notice.Structures
	instances *instanceManager // nil: they are not managed
	meter     *metrics.Meter
	notifier  *signal.Notifier
	link      *link // told of a server that does not answer
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
	return o.notifier.Tell(dst, o.database, o.tells.Started(), at)
}

// TableStarted implements [snapshot.Observer].
func (o *snapshotObserver) TableStarted(dst *event.Batch, at lsn.Position, t *schema.Table) error {
	return o.notifier.Tell(dst, o.database, o.tells.InProgress(t.ID()), at)
}

// TableDone implements [snapshot.Observer].
func (o *snapshotObserver) TableDone(dst *event.Batch, at lsn.Position, t *schema.Table, rows int64) error {
	o.meter.TableRead()
	return o.notifier.Tell(dst, o.database, o.tells.TableScanCompleted(t.ID(), rows), at)
}

// Completed implements [snapshot.Observer].
func (o *snapshotObserver) Completed(dst *event.Batch, at lsn.Position) error {
	o.meter.SnapshotEnds()
	return o.notifier.Tell(dst, o.database, o.tells.Completed(), at)
}
