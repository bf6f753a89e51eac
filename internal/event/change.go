package event

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Change is one row to encode. Rows hold one driver value for each column of
// the encoder's table; they are not kept, but in structured mode the values
// in them may be.
type Change struct {
	// Op is one of the operations: read and create have After only, delete has
	// Before only, update has both.
	Op            string
	Before, After []driver.Value
	// UpdateMask is __$update_mask of an update; nil for other operations.
	UpdateMask []byte
	// Position is that of the first message; those that follow from the same
	// row have the following ordinals.
	Position             lsn.Position
	CommitLSN, ChangeLSN lsn.LSN // zero: null
	SourceTime           time.Time
	Serial               int64  // event_serial_no; zero: null
	Snapshot             string // marker of a snapshot row; empty while streaming
	Transaction          TransactionOrder
}

// images says what the two rows of an update may lack.
func (c *Change) images() (before, after schema.RowImage) {
	return schema.RowImage{Role: schema.Before, Mask: c.UpdateMask}, schema.RowImage{Role: schema.After, Mask: c.UpdateMask}
}

// check refuses rows that do not fit the operation or the table's number of
// columns.
func (c *Change) check(columns int) error {
	before := c.Op == OpUpdate || c.Op == OpDelete
	after := c.Op == OpUpdate || c.Op == OpCreate || c.Op == OpRead
	switch {
	case !before && !after:
		return fmt.Errorf("unknown operation %q", c.Op)
	case before && len(c.Before) != columns:
		return fmt.Errorf("the row before has %d values, the table %d columns", len(c.Before), columns)
	case after && len(c.After) != columns:
		return fmt.Errorf("the row after has %d values, the table %d columns", len(c.After), columns)
	case c.SourceTime.IsZero():
		return errors.New("the source time is missing")
	}
	return nil
}
