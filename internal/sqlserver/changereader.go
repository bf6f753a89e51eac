package sqlserver

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// ErrNoCommandID is a change row without __$command_id in a change table that
// has the column: it was made before the column was added.
var ErrNoCommandID = errors.New("change row has no command id")

// ErrInstanceGone is a capture instance that the catalogue no longer lists.
var ErrInstanceGone = errors.New("capture instance is gone")

// Every change statement returns these columns before the captured ones.
const changeMeta = 5

// ChangeReader holds the statements that read a change table, or ask a capture
// instance's function for its rows. Their texts never change. It is immutable.
type ChangeReader struct {
	instance  *CaptureInstance
	byCommand bool
	function  bool
	columns   int
	first     string
	next      string
}

// NewChangeReader prepares reading a change table in the order of its clustered
// index: commit LSN, command id, change LSN, operation; without command ids if
// byCommand is false. Rows with an __$operation of skipped are left out.
//
// A change table that has command ids and is read without them, because another
// one lacks them, has an index that does not give this order: the server sorts
// what remains of the range for every page, so the cost of a range grows with
// the square of its rows. It is right, and slow, until all instances have the
// column.
func NewChangeReader(ci *CaptureInstance, byCommand bool, skipped []int) *ChangeReader {
	r := &ChangeReader{instance: ci, byCommand: byCommand}
	table := "[cdc]." + Quote(ci.ChangeTable)
	r.prepare(skipped, func(string) string { return table })
	return r
}

// prepare writes the statements. Rows returns what to select from, up to a
// commit LSN.
func (r *ChangeReader) prepare(skipped []int, rows func(to string) string) {
	list := []string{"[__$start_lsn]", "[__$seqval]", "[__$operation]", "[__$update_mask]", "[__$command_id]"}
	order := "[__$start_lsn], [__$command_id], [__$seqval], [__$operation]"
	beyond := "[__$command_id] >= @p3 AND ([__$command_id] > @p3 OR [__$seqval] > @p4 OR ([__$seqval] = @p4 AND [__$operation] > @p5))"
	if !r.byCommand {
		list[changeMeta-1] = "@p3"
		order = "[__$start_lsn], [__$seqval], [__$operation]"
		beyond = "[__$seqval] >= @p4 AND ([__$seqval] > @p4 OR [__$operation] > @p5)"
	}
	for _, col := range r.instance.Shape.Columns {
		list = append(list, Quote(col.Name))
	}
	r.columns = len(list)
	columns := strings.Join(list, ", ")
	from := func(to string) string { return " FROM " + rows(to) + " WHERE " + notSkipped(skipped) }
	low := "SELECT start_lsn FROM cdc.change_tables WHERE object_id = @p7;"

	r.first = "SELECT TOP (@p1) " + columns + from("@p6") +
		"[__$start_lsn] >= @p2 AND [__$start_lsn] <= @p6 ORDER BY " + order + "; " + low
	// Two ranges of the index, one after the other: the rest of the
	// transaction, and what comes after it. Joined by OR they could cost a
	// read from the beginning of the transaction for every page.
	r.next = "DECLARE @r bigint; SELECT TOP (@p1) " + columns + from("@p2") +
		"[__$start_lsn] = @p2 AND " + beyond + " ORDER BY " + order + ";" + countPart("@@ROWCOUNT") +
		" IF @r < @p1 SELECT TOP (@p1 - @r) " + columns + from("@p6") +
		"[__$start_lsn] > @p2 AND [__$start_lsn] <= @p6 ORDER BY " + order + "; " + low
}

// notSkipped is the condition that leaves operations out.
func notSkipped(operations []int) string {
	if len(operations) == 0 {
		return ""
	}
	numbers := make([]string, len(operations))
	for i, op := range operations {
		numbers[i] = strconv.Itoa(op)
	}
	return "[__$operation] NOT IN (" + strings.Join(numbers, ", ") + ") AND "
}

// ByCommand reports whether rows come in the order of command ids.
func (r *ChangeReader) ByCommand() bool { return r.byCommand }

// Instance returns the instance that is read.
func (r *ChangeReader) Instance() *CaptureInstance { return r.instance }

// ChangeQuery asks for one page of changes.
type ChangeQuery struct {
	// From and To bound the commit LSNs, inclusively.
	From, To lsn.LSN
	// After continues after a row of an earlier page; nil reads the first.
	After *lsn.Position
	// A page ends after Limit rows, or with the row that makes it hold
	// MaxBytes.
	Limit, MaxBytes int
}

// ChangePage is a run of change rows. A reader that is done with one should
// release it: the next pages are read into its memory.
type ChangePage struct {
	Rows []ChangeRow
	// End reports that no rows come after the page.
	End bool
	// Low is the instance's start_lsn after the page was read: if it lies
	// beyond what the page should have begun with, cleanup may have taken rows
	// of it.
	Low lsn.LSN
	// Bytes is about what the rows take in memory.
	Bytes int
	// Columns stands for the types of the columns, as the page came with them:
	// another number is another type of one.
	Columns uint64

	buffer *pageBuffer
}

// Release gives back the memory of the rows, which must not be used any more.
// What their values point to stays.
func (p *ChangePage) Release() {
	if p.buffer != nil {
		p.buffer.release()
		clear(p.Rows)
		rows := p.Rows[:0]
		changeRows.Put(&rows)
	}
	*p = ChangePage{}
}

// changeRows holds the cleared rows of released pages.
var changeRows sync.Pool // of *[]ChangeRow

// newChangeRows returns n zero rows.
func newChangeRows(n int) []ChangeRow {
	if rows, ok := changeRows.Get().(*[]ChangeRow); ok && cap(*rows) >= n {
		return (*rows)[:n]
	}
	return make([]ChangeRow, n)
}

// ReadChanges reads one page of a change table.
func (c *Conn) ReadChanges(ctx context.Context, r *ChangeReader, q ChangeQuery) (ChangePage, error) {
	var page ChangePage
	err := Retry(ctx, func() (err error) {
		page, err = c.readChanges(ctx, r, q)
		if r.function && err != nil {
			page, err = c.explainRefusal(ctx, r, q, err)
		}
		return err
	})
	if err != nil {
		return ChangePage{}, fmt.Errorf("reading changes of instance %q: %w", r.instance.Name, err)
	}
	return page, nil
}

func (c *Conn) readChanges(ctx context.Context, r *ChangeReader, q ChangeQuery) (ChangePage, error) {
	text, at := r.first, lsn.Position{Commit: q.From}
	switch {
	case r.function && q.From.After(q.To):
		// The instance begins after the range. The function takes no empty one.
		low, err := c.lowLSN(ctx, r.instance.ObjectID)
		return ChangePage{Low: low, End: true}, err
	case q.After != nil:
		text, at = r.next, *q.After
	}
	rows, err := c.Query(ctx, text, int64(q.Limit), at.Commit[:], at.Command, at.Change[:], int32(at.Operation),
		q.To[:], r.instance.ObjectID)
	if err != nil {
		return ChangePage{}, err
	}
	defer rows.Close()

	buffer := newPageBuffer(r.columns, q.MaxBytes)
	var page ChangePage
	page.Columns = rows.typesHash()
	listed := false
	for more := true; more && !buffer.full(); more = rows.NextResult() {
		if rows.Width() == 1 {
			low := make([]driver.Value, 1)
			for rows.Next(low) {
				s := scanner{row: low}
				page.Low, _ = s.lsn()
				listed = true
			}
			continue
		}
		for !buffer.full() && rows.Next(buffer.slot()) {
			buffer.keep()
		}
	}
	cut := buffer.full()
	if err := rows.Close(); err != nil {
		return ChangePage{}, err
	}
	if cut {
		if page.Low, err = c.lowLSN(ctx, r.instance.ObjectID); err != nil {
			return ChangePage{}, err
		}
	} else if !listed {
		return ChangePage{}, ErrInstanceGone
	}
	page.End = !cut && buffer.count < q.Limit
	page.Bytes = buffer.bytes
	page.Rows = newChangeRows(buffer.count)
	page.buffer = buffer
	for i, row := range buffer.rows() {
		if err := r.decode(row, &page.Rows[i]); err != nil {
			return ChangePage{}, err
		}
	}
	return page, nil
}

// decode reads the columns before the captured ones.
func (r *ChangeReader) decode(row []driver.Value, dst *ChangeRow) error {
	s := scanner{row: row}
	var nullCommit, nullChange bool
	dst.Commit, nullCommit = s.lsn()
	dst.Change, nullChange = s.lsn()
	operation := s.int()
	switch mask := s.next().(type) {
	case nil:
	case []byte:
		dst.Mask = mask
	default:
		s.surprised(mask)
	}
	command := s.next()
	if r.function && s.err == nil && nullCommit && nullChange && operation == 0 {
		return errNoAccess
	}
	if s.err == nil && (nullCommit || nullChange || operation < 1 || operation > 4) {
		return fmt.Errorf("reading change row: commit LSN %s, change LSN %s, operation %d", dst.Commit, dst.Change, operation)
	}
	if r.byCommand && s.err == nil {
		id, ok := command.(int64)
		if !ok {
			return ErrNoCommandID
		}
		dst.Command = int32(id)
	}
	dst.Operation = uint8(operation)
	dst.Values = row[changeMeta:]
	return s.err
}

// lowLSN reads an instance's present start_lsn.
func (c *Conn) lowLSN(ctx context.Context, objectID int32) (lsn.LSN, error) {
	var (
		low    lsn.LSN
		listed bool
	)
	err := c.each(ctx, func(row []driver.Value) error {
		s := scanner{row: row}
		low, _ = s.lsn()
		listed = true
		return s.err
	}, "SELECT start_lsn FROM cdc.change_tables WHERE object_id = @p1", objectID)
	if err == nil && !listed {
		err = ErrInstanceGone
	}
	return low, err
}
