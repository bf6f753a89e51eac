package input

import (
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/signal"
)

// Metadata keys of extended_headers_enabled, under the names of Debezium's
// headers.
const (
	metaLogicalName   = "__debezium.context.connectorLogicalName"
	metaTaskID        = "__debezium.context.taskId"
	metaConnectorName = "__debezium.context.connectorName"
	metaRunID         = "__debezium.context.runId"
)

// contextHeaders are the metadata that say which run of which input made a
// message: the same in all of them.
type contextHeaders struct {
	logicalName, runID any
}

// newContextHeaders returns those of an input that is just being made.
func newContextHeaders(topicPrefix string) *contextHeaders {
	return &contextHeaders{logicalName: topicPrefix, runID: signal.NewID()}
}

// set adds the headers to a message of a kind that Debezium gives them.
func (h *contextHeaders) set(msg *service.Message, kind event.Kind) {
	switch kind {
	case event.KindChange, event.KindTombstone, event.KindSchemaChange:
		msg.MetaSetMut(metaLogicalName, h.logicalName)
		// An input is always the first and only task.
		msg.MetaSetMut(metaTaskID, "0")
		msg.MetaSetMut(metaConnectorName, event.Connector)
		msg.MetaSetMut(metaRunID, h.runID)
	}
}
