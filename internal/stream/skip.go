package stream

import (
	"context"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// GapPolicy decides what becomes of a table whose changes were cleaned up before
// they were read.
type GapPolicy int

// The policies for gaps.
const (
	GapsFail   GapPolicy = iota // a gap is a [*GapError]
	GapsSkip                    // the table is read on from what is left
	GapsReread                  // its rows are read again; see [Options.Reread]
)

// Skipped is a range of changes of a table that were cleaned up before they
// were read, and that was passed over.
type Skipped struct {
	// From is the first commit LSN of which it is not stored that it was
	// delivered, To the first that was read on from.
	From lsn.LSN `json:"from"`
	To   lsn.LSN `json:"to"`
	// At is when it was passed over, in UTC.
	At time.Time `json:"at"`
	// Reread reports that the table's rows were read again, which hold what the
	// changes did, but for rows that were deleted.
	Reread bool `json:"reread,omitempty"`
}

// keptSkips is how many ranges are stored of an instance: the last.
const keptSkips = 20

// OnSkipped is told of changes that are passed over.
type OnSkipped func(table, instance string, s Skipped)

// gapsError is gaps that were found at once.
type gapsError struct {
	gaps []*GapError
	// known are the identities of what is read, also of tables that were not
	// read before.
	known []InstanceIdentity
}

func (e *gapsError) Error() string { return e.gaps[0].Error() }
func (e *gapsError) Unwrap() error { return e.gaps[0] }

// passOver goes on behind changes that were cleaned up. That is stored before
// anything behind them is read, so it is told of once.
func (r *Reader) passOver(ctx context.Context, found *gapsError) error {
	known := make([]InstanceIdentity, len(found.known))
	copy(known, found.known)
	skipped := make([]Skipped, len(found.gaps))
	rereadFrom := r.newest.Next()
	for _, gap := range found.gaps {
		rereadFrom = later(rereadFrom, gap.Low)
	}
	for i, gap := range found.gaps {
		skipped[i] = r.skippedBy(gap)
		if r.opts.Gaps == GapsReread {
			skipped[i].To, skipped[i].Reread = rereadFrom, true
		}
		for j := range known {
			if r.opts.Gaps == GapsReread {
				known[j] = known[j].rereading(gap, skipped[i])
			} else {
				known[j] = known[j].behind(gap, skipped[i], r.reads)
			}
		}
	}
	if err := r.store(ctx, r.byCommand, Known{Instances: known, Structures: r.structures}); err != nil {
		return err
	}
	r.known, r.loaded = known, false
	for i, gap := range found.gaps {
		if r.opts.OnSkipped != nil {
			r.opts.OnSkipped(gap.Table, gap.Instance, skipped[i])
		}
	}
	return nil
}

// skippedBy returns what is passed over because of a gap. Changes before it that
// are not acknowledged are gone as well, if a restart should ask for them.
func (r *Reader) skippedBy(gap *GapError) Skipped {
	s := Skipped{From: gap.Need, To: gap.Low, At: time.Now().UTC()}
	if r.opts.Saved != nil && !gap.first.IsZero() {
		if saved := lowerBound(gap.first, firstCommit(r.opts.Saved().Position)); saved.Before(s.From) {
			s.From = saved
		}
	}
	return s
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
	id.FirstStart = skipped.To
	id.Skipped = id.skips(skipped)
	if id.Replaced != nil && !reads(id.Replaced) {
		id.Replaced = nil
	}
	return id
}

// skips returns what was passed over of an instance, with one more.
func (id *InstanceIdentity) skips(s Skipped) []Skipped {
	all := append(append([]Skipped{}, id.Skipped...), s)
	return all[max(0, len(all)-keptSkips):]
}
