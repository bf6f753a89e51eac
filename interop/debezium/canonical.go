package debezium

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Canonical is a record of which only that is left which two connectors must
// agree on, as trees. Where key or value came with a schema, the two are apart.
type Canonical struct {
	Topic   string
	Kind    Kind
	tree    *node
	op      string
	payload *node
}

// canonical takes from a record what differs between two runs of one connector:
// the clock of the connector itself, and identifiers that it draws.
func canonical(r Record) (Canonical, error) {
	kind, p, err := r.Decode()
	if err != nil {
		return Canonical{}, err
	}
	key, err := parts(r.Key)
	if err != nil {
		return Canonical{}, fmt.Errorf("key of topic %q: %w", r.Topic, err)
	}
	value, err := parts(r.Value)
	if err != nil {
		return Canonical{}, fmt.Errorf("value of topic %q: %w", r.Topic, err)
	}
	headers := &node{members: []member{}}
	for _, h := range r.Headers {
		text, err := parseNode(h.Value)
		if err != nil {
			return Canonical{}, fmt.Errorf("header %q of topic %q: %w", h.Key, r.Topic, err)
		}
		if drawn[h.Key] {
			text = hidden
		}
		headers.members = append(headers.members, member{name: h.Key, value: text})
	}
	// Metadata of Benthos has no order.
	slices.SortStableFunc(headers.members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	payload := value.get("payload")
	hideClock(kind, payload)
	sortCollections(payload.get("data_collections"))
	if facts := payload.get("additional_data"); facts != nil && kind == KindNotification {
		// In the order of a Java map.
		slices.SortFunc(facts.members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	}
	return Canonical{Topic: r.Topic, Kind: kind, op: p.Op, payload: payload, tree: &node{members: []member{
		{name: "topic", value: &node{text: quoted(r.Topic)}},
		{name: "key", value: key},
		{name: "value", value: value},
		{name: "headers", value: headers},
	}}}, nil
}

// hidden stands for what is not compared.
var hidden = &node{text: `"*"`}

// drawn are the headers that differ from run to run.
var drawn = map[string]bool{"__debezium.context.runId": true, "__debezium.context.taskId": true}

// hideClock takes the times of the connector's own clock from a payload.
func hideClock(kind Kind, payload *node) {
	hide := func(n *node, names ...string) {
		for _, name := range names {
			if n != nil {
				n.set(name, hidden)
			}
		}
	}
	switch kind {
	case KindChange:
		hide(payload, "ts_ms", "ts_us", "ts_ns")
		if snapshot := payload.at("source", "snapshot"); snapshot != nil && snapshot.text == `"incremental"` {
			hide(payload.get("source"), "ts_ms", "ts_us", "ts_ns")
		}
	case KindSchemaChange:
		hide(payload, "ts_ms")
		hide(payload.get("source"), "ts_ms", "ts_us", "ts_ns")
	case KindHeartbeat:
		hide(payload, "ts_ms")
	case KindNotification:
		hide(payload, "id", "timestamp")
	}
}

// sortCollections orders the counts of a transaction, which come in the order
// of a Java hash map.
func sortCollections(counts *node) {
	if counts != nil {
		slices.SortFunc(counts.items, func(a, b *node) int { return strings.Compare(a.String(), b.String()) })
	}
}

// parts returns a key or value as an object of its schema, if it has one, and
// its payload.
func parts(text []byte) (*node, error) {
	if isNull(text) {
		return &node{text: "null"}, nil
	}
	n, err := parseNode(text)
	if err != nil {
		return nil, err
	}
	if len(n.members) == 2 && n.get("schema") != nil && n.get("payload") != nil {
		return n, nil
	}
	return &node{members: []member{{name: "payload", value: n}}}, nil
}

func quoted(text string) string { return string(appendName(nil, text)) }

// outline is the operation, else the kind, and the topic; of a schema change
// also what happened to which table, of a transaction's records also which of
// the two it is, and of which transaction.
func (c Canonical) outline() string {
	if c.op != "" {
		return c.op + " " + c.Topic
	}
	text := string(c.Kind) + " " + c.Topic
	if c.Kind == KindTransaction {
		return text + " " + unquoted(c.payload.get("status")) + " " + unquoted(c.payload.get("id"))
	}
	if changes := c.payload.get("tableChanges"); c.Kind == KindSchemaChange && changes != nil {
		for _, change := range changes.items {
			text += " " + unquoted(change.get("type")) + " " + unquoted(change.get("id"))
		}
	}
	return text
}

// unquoted is the text of a JSON string.
func unquoted(n *node) string {
	var text string
	if n == nil || json.Unmarshal([]byte(n.text), &text) != nil {
		return absent
	}
	return text
}
