package debeziumconfig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errKey is the error for transformations of keys whose Bloblang is long.
var errKey = errors.New("with schemas the schema of the key would have to change too; set key.converter.schemas.enable to false, or write a mapping")

// sortedKeys is the remark of mappings that take keys apart.
const sortedKeys = "The fields of keys come in the order of the alphabet: equal keys stay equal, but may go to other partitions than Debezium's."

// isKey reports whether the class ends in $Key, and refuses any other end than
// $Value.
func (s *smt) isKey() (bool, error) {
	switch s.target {
	case "Key":
		return true, nil
	case "Value":
		return false, nil
	}
	return false, errors.New("want a class that ends in $Key or $Value")
}

// value is the path of the value's fields.
func (s *smt) value() string {
	if s.schemas.value {
		return "this.payload"
	}
	return "this"
}

// out is where the value's fields are assigned.
func (s *smt) out() string {
	if s.schemas.value {
		return "root.payload"
	}
	return "root"
}

// keep begins a mapping that changes a part of the value.
const keep = "root = this"

// valueStep is a step for messages that have a value.
func valueStep(mapping ...string) []Step {
	return []Step{{Check: notTombstone, Mapping: lines(mapping...)}}
}

// keyStep is a step for messages that have a key; the new one is an expression
// over $key.
func keyStep(expression string) []Step {
	return []Step{{Mapping: lines(
		"let key = @key.parse_json().catch(null)",
		"meta key = if $key != null { ("+expression+").format_json(no_indent: true).string() }",
	)}}
}

// extractField puts one field in the place of the whole.
func extractField(s *smt) ([]Step, error) {
	isKey, err := s.isKey()
	if err != nil {
		return nil, err
	}
	field := s.get("field", "")
	if field == "" {
		return nil, errors.New("field is missing")
	}
	const schema = `.schema.fields.filter(f -> f.field == %s).index(0).without("field")`
	switch {
	case isKey && s.schemas.key:
		return keyStep(fmt.Sprintf(`{"schema": $key`+schema+`, "payload": $key.payload.%s}`, strconv.Quote(field), path(field))), nil
	case isKey && s.textKeys:
		return []Step{{Mapping: lines(
			"let key = @key.parse_json().catch(null)",
			"meta key = if $key != null { $key."+path(field)+".string() }",
		)}}, nil
	case isKey:
		return keyStep("$key." + path(field)), nil
	case s.schemas.value:
		return valueStep(
			"root.schema = "+fmt.Sprintf("this"+schema, strconv.Quote(field)),
			"root.payload = this.payload."+path(field),
		), nil
	}
	return valueStep("root = this." + path(field)), nil
}

// hoistField puts the whole into one field.
func hoistField(s *smt) ([]Step, error) {
	isKey, err := s.isKey()
	if err != nil {
		return nil, err
	}
	field := strconv.Quote(s.get("field", ""))
	if isKey && !s.schemas.key {
		return []Step{{Mapping: fmt.Sprintf(`meta key = if @key != null { %s + @key + "}" }`, strconv.Quote("{"+field+":"))}}, nil
	}
	const framed = `{"schema": {"type": "struct", "optional": false, "fields": [%[1]s.schema.assign({"field": %[2]s})]}, "payload": {%[2]s: %[1]s.payload}}`
	switch {
	case isKey:
		return keyStep(fmt.Sprintf(framed, "$key", field)), nil
	case s.schemas.value:
		return valueStep("root = " + fmt.Sprintf(framed, "this", field)), nil
	}
	return valueStep(fmt.Sprintf("root = {%s: this}", field)), nil
}

// insertField adds a fixed text or the topic.
func insertField(s *smt) ([]Step, error) {
	isKey, err := s.isKey()
	if err != nil {
		return nil, err
	}
	var mapping []string
	add := func(property, value string) {
		field := strings.TrimRight(s.get(property, ""), "!?")
		switch {
		case field == "":
		case isKey:
			mapping = append(mapping, s.keyField(field, value))
		default:
			mapping = append(mapping, s.addField(field, value, "string")...)
		}
	}
	add("static.field", strconv.Quote(s.get("static.value", "")))
	add("topic.field", "@topic")
	for _, property := range []string{"timestamp.field", "partition.field", "offset.field"} {
		if s.get(property, "") != "" {
			return nil, fmt.Errorf("%s: the record has none before it is in Kafka; a mapping can add now()", property)
		}
	}
	switch {
	case len(mapping) == 0:
		return nil, errors.New("nothing is inserted")
	case isKey && len(mapping) > 1:
		return nil, errors.New("two fields of a key; write a mapping")
	case isKey:
		return []Step{{Mapping: mapping[0]}}, nil
	}
	return valueStep(append([]string{keep}, mapping...)...), nil
}

// addField adds a field to the value, and to its schema if there is one.
func (s *smt) addField(field, value, kind string) []string {
	mapping := []string{fmt.Sprintf("%s.%s = %s", s.out(), path(field), value)}
	if s.schemas.value {
		mapping = append(mapping, fmt.Sprintf(`root.schema.fields = root.schema.fields.append({"type": %s, "optional": true, "field": %s})`, strconv.Quote(kind), strconv.Quote(field)))
	}
	return mapping
}

// maskField empties fields, or puts a fixed value in their places. NULL stays.
func maskField(s *smt) ([]Step, error) {
	isKey, err := s.isKey()
	if err != nil {
		return nil, err
	}
	if isKey {
		return nil, errors.New("keys are not masked; column_mask_keys masks them at the source")
	}
	text, number := `""`, "0"
	if with := s.get("replacement", ""); with != "" {
		text = strconv.Quote(with)
		if _, err := strconv.ParseFloat(with, 64); err == nil {
			number = with
		}
	}
	mapping := []string{keep}
	for _, field := range split(s.get("fields", "")) {
		mapping = append(mapping, fmt.Sprintf(`%s.%s = match %s.%s.type() { "string" => %s, "number" => %s, "bool" => false, "array" => [], "object" => {}, _ => null }`,
			s.out(), path(field), s.value(), path(field), text, number))
	}
	if len(mapping) == 1 {
		return nil, errors.New("fields is empty")
	}
	s.remark("A decimal in bytes becomes an empty text; column_mask_with_chars masks at the source.")
	return valueStep(mapping...), nil
}

// replaceField leaves fields out or renames them.
func replaceField(s *smt) ([]Step, error) {
	isKey, err := s.isKey()
	if err != nil {
		return nil, err
	}
	exclude := split(s.get("exclude", s.get("blacklist", "")))
	include := split(s.get("include", s.get("whitelist", "")))
	var from, cases []string
	for _, rename := range split(s.get("renames", "")) {
		old, now, ok := strings.Cut(rename, ":")
		if !ok {
			return nil, errors.New("renames: want old:new")
		}
		from = append(from, old)
		cases = append(cases, strconv.Quote(old)+" => "+strconv.Quote(now))
	}
	conditions := func(name string) string {
		condition := ""
		if len(exclude) > 0 {
			condition = "!" + quoteList(exclude) + ".contains(" + name + ")"
		}
		if len(include) > 0 {
			condition = both(condition, quoteList(include)+".contains("+name+")")
		}
		return condition
	}
	if len(exclude)+len(include)+len(from) == 0 {
		return nil, errors.New("nothing is replaced")
	}
	object := func(of string) string {
		if condition := conditions("f.key"); condition != "" {
			of += ".filter(f -> " + condition + ")"
		}
		if len(cases) > 0 {
			of += ".map_each_key(k -> match k { " + strings.Join(cases, ", ") + ", _ => k })"
		}
		return of
	}
	switch {
	case isKey && s.schemas.key:
		return nil, errKey
	case isKey:
		s.remark(sortedKeys)
		return keyStep(object("$key")), nil
	case !s.schemas.value:
		return valueStep("root = " + object("this")), nil
	}
	mapping := []string{keep, "root.payload = " + object("this.payload")}
	fields := "this.schema.fields"
	if condition := conditions("f.field"); condition != "" {
		fields += ".filter(f -> " + condition + ")"
	}
	if len(cases) > 0 {
		fields += `.map_each(f -> f.assign({"field": match f.field { ` + strings.Join(cases, ", ") + ", _ => f.field }}))"
	}
	return valueStep(append(mapping, "root.schema.fields = "+fields)...), nil
}

// timestampConverter writes a time, in milliseconds, as text.
func timestampConverter(s *smt) ([]Step, error) {
	isKey, err := s.isKey()
	if err != nil {
		return nil, err
	}
	field, target := s.get("field", ""), s.get("target.type", "")
	precision := s.get("unix.precision", "milliseconds")
	switch {
	case isKey || field == "" || target != "string" || precision != "milliseconds":
		return nil, fmt.Errorf("only a field of the value can be made a string of milliseconds; time_precision_mode may do more at the source")
	}
	layout, err := goLayout(s.get("format", ""))
	if err != nil {
		return nil, err
	}
	in := s.value() + "." + path(field)
	mapping := []string{keep, fmt.Sprintf(`%s.%s = if %s != null { (%s / 1000).ts_round("1ms".parse_duration()).ts_format(%s, "UTC") }`, s.out(), path(field), in, in, strconv.Quote(layout))}
	if s.schemas.value {
		mapping = append(mapping, fmt.Sprintf(`root.schema.fields = this.schema.fields.map_each(f -> if f.field == %[1]s { {"type": "string", "optional": f.optional, "field": f.field} } else { f })`, strconv.Quote(field)))
	}
	return valueStep(mapping...), nil
}

// valueToKey makes keys of fields of the value.
func valueToKey(s *smt) ([]Step, error) {
	fields := split(s.get("fields", ""))
	if len(fields) == 0 {
		return nil, errors.New("fields is empty")
	}
	if s.schemas.key {
		return nil, errKey
	}
	if s.tombstones {
		s.remark("A tombstone has no value to make a key of; it keeps its own. message_key_columns makes keys at the source.")
	}
	parts := make([]string, len(fields))
	for i, field := range fields {
		parts[i] = fmt.Sprintf("%s + %s.%s.format_json(no_indent: true).string()", strconv.Quote(strconv.Quote(field)+":"), s.value(), path(field))
	}
	return valueStep(`meta key = "{" + ` + strings.Join(parts, ` + "," + `) + ` + "}"`), nil
}
