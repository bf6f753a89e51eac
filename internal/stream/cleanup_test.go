package stream

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Wherever in a pass the cleanup job runs, what it takes is missed or was
// read, and never passed over.
func TestReader_CleanupAtAnyMoment(t *testing.T) {
	for _, tables := range [][]string{{"a"}, {"a", "b"}} {
		for _, moment := range []string{"maximum", "mapping", "poll", "exists", "changed", "lows", "page of dbo_a"} {
			t.Run(moment+" of "+string(rune('0'+len(tables))), func(t *testing.T) {
				f := newFakeServer()
				for _, name := range tables {
					f.table(name)
				}
				f.add(f.tables[0], 5, 1, 4, opInsert, 1, "first")
				sink := &fakeSink{}
				r := New(f, sink, Options{Encoder: encoder}, State{})
				drain(t, r)
				f.add(f.tables[0], 20, 1, 19, opInsert, 2, "second")
				f.commit(30)
				f.fail = func(statement string) error {
					if statement == moment {
						f.cleanup(lsnOf(30))
					}
					return nil
				}
				_, err := r.PollOnce(t.Context())
				if len(sink.messages) == 2 {
					require.NoError(t, err)
					return
				}
				var gap *GapError
				require.ErrorAs(t, err, &gap)
				assert.Equal(t, lsn.EndOf(lsnOf(5)), sink.advanced, "nothing is passed over")
			})
		}
	}
}

// An idle pass costs one statement and an active one two and its pages.
func TestReader_Statements(t *testing.T) {
	f := newFakeServer()
	a := f.table("a")
	f.table("b")
	f.add(a, 5, 1, 4, opInsert, 1, "x")
	r := New(f, &fakeSink{}, Options{Encoder: encoder}, State{})
	drain(t, r)
	var asked []string
	f.fail = func(statement string) error {
		switch statement {
		case "maximum", "mapping", "exists": // parts of a statement
		default:
			asked = append(asked, statement)
		}
		return nil
	}
	drain(t, r)
	assert.Equal(t, []string{"poll"}, asked)
	asked = nil
	f.add(a, 20, 1, 19, opInsert, 1, "x")
	drain(t, r)
	assert.Equal(t, []string{"poll", "changed", "page of dbo_a"}, asked)
}

// A transaction without a time in the mapping cannot become an event.
func TestReader_CommitWithoutTime(t *testing.T) {
	f := newFakeServer()
	f.add(f.table("a"), 5, 1, 4, opInsert, 1, "x")
	f.commits[0].Begin, f.commits[0].End = time.Time{}, time.Time{}
	sink := &fakeSink{}
	_, err := New(f, sink, Options{Encoder: encoder}, State{}).PollOnce(t.Context())
	require.ErrorContains(t, err, "cdc.lsn_time_mapping")
	assert.Empty(t, sink.messages)
	assert.True(t, sink.advanced.IsZero())
}
