package debeziumconfig

import (
	"strings"
)

// Converter is one of Kafka Connect's converters: what makes bytes of a key or
// a value.
type Converter struct {
	// Class is its class without the package, empty if neither the connector
	// nor the worker names one.
	Class string
	// Schemas is set if the JSON carries schemas.
	Schemas bool

	schemasProperty string // what says so, empty for a default
	why             string
}

// Converters are those of keys and values.
type Converters struct {
	Key, Value Converter
}

// Avro reports whether it is Confluent's or Apicurio's Avro converter.
func (c Converter) Avro() bool {
	return strings.Contains(c.Class, "Avro") || strings.EqualFold(c.Class, "avro")
}

// json reports whether it is Kafka's JSON converter, by its class or by its
// name in Debezium Server.
func (c Converter) json() bool {
	return c.Class == "" || c.Class == "JsonConverter" || strings.EqualFold(c.Class, "json")
}

// text reports whether texts are written without quotes.
func (c Converter) text() bool {
	return c.Class == "StringConverter" || c.Class == "ByteArrayConverter" || c.Class == "BinaryDataConverter" || strings.EqualFold(c.Class, "simplestring")
}

// encoding says what replaces the converter, empty if nothing has to.
func (c Converter) encoding() string {
	switch {
	case c.json():
		return ""
	case c.Avro():
		return "Avro: put a schema_registry_encode processor (of a distribution that has it) at the end of the pipeline, with a schema of its own in the registry"
	case c.Class == "ProtobufConverter" || strings.EqualFold(c.Class, "protobuf"):
		return "Protobuf: put a schema_registry_encode or to_protobuf processor at the end of the pipeline, with a schema of its own"
	case c.Class == "JsonSchemaConverter" || strings.Contains(c.Class, "ExtJsonConverter") || strings.EqualFold(c.Class, "jsonbytearray"):
		return "JSON with a schema in a registry: put a schema_registry_encode processor (of a distribution that has it) at the end of the pipeline"
	case c.Class == "CloudEventsConverter" || strings.EqualFold(c.Class, "cloudevents"):
		return "CloudEvents: a mapping that builds them has to stand at the end of the pipeline"
	case c.Class == "StringConverter" || strings.EqualFold(c.Class, "simplestring"):
		return "text: Java writes a structure as Struct{id=1}; here it stays JSON, and texts stay as they are"
	case c.Class == "ByteArrayConverter" || c.Class == "BinaryDataConverter" || strings.EqualFold(c.Class, "binary"):
		return "bytes as they are: what the pipeline ends with is written"
	}
	return "not known here; the messages are JSON"
}

// converters reads key.converter and value.converter. Kafka's JSON converter
// has schemas unless schemas.enable says otherwise, and in the files that come
// with Kafka the worker has it for both.
func (t *translation) converters() Converters {
	return Converters{Key: t.converter("key.converter"), Value: t.converter("value.converter")}
}

func (t *translation) converter(property string) Converter {
	class, given := t.take(property)
	c := Converter{Class: strings.TrimSpace(class[strings.LastIndexByte(class, '.')+1:])}
	enable := property + ".schemas.enable"
	text, _ := t.take(enable)
	schemas, err := asBool(text)
	switch value, isBool := schemas.(bool); {
	case err == nil && isBool:
		c.Schemas, c.schemasProperty = value, enable
	case text != "":
		t.note(events, enable, Invalid, "want true or false")
		fallthrough
	case c.json() && given:
		c.Schemas, c.why = true, "The default of Kafka's JSON converter. Without schemas messages are much smaller."
	case c.json():
		c.Schemas, c.why = true, "The worker decides, and it was not given (--worker); this is Kafka's default. Without schemas messages are much smaller."
	}
	if encoding := c.encoding(); encoding != "" {
		t.note(connect, property, NotApplicable, encoding)
	}
	t.cloudFormat(property, given, &c)
	rests, _ := t.takePrefix(property + ".")
	for _, rest := range rests {
		switch {
		case rest == "schema.registry.url" && c.encoding() != "", rest == "schemas.cache.size", rest == "enhanced.avro.schema.support":
		case rest == "decimal.format" || rest == "replace.null.with.default":
			t.note(events, property+"."+rest, NotApplicable, "decimal_handling_mode chooses how decimals are written; nulls follow the converter's default")
		default:
			t.note(connect, property+"."+rest, NotApplicable, "of the converter")
		}
	}
	return c
}

// cloudFormat reads what Confluent Cloud has in the place of converters; its
// JSON is without schemas.
func (t *translation) cloudFormat(property string, hasConverter bool, c *Converter) {
	format := map[string]string{"key.converter": "output.key.format", "value.converter": "output.data.format"}[property]
	text, given := t.take(format)
	if !given || hasConverter {
		return
	}
	*c = Converter{schemasProperty: format}
	switch strings.ToUpper(text) {
	case "JSON":
		return
	case "AVRO":
		c.Class = "AvroConverter"
	case "PROTOBUF":
		c.Class = "ProtobufConverter"
	case "JSON_SR":
		c.Class = "JsonSchemaConverter"
	case "STRING":
		c.Class = "StringConverter"
	default:
		c.Class = text
	}
	t.note(connect, format, NotApplicable, c.encoding())
}
