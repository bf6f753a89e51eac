package cdc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Debezium's SqlServerConnectorIT.updatePrimaryKeyTwiceWithRestartInMiddleOfTx counts
// 20 events for two statements that assign a key of five rows, though the second
// assigns the values that are there; each is five deletes, then five inserts, whose
// sequence values differ (Debezium PR 7728).
func TestRecorded_KeyUpdatedTwice(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE tableb (id int NOT NULL PRIMARY KEY, colb varchar(30))")
	for i := range 5 {
		s.exec(fmt.Sprintf("INSERT tableb VALUES (%d, '%d')", i+1, i+1))
	}
	s.track("tableb")
	s.exec("BEGIN TRAN; UPDATE tableb SET id = colb + 300; UPDATE tableb SET id = colb + 300; COMMIT")
	s.capture()
	rows := s.query("SELECT [__$operation], id, [__$command_id] FROM cdc.dbo_tableb_CT ORDER BY [__$command_id]")
	var want []string
	for i, r := range []string{"1 1", "1 2", "1 3", "1 4", "1 5", "2 301", "2 302", "2 303", "2 304", "2 305"} {
		want = append(want, fmt.Sprintf("%s %d", r, i+1))
	}
	for i, r := range []string{"1 301", "1 302", "1 303", "1 304", "1 305", "2 301", "2 302", "2 303", "2 304", "2 305"} {
		want = append(want, fmt.Sprintf("%s %d", r, i+11))
	}
	assert.Equal(t, want, rows)
	assert.Equal(t, "20", s.value("SELECT COUNT(DISTINCT [__$seqval]) FROM cdc.dbo_tableb_CT"))
}

// AtlasCommerce lab scripts: one insert into a table and two into another of one
// transaction are numbered 1 and 2, 3.
func TestRecorded_CommandIDsOverTables(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)")
	s.track("a")
	s.track("b")
	s.exec("BEGIN TRAN; INSERT a VALUES (1); INSERT b VALUES (1); INSERT b VALUES (2); COMMIT")
	s.capture()
	assert.Equal(t, "1", s.value("SELECT [__$command_id] FROM cdc.dbo_a_CT"))
	assert.Equal(t, []string{"2", "3"}, s.query("SELECT [__$command_id] FROM cdc.dbo_b_CT ORDER BY id"))
}

// emanuel-luis/mssql-cdc-pyspark on 2022 CU27: insert, two updates and a delete of one
// transaction read 2, 3, 4, 3, 4, 1.
func TestRecorded_OneTransaction(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, v int)")
	s.track("t")
	s.exec("BEGIN TRAN; INSERT t VALUES (1, 1); UPDATE t SET v = 2; UPDATE t SET v = 3; DELETE t; COMMIT")
	s.capture()
	assert.Equal(t, "2 3 4 3 4 1", strings.Join(s.query("SELECT [__$operation] FROM cdc.dbo_t_CT ORDER BY [__$command_id], [__$operation]"), " "))
}

// P. Vandivier, "paired records": MERGE replaces the row even when it assigns the key
// its own value; a true UPDATE of one row to the same values writes nothing.
func TestRecorded_MergeAssignsTheKey(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, v int); INSERT t VALUES (1, 1)")
	s.track("t")
	s.exec("UPDATE t SET id = 1, v = 1")
	s.capture()
	assert.Empty(t, s.changes("dbo_t"))
	s.exec("MERGE t USING (VALUES (1, 1)) s (id, v) ON t.id = s.id WHEN MATCHED THEN UPDATE SET id = s.id, v = s.v;")
	s.capture()
	assert.Equal(t, []string{"1 1 1 0x03 1 1 1", "1 1 2 0x03 2 1 1"}, s.changes("dbo_t", "id", "v"))
	s.exec("MERGE t USING (VALUES (1, 2)) s (id, v) ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v;")
	s.capture()
	assert.Equal(t, []string{"2 1 3 0x02 1 1 1", "2 1 4 0x02 1 1 2"}, s.changes("dbo_t", "id", "v")[2:])
}

// MS KB 302341: with trace flag 8207 a singleton update of a unique column is an
// update; it does not change what happens to many rows.
func TestRecorded_SingletonUpdates(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, u int UNIQUE); INSERT t VALUES (1, 1), (2, 2)")
	s.track("t")
	s.exec("DBCC TRACEON (8207, -1)")
	assert.Equal(t, []string{"8207 1 1 0"}, s.query("DBCC TRACESTATUS (-1)"))
	s.exec("UPDATE t SET u = 10 WHERE id = 1")
	s.exec("UPDATE t SET u = u + 1")
	s.exec("DBCC TRACEOFF (8207, -1); UPDATE t SET u = 20 WHERE id = 1")
	s.capture()
	assert.Equal(t, []string{
		"1 1 3 0x02 1 1", "1 1 4 0x02 1 10",
		"2 1 1 0x03 1 10", "2 2 1 0x03 2 2", "2 1 2 0x03 3 11", "2 2 2 0x03 4 3",
		"3 1 1 0x03 1 11", "3 1 2 0x03 2 20",
	}, s.changes("dbo_t", "u"))
}

// INSERT … EXEC, cascades and OUTPUT INTO are captured as any other change.
func TestCapture_IndirectChanges(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p ON DELETE CASCADE)")
	s.track("c")
	s.exec("INSERT p VALUES (1), (2)")
	s.exec("INSERT c EXEC ('SELECT 10, 1 UNION ALL SELECT 20, 2')")
	s.exec("DELETE p WHERE id = 2")
	s.capture()
	assert.Equal(t, []string{"1 1 2 0x03 1 10", "1 2 2 0x03 2 20", "2 1 1 0x03 1 20"}, s.changes("dbo_c", "id"))
}

// Error 7139 keeps large objects above "max text repl size" out of captured columns.
func TestCapture_MaxTextReplSize(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, a nvarchar(max), b nvarchar(max)); INSERT t VALUES (0, REPLICATE(CONVERT(nvarchar(max), N'x'), 40000), NULL)")
	s.track("t", "@captured_column_list = N'id, a'")
	s.exec("INSERT t VALUES (1, REPLICATE(CONVERT(nvarchar(max), N'x'), 32768), NULL)")
	e := s.fails("INSERT t VALUES (2, REPLICATE(CONVERT(nvarchar(max), N'x'), 32769), NULL)")
	assert.Equal(t, int32(7139), e.Number)
	assert.Contains(t, e.Message, "Length of LOB data (65538) to be replicated exceeds configured maximum 65536.")
	assert.Equal(t, int32(7139), s.fails("UPDATE t SET a += N'x' WHERE id = 1").Number)
	s.exec("UPDATE t SET b = REPLICATE(CONVERT(nvarchar(max), N'x'), 90000)") // not captured, and a does not change
	s.exec("EXEC sp_configure 'max text repl size', -1; RECONFIGURE; UPDATE t SET a += N'x' WHERE id = 1")
	s.capture()
	assert.Equal(t, []string{"65536", "65538"}, s.query("SELECT DATALENGTH(a) FROM cdc.dbo_t_CT WHERE a IS NOT NULL AND id = 1 AND [__$operation] <> 3 ORDER BY [__$start_lsn]"))
}
