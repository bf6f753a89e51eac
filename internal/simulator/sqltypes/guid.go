package sqltypes

import (
	"encoding/hex"
	"strings"
)

// guidOrder maps the bytes of a GUID's text to its wire bytes: the first three groups
// are little-endian numbers (MS-DTYP 2.3.4).
var guidOrder = [16]int{3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15}

// FormatGUID writes wire bytes as text: "6F9619FF-8B86-D011-B42D-00C04FC964FF".
func FormatGUID(wire [16]byte) string {
	var b [16]byte
	for i, at := range guidOrder {
		b[i] = wire[at]
	}
	h := upperHex(string(b[:]))
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ParseGUID reads a GUID's text, with or without braces. What follows a complete GUID
// is ignored, as SQL Server does.
func ParseGUID(s string) (wire [16]byte, ok bool) {
	s = strings.TrimLeft(s, " ")
	braced := strings.HasPrefix(s, "{")
	s = strings.TrimPrefix(s, "{")
	if len(s) < 36 || braced && (len(s) < 37 || s[36] != '}') {
		return wire, false
	}
	s = s[:36]
	if s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return wire, false
	}
	raw, err := hex.DecodeString(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:])
	if err != nil {
		return wire, false
	}
	for i, at := range guidOrder {
		wire[at] = raw[i]
	}
	return wire, true
}

// toGUID converts text and bytes; error 8169 for text that is no GUID.
func toGUID(v Value, from Type) (Value, error) {
	switch v.kind {
	case KindGUID:
		return v, nil
	case KindBytes:
		var wire [16]byte
		copy(wire[:], v.s)
		return GUIDOf(wire), nil
	case KindText:
		wire, ok := ParseGUID(v.s)
		if !ok {
			return Value{}, Errorf(8169, 2, 16, "Conversion failed when converting from a character string to uniqueidentifier.")
		}
		return GUIDOf(wire), nil
	default:
		return Value{}, OperandClash(from.ID, UniqueIdentifier)
	}
}
