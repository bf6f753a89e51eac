package input

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// twoTables are two captured tables, and the login that the tests read as.
const twoTables = "CREATE LOGIN reader WITH PASSWORD = 'secret'\nCREATE USER reader FOR LOGIN reader\n" +
	"GRANT SELECT ON SCHEMA::dbo TO reader\nGRANT SELECT ON SCHEMA::cdc TO reader\n" + lagTable +
	"CREATE TABLE dbo.b (id int PRIMARY KEY)\nEXEC sys.sp_cdc_enable_table N'dbo', N'b', @role_name = NULL\n"

// heldGauge is the gauge of table b.
func heldGauge(reason string) string { return "sqlserver_cdc_table_held{db,dbo.b," + reason + "}" }

func run(t *testing.T, server *simulator.Server, statements string) {
	t.Helper()
	require.NoError(t, server.Exec("USE db\n"+statements))
}

// What a held table has missed is a lag until all of it is acknowledged, also over
// a restart, and for each reason that it is held for the gauge is 1 and then 0.
func TestHeld_Figures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, in, rec := measuredAs(t, "reader", twoTables, "snapshot_mode: no_data")
		require.NoError(t, in.Connect(t.Context()))
		after(time.Minute)
		for range 2 {
			run(t, server, "DENY SELECT ON cdc.dbo_b_CT TO reader")
			run(t, server, "INSERT dbo.t VALUES ((SELECT COUNT(*) FROM dbo.t))")
			mustNext(t, in).accept(t)
			after(20 * time.Minute)
			assert.EqualValues(t, 1, rec.metric(heldGauge("permission")))
			assert.InDelta(t, 20*60_000, rec.metric(lagGauge), 30_000)

			run(t, server, "REVOKE SELECT ON cdc.dbo_b_CT FROM reader")
			after(2 * time.Minute)
			assert.EqualValues(t, 0, rec.metric(heldGauge("permission")))
			assert.Zero(t, rec.metric(lagGauge))
		}
		require.NoError(t, in.Close(t.Context()))
	})
}

// The lag of a held table is that of its oldest change also in a process that was
// started later, and while what it has missed waits for the output.
func TestHeld_LagOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, in, _ := measuredAs(t, "reader", twoTables, "snapshot_mode: no_data")
		require.NoError(t, in.Connect(t.Context()))
		after(time.Minute)
		run(t, server, "DENY SELECT ON cdc.dbo_b_CT TO reader\nINSERT dbo.b VALUES (1)\nINSERT dbo.t VALUES (1)")
		mustNext(t, in).accept(t)
		after(30 * time.Minute)
		require.NoError(t, in.Close(t.Context()))

		again, rec := measuredOver(t, server, in.cache.(*memoryCache), "reader", "snapshot_mode: no_data")
		require.NoError(t, again.Connect(t.Context()))
		after(time.Minute)
		assert.InDelta(t, 31*60_000, rec.metric(lagGauge), 30_000)
		run(t, server, "REVOKE SELECT ON cdc.dbo_b_CT FROM reader")
		missed := mustNext(t, again)
		after(10 * time.Minute)
		assert.EqualValues(t, 0, rec.metric(heldGauge("permission")))
		assert.InDelta(t, 42*60_000, rec.metric(lagGauge), 90_000)
		missed.accept(t)
		after(20 * time.Second)
		assert.Zero(t, rec.metric(lagGauge))
		require.NoError(t, again.Close(t.Context()))
	})
}

// A table that is captured anew changes its reason, and one that is dropped is held
// no more.
func TestHeld_ReasonsAndDrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, in, rec := measured(t, twoTables, "snapshot_mode: no_data")
		require.NoError(t, in.Connect(t.Context()))
		after(time.Minute)
		run(t, server, "EXEC sys.sp_cdc_disable_table N'dbo', N'b', N'dbo_b'")
		after(2 * time.Minute)
		require.EqualValues(t, 1, rec.metric(heldGauge("instance_gone")))
		run(t, server, "EXEC sys.sp_cdc_enable_table N'dbo', N'b', @role_name = NULL")
		after(2 * time.Minute)
		assert.EqualValues(t, 0, rec.metric(heldGauge("instance_gone")))
		assert.EqualValues(t, 1, rec.metric(heldGauge("instance_replaced")))
		run(t, server, "DROP TABLE dbo.b")
		after(10 * time.Minute)
		assert.EqualValues(t, 0, rec.metric(heldGauge("instance_replaced")))
		assert.Zero(t, rec.metric(lagGauge))
		require.NoError(t, in.Close(t.Context()))
	})
}

// A table is held for whatever cause it is, until there is none.
func TestHeld_UntilThereIsNoCause(t *testing.T) {
	in, _ := recordedInput(t, &fakeServer{}, newMemoryCache(), "", options{})
	s, err := in.newSource("db")
	require.NoError(t, err)
	r, table := &reading{source: s}, stream.Held{Schema: "dbo", Table: "b"}
	r.tableHeld(table, errors.New("a cause that has no remedy"))
	assert.Contains(t, s.held, "dbo.b")
	assert.Empty(t, s.released)
	r.tableHeld(table, nil)
	assert.Empty(t, s.held)
	assert.Contains(t, s.released, "dbo.b")
}
