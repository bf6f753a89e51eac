package cdc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The pattern of cmettler/fabricator-extension's recording of SQL Server 2025.
func TestCapture_LSNs(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, a varchar(10), b int, c int, notes nvarchar(max))")
	s.track("t")
	s.exec("BEGIN TRAN; INSERT t VALUES (1, 'a', 1, 1, N'x'); INSERT t VALUES (2, 'b', 2, 2, N'y'); COMMIT")
	s.exec("UPDATE t SET b = 10 WHERE id = 1")
	s.exec("DELETE t WHERE id = 2")
	s.capture()
	assert.Equal(t, []string{
		"1 1 2 0x1F 1 1 x", "1 2 2 0x1F 2 2 y",
		"2 1 3 0x04 1 1 NULL", "2 1 4 0x04 1 1 x",
		"3 1 1 0x1F 1 2 y",
	}, s.changes("dbo_t", "id", "notes"))
	assert.Equal(t, "5 5", s.value(`SELECT SUM(CASE WHEN [__$seqval] < [__$start_lsn] THEN 1 ELSE 0 END),
	SUM(CASE WHEN SUBSTRING([__$seqval], 1, 8) = SUBSTRING([__$start_lsn], 1, 8) THEN 1 ELSE 0 END) FROM cdc.dbo_t_CT`))
	assert.Equal(t, "3 3", s.value(`SELECT COUNT(*), COUNT(DISTINCT m.tran_id) FROM cdc.lsn_time_mapping m
WHERE m.tran_id <> 0x00 AND EXISTS (SELECT 1 FROM cdc.dbo_t_CT c WHERE c.[__$start_lsn] = m.start_lsn) AND m.tran_begin_lsn < m.start_lsn`))
}

func TestCapture_Rollback(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	s.exec("BEGIN TRAN; INSERT t VALUES (1); ROLLBACK")
	s.exec("BEGIN TRAN; INSERT t VALUES (2); SAVE TRAN a; INSERT t VALUES (3); ROLLBACK TRAN a; COMMIT")
	s.capture()
	assert.Equal(t, []string{"1 1 2 0x01 1 2"}, s.changes("dbo_t", "id"))
}

func TestCapture_KeyChanges(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, u int UNIQUE, v int)")
	s.exec("INSERT t VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0)")
	s.track("t")

	// One row: delete and insert share the sequence value (P. Vandivier, "paired
	// records"; Debezium PR 7728).
	s.exec("UPDATE t SET id = 4 WHERE id = 3")
	s.capture()
	assert.Equal(t, []string{"1 1 1 0x07 1 3", "1 1 2 0x07 2 4"}, s.changes("dbo_t", "id"))

	// Many rows, the key: all deletes, then all inserts, sequence values differ.
	s.exec("UPDATE t SET id = id + 100")
	s.capture()
	assert.Equal(t, []string{
		"2 1 1 0x07 1 1", "2 2 1 0x07 2 2", "2 3 1 0x07 3 4", "2 4 2 0x07 4 101", "2 5 2 0x07 5 102", "2 6 2 0x07 6 104",
	}, s.changes("dbo_t", "id")[2:])

	// A deferred update of another unique index: by command id deletes then
	// inserts, by sequence value 1,2,1,2.
	s.exec("UPDATE t SET u = u + 10")
	s.capture()
	assert.Equal(t, []string{
		"3 1 1 0x07 1 101", "3 2 1 0x07 2 102", "3 3 1 0x07 3 104", "3 1 2 0x07 4 101", "3 2 2 0x07 5 102", "3 3 2 0x07 6 104",
	}, s.changes("dbo_t", "id")[8:])
}

func TestCapture_SilentUpdates(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, v varchar(10) COLLATE Latin1_General_CI_AS)")
	s.exec("INSERT t VALUES (1, 'a')")
	s.track("t")
	s.exec("UPDATE t SET v = 'a'")
	s.capture()
	assert.Empty(t, s.changes("dbo_t"))
	s.exec("UPDATE t SET v = 'A'")
	s.capture()
	assert.Equal(t, []string{"1 1 3 0x02 1 a", "1 1 4 0x02 1 A"}, s.changes("dbo_t", "v"))
}

func TestCapture_Images(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, o text, m varchar(max), c AS id * 2 PERSISTED, v rowversion, n int)")
	s.track("t")
	s.exec("INSERT t (id, o, m, n) VALUES (1, 'old', 'max', 0)")
	s.exec("UPDATE t SET n = 1")
	s.exec("UPDATE t SET m = 'more', n = 2")
	s.exec("DELETE t")
	s.capture()
	assert.Equal(t, []string{
		"1 1 2 0x3F 1 old max NULL 0",
		"2 1 3 0x30 1 NULL NULL NULL 0", "2 1 4 0x30 1 old max NULL 1", // rowversion is set by every update
		"3 1 3 0x34 1 NULL max NULL 1", "3 1 4 0x34 1 old more NULL 2",
		"4 1 1 0x3F 1 NULL more NULL 2",
	}, s.changes("dbo_t", "o", "m", "c", "n"))
	assert.Equal(t, "8 8", s.value("SELECT MIN(DATALENGTH(v)), MAX(DATALENGTH(v)) FROM cdc.dbo_t_CT"))
}

func TestCapture_WideMask(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (c1 int PRIMARY KEY, c2 int, c3 int, c4 int, c5 int, c6 int, c7 int, c8 int, c9 int)")
	s.track("t")
	s.exec("INSERT t (c1) VALUES (1)")
	s.exec("UPDATE t SET c2 = 1")
	s.capture()
	assert.Equal(t, []string{"1 1 2 0x01FF 1", "2 1 3 0x0002 1", "2 1 4 0x0002 1"}, s.changes("dbo_t"))
	assert.Equal(t, "2 1 0 1 0", s.value(`SELECT sys.fn_cdc_get_column_ordinal('dbo_t', 'c2'), CONVERT(int, sys.fn_cdc_is_bit_set(2, 0x0002)),
	CONVERT(int, sys.fn_cdc_is_bit_set(9, 0x0002)), CONVERT(int, sys.fn_cdc_has_column_changed('dbo_t', 'c2', 0x0002)),
	CONVERT(int, sys.fn_cdc_has_column_changed('dbo_t', 'c3', 0x0002))`))
}

// Idle rows: one at the first scan, then one about every 305 s while nothing is
// captured (recorded on 2022 CU27).
func TestCapture_IdleRows(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE other (id int)")
	s.track("t")
	count := func() string {
		return s.value("SELECT COUNT(*) FROM cdc.lsn_time_mapping WHERE tran_id = 0x00")
	}
	s.clock.advance(0)
	assert.Equal(t, "1", count())
	s.exec("INSERT other VALUES (1)") // untracked changes add no row
	s.clock.advance(300 * time.Second)
	assert.Equal(t, "1", count())
	s.clock.advance(5 * time.Second)
	assert.Equal(t, "2", count())
	s.clock.advance(250 * time.Second)
	s.exec("INSERT t VALUES (1)")
	s.clock.advance(250 * time.Second)
	assert.Equal(t, "2", count(), "a captured commit puts it off")
	s.clock.advance(56 * time.Second)
	assert.Equal(t, "3", count())
	assert.Equal(t, "1", s.value("SELECT CASE WHEN sys.fn_cdc_get_max_lsn() = (SELECT MAX(start_lsn) FROM cdc.lsn_time_mapping) THEN 1 ELSE 0 END"))
}

func TestMinLSN_BesideRunningCapture(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)")
	s.track("a")
	assert.Equal(t, "0", s.value("SELECT CASE WHEN sys.fn_cdc_get_min_lsn('dbo_a') IS NULL THEN 1 ELSE 0 END"), "the first answers at once")
	s.exec("INSERT a VALUES (1)")
	s.capture()
	s.track("b")
	assert.Equal(t, "NULL", s.value("SELECT sys.fn_cdc_get_min_lsn('dbo_b')"))
	s.exec("INSERT a VALUES (2)")
	s.capture()
	assert.Equal(t, "1", s.value("SELECT CASE WHEN sys.fn_cdc_get_min_lsn('dbo_b') = start_lsn THEN 1 ELSE 0 END FROM cdc.change_tables WHERE capture_instance = 'dbo_b'"))
	assert.Equal(t, "0x00000000000000000000", s.value("SELECT sys.fn_cdc_get_min_lsn('none')"))
	assert.Equal(t, "0x00000000000000000000", s.value("SELECT sys.fn_cdc_get_min_lsn(NULL)"))
}

func TestFunctions_LSNs(t *testing.T) {
	s := start(t)
	assert.Equal(t, "0x0000002D000005880006 0x0000002D000005880004", s.value("SELECT sys.fn_cdc_increment_lsn(0x0000002D000005880005), sys.fn_cdc_decrement_lsn(0x0000002D000005880005)"))
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	s.exec("INSERT t VALUES (1)")
	s.clock.advance(10 * time.Second)
	s.exec("INSERT t VALUES (2)")
	s.capture()
	assert.Equal(t, "NULL", s.value("SELECT sys.fn_cdc_map_lsn_to_time(sys.fn_cdc_increment_lsn(sys.fn_cdc_get_max_lsn()))"), "no entry of the mapping")
	assert.Equal(t, "2024-03-05T12:00:10", s.value("SELECT sys.fn_cdc_map_lsn_to_time(sys.fn_cdc_get_max_lsn())"))
	for relation, want := range map[string]string{
		"largest less than": "1", "largest less than or equal": "2", "smallest greater than or equal": "2", "smallest greater than": "NULL",
	} {
		assert.Equal(t, want, s.value(fmt.Sprintf(`SELECT (SELECT id FROM cdc.dbo_t_CT WHERE [__$start_lsn] = sys.fn_cdc_map_time_to_lsn('%s', '2024-03-05T12:00:10'))`, relation)), relation)
	}
}

func TestRangeFunctions(t *testing.T) {
	s := start(t)
	s.exec("EXEC sp_configure 'clr enabled', 1; RECONFIGURE")
	s.exec("CREATE TABLE t (id int PRIMARY KEY, v int)")
	s.track("t")
	s.exec("INSERT t VALUES (1, 1), (2, 1), (3, 1)")
	s.exec("UPDATE t SET v = 2 WHERE id = 1; DELETE t WHERE id = 2; INSERT t VALUES (4, 4); DELETE t WHERE id = 4")
	s.capture()
	const bounds = "DECLARE @a binary(10) = sys.fn_cdc_get_min_lsn('dbo_t'), @b binary(10) = sys.fn_cdc_get_max_lsn(); "
	assert.Equal(t, []string{"2 1 1", "2 2 1", "2 3 1", "4 1 2", "1 2 1", "2 4 4", "1 4 4"},
		s.query(bounds+"SELECT [__$operation], id, v FROM cdc.fn_cdc_get_all_changes_dbo_t(@a, @b, N' ALL ') ORDER BY [__$start_lsn], [__$seqval], [__$operation]"))
	assert.Equal(t, "8", s.value(bounds+"SELECT COUNT(*) FROM shop.cdc.fn_cdc_get_all_changes_dbo_t(@a, @b, N'all update old')"))
	assert.Equal(t, []string{"2 1 2 NULL", "2 3 1 NULL"},
		s.query(bounds+"SELECT [__$operation], id, v, [__$update_mask] FROM cdc.fn_cdc_get_net_changes_dbo_t(@a, @b, N'all') ORDER BY id"))
	assert.Equal(t, []string{"4 1 2 0x02", "1 2 1 NULL"},
		s.query(`DECLARE @b binary(10) = sys.fn_cdc_get_max_lsn(), @a binary(10) = (SELECT MIN([__$start_lsn]) FROM cdc.dbo_t_CT WHERE [__$operation] = 4);
SELECT [__$operation], id, v, [__$update_mask] FROM cdc.fn_cdc_get_net_changes_dbo_t(@a, @b, N'all with mask') ORDER BY id`))

	for name, args := range map[string]string{
		"from below": "0x00, @b, N'all'", "to above": "@a, sys.fn_cdc_increment_lsn(@b), N'all'", "from above to": "@b, @a, N'all'",
		"null": "NULL, @b, N'all'", "option": "@a, @b, N'most'",
	} {
		for kind, function := range map[string]string{"all": "fn_cdc_get_all_changes_dbo_t", "net": "fn_cdc_get_net_changes_dbo_t"} {
			e := s.fails(bounds + "SELECT * FROM cdc." + function + "(" + args + ")")
			assert.Equal(t, int32(313), e.Number, name)
			assert.Equal(t, uint8(3), e.State)
			assert.Equal(t, "An insufficient number of arguments were supplied for the procedure or function cdc.fn_cdc_get_"+kind+"_changes_ ... .", e.Message)
		}
	}
	assert.Equal(t, int32(208), s.fails("SELECT * FROM cdc.fn_cdc_get_all_changes_none(0x00, 0x00, N'all')").Number)
}

func TestCleanup(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	s.exec("INSERT t VALUES (1)")
	s.exec("INSERT t VALUES (2)") // the same time as row 1
	s.clock.advance(time.Minute)
	s.exec("INSERT t VALUES (3)")
	s.capture()
	lsn := func(id int) string {
		return s.value(fmt.Sprintf("SELECT [__$start_lsn] FROM cdc.dbo_t_CT WHERE id = %d", id))
	}
	ids := func() []string { return s.query("SELECT id FROM cdc.dbo_t_CT ORDER BY id") }
	first, second, third := lsn(1), lsn(2), lsn(3)

	assert.Equal(t, int32(22964), s.fails("EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', 0x0000000000000000FFFF").Number)
	assert.Equal(t, int32(22850), s.fails("EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', NULL, 0").Number)

	s.exec("EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', " + second)
	assert.Equal(t, []string{"1", "2", "3"}, ids(), "the mark is lowered to the first entry of its time")
	assert.Equal(t, first, s.value("SELECT sys.fn_cdc_get_min_lsn('dbo_t')"))

	s.exec("EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', " + third)
	assert.Equal(t, []string{"3"}, ids(), "a row at the mark stays")
	assert.Equal(t, third, s.value("SELECT sys.fn_cdc_get_min_lsn('dbo_t')"))
	assert.Equal(t, third, s.value("SELECT MIN(start_lsn) FROM cdc.lsn_time_mapping"))

	require.Equal(t, int32(22964), s.fails("EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', "+first).Number, "gone from the mapping")
	e := s.fails("SELECT * FROM cdc.fn_cdc_get_all_changes_dbo_t(" + first + ", " + third + ", N'all')")
	assert.Equal(t, int32(313), e.Number)
}

// The nightly job moves every older low end up to one mark.
func TestCleanup_ByRetention(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)")
	s.track("a")
	s.track("b")
	s.exec("INSERT a VALUES (1); INSERT b VALUES (1)")
	s.clock.advance(24 * time.Hour)
	s.exec("INSERT a VALUES (2)")
	s.clock.advance(3 * 24 * time.Hour)
	s.exec("INSERT a VALUES (3)")
	s.clock.advance(24 * time.Hour)
	assert.Equal(t, []string{"3"}, s.query("SELECT id FROM cdc.dbo_a_CT ORDER BY id"))
	assert.Empty(t, s.query("SELECT id FROM cdc.dbo_b_CT"))
	assert.Equal(t, "1", s.value("SELECT COUNT(DISTINCT start_lsn) FROM cdc.change_tables"))
}
