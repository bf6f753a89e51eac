package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dlclark/regexp2"
)

// Pattern is a Java regular expression that has to match a whole name,
// ignoring case, as Debezium matches its lists.
type Pattern struct {
	text string
	re   *regexp2.Regexp
}

// CompilePattern compiles a pattern. Java syntax that the engine here does not
// know, or reads differently, is an error.
func CompilePattern(text string) (*Pattern, error) {
	translated, err := fromJava(text)
	if err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", text, err)
	}
	// Alone first: an unbalanced "a)|(b" is well-formed inside parentheses.
	if _, err := regexp2.Compile(translated, regexp2.IgnoreCase); err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", text, err)
	}
	re, err := regexp2.Compile(`\A(?:`+translated+`)\z`, regexp2.IgnoreCase)
	if err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", text, err)
	}
	return &Pattern{text: text, re: re}, nil
}

// Match reports whether the pattern matches the whole of name.
func (p *Pattern) Match(name string) bool {
	ok, err := p.re.MatchString(name)
	// The engine fails on a time-out only, and none is set.
	return ok && err == nil
}

// String returns the pattern as it was given.
func (p *Pattern) String() string { return p.text }

// asciiClasses are Java's predefined classes, which hold ASCII only, as the
// contents of a character class. The engine's own hold all of Unicode.
var asciiClasses = map[byte]string{
	'd': `0-9`, 'D': `0-9`,
	'w': `a-zA-Z_0-9`, 'W': `a-zA-Z_0-9`,
	's': ` \t\n\x0B\f\r`, 'S': ` \t\n\x0B\f\r`,
}

var (
	errNestedClass    = errors.New("a character class inside another is not supported")
	errIntersection   = errors.New("the intersection && of character classes is not supported")
	errNegatedInClass = errors.New(`\D, \W and \S inside a character class are not supported`)
)

// fromJava rewrites a Java pattern for the engine, which is that of .NET.
// Sets inside character classes are refused: Java joins or intersects them,
// .NET takes them for characters or subtracts. What the engine does not know
// at all (\Q, \h, possessive quantifiers) its compiler refuses.
func fromJava(text string) (string, error) {
	var b strings.Builder
	inClass := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text):
			i++
			escape, err := fromJavaEscape(text[i], inClass)
			if err != nil {
				return "", err
			}
			b.WriteString(escape)
			continue
		case !inClass:
			inClass = c == '['
		case c == ']':
			inClass = false
		case c == '[':
			return "", errNestedClass
		case c == '&' && i+1 < len(text) && text[i+1] == '&':
			return "", errIntersection
		}
		b.WriteByte(c)
	}
	return b.String(), nil
}

// fromJavaEscape rewrites the escape of one character.
func fromJavaEscape(c byte, inClass bool) (string, error) {
	class, predefined := asciiClasses[c]
	negated := c == 'D' || c == 'W' || c == 'S'
	switch {
	case !predefined:
		return string([]byte{'\\', c}), nil
	case inClass && negated:
		return "", errNegatedInClass
	case inClass:
		return class, nil
	case negated:
		return "[^" + class + "]", nil
	default:
		return "[" + class + "]", nil
	}
}
