package debeziumconfig

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// token matches one token of the scripts that are translated.
var token = regexp.MustCompile(`^(?:\s+|[A-Za-z_]\w*(?:\??\.[A-Za-z_]\w*)*|\d+(?:\.\d+)?|'(?:[^'\\$]|\\.)*'|"(?:[^"\\$]|\\.)*"|===|!==|==|!=|<=|>=|&&|\|\||[-+*/%<>!()?:])`)

// errScript is the error for what is more than a comparison of fields.
var errScript = errors.New("the script is more than a comparison of fields; write a mapping")

// bloblangOf translates the simple half of Groovy and JavaScript: fields,
// literals, comparisons, and, or, not, and one choice, "a ? b : c". Names maps
// the first part of a field's path.
func bloblangOf(script string, names map[string]string) (string, error) {
	var (
		out    strings.Builder
		choice int // depth of ? seen: 1 waits for the colon, 2 is behind it
	)
	for rest := strings.TrimSpace(script); rest != ""; {
		t := token.FindString(rest)
		if t == "" {
			return "", errScript
		}
		rest = rest[len(t):]
		switch {
		case strings.TrimSpace(t) == "":
			out.WriteByte(' ')
		case t == "?":
			if choice != 0 || strings.Count(out.String(), "(") != strings.Count(out.String(), ")") {
				return "", errScript
			}
			choice = 1
			condition := strings.TrimSpace(out.String())
			out.Reset()
			out.WriteString("if " + condition + " {")
		case t == ":":
			if choice != 1 {
				return "", errScript
			}
			choice = 2
			out.WriteString("} else {")
		case t == "===" || t == "!==":
			out.WriteString(t[:2])
		case t[0] == '\'' || t[0] == '"':
			text, err := literal(t)
			if err != nil {
				return "", err
			}
			out.WriteString(text)
		case plainName.MatchString(t[:1]):
			word, err := fieldOf(t, names)
			if err != nil || strings.HasPrefix(strings.TrimSpace(rest), "(") {
				return "", errScript
			}
			out.WriteString(word)
		default:
			out.WriteString(t)
		}
	}
	switch choice {
	case 1:
		return "", errScript
	case 2:
		out.WriteString(" }")
	}
	expression := strings.TrimSpace(out.String())
	if expression == "" {
		return "", errors.New("the script is empty")
	}
	return expression, nil
}

// literal turns a text in either kind of quotes into Bloblang's.
func literal(quoted string) (string, error) {
	inner := quoted[1 : len(quoted)-1]
	if quoted[0] == '\'' {
		inner = strings.ReplaceAll(strings.ReplaceAll(inner, `\'`, `'`), `"`, `\"`)
	}
	text, err := strconv.Unquote(`"` + inner + `"`)
	if err != nil {
		return "", errScript
	}
	return strconv.Quote(text), nil
}

// fieldOf translates a path or a word.
func fieldOf(word string, names map[string]string) (string, error) {
	first, rest, isPath := strings.Cut(strings.ReplaceAll(word, "?.", "."), ".")
	if !isPath {
		switch word {
		case "true", "false", "null":
			return word, nil
		}
	}
	name, known := names[first]
	if !known {
		return "", errScript
	}
	if !isPath {
		return name, nil
	}
	// Headers are flat: Debezium's scripts ask for header.name.value.
	if name == "@" {
		return name + path(strings.TrimSuffix(rest, ".value")), nil
	}
	if first == "topic" {
		return "", errScript
	}
	return name + "." + rest, nil
}
