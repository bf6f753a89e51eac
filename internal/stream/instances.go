package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// instances are the capture instances that a reader reads.
type instances struct {
	loaded        bool
	fingerprint   sqlserver.Fingerprint
	known         []InstanceIdentity
	structures    []Structure
	chosen        []Choice
	tracked       []*tracked
	changedReader *sqlserver.ChangedReader
	byCommand     bool
	noCommand     bool // a change row without command id was met
	// noChangeTables: the login may not read the change tables.
	noChangeTables bool
	// listed are the change tables' object ids that the catalogue had.
	listed map[int32]bool
	// refusedAt is when a newer instance was refused; zero if none is.
	refusedAt time.Time
	// rechosen is set when the instances were chosen again because of an error,
	// until a pass succeeds.
	rechosen bool
}

// refusedFor is how long a refused instance is not looked at again, unless the
// set of instances changes: a right that is granted changes nothing else.
const refusedFor = 5 * time.Minute

// refresh reads the catalogue if the set of instances has changed since, or
// what is read of them, and decides anew what is read.
func (r *Reader) refresh(ctx context.Context, now sqlserver.Fingerprint) error {
	again := !r.refusedAt.IsZero() && time.Since(r.refusedAt) >= refusedFor
	if r.loaded && now == r.fingerprint && !again {
		return nil
	}
	tables, err := r.conn.Catalogue(ctx, r.opts.Selection)
	if err != nil {
		return err
	}
	next, err := r.choose(ctx, tables)
	if err != nil {
		return err
	}
	if r.loaded && now != r.fingerprint {
		clear(r.tried) // what is held may be cured by it
	}
	p, err := r.plan(next, r.orderOf(next))
	if err != nil {
		return err
	}
	if err := r.storePlan(ctx, p); err != nil {
		return err
	}
	r.sayHandover(p.choices, p.position)
	r.sayRenamed(p.choices)
	r.adopt(p, now)
	return nil
}

// orderOf reports whether changes can be ordered by command id: for that, the
// change tables of all instances must have them.
func (r *Reader) orderOf(next []Choice) (byCommand bool) {
	if r.noCommand || r.opts.Function {
		return false
	}
	var without *Choice
	with := false
	for i, c := range next {
		for _, ci := range []*sqlserver.CaptureInstance{c.First(), c.Instance} {
			with = with || ci.HasCommand
			if !ci.HasCommand && without == nil {
				without = &next[i]
			}
		}
	}
	if without == nil {
		return true
	}
	if with && (r.byCommand || !r.loaded) {
		r.opts.Logger.Warn("ordering by change LSN, because a change table has no __$command_id; "+
			"large transactions are slow to read from those that have it: make the instance anew with sys.sp_cdc_enable_table",
			"table", without.name(), "instance", without.First().Name)
	}
	return false
}

// findings are what was found out when it was decided what to read.
type findings struct {
	next     []Choice
	lost     gapsError
	troubles tablesError
}

// choose decides which instances of each table are read.
func (r *Reader) choose(ctx context.Context, tables []*sqlserver.Table) ([]Choice, error) {
	c, err := r.chooseEach(ctx, tables)
	if err != nil {
		return nil, err
	}
	hidden, err := r.checkDropped(ctx, tables)
	if err != nil {
		return nil, err
	}
	switch c.troubles = append(c.troubles, hidden...); {
	case len(c.troubles) == 0:
	case r.opts.OnHeld == nil, len(c.troubles) == 1 && len(c.next) == 0 && len(r.held) == 0:
		return nil, c.troubles[0].err // there is nothing to go on with
	default:
		return nil, c.troubles
	}
	if len(c.lost.gaps) > 0 {
		c.lost.known = append(c.lost.known, r.heldIdentities()...)
		return nil, &c.lost
	}
	r.listed = map[int32]bool{}
	for _, t := range tables {
		for _, ci := range t.Instances {
			r.listed[ci.ObjectID] = true
		}
	}
	return c.next, nil
}

// chooseEach decides it for each table that is not held. An error is one that is
// not about a table alone.
func (r *Reader) chooseEach(ctx context.Context, tables []*sqlserver.Table) (all findings, err error) {
	terms := TermsAt(r.position, !r.opts.Observe)
	terms.Refuse = Refusals(ctx, r.conn, r.opts.Function)
	if r.opts.Selection != nil {
		terms.Wanted = r.opts.Selection.MatchInstance
	}
	r.refusedAt = time.Time{}
	for _, t := range tables {
		if r.isHeldTable(t) {
			continue
		}
		c, gap, err := r.chooseOne(ctx, t, terms)
		var of *tableError
		switch {
		case errors.As(err, &of):
			all.troubles = append(all.troubles, of)
			continue
		case err != nil:
			return all, err
		case c == nil:
			continue
		case gap != nil:
			all.lost.gaps = append(all.lost.gaps, gap)
		}
		all.lost.known = append(all.lost.known, c.Identity)
		all.next = append(all.next, *c)
	}
	return all, nil
}

// chooseOne decides which instances of a table are read; nil if none is.
func (r *Reader) chooseOne(ctx context.Context, t *sqlserver.Table, terms Terms) (*Choice, *GapError, error) {
	known := IdentityOf(t, r.known)
	c, err := Choose(t, known, terms)
	var lost *InstanceError
	switch {
	case errors.As(err, &lost):
		return nil, nil, &tableError{*known, err}
	case c == nil, err != nil:
		return nil, nil, err
	}
	gap, err := r.checkFirst(ctx, *c, terms.Need)
	if err != nil {
		return nil, nil, err
	}
	if err := c.CheckVisible(r.opts.Function); err != nil {
		return nil, nil, &tableError{c.Identity, err}
	}
	if c.Unread != nil {
		r.opts.Remark(c.Remark())
		if !r.opts.Observe {
			r.refusedAt = time.Now()
		}
	}
	return c, gap, nil
}

// cleanedAfter is how much younger than its creation an instance's start must
// be to have been moved by a cleanup: at creation it is the newest LSN.
const cleanedAfter = time.Minute

// Cleaned reports whether an instance has lost changes to a cleanup: then it
// begins later than it was made.
func Cleaned(ctx context.Context, conn Connection, ci *sqlserver.CaptureInstance) (bool, error) {
	at, found, err := conn.CommitTime(ctx, ci.StartLSN)
	return found && at.Sub(ci.CreateDate) > cleanedAfter, err
}

// checkFirst looks at an instance that was not read before, or whose start was
// not known. If it begins behind the position and has been cleaned, changes are
// lost. When nothing at all was read, nothing is missing.
func (r *Reader) checkFirst(ctx context.Context, c Choice, need lsn.LSN) (*GapError, error) {
	known := IdentityOf(c.Table, r.known)
	if r.position.IsZero() || known != nil && !known.FirstStart.IsZero() {
		return nil, nil
	}
	first := c.First()
	behind := first.StartLSN.After(need)
	if behind {
		cleaned, err := Cleaned(ctx, r.conn, first)
		switch {
		case err != nil:
			return nil, err
		case cleaned:
			return &GapError{Table: c.name(), Instance: first.Name, Need: need, Low: first.StartLSN, objectID: first.ObjectID}, nil
		}
	}
	// Without any identity it cannot be told which tables were read before.
	if known == nil && (behind || len(r.known) > 0) {
		// A remark, because this is decided again until it could be stored.
		r.opts.Remark(c.name(), fmt.Sprintf("reading a table that was not read before: its changes are emitted from here on, "+
			"the rows it held before are not; to have them, start afresh with a new snapshot (capture instance %q, from %s)",
			first.Name, lowerBound(first.StartLSN, need)))
	}
	return nil, nil
}

// plan is what is read from now on, and from where.
type plan struct {
	choices   []Choice
	tracked   []*tracked
	byCommand bool
	position  lsn.Position
	// known is to be stored before anything is read by the plan; pending are the
	// changes of structure that it tells of.
	known   Known
	pending []structureChange
}

// plan works out how a choice is read on with.
func (r *Reader) plan(next []Choice, byCommand bool) (*plan, error) {
	p := &plan{choices: next, byCommand: byCommand, position: startingAt(r.position, r.byCommand, byCommand)}
	for _, c := range next {
		both, err := r.track(c, byCommand)
		if err != nil {
			return nil, &tableError{c.Identity, err}
		}
		for _, t := range both {
			if err := t.makeOptional(r.optionalAt(t, p.position)); err != nil {
				return nil, err
			}
		}
		p.tracked = append(p.tracked, both...)
		p.known.Instances = append(p.known.Instances, c.Identity)
		if c.replay && byCommand && insideTransaction(p.position) {
			p.position = replaying(p.position)
		}
	}
	p.known.Instances = append(p.known.Instances, r.heldIdentities()...)
	p.known.Structures, p.pending = r.compareStructures(next, p.position)
	return p, nil
}

// storePlan stores what a plan changes of what is known.
func (r *Reader) storePlan(ctx context.Context, p *plan) error {
	if p.byCommand == r.byCommand && p.known.same(Known{Instances: r.known, Structures: r.structures}) {
		return nil
	}
	return r.store(ctx, p.byCommand, p.known)
}

// adopt makes a plan, which is stored, the present one.
func (r *Reader) adopt(p *plan, now sqlserver.Fingerprint) {
	captures := make([]*sqlserver.CaptureInstance, len(p.tracked))
	for i, t := range p.tracked {
		captures[i] = t.reader.Instance()
	}
	r.changedReader = sqlserver.NewChangedReader(captures)
	r.position, r.pending = p.position, p.pending
	r.known, r.structures, r.byCommand = p.known.Instances, p.known.Structures, p.byCommand
	r.chosen, r.tracked = p.choices, p.tracked
	r.fingerprint, r.loaded = now, true
}

// store tells whoever keeps it what is known from now on.
func (r *Reader) store(ctx context.Context, byCommand bool, known Known) error {
	if r.opts.OnInstances == nil {
		return nil
	}
	if err := r.opts.OnInstances(ctx, byCommand, known); err != nil {
		return fmt.Errorf("storing capture instances: %w", err)
	}
	return nil
}
