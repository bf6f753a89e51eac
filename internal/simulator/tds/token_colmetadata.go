package tds

import (
	"encoding/binary"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Column describes one column of a result set.
type Column struct {
	Name          string
	Type          sqltypes.Type
	Nullable      bool
	Identity      bool
	Computed      bool
	CaseSensitive bool
	Updatable     bool
	// Table is sent for text, ntext and image columns only.
	Table string
}

// Bits of a column's flags (MS-TDS 2.2.7.4).
const (
	columnNullable         = 0x0001
	columnCaseSensitive    = 0x0002
	columnUpdatable        = 0x0004
	columnUpdatableUnknown = 0x0008
	columnIdentity         = 0x0010
	columnComputed         = 0x0020
)

func (c Column) flags() uint16 {
	flags := uint16(columnUpdatableUnknown)
	if c.Updatable {
		flags = columnUpdatable
	}
	if c.Nullable || c.Type.ID == sqltypes.Unknown {
		flags |= columnNullable
	}
	if c.CaseSensitive {
		flags |= columnCaseSensitive
	}
	if c.Identity {
		flags |= columnIdentity
	}
	if c.Computed {
		flags |= columnComputed
	}
	return flags
}

// AppendColMetadata appends COLMETADATA, which starts a result set.
func AppendColMetadata(dst []byte, columns []Column) []byte {
	dst = binary.LittleEndian.AppendUint16(append(dst, tokenColMetadata), uint16(len(columns)))
	for _, c := range columns {
		dst = binary.LittleEndian.AppendUint32(dst, userType(c.Type))
		dst = binary.LittleEndian.AppendUint16(dst, c.flags())
		dst = appendTypeInfo(dst, c.Type, c.Nullable)
		if carriesTableName(c.Type.ID) {
			dst = appendTableName(dst, c.Table)
		}
		dst = appendBVarChar(dst, c.Name)
	}
	return dst
}

// AppendNoMetadata appends the COLMETADATA of a client that wants none, which
// knows the columns from an earlier result (MS-TDS 2.2.7.4, NoMetaData).
func AppendNoMetadata(dst []byte) []byte {
	return binary.LittleEndian.AppendUint16(append(dst, tokenColMetadata), noColumns)
}

func carriesTableName(id sqltypes.ID) bool {
	return id == sqltypes.Text || id == sqltypes.NText || id == sqltypes.Image
}

// appendTableName appends the table's name as one part; an empty name is no
// part at all.
func appendTableName(dst []byte, name string) []byte {
	if name == "" {
		return append(dst, 0)
	}
	return appendUSVarChar(append(dst, 1), name)
}
