package event

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

var position = lsn.Position{Commit: commitLSN, Command: 1}

// assertTwin appends once raw and once structured and compares the two.
func assertTwin(t *testing.T, write func(dst *Batch, opts Options)) {
	t.Helper()
	var raw, twin Batch
	write(&raw, options(withSchemas))
	write(&twin, options(withSchemas, structured))
	require.Len(t, twin.Messages, len(raw.Messages))
	for i, m := range raw.Messages {
		assert.Equal(t, string(m.Key), string(twin.Messages[i].Key))
		assert.Nil(t, twin.Messages[i].Value)
		assertSameJSON(t, m.Key, twin.Messages[i].KeyStructured)
		assertSameJSON(t, m.Value, twin.Messages[i].ValueStructured)
	}
}

func TestHeartbeats_Append(t *testing.T) {
	write := func(dst *Batch, opts Options) {
		h, err := NewHeartbeats(opts)
		require.NoError(t, err)
		require.NoError(t, h.Append(dst, "testDB", position, now))
	}
	var b Batch
	write(&b, options(withSchemas))
	m := b.Messages[0]
	assert.Equal(t, KindHeartbeat, m.Kind)
	assert.Equal(t, "__debezium-heartbeat.server1", m.Topic)
	assert.Equal(t, position, m.Position)
	assert.Equal(t, `{"schema":{"type":"struct","fields":[{"type":"string","optional":false,"field":"serverName"}],"optional":false,"name":"io.debezium.connector.common.ServerNameKey","version":1},"payload":{"serverName":"server1"}}`, string(m.Key))
	assert.Equal(t, `{"schema":{"type":"struct","fields":[{"type":"int64","optional":false,"field":"ts_ms"}],"optional":false,"name":"io.debezium.connector.common.Heartbeat","version":1},"payload":{"ts_ms":1559729471739}}`, string(m.Value))
	assertTwin(t, write)
}

func TestTransactions_Append(t *testing.T) {
	id, err := lsn.Parse("00000025:00000d08:0025")
	require.NoError(t, err)
	begin, end := time.UnixMilli(1486500577125), time.UnixMilli(1486500577691)
	write := func(dst *Batch, opts Options) {
		tx, err := NewTransactions(opts)
		require.NoError(t, err)
		require.NoError(t, tx.Begin(dst, "testDB", id, position, begin))
		require.NoError(t, tx.End(dst, "testDB", id, position, end, []CollectionCount{
			{schema.TableID{Database: "testDB", Schema: "dbo", Name: "tablea"}, 1},
			{schema.TableID{Database: "testDB", Schema: "dbo", Name: "tableb"}, 1},
		}))
	}
	t.Run("payloads", func(t *testing.T) {
		var b Batch
		write(&b, options())
		require.Len(t, b.Messages, 2)
		for _, m := range b.Messages {
			assert.Equal(t, KindTransaction, m.Kind)
			assert.Equal(t, "server1.transaction", m.Topic)
			assert.Equal(t, `{"id":"00000025:00000d08:0025"}`, string(m.Key))
		}
		assert.Equal(t, `{"status":"BEGIN","id":"00000025:00000d08:0025","event_count":null,"data_collections":null,"ts_ms":1486500577125}`, string(b.Messages[0].Value))
		assert.Equal(t, `{"status":"END","id":"00000025:00000d08:0025","event_count":2,"data_collections":[{"data_collection":"testDB.dbo.tablea","event_count":1},{"data_collection":"testDB.dbo.tableb","event_count":1}],"ts_ms":1486500577691}`, string(b.Messages[1].Value))
	})
	t.Run("schema", func(t *testing.T) {
		var b Batch
		write(&b, options(withSchemas))
		assert.Contains(t, string(b.Messages[0].Key), `{"schema":{"type":"struct","fields":[{"type":"string","optional":false,"field":"id"}],"optional":false,"name":"io.debezium.connector.common.TransactionMetadataKey","version":1},`)
		assert.Contains(t, string(b.Messages[0].Value), `{"schema":{"type":"struct","fields":[{"type":"string","optional":false,"field":"status"},{"type":"string","optional":false,"field":"id"},{"type":"int64","optional":true,"field":"event_count"},{"type":"array","items":{"type":"struct","fields":[{"type":"string","optional":false,"field":"data_collection"},{"type":"int64","optional":false,"field":"event_count"}],"optional":true,"name":"event.collection","version":1},"optional":true,"field":"data_collections"},{"type":"int64","optional":false,"field":"ts_ms"}],"optional":false,"name":"io.debezium.connector.common.TransactionMetadataValue","version":1},"payload":`)
	})
	assertTwin(t, write)
}

func TestEncoder_TransactionBlock(t *testing.T) {
	moved := john()
	moved[0] = int64(2)
	c := change(OpUpdate, john(), moved)
	c.Transaction = TransactionOrder{Total: 7, Collection: 3}
	m := encode(t, customers(), options(), c)
	require.Len(t, m, 3)
	assert.Contains(t, string(m[0].Value), `"transaction":{"id":"00000027:00000758:0005","total_order":7,"data_collection_order":3},"op":"d"`)
	assert.Contains(t, string(m[2].Value), `"transaction":{"id":"00000027:00000758:0005","total_order":8,"data_collection_order":4},"op":"c"`)
	twin := encode(t, customers(), options(structured), c)
	assertSameJSON(t, m[0].Value, twin[0].ValueStructured)
	assertSameJSON(t, m[2].Value, twin[2].ValueStructured)
}
