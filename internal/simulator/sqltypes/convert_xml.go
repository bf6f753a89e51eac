package sqltypes

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// Styles of CONVERT to xml (MS docs, "CAST and CONVERT", "xml styles").
const (
	xmlPreserve = 1 // keep white space between tags
	xmlDTD      = 2 // allow an internal document type definition
)

// toXML takes text or bytes as an XML fragment and returns it as the server stores
// it: see [serializeXML]. Bits 1 and 2 of the style are its options.
func toXML(v Value, from Type, style int) (Value, error) {
	if from.ID == XML {
		return v, nil
	}
	text, err := xmlText(v, from)
	if err != nil {
		return Value{}, err
	}
	if err := checkXML(text, style&xmlDTD != 0); err != nil {
		return Value{}, err
	}
	return StringOf(serializeXML(text, style&xmlPreserve != 0)), nil
}

// xmlText returns the text after the XML declaration, which is not stored. A
// declared encoding must be that of the value: Unicode of the national types, any
// other of bytes and varchar.
func xmlText(v Value, from Type) (string, error) {
	text := v.s
	switch v.kind {
	case KindBytes:
		text = decodeXMLBytes(v.s)
	case KindText:
	default:
		return "", OperandClash(from.ID, XML)
	}
	if !strings.HasPrefix(text, "<?xml ") {
		return text, nil
	}
	end := strings.Index(text, "?>")
	if end < 0 {
		return "", xmlError(9400, text, len(text), "unexpected end of input")
	}
	declaration, rest := text[:end], text[end+2:]
	encoding := xmlEncoding(declaration)
	wide := encoding == "utf-16" || encoding == "ucs-2"
	if v.kind != KindText || encoding == "" || wide == from.ID.IsNational() && (wide || encoding == "utf-8" && isASCII(rest)) {
		return rest, nil
	}
	if !wide && !from.ID.IsNational() {
		return decodeDeclared(rest, encoding, from, text, end)
	}
	return "", xmlError(9402, text, end+2, "unable to switch the encoding")
}

// decodeDeclared reads the bytes of varchar text in the encoding that its XML
// declaration names.
func decodeDeclared(rest, encoding string, from Type, text string, end int) (string, error) {
	raw := from.collation().Encode(nil, rest)
	switch encoding {
	case "utf-8":
		if !utf8.Valid(raw) {
			return "", xmlError(9420, text, end+2, "illegal xml character")
		}
		return string(raw), nil
	case "windows-1252", "iso-8859-1":
		return DefaultCollation.Decode(raw), nil
	}
	return "", xmlError(9402, text, end+2, "unable to switch the encoding")
}

// xmlEncoding returns the encoding of an XML declaration in lower case.
func xmlEncoding(declaration string) string {
	_, value, found := strings.Cut(declaration, "encoding")
	value = strings.TrimLeft(value, blanks+"=")
	if !found || value == "" {
		return ""
	}
	name, _, _ := strings.Cut(value[1:], value[:1])
	return strings.ToLower(name)
}

// xmlError reports what is wrong at a byte offset of the text.
func xmlError(number int32, text string, at int, what string) error {
	before := text[:min(at, len(text))]
	line := strings.Count(before, "\n") + 1
	column := UTF16Len(before[strings.LastIndexByte(before, '\n')+1:])
	return Errorf(number, 1, 16, "XML parsing: line %d, character %d, %s", line, column, what)
}

// documentType is error 6359, or says in style 2 that definitions are not played.
func documentType(allowed bool) error {
	if allowed {
		return Errorf(40000, 1, 15, "A document type definition in XML is not supported by this server.")
	}
	return Errorf(6359, 1, 16, "Parsing XML with internal subset DTDs not allowed. Use CONVERT with style option 2 to enable limited internal subset DTD support.")
}

// checkXML is error 9436 for an end tag that does not match, 9459 for a prefix that
// is not declared, 9437 for an attribute twice, 9438 for a declaration in the wrong
// place, 9400 for all else.
func checkXML(text string, definitions bool) error {
	decoder := xml.NewDecoder(strings.NewReader(text))
	var open []xml.Name
	spaces := xmlPrefixes{{"xml": true}}
	for {
		token, err := decoder.RawToken()
		at := int(decoder.InputOffset())
		if errors.Is(err, io.EOF) && len(open) == 0 {
			return nil
		}
		if err != nil {
			return xmlError(9400, text, at, "unexpected end of input")
		}
		switch t := token.(type) {
		case xml.ProcInst:
			if strings.EqualFold(t.Target, "xml") {
				return xmlError(9438, text, at, "text/xmldecl not at the beginning of input")
			}
		case xml.Directive:
			if strings.HasPrefix(string(t), "DOCTYPE") {
				return documentType(definitions)
			}
			return xmlError(9400, text, at, "unexpected end of input")
		case xml.StartElement:
			spaces = spaces.enter(t.Attr)
			if undeclared := spaces.missing(t); undeclared {
				return xmlError(9459, text, at, "undeclared prefix")
			}
			if repeated(t.Attr) {
				return xmlError(9437, text, at, "duplicate attribute")
			}
			open = append(open, t.Name)
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != t.Name {
				return xmlError(9436, text, at, "end tag does not match start tag")
			}
			open, spaces = open[:len(open)-1], spaces[:len(spaces)-1]
		}
	}
}

// xmlPrefixes are the prefixes that each open element declares.
type xmlPrefixes []map[string]bool

func (p xmlPrefixes) enter(attributes []xml.Attr) xmlPrefixes {
	var declared map[string]bool
	for _, a := range attributes {
		if a.Name.Space == "xmlns" {
			if declared == nil {
				declared = map[string]bool{}
			}
			declared[a.Name.Local] = true
		}
	}
	return append(p, declared)
}

// missing reports whether the element or an attribute has a prefix that no open
// element declares.
func (p xmlPrefixes) missing(e xml.StartElement) bool {
	known := func(prefix string) bool {
		if prefix == "" || prefix == "xmlns" {
			return true
		}
		for _, declared := range p {
			if declared[prefix] {
				return true
			}
		}
		return false
	}
	for _, a := range e.Attr {
		if !known(a.Name.Space) {
			return true
		}
	}
	return !known(e.Name.Space)
}

func repeated(attributes []xml.Attr) bool {
	for i, a := range attributes {
		for _, b := range attributes[:i] {
			if a.Name == b.Name {
				return true
			}
		}
	}
	return false
}

// decodeXMLBytes reads UTF-16 with a byte order mark, else UTF-8.
func decodeXMLBytes(raw string) string {
	if strings.HasPrefix(raw, "\xFF\xFE") {
		return DecodeUTF16([]byte(raw[2:]))
	}
	return string(appendValidUTF8(nil, strings.TrimPrefix(raw, "\xEF\xBB\xBF")))
}
