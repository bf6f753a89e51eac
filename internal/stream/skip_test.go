package stream

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Wherever in a pass the cleanup job runs: what it takes was read, or is told
// of and stored as passed over, and everything behind it is read. A restart
// tells of nothing again.
func TestReader_SkipsGapsAtAnyMoment(t *testing.T) {
	for _, tables := range [][]string{{"a"}, {"a", "b"}} {
		for _, moment := range []string{"maximum", "mapping", "poll", "exists", "changed", "lows", "page of dbo_a"} {
			t.Run(moment+" of "+string(rune('0'+len(tables))), func(t *testing.T) {
				f := newFakeServer()
				for _, name := range tables {
					f.table(name)
				}
				f.add(f.tables[0], 5, 1, 4, opInsert, 1, "first")
				sink := &fakeSink{}
				var stored Known
				told := map[string][]Skipped{}
				opts := Options{
					Encoder: encoder,
					OnInstances: func(_ context.Context, _ bool, known Known) error {
						stored = known
						return nil
					},
					Gaps:      GapsSkip,
					OnSkipped: func(table, _ string, s Skipped) { told[table] = append(told[table], s) },
				}
				r := New(f, sink, opts, State{})
				drain(t, r)
				f.add(f.tables[0], 20, 1, 19, opInsert, 2, "second")
				f.commit(30)
				f.fail = func(statement string) error {
					if statement == moment {
						f.cleanup(lsnOf(30))
					}
					return nil
				}
				drain(t, r)
				f.fail = nil
				delivered := len(sink.messages) == 2
				if !delivered {
					require.Len(t, told[r.tracked[0].name()], 1)
					s := told[r.tracked[0].name()][0]
					assert.False(t, s.From.After(lsnOf(20)))
					assert.Equal(t, lsnOf(30), s.To)
					require.Len(t, stored.Instances[0].Skipped, 1, "a person finds it")
					assert.Equal(t, s, stored.Instances[0].Skipped[0])
				}
				before := len(told)

				f.add(f.tables[0], 40, 1, 39, opInsert, 3, "third")
				drain(t, r)
				state := r.State()
				f.add(f.tables[0], 50, 1, 49, opInsert, 4, "fourth")
				drain(t, New(f, sink, opts, State{Position: state.Position, ByCommand: true, Instances: stored.Instances, Structures: stored.Structures}))
				assert.Len(t, told, before)
				want := 3
				if delivered {
					want = 4
				}
				assert.Len(t, sink.messages, want)
			})
		}
	}
}

// While an older instance is read that may hold what is missing of the newer
// one, it is read on up to where that begins now.
func TestInstanceIdentity_Behind(t *testing.T) {
	older := InstanceIdentity{Name: "old", ObjectID: 1, FirstStart: lsnOf(1)}
	newer := InstanceIdentity{Name: "new", ObjectID: 2, FirstStart: lsnOf(10), Replaced: &older}
	all := func(*InstanceIdentity) bool { return true }
	none := func(*InstanceIdentity) bool { return false }
	skip := func(id int32) (*GapError, Skipped) {
		return &GapError{objectID: id, Need: lsnOf(12), Low: lsnOf(20)}, Skipped{From: lsnOf(12), To: lsnOf(20)}
	}

	gap, s := skip(2)
	got := newer.behind(gap, s, none)
	assert.Equal(t, InstanceIdentity{Name: "new", ObjectID: 2, FirstStart: lsnOf(20), Skipped: []Skipped{s}}, got)
	got = newer.behind(gap, s, all)
	assert.Equal(t, &older, got.Replaced)

	gap, s = skip(1)
	got = newer.behind(gap, s, all)
	assert.Equal(t, lsnOf(10), got.FirstStart)
	assert.Equal(t, lsnOf(20), got.Replaced.FirstStart)
	assert.Equal(t, lsnOf(1), older.FirstStart, "what is stored already stays as it is")

	for range 30 {
		newer = newer.behind(gap, s, all)
	}
	assert.Len(t, newer.Replaced.Skipped, keptSkips)
}
