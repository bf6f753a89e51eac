package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func TestLogin(t *testing.T) {
	in, _ := shop(t)
	tests := []struct {
		name  string
		login engine.Login
		want  int32
	}{
		{"unknown login", engine.Login{User: "nobody"}, 18456},
		{"wrong password", engine.Login{User: "reader", Password: "x"}, 18456},
		{"missing database", engine.Login{User: "sa", Database: "nosuch"}, 4060},
		{"no user in the database", engine.Login{User: "reader", Password: "secret", Database: "shop"}, 4060},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := in.Login(tt.login)
			require.ErrorIs(t, err, &sqltypes.Error{Number: tt.want})
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func call(t *testing.T, s *engine.Session, proc string, args ...engine.Arg) string {
	t.Helper()
	r := &recorder{}
	require.NoError(t, s.Call(t.Context(), proc, args, r))
	return r.out.String()
}

func text(v string) engine.Arg {
	return engine.Arg{Type: sqltypes.NVarCharOf(4000), Value: sqltypes.StringOf(v)}
}

func number(name string, n int64) engine.Arg {
	return engine.Arg{Name: name, Type: sqltypes.Simple(sqltypes.Int), Value: sqltypes.IntOf(n)}
}

func TestCall_ExecuteSQL(t *testing.T) {
	_, s := shop(t)
	out := number("@b", 0)
	out.Output = true
	got := call(t, s, "sp_executesql", text("SELECT @a + 1 AS n; SET @b = @a * 10"), text("@a int, @b int OUTPUT"), number("@a", 4), out)
	require.Equal(t, "n int\n5\n(1)\nreturn 0\noutput 3 @b = 40\n", got)

	got = call(t, s, "sp_executesql", text("SELECT @a"), text("@a int"))
	require.Contains(t, got, "Msg 8178,")
	got = call(t, s, "sp_executesql", text("SELECT nope"))
	require.Contains(t, got, "Msg 207,")
	require.Contains(t, call(t, s, "nosuch"), "Msg 2812,")
}

func TestCall_Prepared(t *testing.T) {
	_, s := shop(t)
	handle := engine.Arg{Type: sqltypes.Simple(sqltypes.Int), Output: true}
	got := call(t, s, "sp_prepexec", handle, text("@a int"), text("SELECT @a AS n"), number("", 7))
	require.Equal(t, "n int\n7\n(1)\nreturn 0\noutput 0  = 1\n", got)
	require.Equal(t, "n int\n8\n(1)\nreturn 0\n", call(t, s, "sp_execute", number("", 1), number("", 8)))
	require.Equal(t, "return 0\n", call(t, s, "sp_unprepare", number("", 1)))
	require.Contains(t, call(t, s, "sp_execute", number("", 1), number("", 8)), "Msg 8179,")
}

// TestCall_SettingsRevert: SET inside sp_executesql ends with it (facts of MS
// docs: SET Statements).
func TestCall_SettingsRevert(t *testing.T) {
	_, s := shop(t)
	call(t, s, "sp_executesql", text("SET LOCK_TIMEOUT 5; USE master"))
	require.Equal(t, "shop", s.Database())
	require.Equal(t, "int\n-1\n(1)\n", run(t, s, "SELECT @@LOCK_TIMEOUT"))
}

func TestTransactionRequests(t *testing.T) {
	_, s := shop(t)
	must(t, s, "CREATE TABLE t (id int)")
	r := &recorder{}
	require.NoError(t, s.Begin(t.Context(), 5, "", r))
	descriptor, active := s.Transaction()
	require.True(t, active)
	require.NotZero(t, descriptor)
	require.Contains(t, run(t, s, "SELECT * FROM t"), "Msg 3952,")
	require.NoError(t, s.Rollback(t.Context(), "", r))
	require.NoError(t, s.Begin(t.Context(), 2, "", r))
	must(t, s, "INSERT t VALUES (1)")
	require.NoError(t, s.Save(t.Context(), "sp", r))
	must(t, s, "INSERT t VALUES (2)")
	require.NoError(t, s.Rollback(t.Context(), "sp", r))
	require.NoError(t, s.Commit(t.Context(), "", r))
	require.Equal(t, "id int\n1\n(1)\n", run(t, s, "SELECT * FROM t"))
	require.Equal(t, "begin\nrollback\nbegin\ncommit\n", r.out.String())
}

func TestBatch_Cancel(t *testing.T) {
	in, s := shop(t)
	must(t, s, "CREATE TABLE t (id int PRIMARY KEY)")
	must(t, s, "INSERT t VALUES (1)")
	other := login(t, in, "shop")
	must(t, other, "BEGIN TRAN; UPDATE t SET id = 2")

	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var err error
	wg.Go(func() { err = s.Batch(ctx, "SELECT * FROM t", &recorder{}) })
	cancel()
	wg.Wait()
	require.ErrorIs(t, err, context.Canceled)
	must(t, other, "ROLLBACK")
	require.Equal(t, "id int\n1\n(1)\n", run(t, s, "SELECT * FROM t"))
}

func TestBatch_SinkFails(t *testing.T) {
	_, s := shop(t)
	err := s.Batch(t.Context(), "SELECT name FROM sys.databases; CREATE TABLE never (a int)", &recorder{failRow: 2})
	require.ErrorIs(t, err, errSink)
	require.Equal(t, "int\nNULL\n(1)\n", run(t, s, "SELECT OBJECT_ID('never')"))
}

func TestKill(t *testing.T) {
	in, s := shop(t)
	must(t, s, "CREATE TABLE t (id int); BEGIN TRAN; INSERT t VALUES (1)")
	other := login(t, in, "shop")
	require.Contains(t, run(t, other, "KILL 51"), "")
	<-s.Done()
	s.Close()
	require.Equal(t, "int\n0\n(1)\n", run(t, other, "SELECT COUNT(*) FROM t"))
	require.Contains(t, run(t, other, "KILL 999"), "Msg 6106,")
}

func TestReset(t *testing.T) {
	_, s := shop(t)
	must(t, s, "CREATE TABLE #t (a int); SET NOCOUNT ON; BEGIN TRAN")
	r := &recorder{}
	require.NoError(t, s.Reset(t.Context(), false, r))
	require.Equal(t, "master", s.Database())
	require.Equal(t, "int\n0\n(1)\n", run(t, s, "SELECT @@TRANCOUNT"))
	require.Contains(t, run(t, s, "SELECT * FROM #t"), "Msg 208,")
}

// TestTableVariable_SurvivesRollback follows MS docs, table: transactions do not
// affect table variables.
func TestTableVariable_SurvivesRollback(t *testing.T) {
	_, s := shop(t)
	got := run(t, s, "DECLARE @t TABLE (a int); BEGIN TRAN; INSERT @t VALUES (1); ROLLBACK; SELECT a FROM @t")
	require.Equal(t, "begin\n(1)\nrollback\na int\n1\n(1)\n", got)
}

func TestSingleUser(t *testing.T) {
	in, s := shop(t)
	other := login(t, in, "shop")
	must(t, s, "ALTER DATABASE shop SET SINGLE_USER WITH ROLLBACK IMMEDIATE")
	<-other.Done()
	_, err := in.Login(engine.Login{User: "sa", Database: "shop"})
	require.ErrorIs(t, err, &sqltypes.Error{Number: 4060})
	must(t, s, "ALTER DATABASE shop SET MULTI_USER")
	login(t, in, "shop")
}

func TestInstance_Durable(t *testing.T) {
	dir := t.TempDir()
	open := func() (*engine.Instance, *engine.Session) {
		in, err := engine.New(engine.Options{Dir: dir})
		require.NoError(t, err)
		s, err := in.Login(engine.Login{User: "sa"})
		require.NoError(t, err)
		return in, s
	}
	in, s := open()
	must(t, s, "CREATE DATABASE shop")
	must(t, s, "USE shop")
	must(t, s, "CREATE TABLE t (id int IDENTITY PRIMARY KEY, v varchar(5) COLLATE Latin1_General_CS_AS DEFAULT 'd', n int NULL)")
	must(t, s, "CREATE UNIQUE INDEX ix ON t (n) WHERE n IS NOT NULL")
	must(t, s, "CREATE PROCEDURE p AS SELECT v FROM t")
	must(t, s, "INSERT t (n) VALUES (1), (NULL), (NULL); CREATE LOGIN ann WITH PASSWORD = 'x'")
	before := run(t, s, "SELECT object_id, name, create_date FROM sys.objects ORDER BY object_id; SELECT * FROM t")
	require.NoError(t, in.Close())

	in, s = open()
	must(t, s, "USE shop")
	require.Equal(t, before, run(t, s, "SELECT object_id, name, create_date FROM sys.objects ORDER BY object_id; SELECT * FROM t"))
	must(t, s, "INSERT t (n) VALUES (NULL)")
	require.Contains(t, run(t, s, "INSERT t (n) VALUES (1)"), "Msg 2601,")
	require.Contains(t, run(t, s, "SELECT MAX(id) AS m FROM t; EXEC p"), "m int\n4\n")
	_, err := in.Login(engine.Login{User: "ann", Password: "x"})
	require.NoError(t, err)
	require.NoError(t, in.Close())
}
