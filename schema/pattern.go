package schema

import (
	"fmt"

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
	if construct := foreignConstruct(text); construct != "" {
		return nil, fmt.Errorf("regular expression %q: %s is not supported", text, construct)
	}
	if _, err := regexp2.Compile(text, regexp2.IgnoreCase); err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", text, err)
	}
	re, err := regexp2.Compile(`\A(?:`+text+`)\z`, regexp2.IgnoreCase)
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

// foreignConstruct finds Java syntax that the engine, which is that of .NET,
// accepts with another meaning: sets inside character classes, which Java
// joins and .NET takes for characters or subtracts. What the engine does not
// know at all (\Q, \h, possessive quantifiers) its compiler refuses.
func foreignConstruct(text string) string {
	inClass := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case !inClass:
			if c == '[' {
				inClass = true
				i += skipClassStart(text[i+1:])
			}
		case c == ']':
			inClass = false
		case c == '[':
			return "a character class inside another"
		case c == '&' && i+1 < len(text) && text[i+1] == '&':
			return "the intersection && of character classes"
		}
	}
	return ""
}

// skipClassStart returns the length of a negation at the start of a class.
func skipClassStart(rest string) int {
	if len(rest) > 0 && rest[0] == '^' {
		return 1
	}
	return 0
}
