package event

import (
	"cmp"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// maxTopic is Kafka's limit on the length of a topic's name.
const maxTopic = 249

// The parts of topics' names that are Debezium's unless set.
const (
	DefaultHeartbeatPrefix = "__debezium-heartbeat"
	DefaultTransaction     = "transaction"
)

// Naming makes the names of topics.
type Naming struct {
	// Prefix is topic_prefix, the connector's logical name.
	Prefix string
	// Delimiter stands between the parts; empty is a dot.
	Delimiter string
	// WithoutDatabase leaves the database out of the topics of tables, as
	// Debezium 1.x did.
	WithoutDatabase bool
	// Transaction is the last part of the topic of transactions; empty is
	// DefaultTransaction.
	Transaction string
	// HeartbeatPrefix is the first part of the topic of heartbeats; empty is
	// DefaultHeartbeatPrefix. Heartbeat, if set, is the whole name instead.
	HeartbeatPrefix, Heartbeat string
}

// Table returns the topic of a table. The names of the schemas in its messages
// start with it.
func (n Naming) Table(id schema.TableID) string {
	if n.WithoutDatabase {
		return n.join(n.Prefix, id.Schema, id.Name)
	}
	return n.join(n.Prefix, id.Database, id.Schema, id.Name)
}

// SchemaChanges returns the topic of schema changes.
func (n Naming) SchemaChanges() string { return n.join(n.Prefix) }

// Transactions returns the topic of transactions.
func (n Naming) Transactions() string {
	return n.join(n.Prefix, cmp.Or(n.Transaction, DefaultTransaction))
}

// Heartbeats returns the topic of heartbeats.
func (n Naming) Heartbeats() string {
	if n.Heartbeat != "" {
		return n.join(n.Heartbeat)
	}
	return n.join(cmp.Or(n.HeartbeatPrefix, DefaultHeartbeatPrefix), n.Prefix)
}

func (n Naming) join(parts ...string) string {
	return sanitiseTopic(strings.Join(parts, cmp.Or(n.Delimiter, ".")))
}

// sanitiseTopic replaces what Kafka forbids in topic names by underscores, one
// for each UTF-16 unit as Debezium does, and cuts the rest off.
func sanitiseTopic(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			b.WriteRune(r)
		case r > 0xffff:
			b.WriteString("__")
		default:
			b.WriteByte('_')
		}
	}
	topic := b.String()
	return topic[:min(len(topic), maxTopic)]
}
