package tds

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"

// Dialect is a version of the protocol as LOGIN7 carries it (MS-TDS 2.2.6.4).
type Dialect uint32

// Versions of the protocol that the server speaks.
const (
	Version72  Dialect = 0x72090002
	Version73A Dialect = 0x730A0003
	Version73  Dialect = 0x730B0003
	Version74  Dialect = 0x74000004
	Version80  Dialect = 0x08000000
)

// Negotiate chooses the version to speak with a client: the newest that it may
// know, 0 when it knows none of the server's.
func Negotiate(client Dialect) Dialect {
	if client == Version80 {
		return Version80
	}
	for _, d := range []Dialect{Version74, Version73, Version73A, Version72} {
		if client >= d {
			return d
		}
	}
	return 0
}

// hasNBCRow reports whether rows may leave NULLs out (since TDS 7.3.B).
func (d Dialect) hasNBCRow() bool { return d == Version80 || d >= Version73 }

// Type is the type in which values of t travel. date, time, datetime2 and
// datetimeoffset came with TDS 7.3.A; earlier clients get them as text of fixed
// form (MS docs: Date and time data types, "Backward compatibility for
// down-level clients").
func (d Dialect) Type(t sqltypes.Type) sqltypes.Type {
	if d == Version80 || d >= Version73A {
		return t
	}
	fraction := 0
	if t.Scale > 0 {
		fraction = 1 + int(t.Scale)
	}
	switch t.ID {
	case sqltypes.Date:
		return sqltypes.NVarCharOf(10)
	case sqltypes.Time:
		return sqltypes.NVarCharOf(8 + fraction)
	case sqltypes.DateTime2:
		return sqltypes.NVarCharOf(19 + fraction)
	case sqltypes.DateTimeOffset:
		return sqltypes.NVarCharOf(26 + fraction)
	}
	return t
}
