package event

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

func TestSchemaChanges_Append(t *testing.T) {
	asDebezium(t)
	start, err := lsn.Parse("00000025:00000d98:00a2")
	require.NoError(t, err)
	table := customers()
	table.Columns = table.Columns[:2]
	created := SchemaChange{
		Type: TableCreated, Table: table, SourceTable: table.ID(), Snapshot: "true",
		CommitLSN: start, SourceTime: time.UnixMilli(1588252618953),
	}
	clock := func(o *Options) { o.Now = func() time.Time { return time.UnixMilli(1588252618960) } }

	encoded := func(t *testing.T, c SchemaChange, set ...func(*Options)) Message {
		s, err := NewSchemaChanges(options(append(set, clock)...))
		require.NoError(t, err)
		var b Batch
		require.NoError(t, s.Append(&b, c))
		require.Len(t, b.Messages, 1)
		return b.Messages[0]
	}
	t.Run("create", func(t *testing.T) {
		m := encoded(t, created)
		assert.Equal(t, KindSchemaChange, m.Kind)
		assert.Equal(t, "server1", m.Topic)
		assert.Equal(t, `{"databaseName":"testDB"}`, string(m.Key))
		assert.Equal(t, `{"source":{"version":"3.6.1.Final","connector":"sqlserver","name":"server1","ts_ms":1588252618953,"snapshot":"true","db":"testDB","sequence":null,"ts_us":1588252618953000,"ts_ns":1588252618953000000,"schema":"dbo","table":"customers","change_lsn":null,"commit_lsn":"00000025:00000d98:00a2","event_serial_no":null},"ts_ms":1588252618960,"databaseName":"testDB","schemaName":"dbo","ddl":null,"tableChanges":[{"type":"CREATE","id":"\"testDB\".\"dbo\".\"customers\"","table":{"defaultCharsetName":null,"primaryKeyColumnNames":["id"],"columns":[{"name":"id","jdbcType":4,"nativeType":null,"typeName":"int identity","typeExpression":"int identity","charsetName":null,"length":10,"scale":0,"position":1,"optional":false,"autoIncremented":true,"generated":false,"comment":null,"defaultValueExpression":null,"enumValues":null},{"name":"first_name","jdbcType":12,"nativeType":null,"typeName":"varchar","typeExpression":"varchar","charsetName":null,"length":255,"scale":null,"position":2,"optional":false,"autoIncremented":false,"generated":false,"comment":null,"defaultValueExpression":null,"enumValues":null}],"comment":null}}]}`, string(m.Value))
	})
	t.Run("alter while streaming", func(t *testing.T) {
		c := created
		c.Type, c.DDL, c.Snapshot = TableAltered, "N/A", ""
		c.SourceTable = schema.TableID{Database: "testDB", Schema: "dbo", Name: "orders"}
		c.ChangeLSN, c.Serial = start, 2
		text := string(encoded(t, c).Value)
		assert.Contains(t, text, `"snapshot":"false"`)
		assert.Contains(t, text, `"table":"orders","change_lsn":"00000025:00000d98:00a2","commit_lsn":"00000025:00000d98:00a2","event_serial_no":2}`)
		assert.Contains(t, text, `"ddl":"N/A","tableChanges":[{"type":"ALTER","id":"\"testDB\".\"dbo\".\"customers\""`)
	})
	t.Run("drop has no table", func(t *testing.T) {
		c := created
		c.Type = TableDropped
		assert.Contains(t, string(encoded(t, c).Value), `"table":null}]}`)
	})
	t.Run("default, computed, no key, quote in a name", func(t *testing.T) {
		odd := &schema.Table{Database: "d", Schema: "s", Name: `a"b`, Columns: []schema.Column{
			{Name: "x", Type: schema.Type{Kind: schema.Bit, Name: "bit"}, Nullable: true, Computed: true, Default: "((0))"},
		}}
		c := created
		c.Table = odd
		text := string(encoded(t, c).Value)
		assert.Contains(t, text, `"id":"\"d\".\"s\".\"a\"\"b\""`)
		assert.Contains(t, text, `"primaryKeyColumnNames":[]`)
		assert.Contains(t, text, `"scale":null,"position":1,"optional":true,"autoIncremented":false,"generated":true,"comment":null,"defaultValueExpression":"((0))"`)
	})
	t.Run("schemas name every field", func(t *testing.T) {
		m := encoded(t, created, withSchemas)
		var record struct {
			Schema  node `json:"schema"`
			Payload any  `json:"payload"`
		}
		require.NoError(t, json.Unmarshal(m.Value, &record))
		assertFits(t, record.Schema, record.Payload)
		assert.Contains(t, string(m.Key), `{"schema":{"type":"struct","fields":[{"type":"string","optional":false,"field":"databaseName"}],"optional":false,"name":"io.debezium.connector.sqlserver.SchemaChangeKey","version":1}`)
	})
	t.Run("structured", func(t *testing.T) {
		raw, twin := encoded(t, created, withSchemas), encoded(t, created, withSchemas, structured)
		assertSameJSON(t, raw.Value, twin.ValueStructured)
		assertSameJSON(t, raw.Key, twin.KeyStructured)
	})
}

// node is a Connect schema as JSON.
type node struct {
	Type     string `json:"type"`
	Optional bool   `json:"optional"`
	Field    string `json:"field"`
	Fields   []node `json:"fields"`
	Items    *node  `json:"items"`
}

// assertFits checks that a payload has exactly the fields of its schema, and
// nulls only where they are allowed.
func assertFits(t *testing.T, s node, payload any) {
	t.Helper()
	if payload == nil {
		assert.True(t, s.Optional, "null in required field %q", s.Field)
		return
	}
	switch s.Type {
	case "struct":
		object, ok := payload.(map[string]any)
		require.True(t, ok, s.Field)
		assert.Len(t, object, len(s.Fields))
		for _, f := range s.Fields {
			value, ok := object[f.Field]
			assert.True(t, ok, "no field %q", f.Field)
			assertFits(t, f, value)
		}
	case "array":
		list, ok := payload.([]any)
		require.True(t, ok, s.Field)
		for _, item := range list {
			assertFits(t, *s.Items, item)
		}
	}
}

func TestEncoder_PayloadFitsSchema(t *testing.T) {
	table, row := orders()
	c := change(OpUpdate, row, row)
	c.Transaction = TransactionOrder{Total: 1, Collection: 1}
	m := encode(t, table, options(withSchemas), c)[0]
	for _, raw := range [][]byte{m.Key, m.Value} {
		var record struct {
			Schema  node `json:"schema"`
			Payload any  `json:"payload"`
		}
		require.NoError(t, json.Unmarshal(raw, &record))
		assertFits(t, record.Schema, record.Payload)
	}
}
