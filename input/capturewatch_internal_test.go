package input

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/capturejob"
)

// The gauge follows the state, beside the log.
func TestCaptureWatch_Gauge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{changes: 1, batch: 1}
		in, rec := recordedInput(t, f, newMemoryCache(), "", options{})
		const gauge = "sqlserver_cdc_capture_stalled{db}"
		mustNext(t, in).accept(t)
		assert.EqualValues(t, 0, rec.metric(gauge))
		no := false
		f.set(func(f *fakeServer) { f.agent = &no })
		<-time.After(2 * capturejob.Interval)
		assert.EqualValues(t, 1, rec.metric(gauge))
		assert.Equal(t, 1, rec.logged("No changes are captured"))
		f.set(func(f *fakeServer) { f.agent = nil })
		<-time.After(2 * capturejob.Interval)
		assert.EqualValues(t, 0, rec.metric(gauge))
		assert.Equal(t, 1, rec.logged("Changes are captured again"))
		require.NoError(t, in.Close(t.Context()))
	})
}
