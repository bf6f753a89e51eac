package event

import (
	"strconv"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Heartbeats writes heartbeat messages. It is not safe for concurrent use.
type Heartbeats struct {
	control control
	key     []byte
}

// NewHeartbeats returns an encoder for the topic of heartbeats.
func NewHeartbeats(opts Options) (*Heartbeats, error) {
	key := schema.ConnectSchema{
		Type: "struct", Name: "io.debezium.connector.common.ServerNameKey", Version: 1,
		Fields: []schema.ConnectField{{Name: "serverName", Schema: schema.ConnectSchema{Type: "string"}}},
	}
	value := schema.ConnectSchema{
		Type: "struct", Name: "io.debezium.connector.common.Heartbeat", Version: 1,
		Fields: []schema.ConnectField{{Name: "ts_ms", Schema: schema.ConnectSchema{Type: "int64"}}},
	}
	c, err := newControl(KindHeartbeat, opts.Topics.Heartbeats(), key, value, opts)
	if err != nil {
		return nil, err
	}
	name := schema.AppendString([]byte(`{"serverName":`), opts.Topics.Prefix)
	return &Heartbeats{control: c, key: append(name, '}')}, nil
}

// Append appends a heartbeat of a database. Its position is the last one
// streamed, which it repeats.
func (h *Heartbeats) Append(dst *Batch, database string, at lsn.Position, now time.Time) error {
	value := strconv.AppendInt([]byte(`{"ts_ms":`), now.UnixMilli(), 10)
	return h.control.append(dst, Message{Database: database, Position: at, SourceTime: now}, h.key, append(value, '}'))
}
