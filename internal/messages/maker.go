package messages

import (
	"strings"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Maker turns events into Benthos messages. It is not safe for
// concurrent use.
type Maker struct {
	structured bool
	optional   []func(*service.Message, *event.Message)
	context    *Context // nil: without

	// Metadata values are interfaces, and putting a string into one allocates:
	// those that repeat are made once.
	words map[string]any
	names map[*schema.Table]tableNames
}

// tableNames are the metadata values of a table version.
type tableNames struct {
	topic, database, schema, table any
}

// maxTableNames bounds the names kept: table versions come and go.
const maxTableNames = 10_000

// NewMaker returns a maker that adds the optional metadata keys named and, unless
// it is nil, the context.
func NewMaker(structured bool, include []string, context *Context) *Maker {
	m := &Maker{structured: structured, context: context, words: map[string]any{}, names: map[*schema.Table]tableNames{}}
	for _, key := range include {
		m.optional = append(m.optional, m.optionalSetter(key))
	}
	return m
}

// Batch returns the messages of a batch, in order.
func (m *Maker) Batch(b *event.Batch) service.MessageBatch {
	texts := newBatchTexts(b)
	out := make(service.MessageBatch, len(b.Messages))
	for i := range b.Messages {
		e := &b.Messages[i]
		msg := m.payload(e)
		m.metadata(msg, e, texts)
		out[i] = msg
	}
	return out
}

// payload makes a message without metadata. A tombstone has no payload, which
// is not the same as an empty one.
func (m *Maker) payload(e *event.Message) *service.Message {
	if !m.structured || e.Kind == event.KindTombstone {
		return service.NewMessage(e.Value)
	}
	msg := service.NewMessage(nil)
	// Parts of it are shared between messages: a pipeline that changes it gets
	// a copy.
	msg.SetStructured(e.ValueStructured)
	return msg
}

func (m *Maker) metadata(msg *service.Message, e *event.Message, texts *batchTexts) {
	names := m.tableNames(e)
	msg.MetaSetMut(MetaTopic, names.topic)
	msg.MetaSetMut(MetaKind, m.word(string(e.Kind)))
	msg.MetaSetMut(MetaPosition, texts.position(e.Position))
	if e.Key != nil {
		msg.MetaSetMut(MetaKey, texts.bytes(e.Key))
	}
	if e.Op != "" {
		msg.MetaSetMut(MetaOp, m.word(e.Op))
	}
	if e.Database != "" {
		msg.MetaSetMut(MetaDatabase, names.database)
	}
	if e.Table != "" {
		msg.MetaSetMut(MetaDatabaseSchema, names.schema)
		msg.MetaSetMut(MetaTable, names.table)
	}
	if e.Kind == event.KindTombstone {
		msg.MetaSetMut(MetaTombstone, true)
	}
	if e.NewKey != nil {
		msg.MetaSetMut(MetaNewKey, string(e.NewKey))
	}
	if e.OldKey != nil {
		msg.MetaSetMut(MetaOldKey, string(e.OldKey))
	}
	if m.context != nil {
		m.context.set(msg, e.Kind)
	}
	for _, set := range m.optional {
		set(msg, e)
	}
}

// optionalSetter returns the function that sets one key of metadata_include,
// where the message has a value for it.
func (m *Maker) optionalSetter(key string) func(*service.Message, *event.Message) {
	setLSN := func(msg *service.Message, l lsn.LSN) {
		if !l.IsZero() {
			msg.MetaSetMut(key, l.String())
		}
	}
	return map[string]func(*service.Message, *event.Message){
		MetaCommitLSN: func(msg *service.Message, e *event.Message) { setLSN(msg, e.CommitLSN) },
		MetaChangeLSN: func(msg *service.Message, e *event.Message) { setLSN(msg, e.ChangeLSN) },
		MetaEventSerial: func(msg *service.Message, e *event.Message) {
			if e.EventSerial != 0 {
				msg.MetaSetMut(key, e.EventSerial)
			}
		},
		MetaSnapshot: func(msg *service.Message, e *event.Message) {
			if e.Snapshot != "" {
				msg.MetaSetMut(key, m.word(e.Snapshot))
			}
		},
		MetaSourceTime: func(msg *service.Message, e *event.Message) {
			if !e.SourceTime.IsZero() {
				msg.MetaSetMut(key, e.SourceTime.UnixMilli())
			}
		},
		MetaSchema: func(msg *service.Message, e *event.Message) {
			if e.RowSchema != nil {
				msg.MetaSetImmut(key, service.ImmutableAny{V: e.RowSchema})
			}
		},
	}[key]
}

func (m *Maker) tableNames(e *event.Message) tableNames {
	if e.TableRef == nil {
		return tableNames{topic: e.Topic, database: e.Database, schema: e.Schema, table: e.Table}
	}
	names, ok := m.names[e.TableRef]
	if !ok {
		if len(m.names) >= maxTableNames {
			clear(m.names)
		}
		names = tableNames{topic: e.Topic, database: e.Database, schema: e.Schema, table: e.Table}
		m.names[e.TableRef] = names
	}
	return names
}

// word returns a value of a small vocabulary.
func (m *Maker) word(s string) any {
	w, ok := m.words[s]
	if !ok {
		w = s
		m.words[s] = w
	}
	return w
}

// batchTexts holds the texts of a batch that differ from message to message,
// in one string: one allocation for all.
type batchTexts struct {
	text    strings.Builder
	scratch []byte
}

// newBatchTexts makes room for all keys and positions of a batch, so that the
// text is never moved.
func newBatchTexts(b *event.Batch) *batchTexts {
	t := &batchTexts{scratch: lsn.Position{}.Append(nil)}
	size := 0
	for i := range b.Messages {
		size += len(t.scratch) + len(b.Messages[i].Key)
	}
	t.text.Grow(size)
	return t
}

func (t *batchTexts) position(p lsn.Position) string {
	t.scratch = p.Append(t.scratch[:0])
	return t.bytes(t.scratch)
}

func (t *batchTexts) bytes(b []byte) string {
	start := t.text.Len()
	t.text.Write(b)
	return t.text.String()[start:]
}
