package signal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/signal"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

func TestNotifications(t *testing.T) {
	a := schema.TableID{Database: "db", Schema: "dbo", Name: "a"}
	b := schema.TableID{Database: "db", Schema: "dbo", Name: `b"`}
	s := signal.Snapshot{Connector: "p", Tables: []schema.TableID{a, b}}
	instance := signal.Instance{Database: "db", Name: "dbo_a", Start: lsn.LSN{9: 1}, Stop: lsn.LSN{9: 2}, Committed: lsn.LSN{9: 3}}
	now := time.UnixMilli(1695817046353)
	for _, test := range []struct {
		is   event.Notification
		want string
	}{
		{s.Started(), `"type":"STARTED","aggregate_type":"Initial Snapshot","additional_data":{"connector_name":"p"}`},
		{s.Skipped(), `"type":"SKIPPED","aggregate_type":"Initial Snapshot","additional_data":{"connector_name":"p"}`},
		{s.Completed(), `"type":"COMPLETED","aggregate_type":"Initial Snapshot","additional_data":{"connector_name":"p"}`},
		{s.InProgress(a), `"type":"IN_PROGRESS","aggregate_type":"Initial Snapshot","additional_data":{"connector_name":"p","current_collection_in_progress":"db.dbo.a","data_collections":"db.dbo.a,db.dbo.b\""}`},
		{s.TableScanCompleted(b, 7), `"type":"TABLE_SCAN_COMPLETED","aggregate_type":"Initial Snapshot","additional_data":{"connector_name":"p","data_collections":"db.dbo.a,db.dbo.b\"","scanned_collection":"db.dbo.b\"","status":"SUCCEEDED","total_rows_scanned":"7"}`},
		{signal.InstanceCompleted("p", instance), `"type":"COMPLETED","aggregate_type":"Capture Instance","additional_data":{"capture_instance":"dbo_a","commit_lsn":"00000000:00000000:0003","connector_name":"p","database":"db","server":"p","start_lsn":"00000000:00000000:0001","stop_lsn":"00000000:00000000:0002"}`},
	} {
		assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, test.is.ID)
		want := `{"id":"` + test.is.ID + `",` + test.want + `,"timestamp":1695817046353}`
		assert.Equal(t, want, string(test.is.AppendJSON(nil, now)))

		for _, structured := range []bool{false, true} {
			encoder, err := event.NewNotifications("notes", event.Options{Topics: event.Naming{Prefix: "p"}, Structured: structured, Modes: schema.DefaultModes()})
			require.NoError(t, err)
			batch := event.NewBatch(1)
			at := lsn.Position{Commit: lsn.LSN{9: 4}}
			require.NoError(t, encoder.Append(batch, "db", test.is, at, now))
			m := batch.Messages[0]
			assert.Equal(t, event.KindNotification, m.Kind)
			assert.Equal(t, "notes", m.Topic)
			assert.Equal(t, at, m.Position)
			assert.JSONEq(t, `{"id":"`+test.is.ID+`"}`, string(m.Key))
			if !structured {
				assert.Equal(t, want, string(m.Value))
				continue
			}
			value, ok := m.ValueStructured.(map[string]any)
			require.True(t, ok)
			assert.Equal(t, test.is.Type, value["type"])
			assert.Equal(t, now.UnixMilli(), value["timestamp"])
		}
	}
}
