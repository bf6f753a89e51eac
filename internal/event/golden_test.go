package event

import (
	"database/sql/driver"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// The records below are those of Debezium's documentation of the SQL Server
// connector, in the form that release 3.6 gives them.
const (
	customersKey = `{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"}],"optional":false,"name":"server1.testDB.dbo.customers.Key"},"payload":{"id":1005}}`

	customersRow = `[{"type":"int32","optional":false,"field":"id"},{"type":"string","optional":false,"field":"first_name"},{"type":"string","optional":false,"field":"last_name"},{"type":"string","optional":false,"field":"email"}],"optional":true,"name":"server1.testDB.dbo.customers.Value"`

	customersSchema = `{"schema":{"type":"struct","fields":[{"type":"struct","fields":` + customersRow + `,"field":"before"},{"type":"struct","fields":` + customersRow + `,"field":"after"},{"type":"struct","fields":[{"type":"string","optional":false,"field":"version"},{"type":"string","optional":false,"field":"connector"},{"type":"string","optional":false,"field":"name"},{"type":"int64","optional":false,"field":"ts_ms"},{"type":"string","optional":true,"name":"io.debezium.data.Enum","version":1,"parameters":{"allowed":"true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"},"default":"false","field":"snapshot"},{"type":"string","optional":false,"field":"db"},{"type":"string","optional":true,"field":"sequence"},{"type":"int64","optional":true,"field":"ts_us"},{"type":"int64","optional":true,"field":"ts_ns"},{"type":"string","optional":false,"field":"schema"},{"type":"string","optional":false,"field":"table"},{"type":"string","optional":true,"field":"change_lsn"},{"type":"string","optional":true,"field":"commit_lsn"},{"type":"int64","optional":true,"field":"event_serial_no"}],"optional":false,"name":"io.debezium.connector.sqlserver.Source","version":1,"field":"source"},{"type":"struct","fields":[{"type":"string","optional":false,"field":"id"},{"type":"int64","optional":false,"field":"total_order"},{"type":"int64","optional":false,"field":"data_collection_order"}],"optional":true,"name":"event.block","version":1,"field":"transaction"},{"type":"string","optional":false,"field":"op"},{"type":"int64","optional":true,"field":"ts_ms"},{"type":"int64","optional":true,"field":"ts_us"},{"type":"int64","optional":true,"field":"ts_ns"}],"optional":false,"name":"server1.testDB.dbo.customers.Envelope","version":2},"payload":`

	customersCreate = `{"before":null,"after":{"id":1005,"first_name":"john","last_name":"doe","email":"john.doe@example.org"},"source":{"version":"3.6.1.Final","connector":"sqlserver","name":"server1","ts_ms":1559729468470,"snapshot":"false","db":"testDB","sequence":null,"ts_us":1559729468470000,"ts_ns":1559729468470000000,"schema":"dbo","table":"customers","change_lsn":"00000027:00000758:0003","commit_lsn":"00000027:00000758:0005","event_serial_no":1},"transaction":null,"op":"c","ts_ms":1559729471739,"ts_us":1559729471739876,"ts_ns":1559729471739876149}`
)

var (
	sourceTime = time.UnixMilli(1559729468470)
	now        = time.Unix(0, 1559729471739876149)
	changeLSN  = lsn.LSN{0, 0, 0, 0x27, 0, 0, 7, 0x58, 0, 3}
	commitLSN  = lsn.LSN{0, 0, 0, 0x27, 0, 0, 7, 0x58, 0, 5}
)

// asDebezium gives source blocks the version of the recorded records.
func asDebezium(t testing.TB) {
	ours := Version
	Version = "3.6.1.Final"
	t.Cleanup(func() { Version = ours })
}

func customers() *schema.Table {
	text := schema.Type{Kind: schema.VarChar, Name: "varchar", Length: 255}
	return &schema.Table{
		Database: "testDB", Schema: "dbo", Name: "customers",
		Columns: []schema.Column{
			{Name: "id", Type: schema.Type{Kind: schema.Int, Name: "int"}, Identity: true, ID: 1, Ordinal: 1},
			{Name: "first_name", Type: text, ID: 2, Ordinal: 2},
			{Name: "last_name", Type: text, ID: 3, Ordinal: 3},
			{Name: "email", Type: text, ID: 4, Ordinal: 4},
		},
		Key: []int{0},
	}
}

func options(change ...func(*Options)) Options {
	opts := Options{
		Topics: Naming{Prefix: "server1"}, Tombstones: true, Modes: schema.DefaultModes(),
		Now: func() time.Time { return now },
	}
	for _, f := range change {
		f(&opts)
	}
	return opts
}

func withSchemas(o *Options) { o.KeySchemas, o.ValueSchemas = true, true }
func structured(o *Options)  { o.Structured = true }

func john() []driver.Value {
	return []driver.Value{int64(1005), "john", "doe", "john.doe@example.org"}
}

// change returns a change of a streamed transaction.
func change(op string, before, after []driver.Value) Change {
	operation := map[string]uint8{OpCreate: 2, OpUpdate: 4, OpDelete: 1}[op]
	return Change{
		Op: op, Before: before, After: after,
		Position:  lsn.Position{Commit: commitLSN, Command: 1, Change: changeLSN, Operation: operation},
		CommitLSN: commitLSN, ChangeLSN: changeLSN, SourceTime: sourceTime, Serial: 1,
	}
}

func encode(t testing.TB, table *schema.Table, opts Options, changes ...Change) []Message {
	t.Helper()
	e, err := NewEncoder(table, opts)
	require.NoError(t, err)
	var b Batch
	for _, c := range changes {
		require.NoError(t, e.Row(&b, c))
	}
	return b.Messages
}

func TestEncoder_Golden(t *testing.T) {
	asDebezium(t)
	t.Run("with schemas", func(t *testing.T) {
		m := encode(t, customers(), options(withSchemas), change(OpCreate, nil, john()))
		require.Len(t, m, 1)
		assert.Equal(t, customersKey, string(m[0].Key))
		assert.Equal(t, customersSchema+customersCreate+"}", string(m[0].Value))
	})
	t.Run("without schemas", func(t *testing.T) {
		m := encode(t, customers(), options(), change(OpCreate, nil, john()))
		require.Len(t, m, 1)
		assert.Equal(t, `{"id":1005}`, string(m[0].Key))
		assert.Equal(t, customersCreate, string(m[0].Value))
	})
	t.Run("key schema alone", func(t *testing.T) {
		m := encode(t, customers(), options(func(o *Options) { o.KeySchemas = true }), change(OpCreate, nil, john()))
		assert.Equal(t, customersKey, string(m[0].Key))
		assert.Equal(t, customersCreate, string(m[0].Value))
	})
	t.Run("snapshot row", func(t *testing.T) {
		c := change(OpRead, nil, john())
		c.ChangeLSN, c.Serial, c.Snapshot = lsn.LSN{}, 0, "first"
		c.SourceTime = time.Unix(0, 1559729468470123400)
		m := encode(t, customers(), options(), c)
		require.Len(t, m, 1)
		assert.Equal(t, `{"before":null,"after":{"id":1005,"first_name":"john","last_name":"doe","email":"john.doe@example.org"},"source":{"version":"3.6.1.Final","connector":"sqlserver","name":"server1","ts_ms":1559729468470,"snapshot":"first","db":"testDB","sequence":null,"ts_us":1559729468470123,"ts_ns":1559729468470123400,"schema":"dbo","table":"customers","change_lsn":null,"commit_lsn":"00000027:00000758:0005","event_serial_no":null},"transaction":null,"op":"r","ts_ms":1559729471739,"ts_us":1559729471739876,"ts_ns":1559729471739876149}`, string(m[0].Value))
		assert.Equal(t, "first", m[0].Snapshot)
	})
	t.Run("update", func(t *testing.T) {
		jane := john()
		jane[1] = "jane"
		c := change(OpUpdate, john(), jane)
		c.Serial, c.UpdateMask = 2, []byte{0x02}
		m := encode(t, customers(), options(), c)
		require.Len(t, m, 1)
		assert.Equal(t, `{"before":{"id":1005,"first_name":"john","last_name":"doe","email":"john.doe@example.org"},"after":{"id":1005,"first_name":"jane","last_name":"doe","email":"john.doe@example.org"},"source":{"version":"3.6.1.Final","connector":"sqlserver","name":"server1","ts_ms":1559729468470,"snapshot":"false","db":"testDB","sequence":null,"ts_us":1559729468470000,"ts_ns":1559729468470000000,"schema":"dbo","table":"customers","change_lsn":"00000027:00000758:0003","commit_lsn":"00000027:00000758:0005","event_serial_no":2},"transaction":null,"op":"u","ts_ms":1559729471739,"ts_us":1559729471739876,"ts_ns":1559729471739876149}`, string(m[0].Value))
	})
}

func TestEncoder_Structured(t *testing.T) {
	jane := john()
	jane[1] = "jane"
	snapshot := change(OpRead, nil, john())
	snapshot.ChangeLSN, snapshot.CommitLSN, snapshot.Serial, snapshot.Snapshot = lsn.LSN{}, lsn.LSN{}, 0, "last"
	for name, set := range map[string]func(*Options){"plain": func(*Options) {}, "schemas": withSchemas} {
		for _, c := range []Change{
			change(OpCreate, nil, john()), change(OpUpdate, john(), jane), change(OpDelete, john(), nil), snapshot,
		} {
			t.Run(name+"/"+c.Op, func(t *testing.T) {
				raw := encode(t, customers(), options(set), c)
				twin := encode(t, customers(), options(set, structured), c)
				require.Len(t, twin, len(raw))
				for i := range raw {
					assert.Nil(t, twin[i].Value)
					assert.Equal(t, raw[i].Key, twin[i].Key, "the key's JSON is needed in structured mode too")
					assertSameJSON(t, raw[i].Key, twin[i].KeyStructured)
					assertSameJSON(t, raw[i].Value, twin[i].ValueStructured)
				}
			})
		}
	}
}

// assertSameJSON compares JSON with a value by marshalling it; no JSON at all
// goes with nil.
func assertSameJSON(t *testing.T, raw []byte, value any) {
	t.Helper()
	if raw == nil {
		assert.Nil(t, value)
		return
	}
	marshalled, err := json.Marshal(value)
	require.NoError(t, err)
	assert.JSONEq(t, string(raw), string(marshalled))
}
