package cdc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

func TestAgent_PollsAndStops(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	s.clock.advance(0)
	s.exec("INSERT t VALUES (1)")
	s.clock.advance(4 * time.Second)
	assert.Empty(t, s.changes("dbo_t"), "the job polls every five seconds")
	s.clock.advance(time.Second)
	assert.Len(t, s.changes("dbo_t"), 1)

	assert.Equal(t, "4", s.value("SELECT status FROM sys.dm_server_services WHERE servicename LIKE 'SQL Server Agent%'"))
	s.agent.Stop()
	assert.Equal(t, "1", s.value("SELECT status FROM sys.dm_server_services WHERE servicename LIKE 'SQL Server Agent%'"))
	s.exec("INSERT t VALUES (2)")
	s.clock.advance(time.Minute)
	assert.Len(t, s.changes("dbo_t"), 1)
	s.exec("CREATE TABLE u (id int PRIMARY KEY)")
	s.track("u")
	s.agent.Start()
	s.clock.advance(0)
	assert.Len(t, s.changes("dbo_t"), 2)
}

func TestJobs(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	assert.Equal(t, int32(208), s.fails("SELECT * FROM msdb.dbo.cdc_jobs").Number, "no database has had a job")
	s.agent.Stop()
	a := s.exec("EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 0")
	assert.Equal(t, "SQLServerAgent is not currently running so it cannot be notified of this action.", a.info[0])
	assert.Equal(t, []string{"capture 500 10 1 5 0 0", "cleanup 0 0 0 0 4320 5000"}, s.query(`SELECT job_type, maxtrans, maxscans, CONVERT(int, continuous),
	pollinginterval, retention, threshold FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID() ORDER BY job_type`))

	s.exec("EXEC sys.sp_cdc_change_job @pollinginterval = 1, @maxtrans = 7")
	s.exec("EXEC sys.sp_cdc_change_job N'cleanup', @retention = 60")
	assert.Len(t, s.exec("EXEC sys.sp_cdc_help_jobs").rows, 2)
	for sql, number := range map[string]int32{
		"sp_cdc_change_job N'cleanup', @maxtrans = 1":  22996,
		"sp_cdc_change_job N'capture', @retention = 1": 22995,
		"sp_cdc_change_job N'capture', @maxtrans = 0":  22991,
		"sp_cdc_change_job N'capture', @maxscans = 0":  22970,
		"sp_cdc_change_job @pollinginterval = 86400":   22990,
		"sp_cdc_change_job N'cleanup', @retention = 0": 22994,
		"sp_cdc_change_job N'cleanup', @threshold = 0": 22850,
		"sp_cdc_change_job N'other'":                   22992,
		"sp_cdc_scan @pollinginterval = 5":             22999,
	} {
		assert.Equal(t, number, s.fails("EXEC sys."+sql).Number, sql)
	}

	// sp_cdc_scan works without the agent, but not beside the capture job.
	s.exec("INSERT t VALUES (1)")
	s.exec("EXEC sys.sp_cdc_scan")
	assert.Len(t, s.changes("dbo_t"), 1)
	s.agent.Start()
	assert.Equal(t, int32(22903), s.fails("EXEC sys.sp_cdc_scan").Number)
	s.exec("EXEC sys.sp_cdc_stop_job N'capture'")
	s.exec("EXEC sys.sp_cdc_scan")

	s.exec("EXEC sys.sp_cdc_drop_job N'capture'")
	assert.Equal(t, int32(22997), s.fails("EXEC sys.sp_cdc_start_job N'capture'").Number)
	s.exec("EXEC sys.sp_cdc_add_job N'capture', @pollinginterval = 1")
	s.exec("INSERT t VALUES (2)")
	s.clock.advance(time.Second)
	assert.Len(t, s.changes("dbo_t"), 2)
}

func TestLogScanSessions(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	s.capture()
	s.capture()
	assert.Equal(t, []string{"0 Aggregate 2 0", "1 Done 2 0"}, s.query("SELECT session_id, scan_phase, empty_scan_count, command_count FROM sys.dm_cdc_log_scan_sessions ORDER BY session_id"))
	assert.Equal(t, "00000000:00000000:0000\x00", s.value("SELECT start_lsn FROM sys.dm_cdc_log_scan_sessions WHERE session_id = 1"))
	s.exec("INSERT t VALUES (1), (2)")
	s.capture()
	assert.Equal(t, "2 1 2 0", s.value("SELECT session_id, tran_count, command_count, error_count FROM sys.dm_cdc_log_scan_sessions WHERE session_id = 2"))
	assert.Empty(t, s.query("SELECT * FROM sys.dm_cdc_errors"))
}

// A scan that fails is in the views and captures nothing.
func TestLogScanErrors(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY)")
	s.track("t")
	s.track("u")
	s.exec("INSERT u VALUES (1)")
	require.NoError(t, s.in.System("shop", func(x *engine.Exec) error {
		_, err := x.Exec("DROP TABLE cdc.dbo_t_CT")
		return err
	}))
	require.ErrorContains(t, s.agent.CaptureNow("shop"), `change table of "dbo_t" is missing`)
	assert.Equal(t, []string{"1 22859 16"}, s.query("SELECT session_id, error_number, error_severity FROM sys.dm_cdc_errors"))
	assert.Equal(t, "1 1", s.value("SELECT error_count, failed_sessions_count FROM sys.dm_cdc_log_scan_sessions WHERE session_id = 0"))
	assert.Empty(t, s.changes("dbo_u"))
}

func TestDurability(t *testing.T) {
	dir, clock := t.TempDir(), newClock()
	s := newServer(t, dir, clock)
	s.exec("CREATE DATABASE shop")
	s.exec("USE shop")
	s.exec("EXEC sys.sp_cdc_enable_db")
	s.exec("CREATE TABLE t (id int PRIMARY KEY, v int)")
	s.track("t")
	s.exec("INSERT t VALUES (1, 1)")
	s.capture()
	s.exec("INSERT t VALUES (2, 2)") // in the log only
	before := s.query("SELECT object_id, start_lsn, capture_instance FROM cdc.change_tables")
	first := s.value("SELECT [__$start_lsn] FROM cdc.dbo_t_CT")
	s.close()

	s = newServer(t, dir, clock)
	defer s.close()
	s.exec("USE shop")
	assert.Equal(t, before, s.query("SELECT object_id, start_lsn, capture_instance FROM cdc.change_tables"))
	s.clock.advance(0) // the capture job starts with the agent
	assert.Equal(t, []string{"1 1 2 0x03 1 1", "2 1 2 0x03 1 2"}, s.changes("dbo_t", "id"))
	assert.Equal(t, first, s.value("SELECT MIN([__$start_lsn]) FROM cdc.dbo_t_CT"))
}
