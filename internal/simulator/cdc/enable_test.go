package cdc_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEnableDB(t *testing.T) {
	s := start(t)
	assert.Equal(t, "1", s.value("SELECT is_cdc_enabled FROM sys.databases WHERE name = N'shop'"))
	assert.Equal(t, []string{
		"cdc captured_columns 1", "cdc change_tables 1", "cdc ddl_history 1", "cdc index_columns 1", "cdc lsn_time_mapping 1", "dbo systranschemas 1",
	}, s.query("SELECT SCHEMA_NAME(schema_id), name, CONVERT(int, is_ms_shipped) FROM sys.tables ORDER BY 1, 2"))
	assert.Equal(t, "NULL", s.value("SELECT sys.fn_cdc_get_max_lsn()"), "before the first scan")

	repeat := s.exec("EXEC sys.sp_cdc_enable_db")
	assert.Contains(t, strings.Join(repeat.info, "\n"), "is already enabled for Change Data Capture")
}

func TestDisableDB(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	s.exec("EXEC sys.sp_cdc_disable_db")
	assert.Empty(t, s.query("SELECT name FROM sys.schemas WHERE name = N'cdc'"))
	assert.Equal(t, "0 0", s.value("SELECT CONVERT(int, d.is_cdc_enabled), CONVERT(int, t.is_tracked_by_cdc) FROM sys.databases d, sys.tables t WHERE d.name = N'shop' AND t.name = N't'"))
	assert.Equal(t, int32(208), s.fails("SELECT sys.fn_cdc_get_max_lsn()").Number)
	assert.Equal(t, int32(22901), s.fails("EXEC sys.sp_cdc_help_change_data_capture").Number)
	assert.Equal(t, int32(22901), s.fails("EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL").Number)
	s.exec("EXEC sys.sp_cdc_disable_db") // says so, and succeeds

	s.exec("EXEC sys.sp_cdc_enable_db")
	s.track("t")
	s.exec("INSERT t VALUES (7)")
	s.capture()
	assert.Equal(t, []string{"1 1 2 0x01 1 7"}, s.changes("dbo_t", "id"))
}

func TestEnableDB_Refusals(t *testing.T) {
	s := newServer(t, "", newClock())
	defer s.close()
	assert.Equal(t, int32(22989), s.fails("EXEC sys.sp_cdc_enable_db").Number)
	s.exec("CREATE DATABASE other")
	s.exec("USE other")
	s.exec("CREATE SCHEMA cdc")
	assert.Equal(t, int32(22906), s.fails("EXEC sys.sp_cdc_enable_db").Number)
}

func TestEnableTable(t *testing.T) {
	s := start(t)
	s.exec(`CREATE TABLE t (id int NOT NULL PRIMARY KEY, name nvarchar(20) NOT NULL, price decimal(10, 2) NULL, v rowversion, twice AS id * 2)`)
	a := s.exec("EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = N'readers'")
	assert.Equal(t, []string{
		"Update mask evaluation will be disabled in net_changes_function because the CLR configuration option is disabled.",
		"Job 'cdc.shop_capture' started successfully.", "Job 'cdc.shop_cleanup' started successfully.",
	}, a.info)
	assert.Equal(t, "1", s.value("SELECT CONVERT(int, is_tracked_by_cdc) FROM sys.tables WHERE name = N't'"))
	assert.Equal(t, "1", s.value("SELECT COUNT(*) FROM sys.database_principals WHERE name = N'readers' AND type = 'R'"))

	// Every column is nullable, rowversion is binary(8), the command id is last.
	assert.Equal(t, []string{
		"__$start_lsn binary 10 0", "__$end_lsn binary 10 1", "__$seqval binary 10 0", "__$operation int 4 0", "__$update_mask varbinary 128 1",
		"id int 4 1", "name nvarchar 40 1", "price decimal 9 1", "v binary 8 1", "twice int 4 1", "__$command_id int 4 1",
	}, s.query(`SELECT c.name, TYPE_NAME(c.system_type_id), c.max_length, CONVERT(int, c.is_nullable) FROM sys.columns c
WHERE c.object_id = OBJECT_ID(N'cdc.dbo_t_CT') ORDER BY c.column_id`))
	assert.Equal(t, []string{
		"__$start_lsn 1", "__$command_id 2", "__$seqval 3", "__$operation 4",
	}, s.query(`SELECT c.name, ic.key_ordinal FROM sys.indexes i JOIN sys.index_columns ic ON ic.object_id = i.object_id AND ic.index_id = i.index_id
JOIN sys.columns c ON c.object_id = ic.object_id AND c.column_id = ic.column_id WHERE i.name = N'dbo_t_CT_clustered_idx' AND i.type = 1 ORDER BY ic.key_ordinal`))

	assert.Equal(t, []string{"id 1 int 1 0", "name 2 nvarchar 2 0", "price 3 decimal 3 0", "v 4 timestamp 4 0", "twice 5 int 5 1"},
		s.query(`SELECT column_name, column_id, column_type, column_ordinal, CONVERT(int, is_computed) FROM cdc.captured_columns
WHERE object_id = OBJECT_ID(N'cdc.dbo_t_CT') ORDER BY column_ordinal`))
	assert.Equal(t, "1 1 readers NULL", s.value(`SELECT CONVERT(int, supports_net_changes), CASE WHEN source_object_id = OBJECT_ID(N'dbo.t') THEN 1 ELSE 0 END, role_name, end_lsn
FROM cdc.change_tables WHERE capture_instance = N'dbo_t'`))
	assert.Equal(t, "1", s.value(`SELECT CASE WHEN sys.fn_cdc_get_min_lsn('dbo_t') = start_lsn THEN 1 ELSE 0 END FROM cdc.change_tables`))
}

func TestEnableTable_Refusals(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int NOT NULL PRIMARY KEY, a int NULL, b int NOT NULL)")
	s.exec("CREATE UNIQUE INDEX ua ON t (a)")
	s.exec("CREATE INDEX ib ON t (b)")
	s.exec("CREATE TABLE heap (a int)")
	s.exec("CREATE TABLE odd ([__$seqval] int)")
	for sql, number := range map[string]int32{
		"N'dbo', N'none', @role_name = NULL":                                   22931,
		"N'cdc', N'change_tables', @role_name = NULL":                          22974,
		"N'dbo', N'heap', @role_name = NULL, @supports_net_changes = 1":        22939,
		"N'dbo', N't', @role_name = NULL, @captured_column_list = N'a'":        22943,
		"N'dbo', N't', @role_name = NULL, @captured_column_list = N'id, zz'":   22942,
		"N'dbo', N't', @role_name = NULL, @captured_column_list = N'[id, a'":   22965,
		"N'dbo', N't', @role_name = NULL, @index_name = N'zz'":                 22928,
		"N'dbo', N't', @role_name = NULL, @index_name = N'ib'":                 22929,
		"N'dbo', N't', @role_name = NULL, @index_name = N'ua'":                 22838,
		"N'dbo', N'odd', @role_name = NULL":                                    22975,
		"N'dbo', N't', @role_name = N''":                                       22907,
		"N'dbo', N't', @role_name = NULL, @enable_extended_ddl_handling = 1":   22874,
		"N'dbo', N't', N'" + strings.Repeat("x", 101) + "', @role_name = NULL": 22927,
		"N'dbo', N't'": 201,
	} {
		assert.Equal(t, number, s.fails("EXEC sys.sp_cdc_enable_table "+sql).Number, sql)
	}
	assert.Empty(t, s.query("SELECT 1 FROM cdc.change_tables"))
	assert.Equal(t, "0", s.value("SELECT COUNT(*) FROM sys.tables WHERE name LIKE '%[_]CT'"))
}

func TestEnableTable_ColumnList(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, [a]]b] int, [c d] int, e int)")
	s.track("t", "@captured_column_list = N'\"c d\", id , [a]]b]'")
	assert.Equal(t, []string{"id 1", "a]b 2", "c d 3"}, s.query("SELECT column_name, column_ordinal FROM cdc.captured_columns ORDER BY column_ordinal"))
	s.exec("INSERT t VALUES (1, 2, 3, 4); UPDATE t SET e = 5; UPDATE t SET [c d] = 6")
	s.capture()
	assert.Equal(t, []string{"1 1 2 0x07 1 3", "2 1 3 0x04 1 3", "2 1 4 0x04 1 6"}, s.changes("dbo_t", "c d"), "an uncaptured column changes nothing")
}

func TestTwoInstances(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, v int)")
	s.track("t", "@capture_instance = N'v1'")
	s.exec("INSERT t VALUES (0, 0)")
	s.exec("ALTER TABLE t ADD w int")
	s.track("t", "@capture_instance = N'v2'")
	third := s.fails("EXEC sys.sp_cdc_enable_table N'dbo', N't', N'v3', @role_name = NULL")
	assert.Equal(t, int32(22962), third.Number)
	assert.Contains(t, third.Message, "Two capture instances already exist for source table 'dbo.t'.")

	// emanuel-luis/mssql-cdc-pyspark on 2022 CU27: 1,3,3,5 and 2,4,4,6.
	s.exec("BEGIN TRAN; INSERT t VALUES (1, 1, 1); UPDATE t SET v = 2 WHERE id = 1; DELETE t WHERE id = 1; COMMIT")
	s.capture()
	assert.Equal(t, []string{"1 1 2 0x03 1 0", "2 1 2 0x03 1 1", "2 2 3 0x02 3 1", "2 2 4 0x02 3 1", "2 3 1 0x03 5 1"}, s.changes("v1", "id"))
	assert.Equal(t, []string{"1 1 2 0x07 2 1", "1 2 3 0x02 4 1", "1 2 4 0x02 4 1", "1 3 1 0x07 6 1"}, s.changes("v2", "id"))
	assert.Equal(t, "4", s.value(`SELECT COUNT(*) FROM cdc.v1_CT a JOIN cdc.v2_CT b
ON a.[__$start_lsn] = b.[__$start_lsn] AND a.[__$seqval] = b.[__$seqval] AND a.[__$operation] = b.[__$operation]`))

	s.exec("EXEC sys.sp_cdc_disable_table N'dbo', N't', N'v1'")
	s.exec("INSERT t VALUES (2, 2, 2)")
	s.capture()
	assert.Equal(t, "2 1 2 0x07 1 2", s.changes("v2", "id")[4])
	assert.Equal(t, int32(22960), s.fails("EXEC sys.sp_cdc_disable_table N'dbo', N't', N'v1'").Number)
	s.exec("EXEC sys.sp_cdc_disable_table N'dbo', N't', N'all'")
	assert.Equal(t, int32(22985), s.fails("EXEC sys.sp_cdc_disable_table N'dbo', N't', N'all'").Number)
}
