package stream

import (
	"context"
	"fmt"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Reread says that the rows of a table are to be read again, because changes of
// it were lost.
type Reread struct {
	// At is the newest LSN when the loss was found. The stream goes on without
	// the table up to it, pauses for the rows, and goes on with the table's
	// changes behind it. No message of an earlier life can stand behind it, so
	// whoever drops repeats by position does not drop the rows.
	At lsn.LSN `json:"at"`
}

// Rereading is a pause of the stream for rows.
type Rereading struct {
	// At is the commit LSN behind which the rows stand: everything up to it has
	// been emitted.
	At     lsn.LSN
	Tables []RereadTable
	// Optional returns the columns of which consumers know that their fields
	// became optional, and OnOptional stores that more have, before the first
	// message that shows it.
	Optional   func(*schema.Table) []string
	OnOptional func(ctx context.Context, t *schema.Table, columns []string) error
}

// RereadTable is a table whose rows are to be read again.
type RereadTable struct {
	Table *sqlserver.Table
	// Shape has the columns that its changes have afterwards.
	Shape *schema.Table
}

// rereading returns the identity of a table with its rows to be read again, if
// the gap is one of its. Its changes go on behind that in the instance that
// holds them then: what was replaced by it is not needed any more.
func (id InstanceIdentity) rereading(gap *GapError, skipped Skipped) InstanceIdentity {
	for part := &id; part.ObjectID != gap.objectID; part = part.Replaced {
		if part.Replaced == nil {
			return id
		}
	}
	id = id.from(skipped)
	id.Reread = &Reread{At: skipped.To.Prev()}
	return id
}

// from returns the identity with nothing read before the end of a gap. An
// instance that begins later is still gone over to.
func (id InstanceIdentity) from(skipped Skipped) InstanceIdentity {
	if id.Replaced != nil && id.FirstStart.After(skipped.To) {
		replaced := id.Replaced.from(skipped)
		id.Replaced = &replaced
		return id
	}
	id.FirstStart, id.Replaced = skipped.To, nil
	id.Skipped = id.skips(skipped)
	return id
}

// nextPause returns the commit LSN behind which the stream has to pause next for
// rows.
func (r *Reader) nextPause() (at lsn.LSN, pauses bool) {
	if r.opts.Reread == nil {
		return at, false // somebody else pauses
	}
	for i := range r.known {
		again := r.known[i].Reread
		if again == nil || again.over(r.position) || !again.At.After(r.pausedAt) || r.isHeld(&r.known[i]) {
			continue
		}
		if !pauses || again.At.Before(at) {
			at, pauses = again.At, true
		}
	}
	return at, pauses
}

// over reports whether a position lies behind the rows.
func (a *Reread) over(position lsn.Position) bool { return position.Commit.After(a.At) }

// readAgain has the rows read that stand behind a commit LSN, and goes on behind
// them.
func (r *Reader) readAgain(ctx context.Context, at lsn.LSN) error {
	pause := Rereading{
		At:         at,
		Optional:   Known{Structures: r.structures}.Optional,
		OnOptional: r.optionalReread,
	}
	var troubles tablesError
	for _, c := range r.chosen {
		if again := c.Identity.Reread; again == nil || again.At != at {
			continue
		}
		if err := r.checkRows(ctx, c); err != nil {
			troubles = append(troubles, &tableError{c.Identity, err})
		}
		pause.Tables = append(pause.Tables, RereadTable{c.Table, c.First().Shape})
	}
	if len(troubles) > 0 {
		return r.troubleOf(troubles)
	}
	upTo, err := r.opts.Reread(ctx, pause)
	if err != nil {
		return err
	}
	r.pausedAt = at
	if r.position.Before(upTo) {
		r.position = upTo
	}
	return nil
}

// checkRows makes sure that the rows of a table can be read, if they are to be.
func (r *Reader) checkRows(ctx context.Context, c Choice) error {
	if r.opts.Rereadable == nil || c.Identity.Reread == nil {
		return nil
	}
	return r.opts.Rereadable(ctx, c.Table)
}

// troubleOf returns the errors of tables that can all be held, else one that
// cannot.
func (r *Reader) troubleOf(tables tablesError) error {
	for _, of := range tables {
		if r.opts.OnHeld == nil || !canHold(of.err) {
			return of.err
		}
	}
	return tables
}

// optionalReread notes that fields of a table have become optional with its
// rows, of which consumers are told there.
func (r *Reader) optionalReread(ctx context.Context, table *schema.Table, columns []string) error {
	known := Known{Instances: r.known, Structures: r.structures}.WithOptional(table, columns)
	if err := r.store(ctx, r.byCommand, known); err != nil {
		return err
	}
	r.structures = known.Structures
	for _, t := range r.tracked {
		if t.shape.ID() != table.ID() {
			continue
		}
		if err := t.makeOptional(columns); err != nil {
			return fmt.Errorf("preparing table %s: %w", t.name(), err)
		}
	}
	return nil
}

// postponeReread has the rows of a table, which was held, read where the others
// will be, if they have passed the place where they stood. Nothing of the table
// below the new place is needed then.
func (r *Reader) postponeReread(ctx context.Context, held Held) error {
	known := slices.Clone(r.known)
	for i, id := range known {
		again := id.Reread
		if again == nil || !held.is(&id) || again.At.After(r.pausedAt) && !again.over(r.position) {
			continue
		}
		at := later(r.newest, r.pausedAt.Next())
		known[i] = id.from(Skipped{To: at.Next()})
		known[i].Skipped, known[i].Reread = id.Skipped, &Reread{At: at}
		if err := r.store(ctx, r.byCommand, Known{Instances: known, Structures: r.structures}); err != nil {
			return err
		}
	}
	r.known = known
	return nil
}

// forgetRereads returns what is known of the tables without the rows that were
// read again before a place. Those of a table that is held are still to be read.
func (r *Reader) forgetRereads(saved Place) []InstanceIdentity {
	known := slices.Clone(r.known)
	if r.opts.Reread == nil {
		return known
	}
	for i := range known {
		again := known[i].Reread
		if again != nil && !r.isHeld(&known[i]) && again.over(saved.of(&known[i])) {
			known[i].Reread = nil
		}
	}
	return known
}

// until returns a poll of what there is up to an LSN.
func until(poll sqlserver.Poll, at lsn.LSN) sqlserver.Poll {
	if !poll.Max.After(at) {
		return poll
	}
	poll.Max = at
	beyond := slices.IndexFunc(poll.Commits, func(c sqlserver.Commit) bool { return c.LSN.After(at) })
	if beyond >= 0 {
		poll.Commits = poll.Commits[:beyond]
	}
	return poll
}
