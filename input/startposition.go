package input

import (
	"context"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// reasonStartPosition is the reason of the problem that start_position is not
// in what the change tables hold.
const reasonStartPosition = "start_position"

// The words that start_position may be, beside an LSN and a time.
const (
	startNow      = "now"
	startEarliest = "earliest"
)

// startPosition is where the stream of a database begins that has no stored
// position and no snapshot of rows. The zero value is now.
type startPosition struct {
	text     string
	earliest bool
	lsn      lsn.LSN   // zero: none
	time     time.Time // zero: none
}

// parseStartPosition reads start_position.
func parseStartPosition(text string) (startPosition, error) {
	p := startPosition{text: text}
	switch text {
	case startNow:
		return startPosition{}, nil
	case startEarliest:
		p.earliest = true
		return p, nil
	}
	var err error
	if p.lsn, err = lsn.Parse(text); err == nil && !p.lsn.IsZero() {
		return p, nil
	}
	if p.time, err = time.Parse(time.RFC3339Nano, text); err == nil {
		return p, nil
	}
	return startPosition{}, fmt.Errorf("%q is no start: use %s, %s, an LSN such as 00000027:00000758:0005 or 0x00000027000007580005, or a time such as 2006-01-02T15:04:05Z", text, startNow, startEarliest)
}

// now reports whether the stream begins with what is captured from now on.
func (p startPosition) now() bool { return p == startPosition{} }

// startPosition reads start_position, which snapshot_mode must allow.
func (r *reader) startPosition() startPosition {
	p, err := parseStartPosition(r.string(fieldStartPosition))
	switch {
	case err != nil:
		r.fail(fmt.Errorf("field %s: %w", fieldStartPosition, err))
	case !p.now() && r.string(fieldSnapshotMode) != snapshotNoData:
		r.fail(fmt.Errorf("field %s: %q needs %s: %s: where rows are snapshotted, the stream begins where the snapshot did", fieldStartPosition, p.text, fieldSnapshotMode, snapshotNoData))
	}
	return p
}

// held is what the change tables of a database hold.
type held struct {
	from, to lsn.LSN
}

// held returns the least LSN that any captured table holds changes from, zero
// if none has a beginning, and the newest captured.
func (d *serverDatabase) held(newest lsn.LSN) held {
	h := held{to: newest}
	for _, t := range d.tables {
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

// configuredStart returns the LSN after which the stream begins that
// start_position asks for; zero: after the newest.
func (d *serverDatabase) configuredStart(ctx context.Context) (lsn.LSN, error) {
	if d.cfg.startPosition.now() {
		return lsn.LSN{}, nil
	}
	newest, err := snapshot.AwaitLSN(ctx, d.conn, d.cfg.pollInterval, d.log)
	if err != nil {
		return lsn.LSN{}, err
	}
	held := d.held(newest)
	first, err := d.firstCommit(ctx, held)
	if err != nil {
		return lsn.LSN{}, err
	}
	if err := d.checkHeld(ctx, first, held); err != nil {
		return lsn.LSN{}, err
	}
	d.log.Info("streaming begins at the configured start", "start_position", d.cfg.startPosition.text, "lsn", first.String())
	return first.Prev(), nil
}

// firstCommit returns the first commit LSN to read.
func (d *serverDatabase) firstCommit(ctx context.Context, held held) (lsn.LSN, error) {
	p := d.cfg.startPosition
	switch {
	case p.earliest && held.from.IsZero():
		return held.to.Next(), nil
	case p.earliest:
		return held.from, nil
	case !p.lsn.IsZero():
		return p.lsn, nil
	}
	before, from, err := d.conn.CommitsAround(ctx, p.time)
	switch {
	case err != nil:
		return lsn.LSN{}, err
	case p.time.After(time.Now().Add(clockSkew)):
		return lsn.LSN{}, d.startProblem(ctx, "lies in the future", held)
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
func (d *serverDatabase) checkHeld(ctx context.Context, first lsn.LSN, held held) error {
	if first.After(held.to.Next()) {
		return d.startProblem(ctx, "lies after the newest captured LSN", held)
	}
	if first.Before(held.from) {
		return d.startProblem(ctx, "lies before all that the change tables hold", held)
	}
	for _, t := range d.tables {
		oldest := t.Instances[0]
		if !lowest(t).After(first) {
			continue
		}
		cleaned, err := stream.Cleaned(ctx, d.conn, oldest)
		if err != nil {
			return err
		}
		if cleaned {
			held.from = oldest.StartLSN
			return d.startProblem(ctx, fmt.Sprintf("lies before what is left of capture instance %q of table %s", oldest.Name, t.Source.ID()), held)
		}
	}
	return nil
}

// startProblem says why start_position cannot be begun at, and what is held.
func (d *serverDatabase) startProblem(ctx context.Context, what string, held held) error {
	times := make([]string, 2)
	for i, at := range []lsn.LSN{held.from, held.to} {
		commit, found, err := d.conn.CommitTime(ctx, at)
		if err != nil {
			return err
		}
		if found {
			times[i] = fmt.Sprintf(" (%s by the server's clock)", commit.Format("2006-01-02 15:04:05.000"))
		}
	}
	return sqlserver.NewProblem(reasonStartPosition,
		fmt.Sprintf("%s %q %s; held are changes from %s%s to %s%s", fieldStartPosition, d.cfg.startPosition.text, what, held.from, times[0], held.to, times[1]),
		fmt.Sprintf("set it to a place in between, to %s for all that is held, or to %s", startEarliest, startNow), nil)
}
