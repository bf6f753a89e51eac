package debeziumconfig

import (
	"fmt"
	"strings"
)

// topicNaming chooses how topics are named: 1.x left the database out, unless
// it read several.
func topicNaming(t *translation, s section) {
	const property, field = "topic.naming.strategy", "topic_naming"
	strategy, _ := t.take(property)
	switch class := strategy[strings.LastIndexByte(strategy, '.')+1:]; class {
	case "", "SchemaTopicNamingStrategy":
	case "DefaultTopicNamingStrategy":
		t.note(s, property, Differs, "that strategy is for databases without schemas; topics are named topic_prefix.database.schema.table")
	default:
		t.note(s, property, NotApplicable, "the pipeline changes topics: meta topic = ... in a mapping")
	}
	if t.result.Generation > Debezium1 || t.first("database.names") != "" {
		return
	}
	t.set(Field{Name: field, Value: "schema_table", section: s, Comment: "1.x names topics topic_prefix.schema.table; since 2.0 the database stands between."})
}

// schemasEnabled follows the converters, which write schemas unless told not
// to.
func schemasEnabled(t *translation, s section) {
	key, value := t.result.Converters.Key, t.result.Converters.Value
	add := func(field string, c Converter) {
		t.set(Field{Name: field, Value: c.Schemas, Property: c.schemasProperty, Comment: c.why, section: s})
	}
	if key.Schemas == value.Schemas && key.why == value.why {
		add("schemas_enable", value)
		return
	}
	add("key_schemas_enable", key)
	add("value_schemas_enable", value)
}

// fieldNames reads field.name.adjustment.mode and what it was in 1.x.
func fieldNames(t *translation, s section) {
	const field = "field_name_adjustment_mode"
	sanitize, given := t.take("sanitize.field.names")
	r := rule{section: s, properties: []string{"field.name.adjustment.mode"}, field: field, convert: asWord}
	r.apply(t)
	if t.given(field) {
		return
	}
	switch {
	case given && strings.EqualFold(sanitize, "true"):
		t.set(Field{Name: field, Value: "avro", Property: "sanitize.field.names", section: s})
	case !given && t.result.Generation == Debezium1 && (t.result.Converters.Key.Avro() || t.result.Converters.Value.Avro()):
		t.set(Field{Name: field, Value: "avro", Comment: "The default of 1.x for the Avro converter.", section: s})
	}
}

// unavailableValues says what older versions wrote for values that were not
// recorded.
func unavailableValues(t *translation, s section) {
	if t.result.Generation < Debezium3 {
		t.note(s, "unavailable.value.placeholder", Default, "before 3.6 Debezium wrote null for large values that an update did not touch; here the placeholder stands for them")
	}
}

// configurationBased gathers the switches of snapshot.mode=configuration_based.
func configurationBased(t *translation, s section) {
	const prefix = "snapshot.mode.configuration.based."
	t.object(s, prefix, "snapshot_mode_configuration_based", func(rest, text string) (string, any, error) {
		value, err := asBool(text)
		return strings.ReplaceAll(rest, ".", "_"), value, err
	})
}

// selectOverrides gathers the statements of snapshot.select.statement.overrides.
// The list of tables itself says nothing more.
func selectOverrides(t *translation, s section) {
	const list = "snapshot.select.statement.overrides"
	tables, _ := t.take(list)
	for _, table := range split(tables) {
		if _, given := t.left[list+"."+table]; !given {
			t.note(s, list, Invalid, fmt.Sprintf("there is no statement for %q", table))
		}
	}
	t.object(s, list+".", "snapshot_select_statement_overrides", func(rest, text string) (string, any, error) {
		return rest, text, nil
	})
}

// threadMultipliers gathers the multipliers of single tables.
func threadMultipliers(t *translation, s section) {
	t.object(s, "snapshot.max.threads.multiplier.", "snapshot_max_threads_multipliers", func(rest, text string) (string, any, error) {
		value, err := asInt(text)
		return rest, value, err
	})
}

// object makes one field of the properties that share a prefix.
func (t *translation) object(s section, prefix, field string, entry func(rest, text string) (string, any, error)) {
	rests, values := t.takePrefix(prefix)
	object := map[string]any{}
	for _, rest := range rests {
		name, value, err := entry(rest, values[rest])
		switch {
		case err != nil:
			t.note(s, prefix+rest, Invalid, err.Error())
		case !t.offer.has(field):
			t.note(s, prefix+rest, Planned, "the field "+field+" is planned")
		default:
			object[name] = value
		}
	}
	if len(object) > 0 {
		t.set(Field{Name: field, Value: object, Property: prefix + "*", section: s})
	}
}

// streamingFetchSize reads the rows of a page, which here are never unlimited.
func streamingFetchSize(t *translation, s section) {
	const field = "streaming_fetch_size"
	for _, property := range []string{"streaming.fetch.size", "query.fetch.size"} {
		text, given := t.take(property)
		if !given || text == "" {
			continue
		}
		value, err := asInt(text)
		switch {
		case err != nil:
			t.note(s, property, Invalid, err.Error())
		case value == 0:
			t.note(s, property, Differs, "0 is no limit; reading is always paged here, by default of 10000 rows")
		case t.given(field):
			t.note(s, property, NotApplicable, "streaming.fetch.size takes its place")
		default:
			t.set(Field{Name: field, Value: value, Property: property, section: s})
		}
	}
}

// signalKafka gathers the topic of signals.
func signalKafka(t *translation, s section) {
	const field = "signal_kafka"
	object := map[string]any{}
	for _, p := range []struct {
		property, key string
		convert       convert
	}{
		{"signal.kafka.bootstrap.servers", "seed_brokers", asList},
		{"signal.kafka.topic", "topic", asText},
		{"signal.kafka.groupId", "consumer_group", asText},
	} {
		text, given := t.take(p.property)
		switch {
		case !given || text == "":
		case !t.offer.has(field):
			t.note(s, p.property, Planned, "the field "+field+" is planned")
		default:
			object[p.key], _ = p.convert(text)
		}
	}
	if len(object) > 0 {
		t.set(Field{Name: field, Value: object, Property: "signal.kafka.*", section: s})
	}
}

// heartbeatAction drops a statement that the input would refuse, because nothing
// would run it.
func heartbeatAction(t *translation, s section) {
	const property = "heartbeat.action.query"
	interval, _ := t.value("heartbeat_interval").(string)
	intent := t.value("application_intent")
	switch {
	case t.first(property) == "":
	case interval == "" || interval == "0s":
		t.take(property)
		t.note(s, property, NotApplicable, "without heartbeat.interval.ms it never ran")
	case intent == "ReadOnly":
		t.take(property)
		t.note(s, property, NotApplicable, "nothing is written with application_intent: ReadOnly; let a job of the primary run the statement")
	}
	rule{section: s, properties: []string{property}, field: "heartbeat_action_query", convert: asText}.apply(t)
}

// notificationChannels drops jmx, which is Java's.
func notificationChannels(t *translation, s section) {
	const property, field = "notification.enabled.channels", "notification_enabled_channels"
	text, _ := t.take(property)
	var channels []string
	for _, channel := range split(text) {
		if channel == "jmx" {
			t.note(s, property, NotApplicable, "jmx is of the JVM; metrics serve instead")
			continue
		}
		channels = append(channels, channel)
	}
	if len(channels) > 0 {
		t.set(Field{Name: field, Value: channels, Property: property, section: s})
	}
}
