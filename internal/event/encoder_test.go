package event

import (
	"database/sql/driver"
	"strings"
	"testing"
	"time"

	common "github.com/redpanda-data/benthos/v4/public/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

func TestEncoder_Delete(t *testing.T) {
	t.Run("tombstone follows", func(t *testing.T) {
		m := encode(t, customers(), options(withSchemas), change(OpDelete, john(), nil))
		require.Len(t, m, 2)
		assert.Equal(t, KindChange, m[0].Kind)
		assert.Equal(t, OpDelete, m[0].Op)
		assert.Contains(t, string(m[0].Value), `"after":null`)

		tomb := m[1]
		assert.Equal(t, KindTombstone, tomb.Kind)
		assert.Empty(t, tomb.Op)
		assert.Nil(t, tomb.Value)
		assert.Equal(t, m[0].Key, tomb.Key)
		assert.Equal(t, m[0].Topic, tomb.Topic)
		want := m[0].Position
		want.Ordinal++
		assert.Equal(t, want, tomb.Position)
	})
	t.Run("tombstones off", func(t *testing.T) {
		m := encode(t, customers(), options(func(o *Options) { o.Tombstones = false }), change(OpDelete, john(), nil))
		require.Len(t, m, 1)
	})
	t.Run("no key, no tombstone", func(t *testing.T) {
		table := customers()
		table.Key = nil
		m := encode(t, table, options(withSchemas), change(OpDelete, john(), nil))
		require.Len(t, m, 1)
		assert.Nil(t, m[0].Key)
	})
	t.Run("structured tombstone has no value", func(t *testing.T) {
		m := encode(t, customers(), options(structured), change(OpDelete, john(), nil))
		require.Len(t, m, 2)
		assert.Nil(t, m[1].ValueStructured)
		assert.Equal(t, map[string]any{"id": int64(1005)}, m[1].KeyStructured)
	})
}

func TestEncoder_KeyChange(t *testing.T) {
	moved := john()
	moved[0] = int64(2000)
	t.Run("as one update", func(t *testing.T) {
		c := change(OpUpdate, john(), moved)
		c.Serial, c.UpdateMask = 2, []byte{0x01}
		m := encode(t, customers(), options(withSchemas), c)
		require.Len(t, m, 3)

		assert.Equal(t, []string{OpDelete, "", OpCreate}, []string{m[0].Op, m[1].Op, m[2].Op})
		assert.Equal(t, KindTombstone, m[1].Kind)
		assert.Equal(t, customersKey, string(m[0].Key))
		assert.Equal(t, customersKey, string(m[1].Key))
		assert.Equal(t, strings.Replace(customersKey, "1005", "2000", 1), string(m[2].Key))
		for _, gone := range m[:2] {
			assert.Equal(t, `{"id":2000}`, string(gone.NewKey))
			assert.Nil(t, gone.OldKey)
		}
		assert.Equal(t, `{"id":1005}`, string(m[2].OldKey))
		assert.Nil(t, m[2].NewKey)

		assert.Contains(t, string(m[0].Value), `"before":{"id":1005,`)
		assert.Contains(t, string(m[0].Value), `"after":null`)
		assert.Contains(t, string(m[2].Value), `"before":null,"after":{"id":2000,`)
		assert.Contains(t, string(m[0].Value), `"event_serial_no":2}`)
		assert.Contains(t, string(m[2].Value), `"event_serial_no":2}`)
		for i, message := range m {
			assert.Equal(t, uint64(i), message.Position.Ordinal)
		}
	})
	t.Run("positions do not depend on tombstones", func(t *testing.T) {
		m := encode(t, customers(), options(func(o *Options) { o.Tombstones = false }), change(OpUpdate, john(), moved))
		require.Len(t, m, 2)
		assert.Equal(t, uint64(2), m[1].Position.Ordinal)
	})
	t.Run("as two rows", func(t *testing.T) {
		var serials Serials
		gone, created := change(OpDelete, john(), nil), change(OpCreate, nil, moved)
		gone.Serial = serials.Next(commitLSN, changeLSN, 1)
		created.Serial = serials.Next(commitLSN, changeLSN, 1)
		m := encode(t, customers(), options(), gone, created)
		require.Len(t, m, 3)
		assert.Contains(t, string(m[0].Value), `"event_serial_no":1}`)
		assert.Contains(t, string(m[2].Value), `"event_serial_no":2}`)
		for _, message := range m {
			assert.Nil(t, message.NewKey)
			assert.Nil(t, message.OldKey)
		}
	})
	t.Run("no key, always an update", func(t *testing.T) {
		table := customers()
		table.Key = nil
		m := encode(t, table, options(), change(OpUpdate, john(), moved))
		require.Len(t, m, 1)
		assert.Equal(t, OpUpdate, m[0].Op)
	})
}

func TestSerials_Next(t *testing.T) {
	var s Serials
	other := lsn.LSN{9: 9}
	assert.Equal(t, int64(2), s.Next(commitLSN, changeLSN, 2))
	assert.Equal(t, int64(3), s.Next(commitLSN, changeLSN, 1))
	assert.Equal(t, int64(1), s.Next(commitLSN, other, 1))
	assert.Equal(t, int64(2), s.Next(commitLSN, changeLSN, 2), "only the event before counts")
	s.Reset()
	assert.Equal(t, int64(1), s.Next(commitLSN, changeLSN, 1))
}

// notes is a table of a key, a legacy large column and a bit, all NOT NULL.
func notes() *schema.Table {
	return &schema.Table{
		Database: "testDB", Schema: "dbo", Name: "t",
		Columns: []schema.Column{
			{Name: "id", Type: schema.Type{Kind: schema.Int, Name: "int"}, ID: 1, Ordinal: 1},
			{Name: "note", Type: schema.Type{Kind: schema.Text, Name: "text", Length: schema.Max}, ID: 2, Ordinal: 2},
			{Name: "b", Type: schema.Type{Kind: schema.Bit, Name: "bit"}, ID: 3, Ordinal: 3},
		},
		Key: []int{0},
	}
}

func TestEncoder_UnexpectedNull(t *testing.T) {
	var notices []NullNotice
	opts := options(withSchemas, func(o *Options) { o.OnNull = func(n NullNotice) { notices = append(notices, n) } })
	e, err := NewEncoder(notes(), opts)
	require.NoError(t, err)
	var b Batch
	full := []driver.Value{int64(1), "text", true}

	require.NoError(t, e.Row(&b, change(OpCreate, nil, full)))
	assert.Contains(t, string(b.Messages[0].Value), `{"type":"boolean","optional":false,"field":"b"}`)
	assert.Empty(t, e.Optional())

	gone := change(OpDelete, []driver.Value{int64(1), nil, nil}, nil)
	require.NoError(t, e.Row(&b, gone))
	require.Len(t, b.Messages, 3)
	deletion := string(b.Messages[1].Value)
	assert.Contains(t, deletion, `"before":{"id":1,"note":"__debezium_unavailable_value","b":null}`)
	assert.Contains(t, deletion, `{"type":"boolean","optional":true,"field":"b"}`)
	assert.Equal(t, []string{"b"}, e.Optional())
	assert.Equal(t, []NullNotice{{Table: e.Table(), Column: "b", Position: gone.Position, First: true}}, notices)

	require.NoError(t, e.Row(&b, gone))
	require.Len(t, notices, 2)
	assert.False(t, notices[1].First)
	assert.Equal(t, []string{"b"}, e.Optional())

	require.NoError(t, e.Row(&b, change(OpCreate, nil, full)))
	assert.Contains(t, string(b.Messages[5].Value), `{"type":"boolean","optional":true,"field":"b"}`, "optional from then on")
	row, err := common.ParseFromAny(b.Messages[5].RowSchema)
	require.NoError(t, err)
	assert.True(t, row.Children[2].Optional)

	again, err := NewEncoder(notes(), opts)
	require.NoError(t, err)
	require.NoError(t, again.MakeOptional(e.Optional()))
	require.NoError(t, again.Row(&b, change(OpCreate, nil, full)))
	assert.Equal(t, string(b.Messages[5].Value), string(b.Messages[6].Value), "an encoder after a restart does not flip the field back")
}

func TestEncoder_NullInKey(t *testing.T) {
	m := encode(t, customers(), options(withSchemas), change(OpDelete, []driver.Value{nil, "a", "b", "c"}, nil))
	require.Len(t, m, 2)
	assert.Contains(t, string(m[0].Key), `{"type":"int32","optional":true,"field":"id"}`)
	assert.Contains(t, string(m[0].Key), `"payload":{"id":null}`)
	assert.Equal(t, m[0].Key, m[1].Key)
}

func TestEncoder_Errors(t *testing.T) {
	table := &schema.Table{
		Database: "testDB", Schema: "dbo", Name: "history",
		Columns: []schema.Column{
			{Name: "id", Type: schema.Type{Kind: schema.Int, Name: "int"}, ID: 1, Ordinal: 1},
			{Name: "valid_to", Type: schema.Type{Kind: schema.DateTime2, Name: "datetime2", Scale: 7}, ID: 2, Ordinal: 2},
		},
		Key: []int{0},
	}
	e, err := NewEncoder(table, options())
	require.NoError(t, err)
	var b Batch
	require.NoError(t, e.Row(&b, change(OpCreate, nil, []driver.Value{int64(1), sourceTime.UTC()})))
	size := b.Bytes()

	t.Run("value outside its range", func(t *testing.T) {
		forever := time.Date(9999, 12, 31, 23, 59, 59, 999999900, time.UTC)
		err := e.Row(&b, change(OpCreate, nil, []driver.Value{int64(2), forever}))
		var value *schema.ValueError
		require.ErrorAs(t, err, &value)
		assert.Equal(t, "valid_to", value.Column)
		for _, part := range []string{"testDB.dbo.history", `"valid_to"`, "9999-12-31 23:59:59.9999999", "time_precision_mode"} {
			assert.ErrorContains(t, err, part)
		}
		require.Len(t, b.Messages, 1, "nothing is appended")
		assert.Equal(t, size, b.Bytes())
	})
	for name, c := range map[string]Change{
		"row too short":       change(OpCreate, nil, []driver.Value{int64(2)}),
		"update without old":  change(OpUpdate, nil, []driver.Value{int64(2), nil}),
		"unknown operation":   change("t", nil, nil),
		"wrong type of value": change(OpCreate, nil, []driver.Value{"2", nil}),
		"no source time":      {Op: OpCreate, After: []driver.Value{int64(1), sourceTime}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, e.Row(&b, c))
			require.Len(t, b.Messages, 1)
		})
	}
}

func TestEncoder_Metadata(t *testing.T) {
	m := encode(t, customers(), options(), change(OpCreate, nil, john()))[0]
	assert.Equal(t, "server1.testDB.dbo.customers", m.Topic)
	assert.Equal(t, []string{"testDB", "dbo", "customers"}, []string{m.Database, m.Schema, m.Table})
	assert.Equal(t, "false", m.Snapshot)
	assert.Equal(t, commitLSN, m.CommitLSN)
	assert.Equal(t, changeLSN, m.ChangeLSN)
	assert.Equal(t, int64(1), m.EventSerial)
	assert.Equal(t, sourceTime, m.SourceTime)
	row, err := common.ParseFromAny(m.RowSchema)
	require.NoError(t, err)
	assert.Equal(t, "customers", row.Name)
	assert.Equal(t, common.Int32, row.Children[0].Type)
	assert.Equal(t, common.String, row.Children[1].Type)
}

func TestNewEncoder_Omitted(t *testing.T) {
	table := customers()
	table.Columns[2].Computed = true
	table.Columns[3].Type = schema.Type{Kind: schema.SQLVariant, Name: "sql_variant"}
	e, err := NewEncoder(table, options())
	require.NoError(t, err)
	require.Len(t, e.Omitted(), 2)
	assert.Equal(t, "last_name", e.Omitted()[0].Column)
	assert.Equal(t, "email", e.Omitted()[1].Column)
	var b Batch
	require.NoError(t, e.Row(&b, change(OpCreate, nil, []driver.Value{int64(1), "a", nil, int64(5)})))
	assert.Contains(t, string(b.Messages[0].Value), `"after":{"id":1,"first_name":"a"}`)
}

func TestNaming_Table(t *testing.T) {
	tests := []struct{ name, table, want string }{
		{"plain", "customers", "p.db.dbo.customers"},
		{"blanks, quotes, brackets, dollars", `a b"c]d$e`, "p.db.dbo.a_b_c_d_e"},
		{"letters beyond ASCII", "čé", "p.db.dbo.__"},
		{"two units above U+FFFF", "a😀b", "p.db.dbo.a__b"},
		{"dots stay", "a.b", "p.db.dbo.a.b"},
		{"cut at Kafka's limit", strings.Repeat("x", 300), "p.db.dbo." + strings.Repeat("x", 240)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, Naming{Prefix: "p"}.Table(schema.TableID{Database: "db", Schema: "dbo", Name: tt.table}))
		})
	}
	t.Run("without the database, as in 1.x", func(t *testing.T) {
		id := schema.TableID{Database: "db", Schema: "dbo", Name: "a b"}
		assert.Equal(t, "p.dbo.a_b", Naming{Prefix: "p", WithoutDatabase: true}.Table(id))
		assert.Equal(t, "p_dbo_a_b", Naming{Prefix: "p", WithoutDatabase: true, Delimiter: "_"}.Table(id))
	})
	t.Run("schema names are sanitised, the source block is not", func(t *testing.T) {
		table := customers()
		table.Name = "my table"
		m := encode(t, table, options(withSchemas), change(OpCreate, nil, john()))[0]
		assert.Equal(t, "server1.testDB.dbo.my_table", m.Topic)
		assert.Contains(t, string(m.Key), `"name":"server1.testDB.dbo.my_table.Key"`)
		assert.Contains(t, string(m.Value), `"table":"my table"`)
		assert.Equal(t, "my table", m.Table)
	})
}

func TestBatch_BytesOfStructuredRows(t *testing.T) {
	large := john()
	large[3] = strings.Repeat("x", 100_000)
	e, err := NewEncoder(customers(), options(structured))
	require.NoError(t, err)
	var b Batch
	require.NoError(t, e.Row(&b, change(OpUpdate, large, large)))
	assert.Greater(t, b.Bytes(), 200_000)
}

func TestBatch_Arena(t *testing.T) {
	var b Batch
	small, large := b.put([]byte("abc")), b.put(make([]byte, maxChunk))
	next := b.put([]byte("def"))
	assert.Equal(t, "abc", string(small))
	assert.Len(t, large, maxChunk)
	assert.Equal(t, 6+maxChunk, b.Bytes())
	_ = append(small, 'X')
	assert.LessOrEqual(t, cap(b.chunk), minChunk, "a small batch takes little memory")
	assert.Equal(t, "def", string(next), "a slice of the arena ends where it ends")
	for range maxChunk {
		b.put([]byte("filler"))
	}
	assert.Equal(t, "abc", string(small))
}

// A row written after larger and smaller ones, and after one that failed, is not
// written over by them.
func TestEncoder_RowsKeepTheirBytes(t *testing.T) {
	for name, set := range map[string]func(*Options){"plain": func(*Options) {}, "schemas": withSchemas, "structured": structured} {
		t.Run(name, func(t *testing.T) {
			e, err := NewEncoder(customers(), options(set))
			require.NoError(t, err)
			var all, alone Batch
			for i := range 300 {
				row := john()
				row[1] = strings.Repeat(string(rune('a'+i%26)), i*i%7000)
				if i%10 == 3 {
					broken := john()
					broken[3] = 5 // not text
					require.Error(t, e.Row(&all, change(OpCreate, nil, broken)))
				}
				require.NoError(t, e.Row(&all, change(OpCreate, nil, row)))
				one, err := NewEncoder(customers(), options(set))
				require.NoError(t, err)
				require.NoError(t, one.Row(&alone, change(OpCreate, nil, row)))
			}
			require.Len(t, all.Messages, 300)
			for i := range all.Messages {
				require.Equal(t, string(alone.Messages[i].Key), string(all.Messages[i].Key))
				require.Equal(t, string(alone.Messages[i].Value), string(all.Messages[i].Value))
				require.Equal(t, alone.Messages[i].ValueStructured, all.Messages[i].ValueStructured)
			}
		})
	}
}

func TestBatch_Release(t *testing.T) {
	first := NewBatch(1)
	first.Messages = append(first.Messages, Message{Topic: "t", Value: first.put([]byte("value"))})
	value, messages := first.Messages[0].Value, first.Messages
	first.Release()
	assert.Empty(t, first.Messages)
	assert.Equal(t, Message{}, messages[0], "nothing is held by the memory given back")

	second := NewBatch(1)
	assert.Empty(t, second.Messages)
	second.Messages = append(second.Messages, Message{Topic: "u", Value: second.put([]byte("other"))})
	assert.Equal(t, "value", string(value), "contents outlive the batch")
	second.Release()
	second.Release()
	assert.Empty(t, second.Messages)
}
