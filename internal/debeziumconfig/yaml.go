package debeziumconfig

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// lineWidth is where lists and comments are broken.
const lineWidth = 100

// writer writes YAML with comments, which no encoder of YAML places well.
type writer struct {
	bytes.Buffer
	env *environment
}

// line writes one indented line.
func (w *writer) line(indent int, format string, args ...any) {
	w.WriteString(strings.TrimRight(strings.Repeat(" ", indent)+fmt.Sprintf(format, args...), " ") + "\n")
}

// comment writes text as comments, broken at words.
func (w *writer) comment(indent int, text string) {
	text = strings.Map(func(r rune) rune {
		if notInYAML(r) && r != '\n' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	for paragraph := range strings.Lines(hideVariables(escapeVariables(text), "$ ")) {
		current := "#"
		for word := range strings.FieldsSeq(paragraph) {
			if len(current)+1+len(word)+indent > lineWidth && current != "#" {
				w.line(indent, "%s", current)
				current = "#  "
			}
			current += " " + word
		}
		w.line(indent, "%s", current)
	}
}

// field writes a name and its value.
func (w *writer) field(indent int, f Field) {
	w.value(indent, f.Name, f.Property, f.Value, f.Secret)
}

func (w *writer) value(indent int, name, property string, value any, secret bool) {
	switch v := value.(type) {
	case map[string]any:
		w.line(indent, "%s:", name)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			w.value(indent+2, w.scalar("", key, false), property, v[key], isSecret(key))
		}
	case []map[string]any:
		w.line(indent, "%s:", name)
		for _, object := range v {
			w.object(indent+2, property, object)
		}
	case []string:
		w.list(indent, name, property, v)
	default:
		w.line(indent, "%s: %s", name, w.scalar(property, v, secret))
	}
}

// object writes an item of a list of objects.
func (w *writer) object(indent int, property string, object map[string]any) {
	start := w.Len()
	for _, key := range slices.Sorted(maps.Keys(object)) {
		w.value(indent+2, key, property, asSalt(key, object[key]), false)
	}
	w.Bytes()[start+indent] = '-'
}

// salt is the salt of a mask: a secret that stands in the name of a property.
type salt string

// asSalt marks the value of an object's key if it is a salt.
func asSalt(key string, value any) any {
	if text, isText := value.(string); isText && key == "salt" {
		return salt(text)
	}
	return value
}

// list writes a list in one line if it fits.
func (w *writer) list(indent int, name, property string, items []string) {
	scalars := make([]string, len(items))
	for i, item := range items {
		scalars[i] = w.scalar(property, item, false)
	}
	line := name + ": [ " + strings.Join(scalars, ", ") + " ]"
	if len(items) == 0 {
		line = name + ": []"
	}
	if indent+len(line) <= lineWidth {
		w.line(indent, "%s", line)
		return
	}
	w.line(indent, "%s:", name)
	for _, s := range scalars {
		w.line(indent+2, "- %s", s)
	}
}

var (
	// bareText matches texts that need no quotes, and bareWords those of them
	// that YAML takes for something else.
	bareText  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)
	bareWords = regexp.MustCompile(`(?i)^(true|false|yes|no|on|off|null|y|n)$`)
)

// scalar is a value in one line. Secrets become variables.
func (w *writer) scalar(property string, value any, secret bool) string {
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case Reference:
		return w.env.resolve(property, string(v))
	case string:
		switch {
		case secret && hasReference(v):
			v = w.env.resolve(property, v)
		case secret:
			v = w.env.variable(property, "")
		default:
			v = w.env.resolve(property, v)
		}
		return quoteScalar(v)
	case salt:
		return quoteScalar(w.env.salt(string(v)))
	}
	return quoteScalar(fmt.Sprint(value))
}

// quoteScalar quotes a text if it needs it.
func quoteScalar(text string) string {
	text = strings.ToValidUTF8(text, "\ufffd")
	switch {
	case bareText.MatchString(text) && !bareWords.MatchString(text) || durationText.MatchString(text):
		return text
	case strings.ContainsFunc(text, notInYAML), openVariable.MatchString(text):
		// Go's escapes are YAML's too.
		return hideVariables(strconv.QuoteToASCII(text), `\x24`)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// notInYAML reports whether a character has to be escaped; line breaks are among
// them, because a value stands in one line.
func notInYAML(r rune) bool {
	return !unicode.IsPrint(r) && r != '\u00a0'
}

// durationText matches durations, which begin with a digit and are no numbers.
var durationText = regexp.MustCompile(`^[0-9]+(ms|s|m|h)$`)

// block writes Bloblang as a block of text.
func (w *writer) block(indent int, name, text string) {
	// A dollar sign before a brace is always inside a literal of Bloblang.
	text = hideVariables(escapeVariables(text), `\x24`)
	if !strings.Contains(text, "\n") && !strings.ContainsAny(text, "#") && !strings.Contains(text, ": ") && text[0] != '@' && text[0] != '!' {
		w.line(indent, "%s: %s", name, text)
		return
	}
	w.line(indent, "%s: |", name)
	if strings.HasPrefix(name, "- ") {
		indent += 2
	}
	for line := range strings.SplitSeq(text, "\n") {
		w.line(indent+2, "%s", line)
	}
}
