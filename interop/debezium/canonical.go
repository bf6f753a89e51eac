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
	if kind == KindNotification {
		hideDrawnID(key.get("payload"), payload)
		sortFacts(payload)
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
		hide(payload, "timestamp")
	}
}

// hideDrawnID takes the id from a notification's key and value, where both are
// the same and it is drawn for it alone; that of a signal stays.
func hideDrawnID(key, value *node) {
	id := value.get("id")
	if id != nil && uuids.MatchString(id.text) && id.String() == key.get("id").String() {
		key.set("id", hidden)
		value.set("id", hidden)
	}
}

// sortFacts orders a notification's data, which come in the order of a Java map,
// and where it tells of a table that is being read the list of all tables, which
// comes in the order of a Java set.
func sortFacts(payload *node) {
	facts := payload.get("additional_data")
	if facts == nil {
		return
	}
	slices.SortFunc(facts.members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	if tables := facts.get("data_collections"); tables != nil && unquoted(payload.get("type")) == "IN_PROGRESS" {
		names := strings.Split(unquoted(tables), ",")
		slices.Sort(names)
		facts.set("data_collections", &node{text: quoted(strings.Join(names, ","))})
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
// the two it is, and of which transaction, of a notification also what it tells.
func (c Canonical) outline() string {
	if c.op != "" {
		return c.op + " " + c.Topic
	}
	text := string(c.Kind) + " " + c.Topic
	switch c.Kind {
	case KindTransaction:
		return text + " " + unquoted(c.payload.get("status")) + " " + unquoted(c.payload.get("id"))
	case KindNotification:
		return text + " " + unquoted(c.payload.get("aggregate_type")) + " " + unquoted(c.payload.get("type"))
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
