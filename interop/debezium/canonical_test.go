package debezium

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Of a notification an id that was drawn for it is not compared, unless it is
// another in the key; one that a signal brought is, and all it tells.
func TestCanonical_Notification(t *testing.T) {
	const (
		one = "3c8f9a51-6f1c-4d0b-9d0e-0a9d52b5b0f1"
		two = "7b0e1d42-1a2b-4c3d-8e4f-5a6b7c8d9e0f"
	)
	record := func(key, id, what, tables string) Canonical {
		c, err := canonical(Record{
			Topic: "notes", Key: json.RawMessage(`{"id":"` + key + `"}`),
			Value: json.RawMessage(`{"id":"` + id + `","type":"` + what + `","aggregate_type":"Initial Snapshot","additional_data":{` + tables + `},"timestamp":5}`),
		})
		require.NoError(t, err)
		return c
	}
	const ab, ba = `"connector_name":"p","data_collections":"d.s.a,d.s.b"`, `"data_collections":"d.s.b,d.s.a","connector_name":"p"`
	base := record(one, one, "IN_PROGRESS", ab)
	assert.Equal(t, "notification notes Initial Snapshot IN_PROGRESS", base.outline())
	for name, tt := range map[string]struct {
		other Canonical
		want  int
	}{
		"another id":              {record(two, two, "IN_PROGRESS", ab), 0},
		"another id in the key":   {record(two, one, "IN_PROGRESS", ab), 2},
		"a signal's id":           {record("signal-1", "signal-1", "IN_PROGRESS", ab), 2},
		"orders of maps and sets": {record(one, one, "IN_PROGRESS", ba), 0},
		"another fact":            {record(one, one, "IN_PROGRESS", `"connector_name":"q","data_collections":"d.s.a,d.s.b"`), 1},
	} {
		t.Run(name, func(t *testing.T) { assert.Len(t, Compare(base, tt.other), tt.want) })
	}
	done := record(one, one, "TABLE_SCAN_COMPLETED", ab)
	assert.Len(t, Compare(done, record(one, one, "TABLE_SCAN_COMPLETED", ba)), 1, "a list in the order of the tables")
}
