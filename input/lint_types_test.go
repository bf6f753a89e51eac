package input

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A value of another type than the field's, which a start refuses, has a lint. The
// linter of Benthos does not look into scalars that are to be numbers or booleans,
// and then calls neither the field's lint rule nor that of all fields: those a start
// alone refuses, by the name of the field. Nothing at all is taken for a variable that is set where it runs.
func TestLint_WrongTypes(t *testing.T) {
	names := fieldNames()
	require.NotEmpty(t, names)
	for _, name := range names {
		for _, value := range []string{"abc", "true", "[{}]", "{ a: 1 }"} {
			yaml := merged(lintable, name+": "+value)
			parsed, err := sharedSpec().ParseYAML(yaml, nil)
			if err != nil && value[0] != '[' && value[0] != '{' {
				assert.ErrorContains(t, err, "'"+name+"'")
				continue
			}
			if err == nil {
				_, err = parseConfig(parsed)
			}
			if err != nil {
				assert.NotEmpty(t, lint(t, Name+":\n"+indented(yaml)), "%s: %s", name, value)
			}
		}
	}
}
