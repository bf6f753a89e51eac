package cdc_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// The question that monitoring asks msdb: which jobs are at work.
const runningJobs = `SELECT j.name FROM msdb.dbo.sysjobs j JOIN msdb.dbo.sysjobactivity a ON a.job_id = j.job_id
JOIN msdb.dbo.cdc_jobs c ON c.job_id = j.job_id
WHERE a.start_execution_date IS NOT NULL AND a.stop_execution_date IS NULL ORDER BY j.name`

func TestAgent_Msdb(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	assert.Equal(t, []string{"cdc.shop_capture"}, s.query(runningJobs))
	assert.Equal(t, []string{"cdc.shop_capture 1 64", "cdc.shop_cleanup 1 4"}, s.query(`SELECT j.name, j.enabled, s.freq_type FROM msdb.dbo.sysjobs j
JOIN msdb.dbo.sysjobschedules js ON js.job_id = j.job_id JOIN msdb.dbo.sysschedules s ON s.schedule_id = js.schedule_id ORDER BY j.name`))
	assert.Equal(t, []string{"2024-03-06T02:00:00"}, s.query("SELECT a.next_scheduled_run_date FROM msdb.dbo.sysjobactivity a WHERE a.next_scheduled_run_date IS NOT NULL"))
	assert.Equal(t, int32(208), s.fails("SELECT * FROM dbo.sysjobs").Number, "a table of msdb")

	running := s.fails("EXEC msdb.dbo.sp_start_job @job_name = N'cdc.shop_capture'")
	assert.Equal(t, int32(22022), running.Number)
	assert.Contains(t, running.Message, "refused because the job is already running")
	stopped := s.exec("EXEC msdb.dbo.sp_stop_job N'cdc.shop_capture'")
	assert.Equal(t, []string{"Job 'cdc.shop_capture' stopped successfully."}, stopped.info)
	assert.Empty(t, s.query(runningJobs))
	assert.Equal(t, "cdc.shop_capture 3", s.value("SELECT j.name, h.run_status FROM msdb.dbo.sysjobhistory h JOIN msdb.dbo.sysjobs j ON j.job_id = h.job_id"))
	assert.Equal(t, int32(22022), s.fails("EXEC sys.sp_cdc_stop_job N'capture'").Number)
	help := s.exec("USE msdb; EXEC sp_help_job @job_name = N'cdc.shop_capture'; USE shop").rows
	require.Len(t, help, 1)
	assert.Equal(t, "4", show(help[0][13]), "idle")
	s.exec("EXEC msdb.dbo.sp_start_job N'cdc.shop_capture'")
	assert.Equal(t, []string{"cdc.shop_capture"}, s.query(runningJobs))
	assert.Equal(t, int32(14262), s.fails("EXEC msdb.dbo.sp_start_job N'none'").Number)

	s.clock.advance(14 * time.Hour)
	assert.Equal(t, "1 20240306 20000", s.value(`SELECT h.run_status, h.run_date, h.run_time FROM msdb.dbo.sysjobhistory h
JOIN msdb.dbo.sysjobs j ON j.job_id = h.job_id WHERE j.name = N'cdc.shop_cleanup'`))

	s.agent.Stop()
	down := s.fails("EXEC sys.sp_cdc_start_job")
	assert.Equal(t, "SQLServerAgent is not currently running so it cannot be notified of this action.", down.Message)
}

// maxtrans bounds a scan, maxscans the scans of a round; what is left waits for the
// next one.
func TestCaptureJob_Bounds(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	s.exec("EXEC sys.sp_cdc_stop_job; EXEC sys.sp_cdc_change_job @maxtrans = 2, @maxscans = 3; EXEC sys.sp_cdc_start_job")
	for _, sql := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		s.exec("INSERT t VALUES (" + sql + ")")
	}
	s.clock.advance(0)
	assert.Len(t, s.changes("dbo_t"), 6)
	s.clock.advance(5 * time.Second)
	assert.Len(t, s.changes("dbo_t"), 7)
	assert.Equal(t, []string{"2", "2", "2", "1", "0"}, s.query("SELECT tran_count FROM sys.dm_cdc_log_scan_sessions WHERE session_id > 0 ORDER BY session_id"))

	// Not continuous: one round, then it stands still.
	s.exec("EXEC sys.sp_cdc_stop_job; EXEC sys.sp_cdc_change_job @continuous = 0; EXEC sys.sp_cdc_start_job; INSERT t VALUES (8)")
	s.clock.advance(time.Minute)
	s.exec("INSERT t VALUES (9)")
	s.clock.advance(time.Minute)
	assert.Len(t, s.changes("dbo_t"), 8)
	assert.Empty(t, s.query(runningJobs))
}

// A change of settings waits for the job's next start (MS docs: sp_cdc_change_job).
func TestCaptureJob_ChangeWaitsForRestart(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	s.clock.advance(0)
	s.exec("EXEC sys.sp_cdc_change_job @pollinginterval = 60; INSERT t VALUES (1)")
	s.clock.advance(5 * time.Second)
	assert.Len(t, s.changes("dbo_t"), 1)
	s.exec("EXEC sys.sp_cdc_stop_job; EXEC sys.sp_cdc_start_job")
	s.clock.advance(0)
	s.exec("INSERT t VALUES (2)")
	s.clock.advance(59 * time.Second)
	assert.Len(t, s.changes("dbo_t"), 1)
	s.clock.advance(time.Second)
	assert.Len(t, s.changes("dbo_t"), 2)
}

func TestCaptureJob_Failure(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	s.clock.advance(0)
	s.agent.OnScan(func(database string) error {
		return sqltypes.Errorf(9002, 4, 17, "The transaction log for database '%s' is full due to 'REPLICATION'.", database)
	})
	s.exec("INSERT t VALUES (1)")
	s.clock.advance(5 * time.Second)
	assert.Empty(t, s.changes("dbo_t"))
	assert.Equal(t, []string{"9002 17 4", "22859 16 1"}, s.query("SELECT error_number, error_severity, error_state FROM sys.dm_cdc_errors ORDER BY error_number"))
	assert.Equal(t, "2 1", s.value("SELECT error_count, failed_sessions_count FROM sys.dm_cdc_log_scan_sessions WHERE session_id = 0"))
	assert.Equal(t, "REPLICATION", s.value("SELECT log_reuse_wait_desc FROM sys.databases WHERE name = N'shop'"))

	// The step is tried again each minute, ten times, then the job has failed.
	s.clock.advance(9 * time.Minute)
	assert.Equal(t, []string{"cdc.shop_capture"}, s.query(runningJobs))
	s.clock.advance(time.Minute)
	assert.Empty(t, s.query(runningJobs))
	assert.Equal(t, "0", s.value("SELECT run_status FROM msdb.dbo.sysjobhistory"))
	s.agent.OnScan(nil)
	s.exec("EXEC sys.sp_cdc_start_job")
	s.clock.advance(0)
	assert.Len(t, s.changes("dbo_t"), 1)
	assert.Equal(t, "NOTHING", s.value("SELECT log_reuse_wait_desc FROM sys.databases WHERE name = N'shop'"))
}

func TestScan_OneAtATime(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	for sql, number := range map[string]int32{
		"@continuous = 2": 22998, "@continuous = NULL": 22998, "@pollinginterval = 1": 22999, "@continuous = 1, @pollinginterval = 86400": 22990,
		"@maxtrans = 0": 22991, "@maxscans = 0": 22970, "@maxtrans = 1": 22903,
	} {
		assert.Equal(t, number, s.fails("EXEC sys.sp_cdc_scan "+sql).Number, sql)
	}
	s.exec("EXEC sys.sp_cdc_stop_job")
	other := s.login("sa", "secret", "shop")
	defer other.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	began := make(chan struct{}, 1)
	s.agent.OnScan(func(string) error {
		select {
		case began <- struct{}{}:
		default:
		}
		return nil
	})
	go func() {
		var a answer
		ended <- other.Batch(ctx, "EXEC sys.sp_cdc_scan @continuous = 1, @pollinginterval = 5", &a)
	}()
	<-began
	e := s.fails("EXEC sys.sp_cdc_scan")
	assert.Equal(t, int32(22903), e.Number)
	assert.Contains(t, e.Message, "session ID 52 is already running 'sp_replcmds'")
	s.exec("EXEC sys.sp_cdc_start_job")
	s.clock.advance(0)
	assert.Equal(t, "22903", s.value("SELECT error_number FROM sys.dm_cdc_errors"), "the job's own scan fails")
	cancel()
	if err := <-ended; err != nil {
		assert.True(t, errors.Is(err, context.Canceled), err)
	}
	s.exec("INSERT t VALUES (1)")
	s.clock.advance(time.Minute)
	assert.Len(t, s.changes("dbo_t"), 1)
}

func TestJobs_Releases(t *testing.T) {
	s := startWith(t, engine.Options{Version: "2025"}, newClock())
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	assert.Equal(t, []string{"capture 10000 10 5 0 0", "cleanup 0 0 0 4320 4999"}, s.query("SELECT job_type, maxtrans, maxscans, pollinginterval, retention, threshold FROM msdb.dbo.cdc_jobs ORDER BY job_type"))
}

// Azure SQL Database has no agent (MS docs: Change data capture with Azure SQL
// Database): every 20 s, cleaned every hour, settings in the database itself.
func TestAzure(t *testing.T) {
	s := startWith(t, engine.Options{Version: "AzureSQLDatabase"}, newClock())
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	assert.Equal(t, int32(208), s.fails("SELECT status FROM sys.dm_server_services").Number, "there are no services")
	a := s.exec("EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @supports_net_changes = 0")
	assert.Empty(t, a.info)
	assert.Equal(t, []string{"capture 0 0", "cleanup 0 4320"}, s.query("SELECT job_type, pollinginterval, retention FROM cdc.cdc_jobs ORDER BY job_type"))
	assert.Len(t, s.exec("EXEC sys.sp_cdc_help_jobs").rows, 2)
	s.clock.advance(0)
	s.exec("INSERT t VALUES (1)")
	s.clock.advance(19 * time.Second)
	assert.Empty(t, s.changes("dbo_t"))
	s.clock.advance(time.Second)
	assert.Len(t, s.changes("dbo_t"), 1)
	s.exec("INSERT t VALUES (2); EXEC sys.sp_cdc_scan")
	assert.Len(t, s.changes("dbo_t"), 2)
	s.exec("EXEC sys.sp_cdc_change_job N'cleanup', @retention = 1")
	s.exec("EXEC sys.sp_cdc_start_job N'cleanup'")
	s.clock.advance(2 * time.Hour)
	s.exec("EXEC sys.sp_cdc_start_job N'cleanup'")
	assert.Empty(t, s.changes("dbo_t"))
}

// Amazon RDS: an owner of the database enables it by procedures of msdb (AWS docs:
// Using change data capture with Amazon RDS for SQL Server).
func TestRDS(t *testing.T) {
	s := newServer(t, "", newClock())
	defer s.close()
	s.exec("CREATE DATABASE shop; CREATE LOGIN admin WITH PASSWORD = 'pw', CHECK_POLICY = OFF")
	s.exec("USE shop; CREATE USER admin FOR LOGIN admin; ALTER ROLE db_owner ADD MEMBER admin")
	admin := s.login("admin", "pw", "shop")
	defer admin.Close()
	e := batch(t, admin, "EXEC sys.sp_cdc_enable_db").errors
	require.NotEmpty(t, e)
	assert.Equal(t, "Caller is not authorized to initiate the requested action. Sysadmin privileges are required.", e[0].Message)
	require.Empty(t, batch(t, admin, "EXEC msdb.dbo.rds_cdc_enable_db 'shop'").errors)
	assert.Equal(t, "1", s.value("SELECT is_cdc_enabled FROM sys.databases WHERE name = N'shop'"))
	require.Empty(t, batch(t, admin, "EXEC msdb.dbo.rds_cdc_disable_db 'shop'").errors)
	assert.Equal(t, "0", s.value("SELECT is_cdc_enabled FROM sys.databases WHERE name = N'shop'"))
}
