package input

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

const (
	lagGauge     = "sqlserver_cdc_lag_ms{db}"
	stalledGauge = "sqlserver_cdc_capture_stalled{db}"

	headroomGauge = "sqlserver_cdc_retention_headroom_seconds{db,dbo.t}"
)

// measured is an input over the simulator, in which nothing is acknowledged by
// itself.
func measured(t *testing.T, script, fields string) (*simulator.Server, *input, *recorder) {
	t.Helper()
	return measuredAs(t, "sa", script, fields)
}

// measuredAs is measured by a login that the script may make.
func measuredAs(t *testing.T, login, script, fields string) (*simulator.Server, *input, *recorder) {
	t.Helper()
	server, err := simulator.New(simulator.Options{
		Logins: map[string]string{"sa": "secret"}, Encryption: simulator.EncryptionUnsupported,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	require.NoError(t, server.Exec("CREATE DATABASE db\nGO\nUSE db\nEXEC sys.sp_cdc_enable_db\nGO\nUSE db\n"+script))
	in, rec := measuredOver(t, server, newMemoryCache(), login, fields)
	return server, in, rec
}

// measuredOver is another such input over a server, with a cache.
func measuredOver(t *testing.T, server *simulator.Server, cache *memoryCache, login, fields string) (*input, *recorder) {
	t.Helper()
	in, rec := recordedInput(t, &fakeServer{}, cache,
		"poll_interval: 10s\nuser: "+login+"\npassword: secret\nencrypt: 'false'\ninclude_schema_changes: false\n"+fields, options{dial: server.DialContext})
	in.open = openSource
	return in, rec
}

const lagTable = "CREATE TABLE dbo.t (id int PRIMARY KEY)\nEXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL\n"

func after(d time.Duration) { <-time.After(d) }

// The lag is zero while nothing changes, however long, and grows while the
// output takes nothing; it is zero again once all is acknowledged, and the time
// that took is in the figures of deliveries for a while.
func TestLag_Output(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, in, rec := measured(t, lagTable, "snapshot_mode: no_data")
		require.NoError(t, in.Connect(t.Context()))
		for range 3 * 60 {
			after(time.Minute)
			require.Zero(t, rec.metric(lagGauge), "idle")
		}
		assert.Less(t, rec.metric("sqlserver_cdc_lsn_age_seconds{db}"), int64(330))

		require.NoError(t, server.Exec("USE db\nINSERT dbo.t VALUES (1), (2)"))
		row := mustNext(t, in) // within a look of the capture job, 5 s, and a poll, 10 s
		after(time.Minute)
		assert.InDelta(t, 60_000, rec.metric(lagGauge), 20_000)
		after(time.Hour)
		assert.InDelta(t, 3_660_000, rec.metric(lagGauge), 20_000)
		assert.EqualValues(t, 2, rec.metric("sqlserver_cdc_unacknowledged_messages{db}"))

		row.accept(t)
		after(2 * time.Second)
		assert.Zero(t, rec.metric(lagGauge))
		for _, stat := range []string{"min", "average", "p50", "p99", "max"} {
			assert.InDelta(t, 3_660_000, rec.metric("sqlserver_cdc_delivery_lag_ms{db,"+stat+"}"), 20_000, stat)
		}
		after(3 * time.Minute)
		assert.Zero(t, rec.metric("sqlserver_cdc_delivery_lag_ms{db,max}"))
		assert.EqualValues(t, 2, rec.metric("sqlserver_cdc_events{db,dbo.t,c}"))
		assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_transactions{db}"))
		require.NoError(t, in.Close(t.Context()))
	})
}

// A rejection hides no lag: the message waits on, and is one lag with its
// repeats.
func TestLag_Rejections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, in, rec := measured(t, lagTable, "snapshot_mode: no_data")
		require.NoError(t, in.Connect(t.Context()))
		after(time.Minute)
		require.NoError(t, server.Exec("USE db\nINSERT dbo.t VALUES (1)"))
		for range 5 {
			row := mustNext(t, in)
			after(time.Minute)
			require.NoError(t, row.ack(t.Context(), errDownstream))
		}
		last := mustNext(t, in)
		after(time.Second)
		assert.Greater(t, rec.metric(lagGauge), int64(5*60_000))
		last.accept(t)
		after(2 * time.Second)
		assert.Zero(t, rec.metric(lagGauge))
		require.NoError(t, in.Close(t.Context()))
	})
}

// Without the Agent nothing is captured, and nobody can say that nothing
// changed; without the server neither.
func TestLag_Unknown(t *testing.T) {
	for name, trouble := range map[string]struct{ stop, start func(*simulator.Server) }{
		"agent": {(*simulator.Server).StopAgent, (*simulator.Server).StartAgent},
		"server": {
			func(s *simulator.Server) { _ = s.Exec("ALTER DATABASE db SET OFFLINE WITH ROLLBACK IMMEDIATE") },
			func(s *simulator.Server) { _ = s.Exec("ALTER DATABASE db SET ONLINE") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, in, rec := measured(t, lagTable, "snapshot_mode: no_data")
				require.NoError(t, in.Connect(t.Context()))
				after(10 * time.Minute)
				require.Zero(t, rec.metric(lagGauge))
				trouble.stop(server)
				after(20 * time.Minute)
				assert.InDelta(t, 20*60_000, rec.metric(lagGauge), 6*60_000)
				trouble.start(server)
				after(10 * time.Minute)
				assert.Zero(t, rec.metric(lagGauge))
				require.NoError(t, in.Close(t.Context()))
			})
		})
	}
}

// When the capture job runs again, that is seen as soon as it captures something,
// and once that is delivered there is no lag, though the newest LSN is old.
func TestLag_CapturesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, in, rec := measured(t, lagTable, "snapshot_mode: no_data")
		require.NoError(t, in.Connect(t.Context()))
		after(10 * time.Minute)
		server.StopAgent()
		require.NoError(t, server.Exec("USE db\nINSERT dbo.t VALUES (1)"))
		for rec.metric(stalledGauge) == 0 {
			after(time.Second)
		}
		after(70 * time.Second) // it has just been looked at again, and will be in 50 s
		require.Positive(t, rec.metric(lagGauge))
		server.StartAgent()
		mustNext(t, in).accept(t)
		after(2 * time.Second)
		assert.Zero(t, rec.metric(lagGauge))
		after(10 * time.Second)
		assert.Zero(t, rec.metric(stalledGauge))
		require.NoError(t, in.Close(t.Context()))
	})
}

// Once a minute the headroom and the drift of each table are published, and
// what has been read is counted by table and operation.
func TestMetrics_Tables(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, in, rec := measured(t, lagTable+"INSERT dbo.t VALUES (1), (2), (3)\n"+
			"CREATE TABLE dbo.none (id int PRIMARY KEY)\nEXEC sys.sp_cdc_enable_table N'dbo', N'none', @role_name = NULL\n", "include_schema_changes: false")
		after(time.Minute) // the inserts are captured: they are in the snapshot alone
		require.NoError(t, in.Connect(t.Context()))
		for rows := 0; rows < 3; {
			d := mustNext(t, in)
			rows += len(d.batch)
			d.accept(t)
		}
		after(2 * time.Minute)
		assert.EqualValues(t, 3, rec.metric("sqlserver_cdc_events{db,dbo.t,r}"))
		assert.EqualValues(t, 2, rec.metric("sqlserver_cdc_captured_tables{db}"))
		assert.EqualValues(t, 2, rec.metric("sqlserver_cdc_snapshot_tables{db}"))
		assert.EqualValues(t, 0, rec.metric("sqlserver_cdc_snapshot_tables_remaining{db}"))
		assert.EqualValues(t, 0, rec.metric("sqlserver_cdc_snapshot_running{db}"))
		assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_snapshot_completed{db}"))
		assert.EqualValues(t, 0, rec.metric("sqlserver_cdc_drift_columns{db,dbo.t}"))

		assert.False(t, rec.shows(headroomGauge), "a fresh table that is read up to date")

		require.NoError(t, server.Exec("USE db\nALTER TABLE dbo.t ADD more int NULL"))
		after(time.Hour)
		assert.EqualValues(t, 1, rec.metric("sqlserver_cdc_drift_columns{db,dbo.t}"))
		assert.False(t, rec.shows(headroomGauge))
		require.NoError(t, server.Exec("USE db\nDECLARE @low binary(10) = sys.fn_cdc_map_time_to_lsn('largest less than or equal', DATEADD(minute, -30, GETDATE()))\n"+
			"EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', @low"))
		after(time.Hour)
		assert.InDelta(t, 5400, rec.metric(headroomGauge), 900)
		polls, statements := rec.metric("sqlserver_cdc_polls{db}"), rec.metric("sqlserver_cdc_statements{db}")
		assert.Positive(t, polls)
		assert.Less(t, float64(statements)/float64(polls), 2.0, "statements per poll of an idle database, with what is asked once a minute")

		require.NoError(t, server.Exec("USE db\nCREATE TABLE dbo.more (id int PRIMARY KEY)\nEXEC sys.sp_cdc_enable_table N'dbo', N'more', @role_name = NULL"))
		after(2 * time.Minute)
		assert.EqualValues(t, 3, rec.metric("sqlserver_cdc_captured_tables{db}"))
		require.NoError(t, server.Exec("USE db\nDROP TABLE dbo.t"))
		after(2 * time.Minute)
		assert.EqualValues(t, 2, rec.metric("sqlserver_cdc_captured_tables{db}"))
		assert.EqualValues(t, 0, rec.metric("sqlserver_cdc_drift_columns{db,dbo.t}"))
		assert.EqualValues(t, -1, rec.metric(headroomGauge))
		require.NoError(t, in.Close(t.Context()))
	})
}
