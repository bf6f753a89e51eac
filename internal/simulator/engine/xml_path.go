package engine

import (
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

// xmlNode is an element or, without a name, a text or attribute of an xml value.
type xmlNode struct {
	name     string
	text     string
	attrs    []xml.Attr
	children []*xmlNode
}

// parseXML reads a document or fragment into a nameless root.
func parseXML(text string) (*xmlNode, error) {
	root := &xmlNode{}
	open := []*xmlNode{root}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return root, nil
		}
		if err != nil {
			return nil, raise(9400, "XML parsing: %s", err.Error())
		}
		top := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			n := &xmlNode{name: t.Name.Local, attrs: t.Copy().Attr}
			top.children = append(top.children, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			top.children = append(top.children, &xmlNode{text: string(t)})
		}
	}
}

// content is the string value of a node: all text in it.
func (n *xmlNode) content() string {
	if len(n.children) == 0 {
		return n.text
	}
	var b strings.Builder
	for _, c := range n.children {
		b.WriteString(c.content())
	}
	return b.String()
}

// nodePath is a simple XQuery path: steps down by name, *, text() or @name, each
// with an optional position, and one position for the whole.
type nodePath struct {
	steps []nodeStep
	// at is the position in (path)[at], 0 for none.
	at int
}

type nodeStep struct {
	name string
	// at is the position among the siblings of that name, 0 for all.
	at int
}

// parseNodePath reads a simple path; false for everything else that XQuery has.
func parseNodePath(text string) (nodePath, bool) {
	var p nodePath
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "("); ok {
		end := strings.LastIndexByte(inner, ')')
		if end < 0 {
			return p, false
		}
		if rest := strings.TrimSpace(inner[end+1:]); rest != "" {
			name, at, ok := cutPosition(rest)
			if !ok || name != "" {
				return p, false
			}
			p.at = at
		}
		text = strings.TrimSpace(inner[:end])
	}
	if strings.Contains(text, "//") {
		return p, false
	}
	for i, part := range strings.Split(text, "/") {
		if part = strings.TrimSpace(part); part == "." || part == "" && i == 0 {
			continue
		}
		name, at, ok := cutPosition(part)
		if !ok || !isStep(name) {
			return p, false
		}
		p.steps = append(p.steps, nodeStep{name, at})
	}
	return p, true
}

// cutPosition splits name[3] into its parts.
func cutPosition(text string) (name string, at int, ok bool) {
	name, rest, indexed := strings.Cut(text, "[")
	if !indexed {
		return strings.TrimSpace(name), 0, true
	}
	digits, closed := strings.CutSuffix(rest, "]")
	at, err := strconv.Atoi(strings.TrimSpace(digits))
	return strings.TrimSpace(name), at, closed && err == nil && at > 0
}

func isStep(name string) bool {
	if name == "*" || name == "text()" {
		return true
	}
	name = strings.TrimPrefix(name, "@")
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return strings.ContainsRune("()[]{}'\"=<>|:@$*,. \t\r\n", r)
	})
}

// single reports whether the path gives at most one node, whatever the value is.
func (p nodePath) single() bool {
	if p.at > 0 {
		return true
	}
	for _, s := range p.steps {
		if s.at == 0 && !strings.HasPrefix(s.name, "@") {
			return false
		}
	}
	return true
}

// find gives the nodes that the path leads to, in the order of the document.
func (p nodePath) find(root *xmlNode) []*xmlNode {
	nodes := []*xmlNode{root}
	for _, s := range p.steps {
		var next []*xmlNode
		for _, n := range nodes {
			found := n.step(s.name)
			if s.at > 0 {
				found = found[min(s.at-1, len(found)):min(s.at, len(found))]
			}
			next = append(next, found...)
		}
		nodes = next
	}
	if p.at > 0 {
		nodes = nodes[min(p.at-1, len(nodes)):min(p.at, len(nodes))]
	}
	return nodes
}

func (n *xmlNode) step(name string) []*xmlNode {
	var out []*xmlNode
	if attribute, ok := strings.CutPrefix(name, "@"); ok {
		for _, a := range n.attrs {
			if a.Name.Local == attribute && a.Name.Space == "" {
				out = append(out, &xmlNode{text: a.Value})
			}
		}
		return out
	}
	for _, c := range n.children {
		if c.name == name || name == "*" && c.name != "" || name == "text()" && c.name == "" {
			out = append(out, c)
		}
	}
	return out
}
