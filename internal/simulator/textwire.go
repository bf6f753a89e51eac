package simulator

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// wireType is the type in which values of t travel to this client. One that has
// not asked for UTF8_SUPPORT gets char and varchar of a UTF-8 collation as
// UTF-16, in the types that hold it; the collation keeps its UTF-8 flag.
// Source: MS-TDS 2.2.6.4, UTF8_SUPPORT; bytes of a SQL Server 2025 described in
// hugr-lab/mssql-extension#225.
func (c *conn) wireType(t sqltypes.Type) sqltypes.Type {
	if t.Collation == nil || !t.Collation.UTF8 || c.readsUTF8() {
		return t
	}
	const longest = 4000 // UTF-16 units of nchar and nvarchar
	switch {
	case t.ID == sqltypes.Char && t.Length <= longest:
		t.ID = sqltypes.NChar
	case t.ID == sqltypes.Char, t.ID == sqltypes.VarChar:
		t.ID = sqltypes.NVarChar
		if t.Length > longest {
			t.Length = sqltypes.Max
		}
	case t.ID == sqltypes.Text:
		t.ID = sqltypes.NText
	}
	return t
}

// readsUTF8 reports whether the client asked for UTF8_SUPPORT.
func (c *conn) readsUTF8() bool {
	return slices.ContainsFunc(c.login.Features, func(f tds.Feature) bool { return f.ID == tds.FeatureUTF8Support })
}
