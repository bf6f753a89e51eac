package startposition

import (
	"context"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Find returns the LSN after which the stream of a database begins, given the
// tables that are captured and the newest LSN captured. It is a
// [sqlserver.Problem] if changes from there on are held no more.
func (p Position) Find(ctx context.Context, conn *sqlserver.Conn, tables []*sqlserver.Table, newest lsn.LSN) (lsn.LSN, error) {
	return finder{p, conn, tables}.find(ctx, newest)
}

// finder looks for a position in the change tables.
type finder struct {
	at     Position
	conn   *sqlserver.Conn
	tables []*sqlserver.Table
}

// find returns the LSN after which the stream begins, given the newest captured.
func (f finder) find(ctx context.Context, newest lsn.LSN) (lsn.LSN, error) {
	held := f.held(newest)
	first, err := f.firstCommit(ctx, held)
	if err != nil {
		return lsn.LSN{}, err
	}
	if err := f.checkHeld(ctx, first, held); err != nil {
		return lsn.LSN{}, err
	}
	return first.Prev(), nil
}

// held is what the change tables of a database hold.
type held struct {
	from, to lsn.LSN
}

// held returns the least LSN that any captured table holds changes from, zero
// if none has a beginning, and the newest captured.
func (f finder) held(newest lsn.LSN) held {
	h := held{to: newest}
	for _, t := range f.tables {
		if low := lowest(t); !low.IsZero() && (h.from.IsZero() || low.Before(h.from)) {
			h.from = low
		}
	}
	return h
}

// lowest returns the least LSN that a table's instances hold changes from; zero
// if one has no beginning yet, and so has lost nothing.
func lowest(t *sqlserver.Table) lsn.LSN {
	low := t.Instances[0].StartLSN
	for _, ci := range t.Instances[1:] {
		if ci.StartLSN.Before(low) {
			low = ci.StartLSN
		}
	}
	return low
}

// firstCommit returns the first commit LSN to read.
func (f finder) firstCommit(ctx context.Context, held held) (lsn.LSN, error) {
	p := f.at
	switch {
	case p.earliest && (held.from.IsZero() || held.from.After(held.to)):
		return held.to.Next(), nil
	case p.earliest:
		return held.from, nil
	case !p.lsn.IsZero():
		return p.lsn, nil
	}
	before, from, err := f.conn.CommitsAround(ctx, p.time)
	switch {
	case err != nil:
		return lsn.LSN{}, err
	case p.time.After(time.Now().Add(sqlserver.ClockSkew)):
		return lsn.LSN{}, f.problem(ctx, "lies in the future", held)
	case before.IsZero():
		// Nothing before that time is known, so it is before what is held.
		return lsn.LSN{}.Next(), nil
	case from.IsZero():
		return held.to.Next(), nil // what is captured from now on may still be from before
	default:
		return from, nil
	}
}

// checkHeld makes sure that no change from an LSN on has been cleaned away. Of
// a table that was enabled later there are none before.
func (f finder) checkHeld(ctx context.Context, first lsn.LSN, held held) error {
	if first.After(held.to.Next()) {
		return f.problem(ctx, "lies after the newest captured LSN", held)
	}
	if first.Before(held.from) && !held.from.After(held.to) {
		return f.problem(ctx, "lies before all that the change tables hold", held)
	}
	for _, t := range f.tables {
		oldest := t.Instances[0]
		if !lowest(t).After(first) {
			continue
		}
		cleaned, err := stream.Cleaned(ctx, f.conn, oldest)
		if err != nil {
			return err
		}
		if cleaned {
			held.from = oldest.StartLSN
			return f.problem(ctx, fmt.Sprintf("lies before what is left of capture instance %q of table %s", oldest.Name, t.Source.ID()), held)
		}
	}
	return nil
}

// problem says why start_position cannot be begun at, and what is held.
func (f finder) problem(ctx context.Context, what string, held held) error {
	times := make([]string, 2)
	for i, at := range []lsn.LSN{held.from, held.to} {
		commit, found, err := f.conn.CommitTime(ctx, at)
		if err != nil {
			return err
		}
		if found {
			times[i] = fmt.Sprintf(" (%s by the server's clock)", commit.Format("2006-01-02 15:04:05.000"))
		}
	}
	return sqlserver.NewProblem(ReasonNotHeld,
		fmt.Sprintf("start_position %q %s; held are changes from %s%s to %s%s", f.at.text, what, held.from, times[0], held.to, times[1]),
		fmt.Sprintf("set it to a place in between, to %s for all that is held, or to %s", Earliest, Now), nil)
}
