package input

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/messages"
)

// A heartbeat holds once it and everything before it is acknowledged: then it
// moves the position to where reading has come without events.
func TestInput_HeartbeatMovesThePosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fakeServer{changes: 1, batch: 1}
		in := testInput(t, f, newMemoryCache(), "heartbeat_interval: 1s\nsnapshot_mode: no_data")
		atEnd := mustNext(t, in)
		assert.Equal(t, []string{"heartbeat"}, kinds(t, atEnd), "at the end of the snapshot")
		atEnd.accept(t)
		row := mustNext(t, in)
		require.Equal(t, []string{"change"}, kinds(t, row))
		f.set(func(f *fakeServer) { f.idle = 7 })

		beat := mustNext(t, in)
		require.Equal(t, []string{"heartbeat"}, kinds(t, beat))
		require.Greater(t, beat.position(t), row.position(t))
		beat.accept(t)
		assert.False(t, in.sources[0].keeper.committed().streaming, "nothing may be passed over")
		row.accept(t)
		assert.Equal(t, beat.position(t), in.sources[0].keeper.committed().position().String())
		require.NoError(t, in.Close(t.Context()))
	})
}

// kinds returns those of a delivery's messages.
func kinds(t *testing.T, d delivery) []string {
	t.Helper()
	var out []string
	for _, m := range d.batch {
		kind, ok := m.MetaGet(messages.MetaKind)
		require.True(t, ok)
		out = append(out, kind)
	}
	return out
}
