package stream

import (
	"context"
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
func (t *tracked) gap(need, low lsn.LSN) error {
	return &GapError{Table: t.name(), Instance: t.id.Name, Need: need, Low: low, another: len(t.table.Instances) > 1, objectID: t.id.ObjectID}
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
	tables, err := r.src.Catalogue(ctx, r.opts.Selection)
	if err != nil {
		return err
	}
	next, err := r.choose(ctx, tables)
	if err != nil {
		return r.tellGone(ctx, err)
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
	terms.Refuse = Refusals(ctx, r.src, r.opts.Function)
	next, err := ChooseAll(tables, r.known, terms)
	if err != nil {
		return nil, err
	}
	r.refusedAt = time.Time{}
	for _, c := range next {
		if err := c.CheckVisible(r.opts.Function); err != nil {
			return nil, err
		}
		if err := r.checkFirst(ctx, c, terms.Need); err != nil {
			return nil, err
		}
		if c.Unread != nil {
			r.opts.Remark(c.Remark())
		}
		if c.Unread != nil && !r.opts.Observe {
			r.refusedAt = time.Now()
		}
	}
	r.listed = map[int32]bool{}
	for _, t := range tables {
		for _, ci := range t.Instances {
			r.listed[ci.ObjectID] = true
		}
	}
	return next, r.checkDropped(ctx, tables)
}

// cleanedAfter is how much younger than its creation an instance's start must
// be to have been moved by a cleanup: at creation it is the newest LSN.
const cleanedAfter = time.Minute

// Cleaned reports whether an instance has lost changes to a cleanup: then it
// begins later than it was made.
func Cleaned(ctx context.Context, src Source, ci *sqlserver.CaptureInstance) (bool, error) {
	at, found, err := src.CommitTime(ctx, ci.StartLSN)
	return found && at.Sub(ci.CreateDate) > cleanedAfter, err
}

// checkFirst looks at an instance that was not read before, or whose start was
// not known. If it begins behind the position and has been cleaned, changes are
// lost. When nothing at all was read, nothing is missing.
func (r *Reader) checkFirst(ctx context.Context, c Choice, need lsn.LSN) error {
	known := IdentityOf(c.Table, r.known)
	if r.position.IsZero() || known != nil && !known.FirstStart.IsZero() {
		return nil
	}
	first := c.First()
	behind := first.StartLSN.After(need)
	if behind {
		cleaned, err := Cleaned(ctx, r.src, first)
		if err != nil {
			return err
		}
		if cleaned {
			gap := &GapError{Table: c.name(), Instance: first.Name, Need: need, Low: first.StartLSN, objectID: first.ObjectID}
			if !r.skips() {
				return gap
			}
			// It is read from its beginning on anyway, and that is stored.
			r.opts.OnSkipped(gap.Table, gap.Instance, Skipped{From: gap.Need, To: gap.Low, At: time.Now().UTC()})
			return nil
		}
	}
	// Without any identity it cannot be told which tables were read before.
	if known == nil && (behind || len(r.known) > 0) {
		r.opts.Logger.Warn("reading a table that was not read before: its changes are emitted from here on, "+
			"the rows it held before are not; to have them, start afresh with a new snapshot",
			"table", c.name(), "instance", first.Name, "from", lowerBound(first.StartLSN, need).String())
	}
	return nil
}

// checkDropped looks for tables that were read, are wanted and are no longer in
// the catalogue. A dropped or renamed one took its change table with it and is
// named. One whose instance is still listed is hidden from the login: going on
// would pass over its changes. That one is looked for twice, because tables and
// instances are not listed at the same moment.
func (r *Reader) checkDropped(ctx context.Context, tables []*sqlserver.Table) error {
	missing := r.missing(tables)
	if len(missing) == 0 {
		return nil
	}
	lows, err := r.src.LowLSNs(ctx)
	if err != nil {
		return err
	}
	for _, id := range missing {
		if _, listed := lows[id.ObjectID]; listed {
			return r.checkHidden(ctx, id)
		}
		r.opts.Logger.Error("table was dropped or renamed; changes of it that were not read yet are lost or no longer wanted",
			"table", id.Schema+"."+id.Table, "instance", id.Name, "position", r.position.String())
	}
	return nil
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
	tables, err := r.src.Catalogue(ctx, r.opts.Selection)
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
			return err
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
	structures, pending := r.compareStructures(next, position)
	told := Known{Instances: known, Structures: structures}
	if byCommand != r.byCommand || !told.same(Known{Instances: r.known, Structures: r.structures}) {
		if err := r.store(ctx, byCommand, told); err != nil {
			return err
		}
	}
	r.sayHandover(next, position)
	r.position, r.structures, r.pending = position, structures, pending
	r.tracked, r.known, r.byCommand = list, known, byCommand
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
