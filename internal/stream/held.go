package stream

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// holding are the tables of a reader that are held.
type holding struct {
	// held does not change once made.
	held []Held
	// untold is set when tables have come or gone since the last place was told.
	untold bool
	// tried is when each was tried last, by its name, and why it cannot be read
	// on; none if this reader has not tried yet.
	tried map[string]trial
	// catchingUp are the tables that are catching up, one after the other, while the
	// others wait.
	catchingUp []*lateTable
}

// trial is an attempt to read a held table on.
type trial struct {
	at  time.Time
	err error
}

// heldRetry is how long after an attempt a held table is tried again, unless the
// set of capture instances changes before.
const heldRetry = time.Minute

// OnHeld is told of a table that is held, whenever that was tried, with the cause,
// which holds a [sqlserver.Problem]; nil once the table is read on, or is not to be
// read any more.
type OnHeld func(h Held, cause error)

// hold leaves tables behind at the position of all. With marks of transactions
// the one that is being delivered is delivered again, whole, since its events are
// counted by what is read of it.
func (r *Reader) hold(ctx context.Context, troubles tablesError) error {
	known := slices.Clone(r.known)
	for _, of := range troubles {
		if !slices.ContainsFunc(known, func(id InstanceIdentity) bool { return id.SourceObjectID == of.id.SourceObjectID }) {
			known = append(known, of.id)
		}
	}
	if len(known) > len(r.known) {
		if err := r.store(ctx, r.byCommand, Known{Instances: known, Structures: r.structures}); err != nil {
			return err
		}
	}
	r.known, r.loaded = known, false
	if r.opts.Transactions != nil && insideTransaction(r.position) {
		r.position = replaying(r.position)
	}
	r.held, r.untold = slices.Clone(r.held), true
	for _, of := range troubles {
		if r.isHeld(&of.id) {
			continue // because of another of its instances
		}
		h := Held{
			Schema: of.id.Schema, Table: of.id.Table, SourceObjectID: of.id.SourceObjectID,
			Position: r.position, ByCommand: r.byCommand,
		}
		r.held = append(r.held, h)
		r.sayHeld(h, of.err)
	}
	return nil
}

// sayHeld notes that a table was tried, and tells of it.
func (r *Reader) sayHeld(h Held, cause error) {
	if !errors.As(cause, new(sqlserver.Problem)) {
		cause = sqlserver.NewProblem(ReasonInstanceGone, "what is read of table "+h.Name()+" is gone",
			"enable change data capture on the table again, or leave it out", cause)
	}
	r.tried[h.Name()] = trial{time.Now(), cause}
	r.opts.OnHeld(h, cause)
}

// checkLeft fails if no table is read and none of those that are held can be.
func (r *Reader) checkLeft() error {
	if !r.loaded || len(r.tracked) > 0 || len(r.held) == 0 {
		return nil
	}
	nothing := &NothingLeftError{}
	for _, h := range r.held {
		var problem sqlserver.Problem
		if !errors.As(r.tried[h.Name()].err, &problem) {
			return nil // not tried yet
		}
		nothing.Tables = append(nothing.Tables, problem)
	}
	return nothing
}

// release ends the holding of tables.
func (r *Reader) release(over func(Held) bool) {
	var kept []Held
	for _, h := range r.held {
		if !over(h) {
			kept = append(kept, h)
			continue
		}
		r.untold = true
		delete(r.tried, h.Name())
		if r.opts.OnHeld != nil {
			r.opts.OnHeld(h, nil)
		}
	}
	r.held = kept
}

// releaseUnwanted ends the holding of tables that are not among the wanted ones
// any more, and not missing.
func (r *Reader) releaseUnwanted(tables []*sqlserver.Table, missing []InstanceIdentity) {
	r.release(func(h Held) bool {
		return !slices.ContainsFunc(missing, func(id InstanceIdentity) bool { return h.is(&id) }) &&
			!slices.ContainsFunc(tables, func(t *sqlserver.Table) bool {
				id := r.identityOf(t)
				return h.is(&id)
			})
	})
}

// isHeldTable reports whether a table is held.
func (r *Reader) isHeldTable(t *sqlserver.Table) bool {
	id := r.identityOf(t)
	return r.isHeld(&id)
}

// isHeld reports whether the table of an identity is held.
func (r *Reader) isHeld(id *InstanceIdentity) bool {
	return slices.ContainsFunc(r.held, func(h Held) bool { return h.is(id) })
}

// identityOf returns what is known of a table, at least which it is.
func (r *Reader) identityOf(t *sqlserver.Table) InstanceIdentity {
	if id := IdentityOf(t, r.known); id != nil {
		return *id
	}
	return InstanceIdentity{Schema: t.Source.Schema, Table: t.Source.Name, SourceObjectID: t.ObjectID}
}

// heldIdentities are those of the tables that are held.
func (r *Reader) heldIdentities() (held []InstanceIdentity) {
	for i := range r.known {
		if r.isHeld(&r.known[i]) {
			held = append(held, r.known[i])
		}
	}
	return held
}

// isHeldStructure reports whether a structure is that of a table that is held.
func (r *Reader) isHeldStructure(s *Structure) bool {
	return slices.ContainsFunc(r.held, func(h Held) bool { return r.isOf(s, h) })
}

// ofStructure returns the position up to which the table of a structure is read
// at a place.
func (r *Reader) ofStructure(p Place, s *Structure) lsn.Position {
	if i := slices.IndexFunc(p.Held, func(h Held) bool { return r.isOf(s, h) }); i >= 0 {
		return p.Held[i].Position
	}
	return p.Position
}

// isOf reports whether a structure is that of a held table, which may have got
// another name since it is held.
func (r *Reader) isOf(s *Structure, h Held) bool {
	return h.names(s.Schema, s.Table) || slices.ContainsFunc(r.known, func(id InstanceIdentity) bool {
		return h.is(&id) && id.Schema == s.Schema && id.Table == s.Table
	})
}
