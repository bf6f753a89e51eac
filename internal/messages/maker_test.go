package messages

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// lsnOf returns the LSN of a number.
func lsnOf(n int) (l lsn.LSN) {
	binary.BigEndian.PutUint64(l[2:], uint64(n))
	return l
}

// metadata returns all metadata of a message.
func metadata(t *testing.T, m *service.Message) map[string]any {
	t.Helper()
	got := map[string]any{}
	require.NoError(t, m.MetaWalkMut(func(key string, value any) error {
		got[key] = value
		return nil
	}))
	return got
}

func TestMaker_Metadata(t *testing.T) {
	table := &schema.Table{Database: "db", Schema: "dbo", Name: "t"}
	position := lsn.Position{Commit: lsnOf(7), Command: 1, Change: lsnOf(8), Operation: 2}
	change := event.Message{
		Kind: event.KindChange, Topic: "p.db.dbo.t", Key: []byte(`{"id":1}`), Value: []byte(`{"op":"c"}`), Op: event.OpCreate,
		Database: "db", Schema: "dbo", Table: "t", Position: position, Snapshot: "false", SourceTime: time.UnixMilli(1234),
		CommitLSN: lsnOf(7), ChangeLSN: lsnOf(8), EventSerial: 2, TableRef: table, RowSchema: map[string]any{"type": "OBJECT"},
	}
	tombstone := change
	tombstone.Kind, tombstone.Op, tombstone.Value = event.KindTombstone, "", nil
	moved := change
	moved.Op, moved.NewKey = event.OpDelete, []byte(`{"id":2}`)
	arrived := change
	arrived.OldKey = []byte(`{"id":0}`)
	keyless := change
	keyless.Key = nil

	all := Optional
	tests := []struct {
		name    string
		message event.Message
		include []string
		want    map[string]any
	}{
		{"change", change, nil, map[string]any{
			"topic": "p.db.dbo.t", "key": `{"id":1}`, "kind": "change", "op": "c", "database": "db",
			"database_schema": "dbo", "table": "t", "position": position.String(),
		}},
		{"without key", keyless, nil, map[string]any{
			"topic": "p.db.dbo.t", "kind": "change", "op": "c", "database": "db",
			"database_schema": "dbo", "table": "t", "position": position.String(),
		}},
		{"tombstone", tombstone, nil, map[string]any{
			"topic": "p.db.dbo.t", "key": `{"id":1}`, "kind": "tombstone", "database": "db",
			"database_schema": "dbo", "table": "t", "position": position.String(), "kafka_tombstone_message": true,
		}},
		{"delete of a key change", moved, nil, map[string]any{
			"topic": "p.db.dbo.t", "key": `{"id":1}`, "kind": "change", "op": "d", "database": "db",
			"database_schema": "dbo", "table": "t", "position": position.String(), "__debezium.newkey": `{"id":2}`,
		}},
		{"create of a key change", arrived, nil, map[string]any{
			"topic": "p.db.dbo.t", "key": `{"id":1}`, "kind": "change", "op": "c", "database": "db",
			"database_schema": "dbo", "table": "t", "position": position.String(), "__debezium.oldkey": `{"id":0}`,
		}},
		{"everything", change, all, map[string]any{
			"topic": "p.db.dbo.t", "key": `{"id":1}`, "kind": "change", "op": "c", "database": "db",
			"database_schema": "dbo", "table": "t", "position": position.String(),
			"commit_lsn": lsnOf(7).String(), "change_lsn": lsnOf(8).String(), "event_serial_no": int64(2),
			"snapshot": "false", "source_ts_ms": int64(1234), "schema": map[string]any{"type": "OBJECT"},
		}},
		{"nothing to include", event.Message{Kind: event.KindHeartbeat, Topic: "h", Value: []byte("{}"), Database: "db", Position: position}, all, map[string]any{
			"topic": "h", "kind": "heartbeat", "database": "db", "position": position.String(),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			maker := NewMaker(false, tt.include, nil)
			got := maker.Batch(&event.Batch{Messages: []event.Message{tt.message, tt.message}})
			require.Len(t, got, 2)
			for _, m := range got {
				assert.Equal(t, tt.want, metadata(t, m))
			}
		})
	}
}

func TestMaker_Payload(t *testing.T) {
	messages := []event.Message{
		{Kind: event.KindChange, Value: []byte(`{"a":1}`), Key: []byte("1")},
		{Kind: event.KindTombstone, Key: []byte("1")},
	}
	t.Run("raw", func(t *testing.T) {
		got := NewMaker(false, nil, nil).Batch(&event.Batch{Messages: messages})
		text, err := got[0].AsBytes()
		require.NoError(t, err)
		assert.Equal(t, `{"a":1}`, string(text))
		text, err = got[1].AsBytes()
		require.NoError(t, err)
		assert.Nil(t, text, "null, not empty")
		assert.False(t, got[1].HasBytes())
	})
	t.Run("structured", func(t *testing.T) {
		shared := map[string]any{"a": int64(1)}
		messages[0].Value, messages[0].ValueStructured = nil, shared
		got := NewMaker(true, nil, nil).Batch(&event.Batch{Messages: messages})
		assert.True(t, got[0].HasStructured())
		changed, err := got[0].AsStructuredMut()
		require.NoError(t, err)
		changed.(map[string]any)["a"] = 2
		assert.Equal(t, map[string]any{"a": int64(1)}, shared, "what is shared is never changed")
		assert.False(t, got[1].HasBytes())
		assert.False(t, got[1].HasStructured())
	})
}

// Texts of one batch share one string; none runs into its neighbour.
func TestMaker_TextsAreApart(t *testing.T) {
	b := &event.Batch{}
	for n := range 100 {
		b.Messages = append(b.Messages, event.Message{
			Kind: event.KindChange, Key: fmt.Append(nil, n), Position: lsn.Position{Commit: lsnOf(n)},
		})
	}
	for n, m := range NewMaker(false, nil, nil).Batch(b) {
		key, _ := m.MetaGet(MetaKey)
		position, _ := m.MetaGet(MetaPosition)
		assert.Equal(t, string(b.Messages[n].Key), key)
		assert.Equal(t, lsn.Position{Commit: lsnOf(n)}.String(), position)
	}
}
