package messages

import (
	"regexp"
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
)

func TestContext(t *testing.T) {
	headers := NewContext("server1")
	for _, kind := range []event.Kind{event.KindChange, event.KindTombstone, event.KindSchemaChange} {
		msg := service.NewMessage(nil)
		headers.set(msg, kind)
		got := metadata(t, msg)
		require.Len(t, got, 4, kind)
		assert.Equal(t, "server1", got["__debezium.context.connectorLogicalName"])
		assert.Equal(t, "0", got["__debezium.context.taskId"])
		assert.Equal(t, "sqlserver", got["__debezium.context.connectorName"])
		assert.Regexp(t, regexp.MustCompile("^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"), got["__debezium.context.runId"])
	}
	for _, kind := range []event.Kind{event.KindHeartbeat, event.KindTransaction, event.KindNotification} {
		msg := service.NewMessage(nil)
		headers.set(msg, kind)
		assert.Empty(t, metadata(t, msg), kind)
	}
	assert.NotEqual(t, headers.runID, NewContext("server1").runID)
}
