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
	tracked       []*tracked
	changedReader *sqlserver.ChangedReader
	byCommand     bool
	noCommand     bool // a change row without command id was met
}

// tracked is one capture instance being read.
type tracked struct {
	id      InstanceIdentity
	shape   *schema.Table
	reader  *sqlserver.ChangeReader
	encoder *event.Encoder
}

// name returns the table's name, for people.
func (t *tracked) name() string { return t.shape.ID().String() }

// refresh reads the catalogue if the set of instances has changed since.
func (r *Reader) refresh(ctx context.Context, poll sqlserver.Poll) error {
	if r.loaded && poll.Instances == r.fingerprint {
		return nil
	}
	tables, err := r.src.Catalogue(ctx, r.opts.Match)
	if err != nil {
		return err
	}
	next, err := r.choose(ctx, tables)
	if err != nil {
		return err
	}
	byCommand := !r.noCommand && !slices.ContainsFunc(next, func(c chosen) bool { return !c.instance.HasCommand })
	return r.adopt(ctx, next, byCommand, poll.Instances)
}

// chosen is an instance to read, with its identity.
type chosen struct {
	id       InstanceIdentity
	instance *sqlserver.CaptureInstance
}

// choose decides which instance of each table is read.
func (r *Reader) choose(ctx context.Context, tables []*sqlserver.Table) ([]chosen, error) {
	need := firstCommit(r.position)
	var next []chosen
	for _, t := range tables {
		known := identityOf(t, r.known)
		ci, err := Choose(t, known, need)
		if err != nil {
			return nil, err
		}
		if ci == nil {
			continue
		}
		id := identify(t, ci)
		switch {
		case known == nil || !known.is(ci):
			if err := r.checkNew(ctx, t, ci, need); err != nil {
				return nil, err
			}
		case !known.FirstStart.IsZero():
			id.FirstStart = known.FirstStart
		}
		next = append(next, chosen{id, ci})
	}
	r.sayDropped(tables)
	return next, nil
}

// cleanedAfter is how much younger than its creation an instance's start must
// be to have been moved by a cleanup: at creation it is the newest LSN.
const cleanedAfter = time.Minute

// checkNew fails if an instance that was made after others were read, and is
// seen for the first time, has been cleaned since. When nothing was read
// before, the position is where a snapshot or the caller's choice put it, and
// an instance has nothing to lose that is wanted.
func (r *Reader) checkNew(ctx context.Context, t *sqlserver.Table, ci *sqlserver.CaptureInstance, need lsn.LSN) error {
	if len(r.known) == 0 || !ci.StartLSN.After(need) {
		return nil
	}
	at, found, err := r.src.CommitTime(ctx, ci.StartLSN)
	if err != nil {
		return err
	}
	if found && at.Sub(ci.CreateDate) > cleanedAfter {
		return &GapError{Table: t.Source.ID().String(), Instance: ci.Name, Need: need, Low: ci.StartLSN}
	}
	r.opts.Logger.Warn("reading a capture instance enabled since; rows that the table held before are not emitted",
		"table", t.Source.ID().String(), "instance", ci.Name, "start_lsn", ci.StartLSN.String())
	return nil
}

// sayDropped names tables that were read and are no longer there, though they
// are wanted: their change tables went with them.
func (r *Reader) sayDropped(tables []*sqlserver.Table) {
	for _, id := range r.known {
		kept := slices.ContainsFunc(tables, func(t *sqlserver.Table) bool {
			return t.ObjectID == id.SourceObjectID || t.Source.Schema == id.Schema && t.Source.Name == id.Table
		})
		if !kept && (r.opts.Match == nil || r.opts.Match(id.Schema, id.Table)) {
			r.opts.Logger.Error("table was dropped or renamed; changes of it that were not read yet are lost or no longer wanted",
				"table", id.Schema+"."+id.Table, "instance", id.Name, "position", r.position.String())
		}
	}
}

// adopt makes a choice the present one: after this nothing can fail.
func (r *Reader) adopt(ctx context.Context, next []chosen, byCommand bool, fingerprint sqlserver.Fingerprint) error {
	list := make([]*tracked, 0, len(next))
	known := make([]InstanceIdentity, 0, len(next))
	captures := make([]*sqlserver.CaptureInstance, 0, len(next))
	for _, c := range next {
		t, err := r.track(c, byCommand)
		if err != nil {
			return err
		}
		list = append(list, t)
		known = append(known, c.id)
		captures = append(captures, t.reader.Instance())
	}
	changed := byCommand != r.byCommand || !slices.EqualFunc(known, r.known, sameIdentity)
	if changed && r.opts.OnInstances != nil {
		if err := r.opts.OnInstances(ctx, byCommand, known); err != nil {
			return fmt.Errorf("storing capture instances: %w", err)
		}
	}
	r.position = startingAt(r.position, r.byCommand, byCommand)
	r.tracked, r.known, r.byCommand = list, known, byCommand
	r.changedReader = sqlserver.NewChangedReader(captures)
	r.fingerprint, r.loaded = fingerprint, true
	return nil
}

// track prepares reading an instance. One that is read already keeps its
// structure: an instance's columns do not change.
func (r *Reader) track(c chosen, byCommand bool) (*tracked, error) {
	at := slices.IndexFunc(r.tracked, func(t *tracked) bool { return t.id.is(c.instance) })
	if at >= 0 {
		t := *r.tracked[at]
		t.id = c.id
		if byCommand != r.byCommand {
			t.reader = sqlserver.NewChangeReader(t.reader.Instance(), byCommand)
		}
		return &t, nil
	}
	encoder, err := r.opts.Encoder(c.instance.Shape)
	if err != nil {
		return nil, fmt.Errorf("preparing table %s: %w", c.instance.Shape.ID(), err)
	}
	return &tracked{
		id: c.id, shape: c.instance.Shape, encoder: encoder,
		reader: sqlserver.NewChangeReader(c.instance, byCommand),
	}, nil
}

func sameIdentity(a, b InstanceIdentity) bool {
	sameDate := a.CreateDate.Equal(b.CreateDate)
	a.CreateDate, b.CreateDate = time.Time{}, time.Time{}
	return sameDate && a == b
}
