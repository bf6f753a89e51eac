package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

func TestHooks_ProcedureFunctionView(t *testing.T) {
	in, s := shop(t)
	integer := sqltypes.Simple(sqltypes.Int)
	seven := sqltypes.IntOf(7)
	in.RegisterProcedure("sys", "sp_double", engine.Procedure{
		Params: []engine.Param{{Name: "@n", Type: integer, Default: &seven}, {Name: "@out", Type: integer, Output: true, Default: &seven}},
		Run: func(x *engine.Exec, args []sqltypes.Value) (int32, error) {
			if args[0].Int64() < 0 {
				return 1, sqltypes.Errorf(22901, 1, 16, "negative in %s", x.Database().Name())
			}
			args[1] = sqltypes.IntOf(2 * args[0].Int64())
			_, err := x.Exec("INSERT dbo.log VALUES (@n)", engine.Arg{Name: "@n", Type: integer, Value: args[0]})
			return 0, err
		},
	})
	in.RegisterFunction("sys", "fn_triple", engine.Function{
		Params: []engine.Param{{Name: "@n", Type: integer}}, Returns: integer,
		Call: func(_ *engine.Exec, args []sqltypes.Value) (sqltypes.Value, error) {
			return sqltypes.IntOf(3 * args[0].Int64()), nil
		},
	})
	in.RegisterView(engine.View{
		Schema: "sys", Name: "dm_two", Columns: []engine.Column{{Name: "n", Type: integer}},
		Rows: func(_ *engine.Exec, _ *engine.Database, emit func([]sqltypes.Value) error) error {
			return emit([]sqltypes.Value{sqltypes.IntOf(2)})
		},
	})
	in.RegisterTableFunction(func(db *engine.Database, schema, name string) (*engine.TableFunction, bool) {
		return &engine.TableFunction{Params: []engine.Param{{Name: "@from", Type: integer}}, Query: "SELECT n FROM dbo.log WHERE n >= @from"}, strings.EqualFold(schema+"."+name, "dbo.fn_from")
	})
	must(t, s, "CREATE TABLE log (n int PRIMARY KEY)")
	require.Equal(t, "int\n14\n(1)\n", run(t, s, "SET NOCOUNT ON; DECLARE @o int; EXEC sp_double 7, @o OUTPUT; SET NOCOUNT OFF; SELECT @o")[len("return 0\n"):])
	require.Contains(t, run(t, s, "EXEC shop.sys.sp_double @n = -1"), "Msg 22901, Level 16, State 1, Line 1, sp_double: negative in shop")
	require.Contains(t, run(t, s, "SELECT sys.fn_triple(n) AS t FROM sys.dm_two"), "t int\n6\n")
	must(t, s, "INSERT log VALUES (3), (9)")
	require.Equal(t, "n int\n7\n9\n(2)\n", run(t, s, "SELECT * FROM dbo.fn_from(5) ORDER BY n"))
	require.LessOrEqual(t, s.RowsRead(), int64(2))
}

func TestHooks_DDL(t *testing.T) {
	in, s := shop(t)
	var events []string
	in.OnDDL(func(_ *engine.Exec, ev engine.DDLEvent) error {
		events = append(events, fmt.Sprintf("%d %s %s %v", ev.Phase, ev.Kind, ev.Action, ev.Columns))
		if ev.Kind == "TRUNCATE TABLE" {
			return sqltypes.Errorf(4711, 1, 16, "refused")
		}
		return nil
	})
	must(t, s, "CREATE TABLE t (a int, b int)")
	must(t, s, "ALTER TABLE t ADD c int NULL")
	must(t, s, "ALTER TABLE t ALTER COLUMN b bigint")
	must(t, s, "EXEC sp_rename 't.b', 'd', 'COLUMN'")
	must(t, s, "ALTER TABLE t DROP COLUMN c")
	require.Contains(t, run(t, s, "TRUNCATE TABLE t"), "Msg 4711,")
	must(t, s, "DROP TABLE t")
	require.Equal(t, []string{
		"1 CREATE TABLE  []", "0 ALTER TABLE ADD [c]", "1 ALTER TABLE ADD [c]", "0 ALTER TABLE ALTER [b]", "1 ALTER TABLE ALTER [b]",
		"0 RENAME COLUMN RENAME [b d]", "1 RENAME COLUMN RENAME [b d]", "0 ALTER TABLE DROP [c]", "1 ALTER TABLE DROP [c]",
		"0 TRUNCATE TABLE  []", "0 DROP TABLE  []", "1 DROP TABLE  []",
	}, events)
}

func TestHooks_Fault(t *testing.T) {
	in, s := shop(t)
	must(t, s, "CREATE TABLE t (id int PRIMARY KEY); INSERT t VALUES (1), (2), (3)")
	fault := func(pattern string, f engine.Fault) {
		in.SetFaultHook(func(info engine.StatementInfo) engine.Fault {
			if info.Matches(pattern) {
				return f
			}
			return engine.Fault{}
		})
	}
	deadlock := func(context.Context) error { return sqltypes.Errorf(1205, 45, 13, "victim") }
	fault("select from dbo.t", engine.Fault{Do: deadlock})
	require.Equal(t, "Msg 1205, Level 13, State 45, Line 1: victim\n", run(t, s, "SELECT * FROM t"))
	fault("select from t", engine.Fault{AfterRows: 2, Do: deadlock})
	require.Equal(t, "id int\n1\n2\nMsg 1205, Level 13, State 45, Line 1: victim\n", run(t, s, "SELECT * FROM t"))
	fault("insert", engine.Fault{Do: func(context.Context) error { return errSink }})
	require.ErrorIs(t, s.Batch(t.Context(), "INSERT t VALUES (4)", &recorder{}), errSink)
	fault("exec:sp_executesql", engine.Fault{Do: deadlock})
	require.Contains(t, call(t, s, "sp_executesql", text("SELECT 1")), "Msg 1205,")
	in.SetFaultHook(nil)
	require.Equal(t, "int\n3\n(1)\n", run(t, s, "SELECT COUNT(*) FROM t"))
}

// TestLog_Updates prints what UPDATE writes to the log. Key changes are a delete
// and an insert (paired: "with" names the delete), of several rows all deletes
// first; an update that changes nothing is not logged (P. Vandivier, "paired
// records"; Debezium PR 7728).
func TestLog_Updates(t *testing.T) {
	in, s := shop(t)
	must(t, s, "CREATE TABLE t (id int PRIMARY KEY, u int UNIQUE, v int)")
	must(t, s, "INSERT t VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0)")
	db := in.Database("shop")
	require.NoError(t, db.Storage().SetLogRetention(true))
	require.NoError(t, in.System("shop", func(x *engine.Exec) error {
		_, err := x.UpdateTable(db, db.TableNamed("dbo", "t"), func(t *engine.Table) { t.TrackedByCDC = true })
		return err
	}))
	after := db.Storage().LastCommitLSN()
	tests := []struct{ name, sql, want string }{
		{"plain", "UPDATE t SET v = 1 WHERE id = 1", "update 1"},
		{"nothing changes", "UPDATE t SET v = 1 WHERE id = 1", ""},
		{"some rows change", "UPDATE t SET v = 1", "update 2, update 3"},
		{"key of one row", "UPDATE t SET id = 4 WHERE id = 3", "delete 3, insert 4 with 3"},
		{"key of one row to itself", "UPDATE t SET id = id WHERE id = 4", ""},
		{"unique column of one row", "UPDATE t SET u = 31 WHERE id = 4", "delete 4, insert 4 with 4"},
		{"unique column of two rows", "UPDATE t SET u = u + 1 WHERE id < 3", "delete 1, delete 2, insert 1 with 1, insert 2 with 2"},
		{"key of two rows", "UPDATE t SET id = id + 10 WHERE id < 3", "delete 1, delete 2, insert 11, insert 12"},
		{"key of two rows to itself", "UPDATE t SET id = id WHERE id > 10", "delete 11, delete 12, insert 11, insert 12"},
		{"merge assigning the key", "MERGE t USING (VALUES (4)) s(k) ON id = k WHEN MATCHED THEN UPDATE SET id = k;", "delete 4, insert 4 with 4"},
		{"rolled back", "BEGIN TRAN; DELETE t; ROLLBACK", ""},
		{"insert and delete", "BEGIN TRAN; INSERT t VALUES (5, 5, 5); DELETE t WHERE id = 5; COMMIT", "insert 5, delete 5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			must(t, s, tt.sql)
			var got []string
			deletes := map[storage.LSN]int64{}
			for _, txn := range db.Storage().ReadLog(after, 10) {
				after = txn.CommitLSN
				for _, r := range txn.Records {
					switch r.Op {
					case storage.LogInsert:
						text := fmt.Sprintf("insert %d", r.After[0].Int64())
						if !r.PairLSN.IsZero() {
							text += fmt.Sprintf(" with %d", deletes[r.PairLSN])
						}
						got = append(got, text)
					case storage.LogDelete:
						deletes[r.LSN] = r.Before[0].Int64()
						got = append(got, fmt.Sprintf("delete %d", r.Before[0].Int64()))
					case storage.LogUpdate:
						got = append(got, fmt.Sprintf("update %d", r.After[0].Int64()))
					}
				}
			}
			require.Equal(t, tt.want, strings.Join(got, ", "))
		})
	}
}
