package debezium

import (
	"fmt"
	"strconv"
)

// Difference is a place where two records differ: the text of the value in
// Debezium's record and in ours.
type Difference struct {
	// Path leads there, with a slash between the parts: topic, key/payload/id,
	// value/payload/source/version, headers/__debezium.newkey. A field of a
	// schema goes by its name: value/schema/fields/after/fields/id/optional.
	Path           string
	Debezium, Ours string
}

// absent stands for a value that one of the records does not have.
const absent = "absent"

// String is the difference in one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s: Debezium %s, ours %s", d.Path, d.Debezium, d.Ours)
}

// Compare returns all differences of two records, in order.
func Compare(debezium, ours Canonical) []Difference {
	var c comparison
	c.nodes("", debezium.tree, ours.tree)
	return c.found
}

type comparison struct{ found []Difference }

func (c *comparison) report(path, debezium, ours string) {
	c.found = append(c.found, Difference{Path: path, Debezium: debezium, Ours: ours})
}

func (c *comparison) nodes(path string, debezium, ours *node) {
	a, aParts := named(debezium)
	b, bParts := named(ours)
	if !aParts || !bParts || (debezium.items == nil) != (ours.items == nil) {
		if x, y := debezium.String(), ours.String(); x != y {
			c.report(path, x, y)
		}
		return
	}
	c.members(path, a, b)
}

// members compares parts by their names, and the order of those that both have.
func (c *comparison) members(path string, debezium, ours []member) {
	inOurs := map[string]int{}
	for i, m := range ours {
		inOurs[m.name] = i
	}
	last, ordered := -1, true
	for _, m := range debezium {
		i, both := inOurs[m.name]
		if !both {
			c.report(below(path, m.name), m.value.String(), absent)
			continue
		}
		delete(inOurs, m.name)
		ordered = ordered && i > last
		last = max(last, i)
		c.nodes(below(path, m.name), m.value, ours[i].value)
	}
	for _, m := range ours {
		if _, more := inOurs[m.name]; more {
			c.report(below(path, m.name), absent, m.value.String())
		}
	}
	if !ordered {
		c.report(below(path, "order"), names(debezium), names(ours))
	}
}

// named returns the parts of an object, or of an array by their names or
// numbers.
func named(n *node) (parts []member, ok bool) {
	switch {
	case n.items != nil:
		return itemsBy("name", n.items), true
	case n.members == nil:
		return nil, false
	}
	for _, m := range n.members {
		if m.name == "fields" && m.value.items != nil {
			m.value = &node{members: itemsBy("field", m.value.items)}
		}
		parts = append(parts, m)
	}
	return parts, true
}

// itemsBy are the items of an array, each under the text of a member of its, or
// else its number.
func itemsBy(name string, items []*node) []member {
	parts := []member{}
	for i, item := range items {
		part := strconv.Itoa(i)
		if n := item.get(name); n != nil {
			if unquoted, err := strconv.Unquote(n.text); err == nil {
				part = unquoted
			}
		}
		parts = append(parts, member{name: part, value: item})
	}
	return parts
}

func names(parts []member) string {
	text := ""
	for _, m := range parts {
		text += " " + m.name
	}
	return text
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}
