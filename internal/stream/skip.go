package stream

import (
	"context"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Skipped is a range of changes of a table that were cleaned up before they
// were read, and that was passed over.
type Skipped struct {
	// From is the first commit LSN that had not been delivered, To the first
	// that was read on from.
	From lsn.LSN `json:"from"`
	To   lsn.LSN `json:"to"`
	// At is when it was passed over, in UTC.
	At time.Time `json:"at"`
}

// keptSkips is how many ranges are stored of an instance: the last.
const keptSkips = 20

// OnSkipped is told of changes that are passed over.
type OnSkipped func(table, instance string, s Skipped)

// skips reports whether gaps are passed over.
func (r *Reader) skips() bool { return r.opts.OnSkipped != nil }

// skipGap goes on behind changes that were cleaned up. That is stored before
// anything behind them is read, so it is told of once.
func (r *Reader) skipGap(ctx context.Context, gap *GapError) error {
	known := make([]InstanceIdentity, len(r.known))
	copy(known, r.known)
	skipped := Skipped{From: gap.Need, To: gap.Low, At: time.Now().UTC()}
	for i := range known {
		known[i] = known[i].behind(gap, skipped, r.reads)
	}
	if err := r.store(ctx, r.byCommand, Known{Instances: known, Structures: r.structures}); err != nil {
		return err
	}
	r.known, r.loaded = known, false
	r.opts.OnSkipped(gap.Table, gap.Instance, skipped)
	return nil
}

// reads reports whether an instance is read at present.
func (r *Reader) reads(id *InstanceIdentity) bool {
	for _, t := range r.tracked {
		if t.id.ObjectID == id.ObjectID {
			return true
		}
	}
	return false
}

// behind returns the identity with the instance of a gap read from the gap's
// end on. What that one replaced is left out, unless it is read: it might still
// hold what is missing.
func (id InstanceIdentity) behind(gap *GapError, skipped Skipped, reads func(*InstanceIdentity) bool) InstanceIdentity {
	if id.ObjectID != gap.objectID {
		if id.Replaced != nil {
			replaced := id.Replaced.behind(gap, skipped, reads)
			id.Replaced = &replaced
		}
		return id
	}
	id.FirstStart = gap.Low
	id.Skipped = append(append([]Skipped{}, id.Skipped...), skipped)
	id.Skipped = id.Skipped[max(0, len(id.Skipped)-keptSkips):]
	if id.Replaced != nil && !reads(id.Replaced) {
		id.Replaced = nil
	}
	return id
}
