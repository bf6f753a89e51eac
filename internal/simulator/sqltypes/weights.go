package sqltypes

import (
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// weight is the place of one character in a collation's order, level by level.
type weight struct {
	primary uint32 // which letter; 0 for characters that the first level ignores
	second  uint32 // second letter of an expansion: ß is s, s
	accent  uint32
	variant uint8 // case, kana and width, as far as the collation is sensitive to them
	special uint8 // place of the hyphen and the apostrophe, which word sort looks at last
}

// ignorable reports a character that plays no part in any comparison.
func (w weight) ignorable() bool { return w.primary == 0 && w.accent == 0 && w.special == 0 }

// The bands of primary weights, below those of digits and letters, which are
// x/text/collate's keys.
const (
	asciiSymbolBand  = 1
	legacySymbolBand = 1
	symbolBand       = 0x100
	letterBand       = 0x100000
	// spacePrimary is what the shorter string is padded with in legacy order.
	legacySpace = legacySymbolBand + ' '
)

// windowsSymbols is the order of ASCII characters before the digits under Windows
// collations. The hyphen and the apostrophe are not in it: word sort ignores them at
// first (MS KB 305704, "Windows Collations Ignore Single Quote and Hyphen").
const windowsSymbols = " \t\n\v\f\r_!\"#$%&()*,./:;?@[\\]^`{|}~+<=>"

// weightTable computes and keeps the weights of a collation, a page of 256 characters
// at a time. One table serves one way to order: a SQL_ collation has a second one for
// char and varchar.
type weightTable struct {
	collation *Collation
	legacy    bool
	pages     [256]atomic.Pointer[weightPage]

	mu      sync.Mutex // guards what follows and the building of pages
	primary *collate.Collator
	accents *collate.Collator
	buffer  collate.Buffer
}

type weightPage [256]weight

func newWeightTable(c *Collation, legacy bool) *weightTable {
	return &weightTable{collation: c, legacy: legacy}
}

// page returns the weights of characters 256n to 256n+255.
func (t *weightTable) page(n int) *weightPage {
	if p := t.pages[n].Load(); p != nil {
		return p
	}
	return t.buildPage(n)
}

// of returns the weight of r.
func (t *weightTable) of(r rune) weight {
	if r < supplementary {
		return t.page(int(r >> 8))[r&0xFF]
	}
	// Collations before version 100 have no weights for supplementary characters, so
	// that N'😀' = N'' there (MS docs, "Collation and Unicode support").
	if t.collation.Version < 100 {
		return weight{}
	}
	return weight{primary: letterBand + 0x1000000 + uint32(r)}
}

func (t *weightTable) buildPage(n int) *weightPage {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.pages[n].Load(); p != nil {
		return p
	}
	if t.primary == nil {
		tag := localeOf(t.collation.LCID)
		t.primary = collate.New(tag, collate.Loose)
		t.accents = collate.New(tag, collate.IgnoreCase, collate.IgnoreWidth)
	}
	p := new(weightPage)
	for i := range p {
		p[i] = t.compute(rune(n<<8 | i))
	}
	t.pages[n].Store(p)
	return p
}

func (t *weightTable) compute(r rune) weight {
	if t.legacy {
		if w, ok := t.legacySymbol(r); ok {
			return w
		}
	} else if w, ok := windowsSymbol(r); ok {
		return w
	}
	if unicode.Is(unicode.Mn, r) {
		if !t.collation.AccentSensitive {
			return weight{}
		}
		return weight{accent: markWeight(r)}
	}
	w := t.letter(r)
	w.variant = t.variant(r)
	if t.collation.AccentSensitive {
		w.accent = t.accent(r)
	}
	return w
}

// windowsSymbol places the ASCII characters that are neither letters nor digits.
func windowsSymbol(r rune) (weight, bool) {
	switch {
	case r == '\'':
		return weight{special: 1}, true
	case r == '-':
		return weight{special: 2}, true
	case r >= utf8.RuneSelf:
		return weight{}, false
	}
	if i := strings.IndexRune(windowsSymbols, r); i >= 0 {
		return weight{primary: asciiSymbolBand + uint32(i)}, true
	}
	isControl := r < ' ' || r == 0x7F
	return weight{}, isControl
}

// legacySymbol places what is neither letter nor digit by its byte in the code page,
// the order of the "dictionary" sort orders of SQL_ collations for char and varchar.
func (t *weightTable) legacySymbol(r rune) (weight, bool) {
	if unicode.IsLetter(r) || r >= '0' && r <= '9' {
		return weight{}, false
	}
	b := t.collation.Encode(nil, string(r))
	return weight{primary: legacySymbolBand + uint32(b[0])}, true
}

// letter returns the primary weights that x/text/collate has for r.
func (t *weightTable) letter(r rune) weight {
	if r >= surrogateMin && r <= surrogateMax {
		return weight{primary: letterBand + 0x800000 + uint32(r)}
	}
	t.buffer.Reset()
	key := t.primary.KeyFromString(&t.buffer, string(r))
	var w weight
	w.primary, key = primaryWeight(key)
	w.second, _ = primaryWeight(key)
	if w.primary != 0 && !unicode.IsLetter(r) && !unicode.IsNumber(r) {
		w.primary -= letterBand - symbolBand
	}
	return w
}

// primaryWeight reads one weight off a collation key: two bytes, or three when the
// first has its high bit set.
func primaryWeight(key []byte) (uint32, []byte) {
	switch {
	case len(key) < 2 || key[0]|key[1] == 0:
		return 0, nil
	case key[0] < 0x80:
		return letterBand + uint32(key[0])<<8 + uint32(key[1]), key[2:]
	case len(key) < 3:
		return 0, nil
	default:
		return letterBand + uint32(key[0])<<16 + uint32(key[1])<<8 + uint32(key[2]), key[3:]
	}
}

// accent returns the secondary weight of r: its combining marks where it is a letter
// with accents, 0 where the locale has it as a letter of its own (å in Swedish).
func (t *weightTable) accent(r rune) uint32 {
	parts := []rune(norm.NFD.String(string(r)))
	if len(parts) > 1 {
		if t.letter(parts[0]).primary != t.letter(r).primary {
			return 0
		}
		var accent uint32
		for _, mark := range parts[1:] {
			accent = joinAccents(accent, markWeight(mark))
		}
		return accent
	}
	// ø has the primary weight of o and no decomposition.
	if t.letter(r).second != 0 {
		return 0 // ß equals ss
	}
	t.buffer.Reset()
	primaries := len(t.primary.KeyFromString(&t.buffer, string(r)))
	t.buffer.Reset()
	key := t.accents.KeyFromString(&t.buffer, string(r))
	const separator, plain = 2, 0x20
	for key = key[min(primaries+separator, len(key)):]; len(key) >= 2; key = key[2:] {
		if accent := uint32(key[0])<<8 | uint32(key[1]); accent != plain {
			return accent
		}
	}
	return 0
}

// markWeight orders combining marks, by their code points.
func markWeight(r rune) uint32 {
	if r >= 0x300 && r < 0x370 {
		return uint32(r-0x300) + 1
	}
	return 0x71 + uint32(r)&0xF
}

// joinAccents adds a mark to those before it on the same letter.
func joinAccents(before, mark uint32) uint32 { return before<<7 + mark }

const (
	variantUpper = 1 << iota
	variantKatakana
	variantFullWidth
)

// variant returns the third-level weight. Windows orders small letters first; the
// sort orders of SQL_ collations put capitals first.
func (t *weightTable) variant(r rune) uint8 {
	var v uint8
	if t.collation.CaseSensitive && (unicode.IsUpper(r) || unicode.IsTitle(r)) != t.legacy {
		v |= variantUpper
	}
	if t.collation.KanaSensitive && (r >= 0x30A0 && r < 0x3100 || r >= 0xFF66 && r < 0xFFA0) {
		v |= variantKatakana
	}
	if t.collation.WidthSensitive && (r >= 0xFF01 && r <= 0xFF5E || r >= 0xFF66 && r < 0xFFA0) {
		v |= variantFullWidth
	}
	return v
}

// locales gives x/text the tailoring of a locale; others use the root order.
var locales = map[uint32]string{
	0x0406: "da", 0x0414: "nb", 0x040B: "sv", 0x041D: "sv", 0x040F: "is", 0x0405: "cs", 0x041B: "sk",
	0x0424: "sl", 0x041A: "hr", 0x040E: "hu", 0x0415: "pl", 0x0418: "ro", 0x041C: "sq", 0x0425: "et",
	0x0426: "lv", 0x0427: "lt", 0x041F: "tr", 0x042C: "az", 0x042A: "vi", 0x0C0A: "es",
	0x040A: "es-u-co-trad", 0x10407: "de-u-co-phonebk", 0x0804: "zh", 0x20804: "zh-u-co-stroke",
	0x0411: "ja", 0x0412: "ko", 0x0422: "uk", 0x041E: "th",
}

func localeOf(lcid uint32) language.Tag {
	if name, ok := locales[lcid]; ok {
		return language.MustParse(name)
	}
	return language.English
}

// baseLetter returns a letter without its accents.
func baseLetter(r rune) rune {
	base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r)))
	return base
}
