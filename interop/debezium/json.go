package debezium

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// node is a JSON value that keeps its text: the order of members, and scalars
// as they were written.
type node struct {
	// members of an object; items of an array; else text. An object or an array
	// is told by a list that is not nil.
	members []member
	items   []*node
	text    string
}

type member struct {
	name  string
	value *node
}

// parseNode reads one JSON value.
func parseNode(text []byte) (*node, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	n, err := decodeNode(decoder)
	if err != nil {
		return nil, fmt.Errorf("reading JSON: %w", err)
	}
	if decoder.More() {
		return nil, errors.New("reading JSON: more than one value")
	}
	return n, nil
}

func decodeNode(decoder *json.Decoder) (*node, error) {
	var raw json.RawMessage
	if err := decoder.Decode(&raw); err != nil {
		return nil, err
	}
	if raw[0] != '{' && raw[0] != '[' {
		return &node{text: string(raw)}, nil
	}
	inner := json.NewDecoder(bytes.NewReader(raw))
	if _, err := inner.Token(); err != nil {
		return nil, err
	}
	if raw[0] == '[' {
		n := &node{items: []*node{}}
		for inner.More() {
			item, err := decodeNode(inner)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		return n, nil
	}
	n := &node{members: []member{}}
	for inner.More() {
		name, err := inner.Token()
		if err != nil {
			return nil, err
		}
		value, err := decodeNode(inner)
		if err != nil {
			return nil, err
		}
		n.members = append(n.members, member{name: name.(string), value: value})
	}
	return n, nil
}

// append appends the value without blanks.
func (n *node) append(dst []byte) []byte {
	switch {
	case n.members != nil:
		dst = append(dst, '{')
		for i, m := range n.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendName(dst, m.name), ':')
			dst = m.value.append(dst)
		}
		return append(dst, '}')
	case n.items != nil:
		dst = append(dst, '[')
		for i, item := range n.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.append(dst)
		}
		return append(dst, ']')
	}
	return append(dst, n.text...)
}

func appendName(dst []byte, name string) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(name); err != nil {
		panic(err) // a string always has a text
	}
	return append(dst, bytes.TrimSuffix(text.Bytes(), []byte("\n"))...)
}

// String is the value's text.
func (n *node) String() string { return string(n.append(nil)) }

// get is the value of a member, nil if there is none.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	if i := slices.IndexFunc(n.members, func(m member) bool { return m.name == name }); i >= 0 {
		return n.members[i].value
	}
	return nil
}

// at is the value behind names, nil if there is none.
func (n *node) at(names ...string) *node {
	for _, name := range names {
		n = n.get(name)
	}
	return n
}

// set replaces the value of a member that is there.
func (n *node) set(name string, value *node) {
	for i := range n.members {
		if n.members[i].name == name {
			n.members[i].value = value
		}
	}
}
