package debezium

import (
	"encoding/json"
	"fmt"
)

// Record is one record as a Kafka Connect worker hands it to Kafka: the texts
// of key, value and headers are the converter's, byte for byte.
type Record struct {
	Topic string `json:"topic"`
	// Partition is nil where Kafka's partitioner is to choose.
	Partition *int `json:"partition"`
	// Key and Value are JSON's null where there is none, as in a tombstone.
	Key     json.RawMessage `json:"key"`
	Value   json.RawMessage `json:"value"`
	Headers []Header        `json:"headers"`
	// SourcePartition and SourceOffset are what the worker stores to go on
	// behind this record.
	SourcePartition json.RawMessage `json:"source_partition,omitempty"`
	SourceOffset    json.RawMessage `json:"source_offset,omitempty"`
}

// Header is one header of a record.
type Header struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
}

// Kind says which sort of record it is.
type Kind string

// The kinds of records that Debezium emits.
const (
	KindChange       Kind = "change"
	KindTombstone    Kind = "tombstone"
	KindTransaction  Kind = "transaction"
	KindSchemaChange Kind = "schema_change"
	KindHeartbeat    Kind = "heartbeat"
	KindNotification Kind = "notification"
)

// Payload is the union of the values that Debezium emits; Kind says which of
// the fields are there.
type Payload struct {
	// Of a change.
	Op          string          `json:"op"`
	Before      json.RawMessage `json:"before"`
	After       json.RawMessage `json:"after"`
	Source      Source          `json:"source"`
	Transaction *TransactionRef `json:"transaction"`
	// Of a transaction's begin and end.
	Status          string            `json:"status"`
	ID              string            `json:"id"`
	EventCount      *int64            `json:"event_count"`
	DataCollections []CollectionCount `json:"data_collections"`
	// Of a schema change.
	TableChanges []TableChange `json:"tableChanges"`
	DDL          *string       `json:"ddl"`
	// Of a notification; Type and AdditionalData too.
	AggregateType  string            `json:"aggregate_type"`
	Type           string            `json:"type"`
	AdditionalData map[string]string `json:"additional_data"`
}

// Source is the source block of changes and schema changes.
type Source struct {
	Name          string  `json:"name"`
	Database      string  `json:"db"`
	Schema        string  `json:"schema"`
	Table         string  `json:"table"`
	Snapshot      string  `json:"snapshot"`
	TsNs          int64   `json:"ts_ns"`
	ChangeLSN     *string `json:"change_lsn"`
	CommitLSN     *string `json:"commit_lsn"`
	EventSerialNo *int64  `json:"event_serial_no"`
}

// TransactionRef is where in its transaction a change stands.
type TransactionRef struct {
	ID                  string `json:"id"`
	TotalOrder          int64  `json:"total_order"`
	DataCollectionOrder int64  `json:"data_collection_order"`
}

// CollectionCount is how many changes of a table a transaction has.
type CollectionCount struct {
	DataCollection string `json:"data_collection"`
	EventCount     int64  `json:"event_count"`
}

// TableChange is one change of a table's structure.
type TableChange struct {
	Type  string `json:"type"`
	ID    string `json:"id"`
	Table *struct {
		PrimaryKeyColumnNames []string `json:"primaryKeyColumnNames"`
		Columns               []struct {
			Name           string `json:"name"`
			TypeExpression string `json:"typeExpression"`
			Length         *int   `json:"length"`
			Scale          *int   `json:"scale"`
			Optional       bool   `json:"optional"`
		} `json:"columns"`
	} `json:"table"`
}

// KeyPayload is the key without its schema, nil if there is none.
func (r Record) KeyPayload() json.RawMessage { return payload(r.Key) }

// HeaderPayload is the value of the first header of that name without its
// schema, nil if there is none.
func (r Record) HeaderPayload(name string) json.RawMessage {
	for _, h := range r.Headers {
		if h.Key == name {
			return payload(h.Value)
		}
	}
	return nil
}

// Decode reads the value, with or without a schema around it.
func (r Record) Decode() (Kind, Payload, error) {
	text := payload(r.Value)
	if text == nil {
		return KindTombstone, Payload{}, nil
	}
	var p Payload
	if err := json.Unmarshal(text, &p); err != nil {
		return "", Payload{}, fmt.Errorf("reading a value of topic %q: %w", r.Topic, err)
	}
	switch {
	case p.Op != "":
		return KindChange, p, nil
	case p.TableChanges != nil:
		return KindSchemaChange, p, nil
	case p.AggregateType != "":
		return KindNotification, p, nil
	case p.Status != "":
		return KindTransaction, p, nil
	}
	return KindHeartbeat, p, nil
}

// payload is what stands inside a schema's envelope, or the text itself.
func payload(text json.RawMessage) json.RawMessage {
	if isNull(text) {
		return nil
	}
	var envelope struct {
		Schema  *json.RawMessage `json:"schema"`
		Payload json.RawMessage  `json:"payload"`
	}
	if err := json.Unmarshal(text, &envelope); err == nil && envelope.Schema != nil && envelope.Payload != nil {
		if isNull(envelope.Payload) {
			return nil
		}
		return envelope.Payload
	}
	return text
}

func isNull(text json.RawMessage) bool { return len(text) == 0 || string(text) == "null" }
