package snapshot

import (
	"context"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
)

// tell emits what the tables look like, before any row, unless consumers know
// it from an earlier attempt.
func (e *emitter) tell(ctx context.Context) error {
	tables := e.opts.Structures
	if e.opts.SchemaChanges == nil || e.progress.Told || len(tables) == 0 {
		return nil
	}
	for i, t := range tables {
		marker := markRow
		if i == len(tables)-1 && len(e.opts.Tables) == 0 {
			marker = markLast
		}
		err := e.opts.SchemaChanges.Append(e.batch, event.SchemaChange{
			Type: event.TableCreated, Table: t, SourceTable: t.ID(),
			Position:  e.at(e.ordinal),
			CommitLSN: e.progress.Start, SourceTime: time.Now().Truncate(time.Millisecond), Snapshot: marker,
		})
		if err != nil {
			return err
		}
		e.ordinal++
		if i < len(tables)-1 && len(e.batch.Messages) >= e.opts.MaxBatchSize {
			if err := e.emit(ctx); err != nil {
				return err
			}
		}
	}
	e.progress = e.progress.clone()
	e.progress.Told = true
	return e.emit(ctx)
}

// takeUp goes over to how a table is read that was taken up anew, before its
// first row, and tells of its structure if that is another.
func (e *emitter) takeUp(ctx context.Context, c chunk) error {
	if c.taken == nil {
		return nil
	}
	before, now := e.opts.Tables[c.table].Shape, c.taken.Table.Shape
	if err := c.taken.Store(ctx); err != nil {
		return fmt.Errorf("storing how %s is read: %w", now.ID(), err)
	}
	e.opts.Tables[c.table] = c.taken.Table
	delete(e.encoders, c.table)
	if e.opts.SchemaChanges == nil || event.StructureDigest(before) == event.StructureDigest(now) {
		return nil
	}
	err := e.opts.SchemaChanges.Append(e.batch, event.SchemaChange{
		Type: event.TableAltered, Table: now, SourceTable: now.ID(),
		Position: e.at(e.ordinal), CommitLSN: e.progress.Start, SourceTime: c.at, Snapshot: markRow,
	})
	e.ordinal++
	return err
}
