package event

import (
	"strconv"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// TransactionOrder is the place of an event in its transaction, counted from
// 1; zero means that transactions are not told of. An update that changes the
// key counts as two events, tombstones as none.
type TransactionOrder struct {
	Total      int64 // among all events of the transaction
	Collection int64 // among those of the same table
}

// next is the order of the event after, of the same table.
func (o TransactionOrder) next() TransactionOrder {
	if o.Total == 0 {
		return o
	}
	return TransactionOrder{o.Total + 1, o.Collection + 1}
}

// transactionBlockSchema is the schema of an envelope's transaction block.
func transactionBlockSchema() schema.ConnectSchema {
	return schema.ConnectSchema{
		Type: "struct", Name: "event.block", Version: 1, Optional: true,
		Fields: []schema.ConnectField{
			{Name: "id", Schema: schema.ConnectSchema{Type: "string"}},
			{Name: "total_order", Schema: schema.ConnectSchema{Type: "int64"}},
			{Name: "data_collection_order", Schema: schema.ConnectSchema{Type: "int64"}},
		},
	}
}

// appendTransactionBlock appends an envelope's transaction block.
func appendTransactionBlock(dst []byte, id lsn.LSN, o TransactionOrder) []byte {
	if o.Total == 0 {
		return append(dst, "null"...)
	}
	dst = id.Append(append(dst, `{"id":"`...))
	dst = strconv.AppendInt(append(dst, `","total_order":`...), o.Total, 10)
	dst = strconv.AppendInt(append(dst, `,"data_collection_order":`...), o.Collection, 10)
	return append(dst, '}')
}

// structuredTransactionBlock returns what a reader of the block gets.
func structuredTransactionBlock(id lsn.LSN, o TransactionOrder) any {
	if o.Total == 0 {
		return nil
	}
	return map[string]any{"id": id.String(), "total_order": o.Total, "data_collection_order": o.Collection}
}

// CollectionCount counts the events of one table in a transaction.
type CollectionCount struct {
	Table  schema.TableID
	Events int64
}

// Transactions writes the messages that mark the ends of transactions. It is
// not safe for concurrent use.
type Transactions struct{ control control }

// NewTransactions returns an encoder for the topic of transactions.
func NewTransactions(opts Options) (*Transactions, error) {
	str := schema.ConnectSchema{Type: "string"}
	optionalInt := schema.ConnectSchema{Type: "int64", Optional: true}
	key := schema.ConnectSchema{
		Type: "struct", Name: "io.debezium.connector.common.TransactionMetadataKey", Version: 1,
		Fields: []schema.ConnectField{{Name: "id", Schema: str}},
	}
	value := schema.ConnectSchema{
		Type: "struct", Name: "io.debezium.connector.common.TransactionMetadataValue", Version: 1,
		Fields: []schema.ConnectField{
			{Name: "status", Schema: str},
			{Name: "id", Schema: str},
			{Name: "event_count", Schema: optionalInt},
			{Name: "data_collections", Schema: schema.ConnectSchema{
				Type: "array", Optional: true,
				Items: &schema.ConnectSchema{
					Type: "struct", Name: "event.collection", Version: 1, Optional: true,
					Fields: []schema.ConnectField{
						{Name: "data_collection", Schema: str},
						{Name: "event_count", Schema: schema.ConnectSchema{Type: "int64"}},
					},
				},
			}},
			{Name: "ts_ms", Schema: schema.ConnectSchema{Type: "int64"}},
		},
	}
	c, err := newControl(KindTransaction, opts.Topics.Transactions(), key, value, opts)
	if err != nil {
		return nil, err
	}
	return &Transactions{c}, nil
}

// Begin appends the message before the first event of a transaction, whose id
// is its commit LSN.
func (t *Transactions) Begin(dst *Batch, database string, id lsn.LSN, at lsn.Position, when time.Time) error {
	return t.append(dst, "BEGIN", "null", nil, database, id, at, when)
}

// End appends the message after the last event of a transaction, with the
// number of events of each table in the order given.
func (t *Transactions) End(dst *Batch, database string, id lsn.LSN, at lsn.Position, when time.Time, counts []CollectionCount) error {
	var total int64
	collections := []byte{'['}
	for i, c := range counts {
		if i > 0 {
			collections = append(collections, ',')
		}
		collections = schema.AppendString(append(collections, `{"data_collection":`...), c.Table.String())
		collections = strconv.AppendInt(append(collections, `,"event_count":`...), c.Events, 10)
		collections = append(collections, '}')
		total += c.Events
	}
	return t.append(dst, "END", strconv.FormatInt(total, 10), append(collections, ']'), database, id, at, when)
}

func (t *Transactions) append(dst *Batch, status, count string, collections []byte, database string, id lsn.LSN, at lsn.Position, when time.Time) error {
	if collections == nil {
		collections = []byte("null")
	}
	key := append(id.Append([]byte(`{"id":"`)), `"}`...)
	value := append([]byte(`{"status":"`), status...)
	value = id.Append(append(value, `","id":"`...))
	value = append(append(value, `","event_count":`...), count...)
	value = append(append(value, `,"data_collections":`...), collections...)
	value = strconv.AppendInt(append(value, `,"ts_ms":`...), when.UnixMilli(), 10)
	m := Message{Database: database, Position: at, SourceTime: when, CommitLSN: id}
	return t.control.append(dst, m, key, append(value, '}'))
}
