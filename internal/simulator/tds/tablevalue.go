package tds

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// TableValue is the value of a table-valued parameter (MS-TDS 2.2.5.5.5).
type TableValue struct {
	Database, Schema, Name string
	// Columns are those of the table type, in its order; none for NULL.
	Columns []BulkColumn
	// Rows hold a value for each column without Default, in their order.
	Rows [][]sqltypes.Value
}

// maxColumns is the greatest number of columns of a table.
const maxColumns = 1024

// Tokens of a table-valued parameter.
const (
	tvpEnd            = 0x00
	tvpRow            = 0x01
	tvpOrderUnique    = 0x10
	tvpColumnOrdering = 0x11
)

// tableValue reads TVP_TYPE_INFO and the rows, behind the type byte. invalid
// says that a value's bytes mean nothing.
func (c *cursor) tableValue() (t *TableValue, invalid bool) {
	t = &TableValue{Database: c.bVarChar(), Schema: c.bVarChar(), Name: c.bVarChar()}
	var types []wireType
	if count := c.u16(); count != noColumns {
		if count > maxColumns {
			c.fail("table-valued parameter of %d columns", count)
		}
		for range count {
			if c.err != nil {
				return t, false
			}
			c.u32() // user type
			flags := c.u16()
			w := c.typeInfo(false)
			types = append(types, w)
			t.Columns = append(t.Columns, BulkColumn{Name: c.bVarChar(), Type: w.t, Default: flags&columnDefault != 0})
		}
	}
	order := c.tableValueOptions(len(types))
	if c.err != nil {
		return t, false
	}
	stream := t.stream(order)
	for c.err == nil {
		switch token := c.u8(); token {
		case tvpEnd:
			return t, invalid
		case tvpRow:
			if len(types) == 0 {
				c.fail("row of a table-valued parameter without columns")
				return t, false
			}
			row := make([]sqltypes.Value, len(stream))
			for _, s := range stream {
				v, bad := c.value(types[s.column])
				row[s.value], invalid = v, invalid || bad
			}
			t.Rows = append(t.Rows, row)
		default:
			c.fail("token 0x%02X in a table-valued parameter", token)
		}
	}
	return t, invalid
}

// streamedValue is one value of a row as it comes: whose column it is, and its
// place in TableValue.Rows.
type streamedValue struct{ column, value int }

// stream lists the values that a row holds; order is the order of the columns,
// nil for their own.
func (t *TableValue) stream(order []int) []streamedValue {
	place, values := make([]int, len(t.Columns)), 0
	for i, c := range t.Columns {
		place[i] = values
		if !c.Default {
			values++
		}
	}
	var list []streamedValue
	for i := range t.Columns {
		if order != nil {
			i = order[i]
		}
		if !t.Columns[i].Default {
			list = append(list, streamedValue{i, place[i]})
		}
	}
	return list
}

// tableValueOptions reads what may stand between columns and rows, and returns
// the order in which the rows hold the columns, nil for that of the columns.
// Orders and uniqueness of rows are hints only.
func (c *cursor) tableValueOptions(columns int) (order []int) {
	for c.err == nil {
		switch token := c.u8(); token {
		case tvpEnd:
			return order
		case tvpOrderUnique:
			c.bytes(3 * int(c.u16()))
		case tvpColumnOrdering:
			count := int(c.u16())
			if c.err == nil && count != columns {
				c.fail("order of %d columns in a table-valued parameter of %d", count, columns)
				return nil
			}
			order = c.columnOrder(count)
		default:
			c.fail("token 0x%02X in a table-valued parameter", token)
		}
	}
	return nil
}

// columnOrder reads a permutation of the columns, whose numbers start at 1.
func (c *cursor) columnOrder(columns int) []int {
	order, seen := make([]int, 0, columns), make([]bool, columns)
	for range columns {
		n := int(c.u16()) - 1
		if c.err != nil || n < 0 || n >= columns || seen[n] {
			c.fail("order of columns in a table-valued parameter names column %d", n+1)
			return nil
		}
		seen[n] = true
		order = append(order, n)
	}
	return order
}
