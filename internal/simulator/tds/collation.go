package tds

import (
	"encoding/binary"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// collationOf is the collation in which a value of the type travels.
func collationOf(t sqltypes.Type) *sqltypes.Collation {
	if t.Collation != nil {
		return t.Collation
	}
	return sqltypes.DefaultCollation
}

const (
	collationLCIDMask = 0xFFFFF
	collationUTF8     = 1 << 26
)

// parameterCollations names, for the LCIDs whose code page is not 1252, a
// collation of that code page.
var parameterCollations = map[uint32]string{
	0x0401: "Arabic_CI_AS",
	0x0404: "Chinese_Taiwan_Stroke_CI_AS",
	0x0405: "Czech_CI_AS",
	0x0408: "Greek_CI_AS",
	0x040D: "Hebrew_CI_AS",
	0x040E: "Hungarian_CI_AS",
	0x0411: "Japanese_CI_AS",
	0x0412: "Korean_Wansung_CI_AS",
	0x0415: "Polish_CI_AS",
	0x0419: "Cyrillic_General_CI_AS",
	0x041E: "Thai_CI_AS",
	0x041F: "Turkish_CI_AS",
	0x0425: "Estonian_CI_AS",
	0x0426: "Latvian_CI_AS",
	0x0427: "Lithuanian_CI_AS",
	0x042A: "Vietnamese_CI_AS",
	0x0804: "Chinese_PRC_CI_AS",
}

// parameterCollation picks the collation of a parameter. Only its code page
// matters, since a parameter is compared by the rules of what it meets; the
// five wire bytes do not name a collation uniquely.
func parameterCollation(wire []byte) *sqltypes.Collation {
	if len(wire) < 5 {
		return sqltypes.DefaultCollation
	}
	info := binary.LittleEndian.Uint32(wire)
	if wire[4] != 0 || info == 0 {
		return sqltypes.DefaultCollation
	}
	name := parameterCollations[info&collationLCIDMask]
	if info&collationUTF8 != 0 {
		name = "Latin1_General_100_CI_AS_SC_UTF8"
	}
	if c, ok := sqltypes.LookupCollation(name); ok {
		return c
	}
	return sqltypes.DefaultCollation
}
