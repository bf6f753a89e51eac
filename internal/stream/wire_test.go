package stream_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// sink keeps the messages.
type sink struct{ messages []event.Message }

func (s *sink) Emit(_ context.Context, b *event.Batch, _ stream.Place) error {
	s.messages = append(s.messages, b.Messages...)
	return nil
}

func (s *sink) Advance(context.Context, stream.Place) error { return nil }

func encoder(t *schema.Table) (*event.Encoder, error) {
	return event.NewEncoder(t, event.Options{
		Topics: event.Naming{Prefix: "p"}, Tombstones: true, Modes: schema.DefaultModes(),
		Now: func() time.Time { return time.Unix(0, 0) },
	})
}

// read streams everything there is after a state, in small pages.
func read(t *testing.T, s *servertest.Server, start stream.State) ([]event.Message, stream.State) {
	t.Helper()
	out := &sink{}
	r := stream.New(s.Connect(t), out, stream.Options{Encoder: encoder, FetchSize: 3, MaxBatchSize: 2, MaxIterationTransactions: 2}, start)
	for more := true; more; {
		var err error
		more, err = r.PollOnce(t.Context())
		require.NoError(t, err)
	}
	return out.messages, r.State()
}

func lines(messages []event.Message) []string {
	var list []string
	for _, m := range messages {
		op := m.Op
		if m.Kind == event.KindTombstone {
			op = "tomb"
		}
		list = append(list, fmt.Sprintf("%s %s %s %d", op, m.Table, m.Key, m.EventSerial))
	}
	return list
}

const tables = `
CREATE TABLE dbo.a (id int PRIMARY KEY, v int NULL);
CREATE TABLE dbo.b (id int PRIMARY KEY, v int NULL);
CREATE TABLE dbo.heap (v int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N'b', @role_name = NULL;
EXEC sys.sp_cdc_enable_table N'dbo', N'heap', @role_name = NULL;
`

const workload = `
INSERT dbo.a VALUES (1, 1);
UPDATE dbo.a SET v = 2 WHERE id = 1;
DELETE dbo.a WHERE id = 1;
BEGIN TRAN; INSERT dbo.a VALUES (10, 0); INSERT dbo.b VALUES (20, 0); UPDATE dbo.a SET v = 1 WHERE id = 10; DELETE dbo.b WHERE id = 20; COMMIT;
BEGIN TRAN; INSERT dbo.a VALUES (99, 0); ROLLBACK;
UPDATE dbo.a SET id = 11 WHERE id = 10;
INSERT dbo.heap VALUES (7);
DELETE dbo.heap;
`

func TestStream_Workload(t *testing.T) {
	s := servertest.Start(t, tables)
	s.Change(t, workload)
	messages, _ := read(t, s, stream.State{})
	assert.Equal(t, []string{
		`c a {"id":1} 1`, `u a {"id":1} 2`, `d a {"id":1} 1`, `tomb a {"id":1} 1`,
		`c a {"id":10} 1`, `c b {"id":20} 1`, `u a {"id":10} 2`, `d b {"id":20} 1`, `tomb b {"id":20} 1`,
		`d a {"id":10} 1`, `tomb a {"id":10} 1`, `c a {"id":11} 2`,
		`c heap  1`, `d heap  1`,
	}, lines(messages))
	for i := 1; i < len(messages); i++ {
		require.True(t, messages[i-1].Position.Before(messages[i].Position))
	}
}

// A deferred update applied in order gives the table.
func TestStream_DeferredUpdate(t *testing.T) {
	s := servertest.Start(t, tables)
	s.Change(t, "INSERT dbo.a VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5); UPDATE dbo.a SET id = id + 1;")
	messages, _ := read(t, s, stream.State{})
	assert.Equal(t, map[string]bool{`{"id":2}`: true, `{"id":3}`: true, `{"id":4}`: true, `{"id":5}`: true, `{"id":6}`: true}, applied(messages))
}

func TestStream_ResumesAfterEveryEvent(t *testing.T) {
	s := servertest.Start(t, tables)
	s.Change(t, workload+"INSERT dbo.a VALUES (31, 1), (32, 2), (33, 3); UPDATE dbo.a SET id = id + 1;")
	whole, end := read(t, s, stream.State{})
	for i, m := range whole {
		rest, _ := read(t, s, stream.State{Position: m.Position, ByCommand: true, Instances: end.Instances})
		require.Equal(t, lines(whole[i+1:]), lines(rest), "after event %d", i)
	}
	rest, _ := read(t, s, end)
	assert.Empty(t, rest)
}

func TestStream_RetentionGap(t *testing.T) {
	s := servertest.Start(t, tables)
	s.Change(t, "INSERT dbo.a VALUES (1, 1);")
	_, state := read(t, s, stream.State{})
	s.Change(t, "INSERT dbo.a VALUES (2, 2);")
	s.Change(t, "INSERT dbo.a VALUES (3, 3);")
	s.Exec(t, "DECLARE @l binary(10) = sys.fn_cdc_get_max_lsn(); EXEC sys.sp_cdc_cleanup_change_table N'dbo_a', @l;")
	_, err := stream.New(s.Connect(t), &sink{}, stream.Options{Encoder: encoder}, state).PollOnce(t.Context())
	var gap *stream.GapError
	require.ErrorAs(t, err, &gap)
	assert.Equal(t, "dbo_a", gap.Instance)
}

func TestStream_ReenabledInstance(t *testing.T) {
	s := servertest.Start(t, tables)
	s.Change(t, "INSERT dbo.a VALUES (1, 1);")
	_, state := read(t, s, stream.State{})
	s.Change(t, "EXEC sys.sp_cdc_disable_table N'dbo', N'a', N'all'; INSERT dbo.a VALUES (2, 2);"+
		"EXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL; INSERT dbo.a VALUES (3, 3);")
	_, err := stream.New(s.Connect(t), &sink{}, stream.Options{Encoder: encoder}, state).PollOnce(t.Context())
	var problem sqlserver.Problem
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, stream.ReasonInstanceReplaced, problem.Reason())
}

// The capture job alters change tables in place: rows before and after come
// with all their digits.
func TestStream_AlteredColumn(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY, at datetime2(3) NULL);\n"+
		"EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;")
	s.Change(t, "INSERT dbo.t VALUES (1, '2024-01-01T00:00:00.123');")
	out := &sink{}
	r := stream.New(s.Connect(t), out, stream.Options{Encoder: encoder, FetchSize: 1}, stream.State{})
	poll := func() {
		t.Helper()
		for more := true; more; {
			var err error
			more, err = r.PollOnce(t.Context())
			require.NoError(t, err)
		}
	}
	poll()
	s.Change(t, "ALTER TABLE dbo.t ALTER COLUMN at datetime2(7) NULL;")
	s.Change(t, "INSERT dbo.t VALUES (2, '2024-01-01T00:00:00.1234567');")
	poll()
	require.Len(t, out.messages, 2)
	assert.Contains(t, string(out.messages[0].Value), `"at":1704067200123}`)
	assert.Contains(t, string(out.messages[1].Value), `"at":1704067200123456700}`)
}
