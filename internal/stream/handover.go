package stream

import (
	"context"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Completed is a capture instance that was replaced by another, once everything
// that it alone held is delivered, and stored as such: it is not needed any
// more.
type Completed struct {
	Instance InstanceIdentity
	// Stop is the first commit LSN that was read from the instance after it,
	// Saved the position that has passed it.
	Stop  lsn.LSN
	Saved lsn.Position
	// Exists reports whether it can be disabled.
	Exists bool
}

// sayHandover logs the instances that will be gone over to.
func (r *Reader) sayHandover(next []Choice, position lsn.Position) {
	for _, c := range next {
		old := c.Identity.Replaced
		if old == nil || !position.Before(lsn.EndOf(c.Identity.FirstStart)) {
			continue
		}
		if known := IdentityOf(c.Table, r.known); known != nil && sameIdentity(*known, c.Identity) {
			continue
		}
		r.opts.Logger.Info("a newer capture instance takes the place of another",
			"table", c.name(), "instance", c.Identity.Name, "from", c.Identity.FirstStart.String(), "replaces", old.Name)
	}
}

// endHandovers has the choice of instances made again once one has been read
// to its end.
func (r *Reader) endHandovers() {
	for _, t := range r.tracked {
		if !t.until.IsZero() && !t.until.After(firstCommit(r.position)) {
			r.loaded = false
		}
	}
}

// forgetCompleted tells of the instances that are not needed any more, and forgets
// them: a restart cannot go back to where they were read.
func (r *Reader) forgetCompleted(ctx context.Context) error {
	if r.opts.Saved == nil || !r.replaces() {
		return nil
	}
	saved := r.opts.Saved()
	known := Known{Instances: r.forgetRereads(saved), Structures: make([]Structure, len(r.structures))}
	for i := range known.Instances {
		known.Instances[i] = r.forgetInstances(known.Instances[i], saved.of(&known.Instances[i]))
	}
	for i, s := range r.structures {
		if s.Previous != nil && !r.ofStructure(saved, &s).Before(s.At) {
			s.Previous = nil
		}
		known.Structures[i] = s
	}
	if known.same(Known{Instances: r.known, Structures: r.structures}) {
		return nil
	}
	if err := r.store(ctx, r.byCommand, known); err != nil {
		return err
	}
	r.known, r.structures = known.Instances, known.Structures
	return nil
}

// replaces reports whether there is something that may be forgotten.
func (r *Reader) replaces() bool {
	for i := range r.known {
		if r.known[i].Replaced != nil || r.known[i].Reread != nil {
			return true
		}
	}
	for i := range r.structures {
		if r.structures[i].Previous != nil {
			return true
		}
	}
	return false
}

// passed reports whether a position lies behind everything below a commit LSN,
// and not inside that transaction.
func passed(first lsn.LSN, at lsn.Position) bool {
	need := firstCommit(at)
	return first.Before(need) || first == need && !insideTransaction(at)
}

// forgetInstances returns an identity without what it replaced, as far as that
// is not needed.
func (r *Reader) forgetInstances(id InstanceIdentity, saved lsn.Position) InstanceIdentity {
	switch {
	case id.Replaced == nil:
		return id
	case !passed(id.FirstStart, saved):
		rest := r.forgetInstances(*id.Replaced, saved)
		id.Replaced = &rest
		return id
	}
	stop := id.FirstStart
	for old := id.Replaced; old != nil; old = old.Replaced {
		if r.opts.OnCompleted != nil {
			r.opts.OnCompleted(Completed{Instance: *old, Stop: stop, Saved: saved, Exists: r.listed[old.ObjectID]})
		}
		stop = old.FirstStart
	}
	id.Replaced = nil
	return id
}
