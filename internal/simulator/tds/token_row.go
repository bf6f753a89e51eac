package tds

import (
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// RowEncoder writes the rows of one result set.
type RowEncoder struct {
	columns []column
	// bitmaps says that rows with NULLs go out as NBCROW.
	bitmaps bool
}

// NewRowEncoder compiles the writer of each column, once for a result set.
func NewRowEncoder(columns []Column) *RowEncoder { return Version74.NewRowEncoder(columns) }

// NewRowEncoder is that for a client that speaks the dialect.
func (d Dialect) NewRowEncoder(columns []Column) *RowEncoder {
	e := &RowEncoder{columns: make([]column, len(columns)), bitmaps: d.hasNBCRow()}
	for i, c := range columns {
		e.columns[i] = compileColumn(c.Type, c.Nullable)
	}
	return e
}

// AppendRow appends one row: ROW, or NBCROW when a value is NULL. It panics
// when a value is not of the kind that its column's type holds, because bytes
// made of it would be a wrong result.
func (e *RowEncoder) AppendRow(dst []byte, row []sqltypes.Value) []byte {
	if len(row) != len(e.columns) {
		panic(fmt.Sprintf("tds: %d values in a row of %d columns", len(row), len(e.columns)))
	}
	for i := range row {
		if e.bitmaps && row[i].IsNull() {
			return e.appendNBCRow(dst, row)
		}
	}
	dst = append(dst, tokenRow)
	for i := range row {
		c := &e.columns[i]
		if row[i].IsNull() {
			dst = append(dst, c.null...)
			continue
		}
		if row[i].Kind() != c.kind {
			c.check(i, row[i])
		}
		dst = c.append(dst, &row[i])
	}
	return dst
}

// appendNBCRow appends the row as a bitmap of NULLs, least significant bit
// first, and the values that are not NULL (MS-TDS 2.2.7.15).
func (e *RowEncoder) appendNBCRow(dst []byte, row []sqltypes.Value) []byte {
	dst = append(dst, tokenNBCRow)
	bitmap := len(dst)
	for range (len(row) + 7) / 8 {
		dst = append(dst, 0)
	}
	for i := range row {
		if row[i].IsNull() {
			dst[bitmap+i/8] |= 1 << (i % 8)
			continue
		}
		c := &e.columns[i]
		if row[i].Kind() != c.kind {
			c.check(i, row[i])
		}
		dst = c.append(dst, &row[i])
	}
	return dst
}

// appendTo appends a value or NULL, outside of a row.
func (c column) appendTo(dst []byte, v sqltypes.Value) []byte {
	if v.IsNull() {
		return append(dst, c.null...)
	}
	c.check(0, v)
	return c.append(dst, &v)
}

// check panics for a value of a kind that the column cannot hold. A
// sql_variant, whose kind is KindNull here, holds all.
func (c *column) check(ordinal int, v sqltypes.Value) {
	if v.Kind() != c.kind && c.kind != sqltypes.KindNull {
		panic(fmt.Sprintf("tds: value of kind %d in column %d, which holds kind %d", v.Kind(), ordinal, c.kind))
	}
}
