package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A block that returns no rows takes the locks that its hints ask for:
// debezium's ExclusiveSnapshotLock locks tables by it.
func TestTableLockHint_WithoutRows(t *testing.T) {
	in, holder := shop(t)
	must(t, holder, "CREATE TABLE t (id int PRIMARY KEY); INSERT t VALUES (1)")
	other := login(t, in, "shop")
	must(t, other, "SET LOCK_TIMEOUT 0")

	must(t, holder, "BEGIN TRAN; SELECT TOP (0) * FROM t WITH (TABLOCKX)")
	require.Contains(t, run(t, other, "SELECT id FROM t"), "Msg 1222,")
	require.Contains(t, run(t, other, "SELECT TOP (0) * FROM t WITH (TABLOCK)"), "Msg 1222,")
	require.NotContains(t, run(t, other, "SELECT TOP (0) * FROM t"), "Msg")
	must(t, holder, "COMMIT")
	require.NotContains(t, run(t, other, "SELECT TOP (0) * FROM t WITH (TABLOCK)"), "Msg")

	must(t, holder, "BEGIN TRAN; UPDATE t SET id = 2")
	require.Contains(t, run(t, other, "SELECT TOP (0) * FROM t AS a JOIN t AS b WITH (TABLOCKX) ON a.id = b.id"), "Msg 1222,")
	must(t, holder, "ROLLBACK")
}

// sp_statistics lists clustered indexes first, then the others by name, as
// drivers take the first unique one for a key (MS docs: sp_statistics).
func TestStatistics_Order(t *testing.T) {
	_, s := shop(t)
	must(t, s, `CREATE TABLE t (a int NOT NULL, b int NOT NULL)
CREATE INDEX a1 ON t (a)
CREATE UNIQUE INDEX z ON t (a)
CREATE UNIQUE INDEX M ON t (b)
CREATE UNIQUE CLUSTERED INDEX zz ON t (a, b)`)
	got := must(t, s, "DECLARE @s TABLE (q sysname, o sysname, t sysname, n smallint NULL, iq sysname NULL, name sysname NULL, type smallint, seq smallint NULL, col sysname NULL, c char(1) NULL, card int, pages int, f varchar(128) NULL); INSERT @s EXEC sp_statistics_100 't', 'dbo', 'shop', '%', 'N', 'Q'; SELECT name FROM @s WHERE name IS NOT NULL").out.String()
	require.Contains(t, got, "zz\nzz\nM\nz\na1\n")
}

// A rollback to a savepoint frees the table locks taken behind it, also those of
// a transaction that had not read anything before it (MS docs: ROLLBACK
// TRANSACTION); debezium's SqlServerSnapshotChangeEventSource relies on it.
func TestTableLockHint_RollbackToSavepoint(t *testing.T) {
	in, holder := shop(t)
	must(t, holder, "CREATE TABLE t (id int PRIMARY KEY)")
	other := login(t, in, "shop")
	must(t, other, "SET LOCK_TIMEOUT 0")

	must(t, holder, "BEGIN TRAN; SAVE TRAN s; SELECT TOP (0) * FROM t WITH (TABLOCKX)")
	require.Contains(t, run(t, other, "SELECT id FROM t"), "Msg 1222,")
	must(t, holder, "ROLLBACK TRAN s")
	require.NotContains(t, run(t, other, "SELECT id FROM t"), "Msg")
	must(t, holder, "COMMIT")
}
