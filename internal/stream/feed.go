package stream

import (
	"context"
	"errors"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Operations of a change row.
// Source: MS docs, cdc.<capture_instance>_CT, __$operation.
const (
	opDelete       = 1
	opInsert       = 2
	opUpdateBefore = 3
	opUpdateAfter  = 4
)

// change is one event to be: a change row, or the two of an update.
type change struct {
	op            string
	before, after *sqlserver.ChangeRow
	at            lsn.Position
	rows          int64 // change rows it stands for
}

// last returns the row that the event's position belongs to.
func (c *change) last() *sqlserver.ChangeRow {
	if c.after != nil {
		return c.after
	}
	return c.before
}

// feed is one change table within a pass. It holds the page being read and
// asks for the next one as soon as it has begun with it.
type feed struct {
	tracked *tracked
	fetch   *fetcher
	low     lsn.LSN // first commit LSN to read
	to      lsn.LSN // last one
	share   int     // bytes a page may hold
	limit   int     // rows to ask for

	page  sqlserver.ChangePage // its rows before at have been used
	at    int
	end   bool // no page comes after this one
	reply chan fetched

	head change
}

// before reports whether the feed's next event comes before other's.
func (f *feed) before(other *feed) bool { return f.head.at.Before(other.head.at) }

// advance makes head the next event. It returns false at the end.
func (f *feed) advance(ctx context.Context) (bool, error) {
	row, err := f.row(ctx)
	if row == nil || err != nil {
		return false, err
	}
	switch row.Operation {
	case opInsert:
		f.head = change{op: event.OpCreate, after: row, at: row.Position(), rows: 1}
	case opDelete:
		f.head = change{op: event.OpDelete, before: row, at: row.Position(), rows: 1}
	case opUpdateBefore:
		if f.at == len(f.page.Rows) {
			row = row.Clone() // turning the page gives it back
		}
		after, err := f.row(ctx)
		if err != nil {
			return false, err
		}
		if !isPair(row, after) {
			return false, fmt.Errorf("reading changes of instance %q: the row before an update at %s is not followed by the row after it",
				f.tracked.id.Name, row.Position())
		}
		f.head = change{op: event.OpUpdate, before: row, after: after, at: after.Position(), rows: 2}
	default:
		return false, fmt.Errorf("reading changes of instance %q: the row after an update at %s does not follow the row before it",
			f.tracked.id.Name, row.Position())
	}
	return true, nil
}

// isPair reports whether two rows that follow each other are the images before
// and after one update.
func isPair(before, after *sqlserver.ChangeRow) bool {
	return after != nil && after.Operation == opUpdateAfter && before.Commit == after.Commit &&
		before.Change == after.Change && before.Command == after.Command
}

// row returns the next change row, nil at the end. It is good until the next
// call.
func (f *feed) row(ctx context.Context) (*sqlserver.ChangeRow, error) {
	for f.at == len(f.page.Rows) {
		if f.end {
			f.page.Release()
			f.at = 0
			return nil, nil
		}
		if err := f.turnPage(ctx); err != nil {
			return nil, err
		}
	}
	f.at++
	return &f.page.Rows[f.at-1], nil
}

// turnPage waits for the next page and asks for the one after it.
func (f *feed) turnPage(ctx context.Context) error {
	var reply fetched
	select {
	case reply = <-f.reply:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if reply.err != nil {
		return f.tracked.trouble(f.refused(reply.err))
	}
	// Cleanup moves an instance's low end first and removes rows then: if the
	// low end has not passed the page's beginning by now, the page is whole.
	if need := f.low; reply.page.Low.After(need) && !f.tracked.id.FirstStart.IsZero() {
		return f.tracked.trouble(f.tracked.gap(need, reply.page.Low))
	}
	if err := f.checkColumns(reply.page.Columns); err != nil {
		return err
	}
	n := len(reply.page.Rows)
	f.page.Release()
	f.page, f.at, f.end = reply.page, 0, reply.page.End || n == 0
	if !f.end {
		f.limit = nextLimit(f.limit, f.page.Bytes/n, f.share, f.fetch.size)
		last := f.page.Rows[n-1].Position()
		f.low = last.Commit
		f.request(&last)
	}
	return nil
}

// checkColumns fails if the change table's columns have other types than in the
// pages before. The capture job alters them in place, at any moment.
func (f *feed) checkColumns(columns uint64) error {
	if f.tracked.columns == 0 {
		f.tracked.columns = columns
	}
	if f.tracked.columns != columns {
		return fmt.Errorf("reading changes of instance %q: %w", f.tracked.id.Name, errAltered)
	}
	return nil
}

// refused turns a range that the instance's function refused into what it
// means: changes of it were cleaned away, or the instance had no beginning when
// it was looked at last and has one now.
func (f *feed) refused(err error) error {
	var beyond *sqlserver.RangeError
	switch {
	case !errors.As(err, &beyond) || !beyond.Low.After(f.low):
		return err
	case f.tracked.id.FirstStart.IsZero():
		return fmt.Errorf("%w: %w", errAltered, err)
	default:
		return f.tracked.gap(f.low, beyond.Low)
	}
}

// request asks for the page after a row, or for the first one.
func (f *feed) request(after *lsn.Position) {
	f.fetch.requests <- request{feed: f, query: sqlserver.ChangeQuery{
		From: f.low, To: f.to, After: after, Limit: f.limit, MaxBytes: f.share,
	}}
}

// nextLimit returns the rows to ask for so that a page of rows like those of
// the last one fits a share: asking for what will be cut costs the server work
// and a round trip. It doubles at most, since rows differ.
func nextLimit(last, rowBytes, share, size int) int {
	fit := share / max(rowBytes, 1)
	return max(1, min(fit, 2*last, size))
}
