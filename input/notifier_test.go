package input_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// told is a notification in short.
func told(t *testing.T, m received) string {
	t.Helper()
	if m.Kind != "notification" {
		return m.String()
	}
	var n struct {
		ID, Type string
		About    string            `json:"aggregate_type"`
		Facts    map[string]string `json:"additional_data"`
	}
	require.NoError(t, json.Unmarshal([]byte(m.Value), &n))
	assert.Equal(t, "notes", m.Topic)
	assert.JSONEq(t, `{"id":"`+n.ID+`"}`, m.Key)
	assert.Equal(t, "server1", n.Facts["connector_name"])
	words := []string{n.About, n.Type}
	for _, fact := range []string{"current_collection_in_progress", "scanned_collection", "total_rows_scanned", "data_collections", "capture_instance"} {
		if n.Facts[fact] != "" {
			words = append(words, n.Facts[fact])
		}
	}
	return strings.Join(words, " ")
}

func allTold(t *testing.T, messages []received) (list []string) {
	for _, m := range messages {
		list = append(list, told(t, m))
	}
	return list
}

const notificationFields = "notification_enabled_channels: [sink, log]\nnotification_sink_topic_name: notes"

// A snapshot is told of where Debezium does: the end of a table before its last
// row, which is held back. After a restart it is told of as skipped, and a
// capture instance that is not needed any more once that is so.
func TestNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.a (id int PRIMARY KEY)\nCREATE TABLE dbo.b (id int PRIMARY KEY)\nINSERT dbo.a VALUES (1), (2)\n"+
			enable("dbo", "a")+enable("dbo", "b"))
		s := settings{fields: notificationFields, store: newStore()}
		p := startPipeline(t, server, s)
		got := p.next(8)
		assert.Equal(t, []string{
			"Initial Snapshot STARTED",
			"Initial Snapshot IN_PROGRESS db.dbo.a db.dbo.a,db.dbo.b",
			`r dbo.a {"id":1}`,
			"Initial Snapshot TABLE_SCAN_COMPLETED db.dbo.a 2 db.dbo.a,db.dbo.b",
			"Initial Snapshot IN_PROGRESS db.dbo.b db.dbo.a,db.dbo.b",
			"Initial Snapshot TABLE_SCAN_COMPLETED db.dbo.b 0 db.dbo.a,db.dbo.b",
			`r dbo.a {"id":2}`,
			"Initial Snapshot COMPLETED",
		}, allTold(t, got))
		assert.Equal(t, 6, strings.Count(p.logs.String(), "Notification: "))
		for i, m := range got[1:] {
			assert.LessOrEqual(t, got[i].Position, m.Position)
		}
		p.quiet()
		p.stop()

		change(t, server, "INSERT dbo.a VALUES (3)")
		p = startPipeline(t, server, s)
		assert.Equal(t, []string{"Initial Snapshot SKIPPED", `c dbo.a {"id":3}`}, allTold(t, p.next(2)))

		change(t, server, "ALTER TABLE dbo.a ADD n int NULL\nGO\nUSE db\nEXEC sys.sp_cdc_enable_table N'dbo', N'a', @role_name = NULL, @capture_instance = N'second'")
		change(t, server, "INSERT dbo.a VALUES (4, 4)")
		assert.Equal(t, []string{`c dbo.a {"id":4,"n":4}`, "Capture Instance COMPLETED dbo_a"}, allTold(t, p.next(2)))
		p.quiet()
	})
}

// The statement of heartbeats runs with each of them; its errors cost nothing
// but a warning.
func TestHeartbeatAction(t *testing.T) {
	script := "CREATE TABLE dbo.t (id int PRIMARY KEY)\nCREATE TABLE dbo.beats (id int IDENTITY PRIMARY KEY, n int)\n" + enable("dbo", "t") + enable("dbo", "beats")
	for name, test := range map[string]struct {
		fields string
		runs   bool
		warns  int
	}{
		"runs":  {"heartbeat_action_query: INSERT dbo.beats VALUES (7)", true, 0},
		"fails": {"heartbeat_action_query: INSERT dbo.none VALUES (7)", false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, script)
				p := startPipeline(t, server, settings{fields: "heartbeat_interval: 10s\n" + test.fields})
				<-time.After(5 * time.Minute)
				change(t, server, "INSERT dbo.t VALUES (1)")
				<-time.After(time.Minute)
				beats, rows := 0, 0
				for _, m := range p.rest() {
					switch m.Table {
					case "beats":
						beats++
					case "t":
						rows++
					}
				}
				assert.Equal(t, 1, rows)
				if test.runs {
					assert.InDelta(t, 36, beats, 4)
				} else {
					assert.Zero(t, beats)
				}
				assert.Equal(t, test.warns, strings.Count(p.logs.String(), "The statement of heartbeat_action_query fails"))
			})
		})
	}
}
