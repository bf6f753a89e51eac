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
func bloblangOf(text string, names map[string]string) (string, error) {
	s := script{names: names}
	for rest := strings.TrimSpace(text); rest != ""; {
		t := token.FindString(rest)
		if t == "" {
			return "", errScript
		}
		rest = rest[len(t):]
		isCall := plainName.MatchString(t[:1]) && strings.HasPrefix(strings.TrimSpace(rest), "(")
		if err := s.add(t); err != nil || isCall {
			return "", errScript
		}
	}
	return s.finish()
}

// script is an expression being translated.
type script struct {
	names map[string]string
	out   strings.Builder
	// operand is what stands since the last and, or, not, parenthesis or part
	// of a choice.
	operand strings.Builder
	depth   int // of parentheses
	choice  int // 1 behind the question mark, 2 behind the colon
}

// add adds one token.
func (s *script) add(t string) error {
	switch t {
	case "&&", "||", "!":
		if err := s.flush(); err != nil {
			return err
		}
		s.out.WriteString(t)
		return nil
	case "(", ")":
		return s.parenthesis(t)
	case "?", ":":
		return s.choose(t)
	case "===", "!==":
		s.operand.WriteString(t[:2])
		return nil
	}
	switch {
	case strings.TrimSpace(t) == "":
		s.operand.WriteByte(' ')
	case t[0] == '\'' || t[0] == '"':
		text, err := literal(t)
		s.operand.WriteString(text)
		return err
	case plainName.MatchString(t[:1]):
		word, err := fieldOf(t, s.names)
		s.operand.WriteString(word)
		return err
	default:
		s.operand.WriteString(t)
	}
	return nil
}

// flush writes the operand. Comparing an order with null is false in the
// scripts and an error in Bloblang.
func (s *script) flush() error {
	text := s.operand.String()
	s.operand.Reset()
	if at := strings.IndexAny(unquoted(text), "<>"); at >= 0 {
		left, right := text[:at], strings.TrimLeft(text[at:], "<>=")
		if strings.TrimSpace(left) == "" || strings.TrimSpace(right) == "" {
			return errScript
		}
		text = strings.Replace(text, strings.TrimSpace(text), "("+strings.TrimSpace(text)+").catch(false)", 1)
	}
	s.out.WriteString(text)
	return nil
}

// unquoted is a text with what stands in quotes blanked.
func unquoted(text string) string {
	return quoted.ReplaceAllStringFunc(text, func(literal string) string { return strings.Repeat("_", len(literal)) })
}

var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

func (s *script) parenthesis(t string) error {
	if err := s.flush(); err != nil {
		return err
	}
	if s.depth++; t == ")" {
		s.depth -= 2
	}
	s.out.WriteString(t)
	if s.depth < 0 {
		return errScript
	}
	return nil
}

// choose turns the one choice, outside of parentheses, into if and else.
func (s *script) choose(t string) error {
	if err := s.flush(); err != nil {
		return err
	}
	switch {
	case t == "?" && s.choice == 0 && s.depth == 0:
		condition := strings.TrimSpace(s.out.String())
		s.out.Reset()
		s.out.WriteString("if " + condition + " {")
	case t == ":" && s.choice == 1 && s.depth == 0:
		s.out.WriteString("} else {")
	default:
		return errScript
	}
	s.choice++
	return nil
}

func (s *script) finish() (string, error) {
	if err := s.flush(); err != nil || s.depth != 0 || s.choice == 1 {
		return "", errScript
	}
	if s.choice == 2 {
		s.out.WriteString(" }")
	}
	expression := strings.TrimSpace(s.out.String())
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
