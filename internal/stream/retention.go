package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// checkRetention fails if an instance has lost changes that were not
// delivered. Cleanup moves an instance's start LSN first and takes its changes
// then: what was not there before the start LSNs were read was not cleaned away
// if they do not lie beyond it.
func (r *Reader) checkRetention(ctx context.Context, highestStart, need lsn.LSN) error {
	if !highestStart.After(need) {
		return nil
	}
	lows, err := r.conn.LowLSNs(ctx)
	if err != nil {
		return err
	}
	lost := &gapsError{known: r.known}
	for _, t := range r.tracked {
		low, listed := lows[t.id.ObjectID]
		if !listed {
			return t.trouble(fmt.Errorf("checking retention of instance %q: %w", t.id.Name, sqlserver.ErrInstanceGone))
		}
		if from := lowerBound(t.id.FirstStart, need); low.After(from) && !t.id.FirstStart.IsZero() {
			lost.gaps = append(lost.gaps, t.gap(from, low))
		}
	}
	if len(lost.gaps) > 0 {
		return lost
	}
	return nil
}

// asksForChanges reports whether a pass asks which tables have changes before
// it reads them, and checks their retention then: of one table, asking costs
// what reading does. Asking reads the change tables, which a login that has
// the functions alone may not.
func (r *Reader) asksForChanges() bool {
	hidden := func(t *tracked) bool { return t.reader.Instance().ChangeTable == "" }
	return len(r.tracked) > 1 && !r.noChangeTables && !slices.ContainsFunc(r.tracked, hidden)
}

// changed returns the tables with changes in a range.
func (r *Reader) changed(ctx context.Context, from, to lsn.LSN) ([]*tracked, error) {
	if !r.asksForChanges() {
		return r.tracked, nil
	}
	changes, err := r.conn.Changed(ctx, r.changedReader, from, to)
	var problem sqlserver.Problem
	if r.opts.Function && errors.As(err, &problem) && problem.Reason() == sqlserver.ReasonPermission {
		r.noChangeTables = true
		return r.tracked, nil
	}
	if err != nil && canHold(err) {
		return r.tracked, nil // each says for itself what is wrong with it
	}
	if err != nil {
		return nil, err
	}
	// A table without changes is not looked at again in this pass.
	if err := r.checkRetention(ctx, changes.HighestStart, from); err != nil {
		return nil, err
	}
	tables := make([]*tracked, 0, len(changes.Instances))
	for _, i := range changes.Instances {
		tables = append(tables, r.tracked[i])
	}
	return tables, nil
}
