package cdc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

func TestCleanup_Marks(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY)")
	s.track("t")
	s.track("u")
	for id := range 7 {
		s.exec(fmt.Sprintf("INSERT t VALUES (%d)", id))
		s.clock.advance(time.Minute)
	}
	s.capture()
	lsn := func(id int) string {
		return s.value(fmt.Sprintf("SELECT [__$start_lsn] FROM cdc.dbo_t_CT WHERE id = %d", id))
	}
	second, fifth := lsn(2), lsn(5)
	low := func() string {
		return s.value("SELECT start_lsn FROM cdc.change_tables WHERE capture_instance = N'dbo_t'")
	}
	count := func() string { return s.value("SELECT COUNT(*) FROM cdc.dbo_t_CT") }

	failed := s.value("DECLARE @f bit; EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', " + fifth + ", 2, @fCleanupFailed = @f OUTPUT; SELECT CONVERT(int, @f)")
	assert.Equal(t, "0", failed)
	assert.Equal(t, "2", count(), "in batches of two")
	assert.Equal(t, fifth, low())
	assert.NotEqual(t, fifth, s.value("SELECT MIN(start_lsn) FROM cdc.lsn_time_mapping"), "the other instance still reaches the older entries")

	s.exec("EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', " + second)
	assert.Equal(t, fifth, low(), "never down")
	s.exec("EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', NULL")
	assert.Equal(t, fifth, low())
	e := s.fails("EXEC sys.sp_cdc_cleanup_change_table N'none', " + fifth)
	assert.Equal(t, int32(22920), e.Number)
	assert.Equal(t, int32(22910), s.fails("USE master; EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', NULL").Number)
	s.exec("USE shop")

	// In a transaction of the caller the cleanup belongs to it.
	s.exec("BEGIN TRAN; EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', " + lsn(6) + "; ROLLBACK")
	assert.Equal(t, fifth, low())
	assert.Equal(t, "2", count())

	reader := s.reader()
	errs := batch(t, reader, "EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', NULL").errors
	require.NotEmpty(t, errs)
	assert.Equal(t, int32(22904), errs[0].Number)
}

// The rows of a table that a reader holds stay, the low end moves, and the output
// parameter says so.
func TestCleanup_Failed(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE t (id int PRIMARY KEY)")
	s.track("t")
	s.exec("INSERT t VALUES (1)")
	s.clock.advance(time.Minute)
	s.exec("INSERT t VALUES (2)")
	s.capture()
	mark := s.value("SELECT MAX([__$start_lsn]) FROM cdc.dbo_t_CT")
	require.NoError(t, s.in.System("shop", func(x *engine.Exec) error {
		_, err := x.Exec("EXEC sp_rename N'cdc.dbo_t_CT', N'elsewhere'")
		return err
	}))
	assert.Equal(t, "1", s.value("DECLARE @f bit; EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', "+mark+", @fCleanupFailed = @f OUTPUT; SELECT CONVERT(int, @f)"))
	assert.Equal(t, mark, s.value("SELECT start_lsn FROM cdc.change_tables"))
}

// Daylight saving in Berlin: on 31 March 2024 two o'clock does not come, on 27 October
// it comes twice. The mapping table holds the clock on the wall.
func TestDaylightSaving(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	at := func(month time.Month, day, hour, minute int) *manualClock {
		c := newClock()
		c.now = time.Date(2024, month, day, hour, minute, 0, 0, time.UTC)
		return c
	}
	times := func(s *server) []string {
		return s.query("SELECT id, sys.fn_cdc_map_lsn_to_time([__$start_lsn]) FROM cdc.dbo_t_CT ORDER BY [__$start_lsn]")
	}
	t.Run("the repeated hour", func(t *testing.T) {
		s := startWith(t, engine.Options{Location: berlin}, at(time.October, 27, 0, 30))
		s.exec("CREATE TABLE t (id int PRIMARY KEY)")
		s.track("t")
		s.exec("EXEC sys.sp_cdc_stop_job")
		s.exec("INSERT t VALUES (1)") // 02:30 summer time
		s.clock.advance(30 * time.Minute)
		s.exec("INSERT t VALUES (2)") // 02:00 winter time
		s.clock.advance(45 * time.Minute)
		s.exec("INSERT t VALUES (3)")
		s.capture()
		assert.Equal(t, []string{"1 2024-10-27T02:30:00", "2 2024-10-27T02:00:00", "3 2024-10-27T02:45:00"}, times(s))
		find := func(relation, at string) string {
			return s.value("SELECT id FROM cdc.dbo_t_CT WHERE [__$start_lsn] = sys.fn_cdc_map_time_to_lsn('" + relation + "', '" + at + "')")
		}
		assert.Equal(t, "2", find("largest less than or equal", "2024-10-27T02:30:00"), "the later transaction of an earlier time")
		assert.Equal(t, "1", find("smallest greater than", "2024-10-27T02:00:00"))
	})
	t.Run("the missing hour", func(t *testing.T) {
		s := startWith(t, engine.Options{Location: berlin}, at(time.March, 31, 0, 59))
		s.exec("CREATE TABLE t (id int PRIMARY KEY)")
		s.track("t")
		s.exec("INSERT t VALUES (1)")
		s.clock.advance(time.Minute)
		s.exec("INSERT t VALUES (2)")
		s.capture()
		assert.Equal(t, []string{"1 2024-03-31T01:59:00", "2 2024-03-31T03:00:00"}, times(s))
	})
	t.Run("cleanup", func(t *testing.T) {
		runs := func(clock *manualClock) []string {
			s := startWith(t, engine.Options{Location: berlin}, clock)
			s.exec("CREATE TABLE t (id int PRIMARY KEY)")
			s.track("t")
			s.clock.advance(36 * time.Hour)
			return s.query(`SELECT h.run_date, h.run_time FROM msdb.dbo.sysjobhistory h JOIN msdb.dbo.sysjobs j ON j.job_id = h.job_id
WHERE j.name = N'cdc.shop_cleanup' ORDER BY h.instance_id`)
		}
		assert.Equal(t, []string{"20240331 30000", "20240401 20000"}, runs(at(time.March, 30, 16, 0)))
		assert.Equal(t, []string{"20241027 20000", "20241028 20000"}, runs(at(time.October, 26, 16, 0)), "once in the night that has two o'clock twice")
	})
}
