package snapshot

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// pauseAt is where the stream pauses in these tests.
var pauseAt = lsn.LSN{9: 20}

// pausing reads two tables in a pause of the stream, after an earlier progress.
func pausing(t *testing.T, f *fakeServer, sink *fakeSink, tables []Table, before *Progress) {
	t.Helper()
	run(t, f, sink, Options{Tables: tables, Start: pauseAt, Behind: true, FetchSize: 2, MaxBatchSize: 3}, before.Pause(pauseAt))
}

// Rows that are read in a pause stand behind everything of its commit LSN, the
// messages that are told beside a transaction included, and before the next.
func TestSnapshotter_PauseOfTheStream(t *testing.T) {
	for name, before := range map[string]*Progress{
		"no snapshot": nil,
		"a snapshot":  {Start: lsn.LSN{9: 7}, NextOrdinal: 3 << 40, Done: true, Tables: map[string]TableProgress{"[dbo].[a]": {Done: true, ObjectID: 1}}},
		"a pause":     {Start: lsn.LSN{9: 7}, NextOrdinal: 3 << 40, Done: true, Again: &Progress{Start: lsn.LSN{9: 19}, NextOrdinal: 3 << 40, Done: true}},
	} {
		t.Run(name, func(t *testing.T) {
			f, sink := newFakeServer(), &fakeSink{}
			pausing(t, f, sink, []Table{f.table("a", 5, false), f.table("b", 2, true)}, before)
			assert.Equal(t, []string{"a 1 first", "a 2 true", "a 3 true", "a 4 true", "a 5 last_in_data_collection", "b 1 first_in_data_collection", "b 2 last"}, sink.lines())
			beside := lsn.EndOf(pauseAt)
			beside.Ordinal = 1000
			for _, m := range sink.messages {
				require.True(t, beside.Before(m.Position), "%s", m.Position)
				require.True(t, m.Position.Before(lsn.BeginOf(pauseAt.Next())), "%s", m.Position)
				require.Contains(t, string(m.Value), `"change_lsn":null,"commit_lsn":"00000000:00000000:0014"`)
				beside = m.Position
			}
			if before != nil {
				assert.GreaterOrEqual(t, sink.messages[0].Position.Ordinal, before.NextOrdinal)
			}
		})
	}
}

// After a crash behind any acknowledged batch the rest of the rows come, at
// positions that no row had, and nothing that was acknowledged comes again but
// for a table without a key.
func TestSnapshotter_PauseGoesOn(t *testing.T) {
	f := newFakeServer()
	tables := []Table{f.table("a", 5, false), f.table("b", 4, true), f.table("c", 0, false), f.table("d", 3, false)}
	whole := &fakeSink{}
	outer := &Progress{Start: lsn.LSN{9: 7}, NextOrdinal: 1 << 40, Done: true}
	pausing(t, f, whole, tables, outer)
	for n, step := range whole.emitted {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			left := outer.Paused(step.progress)
			assert.True(t, left.Done)
			assert.Equal(t, outer.Start, left.Start)
			rest := &fakeSink{}
			pausing(t, f, rest, tables, left)
			delivered := map[string]bool{}
			for _, m := range whole.messages[:step.upTo] {
				delivered[m.Table+idOf(m)] = true
			}
			for _, m := range rest.messages {
				assert.False(t, delivered[m.Table+idOf(m)] && m.Table != "b", "%s %s is repeated", m.Table, idOf(m))
				assert.True(t, whole.messages[len(whole.messages)-1].Position.Before(m.Position))
				delivered[m.Table+idOf(m)] = true
			}
			assert.Len(t, delivered, len(whole.messages))
		})
	}
	last := whole.emitted[len(whole.emitted)-1].progress
	assert.True(t, last.Done)
	assert.Equal(t, pauseAt, last.Start)
	assert.Empty(t, outer.Paused(last).Pause(pauseAt.Next()).Tables, "another pause reads all rows")
}

func TestProgress_Afresh(t *testing.T) {
	tables := map[string]TableProgress{"[dbo].[a]": {After: []string{"1"}}}
	again := &Progress{Start: pauseAt, NextOrdinal: 9, Tables: tables}
	for name, test := range map[string]struct{ before, want *Progress }{
		"none":        {nil, nil},
		"interrupted": {&Progress{Start: pauseAt, NextOrdinal: 5, Told: true, Tables: tables}, &Progress{Start: pauseAt, NextOrdinal: 5}},
		"done":        {&Progress{Done: true, Tables: tables}, &Progress{Done: true, Tables: tables}},
		"in a pause":  {&Progress{Done: true, NextOrdinal: 9, Again: again}, &Progress{Done: true, NextOrdinal: 9}},
		"behind one":  {&Progress{Done: true, Again: &Progress{Done: true}}, &Progress{Done: true, Again: &Progress{Done: true}}},
	} {
		assert.Equal(t, test.want, test.before.Afresh(), name)
	}
}
