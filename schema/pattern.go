package schema

import (
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/javaregexp"
)

// Pattern is a Java regular expression that has to match a whole name,
// ignoring case, as Debezium matches its lists.
type Pattern struct {
	re *javaregexp.Regexp
}

// CompilePattern compiles a pattern. What Java refuses is an error, and so is
// the little of Java's syntax that is not known here.
func CompilePattern(text string) (*Pattern, error) {
	re, err := javaregexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("regular expression %q: %w", text, err)
	}
	return &Pattern{re: re}, nil
}

// Match reports whether the pattern matches the whole of name.
func (p *Pattern) Match(name string) bool { return p.re.Match(name) }

// String returns the pattern as it was given.
func (p *Pattern) String() string { return p.re.String() }
