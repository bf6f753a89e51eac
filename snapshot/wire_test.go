package snapshot_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// sink keeps the messages of snapshot and stream.
type sink struct {
	messages []event.Message
	progress *snapshot.Progress
}

func (s *sink) Save(context.Context, *snapshot.Progress) error { return nil }

func (s *sink) Emit(_ context.Context, b *event.Batch, p *snapshot.Progress) error {
	s.messages = append(s.messages, b.Messages...)
	s.progress = p
	return nil
}

type streamSink struct{ *sink }

func (s streamSink) Emit(_ context.Context, b *event.Batch, _ stream.Place) error {
	s.messages = append(s.messages, b.Messages...)
	return nil
}

func (s streamSink) Advance(context.Context, stream.Place) error { return nil }

func encoder(t *schema.Table) (*event.Encoder, error) {
	return event.NewEncoder(t, event.Options{
		Topics: event.Naming{Prefix: "p"}, Tombstones: true, Modes: schema.DefaultModes(),
		Now: func() time.Time { return time.Unix(0, 0) },
	})
}

func tablesOf(t *testing.T, conn *sqlserver.Conn) []snapshot.Table {
	t.Helper()
	catalogue, err := conn.Catalogue(t.Context(), nil)
	require.NoError(t, err)
	var tables []snapshot.Table
	for _, table := range catalogue {
		shape := table.Source
		if len(table.Instances) > 0 {
			shape = table.Instances[0].Shape
		}
		tables = append(tables, snapshot.Table{Source: table, Shape: shape})
	}
	return tables
}

// after returns the row in an event, without its key column id.
func after(t *testing.T, m event.Message) string {
	t.Helper()
	var value struct {
		After map[string]json.RawMessage `json:"after"`
	}
	require.NoError(t, json.Unmarshal(m.Value, &value))
	delete(value.After, "id")
	text, err := json.Marshal(value.After)
	require.NoError(t, err)
	return string(text)
}

func TestSnapshot_IsolationOverTheWire(t *testing.T) {
	script := `CREATE TABLE dbo.t (id int PRIMARY KEY, v int NULL); CREATE TABLE dbo.heap (id int NULL);
EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;
INSERT dbo.t VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5); INSERT dbo.heap VALUES (1), (1);`
	for _, mode := range []snapshot.Isolation{snapshot.IsolationAuto, snapshot.IsolationReadCommitted, snapshot.IsolationSnapshot} {
		t.Run(string(mode), func(t *testing.T) {
			s := servertest.Start(t, script)
			s.Capture(t)
			conn := s.Connect(t)
			opts := snapshot.Options{Tables: tablesOf(t, conn), Encoder: encoder, Isolation: mode, FetchSize: 2, MaxBatchSize: 3}
			out := &sink{}
			err := snapshot.New(conn, opts, nil).Run(t.Context(), out)
			if mode == snapshot.IsolationSnapshot {
				require.ErrorContains(t, err, "ALTER DATABASE [db] SET ALLOW_SNAPSHOT_ISOLATION ON")
				s.Exec(t, "ALTER DATABASE db SET ALLOW_SNAPSHOT_ISOLATION ON")
				err = snapshot.New(conn, opts, nil).Run(t.Context(), out)
			}
			require.NoError(t, err)
			assert.Len(t, out.messages, 7)
			require.True(t, out.progress.Done)
			assert.NoError(t, conn.Exec(t.Context(), "IF @@TRANCOUNT > 0 THROW 50000, 'a transaction is open', 1"))
		})
	}
}
