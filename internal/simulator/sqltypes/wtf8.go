package sqltypes

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is held as WTF-8 (https://simonsapin.github.io/wtf-8/): UTF-8 in which a lone
// surrogate, which nvarchar may hold, is written as the three bytes its code point
// would have. A surrogate pair is always one four-byte sequence, never two of three.

const (
	surrogateMin  = 0xD800
	lowSurrogate  = 0xDC00
	surrogateMax  = 0xDFFF
	supplementary = 0x10000
)

// decodeRune returns the first code point of s and its width; unlike
// [utf8.DecodeRuneInString] it reads lone surrogates.
func decodeRune(s string) (rune, int) {
	if s[0] < utf8.RuneSelf {
		return rune(s[0]), 1
	}
	r, w := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && w == 1 && len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80 {
		return surrogateMin | rune(s[1]&0x1F)<<6 | rune(s[2]&0x3F), 3
	}
	return r, w
}

// appendRune appends r, a lone surrogate included, and joins it with a high
// surrogate that dst ends with.
func appendRune(dst []byte, r rune) []byte {
	if r < surrogateMin || r > surrogateMax {
		return utf8.AppendRune(dst, r)
	}
	if r >= lowSurrogate {
		if high, ok := trailingHigh(dst); ok {
			return utf8.AppendRune(dst[:len(dst)-3], utf16.DecodeRune(high, r))
		}
	}
	return append(dst, 0xED, 0x80|byte(r>>6&0x3F), 0x80|byte(r&0x3F))
}

// trailingHigh returns the lone high surrogate that b ends with.
func trailingHigh(b []byte) (rune, bool) {
	if n := len(b); n >= 3 && b[n-3] == 0xED && b[n-2] >= 0xA0 && b[n-2] < 0xB0 {
		return surrogateMin | rune(b[n-2]&0x1F)<<6 | rune(b[n-1]&0x3F), true
	}
	return 0, false
}

// Concat joins two texts; surrogates that meet become one character.
func Concat(a, b string) string {
	if len(b) >= 3 && b[0] == 0xED && b[1] >= 0xB0 {
		if r, w := decodeRune(b); w == 3 && r >= lowSurrogate && r <= surrogateMax {
			return string(appendRune([]byte(a), r)) + b[w:]
		}
	}
	return a + b
}

// isASCII reports a text of ASCII characters only.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// UTF16Len returns the number of UTF-16 code units of s, what nvarchar lengths count.
func UTF16Len(s string) int {
	n := 0
	for i := range len(s) {
		switch b := s[i]; {
		case b < 0x80 || b >= 0xC0 && b < 0xF0:
			n++
		case b >= 0xF0:
			n += 2
		}
	}
	return n
}

// AppendUTF16 appends s in UTF-16 little-endian, lone surrogates as they are.
func AppendUTF16(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			dst = append(dst, b, 0)
			i++
			continue
		}
		r, w := decodeRune(s[i:])
		i += w
		if r >= supplementary {
			hi, lo := utf16.EncodeRune(r)
			dst = binary.LittleEndian.AppendUint16(dst, uint16(hi))
			dst = binary.LittleEndian.AppendUint16(dst, uint16(lo))
			continue
		}
		dst = binary.LittleEndian.AppendUint16(dst, uint16(r))
	}
	return dst
}

// DecodeUTF16 returns the text of UTF-16 little-endian bytes; a trailing odd byte is
// dropped, lone surrogates are kept.
func DecodeUTF16(b []byte) string {
	dst := make([]byte, 0, len(b)/2+len(b)/8)
	for ; len(b) >= 2; b = b[2:] {
		if b[1] == 0 && b[0] < utf8.RuneSelf {
			dst = append(dst, b[0])
			continue
		}
		dst = appendRune(dst, rune(binary.LittleEndian.Uint16(b)))
	}
	return string(dst)
}

// utf16Units returns the code units of s.
func utf16Units(s string) []uint16 {
	units := make([]uint16, 0, len(s))
	for i := 0; i < len(s); {
		r, w := decodeRune(s[i:])
		i += w
		units = utf16.AppendRune(units, r)
		if r >= surrogateMin && r <= surrogateMax {
			units[len(units)-1] = uint16(r)
		}
	}
	return units
}

// utf16Index returns the byte offset of code unit n of s. A unit inside a pair
// counts as the pair's start; beyond the end it is len(s).
func utf16Index(s string, n int) (index int, insidePair bool) {
	i := 0
	for i < len(s) && n > 0 {
		r, w := decodeRune(s[i:])
		if r >= supplementary {
			if n == 1 {
				return i, true
			}
			n--
		}
		n--
		i += w
	}
	return i, false
}

// SliceUTF16 returns the code units [from, to) of s, cutting pairs into lone
// surrogates where a bound falls inside one. Bounds beyond the end are clamped.
func SliceUTF16(s string, from, to int) string {
	if from >= to {
		return ""
	}
	if isASCII(s) {
		return s[min(from, len(s)):min(to, len(s))]
	}
	start, startInside := utf16Index(s, from)
	end, endInside := utf16Index(s, to)
	if !startInside && !endInside {
		return s[start:end]
	}
	var dst []byte
	if startInside {
		r, w := decodeRune(s[start:])
		_, lo := utf16.EncodeRune(r)
		dst = appendRune(dst, lo)
		start += w
	}
	if start < end {
		dst = append(dst, s[start:end]...)
	}
	if endInside {
		r, _ := decodeRune(s[end:])
		hi, _ := utf16.EncodeRune(r)
		dst = appendRune(dst, hi)
	}
	return string(dst)
}

// DecodeRune returns the first code point of a text that is not empty, a lone
// surrogate included, and its width in bytes.
func DecodeRune(s string) (r rune, width int) { return decodeRune(s) }
