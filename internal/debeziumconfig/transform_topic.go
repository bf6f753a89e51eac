package debeziumconfig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// regexRouter renames topics.
func regexRouter(s *smt) ([]Step, error) {
	renamed, err := s.renamedTopic("regex", "replacement")
	if err != nil {
		return nil, err
	}
	return []Step{{Mapping: "meta topic = " + renamed}}, nil
}

// renamedTopic is the topic with a whole match replaced; a topic that does not
// match stays as it is.
func (s *smt) renamedTopic(regex, with string) (string, error) {
	pattern, err := wholeMatch(s.get(regex, ""))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("@topic.re_replace_all(%s, %s)", strconv.Quote(pattern), strconv.Quote(replacement(s.get(with, "")))), nil
}

// byLogicalTableRouter gathers tables in one topic; the key says which table a
// row is of.
func byLogicalTableRouter(s *smt) ([]Step, error) {
	renamed, err := s.renamedTopic("topic.regex", "topic.replacement")
	if err != nil {
		return nil, err
	}
	pattern, _ := wholeMatch(s.get("topic.regex", ""))
	var mapping []string
	if s.flag("key.enforce.uniqueness", true) {
		table := "@topic"
		if s.get("key.field.regex", "") != "" {
			if table, err = s.renamedTopic("key.field.regex", "key.field.replacement"); err != nil {
				return nil, err
			}
		}
		mapping = append(mapping, s.keyField(s.get("key.field.name", "__dbz__physicalTableIdentifier"), table))
	}
	// Last, because what was assigned is what @topic means from then on.
	mapping = append(mapping, "meta topic = "+renamed)
	if s.schemas.key || s.schemas.value {
		s.remark("The names of schemas stay those of the table.")
	}
	return []Step{{Check: "@topic.re_match(" + strconv.Quote(pattern) + ")", Mapping: lines(mapping...)}}, nil
}

// keyField adds a text to keys. Without schemas it is written behind the other
// fields, so that the bytes of keys are Debezium's.
func (s *smt) keyField(field, value string) string {
	if !s.schemas.key {
		return fmt.Sprintf(`meta key = if @key != null { @key.slice(0, -1) + %s + %s.format_json().string() + "}" }`, strconv.Quote(","+strconv.Quote(field)+":"), value)
	}
	s.remark("The fields of keys come in another order: equal keys stay equal, but go to other partitions than Debezium's.")
	return lines(
		"let key = @key.parse_json().catch(null)",
		"let field = "+fmt.Sprintf(`{"type": "string", "optional": false, "field": %s}`, strconv.Quote(field)),
		fmt.Sprintf(`meta key = if $key != null { $key.assign({"schema": {"fields": $key.schema.fields.append($field)}, "payload": {%s: %s}}).format_json(no_indent: true).string() }`, strconv.Quote(field), value),
	)
}

// timestampRouter appends a time to topics.
func timestampRouter(s *smt) ([]Step, error) {
	layout, err := goLayout(s.get("timestamp.format", "yyyyMMdd"))
	if err != nil {
		return nil, err
	}
	format := s.get("topic.format", "${topic}-${timestamp}")
	var parts []string
	for format != "" {
		text, rest, found := cutAny(format, "${topic}", "${timestamp}")
		if text != "" {
			parts = append(parts, strconv.Quote(text))
		}
		switch found {
		case "${topic}":
			parts = append(parts, "@topic")
		case "${timestamp}":
			parts = append(parts, "now().ts_format("+strconv.Quote(layout)+`, "UTC")`)
		}
		format = rest
	}
	if len(parts) == 0 {
		return nil, errors.New("topic.format is empty")
	}
	s.remark("The time is now: records of the connector carry none for Kafka Connect to use.")
	return []Step{{Mapping: "meta topic = " + strings.Join(parts, " + ")}}, nil
}

// cutAny cuts a text at the first of some words.
func cutAny(text string, words ...string) (before, after, found string) {
	before = text
	for _, word := range words {
		if i := strings.Index(text, word); i >= 0 && i < len(before) {
			before, after, found = text[:i], text[i+len(word):], word
		}
	}
	return before, after, found
}

// contentBasedRouter names the topic by an expression over the message.
func contentBasedRouter(s *smt) ([]Step, error) {
	expression, check, err := s.expression("topic.expression")
	if err != nil {
		return nil, err
	}
	return []Step{{Check: check, Mapping: lines("let topic = "+expression, "meta topic = if $topic != null { $topic }")}}, nil
}

// filterByContent keeps the messages for which an expression holds.
func filterByContent(s *smt) ([]Step, error) {
	expression, check, err := s.expression("condition")
	if err != nil {
		return nil, err
	}
	steps := []Step{{Check: check, Mapping: "root = if !(" + expression + ") { deleted() }"}}
	if s.get("null.handling.mode", "keep") == "drop" {
		steps = append(steps, Step{Check: `@kind == "tombstone"`, Mapping: "root = deleted()"})
	}
	return steps, nil
}

// expression translates a property that is a script, and the condition of the
// messages that it is for.
func (s *smt) expression(property string) (expression, check string, err error) {
	value := "this"
	if s.schemas.value {
		value = "this.payload"
	}
	key := "@key.parse_json()"
	if s.schemas.key {
		key = "@key.parse_json().payload"
	}
	s.get("language", "")
	s.get("null.handling.mode", "keep")
	expression, err = bloblangOf(s.get(property, ""), map[string]string{"value": value, "key": key, "topic": "@topic", "header": "@", "headers": "@"})
	if err != nil {
		return "", "", err
	}
	check = notTombstone
	if topics := s.get("topic.regex", ""); topics != "" {
		pattern, err := wholeMatch(topics)
		if err != nil {
			return "", "", err
		}
		check = both(check, "@topic.re_match("+strconv.Quote(pattern)+")")
	}
	return expression, check, nil
}

// drop is Kafka's own filter: whatever its predicate holds for goes.
func drop(*smt) ([]Step, error) {
	return []Step{{Mapping: "root = deleted()"}}, nil
}

// insertHeader adds a header of a fixed text.
func insertHeader(s *smt) ([]Step, error) {
	return []Step{{Mapping: fmt.Sprintf("meta %s = %s", path(s.get("header", "")), strconv.Quote(s.get("value.literal", "")))}}, nil
}

// dropHeaders removes headers.
func dropHeaders(s *smt) ([]Step, error) {
	var mapping []string
	for _, header := range split(s.get("headers", "")) {
		mapping = append(mapping, "meta "+path(header)+" = deleted()")
	}
	if len(mapping) == 0 {
		return nil, errors.New("headers is empty")
	}
	return []Step{{Mapping: lines(mapping...)}}, nil
}
