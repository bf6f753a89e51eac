package cdc

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// Columns of every change table. The captured ones stand between the update
// mask and the command id.
const (
	ctStartLSN = iota
	ctEndLSN
	ctSeqVal
	ctOperation
	ctUpdateMask
	ctFirstCaptured
)

// Values of __$operation.
const (
	opDelete       = 1
	opInsert       = 2
	opUpdateBefore = 3
	opUpdateAfter  = 4
)

// instance is a capture instance as the capture job needs it.
type instance struct {
	name     string
	table    int64 // object id of the change table
	source   int64
	startLSN storage.LSN
	columns  []captured // by ordinal
	// width is the number of values of a change row, command its slot of
	// __$command_id.
	width, command int
	full           sqltypes.Value // the mask of inserts and deletes
}

// captured is one captured column.
type captured struct {
	name string
	// id is the column_id in the source table, whose value stands in slot id-1
	// of its rows.
	id int
	// slot is the value's place in the change row.
	slot  int
	image image
}

// image says which images of a column a change table keeps.
type image uint8

const (
	// everywhere: the value is in every image.
	everywhere image = iota
	// lobMax: varchar(max), nvarchar(max) and varbinary(max) are NULL in the
	// before image unless the update changed them (MS docs:
	// cdc.<capture_instance>_CT).
	lobMax
	// lobOld: text, ntext and image are NULL in deletes and before images.
	lobOld
	// never: computed columns are NULL always, though inserts and deletes set
	// their bits; a column dropped from the source is NULL from then on.
	never
)

// imageOf is the rule of a column's type.
func imageOf(t sqltypes.Type, computed bool) image {
	switch {
	case computed:
		return never
	case t.ID == sqltypes.Text || t.ID == sqltypes.NText || t.ID == sqltypes.Image:
		return lobOld
	case t.Length == sqltypes.Max:
		return lobMax
	}
	return everywhere
}

// value is the column's value in a source row; rows written before the column
// was added are shorter.
func (c *captured) value(row storage.Row) sqltypes.Value {
	if c.id > len(row) {
		return sqltypes.Null()
	}
	return row[c.id-1]
}

// drop makes the column NULL in all later rows.
func (in *instance) drop(columnID int) {
	for i := range in.columns {
		if in.columns[i].id == columnID {
			in.columns[i].image = never
		}
	}
}
