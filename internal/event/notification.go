package event

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Notification tells of something that happened to the input, not to a row.
type Notification struct {
	// ID is that of what is told of: of each notification alone, or of the
	// signal that it follows from.
	ID string
	// Aggregate names what it is about, Type what happened.
	Aggregate, Type string
	// Facts are whatever else there is to say.
	Facts map[string]string
}

// Notifications writes notifications. It is not safe for concurrent use.
type Notifications struct{ control control }

// NewNotifications returns an encoder for a topic. Debezium does not adjust the
// names of its schemas.
// Source: debezium SinkNotificationChannel.
func NewNotifications(topic string, opts Options) (*Notifications, error) {
	str := schema.ConnectSchema{Type: "string"}
	key := schema.ConnectSchema{
		Type: "struct", Name: "io.debezium.connector.common.NotificationKey", Version: 1,
		Fields: []schema.ConnectField{{Name: "id", Schema: str}},
	}
	value := schema.ConnectSchema{
		Type: "struct", Name: "io.debezium.connector.common.Notification", Version: 1,
		Fields: []schema.ConnectField{
			{Name: "id", Schema: str},
			{Name: "type", Schema: str},
			{Name: "aggregate_type", Schema: str},
			{Name: "additional_data", Schema: schema.ConnectSchema{Type: "map", Keys: &str, Values: &str, Optional: true}},
			{Name: "timestamp", Schema: schema.ConnectSchema{Type: "int64"}},
		},
	}
	opts.SchemaNames = ""
	c, err := newControl(KindNotification, topic, key, value, opts)
	if err != nil {
		return nil, err
	}
	return &Notifications{c}, nil
}

// Append appends a notification of a database. Its position is that of the
// event before it, which it repeats.
func (n *Notifications) Append(dst *Batch, database string, what Notification, at lsn.Position, now time.Time) error {
	key := append(schema.AppendString([]byte(`{"id":`), what.ID), '}')
	value := what.AppendJSON(nil, now)
	return n.control.append(dst, Message{Database: database, Position: at, SourceTime: now}, key, value)
}

// AppendJSON appends a notification as it is written into messages and logs.
func (n Notification) AppendJSON(dst []byte, now time.Time) []byte {
	dst = schema.AppendString(append(dst, `{"id":`...), n.ID)
	dst = schema.AppendString(append(dst, `,"type":`...), n.Type)
	dst = schema.AppendString(append(dst, `,"aggregate_type":`...), n.Aggregate)
	dst = append(dst, `,"additional_data":{`...)
	for i, name := range slices.Sorted(maps.Keys(n.Facts)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = schema.AppendString(append(schema.AppendString(dst, name), ':'), n.Facts[name])
	}
	dst = append(dst, `},"timestamp":`...)
	return append(strconv.AppendInt(dst, now.UnixMilli(), 10), '}')
}
