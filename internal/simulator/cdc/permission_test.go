package cdc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Enabling waits for the table's open writers, so that their changes belong to
// no instance or to older ones only.
func TestEnableTable_WaitsForWriters(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	writer := s.login("sa", "secret", "shop")
	defer writer.Close()
	batch(t, writer, "BEGIN TRAN; INSERT t VALUES (1)")
	s.exec("SET LOCK_TIMEOUT 0")
	assert.Equal(t, int32(1222), s.fails("EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL").Number)
	assert.Empty(t, s.query("SELECT 1 FROM cdc.change_tables"))
	batch(t, writer, "COMMIT")
	s.track("t")
	s.exec("INSERT t VALUES (2)")
	s.capture()
	assert.Equal(t, []string{"1 1 2 0x01 1 2"}, s.changes("dbo_t", "id"))
}

// What a login with mere grants may do, as measured on 2022 CU27
// (emanuel-luis/mssql-cdc-pyspark).
func TestLeastPrivilege(t *testing.T) {
	s := start(t)
	s.exec("CREATE LOGIN reader WITH PASSWORD = 'pw', CHECK_POLICY = OFF; CREATE USER reader FOR LOGIN reader")
	s.exec("CREATE TABLE t (id int PRIMARY KEY, v int); CREATE TABLE gated (id int PRIMARY KEY)")
	s.track("t")
	s.exec("EXEC sys.sp_cdc_enable_table N'dbo', N'gated', @role_name = N'gate'")
	s.exec("INSERT t VALUES (1, 1)")
	s.capture()
	reader := s.login("reader", "pw", "shop")
	defer reader.Close()
	visible := func() int {
		a := batch(t, reader, "EXEC sys.sp_cdc_help_change_data_capture")
		require.Empty(t, a.errors)
		return len(a.rows)
	}
	only := func(sql string) sqltypes.Value { return onlyValue(t, reader, sql) }

	assert.Equal(t, 0, visible())
	assert.Equal(t, "0x00000000000000000000", show(only("SELECT sys.fn_cdc_get_min_lsn('dbo_t')")))
	assert.Equal(t, show(only("SELECT sys.fn_cdc_get_max_lsn()")), s.value("SELECT sys.fn_cdc_get_max_lsn()"), "open to all")
	assert.Equal(t, "1", show(only("SELECT COUNT(*) FROM cdc.lsn_time_mapping")), "open to all")
	assert.Equal(t, int32(229), batch(t, reader, "SELECT * FROM cdc.change_tables").errors[0].Number)
	assert.Equal(t, int32(22981), batch(t, reader, "EXEC sys.sp_cdc_get_captured_columns N'dbo_t'").errors[0].Number)
	assert.Equal(t, int32(22904), batch(t, reader, "EXEC sys.sp_cdc_disable_table N'dbo', N't', N'all'").errors[0].Number)
	assert.Equal(t, int32(22902), batch(t, reader, "EXEC sys.sp_cdc_disable_db").errors[0].Number)

	s.exec("GRANT SELECT ON dbo.t TO reader; GRANT SELECT ON dbo.gated TO reader")
	assert.Equal(t, 1, visible(), "the other instance has a gating role")
	assert.NotEqual(t, "0x00000000000000000000", show(only("SELECT sys.fn_cdc_get_min_lsn('dbo_t')")))
	assert.Equal(t, int32(229), batch(t, reader, "SELECT * FROM cdc.dbo_t_CT").errors[0].Number, "the change table has grants of its own")
	s.exec("GRANT ALTER ON dbo.t TO reader")
	assert.Equal(t, int32(22914), batch(t, reader, "ALTER TABLE t ADD w int").errors[0].Number)
	s.exec("ALTER ROLE gate ADD MEMBER reader")
	assert.Equal(t, 2, visible())
}

func onlyValue(t *testing.T, session *engine.Session, sql string) sqltypes.Value {
	t.Helper()
	a := batch(t, session, sql)
	require.Empty(t, a.errors, sql)
	require.Len(t, a.rows, 1)
	return a.rows[0][0]
}

// The views of scans want VIEW DATABASE STATE, that of services VIEW SERVER STATE
// (MS docs: sys.dm_cdc_log_scan_sessions, sys.dm_cdc_errors, sys.dm_server_services).
func TestManagementViews_NeedState(t *testing.T) {
	s := start(t)
	reader := s.reader()
	fails := func(want int32, sql string) {
		t.Helper()
		a := batch(t, reader, sql)
		require.NotEmpty(t, a.errors, sql)
		assert.Equal(t, want, a.errors[0].Number, sql)
	}
	sessions, failures := "SELECT * FROM sys.dm_cdc_log_scan_sessions", "SELECT * FROM sys.dm_cdc_errors"
	services := "SELECT * FROM sys.dm_server_services"
	fails(262, sessions)
	fails(262, failures)
	fails(300, services)

	s.exec("GRANT VIEW DATABASE STATE TO reader")
	assert.Empty(t, batch(t, reader, sessions).errors)
	assert.Empty(t, batch(t, reader, failures).errors)
	fails(300, services)

	s.exec("REVOKE VIEW DATABASE STATE TO reader; GRANT VIEW SERVER STATE TO reader")
	assert.Empty(t, batch(t, reader, sessions+" "+failures+" "+services).errors)
}

// HAS_PERMS_BY_NAME knows columns, and what a right on the server or database
// implies; tables of msdb are not open to all (MS docs: HAS_PERMS_BY_NAME, dbo.sysjobs).
func TestHasPermsByName(t *testing.T) {
	s := start(t)
	s.exec("CREATE LOGIN reader WITH PASSWORD = 'pw', CHECK_POLICY = OFF; CREATE USER reader FOR LOGIN reader")
	s.exec("CREATE TABLE t (id int PRIMARY KEY, v int)")
	s.track("t")
	reader := s.login("reader", "pw", "shop")
	defer reader.Close()
	asks := func(want, args string) {
		t.Helper()
		assert.Equal(t, want, show(onlyValue(t, reader, "SELECT HAS_PERMS_BY_NAME("+args+")")), args)
	}
	const whole, id, v = "N'dbo.t', N'OBJECT', N'SELECT'", "N'dbo.t', N'OBJECT', N'SELECT', N'id', N'COLUMN'", "N'[dbo].[t]', N'OBJECT', N'SELECT', N'V', N'COLUMN'"
	asks("0", whole)
	asks("0", id)
	s.exec("GRANT SELECT (id) ON dbo.t TO reader")
	asks("0", whole)
	asks("1", id)
	asks("0", v)
	asks("NULL", "N'dbo.t', N'OBJECT', N'SELECT', N'none', N'COLUMN'")
	s.exec("REVOKE SELECT (id) ON dbo.t TO reader; GRANT SELECT ON dbo.t TO reader; DENY SELECT (v) ON dbo.t TO reader")
	asks("1", whole)
	asks("1", id)
	asks("0", v)

	const state, performance = "NULL, N'DATABASE', N'VIEW DATABASE STATE'", "NULL, N'DATABASE', N'VIEW DATABASE PERFORMANCE STATE'"
	asks("0", state)
	asks("0", performance)
	s.exec("GRANT VIEW DATABASE PERFORMANCE STATE TO reader")
	asks("0", state)
	asks("1", performance)
	assert.Empty(t, batch(t, reader, "SELECT * FROM sys.dm_cdc_errors").errors)
	s.exec("REVOKE VIEW DATABASE PERFORMANCE STATE TO reader; GRANT VIEW SERVER STATE TO reader")
	asks("1", state)
	asks("1", performance)

	asks("0", "N'msdb.dbo.sysjobactivity', N'OBJECT', N'SELECT'")
	assert.Equal(t, int32(229), batch(t, reader, "SELECT * FROM msdb.dbo.sysjobactivity").errors[0].Number)
	s.exec("USE msdb; CREATE USER reader FOR LOGIN reader; GRANT SELECT ON SCHEMA::dbo TO reader; USE shop")
	asks("1", "N'msdb.dbo.sysjobactivity', N'OBJECT', N'SELECT'")
	assert.Empty(t, batch(t, reader, "SELECT * FROM msdb.dbo.sysjobactivity").errors)
}
