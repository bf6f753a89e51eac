package debeziumconfig

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// convert turns the text of a property into the value of a field. An error does
// not quote the text.
type convert func(text string) (any, error)

// references matches what a configuration provider of Kafka Connect replaces:
// ${provider:key} and ${provider:path:key}.
var references = regexp.MustCompile(`\$\{([A-Za-z0-9_.-]+):([^}]*)\}`)

func hasReference(text string) bool {
	return references.MatchString(text)
}

func asText(text string) (any, error) {
	return text, nil
}

// asHost is for the name of a server, beside which JDBC has that of an instance
// too (MS docs, "Building the connection URL").
func asHost(text string) (any, error) {
	if strings.Contains(text, `\`) {
		return nil, errors.New("want the host alone: the name of the instance goes into database.instance, and counts only without a port")
	}
	return text, nil
}

// asWord is for enumerated values, which Debezium reads in any case.
func asWord(text string) (any, error) {
	if hasReference(text) {
		return text, nil
	}
	return strings.ToLower(text), nil
}

// renamed is asWord for values that changed their names.
func renamed(names map[string]string) convert {
	return func(text string) (any, error) {
		word := strings.ToLower(text)
		if now, ok := names[word]; ok {
			return now, nil
		}
		return asWord(text)
	}
}

func asInt(text string) (any, error) {
	if hasReference(text) {
		return Reference(text), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return nil, errors.New("want a whole number")
	}
	return n, nil
}

func asBool(text string) (any, error) {
	if hasReference(text) {
		return Reference(text), nil
	}
	switch strings.ToLower(text) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return nil, errors.New("want true or false")
}

// asMillis turns milliseconds into a duration of Go's form.
func asMillis(text string) (any, error) {
	return duration(text, time.Millisecond, "ms")
}

func duration(text string, unit time.Duration, suffix string) (any, error) {
	if hasReference(text) {
		return text + suffix, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("want a whole number of %s, not negative", suffix)
	}
	d := time.Duration(n) * unit
	if d/unit != time.Duration(n) {
		return nil, errors.New("the number is too large")
	}
	switch {
	case d == 0:
		return "0s", nil
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour), nil
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute), nil
	case d%time.Second == 0:
		return fmt.Sprintf("%ds", d/time.Second), nil
	}
	return fmt.Sprintf("%d%s", n, suffix), nil
}

// asList splits at commas, as Debezium does: a backslash before a comma makes
// it a part of the item.
func asList(text string) (any, error) {
	return split(text), nil
}

// asDatabases splits as asList does. The names are exact; here they are too as
// long as there is a database of that name, but must not be unfit for patterns.
func asDatabases(text string) (any, error) {
	names := split(text)
	for i, name := range names {
		if _, err := schema.CompilePattern(name); err != nil {
			names[i] = specialCharacters.ReplaceAllString(name, `\$0`)
		}
	}
	return names, nil
}

// specialCharacters are those with a meaning in regular expressions.
var specialCharacters = regexp.MustCompile(`[\\^$.|?*+(){}\[\]]`)

// asStatements splits at semicolons; a doubled one stands for itself.
func asStatements(text string) (any, error) {
	const escaped = "\x00"
	var statements []string
	for part := range strings.SplitSeq(strings.ReplaceAll(text, ";;", escaped), ";") {
		if part = strings.TrimSpace(strings.ReplaceAll(part, escaped, ";")); part != "" {
			statements = append(statements, part)
		}
	}
	return statements, nil
}

// split parts a list of regular expressions or names, trims the items and drops
// empty ones. Only a comma's own backslash goes: a regular expression keeps
// its others. A comma inside a reference is the reference's.
func split(text string) []string {
	var (
		items  []string
		item   strings.Builder
		braces bool
		finish = func() {
			if s := strings.TrimSpace(item.String()); s != "" {
				items = append(items, s)
			}
			item.Reset()
		}
	)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			if text[i] != ',' {
				item.WriteByte(c)
			}
			item.WriteByte(text[i])
		case c == ',' && !braces:
			finish()
		default:
			braces = c == '{' && i > 0 && text[i-1] == '$' || braces && c != '}'
			item.WriteByte(c)
		}
	}
	finish()
	return items
}
