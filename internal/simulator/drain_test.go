package simulator

import (
	"database/sql/driver"
	"errors"
	"io"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// BenchmarkDrain reads rows of ten columns with the driver, in memory. One
// operation is one row; a CPU profile tells the server's share from the
// driver's.
func BenchmarkDrain(b *testing.B) {
	s, err := newServer(Options{})
	require.NoError(b, err)
	defer s.Close()
	f := &fake{server: s, statements: map[string]func(c *call) error{}}
	s.backend = f
	f.statements["drain"] = func(c *call) error { return drain(c, b.N) }
	connector, err := mssql.NewConnector(dsn("sa", password, "packet size", "32767"))
	require.NoError(b, err)
	connector.Dialer = pipeDialer{server: s}
	conn, err := connector.Connect(b.Context())
	require.NoError(b, err)
	defer conn.Close()
	stmt, err := conn.(driver.ConnPrepareContext).PrepareContext(b.Context(), "drain")
	require.NoError(b, err)
	defer stmt.Close()
	rows, err := stmt.(driver.StmtQueryContext).QueryContext(b.Context(), nil)
	require.NoError(b, err)
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	b.ResetTimer()
	for {
		if err := rows.Next(row); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}

// drain answers n rows of a change table.
func drain(c *call, n int) error {
	lsn := sqltypes.BytesOf([]byte("\x00\x00\x00\x25\x00\x00\x04\x48\x00\x03"))
	row := []sqltypes.Value{
		lsn, lsn, sqltypes.IntOf(2), sqltypes.BytesOf([]byte{0x1F}), sqltypes.IntOf(0),
		sqltypes.StringOf("Sally Thomas the first"), sqltypes.StringOf("sally.thomas@acme.example"),
		sqltypes.DecimalOf(false, 0, 123456, 2), sqltypes.DateTime2Of(738000, 123456789), sqltypes.IntOf(1),
	}
	err := c.Columns([]engine.Column{
		{Name: "__$start_lsn", Type: sqltypes.BinaryOf(10)},
		{Name: "__$seqval", Type: sqltypes.BinaryOf(10)},
		{Name: "__$operation", Type: sqltypes.Simple(sqltypes.Int)},
		{Name: "__$update_mask", Type: sqltypes.VarBinaryOf(128), Nullable: true},
		{Name: "id", Type: sqltypes.Simple(sqltypes.Int), Nullable: true},
		{Name: "name", Type: sqltypes.NVarCharOf(100), Nullable: true},
		{Name: "email", Type: sqltypes.VarCharOf(100), Nullable: true},
		{Name: "price", Type: sqltypes.Type{ID: sqltypes.Decimal, Precision: 10, Scale: 2}, Nullable: true},
		{Name: "at", Type: sqltypes.Simple(sqltypes.DateTime2), Nullable: true},
		{Name: "__$command_id", Type: sqltypes.Simple(sqltypes.Int), Nullable: true},
	})
	for i := 0; i < n && err == nil; i++ {
		row[4] = sqltypes.IntOf(int64(i))
		err = c.Row(row)
	}
	if err != nil {
		return err
	}
	return c.Done(engine.DoneInfo{Command: engine.CommandSelect, HasCount: true, Count: int64(n)})
}
