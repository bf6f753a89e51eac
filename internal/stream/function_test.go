package stream_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// byFunction asks the functions, in small pages.
var byFunction = stream.Options{Encoder: encoder, Function: true, FetchSize: 3, MaxBatchSize: 2, MaxIterationTransactions: 2}

// readByFunction is read by way of the functions.
func readByFunction(t *testing.T, s *servertest.Server, start stream.State) ([]event.Message, stream.State) {
	t.Helper()
	out := &sink{}
	r := stream.New(s.Connect(t), out, byFunction, start)
	drainReader(t, r)
	return out.messages, r.State()
}

// Where one statement gives rows the keys that other rows had, and the key is a
// unique index that the rows do not lie in, a row's delete and insert share a
// change LSN (debezium DBZ-7728): in that order another row's insert comes before
// the delete of the same key, and whoever applies the events loses rows. Nothing
// that the functions return tells better; the order of commands loses none.
func TestFunction_KeysThatMeet(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int NOT NULL UNIQUE, v int);\nEXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL")
	s.Change(t, "INSERT dbo.t VALUES (1, 1), (2, 2), (3, 3)")
	s.Change(t, "UPDATE dbo.t SET id = id + 1")
	direct, _ := read(t, s, stream.State{})
	asked, _ := readByFunction(t, s, stream.State{})
	assert.ElementsMatch(t, keysOf(direct), keysOf(asked), "the same events")
	assert.Equal(t, []string{`{"id":2}`, `{"id":3}`, `{"id":4}`}, slices.Sorted(maps.Keys(applied(direct))))
	assert.Equal(t, []string{`{"id":4}`}, slices.Sorted(maps.Keys(applied(asked))))
}

// keysOf returns what was done to which keys.
func keysOf(messages []event.Message) (done []string) {
	for _, m := range messages {
		done = append(done, m.Op+" "+string(m.Key))
	}
	return done
}

// applied returns the keys that are there once events are applied in order.
func applied(messages []event.Message) map[string]bool {
	rows := map[string]bool{}
	for _, m := range messages {
		switch m.Op {
		case event.OpCreate:
			rows[string(m.Key)] = true
		case event.OpDelete:
			delete(rows, string(m.Key))
		}
	}
	return rows
}

// The functions give the same events but for the order inside a transaction,
// which no function tells: that of change LSNs.
func TestFunction_Workload(t *testing.T) {
	s := servertest.Start(t, tables)
	s.Change(t, workload)
	direct, _ := read(t, s, stream.State{})
	messages, end := readByFunction(t, s, stream.State{})
	assert.Equal(t, lines(direct), lines(messages), "where the two orders agree")
	assert.False(t, end.ByCommand)
	for i, m := range messages {
		assert.Zero(t, m.Position.Command)
		rest, _ := readByFunction(t, s, stream.State{Position: m.Position, Instances: end.Instances})
		require.Equal(t, lines(messages[i+1:]), lines(rest), "after event %d", i)
	}
	rest, _ := readByFunction(t, s, end)
	assert.Empty(t, rest)
}

// A deferred update is deletes and inserts row by row in one order, and deletes
// before inserts in the other: a position in the middle means nothing in the
// other, so that its transaction is repeated.
func TestFunction_ModeChanged(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.a (id int PRIMARY KEY, v int NOT NULL UNIQUE);\n"+
		"EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL;")
	s.Change(t, "INSERT dbo.a VALUES (1, 1), (2, 2), (3, 3);")
	s.Change(t, "UPDATE dbo.a SET v = v + 1;")
	direct, _ := read(t, s, stream.State{})
	messages, end := readByFunction(t, s, stream.State{})
	assert.NotEqual(t, lines(direct), lines(messages))
	assert.Len(t, messages, len(direct))
	at := slices.IndexFunc(direct, func(m event.Message) bool { return m.Op == event.OpDelete })
	rest, _ := readByFunction(t, s, stream.State{Position: direct[at].Position, ByCommand: true, Instances: end.Instances})
	assert.Equal(t, lines(messages[at:]), lines(rest))
}

// Cleanup before, or between the look at what an instance holds and the
// reading of it, is a gap.
func TestFunction_RetentionGap(t *testing.T) {
	const cleanUp = "DECLARE @l binary(10) = sys.fn_cdc_get_max_lsn(); EXEC sys.sp_cdc_cleanup_change_table N'dbo_a', @l;"
	for name, beforePage := range map[string]bool{"before the pass": false, "before the page": true} {
		t.Run(name, func(t *testing.T) {
			s := servertest.Start(t, tables)
			s.Change(t, "INSERT dbo.a VALUES (1, 1);")
			_, state := readByFunction(t, s, stream.State{})
			s.Change(t, "INSERT dbo.a VALUES (2, 2);")
			s.Change(t, "INSERT dbo.a VALUES (3, 3);")
			src := beforePages{s.Connect(t), func() { s.Exec(t, cleanUp) }}
			if !beforePage {
				src.do()
				src.do = func() {}
			}
			_, err := stream.New(src, &sink{}, byFunction, state).PollOnce(t.Context())
			var gap *stream.GapError
			require.ErrorAs(t, err, &gap)
			assert.Equal(t, "dbo_a", gap.Instance)
			assert.True(t, gap.Low.After(gap.Need))
		})
	}
}

// beforePages is a connection on which something happens before every page.
type beforePages struct {
	*sqlserver.Conn
	do func()
}

func (c beforePages) ReadChanges(ctx context.Context, r *sqlserver.ChangeReader, q sqlserver.ChangeQuery) (sqlserver.ChangePage, error) {
	c.do()
	return c.Conn.ReadChanges(ctx, r, q)
}
