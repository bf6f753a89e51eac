package messages

import (
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/signal"
)

// Metadata keys of extended_headers_enabled, under the names of Debezium's
// headers.
const (
	MetaLogicalName   = "__debezium.context.connectorLogicalName"
	MetaTaskID        = "__debezium.context.taskId"
	MetaConnectorName = "__debezium.context.connectorName"
	MetaRunID         = "__debezium.context.runId"
)

// Context is the metadata that says which run of which input made a
// message: the same in all of them.
type Context struct {
	logicalName, runID any
}

// NewContext returns that of an input that is just being made.
func NewContext(topicPrefix string) *Context {
	return &Context{logicalName: topicPrefix, runID: signal.NewID()}
}

// set adds the headers to a message of a kind that Debezium gives them.
func (h *Context) set(msg *service.Message, kind event.Kind) {
	switch kind {
	case event.KindChange, event.KindTombstone, event.KindSchemaChange:
		msg.MetaSetMut(MetaLogicalName, h.logicalName)
		// An input is always the first and only task.
		msg.MetaSetMut(MetaTaskID, "0")
		msg.MetaSetMut(MetaConnectorName, event.Connector)
		msg.MetaSetMut(MetaRunID, h.runID)
	}
}
