package debezium

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// WriteGolden writes records as JSON lines. A schema has a line of its own
// before the first record that has it, which the records refer to by number:
// schemas are many times larger than rows.
func WriteGolden(w io.Writer, records []Canonical) error {
	numbers := map[string]string{}
	var lines bytes.Buffer
	number := func(schema *node) *node {
		text := schema.String()
		if _, known := numbers[text]; !known {
			numbers[text] = strconv.Itoa(len(numbers) + 1)
			fmt.Fprintf(&lines, `{"schema":%s,"is":%s}`+"\n", numbers[text], text)
		}
		return &node{text: numbers[text]}
	}
	for _, r := range records {
		line := &node{members: []member{{name: "kind", value: &node{text: quoted(string(r.Kind))}}}}
		for _, m := range r.tree.members {
			if schema := m.value.get("schema"); schema != nil && m.name != "headers" {
				m.value = &node{members: []member{{name: "schema", value: number(schema)}, {name: "payload", value: m.value.get("payload")}}}
			}
			line.members = append(line.members, m)
		}
		lines.Write(append(line.append(nil), '\n'))
	}
	_, err := w.Write(lines.Bytes())
	return err
}

// ReadGolden reads what WriteGolden has written.
func ReadGolden(r io.Reader) ([]Canonical, error) {
	schemas := map[string]*node{}
	var records []Canonical
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for number := 1; lines.Scan(); number++ {
		line, err := parseNode(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if is := line.get("is"); is != nil {
			schemas[line.get("schema").String()] = is
			continue
		}
		record, err := readRecord(line, schemas)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		records = append(records, record)
	}
	return records, lines.Err()
}

func readRecord(line *node, schemas map[string]*node) (Canonical, error) {
	topic, kind := line.get("topic"), line.get("kind")
	if topic == nil || kind == nil {
		return Canonical{}, fmt.Errorf("want a topic and a kind, got %s", line)
	}
	record := Canonical{tree: &node{members: line.members[1:]}}
	var err error
	if record.Topic, err = strconv.Unquote(topic.text); err != nil {
		return Canonical{}, fmt.Errorf("topic %s: %w", topic, err)
	}
	name, err := strconv.Unquote(kind.text)
	if err != nil {
		return Canonical{}, fmt.Errorf("kind %s: %w", kind, err)
	}
	record.Kind = Kind(name)
	for _, part := range []string{"key", "value"} {
		n := line.get(part)
		if schema := n.get("schema"); schema != nil {
			known, ok := schemas[schema.text]
			if !ok {
				return Canonical{}, fmt.Errorf("unknown schema %s", schema)
			}
			n.set("schema", known)
		}
	}
	record.payload = line.at("value", "payload")
	if op := record.payload.get("op"); op != nil && record.Kind == KindChange {
		record.op = op.text[1 : len(op.text)-1]
	}
	return record, nil
}
