package simulator

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// copyIn loads rows with the driver's bulk copy.
func copyIn(ctx context.Context, db interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}, table string, options mssql.BulkOptions, columns []string, rows ...[]any,
) (int64, error) {
	stmt, err := db.PrepareContext(ctx, mssql.CopyIn(table, options, columns...))
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	for _, row := range rows {
		if _, err := stmt.ExecContext(ctx, row...); err != nil {
			return 0, err
		}
	}
	result, err := stmt.ExecContext(ctx)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func TestBulkLoad_OfEveryType(t *testing.T) {
	_, db := newServerDB(t)
	var columns, names []string
	var values, nulls []any
	for i, c := range typeRow {
		if strings.HasPrefix(c.declaration, "sql_variant") || strings.HasPrefix(c.declaration, "xml") {
			continue // the driver cannot send them
		}
		names = append(names, fmt.Sprintf("c%d", i))
		columns = append(columns, fmt.Sprintf("c%d %s NULL", i, c.declaration))
		value := c.want
		if b, ok := value.([]byte); ok && (strings.Contains(c.declaration, "decimal") || strings.Contains(c.declaration, "numeric") || strings.Contains(c.declaration, "money")) {
			value = string(b)
		}
		if strings.HasPrefix(c.declaration, "varchar(20)") {
			value = "hello" // the driver sends UTF-8 in columns of any code page
		}
		values, nulls = append(values, value), append(nulls, nil)
	}
	mustExec(t, db, "CREATE TABLE t (id int NOT NULL PRIMARY KEY, "+strings.Join(columns, ", ")+")")
	for i, name := range names { // one column at a time names the type that fails
		n, err := copyIn(t.Context(), db, "t", mssql.BulkOptions{}, []string{"id", name}, []any{2 * i, values[i]}, []any{2*i + 1, nil})
		require.NoError(t, err, columns[i])
		assert.Equal(t, int64(2), n)
		var got any
		require.NoError(t, db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT %s FROM t WHERE id = %d", name, 2*i)).Scan(&got))
		want := values[i]
		if s, ok := want.(string); ok && strings.HasPrefix(name, "c") {
			if b, isBytes := typeRow[i].want.([]byte); isBytes && string(b) == s {
				want = b
			}
		}
		if at, ok := want.(time.Time); ok {
			assert.True(t, at.Equal(got.(time.Time)), "%s: %v", columns[i], got)
			continue
		}
		assert.Equal(t, want, got, columns[i])
	}
	n, err := copyIn(t.Context(), db, "t", mssql.BulkOptions{Tablock: true, RowsPerBatch: 10, KilobytesPerBatch: 5, Order: []string{"id"}},
		append([]string{"id"}, names...), append([]any{1000}, values...), append([]any{1001}, nulls...))
	require.NoError(t, err)
	assert.Equal(t, int64(2), n)
}

func TestBulkLoad_Options(t *testing.T) {
	_, db := newServerDB(t)
	mustExec(t, db, "CREATE TABLE t (id int IDENTITY PRIMARY KEY, n int NULL DEFAULT 7 CHECK (n > 0))")
	load := func(options mssql.BulkOptions, columns []string, row ...any) error {
		_, err := copyIn(t.Context(), db, "t", options, columns, row)
		return err
	}
	require.NoError(t, load(mssql.BulkOptions{}, []string{"n"}, nil))
	assert.Equal(t, 7, scanOne[int](t, db, "SELECT n FROM t WHERE id = 1"), "a NULL becomes the default")
	require.NoError(t, load(mssql.BulkOptions{KeepNulls: true}, []string{"n"}, nil))
	assert.Equal(t, 1, scanOne[int](t, db, "SELECT COUNT(*) FROM t WHERE id = 2 AND n IS NULL"))
	require.NoError(t, load(mssql.BulkOptions{}, []string{"n"}, -1), "constraints are not checked unless asked for")
	requireNumber(t, load(mssql.BulkOptions{CheckConstraints: true}, []string{"n"}, -1), 547)
	require.NoError(t, load(mssql.BulkOptions{}, []string{"id", "n"}, 50, 5))
	assert.Equal(t, 5, scanOne[int](t, db, "SELECT n FROM t WHERE id = 50"), "the identity is kept")
	requireNumber(t, load(mssql.BulkOptions{}, []string{"id", "n"}, 50, 5), 2627)
	mustExec(t, db, "INSERT t (n) VALUES (1)")
	assert.Equal(t, 51, scanOne[int](t, db, "SELECT MAX(id) FROM t"))
}

func TestBulkLoad_InATransaction(t *testing.T) {
	_, db := newServerDB(t)
	mustExec(t, db, "CREATE TABLE t (id int PRIMARY KEY)")
	for want, end := range []func(*sql.Tx) error{(*sql.Tx).Rollback, (*sql.Tx).Commit} {
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = copyIn(t.Context(), tx, "t", mssql.BulkOptions{}, []string{"id"}, []any{1})
		require.NoError(t, err)
		require.NoError(t, end(tx))
		assert.Equal(t, want, scanOne[int](t, db, "SELECT COUNT(*) FROM t"))
	}
	_, err := copyIn(t.Context(), db, "t", mssql.BulkOptions{}, []string{"id"}, []any{2}, []any{1}, []any{3})
	requireNumber(t, err, 2627)
	assert.Equal(t, 1, scanOne[int](t, db, "SELECT COUNT(*) FROM t"), "all rows or none")
}

func TestBulkLoad_IsCaptured(t *testing.T) {
	s, db := newServerDB(t)
	mustExec(t, db, "CREATE DATABASE inventory")
	inventory := openDB(t, s, dsn("sa", password, "database", "inventory"))
	mustExec(t, inventory, "EXEC sys.sp_cdc_enable_db", "CREATE TABLE dbo.t (id int PRIMARY KEY, v nvarchar(20))",
		"EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL")
	_, err := copyIn(t.Context(), inventory, "dbo.t", mssql.BulkOptions{}, []string{"id", "v"}, []any{1, "a"}, []any{2, nil})
	require.NoError(t, err)
	require.NoError(t, s.CaptureNow("inventory"))
	assert.Equal(t, 2, scanOne[int](t, inventory, "SELECT COUNT(*) FROM cdc.dbo_t_CT WHERE __$operation = 2"))
}

func TestWire_BulkLoad(t *testing.T) {
	s, db := newServerDB(t)
	mustExec(t, db, "CREATE TABLE t (i int NOT NULL)")
	c := newRawServerClient(t, s)
	column := []byte{0x81, 1, 0, 0, 0, 0, 0, 0x08, 0, 0x38, 1, 'i', 0}
	row := func(n byte) []byte { return []byte{0xD1, n, 0, 0, 0} }
	done := append([]byte{0xFD}, make([]byte, 12)...)
	stream := func(parts ...[]byte) []byte {
		all := append([]byte(nil), column...)
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	announce := func() {
		c.batch("INSERT BULK t (i int) WITH (TABLOCK)")
		require.Equal(t, "DONE [] command 0x0\n", c.receive())
	}

	announce()
	c.send(tds.PacketBulkLoad, 1, stream(row(1), row(2), done))
	assert.Equal(t, "DONE [] command 0xC3 count 2\n", c.receive())

	c.send(tds.PacketBulkLoad, 1, stream(row(1), done))
	assert.Contains(t, c.receive(), "ERROR 4002", "rows without INSERT BULK")

	announce()
	c.send(tds.PacketBulkLoad, 1, stream(row(3), row(4)))
	assert.Contains(t, c.receive(), "ERROR 4804", "no DONE")
	assert.Equal(t, 2, scanOne[int](t, db, "SELECT COUNT(*) FROM t"))

	announce()
	c.send(tds.PacketBulkLoad, 0, stream(row(5)))
	c.send(tds.PacketBulkLoad, 3, nil)
	assert.Equal(t, "DONE [error] command 0x0\n", c.receive(), "the client gave up while sending")
	assert.Equal(t, 2, scanOne[int](t, db, "SELECT COUNT(*) FROM t"))
	c.send(tds.PacketBulkLoad, 1, stream(row(6), done))
	assert.Contains(t, c.receive(), "ERROR 4002", "an abandoned load leaves nothing announced")

	announce()
	c.batch("SELECT 1")
	assert.Contains(t, c.receive(), "ROW 1")
	c.send(tds.PacketBulkLoad, 1, stream(row(7), done))
	assert.Contains(t, c.receive(), "ERROR 4002", "another request takes the announcement back")

	announce()
	c.send(tds.PacketBulkLoad, 1, []byte{0xD1})
	assert.Contains(t, c.receive(), "ERROR 4002", "no COLMETADATA")
	c.batch("INSERT BULK t (i int, nosuch int)")
	assert.Contains(t, c.receive(), "ERROR 207")
	c.batch("INSERT BULK t (i int) WITH (NOSUCH)")
	assert.Contains(t, c.receive(), "ERROR 155")
}
