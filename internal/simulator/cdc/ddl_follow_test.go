package cdc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What identifies rows cannot go while capture uses it, whether or not net changes are
// supported (MS docs: Enable and disable change data capture).
func TestDDL_KeyInUse(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int NOT NULL CONSTRAINT pk PRIMARY KEY, u int NOT NULL, v int)")
	s.exec("CREATE UNIQUE INDEX ix ON t (u)")
	s.track("t", "@supports_net_changes = 0")
	s.track("t", "@capture_instance = N'second'", "@index_name = N'ix'")
	e := s.fails("ALTER TABLE t DROP CONSTRAINT pk")
	assert.Equal(t, "The unique index 'pk' on table 't' is used by Change Data Capture. The constraint using this index cannot be dropped or disabled.", e.Message)
	assert.Equal(t, int32(22983), s.fails("DROP INDEX ix ON t").Number)
	s.exec("EXEC sys.sp_cdc_disable_table N'dbo', N't', N'second'; DROP INDEX ix ON t")

	s.exec("CREATE TABLE late (id int NOT NULL, v int)")
	s.track("late")
	s.exec("ALTER TABLE late ADD CONSTRAINT later PRIMARY KEY (id); ALTER TABLE late DROP CONSTRAINT later") // capture ignores it
}

// A column that becomes a large object follows their rule from then on.
func TestDDL_ToMax(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, a varchar(10), n int)")
	s.track("t")
	s.exec("INSERT t VALUES (1, 'x', 1)")
	s.exec("UPDATE t SET n = 2")
	s.exec("ALTER TABLE t ALTER COLUMN a varchar(max)")
	s.exec("UPDATE t SET n = 3")
	s.exec("UPDATE t SET a = 'y'")
	s.capture()
	assert.Equal(t, []string{
		"1 1 2 0x07 1 x", "2 1 3 0x04 1 x", "2 1 4 0x04 1 x", "3 1 3 0x04 1 NULL", "3 1 4 0x04 1 x", "4 1 3 0x02 1 x", "4 1 4 0x02 1 y",
	}, s.changes("dbo_t", "a"))
	assert.Equal(t, "-1", s.value("SELECT max_length FROM sys.columns WHERE object_id = OBJECT_ID(N'cdc.dbo_t_CT') AND name = N'a'"))
}

// A change table whose rows do not fit the narrower type fails the scan, again and
// again, and loses nothing once the rows are gone.
func TestDDL_NarrowingFailsTheScan(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, a varchar(20))")
	s.track("t")
	s.exec("INSERT t VALUES (1, 'a long one')")
	s.exec("UPDATE t SET a = 'short'")
	s.capture()
	s.exec("ALTER TABLE t ALTER COLUMN a varchar(5); INSERT t VALUES (2, 'abc')")
	require.Error(t, s.agent.CaptureNow("shop"))
	require.Error(t, s.agent.CaptureNow("shop"))
	assert.Equal(t, []string{"2628", "22859", "22976"}, s.query("SELECT DISTINCT error_number FROM sys.dm_cdc_errors ORDER BY error_number"))
	assert.Empty(t, s.query("SELECT 1 FROM cdc.ddl_history"))
	s.exec("DELETE cdc.dbo_t_CT WHERE DATALENGTH(a) > 5")
	s.capture()
	assert.Equal(t, "1", s.value("SELECT COUNT(*) FROM cdc.dbo_t_CT WHERE id = 2"))
}

// The history of a DDL statement is there before the maximum passes it, for each
// instance that was there, and goes with the instance.
func TestDDL_History(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, a int)")
	s.track("t", "@capture_instance = N'v1'")
	s.exec("ALTER TABLE t ADD b int")
	s.track("t", "@capture_instance = N'v2'")
	s.exec("ALTER TABLE t ALTER COLUMN a int NOT NULL")
	s.exec("BEGIN TRAN; ALTER TABLE t ADD c int; ROLLBACK")
	s.exec("INSERT t VALUES (1, 1, 1)")
	assert.Empty(t, s.query("SELECT 1 FROM cdc.ddl_history"), "the capture job writes it")
	s.capture()
	assert.Equal(t, []string{"v1 0 ALTER TABLE t ADD b int", "v1 0 ALTER TABLE t ALTER COLUMN a int NOT NULL", "v2 0 ALTER TABLE t ALTER COLUMN a int NOT NULL"},
		s.query(`SELECT t.capture_instance, CONVERT(int, h.required_column_update), h.ddl_command FROM cdc.ddl_history h
JOIN cdc.change_tables t ON t.object_id = h.object_id ORDER BY t.capture_instance, h.ddl_lsn`))
	assert.Equal(t, "0", s.value("SELECT COUNT(*) FROM cdc.ddl_history WHERE ddl_lsn > sys.fn_cdc_get_max_lsn()"))
	s.exec("EXEC sys.sp_cdc_disable_table N'dbo', N't', N'v1'")
	assert.Equal(t, "1", s.value("SELECT COUNT(*) FROM cdc.ddl_history"))
}
