package schema

import (
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// plain marks the ASCII characters that stand for themselves in a JSON string.
var plain = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c >= 0x20 && c != '"' && c != '\\'
	}
	return t
}()

// AppendString appends s as a JSON string, escaped as Jackson does it for
// Kafka Connect: the short escapes, other control characters as \u00XX, and
// characters above U+FFFF as two escapes. Everything else is raw UTF-8.
//
// A lone surrogate (three bytes that UTF-8 forbids but that some producers
// write) becomes one escape; other invalid bytes become U+FFFD each. The
// result is always valid JSON.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if !plain[c] {
				dst = append(dst, s[start:i]...)
				dst = appendEscape(dst, c)
				start = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		invalid := r == utf8.RuneError && size == 1
		if r <= 0xffff && !invalid {
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		if !invalid {
			high, low := utf16.EncodeRune(r)
			dst = appendUnit(appendUnit(dst, high), low)
		} else if unit, ok := surrogateAt(s[i:]); ok {
			dst, size = appendUnit(dst, unit), 3
		} else {
			dst = utf8.AppendRune(dst, utf8.RuneError)
		}
		i += size
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// surrogateAt decodes a surrogate written as if it were a character.
func surrogateAt(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1] < 0xa0 || s[1] > 0xbf || s[2] < 0x80 || s[2] > 0xbf {
		return 0, false
	}
	return 0xd000 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), true
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\t':
		return append(dst, '\\', 't')
	case '\n':
		return append(dst, '\\', 'n')
	case '\f':
		return append(dst, '\\', 'f')
	case '\r':
		return append(dst, '\\', 'r')
	default:
		return appendUnit(dst, rune(c))
	}
}

const upperHex = "0123456789ABCDEF"

// appendUnit appends one UTF-16 unit as an escape.
func appendUnit(dst []byte, unit rune) []byte {
	return append(dst, '\\', 'u',
		upperHex[unit>>12&0xf], upperHex[unit>>8&0xf], upperHex[unit>>4&0xf], upperHex[unit&0xf])
}

// decodedString returns what a reader of the JSON string of s gets. Only text
// that is not valid UTF-8 differs from s.
func decodedString(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var decoded string
	if err := json.Unmarshal(AppendString(nil, s), &decoded); err != nil {
		panic("schema: AppendString wrote invalid JSON: " + err.Error())
	}
	return decoded
}
