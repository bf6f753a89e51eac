package stream

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// tellingReader reads with schema changes told of, and keeps what it must
// store.
func tellingReader(t *testing.T, f *fakeServer, sink Sink, start State, stored *Known) *Reader {
	t.Helper()
	changes, err := event.NewSchemaChanges(event.Options{Topics: event.Naming{Prefix: "p"}})
	require.NoError(t, err)
	return New(f, sink, Options{
		Encoder: encoder, SchemaChanges: changes, Database: "db",
		OnInstances: func(_ context.Context, _ bool, known Known) error {
			*stored = known
			return nil
		},
	}, start)
}

// told returns messages in short: the type and table of schema changes, the
// key of rows.
func told(t *testing.T, messages []event.Message) []string {
	t.Helper()
	list := []string{}
	for _, m := range messages {
		if m.Kind != event.KindSchemaChange {
			list = append(list, m.Table+string(m.Key))
			continue
		}
		var v struct {
			Changes []struct{ Type string } `json:"tableChanges"`
		}
		require.NoError(t, json.Unmarshal(m.Value, &v))
		list = append(list, v.Changes[0].Type+" "+m.Table)
	}
	return list
}

// structurePhases change a server step by step, with a row after each.
var structurePhases = []struct {
	want   []string
	change func(f *fakeServer)
}{
	{[]string{`a{"id":1}`, `a{"id":2}`}, func(f *fakeServer) {
		f.add(f.tables[0], 10, 1, 1, opInsert, 1, "x")
		f.add(f.tables[0], 11, 1, 2, opInsert, 2, "x")
	}},
	{[]string{"ALTER a", `a{"id":3}`}, func(f *fakeServer) {
		altered := *f.tables[0].Source
		altered.Columns = slices.Clone(altered.Columns)
		altered.Columns[1].Type.Length = 60
		f.tables[0].Source, f.tables[0].Instances[0].Shape = &altered, &altered
		f.edition++
		f.add(f.tables[0], 20, 1, 3, opInsert, 3, "x")
	}},
	{[]string{"CREATE b", `b{"id":4}`, `b{"id":4}`, `b{"id":4}`}, func(f *fakeServer) {
		b := f.table("b")
		b.Instances[0].StartLSN, f.lows[b.Instances[0].ObjectID] = lsnOf(25), lsnOf(25)
		f.add(b, 30, 1, 4, opInsert, 4, "x")
		f.add(b, 30, 2, 5, opDelete, 4, "x")
	}},
	{[]string{"DROP a", `b{"id":5}`}, func(f *fakeServer) {
		f.tables = f.tables[1:]
		f.lows = map[int32]lsn.LSN{f.tables[0].Instances[0].ObjectID: lsnOf(25)}
		f.edition++
		f.add(f.tables[0], 40, 1, 6, opInsert, 5, "x")
	}},
	{[]string{"CREATE a"}, func(f *fakeServer) {
		f.tables = append(f.tables, &sqlserver.Table{ObjectID: 7, Source: &schema.Table{
			Database: "db", Schema: "dbo", Name: "a", Columns: f.tables[0].Source.Columns, Key: []int{0},
		}})
		f.tables[1].Instances = []*sqlserver.CaptureInstance{f.instance(f.tables[1], 1007, lsnOf(45))}
		f.edition++
		f.commit(46)
	}},
}

// Each change is told once, before the rows that have it, and whichever message
// was the last acknowledged before a restart, neither lost nor repeated.
func TestStructures_ToldOnceWhateverTheRestart(t *testing.T) {
	for last := range structurePhases {
		f := newFakeServer()
		f.table("a")
		choices, err := ChooseAll(f.tables, nil, Terms{Need: lsnOf(1)})
		require.NoError(t, err)
		stored := Known{Structures: Structures(choices)}
		sink := &fakeSink{}
		r := tellingReader(t, f, sink, State{Position: lsn.EndOf(lsnOf(5)), ByCommand: true, Structures: stored.Structures}, &stored)
		for phase := range last {
			structurePhases[phase].change(f)
			drain(t, r)
		}
		begin := len(sink.messages)
		start := r.State().Position
		structurePhases[last].change(f)
		drain(t, r)
		all := sink.messages[begin:]
		require.Equal(t, structurePhases[last].want, told(t, all))
		for i := range all {
			require.True(t, start.Before(all[i].Position), "message %d at %s after %s", i, all[i].Position, start)
			start = all[i].Position
		}

		resume := lsn.EndOf(lsnOf(5))
		if begin > 0 {
			resume = sink.messages[begin-1].Position
		}
		for i := -1; i < len(all); i++ {
			if i >= 0 {
				resume = all[i].Position
			}
			kept := stored
			again := &fakeSink{}
			state := State{Position: resume, ByCommand: true, Instances: stored.Instances, Structures: stored.Structures}
			drain(t, tellingReader(t, f, again, state, &kept))
			assert.Equal(t, told(t, all[i+1:]), told(t, again.messages), "phase %d, after message %d", last, i)
		}
	}
}

// A change that the sink did not take is told when it takes messages again.
func TestStructures_ToldAfterASinkFailed(t *testing.T) {
	f := newFakeServer()
	f.table("a")
	choices, err := ChooseAll(f.tables, nil, Terms{Need: lsnOf(1)})
	require.NoError(t, err)
	var stored Known
	sink := &fakeSink{}
	r := tellingReader(t, f, sink, State{Position: lsn.EndOf(lsnOf(5)), ByCommand: true, Structures: Structures(choices)}, &stored)
	structurePhases[0].change(f)
	drain(t, r)
	structurePhases[1].change(f)
	sink.fail = func() error { return assert.AnError }
	_, err = r.PollOnce(t.Context())
	require.ErrorIs(t, err, assert.AnError)
	sink.fail = nil
	drain(t, r)
	assert.Equal(t, []string{`a{"id":1}`, `a{"id":2}`, "ALTER a", `a{"id":3}`}, told(t, sink.messages))
}
