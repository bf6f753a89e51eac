package snapshot

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// flawed is the least id of rows of which no event can be made.
const flawed = 300

// flawedTable adds a table whose rows have these ids and a text, or what is none.
func flawedTable(f *fakeServer, name string, keyless bool, ids ...int64) Table {
	t := f.table(name, 0, keyless)
	t.Shape.Columns = append(t.Shape.Columns, schema.Column{Name: "v", Type: schema.Type{Kind: schema.NVarChar, Name: "nvarchar", Length: 5}, ID: 2, Ordinal: 2})
	f.rows[name] = ids
	f.second = func(id int64) driver.Value {
		if id >= flawed {
			return id
		}
		return "text"
	}
	return t
}

// Rows of which no event can be made are left out before the markers of the
// others are decided, and their table is done when they are its last.
func TestSnapshotter_LeavesOut(t *testing.T) {
	for name, test := range map[string]struct {
		rows [][]int64 // of each table
		want []string
	}{
		"first":          {[][]int64{{flawed, 301, 302}}, []string{}},
		"alone":          {[][]int64{{flawed}, {1}}, []string{"b 1 last"}},
		"last":           {[][]int64{{1, 2, flawed}}, []string{"a 1 first", "a 2 last"}},
		"last of two":    {[][]int64{{1, 2, flawed}, {flawed, 301}}, []string{"a 1 first", "a 2 last"}},
		"between tables": {[][]int64{{1, flawed}, {2, flawed}}, []string{"a 1 first", "b 2 last"}},
	} {
		for _, size := range []int{1, 2, 100} {
			t.Run(fmt.Sprintf("%s, pages of %d", name, size), func(t *testing.T) {
				f := newFakeServer()
				left := 0
				opts := Options{FetchSize: size, MaxBatchSize: size, Encoder: func(t *schema.Table) (*event.Encoder, error) {
					return event.NewEncoder(t, event.Options{
						Topics: event.Naming{Prefix: "p"}, Now: func() time.Time { return epoch },
						OnFailure: func(event.FailureNotice) { left++ },
					})
				}}
				flaws := 0
				for i, ids := range test.rows {
					opts.Tables = append(opts.Tables, flawedTable(f, string(rune('a'+i)), i == 1, ids...))
					for _, id := range ids {
						if id >= flawed {
							flaws++
						}
					}
				}
				sink := &fakeSink{}
				run(t, f, sink, opts, nil)
				assert.Equal(t, test.want, sink.lines())
				assert.Equal(t, flaws, left)
				last := sink.emitted[len(sink.emitted)-1].progress
				assert.True(t, last.Done)
			})
		}
	}
}

// Otherwise they stop the snapshot.
func TestSnapshotter_StopsBeforeWhatNoEventCanBeMadeOf(t *testing.T) {
	f := newFakeServer()
	table := flawedTable(f, "a", false, 1, 2, flawed)
	sink := &fakeSink{}
	err := New(f, Options{Tables: []Table{table}, Encoder: encoder, MaxBatchSize: 1}, nil).Run(t.Context(), sink)
	var problem sqlserver.Problem
	require.True(t, errors.As(err, &problem))
	assert.Equal(t, reasonEvent, problem.Reason())
	for _, part := range []string{`column "v" of db.dbo.a`, "event_processing_failure_handling_mode"} {
		require.ErrorContains(t, err, part)
	}
	assert.Equal(t, []string{"a 1 first", "a 2 true"}, sink.lines())
}
