package stream

import (
	"context"
	"errors"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// mend does what the error that has ended a pass asks for, so that the next pass
// gets further and should follow at once. It returns an error that it can do
// nothing about.
func (r *Reader) mend(ctx context.Context, err error) (more bool, _ error) {
	switch {
	case errors.Is(err, sqlserver.ErrNoCommandID) && !r.noCommand:
		// The order of the whole database falls back, and the transaction at
		// the position is replayed in it.
		r.opts.Logger.Warn("change rows without command id: ordering by change LSN", "position", r.position.String())
		r.noCommand, r.loaded = true, false
		return true, nil
	case errors.Is(err, errAltered):
		r.opts.Logger.Info("reading the catalogue again", "reason", err.Error())
		r.loaded = false
		return true, nil
	case !r.rechosen && outdated(err):
		r.opts.Logger.Info("choosing between the capture instances again", "reason", err.Error())
		r.rechosen, r.loaded = true, false
		return true, nil
	}
	if gaps := r.gaps(err); gaps != nil {
		return true, r.passOver(ctx, gaps)
	}
	if troubles := r.troubles(err); len(troubles) > 0 {
		return true, r.hold(ctx, troubles)
	}
	return false, r.tellGone(ctx, err)
}

// gaps returns those that an error is about and that are to be passed over; nil
// if there are none.
func (r *Reader) gaps(err error) *gapsError {
	var (
		all *gapsError
		one *GapError
	)
	switch {
	case r.opts.Gaps == GapsFail:
		return nil
	case errors.As(err, &all):
		return all
	case errors.As(err, &one):
		return &gapsError{gaps: []*GapError{one}, known: r.known}
	default:
		return nil
	}
}

// outdated reports whether an error may come from instances that were chosen
// before one of them was dropped, or cleaned while another holds the rest.
func outdated(err error) bool {
	var (
		gap  *GapError
		gaps *gapsError
	)
	another := errors.As(err, &gap) && gap.another ||
		errors.As(err, &gaps) && slices.ContainsFunc(gaps.gaps, func(g *GapError) bool { return g.another })
	return another ||
		errors.Is(err, sqlserver.ErrInstanceGone) || sqlserver.Classify(err) == sqlserver.ClassMissing
}
