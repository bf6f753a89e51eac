package input

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// A server that does not answer is said and shown after half a minute, until it
// answers, or the connection is given up and another one works. A statement that
// takes long is not cut.
func TestLink_Silence(t *testing.T) {
	const connected, reconnects = "sqlserver_cdc_connected{db}", "sqlserver_cdc_reconnects{db}"
	for name, test := range map[string]struct {
		do         simulator.Action
		lasts      time.Duration
		again      int
		reconnects int64
	}{
		"a slow statement": {simulator.Delay(5 * time.Minute), 5 * time.Minute, 1, 0},
		"a dead network":   {simulator.Stall(), 10 * time.Minute, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, in, rec := measured(t, lagTable, "snapshot_mode: no_data")
				require.NoError(t, in.Connect(t.Context()))
				after(10 * time.Minute)
				require.EqualValues(t, 1, rec.metric(connected))
				require.Zero(t, rec.logged("has not answered"))

				server.Control(simulator.Fault{On: "select from cdc.lsn_time_mapping", Do: test.do})
				after(25 * time.Second)
				assert.EqualValues(t, 1, rec.metric(connected))
				after(20 * time.Second) // with a pause between two looks for changes
				assert.EqualValues(t, 0, rec.metric(connected))
				assert.Equal(t, 1, rec.logged("WARN The server has not answered for 30s"))
				assert.Equal(t, 1, rec.logged("lower database_query_timeout"))
				after(test.lasts - 2*time.Minute)
				assert.EqualValues(t, 0, rec.metric(connected))
				after(2 * time.Minute)
				assert.EqualValues(t, 1, rec.metric(connected))
				assert.Equal(t, test.reconnects, rec.metric(reconnects))
				assert.Equal(t, 1, rec.logged("has not answered for"))
				assert.Equal(t, test.again, rec.logged("The server answers again"))
				require.NoError(t, in.Close(t.Context()))
			})
		})
	}
}

// Without a limit to statements the warning says how to get one.
func TestLink_SilenceWithoutLimit(t *testing.T) {
	in, rec := recordedInput(t, &fakeServer{}, newMemoryCache(), "database_query_timeout: 0s", options{})
	s, err := in.newSource("db")
	require.NoError(t, err)
	s.link.silent(true)
	assert.Equal(t, 1, rec.logged("that goes on for ever: set database_query_timeout"))
	assert.False(t, rec.shows("sqlserver_cdc_connected{db}"), "nothing has worked yet")
}

// A database whose server could not be reached at first, under a name in another
// spelling than the exact one, is shown as read under both.
func TestLink_AnotherSpelling(t *testing.T) {
	in, rec := recordedInput(t, &fakeServer{}, newMemoryCache(), "", options{})
	l := &link{gauge: in.metrics.Connected, log: in.log}
	shown := func() []int64 {
		return []int64{rec.metric("sqlserver_cdc_connected{DB}"), rec.metric("sqlserver_cdc_connected{db}")}
	}
	l.set("DB", false)
	l.set("db", true)
	assert.Equal(t, []int64{1, 1}, shown())
	l.silent(true)
	assert.Equal(t, []int64{0, 0}, shown())
	l.silent(false)
	assert.Equal(t, []int64{1, 1}, shown())
	l.set("db", false)
	assert.Equal(t, []int64{0, 0}, shown())
}
