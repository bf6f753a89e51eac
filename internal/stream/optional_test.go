package stream

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// withNulls plays a server whose table a has NULL in a NOT NULL column in row 3.
func withNulls(t *testing.T) (f *fakeServer, start State) {
	t.Helper()
	f = newFakeServer()
	for _, name := range []string{"a", "b"} {
		table := f.table(name)
		shape := *table.Source
		shape.Columns = append([]schema.Column{}, shape.Columns...)
		shape.Columns[1].Nullable = false
		table.Source, table.Instances[0].Shape = &shape, &shape
	}
	choices, err := ChooseAll(f.tables, nil, Terms{Need: lsnOf(1)})
	require.NoError(t, err)
	for id := range 6 {
		table := f.tables[id%2]
		f.add(table, 10+id/2, 1+id%2, 100+id, opInsert, int64(id), "x")
		if id == 2 {
			rows := f.rows[table.Instances[0].ObjectID]
			rows[len(rows)-1].Values[1] = nil
		}
	}
	return f, State{Position: lsn.EndOf(lsnOf(5)), ByCommand: true, Structures: Structures(choices)}
}

// optionalIn tells in which messages of table a the field v is optional.
func optionalIn(messages []event.Message) (list []bool) {
	for _, m := range messages {
		if m.Kind == event.KindChange && m.Table == "a" {
			list = append(list, strings.Contains(string(m.Value), `"optional":true,"field":"v"}`))
		}
	}
	return list
}

func schemaEncoder(t *schema.Table) (*event.Encoder, error) {
	return event.NewEncoder(t, event.Options{Topics: event.Naming{Prefix: "p"}, Modes: schema.DefaultModes(), ValueSchemas: true})
}

// A field that becomes optional is told of once, before the row that made it
// so; whichever message was the last acknowledged before a restart, what comes
// is what came, and the field stays optional.
func TestOptional_ToldOnceWhateverTheRestart(t *testing.T) {
	f, start := withNulls(t)
	var stored Known
	sink := &fakeSink{}
	r := tellingReader(t, f, sink, start, &stored)
	r.opts.Encoder = schemaEncoder
	drain(t, r)
	all := sink.messages
	want := []string{`a{"id":0}`, `b{"id":1}`, "ALTER a", `a{"id":2}`, `b{"id":3}`, `a{"id":4}`, `b{"id":5}`}
	require.Equal(t, want, told(t, all))
	assert.Equal(t, []bool{false, true, true}, optionalIn(all))
	assert.Contains(t, string(all[2].Value), `"name":"v"`)
	assert.Contains(t, string(all[2].Value), `"position":2,"optional":true`)
	for i := range all[1:] {
		require.True(t, all[i].Position.Before(all[i+1].Position))
	}
	for i := range all {
		kept := stored
		again := &fakeSink{}
		r := tellingReader(t, f, again, State{Position: all[i].Position, ByCommand: true, Instances: stored.Instances, Structures: stored.Structures}, &kept)
		r.opts.Encoder = schemaEncoder
		drain(t, r)
		require.Equal(t, want[i+1:], told(t, again.messages), "after message %d", i)
		assert.Equal(t, optionalIn(all[i+1:]), optionalIn(again.messages), "after message %d", i)
	}
}

// A message that the sink did not take is told again, before the first row
// whose field is optional.
func TestOptional_ToldAfterASinkFailed(t *testing.T) {
	f, start := withNulls(t)
	var stored Known
	sink := &fakeSink{fail: func() error { return assert.AnError }}
	r := tellingReader(t, f, sink, start, &stored)
	r.opts.Encoder = schemaEncoder
	_, err := r.PollOnce(t.Context())
	require.ErrorIs(t, err, assert.AnError)
	sink.fail = nil
	drain(t, r)
	assert.Equal(t, []string{"ALTER a", `a{"id":0}`, `b{"id":1}`, `a{"id":2}`, `b{"id":3}`, `a{"id":4}`, `b{"id":5}`}, told(t, sink.messages))
	assert.Equal(t, []bool{true, true, true}, optionalIn(sink.messages))
}

// What cannot be stored is not told, and the row that needs it not emitted.
func TestOptional_NotStored(t *testing.T) {
	f, start := withNulls(t)
	sink := &fakeSink{}
	r := tellingReader(t, f, sink, start, &Known{})
	drained := r.opts.OnInstances
	r.opts.OnInstances = func(ctx context.Context, byCommand bool, known Known) error {
		for _, s := range known.Structures {
			if len(s.Optional) > 0 {
				return assert.AnError
			}
		}
		return drained(ctx, byCommand, known)
	}
	_, err := r.PollOnce(t.Context())
	require.ErrorIs(t, err, assert.AnError)
	assert.Equal(t, []string{`a{"id":0}`, `b{"id":1}`}, told(t, sink.messages))
	r.opts.OnInstances = drained
	drain(t, r)
	assert.Equal(t, []string{`a{"id":0}`, `b{"id":1}`, "ALTER a", `a{"id":2}`, `b{"id":3}`, `a{"id":4}`, `b{"id":5}`}, told(t, sink.messages))
}

// Without schema changes the field stays optional all the same.
func TestOptional_WithoutSchemaChanges(t *testing.T) {
	f, start := withNulls(t)
	var stored Known
	sink := &fakeSink{}
	r := tellingReader(t, f, sink, start, &stored)
	r.opts.Encoder, r.opts.SchemaChanges = schemaEncoder, nil
	drain(t, r)
	assert.Equal(t, []bool{false, true, true}, optionalIn(sink.messages))
	again := &fakeSink{}
	r = tellingReader(t, f, again, State{Position: sink.messages[3].Position, ByCommand: true, Instances: stored.Instances, Structures: stored.Structures}, &stored)
	r.opts.Encoder, r.opts.SchemaChanges = schemaEncoder, nil
	drain(t, r)
	assert.Equal(t, []bool{true}, optionalIn(again.messages))
}

// A newer instance that takes over later in the same pass, and a structure
// that changes with it, keep the field optional.
func TestOptional_AcrossAHandover(t *testing.T) {
	f, start := withNulls(t)
	a := f.tables[0]
	wider := *a.Source
	wider.Columns = append([]schema.Column{}, wider.Columns...)
	wider.Columns[1].Type.Length = 60
	second := f.instance(a, 2000, lsnOf(12))
	second.CreateDate, second.Shape, second.Name = epoch.Add(1), &wider, "second"
	f.rows[2000] = f.rows[a.Instances[0].ObjectID][2:]
	a.Instances = append(a.Instances, second)
	var stored Known
	sink := &fakeSink{}
	r := tellingReader(t, f, sink, start, &stored)
	r.opts.Encoder = schemaEncoder
	drain(t, r)
	assert.Equal(t, []string{`a{"id":0}`, `b{"id":1}`, "ALTER a", `a{"id":2}`, `b{"id":3}`, "ALTER a", `a{"id":4}`, `b{"id":5}`}, told(t, sink.messages))
	assert.Equal(t, []bool{false, true, true}, optionalIn(sink.messages))
	assert.Contains(t, string(sink.messages[5].Value), `"length":60,"scale":null,"position":2,"optional":true`)

	rest := &fakeSink{}
	r = tellingReader(t, f, rest, State{Position: sink.messages[3].Position, ByCommand: true, Instances: stored.Instances, Structures: stored.Structures}, &stored)
	r.opts.Encoder = schemaEncoder
	drain(t, r)
	assert.Equal(t, []string{`b{"id":3}`, "ALTER a", `a{"id":4}`, `b{"id":5}`}, told(t, rest.messages))
	assert.Equal(t, []bool{true}, optionalIn(rest.messages))
}
