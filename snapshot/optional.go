package snapshot

import (
	"context"
	"fmt"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
)

// tellOptional tells, before a row whose messages begin at had in the batch, of
// fields of its table that have become optional: with this row, or in an earlier
// attempt whose message may not have arrived. They are stored as such before,
// so that the stream does not take them back.
func (e *emitter) tellOptional(ctx context.Context, held *heldRow, encoder *event.Encoder, had int) error {
	columns := encoder.Optional()
	if len(columns) == e.optional[held.table] {
		return nil
	}
	shape := encoder.Table()
	if e.opts.OnOptional != nil {
		if err := e.opts.OnOptional(ctx, shape, columns); err != nil {
			return fmt.Errorf("storing the structure of %s: %w", shape.ID(), err)
		}
	}
	e.optional[held.table] = len(columns)
	if e.opts.SchemaChanges == nil {
		return nil
	}
	end := len(e.batch.Messages)
	err := e.opts.SchemaChanges.Append(e.batch, event.SchemaChange{
		Type: event.TableAltered, Table: shape.WithNullable(columns), SourceTable: shape.ID(),
		Position:  e.at(e.ordinal),
		CommitLSN: e.progress.Start, SourceTime: held.at, Snapshot: markRow,
	})
	if err != nil {
		return err
	}
	// It takes the place of the row, which moves on by one.
	e.ordinal++
	for i := range e.batch.Messages[had:end] {
		e.batch.Messages[had+i].Position.Ordinal++
	}
	told := e.batch.Messages[end]
	e.batch.Messages = slices.Insert(e.batch.Messages[:end], had, told)
	return nil
}
