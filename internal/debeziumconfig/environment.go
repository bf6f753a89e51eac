package debeziumconfig

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Variable is an environment variable that a pipeline needs.
type Variable struct {
	Name string
	// Origin says what its value was in the connector's configuration: a
	// property, and the reference in it if there was one.
	Origin string
}

// environment hands out names of variables.
type environment struct {
	variables []Variable
	salts     []string
}

// salt returns the reference to a variable for a salt; equal salts have one.
func (e *environment) salt(text string) string {
	number := slices.Index(e.salts, text) + 1
	if number == 0 {
		e.salts = append(e.salts, text)
		number = len(e.salts)
	}
	return e.named("MASK_SALT", fmt.Sprintf("salt number %d of column.mask.hash.*", number))
}

// variableNames are the names that the project's examples use.
var variableNames = map[string]string{
	"database.hostname": "SQLSERVER_HOST",
	"database.port":     "SQLSERVER_PORT",
	"database.user":     "SQLSERVER_USER",
	"database.password": "SQLSERVER_PASSWORD",
	"database.instance": "SQLSERVER_INSTANCE",
	"database.names":    "SQLSERVER_DATABASE",
	"database.dbname":   "SQLSERVER_DATABASE",
}

var notInVariables = regexp.MustCompile(`[^A-Z0-9]+`)

// variable returns the reference to a variable for a value of a property. A
// reference of the provider env keeps its variable's name; others are named by
// the property, because names such as USER mean something else already. The
// same value asked for twice is one variable.
func (e *environment) variable(property, reference string) string {
	if match := references.FindStringSubmatch(reference); match != nil && strings.EqualFold(match[1], "env") {
		name, otherwise, hasDefault := strings.Cut(match[2], ":")
		origin := property
		if hasDefault && !isSecret(property) {
			origin += ", by default " + otherwise
		}
		return e.named(name, origin)
	}
	name, ok := variableNames[property]
	if !ok {
		name = strings.Trim(notInVariables.ReplaceAllString(strings.ToUpper(property), "_"), "_")
	}
	origin := property
	if reference != "" {
		origin += ", " + reference
	}
	return e.named(name, origin)
}

func (e *environment) named(name, origin string) string {
	for n := 1; ; n++ {
		candidate := name
		if n > 1 {
			candidate = fmt.Sprintf("%s_%d", name, n)
		}
		taken := false
		for _, v := range e.variables {
			if v.Name == candidate {
				if v.Origin == origin {
					return "${" + candidate + "}"
				}
				taken = true
			}
		}
		if !taken {
			e.variables = append(e.variables, Variable{Name: candidate, Origin: origin})
			return "${" + candidate + "}"
		}
	}
}

// resolve puts variables in the place of references, and escapes what Benthos
// would take for a variable of its own.
func (e *environment) resolve(property, text string) string {
	var out strings.Builder
	for {
		at := references.FindStringIndex(text)
		if at == nil {
			out.WriteString(escapeVariables(text))
			return out.String()
		}
		out.WriteString(escapeVariables(text[:at[0]]))
		out.WriteString(e.variable(property, text[at[0]:at[1]]))
		text = text[at[1]:]
	}
}

var (
	// simpleVariable matches what Benthos replaces anywhere in a file.
	simpleVariable = regexp.MustCompile(`\$(\{[0-9A-Za-z_.]+\})`)
	// openVariable matches the beginning of a variable with a default or a
	// function. Its end may be anywhere in the file, behind line breaks too.
	openVariable = regexp.MustCompile(`\$(\{[0-9A-Za-z_.]+(?:[^0-9A-Za-z_.}]|$))`)
)

// escapeVariables doubles the braces of what Benthos would take for a variable,
// so that it leaves the text as it is.
func escapeVariables(text string) string {
	return simpleVariable.ReplaceAllString(text, "$${$1}")
}

// hideVariables writes the dollar sign of what escapeVariables leaves in another
// way.
func hideVariables(text, dollar string) string {
	return openVariable.ReplaceAllStringFunc(text, func(match string) string { return dollar + match[1:] })
}
