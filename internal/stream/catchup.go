package stream

import (
	"context"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// lateTable is a held table that catches up: a reader of its own, of this table
// alone, reads it from its position up to that of the others, who wait. It is a
// source and a sink to that reader.
type lateTable struct {
	Connection
	parent *Reader
	held   Held // as it was when the catching up began
	reader *Reader
	// tables is what the catalogue had just now; nil once that was used.
	tables []*sqlserver.Table
}

var (
	_ Connection = (*lateTable)(nil)
	_ Sink       = (*lateTable)(nil)
)

// beginCatchingUp lets the held tables catch up that are due to be tried, once the
// others stand between two transactions. It reports whether there are any.
func (r *Reader) beginCatchingUp(ctx context.Context) (bool, error) {
	if len(r.held) == 0 || r.position.Command != lsn.MaxCommand {
		return false, nil
	}
	var tables []*sqlserver.Table
	for _, h := range r.held {
		if trial, tried := r.tried[h.Name()]; tried && time.Since(trial.at) < heldRetry {
			continue
		}
		if tables == nil {
			var err error
			if tables, err = r.conn.Catalogue(ctx, r.opts.Selection); err != nil {
				return false, err
			}
		}
		r.catchingUp = append(r.catchingUp, r.newLateTable(h, tables))
	}
	return len(r.catchingUp) > 0, nil
}

// newLateTable prepares reading a held table.
func (r *Reader) newLateTable(h Held, tables []*sqlserver.Table) *lateTable {
	l := &lateTable{Connection: r.conn, parent: r, held: h, tables: tables}
	opts := r.opts
	opts.OnHeld, opts.OnPoll, opts.Reread = nil, nil, nil
	opts.OnInstances = l.learn
	if tell := r.opts.OnHeldPoll; tell != nil {
		opts.OnPoll = func(p sqlserver.Poll) { tell(h, p) }
	}
	if r.opts.Saved != nil {
		opts.Saved = func() Place {
			saved := r.opts.Saved()
			return Place{Position: saved.of(&InstanceIdentity{Schema: h.Schema, Table: h.Table, SourceObjectID: h.SourceObjectID})}
		}
	}
	start := State{Position: h.Position, ByCommand: h.ByCommand}
	for i := range r.known {
		if h.is(&r.known[i]) {
			start.Instances = append(start.Instances, r.known[i])
		}
	}
	for _, s := range r.structures {
		if r.isOf(&s, h) {
			start.Structures = append(start.Structures, s)
		}
	}
	l.reader = New(l, l, opts, start)
	l.reader.bound = r.position.Commit
	return l
}

// catchUp does one pass over the first of the tables that catch up. One that has
// come to where the others are, behind whose commit there may be rows or a
// structure too, is read with them from there on.
func (r *Reader) catchUp(ctx context.Context) error {
	l := r.catchingUp[0]
	more, err := l.reader.PollOnce(ctx)
	caughtUp := err == nil && l.reader.readUpTo(r.position.Commit)
	if caughtUp {
		err = l.checkRows(ctx)
	}
	switch {
	case err != nil && (r.opts.OnHeld == nil || !canHold(err)):
		return err
	case err != nil:
		r.sayHeld(l.held, err)
	case caughtUp:
		if err := r.postponeReread(ctx, l.held); err != nil {
			return err
		}
		r.release(l.held.same)
		r.loaded = false
	case more:
		return nil
	default: // the server is behind where it was: later
		r.tried[l.held.Name()] = trial{time.Now(), r.tried[l.held.Name()].err}
	}
	r.catchingUp = r.catchingUp[1:]
	return nil
}

// checkRows makes sure that the table's rows can be read, if they are to be once
// it is read with the others.
func (l *lateTable) checkRows(ctx context.Context) error {
	for _, c := range l.reader.chosen {
		if err := l.parent.checkRows(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// same reports whether o is the same table.
func (h Held) same(o Held) bool {
	return h.SourceObjectID == o.SourceObjectID && h.names(o.Schema, o.Table)
}

// Catalogue implements [Connection]: it has the one table.
func (l *lateTable) Catalogue(ctx context.Context, selection sqlserver.Selection) ([]*sqlserver.Table, error) {
	tables := l.tables
	l.tables = nil
	if tables == nil {
		var err error
		if tables, err = l.Connection.Catalogue(ctx, selection); err != nil {
			return nil, err
		}
	}
	var own []*sqlserver.Table
	for _, t := range tables {
		if id := l.parent.identityOf(t); l.held.is(&id) {
			own = append(own, t)
		}
	}
	return own, nil
}

// Emit implements [Sink].
func (l *lateTable) Emit(ctx context.Context, b *event.Batch, upTo Place) error {
	return l.move(upTo.Position, func(to Place) error { return l.parent.sink.Emit(ctx, b, to) })
}

// Advance implements [Sink].
func (l *lateTable) Advance(ctx context.Context, to Place) error {
	return l.move(to.Position, func(to Place) error { return l.parent.sink.Advance(ctx, to) })
}

// move hands over what brings the table to a position, at the place of all.
func (l *lateTable) move(to lsn.Position, handOver func(Place) error) error {
	r := l.parent
	place := r.placeAt(r.position)
	place.Held = slices.Clone(place.Held)
	i := slices.IndexFunc(place.Held, l.held.same)
	place.turn = turn{held: true, index: i}
	place.Held[i].Position, place.Held[i].ByCommand = to, l.reader.byCommand
	if err := handOver(place); err != nil {
		return err
	}
	r.held = place.Held
	return nil
}

// learn stores what is known of the table from now on, with what is known of the
// others.
func (l *lateTable) learn(ctx context.Context, _ bool, own Known) error {
	r := l.parent
	all := Known{
		Instances:  slices.DeleteFunc(slices.Clone(r.known), func(id InstanceIdentity) bool { return l.held.is(&id) }),
		Structures: slices.DeleteFunc(slices.Clone(r.structures), func(s Structure) bool { return r.isOf(&s, l.held) }),
	}
	all.Instances = append(all.Instances, own.Instances...)
	all.Structures = append(all.Structures, own.Structures...)
	if err := r.store(ctx, r.byCommand, all); err != nil {
		return err
	}
	r.known, r.structures = all.Instances, all.Structures
	return nil
}
