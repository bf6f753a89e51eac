package debezium

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

const source = `"source":{"snapshot":"false","commit_lsn":"%s","change_lsn":"%s","event_serial_no":1}`

func change(op, key, before, after, commit, changed string) Record {
	return record("p.t", key, fmt.Sprintf(`{"op":%q,"before":%s,"after":%s,`+source+`}`, op, before, after, commit, changed))
}

func TestCheckStream(t *testing.T) {
	row := `{"id":1,"v":2}`
	insert := change("c", `{"id":1}`, "null", row, "00:5", "00:4")
	remove := change("d", `{"id":1}`, row, "null", "00:5", "00:4")
	assert.NoError(t, CheckStream([]Record{
		insert, remove, record("p.t", `{"id":1}`, "null"),
		change("u", `{"id":1,"hidden":7}`, row, row, "00:9", "00:8"),
	}, false))
	tests := []struct {
		name    string
		records []Record
		want    string
	}{
		{"order", []Record{change("c", `{"id":1}`, "null", row, "00:9", "00:8"), insert}, "record 1 of topic p.t: commit LSN 00:5 behind 00:9"},
		{"change behind commit", []Record{change("c", `{"id":1}`, "null", row, "00:5", "00:6")}, "change LSN 00:6 is not below commit LSN 00:5"},
		{"no LSN", []Record{record("p.t", `{"id":1}`, `{"op":"c","after":{"id":1},"source":{"snapshot":"false"}}`)}, "a row from the log without its LSNs"},
		{"tombstone alone", []Record{insert, record("p.t", `{"id":1}`, "null")}, "a tombstone without its delete"},
		{"tombstone of another", []Record{remove, record("p.t", `{"id":2}`, "null")}, "the tombstone's key differs"},
		{"key", []Record{change("c", `{"id":2}`, "null", row, "00:5", "00:4")}, `key field "id" is 2 and the row says 1`},
		{"insert with before", []Record{change("c", `{"id":1}`, row, row, "00:5", "00:4")}, "wants an after image alone"},
		{"update without before", []Record{change("u", `{"id":1}`, "null", row, "00:5", "00:4")}, "wants both images"},
		{"delete with after", []Record{change("d", `{"id":1}`, row, row, "00:5", "00:4")}, "wants a before image alone"},
		{"operation", []Record{change("x", `{"id":1}`, row, row, "00:5", "00:4")}, `unknown operation "x"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.ErrorContains(t, CheckStream(tt.records, false), tt.want)
		})
	}
}
