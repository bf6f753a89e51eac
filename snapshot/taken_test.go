package snapshot

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// A table that was taken up anew is read as it is then, and its new structure is
// told before its first row and stored before that. One that is begun already is
// read on as it was.
func TestSnapshotter_TakesTablesUpAnew(t *testing.T) {
	for _, isolation := range []Isolation{IsolationSnapshot, IsolationReadCommitted} {
		t.Run(string(isolation), func(t *testing.T) {
			f, sink := newFakeServer(), &fakeSink{}
			opts := telling(t, f)
			opts.Isolation = isolation
			wider := opts.Tables[1]
			shape := *wider.Shape
			shape.Columns = []schema.Column{{Name: "id", Type: schema.Type{Kind: schema.BigInt, Name: "bigint"}, ID: 1, Ordinal: 1}}
			wider.Shape = &shape
			var asked []int
			stored, taken, looks := 0, false, 0
			opts.Look = func(context.Context) error {
				assert.False(t, f.isOpen(), "a transaction does not see what is new")
				looks++
				return nil
			}
			opts.Begin = func(_ context.Context, table int) (*Taken, error) {
				asked = append(asked, table)
				if table == 0 || taken {
					return nil, nil
				}
				taken = true
				return &Taken{wider, func(context.Context) error { stored = len(sink.messages); return nil }}, nil
			}
			run(t, f, sink, opts, nil)
			assert.Equal(t, []int{0, 1, 1}, asked)
			assert.Equal(t, map[Isolation]int{IsolationSnapshot: 1, IsolationReadCommitted: 3}[isolation], looks)
			assert.Equal(t, []string{"a true", "b true", "c true", "b true"}, structureMessages(t, sink))
			require.LessOrEqual(t, stored, 4)
			last := sink.messages[len(sink.messages)-1]
			assert.Same(t, &shape, last.TableRef)
			assert.Equal(t, "last", last.Snapshot)
			for i, m := range sink.messages[1:] {
				require.True(t, sink.messages[i].Position.Before(m.Position), "%s after %s", m.Position, sink.messages[i].Position)
			}
		})
	}
}

// Looking may fail, as anything: the error ends the snapshot, with the table.
func TestSnapshotter_LookFails(t *testing.T) {
	f := newFakeServer()
	broken := errors.New("the catalogue is on fire")
	opts := Options{
		Tables: []Table{f.table("a", 1, false)}, Encoder: encoder,
		Look:  func(context.Context) error { return broken },
		Begin: func(context.Context, int) (*Taken, error) { return nil, nil },
	}
	require.ErrorIs(t, New(f, opts, nil).Run(t.Context(), &fakeSink{}), broken)
}
