package simulator

import (
	"database/sql"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

func TestTableParameter(t *testing.T) {
	_, db := newServerDB(t)
	mustExec(t, db,
		"CREATE TYPE dbo.items AS TABLE (id int IDENTITY PRIMARY KEY, name nvarchar(20) NOT NULL, price float NULL)",
		"CREATE PROCEDURE dbo.total @list dbo.items READONLY, @factor int AS SELECT COUNT(*), SUM(price) * @factor, MAX(name) FROM @list",
		"CREATE PROCEDURE dbo.change @list dbo.items READONLY AS DELETE FROM @list",
		"CREATE PROCEDURE dbo.pass AS DECLARE @t dbo.items INSERT @t (name, price) VALUES (N'x', 4), (N'y', 5) EXEC dbo.total @t, 2")
	type item struct {
		ID    int `tvp:"@identity"`
		Name  string
		Price *float64
	}
	price := 1.5
	list := mssql.TVP{TypeName: "dbo.items", Value: []item{{Name: "a", Price: &price}, {Name: "b"}, {Name: "c", Price: &price}}}
	total := func(query string, args ...any) (n int, sum sql.NullFloat64, name sql.NullString) {
		t.Helper()
		require.NoError(t, db.QueryRowContext(t.Context(), query, args...).Scan(&n, &sum, &name))
		return n, sum, name
	}
	n, sum, name := total("dbo.total", sql.Named("list", list), sql.Named("factor", 10))
	assert.Equal(t, []any{3, 30.0, "c"}, []any{n, sum.Float64, name.String}, "a procedure")
	n, _, _ = total("SELECT COUNT(*), SUM(price), MAX(name) FROM @p1 WHERE name <> @p2", list, "b")
	assert.Equal(t, 2, n, "a parameterised statement")
	n, sum, _ = total("EXEC dbo.pass")
	assert.Equal(t, []any{2, 18.0}, []any{n, sum.Float64}, "a table variable")
	n, sum, _ = total("EXEC dbo.total @factor = 1")
	assert.Equal(t, 0, n, "no argument is an empty table")
	assert.False(t, sum.Valid)

	_, err := db.ExecContext(t.Context(), "dbo.change", sql.Named("list", list))
	requireNumber(t, err, 10700)
	_, err = db.ExecContext(t.Context(), "CREATE PROCEDURE p @list dbo.items AS RETURN")
	requireNumber(t, err, 352)
	_, err = db.ExecContext(t.Context(), "EXEC dbo.total 1, 1")
	requireNumber(t, err, 206)
	_, err = db.ExecContext(t.Context(), "dbo.total", sql.Named("list", list), sql.Named("factor", list))
	requireNumber(t, err, 206)
	type short struct{ Name string }
	_, err = db.ExecContext(t.Context(), "dbo.total", sql.Named("list", mssql.TVP{TypeName: "dbo.items", Value: []short{{"a"}}}), sql.Named("factor", 1))
	requireNumber(t, err, 500)
}

// The bytes are TVP_TYPE_INFO of MS-TDS 2.2.5.5.5 with both optional parts.
func TestWire_TableParameter(t *testing.T) {
	s, db := newServerDB(t)
	mustExec(t, db, "CREATE TYPE dbo.pair AS TABLE (a int, b int)", "CREATE PROCEDURE q @t dbo.pair READONLY AS SELECT a, b FROM @t")
	c := newRawServerClient(t, s)
	name := func(s string) []byte { return sqltypes.AppendUTF16([]byte{byte(len(s))}, s) }
	call := append(headers(), callProcedure("q")...)
	call = append(append(call, 0, 0, 0xF3), 0) // unnamed, no status, TVP, no database
	call = append(append(call, name("dbo")...), name("pair")...)
	head := len(call)
	call = append(call, 2, 0)
	for range 2 {
		call = append(call, 0, 0, 0, 0, 0, 0, 0x26, 4, 0)
	}
	call = append(call, 0x10, 1, 0, 1, 0, 2)       // TVP_ORDER_UNIQUE
	call = append(call, 0x11, 2, 0, 2, 0, 1, 0, 0) // TVP_COLUMN_ORDERING: b, a; end
	call = append(call, 1, 4, 7, 0, 0, 0, 0)       // b = 7, a is NULL
	call = append(call, 0)
	c.send(tds.PacketRPC, 1, call)
	assert.Contains(t, c.receive(), "NBCROW NULL | 7\nDONEINPROC")

	null := append(append([]byte(nil), call[:head]...), 0xFF, 0xFF, 0, 0)
	c.send(tds.PacketRPC, 1, null)
	assert.Contains(t, c.receive(), "DONEINPROC [more] command 0xC1 count 0")

	c.send(tds.PacketRPC, 1, call[:len(call)-1])
	assert.Contains(t, c.receive(), "ERROR 4002")
}
