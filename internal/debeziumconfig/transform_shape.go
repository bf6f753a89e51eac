package debeziumconfig

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// schemaTypes are the names that types of Cast have in schemas as JSON.
var schemaTypes = map[string]string{
	"int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
	"float32": "float", "float64": "double", "boolean": "boolean", "string": "string",
}

// castTo converts v, which is not null, as org.apache.kafka.connect.transforms.
// Cast does.
func castTo(kind string) string {
	const number = `match { v.type() == "bool" => if v { 1 } else { 0 }, _ => v.number() }`
	switch {
	case kind == "string":
		return "v.string()"
	case kind == "boolean":
		return `match { v.type() == "bool" => v, v.type() == "string" => v.lowercase() == "true", _ => v != 0 }`
	case strings.HasPrefix(kind, "int"):
		// Fractions go, towards zero.
		return "(" + number + ").(n -> if n < 0 { n.ceil() } else { n.floor() })"
	default:
		return number
	}
}

// cast changes the types of fields.
func cast(s *smt) ([]Step, error) {
	isKey, err := s.isKey()
	if err != nil {
		return nil, err
	}
	if isKey && s.schemas.key {
		return nil, errKey
	}
	s.flag("replace.null.with.default", true)
	value := s.value()
	if isKey {
		value = "$key"
	}
	var assigned, types []string
	for _, spec := range split(s.get("spec", "")) {
		field, kind, ok := strings.Cut(spec, ":")
		schemaType, known := schemaTypes[strings.ToLower(kind)]
		if !ok || !known {
			return nil, fmt.Errorf("spec: want field:type, with a type of Kafka Connect, in place of %q", spec)
		}
		if kind == "string" {
			s.remark("A number without a fraction is written without one: 1.0 becomes the text 1.")
		}
		of := value + "." + path(field)
		assigned = append(assigned, fmt.Sprintf("%s: %s.(v -> if v != null { %s } else { null })", strconv.Quote(field), of, castTo(strings.ToLower(kind))))
		types = append(types, strconv.Quote(field)+" => "+strconv.Quote(schemaType))
	}
	if len(assigned) == 0 {
		return nil, errors.New("spec is empty")
	}
	changed := value + ".assign({" + strings.Join(assigned, ", ") + "})"
	if isKey {
		s.remark(sortedKeys)
		return keyStep(changed), nil
	}
	mapping := []string{keep, s.out() + " = " + changed}
	if s.schemas.value {
		mapping = append(mapping, "root.schema.fields = this.schema.fields.map_each(f -> match f.field { "+strings.Join(types, ", ")+
			` , _ => "" }.(to -> if to == "" { f } else { {"type": to, "optional": f.optional, "field": f.field} }))`)
	}
	return valueStep(mapping...), nil
}

// flattenValue puts the fields of structures into one, under the names of both. Null
// structures of an envelope become the fields that they would have.
func flattenValue(s *smt) ([]Step, error) {
	isKey, err := s.isKey()
	if err != nil {
		return nil, err
	}
	if isKey || s.schemas.value {
		return nil, errors.New("only values without schemas are flattened; set value.converter.schemas.enable to false, or write a mapping")
	}
	s.remark("Null fields of before and after are those of the other; of a null structure that is of neither nothing is known. A dot in a name becomes the delimiter too.")
	delimiter := strconv.Quote(s.get("delimiter", "."))
	return valueStep(
		`let empty = this.before.or(this.after).or({}).map_each(f -> null)`,
		`let whole = this.map_each(f -> if f.value != null { f.value } else { match f.key {`,
		`  "before" => $empty, "after" => $empty,`,
		`  "transaction" => {"id": null, "total_order": null, "data_collection_order": null}, _ => null } })`,
		`root = $whole.collapse().map_each_key(k -> k.replace_all(".", `+delimiter+`))`,
	), nil
}

// headerToValue copies or moves headers into the value.
func headerToValue(s *smt) ([]Step, error) {
	headers, fields := split(s.get("headers", "")), split(s.get("fields", ""))
	operation := strings.ToLower(s.get("operation", ""))
	switch {
	case len(headers) == 0 || len(headers) != len(fields):
		return nil, errors.New("want as many fields as headers")
	case operation != "move" && operation != "copy":
		return nil, errors.New("operation: want move or copy")
	}
	s.remark("The values of headers are texts here; Debezium's keys in headers are structures.")
	mapping := []string{keep}
	for i, header := range headers {
		var parts []string
		for part := range strings.SplitSeq(fields[i], ".") {
			parts = append(parts, path(part))
		}
		if s.schemas.value && len(parts) > 1 {
			return nil, errors.New("a field of a structure: with schemas its schema would have to change too; write a mapping")
		}
		mapping = append(mapping, fmt.Sprintf("%s.%s = if @%s != null { @%[3]s }", s.out(), strings.Join(parts, "."), path(header)))
		if s.schemas.value {
			mapping = append(mapping, fmt.Sprintf(`root.schema.fields = if @%s != null { root.schema.fields.append({"type": "string", "optional": true, "field": %s}) }`,
				path(header), strconv.Quote(fields[i])))
		}
		if operation == "move" {
			mapping = append(mapping, "meta "+path(header)+" = deleted()")
		}
	}
	return valueStep(mapping...), nil
}

// timezoneConverter writes times with an offset in another time zone.
func timezoneConverter(s *smt) ([]Step, error) {
	zone := s.get("converted.timezone", "")
	if _, err := time.LoadLocation(zone); err != nil || zone == "" {
		return nil, fmt.Errorf("converted.timezone: %q is no IANA name; write a mapping", zone)
	}
	if s.schemas.value {
		return nil, errors.New("only values without schemas are converted; set value.converter.schemas.enable to false, or write a mapping")
	}
	const layout = "2006-01-02T15:04:05.999999999Z07:00"
	in := fmt.Sprintf(`.ts_parse(%[1]q).ts_tz(%[2]q).ts_format(%[1]q)`, layout, zone)
	mapping := []string{keep}
	for _, item := range split(s.get("include.list", "")) {
		parts := strings.Split(item, ":")
		var condition string
		switch {
		case len(parts) == 3 && parts[0] == "source":
			condition = "this.source.table == " + strconv.Quote(parts[1])
		case len(parts) == 3 && parts[0] == "topic":
			condition = "@topic == " + strconv.Quote(parts[1])
		case len(parts) == 2 && parts[0] != "source" && parts[0] != "topic":
			condition = fmt.Sprintf("(@topic == %[1]q || this.source.table == %[1]q)", parts[0])
		default:
			return nil, fmt.Errorf("include.list: %q names no field; write a mapping", item)
		}
		for _, row := range []string{"before", "after"} {
			field := row + "." + path(parts[len(parts)-1])
			mapping = append(mapping, fmt.Sprintf(`root.%[1]s = if %[2]s && this.%[1]s.type() == "string" { this.%[1]s%[3]s }`, field, condition, in))
		}
	}
	if len(mapping) == 1 {
		return nil, errors.New("which fields are times is said by schemas only; name them in include.list, or write a mapping")
	}
	s.remark("Only times that are texts, those of datetimeoffset; numbers stay, because only their schemas say what they count. Before ExtractNewRecordState.")
	return []Step{{Check: `@kind == "change"`, Mapping: lines(mapping...)}}, nil
}

// setSchemaMetadata names schemas, which values without them do not have.
func setSchemaMetadata(s *smt) ([]Step, error) {
	isKey, err := s.isKey()
	if err != nil {
		return nil, err
	}
	if isKey && s.schemas.key {
		return nil, errKey
	}
	name, version := s.get("schema.name", ""), s.get("schema.version", "")
	if isKey || !s.schemas.value {
		s.remark("Without schemas there is nothing to name.")
		return nil, nil
	}
	mapping := []string{keep}
	if name != "" {
		mapping = append(mapping, "root.schema.name = "+strconv.Quote(name))
	}
	if version != "" {
		mapping = append(mapping, "root.schema.version = "+strconv.Quote(version)+".number()")
	}
	s.flag("replace.null.with.default", true)
	return valueStep(mapping...), nil
}
