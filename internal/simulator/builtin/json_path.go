package builtin

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// jsonPath is a path of SQL Server's: lax or strict, $, then .key, ."key" or [n].
// Source: MS docs, "JSON path expressions".
type jsonPath struct {
	strict bool
	steps  []jsonStep
}

// jsonStep is a member of an object or, with an empty key, an element of an array.
type jsonStep struct {
	member bool
	key    string
	index  int
}

// orNull is NULL in a lax path and an error in a strict one.
func (p jsonPath) orNull(number int32, message string) (sqltypes.Value, error) {
	if p.strict {
		return sqltypes.Null(), sqltypes.Errorf(number, 1, 16, "%s", message)
	}
	return sqltypes.Null(), nil
}

// parseJSONPath is error 13607 for what is no path.
func parseJSONPath(text string) (jsonPath, error) {
	var p jsonPath
	rest := strings.TrimLeft(text, " ")
	if after, ok := strings.CutPrefix(rest, "strict "); ok {
		p.strict, rest = true, strings.TrimLeft(after, " ")
	} else if after, ok := strings.CutPrefix(rest, "lax "); ok {
		rest = strings.TrimLeft(after, " ")
	}
	bad := func() (jsonPath, error) {
		return p, unexpectedCharacter(13607, 4, "JSON path", text, len(text)-len(rest))
	}
	if !strings.HasPrefix(rest, "$") {
		return bad()
	}
	for rest = strings.TrimRight(rest[1:], " "); rest != ""; {
		switch {
		case strings.HasPrefix(rest, `."`):
			end := closingQuote(rest[1:])
			if end < 0 {
				return bad()
			}
			step := jsonStep{member: true}
			if json.Unmarshal([]byte(rest[1:end+2]), &step.key) != nil {
				return bad()
			}
			p.steps, rest = append(p.steps, step), rest[end+2:]
		case rest[0] == '.':
			end := 1
			for end < len(rest) && (rest[end] == '_' || rest[end] >= 0x80 || isAlphanumeric(rest[end])) {
				end++
			}
			if end == 1 {
				rest = rest[1:]
				return bad()
			}
			p.steps, rest = append(p.steps, jsonStep{member: true, key: rest[1:end]}), rest[end:]
		case rest[0] == '[':
			digits, after, ok := strings.Cut(rest[1:], "]")
			n, err := strconv.ParseUint(strings.Trim(digits, " "), 10, 31)
			if !ok || err != nil {
				rest = rest[1:]
				return bad()
			}
			p.steps, rest = append(p.steps, jsonStep{index: int(n)}), after
		default:
			return bad()
		}
	}
	return p, nil
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '$'
}

// closingQuote is the place of the quote that ends a JSON string, -1 for none.
func closingQuote(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// find returns the value in valid JSON text that the path leads to; empty for none.
// Of members with one name it is the first.
func (p jsonPath) find(text string) string {
	for _, step := range p.steps {
		open := byte('[')
		if step.member {
			open = '{'
		}
		if text[0] != open {
			return ""
		}
		if text = step.in(text[1 : len(text)-1]); text == "" {
			return ""
		}
	}
	return text
}

// in finds the step's value in what stands between an object's or array's brackets.
func (s jsonStep) in(body string) string {
	for n := 0; ; n++ {
		body = strings.TrimLeft(body, jsonBlanks+",")
		if body == "" {
			return ""
		}
		match := n == s.index
		if s.member {
			end := closingQuote(body) + 1
			var key string
			match = json.Unmarshal([]byte(body[:end]), &key) == nil && key == s.key
			body = strings.TrimLeft(body[end:], jsonBlanks+":")
		}
		end := jsonValueEnd(body)
		if match {
			return strings.TrimRight(body[:end], jsonBlanks)
		}
		body = body[end:]
	}
}

// jsonValueEnd is where the value at the beginning of valid JSON text ends.
func jsonValueEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			i += closingQuote(s[i:])
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(s)
}
