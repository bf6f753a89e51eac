package tds

import (
	"errors"
	"fmt"
	"io"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// BulkLoad is the stream of rows that follows INSERT BULK (MS-TDS 2.2.6.1):
// COLMETADATA, ROW and NBCROW tokens, DONE.
type BulkLoad struct {
	// Columns are the columns of the stream, in the order of INSERT BULK.
	Columns []BulkColumn

	c     cursor
	types []wireType
}

// BulkColumn is a column of a bulk load or of a table-valued parameter.
type BulkColumn struct {
	Name string
	Type sqltypes.Type
	// Default says that the rows of a table-valued parameter hold no values for
	// the column.
	Default bool
}

// ErrBulkValue is wrapped by the error of a value that is none of its type.
var ErrBulkValue = errors.New("invalid value in a bulk load")

// ParseBulkLoad reads the description of the columns; Next reads the rows. The
// payload must stay as it is until then.
func ParseBulkLoad(payload []byte) (*BulkLoad, error) {
	b := &BulkLoad{c: cursor{b: payload}}
	c := &b.c
	if token := c.u8(); c.err == nil && token != tokenColMetadata {
		c.fail("token 0x%02X instead of COLMETADATA", token)
	}
	count := c.u16()
	if count == noColumns {
		c.fail("COLMETADATA without columns")
	}
	for range count {
		if c.err != nil {
			break
		}
		w, flags, name := c.bulkColumn()
		b.types = append(b.types, w)
		b.Columns = append(b.Columns, BulkColumn{Name: name, Type: w.t, Default: flags&columnDefault != 0})
	}
	if c.err != nil {
		return nil, fmt.Errorf("reading bulk load: %w", c.err)
	}
	return b, nil
}

// noColumns is the count of columns of a COLMETADATA without any.
const noColumns = 0xFFFF

// columnDefault is the flag of a column of a table-valued parameter without
// values (MS-TDS 2.2.5.5.5.2, fDefault).
const columnDefault = 0x0200

// bulkColumn reads one column's description. Clients write a table's name as
// one string here, where a server's COLMETADATA has its parts.
func (c *cursor) bulkColumn() (w wireType, flags uint16, name string) {
	c.u32() // user type
	flags = c.u16()
	w = c.typeInfo(true)
	if carriesTableName(w.t.ID) {
		c.usVarChar()
	}
	return w, flags, c.bVarChar()
}

// Next reads the next row into row, which has a value for each column. It
// returns io.EOF behind the last row.
func (b *BulkLoad) Next(row []sqltypes.Value) error {
	c := &b.c
	switch token := c.u8(); token {
	case tokenRow:
		b.row(row, nil)
	case tokenNBCRow:
		b.row(row, c.bytes((len(b.types)+7)/8))
	case tokenDone:
		c.bytes(12)
		if c.err == nil && c.left() > 0 {
			c.fail("%d bytes behind DONE", c.left())
		}
		if c.err == nil {
			return io.EOF
		}
	default:
		c.fail("token 0x%02X in a bulk load", token)
	}
	if c.err != nil && !errors.Is(c.err, ErrBulkValue) {
		c.err = fmt.Errorf("reading row of a bulk load: %w", c.err)
	}
	return c.err
}

// row reads the values; nulls is the bitmap of NBCROW, nil for ROW.
func (b *BulkLoad) row(row []sqltypes.Value, nulls []byte) {
	c := &b.c
	for i, w := range b.types {
		if c.err != nil {
			return
		}
		if nulls != nil && nulls[i/8]&(1<<(i%8)) != 0 {
			row[i] = sqltypes.Null()
			continue
		}
		v, invalid := c.value(w)
		if invalid {
			c.fail("%w: column %d (%q) of type %s", ErrBulkValue, i+1, b.Columns[i].Name, w.t.Name())
		}
		row[i] = v
	}
}
