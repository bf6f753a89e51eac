package cdc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDDL_Refused(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int CONSTRAINT pk PRIMARY KEY, a int, b int)")
	s.track("t", "@captured_column_list = N'id, a'")
	truncate := s.fails("TRUNCATE TABLE t")
	assert.Equal(t, int32(4711), truncate.Number)
	assert.Equal(t, "Cannot truncate table 't' because it is published for replication or enabled for Change Data Capture.", truncate.Message)
	rename := s.fails("EXEC sp_rename N'dbo.t.a', N'aa', N'COLUMN'")
	assert.Equal(t, int32(4928), rename.Number)
	assert.Equal(t, "Cannot alter column 'a' because it is 'REPLICATED'.", rename.Message)
	assert.Equal(t, int32(22979), s.fails("ALTER TABLE t DROP CONSTRAINT pk").Number)
	s.exec("EXEC sp_rename N'dbo.t.b', N'bb', N'COLUMN'")
	s.exec("EXEC sp_rename N'dbo.t', N'tt'")
	assert.Equal(t, "dbo_t", s.value("SELECT capture_instance FROM cdc.change_tables"))
	assert.Equal(t, "tt", s.query("SELECT OBJECT_NAME(source_object_id) FROM cdc.change_tables")[0])
	s.exec("DROP TABLE tt")
	assert.Empty(t, s.query("SELECT 1 FROM cdc.change_tables"))
	assert.Equal(t, "NULL", s.value("SELECT OBJECT_ID(N'cdc.dbo_t_CT')"))
}

func TestDDL_ColumnsComeAndGo(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, a int, b int)")
	s.track("t", "@capture_instance = N'v1'")
	s.exec("INSERT t VALUES (1, 10, 100)")
	s.exec("ALTER TABLE t DROP COLUMN a")
	s.exec("UPDATE t SET b = 200")
	s.exec("ALTER TABLE t ADD a varchar(10)") // the same name, another column
	s.exec("UPDATE t SET a = 'new', b = 300")
	s.capture()
	assert.Equal(t, []string{
		"1 1 2 0x07 1 10 100", "2 1 3 0x04 1 NULL 100", "2 1 4 0x04 1 NULL 200", "3 1 3 0x04 1 NULL 200", "3 1 4 0x04 1 NULL 300",
	}, s.changes("v1", "a", "b"))
	assert.Len(t, s.exec("EXEC sys.sp_cdc_get_captured_columns N'v1'").rows, 3, "the dropped column is still listed")
	assert.Equal(t, []string{"0 ALTER TABLE t DROP COLUMN a", "0 ALTER TABLE t ADD a varchar(10)"},
		s.query("SELECT CONVERT(int, required_column_update), ddl_command FROM cdc.ddl_history ORDER BY ddl_lsn"))

	s.track("t", "@capture_instance = N'v2'")
	s.exec("INSERT t (id, b, a) VALUES (2, 1, 'x')")
	s.capture()
	assert.Equal(t, []string{"1 1 2 0x07 2 x"}, s.changes("v2", "a"))
}

func TestDDL_AlterType(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, a int NULL)")
	s.track("t", "@capture_instance = N'v1'")
	s.track("t", "@capture_instance = N'v2'")
	s.exec("INSERT t VALUES (1, 10)")
	s.exec("ALTER TABLE t ALTER COLUMN a bigint NULL")
	s.exec("INSERT t VALUES (2, 5000000000)")
	s.exec("ALTER TABLE t ALTER COLUMN a bigint NOT NULL")
	s.capture()
	for _, instance := range []string{"v1", "v2"} {
		assert.Equal(t, []string{"1 10", "2 5000000000"}, s.query("SELECT id, a FROM cdc."+instance+"_CT ORDER BY id"))
		assert.Equal(t, "bigint", s.value("SELECT c.column_type FROM cdc.captured_columns c JOIN cdc.change_tables t ON t.object_id = c.object_id WHERE c.column_name = N'a' AND t.capture_instance = N'"+instance+"'"))
		rows := s.exec("EXEC sys.sp_cdc_get_ddl_history N'" + instance + "'").rows
		assert.Len(t, rows, 2)
		assert.True(t, rows[0][3].Bool())
		assert.False(t, rows[1][3].Bool())
		assert.Equal(t, "2024-03-05T12:00:00", show(rows[0][6]), "whole minutes")
	}
}

func TestHelpChangeDataCapture(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY, v int)")
	s.track("t")
	rows := s.exec("EXEC sys.sp_cdc_help_change_data_capture N'dbo', N't'").rows
	assert.Len(t, rows, 1)
	assert.Equal(t, "dbo", show(rows[0][0]))
	assert.Equal(t, "t", show(rows[0][1]))
	assert.Equal(t, "dbo_t", show(rows[0][2]))
	assert.Equal(t, "[id]", show(rows[0][13]))
	assert.Equal(t, "[id], [v]", show(rows[0][14]))
	assert.Len(t, s.exec("EXEC sys.sp_cdc_help_change_data_capture").rows, 1)
	assert.Equal(t, int32(22972), s.fails("EXEC sys.sp_cdc_help_change_data_capture N'dbo'").Number)
	assert.Equal(t, int32(22981), s.fails("EXEC sys.sp_cdc_get_captured_columns N'none'").Number)
}
