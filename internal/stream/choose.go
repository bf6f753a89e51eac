package stream

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Choose decides which capture instance of a table is read, given the one that
// was read before (nil: none) and the first commit LSN that has not been
// delivered. It returns nil for a table without instance that was not read
// before.
//
//   - The instance read before is read on for as long as it exists, whatever
//     stands beside it.
//   - If it is gone, another takes its place only if that holds everything
//     that has not been delivered; otherwise that is an [InstanceError]. It is
//     one too if the position goes back, after a crash or a rejection, to where
//     only the instance that was replaced had changes.
//   - A table not read before begins with the newest instance that covers
//     need, because it has the table's newest columns, else with the oldest,
//     which covers most.
func Choose(t *sqlserver.Table, known *InstanceIdentity, need lsn.LSN) (*sqlserver.CaptureInstance, error) {
	if known != nil {
		if at := slices.IndexFunc(t.Instances, known.is); at >= 0 {
			ci := t.Instances[at]
			if known.Replaced != nil && known.FirstStart.After(need) {
				return nil, &InstanceError{Table: t.Source.ID().String(), Old: *known.Replaced, New: ci, Need: need}
			}
			return ci, nil
		}
	}
	for _, ci := range slices.Backward(t.Instances) {
		if !ci.StartLSN.IsZero() && ci.StartLSN.Compare(need) <= 0 {
			return ci, nil
		}
	}
	switch {
	case known == nil && len(t.Instances) == 0:
		return nil, nil
	case known == nil:
		return t.Instances[0], nil
	case len(t.Instances) == 0:
		return nil, &InstanceError{Table: t.Source.ID().String(), Old: *known, Need: need}
	default:
		return nil, &InstanceError{Table: t.Source.ID().String(), Old: *known, New: t.Instances[0], Need: need}
	}
}

// Choice is a capture instance to read.
type Choice struct {
	Table    *sqlserver.Table
	Instance *sqlserver.CaptureInstance
	// Identity is to be stored before the first event of the instance, or the
	// first row of a snapshot after which it is read.
	Identity InstanceIdentity
}

// name returns the table's name, for people.
func (c Choice) name() string { return c.Table.Source.ID().String() }

// ChooseAll decides as [Choose] does which instance of each table is read; a
// table without one is left out.
func ChooseAll(tables []*sqlserver.Table, known []InstanceIdentity, need lsn.LSN) ([]Choice, error) {
	var choices []Choice
	for _, t := range tables {
		before := identityOf(t, known)
		ci, err := Choose(t, before, need)
		if err != nil {
			return nil, err
		}
		if ci != nil {
			choices = append(choices, Choice{Table: t, Instance: ci, Identity: identify(t, ci, before)})
		}
	}
	return choices, nil
}

// identityOf finds what is known of a table: by its instance, which a renamed
// table keeps, else by its name.
func identityOf(t *sqlserver.Table, known []InstanceIdentity) *InstanceIdentity {
	for i := range known {
		if slices.ContainsFunc(t.Instances, known[i].is) {
			return &known[i]
		}
	}
	for i := range known {
		if known[i].Schema == t.Source.Schema && known[i].Table == t.Source.Name {
			return &known[i]
		}
	}
	return nil
}

// lowerBound is the first commit LSN to read from an instance: what has not
// been delivered, but nothing before it began.
func lowerBound(firstStart, need lsn.LSN) lsn.LSN {
	if firstStart.After(need) {
		return firstStart
	}
	return need
}
