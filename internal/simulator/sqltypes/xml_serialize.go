package sqltypes

import (
	"fmt"
	"strconv"
	"strings"
)

// serializeXML writes well-formed XML as the server returns what it has stored: no
// white space between tags unless preserve or xml:space asks for it, elements
// without content as <a/>, attributes in their order in double quotes, CDATA
// sections as text, line ends as LF, and as references what a parser would lose.
// Source: MS docs, "Define the serialization of XML data" and "Create instances of
// XML data".
func serializeXML(text string, preserve bool) string {
	w := &xmlWriter{rest: strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), preserve: []bool{preserve}}
	for w.rest != "" {
		w.node()
	}
	w.flush()
	return w.out.String()
}

type xmlWriter struct {
	rest string
	out  strings.Builder
	// run is the text node being read; significant ones have more than white space
	// as written.
	run         strings.Builder
	significant bool
	// preserve says for each open element whether its white space is kept.
	preserve []bool
	// started is set while an element's start tag may still become <a/>.
	started bool
}

// take returns the input up to and with the mark, which is looked for behind how
// it begins: the two may share characters, as in <!-->-->.
func (w *xmlWriter) take(begin, mark string) string {
	end := strings.Index(w.rest[len(begin):], mark)
	if end < 0 {
		end = len(w.rest) - len(begin) - len(mark)
	}
	part := w.rest[:len(begin)+end+len(mark)]
	w.rest = w.rest[len(part):]
	return part
}

func (w *xmlWriter) node() {
	switch {
	case strings.HasPrefix(w.rest, "<!--"):
		w.markup(w.take("<!--", "-->"))
	case strings.HasPrefix(w.rest, "<![CDATA["):
		section := w.take("<![CDATA[", "]]>")
		w.run.WriteString(section[len("<![CDATA[") : len(section)-len("]]>")])
		w.significant = true
	case strings.HasPrefix(w.rest, "<?"):
		w.markup(w.take("<?", "?>"))
	case strings.HasPrefix(w.rest, "</"):
		w.endTag(w.take("</", ">"))
	case w.rest[0] == '<':
		w.startTag()
	default:
		w.text()
	}
}

// markup writes a comment or a processing instruction as it is.
func (w *xmlWriter) markup(s string) {
	w.flush()
	w.content()
	w.out.WriteString(s)
}

// content ends a start tag that has content.
func (w *xmlWriter) content() {
	if w.started {
		w.out.WriteByte('>')
		w.started = false
	}
}

func (w *xmlWriter) startTag() {
	w.flush()
	w.content()
	w.rest = w.rest[1:]
	name := strings.IndexAny(w.rest, blanks+"/>")
	w.out.WriteString("<" + w.rest[:name])
	w.rest = strings.TrimLeft(w.rest[name:], blanks)
	preserve := w.preserve[len(w.preserve)-1]
	for w.rest[0] != '>' && w.rest[0] != '/' {
		attribute, value := w.attribute()
		w.out.WriteString(" " + attribute + `="`)
		w.escape(value, true)
		w.out.WriteByte('"')
		if attribute == "xml:space" {
			preserve = value == "preserve"
		}
	}
	w.preserve = append(w.preserve, preserve)
	w.started = true
	if tag := w.take("", ">"); tag == "/>" {
		w.endTag("")
	}
}

// attribute reads name="value". White space as written in a value is a blank (XML
// 1.0, 3.3.3).
func (w *xmlWriter) attribute() (name, value string) {
	name, w.rest, _ = strings.Cut(w.rest, "=")
	w.rest = strings.TrimLeft(w.rest, blanks)
	quote := w.rest[:1]
	value, w.rest, _ = strings.Cut(w.rest[1:], quote)
	w.rest = strings.TrimLeft(w.rest, blanks)
	value, _ = expandXML(strings.NewReplacer("\n", " ", "\t", " ").Replace(value))
	return strings.TrimRight(name, blanks), value
}

func (w *xmlWriter) endTag(tag string) {
	w.flush()
	if w.started {
		w.out.WriteString("/>")
		w.started = false
	} else {
		w.out.WriteString(strings.TrimRight(strings.TrimSuffix(tag, ">"), blanks) + ">")
	}
	w.preserve = w.preserve[:len(w.preserve)-1]
}

// text reads what stands before the next tag.
func (w *xmlWriter) text() {
	end := strings.IndexByte(w.rest, '<')
	if end < 0 {
		end = len(w.rest)
	}
	expanded, references := expandXML(w.rest[:end])
	w.rest = w.rest[end:]
	w.run.WriteString(expanded)
	w.significant = w.significant || references || strings.Trim(expanded, blanks) != ""
}

// flush writes the text node that ends here. The last character of one that is all
// white space is written as a reference, so that no parser drops it.
func (w *xmlWriter) flush() {
	run := w.run.String()
	keep := w.significant || w.preserve[len(w.preserve)-1]
	w.run.Reset()
	w.significant = false
	if run == "" || !keep {
		return
	}
	w.content()
	if strings.Trim(run, " \t\n\r") == "" {
		last := len(run) - 1
		w.escape(run[:last], false)
		fmt.Fprintf(&w.out, "&#x%02X;", run[last])
		return
	}
	w.escape(run, false)
}

// escape writes character data, or the value of an attribute.
func (w *xmlWriter) escape(s string, attribute bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '&':
			w.out.WriteString("&amp;")
		case c == '<':
			w.out.WriteString("&lt;")
		case c == '>':
			w.out.WriteString("&gt;")
		case c == '"' && attribute:
			w.out.WriteString("&quot;")
		case c == '\r', attribute && (c == '\t' || c == '\n'):
			fmt.Fprintf(&w.out, "&#x%X;", c)
		default:
			w.out.WriteByte(c)
		}
	}
}

// xmlEntities are those that need no declaration.
var xmlEntities = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}

// expandXML replaces references by their characters and reports whether there were
// any.
func expandXML(s string) (expanded string, references bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "&")
		b.WriteString(before)
		if !found {
			return b.String(), references
		}
		references = true
		var name string
		name, s, _ = strings.Cut(after, ";")
		switch {
		case strings.HasPrefix(name, "#x"):
			n, _ := strconv.ParseUint(name[2:], 16, 32)
			b.WriteRune(rune(n))
		case strings.HasPrefix(name, "#"):
			n, _ := strconv.ParseUint(name[1:], 10, 32)
			b.WriteRune(rune(n))
		default:
			b.WriteString(xmlEntities[name])
		}
	}
}

// xmlToText is error 6354 for text that is too short for the XML, 6355 for a code
// page that lacks a character of it.
func xmlToText(s string, to Type) (Value, error) {
	s = escapeSupplementary(s)
	if !to.ID.IsNational() && to.collation().RoundTrip(s) != s {
		return Value{}, Errorf(6355, 1, 16, "Conversion of one or more characters from XML to target collation impossible")
	}
	if TextLength(s, to) > textLimit(to) {
		return Value{}, Errorf(6354, 10, 16, "Target string size is too small to represent the XML instance")
	}
	return StringOf(fitText(s, to)), nil
}

// escapeSupplementary writes characters beyond U+FFFF as references, as casts on the
// server do.
func escapeSupplementary(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r > 0xFFFF {
			fmt.Fprintf(&b, "&#x%X;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
