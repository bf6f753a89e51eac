package sqlserver_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// The state of an instance tells the times at its low end and at a position,
// and how many columns of the source it lacks: those that were added later or
// never listed, but no computed ones; how many it has that the source lacks; and
// the latest change of the source's structure.
func TestTableStates(t *testing.T) {
	s := servertest.Start(t, `CREATE TABLE dbo.a (id int PRIMARY KEY, n int, twice AS n * 2)
CREATE TABLE dbo.b (id int PRIMARY KEY, x int, y int)
`+enable("dbo", "a")+enable("dbo", "b", "@captured_column_list = N'id, x'"))
	conn := s.Connect(t)
	s.Exec(t, "INSERT dbo.a VALUES (1, 1)")
	s.Capture(t)
	s.Exec(t, "ALTER TABLE dbo.a ADD more int NULL, evenmore int NULL")
	s.Exec(t, "INSERT dbo.a VALUES (2, 2, 2, 2)")
	s.Capture(t)
	poll, err := conn.Poll(t.Context(), lsn.LSN{}, 100)
	require.NoError(t, err)
	require.NotEmpty(t, poll.Commits)
	last := poll.Commits[len(poll.Commits)-1]
	assert.Equal(t, last.End, poll.MaxTime)
	assert.WithinDuration(t, time.Now(), poll.Now, time.Minute)

	states, err := conn.TableStates(t.Context(), last.LSN)
	require.NoError(t, err)
	uncaptured := map[string]int{}
	for _, state := range states {
		uncaptured[state.Schema+"."+state.Table] = state.Uncaptured
		assert.Equal(t, last.End, state.Position)
		assert.False(t, state.Low.IsZero())
		assert.False(t, state.Cleaned)
		assert.False(t, state.Low.After(state.Position))
	}
	assert.Equal(t, map[string]int{"dbo.a": 2, "dbo.b": 1}, uncaptured)

	s.Exec(t, "ALTER TABLE dbo.b ALTER COLUMN x bigint")
	s.Exec(t, "EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'a', @role_name = NULL, @capture_instance = N'second'")
	s.Exec(t, "ALTER TABLE dbo.a DROP COLUMN more")
	s.Capture(t)
	states, err = conn.TableStates(t.Context(), last.LSN)
	require.NoError(t, err)
	var seen []string
	for _, state := range states {
		seen = append(seen, fmt.Sprintf("%s %d %d %s", state.Instance, state.Uncaptured, state.Dropped, state.DDL))
		assert.Equal(t, state.DDL == "", state.Altered.IsZero())
		assert.Positive(t, state.ObjectID)
	}
	require.Len(t, seen, 3)
	assert.ElementsMatch(t, []string{
		"dbo_a 1 0 ALTER TABLE dbo.a DROP COLUMN more",
		"dbo_b 1 0 ALTER TABLE dbo.b ALTER COLUMN x bigint",
		"second 0 1 ALTER TABLE dbo.a DROP COLUMN more",
	}, seen)
	assert.Equal(t, "second", states[2].Instance, "the newer one comes last")

	states, err = conn.TableStates(t.Context(), lsn.LSN{})
	require.NoError(t, err)
	for _, state := range states {
		assert.Zero(t, state.Position, "no commit lies before it")
	}
	for at, want := range map[lsn.LSN]time.Time{last.LSN: last.End, last.LSN.Next(): last.End, {}: {}} {
		got, err := conn.TimeUpTo(t.Context(), at)
		require.NoError(t, err)
		assert.Equal(t, want, got, at)
	}
}
