package snapshot

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// ordinalBlock is how many ordinals are reserved at a time: more than any
// snapshot has rows, so that one save at the beginning is enough, and few
// enough for 16 million beginnings.
const ordinalBlock = 1 << 40

// reasonEvent is the reason of a row that no event can hold, as in the stream.
const reasonEvent = "event"

// batchBytes ends a batch of large events before it has its number.
const batchBytes = 4 << 20

// emitter turns rows into events. It holds one row back, because whether a row
// is the last of its table, or of all, shows only with what follows.
type emitter struct {
	sink     Sink
	opts     Options
	progress *Progress // what holds once everything emitted is acknowledged
	encoders map[int]*event.Encoder
	optional map[int]int // fields of a table that consumers were told are optional

	begun   int    // the number of the table that is being read, from 1
	fresh   bool   // no row of it was taken yet, of all that it has
	rows    int64  // of it, as far as they are read
	ordinal uint64 // of the next row
	batch   *event.Batch
	held    *heldRow // nil, or next
	next    heldRow
}

// heldRow is a row whose marker is not known yet.
type heldRow struct {
	table  int
	first  bool
	last   bool // of its table
	at     time.Time
	reader *sqlserver.TableReader
	row    []driver.Value
}

// newEmitter reserves ordinals before anything can be emitted.
func newEmitter(ctx context.Context, sink Sink, opts Options, progress *Progress) (*emitter, error) {
	opts.Tables = slices.Clone(opts.Tables)
	e := &emitter{sink: sink, opts: opts, progress: progress, encoders: map[int]*event.Encoder{}, optional: map[int]int{}, batch: &event.Batch{}}
	return e, e.reserve(ctx)
}

// reserve stores that a block of ordinals is taken.
func (e *emitter) reserve(ctx context.Context) error {
	next := e.progress.clone()
	e.ordinal = next.NextOrdinal
	next.NextOrdinal += ordinalBlock
	e.progress = next
	if err := e.sink.Save(ctx, next.clone()); err != nil {
		return fmt.Errorf("storing the beginning of the snapshot: %w", err)
	}
	return nil
}

// drain emits chunks until there are no more.
func (e *emitter) drain(ctx context.Context, chunks <-chan chunk) error {
	for {
		select {
		case c, ok := <-chunks:
			if !ok {
				return nil
			}
			if err := e.take(ctx, c); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take emits a chunk's rows but for the last.
func (e *emitter) take(ctx context.Context, c chunk) error {
	if err := e.takeUp(ctx, c); err != nil {
		return err
	}
	if err := e.tellTable(ctx, c.table); err != nil {
		return err
	}
	e.rows += int64(len(c.page.Rows))
	e.fresh = e.fresh || c.first
	for _, row := range c.page.Rows {
		next := heldRow{table: c.table, first: e.fresh, at: c.at, reader: c.reader, row: row}
		dropped, err := e.drops(&next)
		if err != nil {
			return err
		}
		if dropped {
			continue
		}
		if err := e.release(ctx, false); err != nil {
			return err
		}
		e.next, e.fresh = next, false
		e.held = &e.next
	}
	if e.held != nil {
		e.held.row = slices.Clone(e.held.row) // the page is given back
	}
	end := c.page.End
	e.fresh = e.fresh && !end
	c.page.Release()
	switch {
	case !end:
	case e.held != nil && e.held.table == c.table:
		e.held.last = true
	default:
		// The table is empty, or what is left of it is.
		e.finishTable(c.table)
	}
	if !end {
		return nil
	}
	return e.tellTableDone(ctx, c.table)
}

// finish emits what is held and says that the snapshot is done.
func (e *emitter) finish(ctx context.Context) error {
	if err := e.release(ctx, true); err != nil {
		return err
	}
	if err := e.tellCompleted(); err != nil {
		return err
	}
	e.progress = e.progress.clone()
	e.progress.Done = true
	return e.emit(ctx)
}

// release encodes the held row, if any. Final says that no row of any table
// follows.
func (e *emitter) release(ctx context.Context, final bool) error {
	held := e.held
	if held == nil {
		return nil
	}
	e.held = nil
	if e.ordinal+1 >= e.progress.NextOrdinal { // a row may take two
		if err := e.reserve(ctx); err != nil {
			return err
		}
	}
	encoder, err := e.encoder(held.table)
	if err != nil {
		return err
	}
	had := len(e.batch.Messages)
	at := place{firstTable: held.table == 0, firstRow: held.first, lastRow: held.last, last: final}
	change := e.change(held)
	change.Snapshot = at.marker()
	if err := encoder.Row(e.batch, change); err != nil {
		return refused(encoder.Table(), err)
	}
	if err := e.tellOptional(ctx, held, encoder, had); err != nil {
		return err
	}
	e.ordinal++
	if held.last {
		e.finishTable(held.table)
	}
	if !final && (len(e.batch.Messages) >= e.opts.MaxBatchSize || e.batch.Bytes() >= batchBytes) {
		if err := e.reached(held); err != nil {
			return err
		}
		return e.emit(ctx)
	}
	return nil
}

// at returns the position of a message with an ordinal.
func (e *emitter) at(ordinal uint64) lsn.Position {
	at := lsn.BeginOf(e.progress.Start)
	if e.opts.Behind {
		at = lsn.EndOf(e.progress.Start)
	}
	at.Ordinal = ordinal
	return at
}

// change returns the change that a row is told as.
func (e *emitter) change(held *heldRow) event.Change {
	return event.Change{
		Op: event.OpRead, After: held.reader.Values(held.row),
		Position:  e.at(e.ordinal),
		CommitLSN: e.progress.Start, SourceTime: held.at,
	}
}

// drops reports whether a row is left out because no event can be made of it. It
// is known before the row is held: which row is a table's last, or its first,
// shows in its marker.
func (e *emitter) drops(held *heldRow) (bool, error) {
	encoder, err := e.encoder(held.table)
	if err != nil || !encoder.LeavesOut() {
		return false, err
	}
	dropped, err := encoder.Drops(e.change(held))
	if err != nil {
		return false, refused(encoder.Table(), err)
	}
	return dropped, nil
}

// refused returns the error for a row of which no event can be made.
func refused(table *schema.Table, err error) error {
	return sqlserver.NewProblem(reasonEvent, "no event can be made of a row of "+table.ID().String(),
		"correct the row or its column's type, "+event.FailureRemedy, err)
}

// reached notes the key of the last row emitted.
func (e *emitter) reached(held *heldRow) error {
	if held.last || !held.reader.Paged() {
		return nil
	}
	after, err := held.reader.Key(held.row)
	if err != nil {
		return err
	}
	t := e.opts.Tables[held.table]
	progress := t.blank()
	progress.After = after
	e.set(t, progress)
	return nil
}

// finishTable notes that a table's last row has been encoded.
func (e *emitter) finishTable(i int) {
	progress := e.opts.Tables[i].blank()
	progress.Done = true
	e.set(e.opts.Tables[i], progress)
}

func (e *emitter) set(t Table, p TableProgress) {
	e.progress = e.progress.clone()
	e.progress.Tables[t.key()] = p
}

// emit hands over the batch with the progress reached.
func (e *emitter) emit(ctx context.Context) error {
	batch := e.batch
	e.batch = event.NewBatch(len(batch.Messages)) // likely to be like this one
	return e.sink.Emit(ctx, batch, e.progress)
}

func (e *emitter) encoder(table int) (*event.Encoder, error) {
	if enc := e.encoders[table]; enc != nil {
		return enc, nil
	}
	shape := e.opts.Tables[table].Shape
	enc, err := e.opts.Encoder(shape)
	if err != nil {
		return nil, fmt.Errorf("preparing table %s: %w", shape.ID(), err)
	}
	if e.opts.Optional != nil {
		if err := enc.MakeOptional(e.opts.Optional(shape)); err != nil {
			return nil, fmt.Errorf("preparing table %s: %w", shape.ID(), err)
		}
	}
	e.encoders[table] = enc
	return enc, nil
}
