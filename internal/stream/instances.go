package stream

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
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

// tracked is one capture instance being read.
type tracked struct {
	id InstanceIdentity
	// until is the first commit LSN that is read from a newer instance; zero if
	// there is none.
	until   lsn.LSN
	table   *sqlserver.Table
	shape   *schema.Table
	reader  *sqlserver.ChangeReader
	encoder *event.Encoder
	// optional are the columns of which consumers know that their fields became
	// optional.
	optional []string
	// columns stands for the types of the pages' columns; zero before the
	// first page.
	columns uint64
}

// name returns the table's name, for people.
func (t *tracked) name() string { return t.shape.ID().String() }

// gap is the error of changes that were needed from a commit LSN on.
func (t *tracked) gap(need, low lsn.LSN) *GapError {
	return &GapError{
		Table: t.name(), Instance: t.id.Name, Need: need, Low: low, another: len(t.table.Instances) > 1,
		objectID: t.id.ObjectID, first: t.id.FirstStart,
	}
}

// refusedFor is how long a refused instance is not looked at again, unless the
// set of instances changes: a right that is granted changes nothing else.
const refusedFor = 5 * time.Minute

// refresh reads the catalogue if the set of instances has changed since, or
// what is read of them.
func (r *Reader) refresh(ctx context.Context, poll sqlserver.Poll) error {
	again := !r.refusedAt.IsZero() && time.Since(r.refusedAt) >= refusedFor
	if r.loaded && poll.Instances == r.fingerprint && !again {
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
	if r.loaded && poll.Instances != r.fingerprint {
		clear(r.tried) // what is held may be cured by it
	}
	return r.adopt(ctx, next, r.orderOf(next), poll.Instances)
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

// choose decides which instances of each table are read.
func (r *Reader) choose(ctx context.Context, tables []*sqlserver.Table) ([]Choice, error) {
	terms := TermsAt(r.position, !r.opts.Observe)
	terms.Refuse = Refusals(ctx, r.conn, r.opts.Function)
	r.refusedAt = time.Time{}
	var (
		next     []Choice
		lost     gapsError
		troubles tablesError
	)
	for _, t := range tables {
		if r.isHeldTable(t) {
			continue
		}
		c, gap, err := r.chooseOne(ctx, t, terms)
		var of *tableError
		switch {
		case errors.As(err, &of):
			troubles = append(troubles, of)
			continue
		case err != nil:
			return nil, err
		case c == nil:
			continue
		case gap != nil:
			lost.gaps = append(lost.gaps, gap)
		}
		lost.known = append(lost.known, c.Identity)
		next = append(next, *c)
	}
	hidden, err := r.checkDropped(ctx, tables)
	if err != nil {
		return nil, err
	}
	switch troubles = append(troubles, hidden...); {
	case len(troubles) == 0:
	case r.opts.OnHeld == nil, len(troubles) == 1 && len(next) == 0 && len(r.held) == 0:
		return nil, troubles[0].err // there is nothing to go on with
	default:
		return nil, troubles
	}
	if len(lost.gaps) > 0 {
		lost.known = append(lost.known, r.heldIdentities()...)
		return nil, &lost
	}
	r.listed = map[int32]bool{}
	for _, t := range tables {
		for _, ci := range t.Instances {
			r.listed[ci.ObjectID] = true
		}
	}
	return next, nil
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

// checkDropped looks for tables that were read, are wanted and are no longer in
// the catalogue. A dropped or renamed one took its change table with it and is
// named. One whose instance is still listed is hidden from the login: going on
// would pass over its changes. That one is looked for twice, because tables and
// instances are not listed at the same moment.
func (r *Reader) checkDropped(ctx context.Context, tables []*sqlserver.Table) (hidden tablesError, err error) {
	missing := r.missing(tables)
	r.releaseUnwanted(tables, missing)
	if len(missing) == 0 {
		return nil, nil
	}
	lows, err := r.conn.LowLSNs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range missing {
		held := func(h Held) bool { return h.is(&id) }
		if _, listed := lows[id.ObjectID]; listed {
			if slices.ContainsFunc(r.held, held) {
				continue
			}
			err := r.checkHidden(ctx, id)
			if !canHold(err) {
				return nil, err
			}
			hidden = append(hidden, &tableError{id, err})
			continue
		}
		r.opts.Logger.Error("table was dropped or renamed; changes of it that were not read yet are lost or no longer wanted",
			"table", id.Schema+"."+id.Table, "instance", id.Name, "position", r.position.String())
		r.release(held)
	}
	return hidden, nil
}

// missing returns what was read, is wanted and is not among some tables, by id
// or by name.
func (r *Reader) missing(tables []*sqlserver.Table) (missing []InstanceIdentity) {
	for _, id := range r.known {
		kept := slices.ContainsFunc(tables, func(t *sqlserver.Table) bool {
			return t.ObjectID == id.SourceObjectID || t.Source.Schema == id.Schema && t.Source.Name == id.Table
		})
		if !kept && (r.opts.Selection == nil || r.opts.Selection.Match(id.Schema, id.Table)) {
			missing = append(missing, id)
		}
	}
	return missing
}

// checkHidden fails with the problem of a table that was missing, if it still
// is, and else so that the catalogue is read again.
func (r *Reader) checkHidden(ctx context.Context, id InstanceIdentity) error {
	tables, err := r.conn.Catalogue(ctx, r.opts.Selection)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(r.missing(tables), func(m InstanceIdentity) bool { return m.ObjectID == id.ObjectID }) {
		return sqlserver.HiddenTable(id.Schema, id.Table, id.Name)
	}
	return fmt.Errorf("reading instance %q: table %s.%s is back: %w", id.Name, id.Schema, id.Table, errAltered)
}

// adopt makes a choice the present one: after this nothing can fail.
func (r *Reader) adopt(ctx context.Context, next []Choice, byCommand bool, fingerprint sqlserver.Fingerprint) error {
	var (
		list     []*tracked
		known    []InstanceIdentity
		captures []*sqlserver.CaptureInstance
	)
	position := startingAt(r.position, r.byCommand, byCommand)
	for _, c := range next {
		both, err := r.track(c, byCommand)
		if err != nil {
			return &tableError{c.Identity, err}
		}
		for _, t := range both {
			if err := t.makeOptional(r.optionalAt(t, position)); err != nil {
				return err
			}
			list = append(list, t)
			captures = append(captures, t.reader.Instance())
		}
		known = append(known, c.Identity)
		if c.replay && byCommand && insideTransaction(position) {
			position = replaying(position)
		}
	}
	known = append(known, r.heldIdentities()...)
	structures, pending := r.compareStructures(next, position)
	told := Known{Instances: known, Structures: structures}
	if byCommand != r.byCommand || !told.same(Known{Instances: r.known, Structures: r.structures}) {
		if err := r.store(ctx, byCommand, told); err != nil {
			return err
		}
	}
	r.sayHandover(next, position)
	r.position, r.structures, r.pending = position, structures, pending
	r.chosen, r.tracked, r.known, r.byCommand = next, list, known, byCommand
	r.changedReader = sqlserver.NewChangedReader(captures)
	r.fingerprint, r.loaded = fingerprint, true
	return nil
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

// track prepares reading the instances of a choice.
func (r *Reader) track(c Choice, byCommand bool) ([]*tracked, error) {
	now, err := r.trackOne(c.Table, c.Instance, c.Identity, byCommand)
	if err != nil || c.Before == nil {
		return []*tracked{now}, err
	}
	before, err := r.trackOne(c.Table, c.Before, *c.Identity.Replaced, byCommand)
	if err != nil {
		return nil, err
	}
	before.until = c.Identity.FirstStart
	return []*tracked{before, now}, nil
}

// trackOne prepares reading an instance. One that is read already keeps its
// encoder unless the capture job has altered a column of its change table,
// which keeps its object id.
func (r *Reader) trackOne(table *sqlserver.Table, ci *sqlserver.CaptureInstance, id InstanceIdentity, byCommand bool) (*tracked, error) {
	t := &tracked{id: id, table: table, shape: ci.Shape}
	if r.opts.Function {
		t.reader = sqlserver.NewFunctionReader(ci, r.opts.Skipped)
	} else {
		t.reader = sqlserver.NewChangeReader(ci, byCommand, r.opts.Skipped)
	}
	at := slices.IndexFunc(r.tracked, func(old *tracked) bool { return old.id.is(ci) })
	if at >= 0 && sameShape(r.tracked[at].shape, t.shape) {
		t.encoder = r.tracked[at].encoder
		return t, nil
	}
	var err error
	if t.encoder, err = r.opts.Encoder(t.shape); err != nil {
		return nil, fmt.Errorf("preparing table %s: %w", t.name(), err)
	}
	return t, nil
}

// sameShape reports whether rows of two table versions look the same. Defaults
// may be values that cannot be compared by ==.
func sameShape(a, b *schema.Table) bool { return reflect.DeepEqual(a, b) }
