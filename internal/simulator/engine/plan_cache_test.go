package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func nvarchar(s string) engine.Arg {
	return engine.Arg{Type: sqltypes.NVarCharOf(4000), Value: sqltypes.StringOf(s)}
}

// TestPlanCache counts entries: one for each text of a batch, one for a statement
// with parameters whatever their values.
func TestPlanCache(t *testing.T) {
	_, s := shop(t)
	must(t, s, "CREATE TABLE t (id int PRIMARY KEY); INSERT t VALUES (1), (2), (3)")
	must(t, s, "CREATE PROCEDURE p @n int AS SELECT id FROM t WHERE id <= @n")
	must(t, s, "DBCC FREEPROCCACHE")
	for i := range int64(3) {
		r := &recorder{}
		n := engine.Arg{Type: sqltypes.Simple(sqltypes.Int), Value: sqltypes.IntOf(i + 1)}
		require.NoError(t, s.Call(t.Context(), "sp_executesql", []engine.Arg{nvarchar("SELECT id FROM t WHERE id <= @a"), nvarchar("@a int"), n}, r))
		require.NoError(t, s.Call(t.Context(), "p", []engine.Arg{n}, r))
		require.Empty(t, r.errors)
	}
	must(t, s, "SELECT 1 FROM t WHERE id = 1")
	must(t, s, "SELECT 1 FROM t WHERE id = 2")
	must(t, s, "/* twice */ SELECT id FROM t WHERE id < 3; DELETE t WHERE id > 90")
	must(t, s, "/* twice */ SELECT id FROM t WHERE id < 3; DELETE t WHERE id > 90")

	stats := run(t, s, `SELECT c.objtype, c.usecounts, s.execution_count, s.total_rows, s.last_rows, s.max_rows,
			SUBSTRING(x.text, s.statement_start_offset / 2 + 1, (CASE s.statement_end_offset WHEN -1 THEN DATALENGTH(x.text) ELSE s.statement_end_offset END - s.statement_start_offset) / 2) AS statement
		FROM sys.dm_exec_query_stats s JOIN sys.dm_exec_cached_plans c ON c.plan_handle = s.plan_handle
		CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) x WHERE x.text NOT LIKE '%dm_exec%' ORDER BY c.objtype, statement`)
	assert.Contains(t, stats, "Adhoc | 2 | 2 | 0 | 0 | 0 | DELETE t WHERE id > 90\n")
	assert.Contains(t, stats, "Adhoc | 1 | 1 | 1 | 1 | 1 | SELECT 1 FROM t WHERE id = 1\n")
	assert.Contains(t, stats, "Adhoc | 1 | 1 | 1 | 1 | 1 | SELECT 1 FROM t WHERE id = 2\n")
	assert.Contains(t, stats, "Adhoc | 2 | 2 | 4 | 2 | 2 | SELECT id FROM t WHERE id < 3\n")
	assert.Contains(t, stats, "Prepared | 3 | 3 | 6 | 3 | 3 | SELECT id FROM t WHERE id <= @a\n")
	assert.Contains(t, stats, "Proc | 3 | 3 | 6 | 3 | 3 | SELECT id FROM t WHERE id <= @n\n")
	assert.Contains(t, stats, "\n(6)\n")

	assert.Contains(t, run(t, s, "SELECT COUNT(DISTINCT query_hash) FROM sys.dm_exec_query_stats s CROSS APPLY sys.dm_exec_sql_text(s.plan_handle) x WHERE x.text LIKE 'SELECT 1 FROM t WHERE%'"),
		"\n1\n", "alike but for a constant")
	assert.Contains(t, run(t, s, "SELECT x.text FROM sys.dm_exec_query_stats s CROSS APPLY sys.dm_exec_sql_text(s.sql_handle) x WHERE x.text LIKE '(@a int)%'"),
		"\n(@a int)SELECT id FROM t WHERE id <= @a\n")
	assert.Contains(t, run(t, s, "SELECT x.text FROM sys.dm_exec_connections c CROSS APPLY sys.dm_exec_sql_text(c.most_recent_sql_handle) x WHERE c.session_id = @@SPID"), "most_recent_sql_handle) x")
	assert.Contains(t, run(t, s, "SELECT * FROM sys.dm_exec_sql_text(0x00)"), "(0)")
	must(t, s, "DBCC FREEPROCCACHE")
	assert.Contains(t, run(t, s, "SELECT COUNT(*) FROM sys.dm_exec_query_stats"), "\n0\n")
}

func TestPlanCache_NeedsServerState(t *testing.T) {
	in, s := shop(t)
	must(t, s, "CREATE USER reader FOR LOGIN reader")
	r, err := in.Login(engine.Login{User: "reader", Password: "secret", Database: "shop"})
	require.NoError(t, err)
	t.Cleanup(r.Close)
	assert.Contains(t, run(t, r, "SELECT * FROM sys.dm_exec_query_stats"), "Msg 300,")
}
