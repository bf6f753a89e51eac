package sqltypes

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// toXML takes text or bytes as an XML fragment: well-formed elements and text, kept as
// written but for the XML declaration, which SQL Server does not store.
func toXML(v Value, from Type) (Value, error) {
	text := v.s
	switch v.kind {
	case KindBytes:
		text = decodeXMLBytes(v.s)
	case KindText:
	default:
		return Value{}, OperandClash(from.ID, XML)
	}
	if strings.HasPrefix(text, "<?xml ") {
		if end := strings.Index(text, "?>"); end >= 0 {
			text = text[end+2:]
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := decoder.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line, column := decoder.InputPos()
			return Value{}, Errorf(9400, 1, 16, "XML parsing: line %d, character %d, unexpected end of input", line, column)
		}
	}
	if err := checkXMLNesting(text); err != nil {
		return Value{}, err
	}
	return StringOf(text), nil
}

// checkXMLNesting is error 9436 for an end tag that does not match, 9400 for elements
// left open.
func checkXMLNesting(text string) error {
	decoder := xml.NewDecoder(strings.NewReader(text))
	var open []string
	for {
		token, err := decoder.RawToken()
		line, column := decoder.InputPos()
		if err != nil {
			if len(open) > 0 {
				return Errorf(9400, 1, 16, "XML parsing: line %d, character %d, unexpected end of input", line, column)
			}
			return nil
		}
		switch t := token.(type) {
		case xml.StartElement:
			open = append(open, t.Name.Space+":"+t.Name.Local)
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != t.Name.Space+":"+t.Name.Local {
				return Errorf(9436, 1, 16, "XML parsing: line %d, character %d, end tag does not match start tag", line, column)
			}
			open = open[:len(open)-1]
		}
	}
}

// decodeXMLBytes reads UTF-16 with a byte order mark, else UTF-8.
func decodeXMLBytes(raw string) string {
	if strings.HasPrefix(raw, "\xFF\xFE") {
		return DecodeUTF16([]byte(raw[2:]))
	}
	return string(appendValidUTF8(nil, strings.TrimPrefix(raw, "\xEF\xBB\xBF")))
}
