package snapshot

import (
	"context"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Observer is told how far a snapshot has come. What it appends to a batch
// stands there between the rows, where Debezium's notifications stand: a row is
// held back until it is known whether it is the last, so that what is told of
// the end of its table comes before it. The position is that of the row before.
type Observer interface {
	// Started is told once, before anything else, of a snapshot that does not
	// resume another.
	Started(dst *event.Batch, at lsn.Position) error
	// TableStarted is told before the rows of a table, or the rest of them.
	TableStarted(dst *event.Batch, at lsn.Position, t *schema.Table) error
	// TableDone is told after the last row of a table was read: how many were,
	// by this attempt.
	TableDone(dst *event.Batch, at lsn.Position, t *schema.Table, rows int64) error
	// Completed is told after the last row of all.
	Completed(dst *event.Batch, at lsn.Position) error
}

// tellStarted tells that the snapshot begins.
func (e *emitter) tellStarted() error {
	if e.opts.Observer == nil {
		return nil
	}
	return e.opts.Observer.Started(e.batch, e.before())
}

// tellTable tells that rows of a table follow, if those before were of another.
func (e *emitter) tellTable(ctx context.Context, table int) error {
	if e.opts.Observer == nil || e.begun == table+1 {
		return nil
	}
	e.begun, e.rows = table+1, 0
	if err := e.opts.Observer.TableStarted(e.batch, e.before(), e.opts.Tables[table].Shape); err != nil {
		return err
	}
	return e.relieve(ctx)
}

// tellTableDone tells that the last row of a table is read.
func (e *emitter) tellTableDone(ctx context.Context, table int) error {
	if e.opts.Observer == nil {
		return nil
	}
	if err := e.opts.Observer.TableDone(e.batch, e.before(), e.opts.Tables[table].Shape, e.rows); err != nil {
		return err
	}
	return e.relieve(ctx)
}

// tellCompleted tells that the snapshot is done.
func (e *emitter) tellCompleted() error {
	if e.opts.Observer == nil {
		return nil
	}
	return e.opts.Observer.Completed(e.batch, e.before())
}

// before returns the position of the row before.
func (e *emitter) before() lsn.Position {
	return e.at(max(e.ordinal, 1) - 1)
}

// relieve emits a batch that is full of what was told of tables without rows.
func (e *emitter) relieve(ctx context.Context) error {
	if len(e.batch.Messages) < e.opts.MaxBatchSize {
		return nil
	}
	return e.emit(ctx)
}
