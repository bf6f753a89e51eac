package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// TableReader holds the statements that read a source table, whose texts never
// change. It is immutable.
type TableReader struct {
	table   *schema.Table
	key     []KeyColumn
	keyAt   []int // where each key column's carrier stands in a row
	width   int   // values of the shape, at the front of a row
	columns int   // values of a row
	// computed are the names of computed columns, whose expressions are
	// evaluated unless they are persisted.
	computed []string
	first    string
	next     string
	scan     string
}

// NewTableReader prepares reading a table in the shape given. Columns that the
// table no longer has are read as NULL; they are told by their column_id.
func NewTableReader(t *Table, shape *schema.Table) *TableReader {
	r := &TableReader{table: t.Source, key: t.PageKey, width: len(shape.Columns)}
	list := make([]string, 0, len(shape.Columns)+len(r.key))
	for _, col := range shape.Columns {
		now := t.column(col.ID)
		if now != nil && now.Computed {
			r.computed = append(r.computed, Quote(now.Name))
		}
		if now != nil {
			list = append(list, Quote(now.Name))
		} else {
			list = append(list, "CONVERT("+declaration(col.Type)+", NULL)")
		}
	}
	for _, k := range r.key {
		at := slices.IndexFunc(shape.Columns, func(col schema.Column) bool { return col.ID == k.ID })
		if at < 0 || k.isText() {
			at = len(list)
			list = append(list, k.carrier())
		}
		r.keyAt = append(r.keyAt, at)
	}
	r.columns = len(list)

	columns := strings.Join(list, ", ")
	from := " FROM " + Quote(t.Source.Schema) + "." + Quote(t.Source.Name)
	r.scan = "SELECT " + columns + from
	if len(r.key) > 0 {
		r.first = "SELECT TOP (@p1) " + columns + from + " ORDER BY " + r.order()
		r.next = r.continuation(columns, from)
	}
	return r
}

// column finds a column of the source by its id.
func (t *Table) column(id int) *schema.Column {
	for i := range t.Source.Columns {
		if t.Source.Columns[i].ID == id {
			return &t.Source.Columns[i]
		}
	}
	return nil
}

func (r *TableReader) order() string {
	parts := make([]string, len(r.key))
	for i, k := range r.key {
		parts[i] = Quote(k.Name)
		if k.Descending {
			parts[i] += " DESC"
		}
	}
	return strings.Join(parts, ", ")
}

// continuation builds the statement for the page after a key. Each SELECT of
// it is one range of the index: for a key (a, b, c) first the rows with equal
// a and b and a greater c, then those with equal a and a greater b, then those
// with a greater a. One SELECT with all three joined by OR returns the same,
// but the server may read each page from the beginning of a.
func (r *TableReader) continuation(columns, from string) string {
	var b strings.Builder
	levels := len(r.key)
	if levels > 1 {
		b.WriteString("DECLARE @r bigint = 0; ")
	}
	for level := levels; level > 0; level-- {
		top := "@p1"
		if level < levels {
			top = "@p1 - @r"
			b.WriteString(" IF @r < @p1 BEGIN ")
		}
		fmt.Fprintf(&b, "SELECT TOP (%s) %s%s WHERE %s ORDER BY %s;", top, columns, from, r.within(level), r.order())
		if levels > 1 {
			b.WriteString(countPart("@r + @@ROWCOUNT"))
		}
		if level < levels {
			b.WriteString(" END;")
		}
	}
	return b.String()
}

// within is the condition of one level: equal in the columns before, beyond in
// the level's own.
func (r *TableReader) within(level int) string {
	var parts []string
	for i, k := range r.key[:level] {
		op := "="
		if i == level-1 {
			op = ">"
			if k.Descending {
				op = "<"
			}
		}
		parts = append(parts, fmt.Sprintf("%s %s %s", Quote(k.Name), op, k.operand(fmt.Sprintf("@p%d", i+2))))
	}
	return strings.Join(parts, " AND ")
}

// Paged reports whether the table can be read in pages.
func (r *TableReader) Paged() bool { return len(r.key) > 0 }

// Table returns the table that is read.
func (r *TableReader) Table() *schema.Table { return r.table }

// explain gives a refused read its remedy.
func (r *TableReader) explain(err error) error {
	if refused := ColumnsRefused(err, r.table.Schema, r.table.Name, r.table.Columns); refused != nil {
		return refused
	}
	switch {
	case HasNumber(err, errSnapshotOff):
		return SnapshotNotAllowed(r.table.Database, err)
	case Classify(err) == ClassPermission:
		object := Quote(r.table.Schema) + "." + Quote(r.table.Name)
		return NotPermitted("reading "+object+" is not permitted",
			"run GRANT SELECT ON "+object+" TO the login's user", err)
	case len(r.computed) > 0 && isArithmetic(err):
		return NewProblem(ReasonComputedColumn,
			fmt.Sprintf("a computed column of %s.%s has no value in some row: one of %s",
				Quote(r.table.Schema), Quote(r.table.Name), strings.Join(r.computed, ", ")),
			"exclude it with column_exclude_list, or set computed_columns to omit", err)
	default:
		return err
	}
}

// ReasonComputedColumn is the reason of a computed column that cannot be
// computed.
const ReasonComputedColumn = "computed_column"

// arithmeticNumbers are the errors of expressions over the values of a row:
// overflow, conversion, dates and lengths out of range, division by zero. A
// table's own columns have none.
// Source: MS docs, "Database Engine events and errors".
var arithmeticNumbers = []int32{220, 232, 241, 242, 244, 245, 248, 295, 517, 535, 536, 537, 3606, 3607, 3623, 8114, 8115, 8134, 8152, 8169}

func isArithmetic(err error) bool {
	return slices.ContainsFunc(arithmeticNumbers, func(n int32) bool { return HasNumber(err, n) })
}

// Values returns the values of the shape in a row.
func (r *TableReader) Values(row []driver.Value) []driver.Value { return row[:r.width] }

// Key returns the key of a row, for reading on after it.
func (r *TableReader) Key(row []driver.Value) ([]string, error) {
	key := make([]string, len(r.key))
	for i, k := range r.key {
		text, err := k.encode(row[r.keyAt[i]])
		if err != nil {
			return nil, err
		}
		key[i] = text
	}
	return key, nil
}

// RowPage is a run of rows. A reader that is done with one should release it:
// the next pages are read into its memory.
type RowPage struct {
	Rows [][]driver.Value
	// End reports that no rows come after the page.
	End bool

	buffer *pageBuffer
}

// Release gives back the memory of the rows, which must not be used any more.
// The values, one by one, may be kept.
func (p *RowPage) Release() {
	if p.buffer != nil {
		p.buffer.release()
	}
	*p = RowPage{}
}

// ReadRows reads the page after a key, or the first page if there is none. A
// page ends after limit rows, or with the row that makes it hold maxBytes.
func (c *Conn) ReadRows(ctx context.Context, r *TableReader, after []string, limit, maxBytes int) (RowPage, error) {
	text, args := r.first, []driver.Value{int64(limit)}
	if len(after) > 0 {
		if len(after) != len(r.key) {
			return RowPage{}, fmt.Errorf("reading page: key has %d columns, want %d", len(after), len(r.key))
		}
		text = r.next
		for i, k := range r.key {
			arg, err := k.argument(after[i])
			if err != nil {
				return RowPage{}, err
			}
			args = append(args, arg)
		}
	}
	rows, err := c.Query(ctx, text, args...)
	if err != nil {
		return RowPage{}, fmt.Errorf("reading page: %w", r.explain(err))
	}
	defer rows.Close()
	page := newPageBuffer(r.columns, maxBytes)
	for more := true; more && !page.full(); more = rows.NextResult() {
		for !page.full() && rows.Next(page.slot()) {
			page.keep()
		}
	}
	cut := page.full()
	if err := rows.Close(); err != nil {
		return RowPage{}, fmt.Errorf("reading page: %w", r.explain(err))
	}
	return RowPage{Rows: page.slices(), End: !cut && page.count < limit, buffer: page}, nil
}

// ScanRows reads a whole table in one statement, in no order, and calls f with
// every run of rows: at most limit, or with the row that makes it hold
// maxBytes. The statement stays open while f runs. The last run has End set
// and may be empty.
func (c *Conn) ScanRows(ctx context.Context, r *TableReader, limit, maxBytes int, f func(RowPage) error) error {
	rows, err := c.Query(ctx, r.scan)
	if err != nil {
		return fmt.Errorf("scanning table: %w", r.explain(err))
	}
	defer rows.Close()
	for end := false; !end; {
		page := newPageBuffer(r.columns, maxBytes)
		for page.count < limit && !page.full() && !end {
			if rows.Next(page.slot()) {
				page.keep()
			} else {
				end = true
			}
		}
		if end {
			if err := rows.Close(); err != nil {
				return fmt.Errorf("scanning table: %w", r.explain(err))
			}
		}
		if err := f(RowPage{Rows: page.slices(), End: end, buffer: page}); err != nil {
			return err
		}
	}
	return nil
}

// Now returns the server's clock, to the 100 ns.
func (c *Conn) Now(ctx context.Context) (time.Time, error) {
	row, err := c.one(ctx, "SELECT SYSDATETIMEOFFSET()")
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the server's clock: %w", err)
	}
	s := scanner{row: row}
	return s.time().UTC(), s.err
}
