package sqltypes

import (
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// codePages are the Windows code pages that collations name.
var codePages = map[int]encoding.Encoding{
	437:  charmap.CodePage437,
	850:  charmap.CodePage850,
	874:  charmap.Windows874,
	932:  japanese.ShiftJIS,
	936:  simplifiedchinese.GBK,
	949:  korean.EUCKR,
	950:  traditionalchinese.Big5,
	1250: charmap.Windows1250,
	1251: charmap.Windows1251,
	1252: charmap.Windows1252,
	1253: charmap.Windows1253,
	1254: charmap.Windows1254,
	1255: charmap.Windows1255,
	1256: charmap.Windows1256,
	1257: charmap.Windows1257,
	1258: charmap.Windows1258,
}

// charmaps keeps the single-byte pages at hand by page number.
func (c *Collation) charmap() *charmap.Charmap {
	cm, _ := codePages[c.CodePage].(*charmap.Charmap)
	return cm
}

// unmapped replaces a character that the code page does not have.
const unmapped = '?'

// Encode appends s in the collation's code page, as char and varchar are
// stored and sent. Characters that the page lacks become their nearest look-alike
// or '?'.
func (c *Collation) Encode(dst []byte, s string) []byte {
	if isASCII(s) {
		return append(dst, s...)
	}
	if c.UTF8 {
		return appendValidUTF8(dst, s)
	}
	if cm := c.charmap(); cm != nil {
		for i := 0; i < len(s); {
			r, w := decodeRune(s[i:])
			i += w
			dst = c.appendSingleByte(dst, cm, r)
		}
		return dst
	}
	enc := codePages[c.CodePage].NewEncoder()
	for i := 0; i < len(s); {
		r, w := decodeRune(s[i:])
		if r < utf8.RuneSelf {
			dst = append(dst, byte(r))
		} else if b, err := enc.Bytes([]byte(s[i : i+w])); err == nil {
			dst = append(dst, b...)
		} else {
			dst = append(dst, unmapped)
		}
		i += w
	}
	return dst
}

// appendSingleByte appends r in a single-byte page. A supplementary character is two
// code units on the server, each of which becomes '?'.
func (c *Collation) appendSingleByte(dst []byte, cm *charmap.Charmap, r rune) []byte {
	if b, ok := c.encodeRune(cm, r); ok {
		return append(dst, b)
	}
	if b, ok := c.encodeRune(cm, bestFit(r)); ok {
		return append(dst, b)
	}
	if r >= supplementary {
		return append(dst, unmapped, unmapped)
	}
	return append(dst, unmapped)
}

// encodeRune maps one character. Windows maps the bytes its pages leave undefined
// (0x81 in 1252) to the C1 controls of the same number.
func (c *Collation) encodeRune(cm *charmap.Charmap, r rune) (byte, bool) {
	if b, ok := cm.EncodeRune(r); ok {
		return b, true
	}
	if r >= 0x80 && r < 0xA0 && cm.DecodeByte(byte(r)) == utf8.RuneError {
		return byte(r), true
	}
	return 0, false
}

// bestFit is the part of Windows' best-fit tables that all single-byte pages share:
// full-width forms and typographic look-alikes of ASCII, and letters without their
// accents.
func bestFit(r rune) rune {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E:
		return r - 0xFEE0
	case r == 0x2018 || r == 0x2019 || r == 0x2032:
		return '\''
	case r == 0x201C || r == 0x201D || r == 0x2033:
		return '"'
	case r == 0x2010 || r == 0x2011 || r == 0x2013 || r == 0x2014 || r == 0x2212:
		return '-'
	case r >= 0x2000 && r <= 0x2006 || r == 0x3000:
		return ' '
	case r >= 0x100 && r < 0x180:
		return baseLetter(r)
	}
	return r
}

// appendValidUTF8 appends s with lone surrogates replaced.
func appendValidUTF8(dst []byte, s string) []byte {
	if utf8.ValidString(s) {
		return append(dst, s...)
	}
	for i := 0; i < len(s); {
		r, w := decodeRune(s[i:])
		i += w
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// Decode returns the text of bytes in the collation's code page.
func (c *Collation) Decode(b []byte) string {
	if isASCII(string(b)) {
		return string(b)
	}
	if c.UTF8 {
		return string(appendValidUTF8(nil, string(b)))
	}
	if cm := c.charmap(); cm != nil {
		dst := make([]byte, 0, len(b)+len(b)/2)
		for _, x := range b {
			r := cm.DecodeByte(x)
			if r == utf8.RuneError {
				r = rune(x)
			}
			dst = utf8.AppendRune(dst, r)
		}
		return string(dst)
	}
	s, err := codePages[c.CodePage].NewDecoder().Bytes(b)
	if err != nil {
		// The decoders replace what they cannot read; they have no other error.
		return string(b)
	}
	return string(s)
}

// EncodedLen returns the number of bytes of s in the collation's code page.
func (c *Collation) EncodedLen(s string) int {
	if isASCII(s) || c.UTF8 && utf8.ValidString(s) {
		return len(s)
	}
	return len(c.Encode(nil, s))
}

// RoundTrip returns s as it comes back from a char or varchar column of the
// collation: characters that the code page lacks are replaced.
func (c *Collation) RoundTrip(s string) string {
	if isASCII(s) {
		return s
	}
	return c.Decode(c.Encode(nil, s))
}
