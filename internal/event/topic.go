package event

import "strings"

// maxTopic is Kafka's limit on the length of a topic's name.
const maxTopic = 249

// DataTopic returns the topic of a table: the parts joined by dots and
// sanitised. The names of the schemas in its messages start with it.
func DataTopic(prefix, database, schemaName, table string) string {
	return sanitiseTopic(strings.Join([]string{prefix, database, schemaName, table}, "."))
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
