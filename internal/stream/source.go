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

// source is one change table within a pass. It holds the page being read and
// asks for the next one as soon as it has begun with it.
type source struct {
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

// before reports whether the source's next event comes before other's.
func (s *source) before(other *source) bool { return s.head.at.Before(other.head.at) }

// advance makes head the next event. It returns false at the end.
func (s *source) advance(ctx context.Context) (bool, error) {
	row, err := s.row(ctx)
	if row == nil || err != nil {
		return false, err
	}
	switch row.Operation {
	case opInsert:
		s.head = change{op: event.OpCreate, after: row, at: row.Position(), rows: 1}
	case opDelete:
		s.head = change{op: event.OpDelete, before: row, at: row.Position(), rows: 1}
	case opUpdateBefore:
		if s.at == len(s.page.Rows) {
			row = row.Clone() // turning the page gives it back
		}
		after, err := s.row(ctx)
		if err != nil {
			return false, err
		}
		if !isPair(row, after) {
			return false, fmt.Errorf("reading changes of instance %q: the row before an update at %s is not followed by the row after it",
				s.tracked.id.Name, row.Position())
		}
		s.head = change{op: event.OpUpdate, before: row, after: after, at: after.Position(), rows: 2}
	default:
		return false, fmt.Errorf("reading changes of instance %q: the row after an update at %s does not follow the row before it",
			s.tracked.id.Name, row.Position())
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
func (s *source) row(ctx context.Context) (*sqlserver.ChangeRow, error) {
	for s.at == len(s.page.Rows) {
		if s.end {
			s.page.Release()
			s.at = 0
			return nil, nil
		}
		if err := s.turn(ctx); err != nil {
			return nil, err
		}
	}
	s.at++
	return &s.page.Rows[s.at-1], nil
}

// turn waits for the next page and asks for the one after it.
func (s *source) turn(ctx context.Context) error {
	var reply fetched
	select {
	case reply = <-s.reply:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if reply.err != nil {
		return s.tracked.trouble(s.refused(reply.err))
	}
	// Cleanup moves an instance's low end first and removes rows then: if the
	// low end has not passed the page's beginning by now, the page is whole.
	if need := s.low; reply.page.Low.After(need) && !s.tracked.id.FirstStart.IsZero() {
		return s.tracked.trouble(s.tracked.gap(need, reply.page.Low))
	}
	if err := s.checkColumns(reply.page.Columns); err != nil {
		return err
	}
	n := len(reply.page.Rows)
	s.page.Release()
	s.page, s.at, s.end = reply.page, 0, reply.page.End || n == 0
	if !s.end {
		s.limit = nextLimit(s.limit, s.page.Bytes/n, s.share, s.fetch.size)
		last := s.page.Rows[n-1].Position()
		s.low = last.Commit
		s.request(&last)
	}
	return nil
}

// checkColumns fails if the change table's columns have other types than in the
// pages before. The capture job alters them in place, at any moment.
func (s *source) checkColumns(columns uint64) error {
	if s.tracked.columns == 0 {
		s.tracked.columns = columns
	}
	if s.tracked.columns != columns {
		return fmt.Errorf("reading changes of instance %q: %w", s.tracked.id.Name, errAltered)
	}
	return nil
}

// refused turns a range that the instance's function refused into what it
// means: changes of it were cleaned away, or the instance had no beginning when
// it was looked at last and has one now.
func (s *source) refused(err error) error {
	var beyond *sqlserver.RangeError
	switch {
	case !errors.As(err, &beyond) || !beyond.Low.After(s.low):
		return err
	case s.tracked.id.FirstStart.IsZero():
		return fmt.Errorf("%w: %w", errAltered, err)
	default:
		return s.tracked.gap(s.low, beyond.Low)
	}
}

// request asks for the page after a row, or for the first one.
func (s *source) request(after *lsn.Position) {
	s.fetch.requests <- request{source: s, query: sqlserver.ChangeQuery{
		From: s.low, To: s.to, After: after, Limit: s.limit, MaxBytes: s.share,
	}}
}

// nextLimit returns the rows to ask for so that a page of rows like those of
// the last one fits a share: asking for what will be cut costs the server work
// and a round trip. It doubles at most, since rows differ.
func nextLimit(last, rowBytes, share, size int) int {
	fit := share / max(rowBytes, 1)
	return max(1, min(fit, 2*last, size))
}
