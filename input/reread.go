package input

import (
	"context"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// rereader is a sink that takes rows in a pause of the stream.
type rereader interface {
	reread(ctx context.Context, db database, pause stream.Rereading) (upTo lsn.Position, err error)
}

var (
	_ rereader      = (*reading)(nil)
	_ snapshot.Sink = (*rereadSink)(nil)
)

// onReread returns what reads rows of a database again in a pause of the stream.
// What was decided under another retention_gap_policy is done too.
func onReread(sink stream.Sink, db database) func(context.Context, stream.Rereading) (lsn.Position, error) {
	to, takes := sink.(rereader)
	if !takes {
		return nil
	}
	return func(ctx context.Context, pause stream.Rereading) (lsn.Position, error) {
		return to.reread(ctx, db, pause)
	}
}

// reread implements [rereader]. What of it was handed over before is not read
// once more.
func (r *reading) reread(ctx context.Context, db database, pause stream.Rereading) (lsn.Position, error) {
	progress := r.mark.progress.Pause(pause.At)
	if progress.Done {
		return r.mark.position(), nil
	}
	tables := make([]string, len(pause.Tables))
	for i, t := range pause.Tables {
		tables[i] = t.Shape.ID().String()
	}
	r.source.log.Infof("Streaming pauses behind commit LSN %s: the rows of %s are read again", pause.At, strings.Join(tables, ", "))
	err := r.watched(ctx, db, func(ctx context.Context) error { return db.Reread(ctx, pause, progress, &rereadSink{r}) })
	if err != nil {
		return lsn.Position{}, err
	}
	r.source.log.Infof("The rows are read; streaming goes on")
	return r.mark.position(), nil
}

// rereadSink is a reading as rows see it that are read in a pause of the stream.
type rereadSink struct{ r *reading }

// Save implements [snapshot.Sink].
func (s *rereadSink) Save(ctx context.Context, p *snapshot.Progress) error {
	return s.r.source.keeper.reserve(ctx, p)
}

// Emit implements [snapshot.Sink].
func (s *rereadSink) Emit(ctx context.Context, b *event.Batch, p *snapshot.Progress) error {
	source := s.r.source
	m := s.r.mark
	m.progress = m.progress.Paused(p)
	if n := len(b.Messages); n > 0 {
		m = m.at(stream.Place{Position: b.Messages[n-1].Position, Held: m.state.Held})
		if source.heartbeats.due() {
			if err := source.heartbeats.beat(b, source.keeper.database, m.position()); err != nil {
				return err
			}
		}
	}
	source.meter.CountBatch(b)
	if err := s.r.push(ctx, item{batch: b, mark: m}); err != nil {
		return err
	}
	source.heartbeats.act(source.action)
	return nil
}

// Reread implements [database].
func (d *serverDatabase) Reread(ctx context.Context, pause stream.Rereading, progress *snapshot.Progress, sink snapshot.Sink) error {
	opts := d.snapshotOptions()
	opts.Start, opts.Behind = pause.At, true
	for _, t := range pause.Tables {
		opts.Tables = append(opts.Tables, snapshot.Table{Source: t.Table, Shape: t.Shape})
		if d.schemaChanges != nil {
			opts.Structures = append(opts.Structures, t.Shape)
		}
	}
	slices.SortFunc(opts.Structures, func(a, b *schema.Table) int { return strings.Compare(a.ID().String(), b.ID().String()) })
	opts.Optional, opts.OnOptional = pause.Optional, pause.OnOptional
	opts.Observer = d.observer(opts.Tables, progress)
	return snapshot.New(d.conn, opts, progress).Run(ctx, sink)
}
