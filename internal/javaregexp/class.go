package javaregexp

import (
	"fmt"
	"strings"
	"unicode"
)

// set is a set of characters.
type set func(rune) bool

func (s set) not() set          { return func(r rune) bool { return !s(r) } }
func (s set) and(other set) set { return func(r rune) bool { return s(r) && other(r) } }
func (s set) or(other set) set  { return func(r rune) bool { return s(r) || other(r) } }

func none(rune) bool { return false }

// span is the characters from low to high, and those that differ from them only
// in the case of an ASCII letter.
func span(low, high rune) set {
	return func(r rune) bool {
		switch {
		case low <= r && r <= high:
			return true
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			r ^= 'a' ^ 'A'
			return low <= r && r <= high
		}
		return false
	}
}

func isWord(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isSpace(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' }

func isHorizontal(r rune) bool {
	return r == ' ' || r == '\t' || r == 0xa0 || r == 0x1680 || r == 0x180e || 0x2000 <= r && r <= 0x200a || r == 0x202f || r == 0x205f || r == 0x3000
}

func isVertical(r rune) bool {
	return '\n' <= r && r <= '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// isLineBreak tells the line terminators, which a dot does not match.
func isLineBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// predefined are the sets that one letter behind a backslash stands for.
// Source: java.util.regex.Pattern, "Predefined character classes".
var predefined = map[rune]set{
	'd': isDigit, 'D': set(isDigit).not(),
	'w': isWord, 'W': set(isWord).not(),
	's': isSpace, 'S': set(isSpace).not(),
	'h': isHorizontal, 'H': set(isHorizontal).not(),
	'v': isVertical, 'V': set(isVertical).not(),
}

// posix are the sets of \p{…} that hold ASCII only. Where case is ignored, so
// it is in Lower and Upper.
// Source: java.util.regex.Pattern, "POSIX character classes".
var posix = map[string]set{
	"ASCII": func(r rune) bool { return r < 0x80 },
	"Alpha": isLetter, "Lower": isLetter, "Upper": isLetter,
	"Digit":  isDigit,
	"Alnum":  set(isLetter).or(isDigit),
	"Punct":  isPunctuation,
	"Graph":  func(r rune) bool { return '!' <= r && r <= '~' },
	"Print":  func(r rune) bool { return ' ' <= r && r <= '~' },
	"Blank":  func(r rune) bool { return r == ' ' || r == '\t' },
	"Cntrl":  func(r rune) bool { return r < 0x20 || r == 0x7f },
	"XDigit": func(r rune) bool { return isDigit(r) || 'a' <= r|0x20 && r|0x20 <= 'f' },
	"Space":  isSpace,
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func isPunctuation(r rune) bool {
	return '!' <= r && r <= '~' && !isLetter(r) && !isDigit(r)
}

// property returns the set of \p{name}: ASCII sets, general categories, with or
// without Is, and scripts with Is.
func property(name string) (set, error) {
	if s, ok := posix[name]; ok {
		return s, nil
	}
	short, is := strings.CutPrefix(name, "Is")
	switch short {
	case "Lu", "Ll", "Lt":
		return func(r rune) bool { return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt) }, nil
	case "Alphabetic":
		return func(r rune) bool { return unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Other_Alphabetic) }, nil
	}
	if table, ok := unicode.Categories[short]; ok {
		return func(r rune) bool { return unicode.Is(table, r) }, nil
	}
	if table, ok := unicode.Scripts[short]; ok && is {
		return func(r rune) bool { return unicode.Is(table, r) }, nil
	}
	return nil, fmt.Errorf(`the property \p{%s} is not known`, name)
}
