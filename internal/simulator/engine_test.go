package simulator

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newServerDB starts a whole server and connects the real driver to it.
func newServerDB(t *testing.T) (*Server, *sql.DB) {
	t.Helper()
	s, err := New(Options{Logins: map[string]string{"sa": password}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, openDB(t, s, dsn("sa", password))
}

func mustExec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err, statement)
	}
}

func scanOne[T any](t *testing.T, db *sql.DB, query string, args ...any) T {
	t.Helper()
	var v T
	require.NoError(t, db.QueryRowContext(t.Context(), query, args...).Scan(&v), query)
	return v
}

func TestEngine_Login(t *testing.T) {
	s, db := newServerDB(t)
	require.NoError(t, db.PingContext(t.Context()))
	requireNumber(t, openDB(t, s, dsn("sa", "wrong")).PingContext(t.Context()), 18456)
	requireNumber(t, openDB(t, s, dsn("nobody", password)).PingContext(t.Context()), 18456)
	err := openDB(t, s, dsn("sa", password, "database", "nowhere")).PingContext(t.Context())
	var e mssql.Error
	require.ErrorAs(t, err, &e)
	require.Len(t, e.All, 2)
	assert.Equal(t, int32(4060), e.All[0].Number)
	assert.Equal(t, int32(18456), e.All[1].Number)

	mustExec(t, db, "CREATE DATABASE inventory")
	other := openDB(t, s, dsn("sa", password, "database", "inventory"))
	assert.Equal(t, "inventory", scanOne[string](t, other, "SELECT DB_NAME()"))
	assert.Contains(t, scanOne[string](t, other, "SELECT @@VERSION"), "Microsoft SQL Server")
}

// typeRow is a column of every type, a literal for it, and what the driver
// makes of it.
var typeRow = []struct {
	declaration string
	literal     string
	want        any
}{
	{"bit", "1", true},
	{"tinyint", "255", int64(255)},
	{"smallint", "-32768", int64(-32768)},
	{"int", "-2147483648", int64(-2147483648)},
	{"bigint", "9223372036854775807", int64(9223372036854775807)},
	{"decimal(10,2)", "-12345678.90", []byte("-12345678.90")},
	{"numeric(38,10)", "1234567890123456789012345678.0123456789", []byte("1234567890123456789012345678.0123456789")},
	{"money", "-922337203685477.5808", []byte("-922337203685477.5808")},
	{"smallmoney", "214748.3647", []byte("214748.3647")},
	{"real", "1.5", float64(1.5)},
	{"float", "1.2345678901234567E100", 1.2345678901234567e100},
	{"date", "'0001-01-01'", time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)},
	{"time(7)", "'23:59:59.9999999'", time.Date(1, 1, 1, 23, 59, 59, 999999900, time.UTC)},
	{"time(0)", "'12:34:56'", time.Date(1, 1, 1, 12, 34, 56, 0, time.UTC)},
	{"datetime", "'1753-01-01T00:00:00.003'", time.Date(1753, 1, 1, 0, 0, 0, 3000000, time.UTC)},
	{"smalldatetime", "'2079-06-06T23:59:00'", time.Date(2079, 6, 6, 23, 59, 0, 0, time.UTC)},
	{"datetime2(3)", "'9999-12-31T23:59:59.999'", time.Date(9999, 12, 31, 23, 59, 59, 999000000, time.UTC)},
	{"datetime2(7)", "'2024-02-29T01:02:03.1234567'", time.Date(2024, 2, 29, 1, 2, 3, 123456700, time.UTC)},
	{"datetimeoffset(7)", "'2024-02-29T01:02:03.1234567+05:30'", time.Date(2024, 2, 29, 1, 2, 3, 123456700, time.FixedZone("", 19800))},
	{"char(5)", "'abc'", "abc  "},
	{"varchar(20)", "'h\u00e9llo \u20ac'", "h\u00e9llo \u20ac"},
	{"varchar(max)", "REPLICATE(CAST('x' AS varchar(max)), 10000)", strings.Repeat("x", 10000)},
	{"nchar(3)", "N'\u65e5'", "\u65e5  "},
	{"nvarchar(20)", "N'\u65e5\u672c \U0001F642'", "\u65e5\u672c \U0001F642"},
	{"nvarchar(max)", "N''", ""},
	{"text", "'text'", "text"},
	{"ntext", "N'n\u00fctext'", "n\u00fctext"},
	{"binary(4)", "0x0102", []byte{1, 2, 0, 0}},
	{"varbinary(10)", "0x00FF", []byte{0, 255}},
	{"varbinary(max)", "0x", []byte{}},
	{"image", "0x0A0B", []byte{10, 11}},
	{"uniqueidentifier", "'01234567-89AB-CDEF-0123-456789ABCDEF'", []byte{0x67, 0x45, 0x23, 0x01, 0xAB, 0x89, 0xEF, 0xCD, 1, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF}},
	{"xml", "N'<a b=\"1\">x</a>'", "<a b=\"1\">x</a>"},
	{"sql_variant", "CAST(1.5 AS decimal(5,2))", []byte("1.50")},
}

func TestEngine_SelectOfEveryType(t *testing.T) {
	_, db := newServerDB(t)
	var columns, values, nulls []string
	for i, c := range typeRow {
		columns = append(columns, fmt.Sprintf("c%d %s NULL", i, c.declaration))
		values = append(values, c.literal)
		nulls = append(nulls, "NULL")
	}
	mustExec(t, db,
		"CREATE TABLE t (id int NOT NULL PRIMARY KEY, "+strings.Join(columns, ", ")+", v rowversion)",
		"INSERT INTO t (id, "+columnNames()+") VALUES (1, "+strings.Join(values, ", ")+")",
		"INSERT INTO t (id, "+columnNames()+") VALUES (2, "+strings.Join(nulls, ", ")+")")
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM t ORDER BY id")
	require.NoError(t, err)
	defer rows.Close()
	got := make([]any, len(typeRow)+2)
	dest := make([]any, len(got))
	for i := range got {
		dest[i] = &got[i]
	}
	require.True(t, rows.Next())
	require.NoError(t, rows.Scan(dest...))
	for i, c := range typeRow {
		assertValue(t, c.declaration, c.want, got[i+1])
	}
	assert.Len(t, got[len(got)-1], 8, "rowversion")
	require.True(t, rows.Next())
	require.NoError(t, rows.Scan(dest...))
	for i, c := range typeRow {
		assert.Nil(t, got[i+1], c.declaration)
	}
	require.False(t, rows.Next())
	require.NoError(t, rows.Err())
}

func columnNames() string {
	names := make([]string, len(typeRow))
	for i := range names {
		names[i] = fmt.Sprint("c", i)
	}
	return strings.Join(names, ", ")
}

func assertValue(t *testing.T, what string, want, got any) {
	t.Helper()
	if w, ok := want.(time.Time); ok {
		g, ok := got.(time.Time)
		require.True(t, ok, "%s: %T", what, got)
		assert.True(t, w.Equal(g), "%s: want %v, got %v", what, w, g)
		return
	}
	assert.Equal(t, want, got, what)
}

func TestEngine_ParametersOfEveryType(t *testing.T) {
	_, db := newServerDB(t)
	guid := mssql.UniqueIdentifier{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	at := time.Date(2024, 2, 29, 1, 2, 3, 123456700, time.FixedZone("", -3*3600))
	long := strings.Repeat("0123456789abcd\u00e9 ", 1<<16)
	for _, tt := range []struct {
		name string
		in   any
		want any
	}{
		{"int64", int64(-5), int64(-5)},
		{"float64", 1.25, 1.25},
		{"bool", true, true},
		{"string", "h\u00e9llo \U0001F642", "h\u00e9llo \U0001F642"},
		{"empty string", "", ""},
		{"1 MB string", long, long},
		{"varchar", mssql.VarChar("plain"), "plain"},
		{"nvarchar(max)", mssql.NVarCharMax("n"), "n"},
		{"bytes", []byte{1, 2, 3}, []byte{1, 2, 3}},
		{"empty bytes", []byte{}, []byte{}},
		{"time", at, at},
		{"datetime", mssql.DateTime1(time.Date(2024, 2, 29, 1, 2, 3, 7e6, time.UTC)), time.Date(2024, 2, 29, 1, 2, 3, 7e6, time.UTC)},
		{"guid", guid, []byte{4, 3, 2, 1, 6, 5, 8, 7, 9, 10, 11, 12, 13, 14, 15, 16}},
		{"nil", nil, nil},
		{"null string", sql.NullString{}, nil},
		{"nil bytes", []byte(nil), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got any
			require.NoError(t, db.QueryRowContext(t.Context(), "SELECT @p1", tt.in).Scan(&got))
			assertValue(t, tt.name, tt.want, got)
		})
	}
}

func TestEngine_ResultSetsAndErrors(t *testing.T) {
	_, db := newServerDB(t)
	rows, err := db.QueryContext(t.Context(), "SELECT 1; SELECT 'a' UNION ALL SELECT 'b'; PRINT 'hello'; SELECT 2")
	require.NoError(t, err)
	defer rows.Close()
	var got []string
	for more := true; more; more = rows.NextResultSet() {
		for rows.Next() {
			var v string
			require.NoError(t, rows.Scan(&v))
			got = append(got, v)
		}
		got = append(got, "|")
	}
	require.NoError(t, rows.Err())
	assert.Equal(t, []string{"1", "|", "a", "b", "|", "2", "|"}, got)

	_, err = db.ExecContext(t.Context(), "SELECT * FROM nowhere")
	requireNumber(t, err, 208)
	_, err = db.ExecContext(t.Context(), "SELEC 1")
	require.Error(t, err)
	require.NoError(t, db.PingContext(t.Context()))
}

func TestEngine_Transactions(t *testing.T) {
	_, db := newServerDB(t)
	mustExec(t, db, "CREATE TABLE t (id int NOT NULL PRIMARY KEY, v nvarchar(20))")
	for _, commit := range []bool{false, true} {
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		require.NoError(t, err)
		result, err := tx.ExecContext(t.Context(), "INSERT INTO t VALUES (@id, @v)", sql.Named("id", 1), sql.Named("v", "x"))
		require.NoError(t, err)
		affected, err := result.RowsAffected()
		require.NoError(t, err)
		assert.Equal(t, int64(1), affected)
		if commit {
			require.NoError(t, tx.Commit())
		} else {
			require.NoError(t, tx.Rollback())
		}
	}
	assert.Equal(t, 1, scanOne[int](t, db, "SELECT COUNT(*) FROM t"))
	_, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (1, 'again')")
	requireNumber(t, err, 2627)
}

func TestEngine_CancelsRunningStatement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, db := newServerDB(t)
		conn, err := db.Conn(t.Context())
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		start := time.Now()
		_, err = conn.ExecContext(ctx, "WAITFOR DELAY '01:00:00'")
		require.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, time.Minute, time.Since(start))
		require.NoError(t, conn.PingContext(t.Context()), "the connection goes on")
		require.NoError(t, conn.Close())
		require.NoError(t, db.Close())
		require.NoError(t, s.Close())
	})
}

func TestEngine_OutputParameters(t *testing.T) {
	_, db := newServerDB(t)
	mustExec(t, db, "CREATE PROCEDURE p @a int, @b nvarchar(20) OUTPUT AS BEGIN SET @b = CONCAT(@b, @a); RETURN 7 END")
	b := "x"
	var status mssql.ReturnStatus
	_, err := db.ExecContext(t.Context(), "p", sql.Named("a", 5), sql.Named("b", sql.Out{Dest: &b, In: true}), &status)
	require.NoError(t, err)
	assert.Equal(t, "x5", b)
	assert.Equal(t, mssql.ReturnStatus(7), status)
}

func TestEngine_RestartKeepsData(t *testing.T) {
	s, db := newServerDB(t)
	mustExec(t, db, "CREATE TABLE t (id int NOT NULL PRIMARY KEY)", "INSERT INTO t VALUES (1)")
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "INSERT INTO t VALUES (2)")
	require.NoError(t, err)
	s.Restart()
	require.Error(t, tx.Commit())
	db = openDB(t, s, dsn("sa", password))
	assert.Equal(t, 1, scanOne[int](t, db, "SELECT COUNT(*) FROM t"))
}

func TestEngine_Faults(t *testing.T) {
	s, db := newServerDB(t)
	mustExec(t, db, "CREATE TABLE t (id int NOT NULL PRIMARY KEY)", "INSERT INTO t VALUES (1), (2), (3)")
	s.Control(Fault{On: "select from dbo.t", Nth: 2, Do: Fail(1205, 13, 51, "Transaction was deadlocked.")})
	assert.Equal(t, 3, scanOne[int](t, db, "SELECT COUNT(*) FROM t"))
	_, err := db.ExecContext(t.Context(), "SELECT * FROM t")
	requireNumber(t, err, 1205)

	s.Control(Fault{On: "insert", Do: Cut()})
	_, err = db.ExecContext(t.Context(), "INSERT INTO t VALUES (4)")
	require.Error(t, err)
	db = openDB(t, s, dsn("sa", password))
	assert.Equal(t, 3, scanOne[int](t, db, "SELECT COUNT(*) FROM t"))
}

func TestServer_ExecAndQuery(t *testing.T) {
	s, _ := newServerDB(t)
	require.NoError(t, s.Exec("CREATE TABLE t (id int)\nGO\nINSERT INTO t VALUES (1)\nGO 3\n"))
	sets, err := s.Query("SELECT COUNT(*) AS n FROM t")
	require.NoError(t, err)
	require.Len(t, sets, 1)
	assert.Equal(t, "n", sets[0].Columns[0].Name)
	assert.Equal(t, int64(3), sets[0].Rows[0][0].Int64())
	require.ErrorContains(t, s.Exec("SELECT * FROM nowhere"), "208")
}

func TestServer_InitRunsOnce(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		s, err := New(Options{Dir: dir, Init: "CREATE DATABASE inventory\nGO\nUSE inventory\nCREATE TABLE t (id int)\nINSERT INTO t VALUES (1)"})
		require.NoError(t, err)
		sets, err := s.Query("SELECT COUNT(*) FROM inventory.dbo.t")
		require.NoError(t, err)
		assert.Equal(t, int64(1), sets[0].Rows[0][0].Int64())
		require.NoError(t, s.Close())
	}
	_, err := New(Options{Init: "CREATE TABEL t"})
	require.ErrorContains(t, err, "running init script")
}
