package snapshot

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// structureMessages returns table and marker of the schema changes that a sink
// got.
func structureMessages(t *testing.T, sink *fakeSink) []string {
	t.Helper()
	list := []string{}
	for _, m := range sink.messages {
		if m.Kind == event.KindSchemaChange {
			require.True(t, json.Valid(m.Value))
			list = append(list, m.Table+" "+m.Snapshot)
		}
	}
	return list
}

// telling returns options that tell of three tables and read the first two.
func telling(t *testing.T, f *fakeServer) Options {
	t.Helper()
	changes, err := event.NewSchemaChanges(event.Options{Topics: event.Naming{Prefix: "p"}, Now: func() time.Time { return epoch }})
	require.NoError(t, err)
	opts := Options{SchemaChanges: changes, MaxBatchSize: 2, FetchSize: 1, Encoder: encoder}
	for _, name := range []string{"a", "b"} {
		table := f.table(name, 1, false)
		opts.Tables = append(opts.Tables, table)
		opts.Structures = append(opts.Structures, table.Shape)
	}
	opts.Structures = append(opts.Structures, &schema.Table{Database: "db", Schema: "dbo", Name: "c"})
	return opts
}

func TestSnapshotter_TellsOfStructuresBeforeRows(t *testing.T) {
	f := newFakeServer()
	sink := &fakeSink{}
	run(t, f, sink, telling(t, f), nil)
	assert.Equal(t, []string{"a true", "b true", "c true"}, structureMessages(t, sink))
	assert.Equal(t, []string{"a 1 first", "b 1 last"}, sink.lines()[3:])
	for i, m := range sink.messages[1:] {
		require.True(t, sink.messages[i].Position.Before(m.Position), "%s after %s", m.Position, sink.messages[i].Position)
	}
}

func TestSnapshotter_TheLastStructureEndsASnapshotWithoutData(t *testing.T) {
	f := newFakeServer()
	sink := &fakeSink{}
	opts := telling(t, f)
	opts.Tables = nil
	run(t, f, sink, opts, nil)
	assert.Equal(t, []string{"a true", "b true", "c last"}, structureMessages(t, sink))
}

// Until all structures are acknowledged they are told again, afterwards not.
func TestSnapshotter_TellsOfStructuresOnce(t *testing.T) {
	for acknowledged, want := range [][]string{
		{"a true", "b true", "c true"},
		{"a true", "b true", "c true"},
		{},
	} {
		f := newFakeServer()
		opts := telling(t, f)
		first := &fakeSink{}
		f.fail = func(statement string) error {
			if statement == "now" {
				return errors.New("gone")
			}
			return nil
		}
		require.Error(t, New(f, opts, nil).Run(t.Context(), first))
		require.Len(t, first.emitted, 2, "batches of two")
		progress := first.saved[len(first.saved)-1]
		if acknowledged > 0 {
			progress = first.emitted[acknowledged-1].progress
		}
		f.fail = nil
		second := &fakeSink{}
		run(t, f, second, opts, progress)
		assert.Equal(t, want, structureMessages(t, second), "after %d batches", acknowledged)
	}
}
