package stream

import (
	"context"
	"fmt"
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
}

// tracked is one capture instance being read.
type tracked struct {
	id      InstanceIdentity
	shape   *schema.Table
	reader  *sqlserver.ChangeReader
	encoder *event.Encoder
	// columns stands for the types of the pages' columns; zero before the
	// first page.
	columns uint64
}

// name returns the table's name, for people.
func (t *tracked) name() string { return t.shape.ID().String() }

// refresh reads the catalogue if the set of instances has changed since.
func (r *Reader) refresh(ctx context.Context, poll sqlserver.Poll) error {
	if r.loaded && poll.Instances == r.fingerprint {
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
	without := slices.IndexFunc(next, func(c Choice) bool { return !c.Instance.HasCommand })
	if without < 0 {
		return true
	}
	if with := slices.ContainsFunc(next, func(c Choice) bool { return c.Instance.HasCommand }); with && (r.byCommand || !r.loaded) {
		r.opts.Logger.Warn("ordering by change LSN, because a change table has no __$command_id; "+
			"large transactions are slow to read from those that have it: make the instance anew with sys.sp_cdc_enable_table",
			"table", next[without].name(), "instance", next[without].Instance.Name)
	}
	return false
}

// choose decides which instance of each table is read.
func (r *Reader) choose(ctx context.Context, tables []*sqlserver.Table) ([]Choice, error) {
	for _, t := range tables {
		if err := t.HiddenChangeTable(); err != nil && !r.opts.Function {
			return nil, err
		}
	}
	need := firstCommit(r.position)
	next, err := ChooseAll(tables, r.known, need)
	if err != nil {
		return nil, err
	}
	for _, c := range next {
		if err := r.checkFirst(ctx, c, need); err != nil {
			return nil, err
		}
	}
	return next, r.checkDropped(ctx, tables)
}

// cleanedAfter is how much younger than its creation an instance's start must
// be to have been moved by a cleanup: at creation it is the newest LSN.
const cleanedAfter = time.Minute

// checkFirst looks at an instance that was not read before, or whose start was
// not known. If it begins behind the position and has been cleaned, changes are
// lost. When nothing at all was read, nothing is missing.
func (r *Reader) checkFirst(ctx context.Context, c Choice, need lsn.LSN) error {
	known := identityOf(c.Table, r.known)
	if r.position.IsZero() || known != nil && !known.FirstStart.IsZero() {
		return nil
	}
	later := c.Instance.StartLSN.After(need)
	if later {
		at, found, err := r.src.CommitTime(ctx, c.Instance.StartLSN)
		if err != nil {
			return err
		}
		if found && at.Sub(c.Instance.CreateDate) > cleanedAfter {
			return &GapError{Table: c.name(), Instance: c.Instance.Name, Need: need, Low: c.Instance.StartLSN}
		}
	}
	// Without any identity it cannot be told which tables were read before.
	if known == nil && (later || len(r.known) > 0) {
		r.opts.Logger.Warn("reading a table that was not read before: its changes are emitted from here on, "+
			"the rows it held before are not; to have them, start afresh with a new snapshot",
			"table", c.name(), "instance", c.Instance.Name, "from", lowerBound(c.Instance.StartLSN, need).String())
	}
	return nil
}

// checkDropped looks for tables that were read, are wanted and are no longer in
// the catalogue. A dropped or renamed one took its change table with it and is
// named. One whose instance is still listed is hidden from the login: going on
// would pass over its changes.
func (r *Reader) checkDropped(ctx context.Context, tables []*sqlserver.Table) error {
	var missing []InstanceIdentity
	for _, id := range r.known {
		kept := slices.ContainsFunc(tables, func(t *sqlserver.Table) bool {
			return t.ObjectID == id.SourceObjectID || t.Source.Schema == id.Schema && t.Source.Name == id.Table
		})
		if !kept && (r.opts.Selection == nil || r.opts.Selection.Match(id.Schema, id.Table)) {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	lows, err := r.src.LowLSNs(ctx)
	if err != nil {
		return err
	}
	for _, id := range missing {
		if _, listed := lows[id.ObjectID]; listed {
			return sqlserver.HiddenTable(id.Schema, id.Table, id.Name)
		}
		r.opts.Logger.Error("table was dropped or renamed; changes of it that were not read yet are lost or no longer wanted",
			"table", id.Schema+"."+id.Table, "instance", id.Name, "position", r.position.String())
	}
	return nil
}

// adopt makes a choice the present one: after this nothing can fail.
func (r *Reader) adopt(ctx context.Context, next []Choice, byCommand bool, fingerprint sqlserver.Fingerprint) error {
	list := make([]*tracked, 0, len(next))
	known := make([]InstanceIdentity, 0, len(next))
	captures := make([]*sqlserver.CaptureInstance, 0, len(next))
	for _, c := range next {
		t, err := r.track(c, byCommand)
		if err != nil {
			return err
		}
		list = append(list, t)
		known = append(known, c.Identity)
		captures = append(captures, t.reader.Instance())
	}
	position := startingAt(r.position, r.byCommand, byCommand)
	structures, pending := r.compareStructures(next, position)
	if byCommand != r.byCommand || !slices.EqualFunc(known, r.known, sameIdentity) || !slices.Equal(structures, r.structures) {
		if err := r.store(ctx, byCommand, Known{known, structures}); err != nil {
			return err
		}
	}
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

// track prepares reading an instance. One that is read already keeps its
// encoder unless the capture job has altered a column of its change table,
// which keeps its object id.
func (r *Reader) track(c Choice, byCommand bool) (*tracked, error) {
	t := &tracked{id: c.Identity, shape: c.Instance.Shape}
	if r.opts.Function {
		t.reader = sqlserver.NewFunctionReader(c.Instance, r.opts.Skipped)
	} else {
		t.reader = sqlserver.NewChangeReader(c.Instance, byCommand, r.opts.Skipped)
	}
	at := slices.IndexFunc(r.tracked, func(old *tracked) bool { return old.id.is(c.Instance) })
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

// sameShape reports whether rows of two table versions look the same.
func sameShape(a, b *schema.Table) bool {
	return a.ID() == b.ID() && slices.Equal(a.Columns, b.Columns) && slices.Equal(a.Key, b.Key)
}

func sameIdentity(a, b InstanceIdentity) bool {
	sameDate := a.CreateDate.Equal(b.CreateDate)
	a.CreateDate, b.CreateDate = time.Time{}, time.Time{}
	return sameDate && a == b
}
