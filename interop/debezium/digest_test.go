package debezium

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func record(topic, key, value string, headers ...Header) Record {
	return Record{Topic: topic, Key: json.RawMessage(key), Value: json.RawMessage(value), Headers: headers}
}

func TestDigest(t *testing.T) {
	got, err := Digest([]Record{
		record("p.t", `{"schema":{"type":"struct"},"payload":{"id":1}}`,
			`{"schema":{"type":"struct","fields":[{"type":"struct","field":"after","fields":[{"type":"int32","optional":false,"field":"id"},{"type":"bytes","optional":true,"name":"D","version":1,"parameters":{"scale":"2"},"default":"AQ==","field":"d"}]}]},"payload":{"op":"r","before":null,"after":{"id":1,"d":"AQ=="},"source":{"snapshot":"last","ts_ns":1500000000123000000}}}`),
		record("p.t", `{"id":1}`, `{"op":"d","before":{"id":1},"after":null,"source":{"snapshot":"false","commit_lsn":"00:5","change_lsn":"00:4","event_serial_no":2},"transaction":{"id":"00:5","total_order":3,"data_collection_order":1}}`,
			Header{Key: "__debezium.newkey", Value: json.RawMessage(`{"id":2}`)}, Header{Key: "other", Value: json.RawMessage(`1`)}),
		record("p.t", `{"id":1}`, `null`),
		record("p.t", `null`, `{"op":"c","before":null,"after":{"id":"6f9619ff-8b86-d011-b42d-00c04fc964ff-open"},"source":{"snapshot":"false","commit_lsn":"00:3","change_lsn":"00:1","event_serial_no":1}}`),
		record("p.transaction", `{"id":"00:3"}`, `{"status":"END","id":"00:3","event_count":2,"data_collections":[{"data_collection":"b","event_count":1},{"data_collection":"a","event_count":1}]}`),
		record("h", `{"serverName":"p"}`, `{"ts_ms":1}`),
		record("h", `{"serverName":"p"}`, `{"ts_ms":2}`),
		record("p", `{"databaseName":"d"}`, `{"ddl":"N/A","tableChanges":[{"type":"ALTER","id":"\"d\".\"t\"","table":{"primaryKeyColumnNames":["a","b"],"columns":[{"name":"a","typeExpression":"decimal","length":5,"scale":2,"optional":false}]}}]}`),
		record("n", `{"id":"x"}`, `{"aggregate_type":"Initial Snapshot","type":"STARTED","additional_data":{"b":"2","a":"1"}}`),
	})
	require.NoError(t, err)
	assert.Equal(t, `schema p.t
  id int32 not null
  d bytes D v1 scale=2 default "AQ=="
r p.t {"id":1}
  after  {"id":1,"d":"AQ=="}
  at 2017-07-14T02:40:00.123Z, snapshot last
d p.t {"id":1}
  before {"id":1}
  at 1970-01-01T00:00:00Z, commit 2, change 1, serial 2, number 3 in transaction 2, 1 in table
  __debezium.newkey {"id":2}
tombstone p.t {"id":1}
c p.t without key
  after  {"id":"uuid-1-open"}
  at 1970-01-01T00:00:00Z, commit 1, change 1, serial 1
transaction p.transaction END 1, 2 events, a 1, b 1
heartbeats h {"serverName":"p"}
schema change p ALTER "d"."t" ddl N/A
  key (a, b)
  a decimal length 5 scale 2 not null
notification n Initial Snapshot: STARTED {"a":"1","b":"2"}
`, got)
}

func TestDigest_Malformed(t *testing.T) {
	_, err := Digest([]Record{record("p.t", `null`, `{"op":1}`)})
	assert.ErrorContains(t, err, `record 0: reading a value of topic "p.t"`)
}
