package stream

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Terms are what the choice between the capture instances of a table depends
// on.
type Terms struct {
	// Need is the first commit LSN of which not everything is delivered;
	// Inside reports that some of it is.
	Need   lsn.LSN
	Inside bool
	// Follow goes over to a newer instance from its beginning on. Otherwise the
	// one that is read is read on for as long as it holds what is needed.
	Follow bool
	// Refuse returns why a newer instance cannot take the place of an older
	// one, or nothing; see [Refusals]. Nil refuses none.
	Refuse func(t *sqlserver.Table, old, newer *sqlserver.CaptureInstance) (reason string, err error)
	// Wanted is nil or reports whether an instance of this name is wanted: the
	// tables to choose from have no others.
	Wanted func(instance string) bool
}

// TermsAt returns the terms of reading on after a position.
func TermsAt(at lsn.Position, follow bool) Terms {
	return Terms{Need: firstCommit(at), Inside: insideTransaction(at), Follow: follow}
}

// TermsOfSnapshot are the terms of a table whose rows are still to be read: the
// newest instance does, since whatever was committed before its beginning is in
// the rows.
func TermsOfSnapshot() Terms {
	var last lsn.LSN
	for i := range last {
		last[i] = 0xff
	}
	return Terms{Need: last, Follow: true}
}

// whole returns the first commit LSN of which nothing is delivered.
func (t Terms) whole() lsn.LSN {
	if t.Inside {
		return t.Need.Next()
	}
	return t.Need
}

func (t Terms) refuse(table *sqlserver.Table, old, newer *sqlserver.CaptureInstance) (string, error) {
	if t.Refuse == nil {
		return "", nil
	}
	return t.Refuse(table, old, newer)
}

// Choice is what is read of a table.
type Choice struct {
	Table *sqlserver.Table
	// Instance is read from Identity.FirstStart on.
	Instance *sqlserver.CaptureInstance
	// Before is read up to there; nil if nothing before that is needed.
	Before *sqlserver.CaptureInstance
	// Identity is to be stored before the first event of the instances, or the
	// first row of a snapshot after which they are read.
	Identity InstanceIdentity
	// Unread is a newer instance that is not read, and Reason why; nil if there
	// is none.
	Unread *sqlserver.CaptureInstance
	Reason string

	// replay reports that an instance takes the place of another inside the
	// transaction that is being delivered. Their command ids differ: those of a
	// transaction count its changes over all instances (observed on SQL Server
	// 2022), so one change has another number in each.
	replay bool
}

// First returns the instance that is read first.
func (c Choice) First() *sqlserver.CaptureInstance {
	if c.Before != nil {
		return c.Before
	}
	return c.Instance
}

// CheckVisible makes sure that the change tables to read can be seen, unless the
// instances' functions are asked for changes.
func (c Choice) CheckVisible(function bool) error {
	if function || c.First().ChangeTable != "" && c.Instance.ChangeTable != "" {
		return nil
	}
	return c.Table.HiddenChangeTable()
}

// name returns the table's name, for people.
func (c Choice) name() string { return c.Table.Source.ID().String() }

// Choose decides what is read of a table, given what was read before (nil:
// nothing). It returns nil for a table without instance that was not read
// before.
//
//   - A table not read before begins with the newest instance that holds what
//     is needed, because it has the table's newest columns, else with the
//     oldest, which holds most.
//   - The instance read before is read on. If it is gone, or has lost what is
//     needed, another takes its place, if that holds everything needed; if it is
//     gone and none does, that is an [InstanceError].
//   - A newer instance is gone over to at its beginning: what was committed
//     below is in the older one alone, what was committed from there on is in
//     both, and read from the newer one alone. Never inside a transaction of
//     which some is delivered, nor earlier than was decided before.
func Choose(t *sqlserver.Table, known *InstanceIdentity, terms Terms) (*Choice, error) {
	begun, pending := known.begun(terms.Need)
	choice, err := continued(t, begun, terms)
	if choice == nil || err != nil {
		return nil, err
	}
	if err := choice.follow(pending, terms); err != nil {
		return nil, err
	}
	if known != nil {
		choice.Identity.Reread = known.Reread
	}
	return choice, nil
}

// continued decides which of a table's instances is read on.
func continued(t *sqlserver.Table, begun *InstanceIdentity, terms Terms) (*Choice, error) {
	var current *sqlserver.CaptureInstance
	if begun != nil {
		current = begun.find(t)
	}
	if current != nil && begun.stillHas(current, terms.Need) {
		return resumed(t, current, begun, terms), nil
	}
	other, err := covering(t, begun, current, terms)
	switch {
	case err != nil:
		return nil, err
	case other != nil && begun != nil:
		id := identify(t, other)
		id.FirstStart, id.Replaced = terms.Need, begun
		return &Choice{Table: t, Instance: other, Identity: id, replay: terms.Inside}, nil
	case other != nil:
		return &Choice{Table: t, Instance: other, Identity: identify(t, other)}, nil
	case current != nil:
		return resumed(t, current, begun, terms), nil // what is missing is noticed when it is read
	case begun != nil:
		return nil, instanceError(t, begun, terms)
	case len(t.Instances) == 0:
		return nil, nil
	default:
		return &Choice{Table: t, Instance: t.Instances[0], Identity: identify(t, t.Instances[0])}, nil
	}
}

// resumed is the choice of an instance that was read before.
func resumed(t *sqlserver.Table, current *sqlserver.CaptureInstance, begun *InstanceIdentity, terms Terms) *Choice {
	id := identify(t, current)
	id.Replaced, id.Skipped = begun.Replaced, begun.Skipped
	if !begun.FirstStart.IsZero() {
		id.FirstStart = begun.FirstStart
	}
	// It may be the instance that took another's place inside this transaction.
	replay := terms.Inside && id.Replaced != nil && id.FirstStart == terms.Need
	return &Choice{Table: t, Instance: current, Identity: id, replay: replay}
}

// covering returns the newest instance, other than the current one, that holds
// everything needed. Where another could be read, it must not be refused.
func covering(t *sqlserver.Table, begun *InstanceIdentity, current *sqlserver.CaptureInstance, terms Terms) (*sqlserver.CaptureInstance, error) {
	for i, ci := range slices.Backward(t.Instances) {
		if ci == current || ci.StartLSN.IsZero() || ci.StartLSN.After(terms.Need) {
			continue
		}
		if begun == nil && i > 0 {
			reason, err := terms.refuse(t, t.Instances[0], ci)
			if err != nil {
				return nil, err
			}
			if reason != "" {
				continue
			}
		}
		return ci, nil
	}
	return nil, nil
}

// follow goes over to a newer instance. Pending is the one that it was decided
// to go over to, and has not been begun.
func (c *Choice) follow(pending *InstanceIdentity, terms Terms) error {
	newest := c.Table.Instances[len(c.Table.Instances)-1]
	if newest == c.Instance || newest.StartLSN.IsZero() {
		return nil
	}
	if !terms.Follow {
		c.Unread, c.Reason = newest, "instances that are made later are not gone over to while the one that is read exists"
		return nil
	}
	reason, err := terms.refuse(c.Table, c.Instance, newest)
	if err != nil {
		return err
	}
	if reason != "" {
		c.Unread, c.Reason = newest, reason
		return nil
	}
	before := c.Identity
	id := identify(c.Table, newest)
	// Nothing is read of a table below where that was decided to begin.
	id.FirstStart = later(later(newest.StartLSN, before.FirstStart), terms.whole())
	if pending != nil && pending.is(newest) {
		id.FirstStart = later(id.FirstStart, pending.FirstStart)
	}
	id.Replaced = &before
	if id.FirstStart.After(terms.Need) {
		c.Before = c.Instance
	}
	c.Instance, c.Identity = newest, id
	return nil
}

func instanceError(t *sqlserver.Table, old *InstanceIdentity, terms Terms) error {
	e := &InstanceError{Table: t.Source.ID().String(), Old: *old, Need: terms.Need}
	e.LeftOut = terms.Wanted != nil && !terms.Wanted(old.Name)
	if len(t.Instances) > 0 {
		e.New = t.Instances[0]
	}
	return e
}

// ChooseAll decides as [Choose] does what is read of each table; a table
// without instance is left out.
func ChooseAll(tables []*sqlserver.Table, known []InstanceIdentity, terms Terms) ([]Choice, error) {
	var choices []Choice
	for _, t := range tables {
		c, err := Choose(t, IdentityOf(t, known), terms)
		if err != nil {
			return nil, err
		}
		if c != nil {
			choices = append(choices, *c)
		}
	}
	return choices, nil
}

// lowerBound is the first commit LSN to read from an instance: what has not
// been delivered, but nothing before it began.
func lowerBound(firstStart, need lsn.LSN) lsn.LSN { return later(firstStart, need) }

// later returns the greater of two LSNs.
func later(a, b lsn.LSN) lsn.LSN {
	if a.After(b) {
		return a
	}
	return b
}
