package sqltypes

import "strings"

// LikePattern is a compiled LIKE pattern of one collation. It may be used by several
// goroutines at once.
type LikePattern struct {
	tokens    []likeToken
	collation *Collation
	table     *weightTable
	// blanksCount is set for nchar and nvarchar, in whose text trailing blanks must be
	// matched; in char and varchar they may be left over (MS docs, LIKE, "Pattern
	// matching by using LIKE").
	blanksCount bool
}

type likeKind uint8

const (
	likeChar likeKind = iota
	likeOne
	likeAny
	likeSet
)

type likeToken struct {
	kind   likeKind
	char   rune
	negate bool
	ranges []likeRange
}

type likeRange struct{ low, high rune }

// NoEscape is the escape character of a LIKE without ESCAPE.
const NoEscape rune = -1

// CompileLike reads a pattern: % any text, _ one character, [a-c] and [^a-c] one of a
// set, and escape before a character that stands for itself. t is the type of the text
// to be matched.
func CompileLike(pattern string, escape rune, t Type) *LikePattern {
	p := &LikePattern{collation: t.collation(), blanksCount: t.ID.IsNational()}
	p.table = p.collation.weights
	if p.collation.SortID != 0 && !t.ID.IsNational() {
		p.table = p.collation.legacyWeights
	}
	for pattern != "" {
		r, w := decodeRune(pattern)
		pattern = pattern[w:]
		switch {
		case r == escape && pattern != "":
			r, w = decodeRune(pattern)
			pattern = pattern[w:]
			p.tokens = append(p.tokens, likeToken{kind: likeChar, char: r})
		case r == '%':
			if n := len(p.tokens); n == 0 || p.tokens[n-1].kind != likeAny {
				p.tokens = append(p.tokens, likeToken{kind: likeAny})
			}
		case r == '_':
			p.tokens = append(p.tokens, likeToken{kind: likeOne})
		case r == '[':
			var set likeToken
			set, pattern = compileSet(pattern, escape)
			p.tokens = append(p.tokens, set)
		default:
			p.tokens = append(p.tokens, likeToken{kind: likeChar, char: r})
		}
	}
	return p
}

// compileSet reads what follows a bracket. A set that is never closed matches nothing.
func compileSet(pattern string, escape rune) (set likeToken, rest string) {
	set.kind = likeSet
	if strings.HasPrefix(pattern, "^") {
		set.negate, pattern = true, pattern[1:]
	}
	next := func() (r rune, literal bool) {
		r, w := decodeRune(pattern)
		pattern = pattern[w:]
		if r == escape && pattern != "" {
			r, w = decodeRune(pattern)
			pattern = pattern[w:]
			return r, true
		}
		return r, false
	}
	for pattern != "" {
		low, literal := next()
		if low == ']' && !literal {
			return set, pattern
		}
		high := low
		if len(pattern) > 1 && pattern[0] == '-' && pattern[1] != ']' {
			pattern = pattern[1:]
			high, _ = next()
		}
		set.ranges = append(set.ranges, likeRange{low, high})
	}
	return likeToken{kind: likeSet}, ""
}

// Match reports whether all of s matches.
func (p *LikePattern) Match(s string) bool {
	if p.match(p.tokens, s) {
		return true
	}
	if p.blanksCount {
		return false
	}
	trimmed := strings.TrimRight(s, " ")
	return trimmed != s && p.match(p.tokens, trimmed)
}

// match walks pattern and text together; on a mismatch it goes back to the last % and
// lets it take one more character, which is enough for every % before it too.
func (p *LikePattern) match(tokens []likeToken, s string) bool {
	i, at := 0, 0
	star, starAt := -1, 0
	for at < len(s) {
		if i < len(tokens) && tokens[i].kind == likeAny {
			star, starAt = i, at
			i++
			continue
		}
		r, w := decodeRune(s[at:])
		if i < len(tokens) && p.matchOne(tokens[i], r) {
			i++
			at += w
			continue
		}
		if star < 0 {
			return false
		}
		_, w = decodeRune(s[starAt:])
		starAt += w
		i, at = star+1, starAt
	}
	for i < len(tokens) && tokens[i].kind == likeAny {
		i++
	}
	return i == len(tokens)
}

func (p *LikePattern) matchOne(t likeToken, r rune) bool {
	switch t.kind {
	case likeOne:
		return true
	case likeChar:
		return p.compare(t.char, r) == 0
	default:
		for _, span := range t.ranges {
			if p.compare(span.low, r) <= 0 && p.compare(r, span.high) <= 0 {
				return !t.negate
			}
		}
		return t.negate
	}
}

// compare orders two characters by the collation. Characters without weight are told
// apart by their numbers, so that no pattern skips them.
func (p *LikePattern) compare(a, b rune) int {
	if a == b {
		return 0
	}
	if p.collation.Binary {
		return int(a - b)
	}
	x, y := p.table.of(a), p.table.of(b)
	if x.ignorable() || y.ignorable() {
		return int(a - b)
	}
	return compareWeights(runeText(a), runeText(b), p.table)
}

func runeText(r rune) string { return string(appendRune(nil, r)) }

// Index returns the byte offset of the first match as PATINDEX finds it: without a
// leading % the match must stand at the start. -1 is none.
func (p *LikePattern) Index(s string) int {
	if len(p.tokens) == 0 || p.tokens[0].kind != likeAny {
		if p.Match(s) {
			return 0
		}
		return -1
	}
	rest := p.tokens[1:]
	for at := 0; ; {
		if p.match(rest, s[at:]) {
			return at
		}
		if at >= len(s) {
			return -1
		}
		_, w := decodeRune(s[at:])
		at += w
	}
}

// Like matches once; compile the pattern where it is used for many rows.
func Like(s, pattern string, escape rune, t Type) bool {
	return CompileLike(pattern, escape, t).Match(s)
}
