package debeziumconfig

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// extractNewRecordState puts the row in the place of the envelope.
func extractNewRecordState(s *smt) ([]Step, error) {
	deletes, err := s.deleteHandling()
	if err != nil {
		return nil, err
	}
	var steps []Step
	rewrite := strings.HasPrefix(deletes, "rewrite")
	switch deletes {
	case "drop":
		steps = append(steps, Step{Mapping: `root = if @kind == "tombstone" || @op == "d" { deleted() }`})
	case "tombstone":
		steps = append(steps, Step{Mapping: `root = if @kind == "change" && @op == "d" { deleted() }`})
	case "rewrite":
		steps = append(steps, Step{Mapping: `root = if @kind == "tombstone" { deleted() }`})
	}
	mapping := s.row(rewrite)
	if rewrite {
		mapping = append(mapping, s.addField("__deleted", `(@op == "d").string()`, "string")...)
	}
	prefix := s.get("add.fields.prefix", "__")
	for _, field := range split(s.get("add.fields", "")) {
		name, from := added(prefix, field)
		mapping = append(mapping, s.addField(name, s.value()+"."+from, typeOf(from))...)
	}
	for _, header := range split(s.get("add.headers", "")) {
		name, from := added(s.get("add.headers.prefix", "__"), header)
		mapping = append(mapping, fmt.Sprintf("meta %s = %s.%s", path(name), s.value(), from))
	}
	if field := s.get("route.by.field", ""); field != "" {
		mapping = append(mapping, fmt.Sprintf(`meta topic = (if @op == "d" { %[1]s.before } else { %[1]s.after }).%[2]s`, s.value(), path(field)))
	}
	s.flag("replace.null.with.default", true)
	return append(steps, Step{Check: `@kind == "change"`, Mapping: lines(mapping...)}), nil
}

// row assigns the row, and its schema if there is one.
func (s *smt) row(rewrite bool) []string {
	row := s.value() + ".after"
	if rewrite {
		row = fmt.Sprintf(`if @op == "d" { %[1]s.before } else { %[1]s.after }`, s.value())
	}
	if !s.schemas.value {
		return []string{"root = " + row}
	}
	return []string{
		`root.schema = this.schema.fields.filter(f -> f.field == "after").index(0).without("field")`,
		"root.payload = " + row,
	}
}

// deleteHandling is one of drop, tombstone, rewrite and rewrite-with-tombstone:
// what delete.tombstone.handling.mode says since 2.5, and two properties
// before.
func (s *smt) deleteHandling() (string, error) {
	mode := s.get("delete.tombstone.handling.mode", "")
	old := s.get("delete.handling.mode", "")
	dropTombstones := s.flag("drop.tombstones", true)
	_, oldTombstones := s.props["drop.tombstones"]
	switch {
	case mode != "":
	case old == "" && !oldTombstones && s.generation > Debezium1:
		mode = "tombstone"
	case old == "none":
		s.remark("A delete becomes one message without a value, the tombstone.")
		mode = "tombstone"
	case old == "rewrite" && dropTombstones:
		mode = "rewrite"
	case old == "rewrite":
		mode = "rewrite-with-tombstone"
	case old != "" && old != "drop":
		return "", fmt.Errorf("delete.handling.mode: want drop, none or rewrite")
	case dropTombstones:
		mode = "drop"
	default:
		mode = "tombstone"
	}
	switch mode {
	case "drop", "tombstone", "rewrite", "rewrite-with-tombstone":
	case "delete-to-tombstone":
		mode = "tombstone" // the tombstone behind the delete is that message
	default:
		return "", errors.New("delete.tombstone.handling.mode: want drop, tombstone, rewrite, rewrite-with-tombstone or delete-to-tombstone")
	}
	if !s.tombstones && mode == "tombstone" {
		s.remark("tombstones.on.delete is false: deletes leave no message behind.")
	}
	return mode, nil
}

// envelope are the fields of an envelope; other names are of the source block.
var envelope = []string{"op", "ts_ms", "ts_us", "ts_ns", "transaction", "source", "before", "after"}

// added returns the name and the path of a field of the envelope that
// add.fields names: a path, and perhaps another name behind a colon.
func added(prefix, field string) (name, from string) {
	from, alias, _ := strings.Cut(field, ":")
	name = strings.ReplaceAll(from, ".", "_")
	if alias != "" {
		name = alias
	}
	if !strings.Contains(from, ".") && !slices.Contains(envelope, from) {
		from = "source." + from
	}
	return prefix + name, from
}

// typeOf is the type of a field of the envelope in schemas.
func typeOf(from string) string {
	name := from[strings.LastIndexByte(from, '.')+1:]
	if strings.HasPrefix(name, "ts_") || name == "event_serial_no" || strings.HasSuffix(name, "_order") {
		return "int64"
	}
	return "string"
}

// eventRouter makes events of the rows of an outbox table.
func eventRouter(s *smt) ([]Step, error) {
	if s.get("route.topic.regex", "(?<routedByValue>.*)") != "(?<routedByValue>.*)" {
		return nil, errors.New("route.topic.regex is not the default; write a mapping")
	}
	column := func(property, otherwise string) string {
		return s.value() + ".after." + path(s.get(property, otherwise))
	}
	topic := strconv.Quote(s.get("route.topic.replacement", "outbox.event.${routedByValue}"))
	topic = strings.ReplaceAll(topic, "${routedByValue}", `" + `+column("route.by.field", "aggregatetype")+` + "`)
	topic = strings.TrimSuffix(strings.TrimPrefix(topic, `"" + `), ` + ""`)

	payload := column("table.field.event.payload", "payload")
	switch {
	case s.flag("table.expand.json.payload", false):
		payload += ".parse_json()"
	case !s.textValues:
		payload += ".format_json().string()" // as the JSON converter writes a text
	}
	if s.schemas.value {
		return nil, errors.New("with schemas the schema would have to change too; set value.converter.schemas.enable to false")
	}
	key := column("table.field.event.key", "aggregateid")
	switch {
	case s.schemas.key:
		key = `{"schema": {"type": "string", "optional": false}, "payload": ` + key + "}.format_json(no_indent: true).string()"
	case s.textKeys:
		key += ".string()"
	default:
		key += ".format_json().string()"
	}
	mapping := []string{
		"meta id = " + column("table.field.event.id", "id"),
		"meta key = " + key,
		"meta topic = " + topic,
	}
	envelopeFields := []string{}
	for _, placement := range split(s.get("table.fields.additional.placement", "")) {
		parts := strings.Split(placement, ":")
		if len(parts) < 2 {
			return nil, errors.New("table.fields.additional.placement: want column:header or column:envelope")
		}
		name := parts[len(parts)-1]
		if len(parts) == 2 {
			name = parts[0]
		}
		switch from := s.value() + ".after." + path(parts[0]); parts[1] {
		case "header":
			mapping = append(mapping, fmt.Sprintf("meta %s = %s", path(name), from))
		case "envelope":
			envelopeFields = append(envelopeFields, fmt.Sprintf("%s: %s", strconv.Quote(name), from))
		default:
			return nil, errors.New("table.fields.additional.placement: want header or envelope")
		}
	}
	if len(envelopeFields) > 0 {
		payload = `{"payload": ` + strings.TrimSuffix(payload, ".format_json().string()") + ", " + strings.Join(envelopeFields, ", ") + "}"
	}
	s.get("table.op.invalid.behavior", "")
	return []Step{
		{Mapping: `root = if @kind == "tombstone" || @kind == "change" && !["c", "r"].contains(@op) { deleted() }`},
		{Check: `@kind == "change"`, Mapping: lines(append(mapping, "root = "+payload)...)},
	}, nil
}
