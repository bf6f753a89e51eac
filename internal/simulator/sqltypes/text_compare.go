package sqltypes

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// compareText orders two texts of type t under its collation. Trailing blanks never
// count: the shorter text is padded.
func compareText(a, b string, t Type) int {
	if a == b {
		return 0
	}
	c := t.collation()
	switch {
	case c.Binary:
		return compareBinaryText(a, b, t, c)
	case c.SortID != 0 && !t.ID.IsNational():
		return compareWeights(a, b, c.legacyWeights)
	default:
		return compareWeights(strings.TrimRight(a, " "), strings.TrimRight(b, " "), c.weights)
	}
}

// comparePadded orders bytes, the shorter one padded with pad.
func comparePadded[S ~string | ~[]byte](a, b S, pad byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	for i := n; i < len(a); i++ {
		if a[i] != pad {
			return cmp.Compare(a[i], pad)
		}
	}
	for i := n; i < len(b); i++ {
		if b[i] != pad {
			return cmp.Compare(pad, b[i])
		}
	}
	return 0
}

// compareBinaryText orders under BIN and BIN2: bytes of the code page for char and
// varchar, code units for nchar and nvarchar. BIN compares only the first code unit
// as a number and the rest as the bytes in storage (MS docs, "Binary collations").
func compareBinaryText(a, b string, t Type, c *Collation) int {
	if isASCII(a) && isASCII(b) {
		return comparePadded(a, b, ' ')
	}
	if !t.ID.IsNational() {
		return comparePadded(c.Encode(nil, a), c.Encode(nil, b), ' ')
	}
	ua, ub := padUnits(utf16Units(a), utf16Units(b))
	if c.Binary2 || len(ua) == 0 || ua[0] != ub[0] {
		return slices.Compare(ua, ub)
	}
	return bytes.Compare(unitBytes(ua[1:]), unitBytes(ub[1:]))
}

// padUnits makes both texts equally long with blanks.
func padUnits(a, b []uint16) (x, y []uint16) {
	for len(a) < len(b) {
		a = append(a, ' ')
	}
	for len(b) < len(a) {
		b = append(b, ' ')
	}
	return a, b
}

func unitBytes(units []uint16) []byte {
	b := make([]byte, 0, 2*len(units))
	for _, u := range units {
		b = append(b, byte(u), byte(u>>8))
	}
	return b
}

// element is one letter of a text with the accents that follow it.
type element struct {
	primary, accent uint32
	variant         uint8
}

// elements walks a text letter by letter.
type elements struct {
	text  string
	table *weightTable
	first *weightPage
	// second is the second letter of an expansion, due next.
	second  uint32
	variant uint8
}

func newElements(text string, t *weightTable) elements {
	return elements{text: text, table: t, first: t.page(0)}
}

func (e *elements) peek() (weight, int) {
	if b := e.text[0]; b < utf8.RuneSelf {
		return e.first[b], 1
	}
	r, w := decodeRune(e.text)
	return e.table.of(r), w
}

// next returns the next letter, or false at the end.
func (e *elements) next() (element, bool) {
	if e.second != 0 {
		el := element{primary: e.second, variant: e.variant}
		e.second = 0
		return el, true
	}
	for len(e.text) > 0 {
		w, width := e.peek()
		e.text = e.text[width:]
		if w.primary == 0 {
			continue
		}
		el := element{primary: w.primary, accent: w.accent, variant: w.variant}
		for len(e.text) > 0 && e.text[0] >= utf8.RuneSelf {
			mark, width := e.peek()
			if mark.primary != 0 || mark.special != 0 {
				break
			}
			if mark.accent != 0 {
				el.accent = joinAccents(el.accent, mark.accent)
			}
			e.text = e.text[width:]
		}
		e.second, e.variant = w.second, w.variant
		return el, true
	}
	return element{}, false
}

// compareWeights compares level by level: the first letter that differs decides, then
// the first accent, then case, and last the hyphens and apostrophes that word sort
// skipped.
func compareWeights(a, b string, t *weightTable) int {
	skip := commonASCIIPrefix(a, b)
	ea, eb := newElements(a[skip:], t), newElements(b[skip:], t)
	pad := element{}
	if t.legacy {
		pad.primary = legacySpace
	}
	accent, variant := 0, 0
	for {
		x, okA := ea.next()
		y, okB := eb.next()
		if !okA && !okB {
			break
		}
		if !okA {
			x = pad
		}
		if !okB {
			y = pad
		}
		if x.primary != y.primary {
			return cmp.Compare(x.primary, y.primary)
		}
		if accent == 0 {
			accent = cmp.Compare(x.accent, y.accent)
		}
		if variant == 0 {
			variant = cmp.Compare(x.variant, y.variant)
		}
	}
	switch {
	case accent != 0:
		return accent
	case variant != 0:
		return variant
	default:
		return slices.CompareFunc(specials(a, t), specials(b, t), special.compare)
	}
}

// commonASCIIPrefix returns how much of two texts is the same and may be passed over.
// It stops one character early, since marks that follow belong to that character.
func commonASCIIPrefix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] && a[i] < utf8.RuneSelf {
		i++
	}
	if i > 0 && (i < len(a) && a[i] >= utf8.RuneSelf || i < len(b) && b[i] >= utf8.RuneSelf) {
		i--
	}
	return i
}

// special is a hyphen or apostrophe and the number of letters before it.
type special struct {
	position int
	weight   uint8
}

func (s special) compare(o special) int {
	return cmp.Or(cmp.Compare(s.position, o.position), cmp.Compare(s.weight, o.weight))
}

// specials lists the characters that word sort passes over at first.
func specials(text string, t *weightTable) []special {
	if t.legacy || !strings.ContainsAny(text, "-'") {
		return nil
	}
	var list []special
	position := 0
	for e := newElements(text, t); len(e.text) > 0; {
		w, width := e.peek()
		e.text = e.text[width:]
		if w.special != 0 {
			list = append(list, special{position, w.special})
		} else if w.primary != 0 {
			position++
		}
	}
	return list
}

// appendTextKey appends bytes that are equal for equal texts.
func appendTextKey(dst []byte, s string, t Type) []byte {
	c := t.collation()
	s = strings.TrimRight(s, " ")
	if c.Binary {
		return append(dst, s...)
	}
	table := c.weights
	if c.SortID != 0 && !t.ID.IsNational() {
		table = c.legacyWeights
	}
	e := newElements(s, table)
	for {
		el, ok := e.next()
		if !ok {
			break
		}
		dst = append(dst, byte(el.primary), byte(el.primary>>8), byte(el.primary>>16), byte(el.primary>>24),
			byte(el.accent), byte(el.accent>>8), byte(el.accent>>16), byte(el.accent>>24), el.variant)
	}
	list := specials(s, table)
	for _, s := range list {
		dst = append(dst, 0, s.weight, byte(s.position), byte(s.position>>8), byte(s.position>>16), byte(s.position>>24))
	}
	return append(dst, byte(len(list)), byte(len(list)>>8))
}
