package engine

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

const xsiNamespace = ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"`

// xmlWriter formats rows as FOR XML PATH, RAW or AUTO.
type xmlWriter struct {
	plan  *forPlan
	row   string // the row's element, "" for none
	root  string // "" for none
	typed bool
	// elements makes child elements of the columns, xsinil keeps NULL as xsi:nil.
	elements, xsinil bool
	paths            []xmlPath
}

// xmlPath says where a column goes below the row's element.
type xmlPath struct {
	steps []string
	attr  string
	// kind is "" for an element or attribute, else the node test: "text()",
	// "data()" or "*".
	kind string
}

func newXMLWriter(f *tsql.ForClause, p *forPlan) (*xmlWriter, error) {
	w := &xmlWriter{plan: p, row: "row", elements: f.Mode == "PATH"}
	switch f.Mode {
	case "EXPLICIT":
		return nil, unsupported("FOR XML EXPLICIT")
	case "AUTO":
		w.row = xmlName(p.element)
	}
	if f.HasElement {
		w.row = f.Element
	}
	for _, o := range f.Options {
		switch o.Name {
		case "TYPE":
			w.typed = true
		case "ROOT":
			w.root = "root"
			if o.HasValue {
				w.root = o.Value
			}
		case "ELEMENTS", "ELEMENTS ABSENT":
			w.elements = true
		case "ELEMENTS XSINIL":
			w.elements, w.xsinil = true, true
		case "BINARY BASE64":
		default:
			return nil, unsupported("FOR XML " + o.Name)
		}
	}
	if w.row == "" && f.Mode == "RAW" && !w.elements {
		return nil, raise(6864, "Row tag omission (empty row tag name) cannot be used with attribute-centric FOR XML serialization.")
	}
	return w, w.findPaths()
}

// findPaths reads the column names (MS docs: Columns with a name, Column names
// with the path specified as ..).
func (w *xmlWriter) findPaths() error {
	afterElement := map[string]bool{}
	for _, c := range w.plan.columns {
		var p xmlPath
		switch {
		case w.plan.mode != "PATH" && c.unnamed:
			return raise(6809, "Unnamed tables cannot be used as XML identifiers as well as unnamed columns cannot be used for attribute names. Name unnamed columns/tables using AS in the SELECT statement.")
		case w.plan.mode != "PATH" && w.elements:
			p.steps = []string{xmlName(c.name)}
		case w.plan.mode != "PATH":
			p.attr = xmlName(c.name)
		case c.unnamed:
			p.kind = "*"
		default:
			var err error
			if p, err = xmlColumnPath(c.name); err != nil {
				return err
			}
		}
		at := strings.Join(p.steps, "/")
		if p.attr != "" && afterElement[at] {
			return raise(6852, "Attribute-centric column '%s' must not come after a non-attribute-centric sibling in XML hierarchy in FOR XML PATH.", c.name)
		}
		if p.attr != "" && w.row == "" && at == "" {
			return raise(6864, "Row tag omission (empty row tag name) cannot be used with attribute-centric FOR XML serialization.")
		}
		if p.attr == "" {
			n := len(p.steps)
			if p.kind == "" {
				n--
			}
			for k := 0; k <= n; k++ {
				afterElement[strings.Join(p.steps[:k], "/")] = true
			}
		}
		w.paths = append(w.paths, p)
	}
	return nil
}

func xmlColumnPath(name string) (xmlPath, error) {
	var p xmlPath
	for _, step := range strings.Split(name, "/") {
		switch {
		case p.attr != "" || p.kind != "":
			return p, raise(6850, "Column name '%s' contains an invalid XML identifier as required by FOR XML; '/'(0x002F) is the first character at fault.", name)
		case step == "*" || step == "node()":
			p.kind = "*"
		case step == "text()", step == "data()":
			p.kind = step
		case step == "comment()", strings.HasPrefix(step, "processing-instruction("):
			return p, unsupported("FOR XML PATH with " + step)
		default:
			attr := strings.HasPrefix(step, "@")
			step = strings.TrimPrefix(step, "@")
			if bad := badNameRune(step); bad >= 0 {
				return p, raise(6850, "Column name '%s' contains an invalid XML identifier as required by FOR XML; '%c'(0x%04X) is the first character at fault.", name, bad, bad)
			}
			if attr {
				p.attr = step
			} else {
				p.steps = append(p.steps, step)
			}
		}
	}
	return p, nil
}

// badNameRune is the first character that no XML name may have there, -1 when
// there is none.
func badNameRune(name string) rune {
	for i, r := range name {
		if !nameRune(r, i == 0) && r != ':' {
			return r
		}
	}
	return -1
}

func nameRune(r rune, first bool) bool {
	return r == '_' || unicode.IsLetter(r) || !first && (unicode.IsDigit(r) || r == '-' || r == '.')
}

// xmlName encodes a name for RAW and AUTO: what XML forbids becomes _xHHHH_.
func xmlName(name string) string {
	var b strings.Builder
	for i, r := range name {
		if nameRune(r, i == 0) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "_x%04X_", r)
		}
	}
	return b.String()
}

func (w *xmlWriter) write(x *Exec, q *queryPlan, outer *frame) (string, bool, error) {
	var out strings.Builder
	err := q.run(x, outer, func(row []value) error { return w.writeRow(&out, row) })
	if err != nil {
		return "", false, err
	}
	if w.root == "" {
		return out.String(), out.Len() > 0, nil
	}
	ns := ""
	if w.xsinil {
		ns = xsiNamespace
	}
	if out.Len() == 0 {
		return "<" + w.root + ns + "/>", true, nil
	}
	return "<" + w.root + ns + ">" + out.String() + "</" + w.root + ">", true, nil
}

// writeRow writes one row. Elements stay open while the following columns lie
// below them, and are closed when they do not.
func (w *xmlWriter) writeRow(out *strings.Builder, row []value) error {
	e := xmlElements{out: out}
	ns := ""
	if w.xsinil && w.root == "" {
		ns = xsiNamespace
	}
	if w.row != "" {
		e.open(w.row, ns)
	}
	base := len(e.stack)
	lastData := false
	for i, v := range row {
		p := w.paths[i]
		if v.IsNull() && (!w.xsinil || p.attr != "" || p.kind != "") {
			continue
		}
		parents := p.steps
		if p.attr == "" && p.kind == "" {
			parents = p.steps[:len(p.steps)-1]
		}
		e.moveTo(base, parents)
		typ := w.plan.columns[i].typ
		if v.IsNull() {
			e.open(p.steps[len(p.steps)-1], ` xsi:nil="true"`)
			e.close()
			continue
		}
		text, err := forText(v, typ)
		if err != nil {
			return err
		}
		switch {
		case p.attr != "":
			e.attribute(p.attr, text)
		case p.kind == "" && typ.ID == sqltypes.XML:
			e.open(p.steps[len(p.steps)-1], "")
			e.raw(text)
			e.close()
		case p.kind == "":
			e.open(p.steps[len(p.steps)-1], "")
			e.raw(escapeXML(text, false))
			e.close()
		case typ.ID == sqltypes.XML:
			e.raw(text)
		default:
			if p.kind == "data()" && lastData {
				e.raw(" ")
			}
			e.raw(escapeXML(text, false))
		}
		lastData = p.kind == "data()"
	}
	for len(e.stack) > 0 {
		e.close()
	}
	return nil
}

// xmlElements writes nested elements; a start tag stays unfinished for its
// attributes until something follows.
type xmlElements struct {
	out    *strings.Builder
	stack  []string
	inside bool // the innermost start tag lacks its end
}

func (e *xmlElements) finishTag() {
	if e.inside {
		e.out.WriteByte('>')
		e.inside = false
	}
}

func (e *xmlElements) open(name, attributes string) {
	e.finishTag()
	e.out.WriteString("<" + name + attributes)
	e.stack = append(e.stack, name)
	e.inside = true
}

func (e *xmlElements) close() {
	name := e.stack[len(e.stack)-1]
	e.stack = e.stack[:len(e.stack)-1]
	if e.inside {
		e.out.WriteString("/>")
		e.inside = false
		return
	}
	e.out.WriteString("</" + name + ">")
}

func (e *xmlElements) attribute(name, text string) {
	e.out.WriteString(" " + name + `="` + escapeXML(text, true) + `"`)
}

// raw writes content. An empty text writes nothing, so that the element ends as
// an empty one.
func (e *xmlElements) raw(text string) {
	if text == "" {
		return
	}
	e.finishTag()
	e.out.WriteString(text)
}

// moveTo closes and opens elements until exactly those of path are open above
// the first base ones.
func (e *xmlElements) moveTo(base int, path []string) {
	same := 0
	for same < len(path) && base+same < len(e.stack) && e.stack[base+same] == path[same] {
		same++
	}
	for len(e.stack) > base+same {
		e.close()
	}
	for _, name := range path[same:] {
		e.open(name, "")
	}
}

var (
	xmlTextEscapes      = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\r", "&#x0D;")
	xmlAttributeEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "\r", "&#x0D;", "\n", "&#x0A;", "\t", "&#x09;")
)

func escapeXML(text string, attribute bool) string {
	if attribute {
		return xmlAttributeEscapes.Replace(text)
	}
	return xmlTextEscapes.Replace(text)
}
