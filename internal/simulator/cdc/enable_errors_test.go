package cdc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// Numbers, severities and texts are those of MS docs, "Database Engine events and
// errors"; the procedures that raise them those that recorded messages name.
func TestEnable_Errors(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int NOT NULL PRIMARY KEY, a int NULL)")
	for sql, want := range map[string]string{
		"EXEC sys.sp_cdc_enable_table N'', N't', @role_name = NULL": "22963 16 1 sp_cdc_enable_table_internal: Parameter '@source_schema' cannot be null or empty. " +
			"Specify a value for the named parameter and retry the operation.",
		"EXEC sys.sp_cdc_enable_table N'dbo', NULL, @role_name = NULL": "22963 16 1 sp_cdc_enable_table_internal: Parameter '@source_name' cannot be null or empty. " +
			"Specify a value for the named parameter and retry the operation.",
		"EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @filegroup_name = N'fg'": "22973 16 1 sp_cdc_enable_table_internal: " +
			"The specified filegroup 'fg' is not a valid filegroup for database 'shop'. Specify a valid existing filegroup or create the named filegroup, and retry the operation.",
		"EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @enable_extended_ddl_handling = 1": "22874 16 1 sp_cdc_enable_table: " +
			"Cannot set @enable_extended_ddl_handling parameter to 1 as this feature is not enabled.",
		"EXEC sys.sp_cdc_disable_table N'dbo', N't', N''": "22963 16 1 sp_cdc_disable_table_internal: Parameter '@capture_instance' cannot be null or empty. " +
			"Specify a value for the named parameter and retry the operation.",
		"EXEC sys.sp_cdc_disable_table N'dbo', N'none', N'all'": "22931 16 1 sp_cdc_disable_table_internal: Source table 'dbo.none' does not exist in the current database. " +
			"Ensure that the correct database context is set. Specify a valid schema and table name for the database.",
	} {
		e := s.fails(sql)
		assert.Equal(t, want, fmt.Sprintf("%d %d %d %s: %s", e.Number, e.Class, e.State, e.Procedure, e.Message), sql)
	}
	status := s.exec("DECLARE @r int; EXEC @r = sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL; SELECT @r").rows
	assert.Equal(t, "0", show(status[len(status)-1][0]))
}

func TestEnableTable_Positions(t *testing.T) {
	s := start(t)
	s.exec("CREATE SCHEMA sales")
	s.exec("CREATE TABLE sales.orders (id int NOT NULL PRIMARY KEY, n int NOT NULL CONSTRAINT n UNIQUE, v int)")
	a := s.exec("EXEC sys.sp_cdc_enable_table N'sales', N'orders', N'o1', 1, N'gate  ', N'n', N'n, v', N'PRIMARY', 0")
	assert.Contains(t, a.info[len(a.info)-3], "The explicit setting of the parameter to 0 was ignored.")
	assert.Equal(t, "o1 1 gate n PRIMARY 1", s.value("SELECT capture_instance, CONVERT(int, supports_net_changes), role_name, index_name, filegroup_name, CONVERT(int, partition_switch) FROM cdc.change_tables"))
	assert.Equal(t, []string{"n 2 1", "v 3 2"}, s.query("SELECT column_name, column_id, column_ordinal FROM cdc.captured_columns ORDER BY column_ordinal"))
	assert.Equal(t, "n 1 2", s.value("SELECT column_name, index_ordinal, column_id FROM cdc.index_columns"))
	assert.Equal(t, "1", s.value("SELECT COUNT(*) FROM sys.database_principals WHERE name = N'gate'"), "blanks on the right are trimmed")
	assert.Equal(t, []string{"fn_cdc_get_all_changes_o1 IF 0", "fn_cdc_get_net_changes_o1 IF 0"},
		s.query("SELECT name, type, CONVERT(int, is_ms_shipped) FROM sys.objects WHERE name LIKE 'fn[_]cdc%o1' ORDER BY name"))
	assert.Equal(t, "4", s.value("SELECT COUNT(*) FROM sys.objects WHERE name LIKE 'fn[_]cdc[_]get%...%' AND is_ms_shipped = 1"), "the names of messages")
	s.exec("EXEC sys.sp_cdc_disable_table N'sales', N'orders', N'all'")
	assert.Equal(t, "0", s.value("SELECT COUNT(*) FROM sys.objects WHERE name LIKE 'fn[_]cdc%o1'"))
}

func TestEnableTable_Shapes(t *testing.T) {
	s := start(t)
	s.exec("CREATE TYPE dbo.code FROM varchar(7) NOT NULL")
	s.exec("CREATE TABLE heap (c dbo.code, n int SPARSE NULL, u uniqueidentifier, v sql_variant)")
	s.track("heap")
	assert.Equal(t, "0 NULL", s.value("SELECT CONVERT(int, supports_net_changes), index_name FROM cdc.change_tables"))
	assert.Equal(t, []string{"c varchar", "n int", "u uniqueidentifier", "v sql_variant"}, s.query("SELECT column_name, column_type FROM cdc.captured_columns ORDER BY column_ordinal"))
	s.exec("INSERT heap VALUES ('abc', NULL, NULL, 5)")
	s.exec("UPDATE heap SET n = 1")
	s.exec("DELETE heap")
	s.capture()
	assert.Equal(t, []string{"1 1 2 0x0F 1 abc NULL", "2 1 3 0x02 1 abc NULL", "2 1 4 0x02 1 abc 1", "3 1 1 0x0F 1 abc 1"}, s.changes("dbo_heap", "c", "n"))
}

func TestEnableTable_ManyKeys(t *testing.T) {
	s := start(t)
	var columns, keys []string
	for i := range 15 {
		columns = append(columns, fmt.Sprintf("c%d int NOT NULL", i))
		keys = append(keys, fmt.Sprintf("c%d", i))
	}
	s.exec("CREATE TABLE wide (" + strings.Join(columns, ", ") + ", PRIMARY KEY (" + strings.Join(keys, ", ") + "))")
	assert.Equal(t, int32(22865), s.fails("EXEC sys.sp_cdc_enable_table N'dbo', N'wide', @role_name = NULL").Number)
	s.track("wide", "@supports_net_changes = 0")
}

func TestEnableDB_Editions(t *testing.T) {
	for _, edition := range engine.Editions() {
		s := openServer(t, engine.Options{Edition: edition}, newClock())
		s.exec("CREATE DATABASE shop")
		s.exec("USE shop")
		a := batch(t, s.session, "EXEC sys.sp_cdc_enable_db")
		if edition == "Express" || edition == "Web" {
			require.Len(t, a.errors, 1)
			assert.Equal(t, int32(22988), a.errors[0].Number)
			assert.Equal(t, "This instance of SQL Server is the "+edition+" Edition (64-bit). Change data capture is only available in the Enterprise, Developer, Enterprise Evaluation, and Standard editions.", a.errors[0].Message)
		} else {
			assert.Empty(t, a.errors)
		}
		s.close()
	}
}

func TestEnableDB_Contained(t *testing.T) {
	s := newServer(t, "", newClock())
	defer s.close()
	s.exec("CREATE DATABASE c CONTAINMENT = PARTIAL")
	s.exec("USE c")
	assert.Equal(t, int32(12839), s.fails("EXEC sys.sp_cdc_enable_db").Number)
	s.exec("ALTER DATABASE c SET CONTAINMENT = NONE")
	s.exec("EXEC sys.sp_cdc_enable_db")
}

// Before 2022 there is no tenth parameter.
func TestEnableTable_Releases(t *testing.T) {
	s := startWith(t, engine.Options{Version: "2019"}, newClock())
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	assert.Equal(t, int32(8145), s.fails("EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @enable_extended_ddl_handling = 0").Number)
	s.track("t")
}
