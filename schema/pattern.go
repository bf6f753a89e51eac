package schema

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/dlclark/regexp2"
)

// Pattern is a Java regular expression that has to match a whole name, ignoring
// the case of ASCII letters and of no others, as Debezium matches its lists
// (java.util.regex.Pattern.CASE_INSENSITIVE).
type Pattern struct {
	text  string
	match func(string) bool
}

// CompilePattern compiles a pattern. Java syntax that the engine here does not
// know, or reads differently, is an error.
func CompilePattern(text string) (*Pattern, error) {
	translated, err := fromJava(text)
	if err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", text, err)
	}
	// Alone first: an unbalanced "a)|(b" is well-formed inside parentheses.
	if _, err := regexp2.Compile(translated, regexp2.None); err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", text, err)
	}
	whole := `\A(?:` + translated + `)\z`
	backtracking, err := regexp2.Compile(whole, regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", text, err)
	}
	p := &Pattern{text: text, match: func(name string) bool {
		ok, err := backtracking.MatchString(name)
		// The engine fails on a time-out only, and none is set.
		return ok && err == nil
	}}
	// Go's engine never takes long. It does not know lookaround, and takes a
	// back reference such as \12 for a character.
	if linear, err := regexp.Compile(whole); err == nil && !backReference.MatchString(text) {
		p.match = linear.MatchString
	}
	return p, nil
}

var backReference = regexp.MustCompile(`\\[1-9]`)

// Match reports whether the pattern matches the whole of name.
func (p *Pattern) Match(name string) bool { return p.match(lowerASCII(name)) }

// String returns the pattern as it was given.
func (p *Pattern) String() string { return p.text }

// lowerASCII lowers ASCII letters.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
