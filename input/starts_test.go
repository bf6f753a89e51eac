package input

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/startposition"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// Each start says once whether it has found a position; connections that are lost
// meanwhile say nothing of it.
func TestStarts_SaidOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := newMemoryCache()
		f := &fakeServer{rows: 2, changes: 1, batch: 1}
		start := func() (*input, func(text string) int) {
			in, rec := recordedInput(t, f, cache, "", options{})
			return in, rec.logged
		}
		in, said := start()
		mustNext(t, in).accept(t)
		assert.Equal(t, 1, said(`INFO Start without a stored position: snapshot_mode initial, at LSN 00000000:00000000:000a, key "p.db" of cache "offsets"`))
		require.NoError(t, in.Close(t.Context()))
		assert.Equal(t, 1, said("Start "))

		in, said = start()
		mustNext(t, in).accept(t)
		assert.Equal(t, 1, said(`INFO Start from the stored position: snapshot under way, at LSN 00000000:00000000:000a, key "p.db" of cache "offsets"`))
		mustNext(t, in).accept(t)
		f.set(func(f *fakeServer) {
			failed := false
			f.onPoll = func(context.Context) error {
				if failed {
					return nil
				}
				failed = true
				return sqlserver.ErrConnectionLost
			}
		})
		<-time.After(time.Minute)
		require.NoError(t, in.Close(t.Context()))
		assert.Equal(t, 1, said("Start "))

		in, said = start()
		require.NoError(t, in.Connect(t.Context()))
		assert.Equal(t, 1, said(`INFO Start from the stored position: streaming, at LSN 00000000:00000000:0064, key "p.db" of cache "offsets"`))
		require.NoError(t, in.Close(t.Context()))
		assert.Equal(t, 1, said("Start "))
	})
}

// A start says what it begins with, and what of the configuration is for others.
func TestStarts_Words(t *testing.T) {
	at := func(text string) startposition.Position {
		p, err := startposition.Parse(text)
		require.NoError(t, err)
		return p
	}
	initial := config{snapshotMode: snapshotInitial}
	noData := config{snapshotMode: snapshotNoData}
	earliest := config{snapshotMode: snapshotNoData, startPosition: at(startposition.Earliest)}
	exact := config{snapshotMode: snapshotNoData, startPosition: at("00000000:00000000:000b")}
	assert.Equal(t, "snapshot_mode initial, at LSN 00000000:00000000:000a", initial.begins(lsnOf(10)))
	assert.Equal(t, "snapshot_mode no_data, start_position now, at LSN 00000000:00000000:000a", noData.begins(lsnOf(10)))
	assert.Equal(t, "snapshot_mode no_data, start_position earliest, at LSN 00000000:00000000:000b", earliest.begins(lsnOf(10)))
	assert.Equal(t, "snapshot_mode no_data, start_position 00000000:00000000:000b, at LSN 00000000:00000000:000b", exact.begins(lsnOf(10)))

	read := map[string]snapshot.TableProgress{"t": {}}
	rows := mark{progress: &snapshot.Progress{Start: lsnOf(10), Done: true, Tables: read}}
	none := mark{progress: &snapshot.Progress{Start: lsnOf(10), Done: true}}
	streaming := func(m mark) mark { return m.at(stream.Place{Position: lsn.EndOf(lsnOf(20))}) }
	for _, test := range []struct {
		name string
		cfg  config
		mark mark
		want string
	}{
		{"inside the rows", initial, mark{progress: &snapshot.Progress{Start: lsnOf(10), Tables: read}}, "snapshot under way, at LSN 00000000:00000000:000a"},
		{"inside the rows, which are not wanted any more", noData, mark{progress: &snapshot.Progress{Start: lsnOf(10), Tables: read}}, "snapshot under way, which snapshot_mode no_data ends, at LSN 00000000:00000000:000a"},
		{"behind the rows", initial, rows, "streaming, at LSN 00000000:00000000:000a"},
		{"streaming", initial, streaming(rows), "streaming, at LSN 00000000:00000000:0014"},
		{"streaming without rows", noData, streaming(none), "streaming, at LSN 00000000:00000000:0014"},
		{"rows are wanted late", initial, streaming(none), "streaming, at LSN 00000000:00000000:0014 (snapshot_mode initial is for starts without one)"},
		{"another connector's position", initial, streaming(mark{}), "streaming, at LSN 00000000:00000000:0014 (snapshot_mode initial is for starts without one)"},
		{"rows are not wanted any more", noData, streaming(rows), "streaming, at LSN 00000000:00000000:0014 (snapshot_mode no_data is for starts without one)"},
		{"another start", earliest, streaming(none), "streaming, at LSN 00000000:00000000:0014 (start_position earliest is for starts without one)"},
		{"both", earliest, rows, "streaming, at LSN 00000000:00000000:000a (start_position earliest and snapshot_mode no_data are for starts without one)"},
	} {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, test.want, test.cfg.goesOn(test.mark)) })
	}
}
