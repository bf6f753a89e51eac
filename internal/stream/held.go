package stream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Place is how far a database is read: everything up to Position, except that
// of the tables which are held only what stands at or before their own.
type Place struct {
	Position lsn.Position
	Held     []Held

	// late is the number of the held table, from 1 on, whose events end at this
	// place; zero: they are those of the others.
	late int
}

// Held is a table that cannot be read on, and how far it is read.
type Held struct {
	Schema string `json:"schema"`
	Table  string `json:"table"`
	// SourceObjectID is the table's object id, which a new name does not change.
	SourceObjectID int32 `json:"source_object_id"`
	// Position and ByCommand are the table's own, as those of [State] are the
	// others'.
	Position  lsn.Position `json:"position"`
	ByCommand bool         `json:"by_command"`
}

// Behind returns the place behind one event of a batch, given the place behind
// the last.
func (p Place) Behind(event lsn.Position) Place {
	if p.late == 0 {
		p.Position = event
		return p
	}
	p.Held = slices.Clone(p.Held)
	p.Held[p.late-1].Position = event
	return p
}

// of returns the position up to which a table is read.
func (p Place) of(id *InstanceIdentity) lsn.Position {
	if i := slices.IndexFunc(p.Held, func(h Held) bool { return h.is(id) }); i >= 0 {
		return p.Held[i].Position
	}
	return p.Position
}

// is reports whether h is the table of an identity. A table that was dropped and
// made again is the same to whoever reads its events.
func (h Held) is(id *InstanceIdentity) bool {
	return h.SourceObjectID == id.SourceObjectID || h.names(id.Schema, id.Table)
}

// names reports whether h is the table of a name.
func (h Held) names(schema, table string) bool { return h.Schema == schema && h.Table == table }

// Name returns the table's name, for people.
func (h Held) Name() string { return h.Schema + "." + h.Table }

// holding are the tables of a reader that are held.
type holding struct {
	// held does not change once made.
	held []Held
	// untold is set when tables have come or gone since the last place was told.
	untold bool
	// tried is when each was tried last, by its name, and why it cannot be read
	// on; none if this reader has not tried yet.
	tried map[string]trial
	// late are the tables that are catching up, one after the other, while the
	// others wait.
	late []*lateTable
}

// trial is an attempt to read a held table on.
type trial struct {
	at  time.Time
	err error
}

// heldRetry is how long after an attempt a held table is tried again, unless the
// set of capture instances changes before.
const heldRetry = time.Minute

// OnHeld is told of a table that is held, and why, whenever that was tried; nil
// once it is read on, or is not to be read any more.
type OnHeld func(h Held, cause error)

// tableError is an error of one table that need not stop the others.
type tableError struct {
	id  InstanceIdentity
	err error
}

func (e *tableError) Error() string { return e.err.Error() }
func (e *tableError) Unwrap() error { return e.err }

// tablesError are those of several.
type tablesError []*tableError

func (e tablesError) Error() string {
	texts := make([]string, len(e))
	for i, of := range e {
		texts[i] = of.Error()
	}
	return strings.Join(texts, "; ")
}

// trouble returns an error of reading the changes of an instance as one of its
// table.
func (t *tracked) trouble(err error) error {
	if sqlserver.Classify(err) == sqlserver.ClassPermission {
		err = sqlserver.NewProblem(sqlserver.ReasonPermission, "the login may not read the changes of table "+t.name(),
			"run GRANT SELECT ON [cdc]."+sqlserver.Quote(t.reader.Instance().ChangeTable)+" TO the login's user", err)
	}
	return &tableError{t.id, err}
}

// holds reports whether a table with an error can be held: whatever it is waits
// in the change table, or is gone, and nothing about the connection is wrong.
// (Where a person wants values that fit no event to end the reading, they do.)
func holds(err error) bool {
	var problem sqlserver.Problem
	if errors.As(err, &problem) {
		switch problem.Reason() {
		case sqlserver.ReasonPermission, event.ReasonEventSchema, ReasonRetentionGap, ReasonInstanceGone, ReasonInstanceReplaced:
			return true
		default:
			return false
		}
	}
	class := sqlserver.Classify(err)
	return class == sqlserver.ClassPermission || class == sqlserver.ClassMissing || errors.Is(err, sqlserver.ErrInstanceGone)
}

// troubles returns the tables that an error is about and that can be held, while
// others are read; nil if it must end the reading.
func (r *Reader) troubles(err error) tablesError {
	var (
		several tablesError
		gaps    *gapsError
		one     *tableError
	)
	switch {
	case r.opts.OnHeld == nil:
		return nil
	case errors.As(err, &several):
		return several
	case errors.As(err, &gaps):
		for _, gap := range gaps.gaps {
			several = append(several, r.gapTrouble(gap, gaps.known))
		}
	case errors.As(err, &one) && holds(one.err):
		several = tablesError{one}
	}
	if len(r.held) > 0 || slices.ContainsFunc(r.tracked, func(t *tracked) bool { return !several.has(&t.id) }) {
		return several
	}
	return nil
}

// has reports whether one of the errors is of a table.
func (e tablesError) has(id *InstanceIdentity) bool {
	return slices.ContainsFunc(e, func(of *tableError) bool { return of.id.SourceObjectID == id.SourceObjectID })
}

// gapTrouble returns a gap as the error of its table. Where a table that was not
// read before begins is left open, so that the gap is found again.
func (r *Reader) gapTrouble(gap *GapError, known []InstanceIdentity) *tableError {
	id := known[slices.IndexFunc(known, func(id InstanceIdentity) bool { return id.includes(gap.objectID) })]
	if !slices.ContainsFunc(r.known, func(old InstanceIdentity) bool { return old.SourceObjectID == id.SourceObjectID }) {
		id.FirstStart = lsn.LSN{}
	}
	return &tableError{id, gap}
}

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

// placeAt returns the place of the reader at a position of its own.
func (r *Reader) placeAt(position lsn.Position) Place { return Place{Position: position, Held: r.held} }

// isHeld reports whether a table is held.
func (r *Reader) isHeld(t *sqlserver.Table) bool {
	id := r.identityOf(t)
	return slices.ContainsFunc(r.held, func(h Held) bool { return h.is(&id) })
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
		if slices.ContainsFunc(r.held, func(h Held) bool { return h.is(&r.known[i]) }) {
			held = append(held, r.known[i])
		}
	}
	return held
}

// holdsStructure reports whether a structure is that of a table that is held.
func (r *Reader) holdsStructure(s *Structure) bool {
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
