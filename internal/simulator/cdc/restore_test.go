package cdc_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// MS docs, "Work with change data capture and other features": a restore keeps capture
// under the old name on the old server; elsewhere it goes unless KEEP_CDC is said, and
// then the jobs must be added again.
func TestRestore(t *testing.T) {
	backup := func(t *testing.T) *server {
		s := start(t)
		s.exec("CREATE TABLE dbo.t (id int PRIMARY KEY, v int)")
		s.track("t")
		s.exec("INSERT t VALUES (1, 1)")
		s.capture()
		s.exec("BACKUP DATABASE shop TO DISK = 'shop.bak'")
		return s
	}
	const flags = "SELECT is_cdc_enabled FROM sys.databases WHERE name = 'copy'"

	t.Run("same name", func(t *testing.T) {
		s := backup(t)
		last := s.value("SELECT sys.fn_cdc_get_max_lsn()")
		s.exec("INSERT t VALUES (2, 2)")
		s.capture()
		require.Greater(t, s.value("SELECT sys.fn_cdc_get_max_lsn()"), last)
		s.exec("USE master; RESTORE DATABASE shop FROM DISK = 'shop.bak' WITH REPLACE")
		s.exec("USE shop")
		require.Equal(t, last, s.value("SELECT sys.fn_cdc_get_max_lsn()"), "LSNs go back")
		s.exec("INSERT t VALUES (3, 3)")
		s.capture()
		require.Equal(t, []string{"2 1", "2 3"}, s.query("SELECT [__$operation], id FROM cdc.dbo_t_CT ORDER BY [__$start_lsn]"))
		require.Equal(t, "2", s.value("SELECT COUNT(*) FROM msdb.dbo.cdc_jobs"))
	})
	t.Run("elsewhere", func(t *testing.T) {
		s := backup(t)
		s.exec("USE master; RESTORE DATABASE copy FROM DISK = 'shop.bak'")
		require.Equal(t, "0", s.value(flags))
		s.exec("USE copy")
		require.Equal(t, "NULL", s.value("SELECT SCHEMA_ID('cdc')"))
		require.Equal(t, "0", s.value("SELECT is_tracked_by_cdc FROM sys.tables WHERE name = 't'"))
		require.Equal(t, "2", s.value("SELECT COUNT(*) FROM msdb.dbo.cdc_jobs"), "those of the first database")
		s.exec("EXEC sys.sp_cdc_enable_db")
	})
	t.Run("elsewhere with KEEP_CDC", func(t *testing.T) {
		s := backup(t)
		s.exec("USE master; RESTORE DATABASE copy FROM DISK = 'shop.bak' WITH KEEP_CDC")
		require.Equal(t, "1", s.value(flags))
		s.exec("USE copy; INSERT t VALUES (2, 2)")
		require.NoError(t, s.agent.CaptureNow("copy"))
		require.Equal(t, []string{"1", "2"}, s.query("SELECT id FROM cdc.dbo_t_CT ORDER BY [__$start_lsn]"))
		require.Equal(t, "0", s.value("SELECT COUNT(*) FROM msdb.dbo.cdc_jobs WHERE database_id = DB_ID()"))
	})
}
