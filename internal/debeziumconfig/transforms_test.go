package debeziumconfig_test

import (
	"context"
	"maps"
	"strings"
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/debeziumconfig"
)

// base is the least that a connector needs.
func base(more map[string]string) map[string]string {
	props := map[string]string{
		"connector.class":   "io.debezium.connector.sqlserver.SqlServerConnector",
		"database.hostname": "h", "database.user": "u", "database.names": "db", "topic.prefix": "p",
		"key.converter": "org.apache.kafka.connect.json.JsonConverter", "key.converter.schemas.enable": "false",
		"value.converter": "org.apache.kafka.connect.json.JsonConverter", "value.converter.schemas.enable": "false",
	}
	maps.Copy(props, more)
	return props
}

// message is a message as the input emits it; a nil payload is a tombstone.
type message struct {
	topic, key, kind, op string
	payload              string
	null                 bool
}

// update, deletion and tombstone are messages without schemas.
var (
	update = message{
		topic: "p.db.dbo.t", key: `{"id":1,"at":2}`, kind: "change", op: "u",
		payload: `{"before":{"id":1,"name":"a","at":1},"after":{"id":1,"name":"b","at":1559729471739},"source":{"table":"t","schema":"dbo","ts_ms":5},"transaction":null,"op":"u","ts_ms":1559729471739,"ts_ns":1559729471739876149}`,
	}
	deletion = message{
		topic: "p.db.dbo.t", key: `{"id":1,"at":2}`, kind: "change", op: "d",
		payload: `{"before":{"id":1,"name":"a"},"after":null,"source":{"table":"t","schema":"dbo","ts_ms":6},"op":"d","ts_ms":7}`,
	}
	tombstone = message{topic: "p.db.dbo.t", key: `{"id":1,"at":2}`, kind: "tombstone", null: true}
	keyless   = message{topic: "p.db.dbo.t", kind: "change", op: "c", payload: `{"before":null,"after":{"id":3},"source":{"table":"t"},"op":"c"}`}
	numbers   = message{
		topic: "p.db.dbo.t", key: `{"id":1}`, kind: "change", op: "c",
		payload: `{"id":9007199254740993,"n":"12","f":1.9,"neg":-1.9,"d":"1.5","b":3,"t":"yes","i":true,"none":null,"other":"x"}`,
	}
	nested   = message{topic: "p.db.dbo.t", kind: "change", op: "c", payload: `{"before":null,"after":{"id":3,"a.b":null},"source":{"table":"t"},"transaction":null,"op":"c"}`}
	times    = message{topic: "p.db.dbo.t", kind: "change", op: "c", payload: `{"before":null,"after":{"at":"2020-01-01T12:00:00.1234567+05:00","id":"2020-01-01T00:00:00Z","n":5},"source":{"table":"t"},"op":"c"}`}
	inserted = message{
		topic: "p.db.dbo.outbox", key: `{"id":"e1"}`, kind: "change", op: "c",
		payload: `{"before":null,"after":{"id":"e1","aggregatetype":"order","aggregateid":"17","type":"Created","payload":"{\"a\":1}"},"source":{"table":"outbox"},"op":"c"}`,
	}
	withSchemas = message{
		topic: "p.db.dbo.t", kind: "change", op: "u",
		key:     `{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"}],"optional":false,"name":"p.Key"},"payload":{"id":1}}`,
		payload: `{"schema":{"type":"struct","fields":[{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"}],"optional":true,"name":"p.Value","field":"before"},{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"}],"optional":true,"name":"p.Value","field":"after"},{"type":"string","optional":false,"field":"op"},{"type":"int64","optional":true,"field":"ts_ms"}],"optional":false,"name":"p.Envelope"},"payload":{"before":null,"after":{"id":1},"op":"u","ts_ms":1559729471739}}`,
	}
)

// process runs a message through the transformations of a connector. It
// returns topic, key and payload, and false if the message was dropped.
func process(t *testing.T, props map[string]string, m message) (out message, headers map[string]string, kept bool) {
	t.Helper()
	result, err := debeziumconfig.Translate(props)
	require.NoError(t, err)
	for _, transform := range result.Transforms {
		require.Empty(t, transform.Why, transform.Name)
	}
	yaml, _ := result.YAML(service.GlobalEnvironment())
	require.Empty(t, lint(t, string(yaml)), "%s", yaml)
	_, processors, found := strings.Cut(string(yaml), "\n  processors:\n")
	require.True(t, found)
	processors, _, _ = strings.Cut(processors, "\noutput:")

	builder := service.NewStreamBuilder()
	require.NoError(t, builder.SetLoggerYAML("level: none"))
	require.NoError(t, builder.AddProcessorYAML("processors:\n"+processors))
	send, err := builder.AddProducerFunc()
	require.NoError(t, err)
	require.NoError(t, builder.AddConsumerFunc(func(_ context.Context, got *service.Message) error {
		kept = true
		assert.NoError(t, got.GetError())
		payload, err := got.AsBytes()
		assert.NoError(t, err)
		out.payload, out.null = string(payload), payload == nil
		headers = map[string]string{}
		return got.MetaWalk(func(key, value string) error {
			switch key {
			case "topic":
				out.topic = value
			case "key":
				out.key = value
			default:
				headers[key] = value
			}
			return nil
		})
	}))
	stream, err := builder.Build()
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- stream.Run(t.Context()) }()
	in := service.NewMessage([]byte(m.payload))
	if m.null {
		in = service.NewMessage(nil)
	}
	for key, value := range map[string]string{"topic": m.topic, "key": m.key, "kind": m.kind, "op": m.op} {
		if value != "" {
			in.MetaSetMut(key, value)
		}
	}
	require.NoError(t, send(t.Context(), in))
	require.NoError(t, stream.StopWithin(waitLimit))
	require.NoError(t, <-done)
	return out, headers, kept
}

// transform is the properties of one transformation, written name=value.
func transform(class string, assignments ...string) map[string]string {
	props := map[string]string{"transforms": "x", "transforms.x.type": class}
	for _, a := range assignments {
		name, value, _ := strings.Cut(a, "=")
		if !strings.HasPrefix(name, "predicates") && !strings.Contains(name, "converter") {
			name = "transforms.x." + name
		}
		props[name] = value
	}
	return props
}

const (
	kafkaTransforms    = "org.apache.kafka.connect.transforms."
	debeziumTransforms = "io.debezium.transforms."
	unwrap             = debeziumTransforms + "ExtractNewRecordState"
)

// What the mappings do that replace transformations.
func TestTransforms(t *testing.T) {
	const schemas = "value.converter.schemas.enable=true"
	tests := []struct {
		name    string
		props   map[string]string
		in      message
		topic   string // empty: unchanged
		key     string // empty: unchanged
		payload string // JSON; empty: dropped; "null": a tombstone
	}{
		{"unwrap", transform(unwrap), update, "", "", `{"id":1,"name":"b","at":1559729471739}`},
		{"unwrap delete", transform(unwrap), deletion, "", "", ""},
		{"unwrap tombstone", transform(unwrap), tombstone, "", "", "null"},
		{"unwrap, tombstones dropped", transform(unwrap, "drop.tombstones=true"), tombstone, "", "", ""},
		{"unwrap, rewrite", transform(unwrap, "delete.tombstone.handling.mode=rewrite"), deletion, "", "", `{"id":1,"name":"a","__deleted":"true"}`},
		{"unwrap, rewrite of a tombstone", transform(unwrap, "delete.tombstone.handling.mode=rewrite"), tombstone, "", "", ""},
		{"unwrap, rewrite with tombstone", transform(unwrap, "delete.tombstone.handling.mode=rewrite-with-tombstone"), tombstone, "", "", "null"},
		{"unwrap, fields", transform(unwrap, "add.fields=op,table,source.ts_ms:when", "add.fields.prefix=_"), update, "", "", `{"id":1,"name":"b","at":1559729471739,"_op":"u","_table":"t","_when":5}`},
		{"unwrap, route", transform(unwrap, "route.by.field=name"), update, "b", "", `{"id":1,"name":"b","at":1559729471739}`},
		{
			"unwrap with schemas", transform(unwrap, schemas, "add.fields=op"), withSchemas, "", "",
			`{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"},{"type":"string","optional":true,"field":"__op"}],"optional":true,"name":"p.Value"},"payload":{"id":1,"__op":"u"}}`,
		},
		{"regex router", transform(kafkaTransforms+"RegexRouter", `regex=([^.]+)\.([^.]+)\..*`, "replacement=$2-$1_x"), update, "db-p_x", "", update.payload},
		{"regex router, no match", transform(kafkaTransforms+"RegexRouter", `regex=db`, "replacement=x"), update, "", "", update.payload},
		{"regex router of a tombstone", transform(kafkaTransforms+"RegexRouter", `regex=.*`, "replacement=all"), tombstone, "all", "", "null"},
		{"logical table", transform(debeziumTransforms+"ByLogicalTableRouter", `topic.regex=(.*)\.t`, "topic.replacement=$1.all"), update, "p.db.dbo.all", `{"id":1,"at":2,"__dbz__physicalTableIdentifier":"p.db.dbo.t"}`, update.payload},
		{"logical table of a tombstone", transform(debeziumTransforms+"ByLogicalTableRouter", `topic.regex=(.*)\.t`, "topic.replacement=$1.all", `key.field.regex=.*\.(.*)`, "key.field.replacement=$1"), tombstone, "p.db.dbo.all", `{"id":1,"at":2,"__dbz__physicalTableIdentifier":"t"}`, "null"},
		{"logical table without a key", transform(debeziumTransforms+"ByLogicalTableRouter", `topic.regex=(.*)\.t`, "topic.replacement=$1.all"), keyless, "p.db.dbo.all", "", keyless.payload},
		{
			"logical table, key with schema", transform(debeziumTransforms+"ByLogicalTableRouter", "key.converter.schemas.enable=true", schemas, `topic.regex=(.*)\.t`, "topic.replacement=$1.u", "key.field.name=of"), withSchemas, "p.db.dbo.u",
			`{"schema":{"type":"struct","fields":[{"type":"int32","optional":false,"field":"id"},{"type":"string","optional":false,"field":"of"}],"optional":false,"name":"p.Key"},"payload":{"id":1,"of":"p.db.dbo.t"}}`, withSchemas.payload,
		},
		{"content router", transform(debeziumTransforms+"ContentBasedRouter", "topic.expression=value.op == 'u' ? 'updates' : null"), update, "updates", "", update.payload},
		{"content router, null", transform(debeziumTransforms+"ContentBasedRouter", "topic.expression=value.op == 'c' ? 'creates' : null"), update, "", "", update.payload},
		{"content filter keeps", transform(debeziumTransforms+"Filter", `condition=value.op == "u" && value.after.id >= 1 && !(key.id == 2)`), update, "", "", update.payload},
		{"content filter drops", transform(debeziumTransforms+"Filter", "condition=value.op === 'c' || value.before == null"), update, "", "", ""},
		{"content filter, null in an order", transform(debeziumTransforms+"Filter", "condition=value.after.id > 1 || value.op == 'd'"), deletion, "", "", deletion.payload},
		{"content filter, order in text", transform(debeziumTransforms+"Filter", "condition=(value.op == '<') || (3 <= value.after.id)"), keyless, "", "", keyless.payload},
		{"content filter and tombstones", transform(debeziumTransforms+"Filter", "condition=value.op == 'c'"), tombstone, "", "", "null"},
		{"content filter drops tombstones", transform(debeziumTransforms+"Filter", "condition=value.op == 'c'", "null.handling.mode=drop"), tombstone, "", "", ""},
		{"content filter, other topic", transform(debeziumTransforms+"Filter", "condition=value.op == 'c'", `topic.regex=q\..*`), update, "", "", update.payload},
		{"filter by predicate", transform(kafkaTransforms+"Filter", "predicate=gone", "predicates=gone", "predicates.gone.type="+kafkaTransforms+"predicates.RecordIsTombstone"), tombstone, "", "", ""},
		{"filter by predicate, negated", transform(kafkaTransforms+"Filter", "predicate=gone", "negate=true", "predicates=gone", "predicates.gone.type="+kafkaTransforms+"predicates.RecordIsTombstone"), tombstone, "", "", "null"},
		{"filter by topic", transform(kafkaTransforms+"Filter", "predicate=t", "predicates=t", "predicates.t.type="+kafkaTransforms+"predicates.TopicNameMatches", `predicates.t.pattern=p\..*\.t`), update, "", "", ""},
		{"filter by header", transform(kafkaTransforms+"Filter", "predicate=t", "predicates=t", "predicates.t.type="+kafkaTransforms+"predicates.HasHeaderKey", `predicates.t.name=__debezium.newkey`), update, "", "", update.payload},
		{"extract key", transform(kafkaTransforms+"ExtractField$Key", "field=id"), update, "", "1", update.payload},
		{"extract key of a tombstone", transform(kafkaTransforms+"ExtractField$Key", "field=id"), tombstone, "", "1", "null"},
		{"extract key as text", transform(kafkaTransforms+"ExtractField$Key", "field=id", "key.converter=org.apache.kafka.connect.storage.StringConverter"), inserted, "", "e1", inserted.payload},
		{"extract key with schema", transform(kafkaTransforms+"ExtractField$Key", "field=id", "key.converter.schemas.enable=true", schemas), withSchemas, "", `{"schema":{"type":"int32","optional":false},"payload":1}`, withSchemas.payload},
		{"extract key of none", transform(kafkaTransforms+"ExtractField$Key", "field=id"), keyless, "", "", keyless.payload},
		{"extract value", transform(kafkaTransforms+"ExtractField$Value", "field=after"), keyless, "", "", `{"id":3}`},
		{"extract value with schema", transform(kafkaTransforms+"ExtractField$Value", "field=op", schemas), withSchemas, "", "", `{"schema":{"type":"string","optional":false},"payload":"u"}`},
		{"hoist key", transform(kafkaTransforms+"HoistField$Key", "field=k"), update, "", `{"k":{"id":1,"at":2}}`, update.payload},
		{"hoist value", transform(kafkaTransforms+"HoistField$Value", "field=line"), keyless, "", "", `{"line":` + keyless.payload + `}`},
		{"hoist value of a tombstone", transform(kafkaTransforms+"HoistField$Value", "field=line"), tombstone, "", "", "null"},
		{"insert", transform(kafkaTransforms+"InsertField$Value", "static.field=a b", "static.value=x", "topic.field=t!"), keyless, "", "", `{"before":null,"after":{"id":3},"source":{"table":"t"},"op":"c","a b":"x","t":"p.db.dbo.t"}`},
		{"insert what looks like variables", transform(kafkaTransforms+"InsertField$Value", "static.field=f", "static.value=${a} ${b:"), keyless, "", "", `{"before":null,"after":{"id":3},"source":{"table":"t"},"op":"c","f":"${a} ${b:"}`},
		{"insert into key", transform(kafkaTransforms+"InsertField$Key", "static.field=a", "static.value=x"), update, "", `{"id":1,"at":2,"a":"x"}`, update.payload},
		{"mask", transform(kafkaTransforms+"MaskField$Value", "fields=op,before"), keyless, "", "", `{"before":null,"after":{"id":3},"source":{"table":"t"},"op":""}`},
		{"mask with text", transform(kafkaTransforms+"MaskField$Value", "fields=op", "replacement=***"), keyless, "", "", `{"before":null,"after":{"id":3},"source":{"table":"t"},"op":"***"}`},
		{"exclude", transform(kafkaTransforms+"ReplaceField$Value", "exclude=before,source"), keyless, "", "", `{"after":{"id":3},"op":"c"}`},
		{"include and rename", transform(kafkaTransforms+"ReplaceField$Value", "whitelist=op,after", "renames=op:operation"), keyless, "", "", `{"after":{"id":3},"operation":"c"}`},
		{"exclude from key", transform(kafkaTransforms+"ReplaceField$Key", "exclude=at"), update, "", `{"id":1}`, update.payload},
		{
			"rename with schema", transform(kafkaTransforms+"ReplaceField$Value", "exclude=before,after", "renames=op:o", schemas), withSchemas, "", "",
			`{"schema":{"type":"struct","fields":[{"type":"string","optional":false,"field":"o"},{"type":"int64","optional":true,"field":"ts_ms"}],"optional":false,"name":"p.Envelope"},"payload":{"o":"u","ts_ms":1559729471739}}`,
		},
		{
			"time as text", transform(kafkaTransforms+"TimestampConverter$Value", "field=ts_ms", "target.type=string", "format=yyyy-MM-dd'T'HH:mm:ss.SSSXXX"), deletion, "", "",
			`{"before":{"id":1,"name":"a"},"after":null,"source":{"table":"t","schema":"dbo","ts_ms":6},"op":"d","ts_ms":"1970-01-01T00:00:00.007Z"}`,
		},
		{"value to key", transform(kafkaTransforms+"ValueToKey", "fields=op,ts_ms"), deletion, "", `{"op":"d","ts_ms":7}`, deletion.payload},
		{"value to key of a tombstone", transform(kafkaTransforms+"ValueToKey", "fields=op"), tombstone, "", "", "null"},
		{"cast", transform(kafkaTransforms+"Cast$Value", "spec=id:string,n:int32,f:int64,neg:int16,d:float64,b:boolean,t:boolean,i:int8,none:string"), numbers, "", "", `{"id":"9007199254740993","n":12,"f":1,"neg":-1,"d":1.5,"b":true,"t":false,"i":1,"none":null,"other":"x"}`},
		{"cast of a tombstone", transform(kafkaTransforms+"Cast$Value", "spec=id:string"), tombstone, "", "", "null"},
		{"cast key", transform(kafkaTransforms+"Cast$Key", "spec=id:string"), update, "", `{"at":2,"id":"1"}`, update.payload},
		{
			"cast with schema", transform(kafkaTransforms+"Cast$Value", "spec=op:string,ts_ms:float64", schemas), withSchemas, "", "",
			strings.Replace(withSchemas.payload, `"type":"int64","optional":true,"field":"ts_ms"`, `"type":"double","optional":true,"field":"ts_ms"`, 1),
		},
		{
			"flatten", transform(kafkaTransforms+"Flatten$Value", "delimiter=_"), nested, "", "",
			`{"before_id":null,"before_a_b":null,"after_id":3,"after_a_b":null,"source_table":"t","op":"c","transaction_id":null,"transaction_total_order":null,"transaction_data_collection_order":null}`,
		},
		{"flatten by dots", transform(kafkaTransforms + "Flatten$Value"), message{topic: "t", kind: "change", payload: `{"id":1,"at":{"x~y":{"z":2}},"none":null}`}, "", "", `{"id":1,"at.x~y.z":2,"none":null}`},
		{"flatten a tombstone", transform(kafkaTransforms + "Flatten$Value"), tombstone, "", "", "null"},
		{"header to value", transform(debeziumTransforms+"HeaderToValue", "headers=kind,nosuch", "fields=source.kind,x", "operation=copy"), keyless, "", "", `{"before":null,"after":{"id":3},"source":{"table":"t","kind":"change"},"op":"c"}`},
		{
			"header to value with schema", transform(debeziumTransforms+"HeaderToValue", "headers=kind", "fields=k", "operation=move", schemas), withSchemas, "", "",
			strings.Replace(strings.Replace(withSchemas.payload, `"field":"ts_ms"}`, `"field":"ts_ms"},{"type":"string","optional":true,"field":"k"}`, 1), `1559729471739}`, `1559729471739,"k":"change"}`, 1),
		},
		{"time zone", transform(debeziumTransforms+"TimezoneConverter", "converted.timezone=Asia/Kolkata", "include.list=source:t:at,topic:q:id,t:n"), times, "", "", `{"before":null,"after":{"at":"2020-01-01T12:30:00.1234567+05:30","id":"2020-01-01T00:00:00Z","n":5},"source":{"table":"t"},"op":"c"}`},
		{"time zone of a tombstone", transform(debeziumTransforms+"TimezoneConverter", "converted.timezone=Asia/Kolkata", "include.list=source:t:at"), tombstone, "", "", "null"},
		{
			"schema name", transform(kafkaTransforms+"SetSchemaMetadata$Value", "schema.name=mine", schemas), withSchemas, "", "",
			strings.Replace(withSchemas.payload, `"p.Envelope"`, `"mine"`, 1),
		},
		{"outbox", transform(debeziumTransforms + "outbox.EventRouter"), inserted, "outbox.event.order", `"17"`, `"{\"a\":1}"`},
		{"outbox as text", transform(debeziumTransforms+"outbox.EventRouter", "key.converter=org.apache.kafka.connect.storage.StringConverter", "value.converter=org.apache.kafka.connect.storage.StringConverter", "route.topic.replacement=ev.${routedByValue}"), inserted, "ev.order", "17", `{"a":1}`},
		{"outbox, expanded", transform(debeziumTransforms+"outbox.EventRouter", "table.expand.json.payload=true", "table.fields.additional.placement=type:envelope:eventType"), inserted, "outbox.event.order", `"17"`, `{"payload":{"a":1},"eventType":"Created"}`},
		{"outbox of a delete", transform(debeziumTransforms + "outbox.EventRouter"), deletion, "", "", ""},
		{"outbox of a tombstone", transform(debeziumTransforms + "outbox.EventRouter"), tombstone, "", "", ""},
		{"header", transform(kafkaTransforms+"InsertHeader", "header=h.x", "value.literal=1"), tombstone, "", "", "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _, kept := process(t, base(tt.props), tt.in)
			if tt.payload == "" {
				assert.False(t, kept, "%+v", got)
				return
			}
			require.True(t, kept)
			assert.Equal(t, or(tt.topic, tt.in.topic), got.topic)
			assert.Equal(t, or(tt.key, tt.in.key) == "", got.key == "")
			if strings.Contains(tt.key, "schema") {
				assert.JSONEq(t, tt.key, got.key)
			} else {
				assert.Equal(t, or(tt.key, tt.in.key), got.key)
			}
			if tt.payload == "null" {
				assert.True(t, got.null, "the tombstone has become %q", got.payload)
				return
			}
			assert.JSONEq(t, tt.payload, got.payload)
		})
	}
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Headers go into metadata.
func TestTransforms_Headers(t *testing.T) {
	_, headers, _ := process(t, base(transform(unwrap, "add.headers=op,table:of")), update)
	assert.Equal(t, map[string]string{"kind": "change", "op": "u", "__op": "u", "__of": "t"}, headers)
	_, headers, _ = process(t, base(transform(kafkaTransforms+"InsertHeader", "header=h.x", "value.literal=1")), update)
	assert.Equal(t, "1", headers["h.x"])
	_, headers, _ = process(t, base(transform(kafkaTransforms+"DropHeaders", "headers=op")), update)
	assert.NotContains(t, headers, "op")
	_, headers, _ = process(t, base(transform(debeziumTransforms+"outbox.EventRouter", "table.fields.additional.placement=type:header:eventType")), inserted)
	assert.Equal(t, "Created", headers["eventType"])
	assert.Equal(t, "e1", headers["id"])
}

// The time in a topic is now.
func TestTransforms_TimestampRouter(t *testing.T) {
	got, _, _ := process(t, base(transform(kafkaTransforms+"TimestampRouter", "topic.format=${topic}/${timestamp}!", "timestamp.format=yyyy")), update)
	assert.Regexp(t, `^p\.db\.dbo\.t/20\d\d!$`, got.topic)
}

// What is not translated says why, and nothing is made up.
func TestTransforms_Refused(t *testing.T) {
	tests := []struct {
		name  string
		props map[string]string
		want  string
	}{
		{"no class", transform(""), "type is missing"},
		{"unknown class", transform("com.example.Mine"), "com.example.Mine has no counterpart"},
		{"method call", transform(debeziumTransforms+"Filter", "condition=value.after.name.startsWith('a')"), "more than a comparison"},
		{"lookahead", transform(kafkaTransforms+"RegexRouter", "regex=(?!a).*", "replacement=b"), "none of Bloblang's"},
		{"unclosed choice", transform(debeziumTransforms+"ContentBasedRouter", "topic.expression=value.op == 'u' ? 'a'"), "more than a comparison"},
		{"interpolated text", transform(debeziumTransforms+"ContentBasedRouter", `topic.expression="a-${value.op}"`), "more than a comparison"},
		{"arithmetic in parentheses", transform(debeziumTransforms+"Filter", "condition=(value.a + value.b) > 3"), "more than a comparison"},
		{"open parenthesis", transform(debeziumTransforms+"Filter", "condition=(value.a == 3"), "more than a comparison"},
		{"closed parenthesis", transform(debeziumTransforms+"Filter", "condition=value.a == 3)"), "more than a comparison"},
		{"two choices", transform(debeziumTransforms+"ContentBasedRouter", "topic.expression=value.a ? 'x' : value.b ? 'y' : null"), "more than a comparison"},
		{"unknown name", transform(debeziumTransforms+"Filter", "condition=record.op == 'u'"), "more than a comparison"},
		{"unknown predicate", transform(kafkaTransforms+"Filter", "predicate=q"), "the predicate q has no type"},
		{"record's time", transform(kafkaTransforms+"InsertField$Value", "timestamp.field=at"), "timestamp.field"},
		{"date format", transform(kafkaTransforms+"TimestampRouter", "timestamp.format=YYYY-ww"), "date format"},
		{"no target", transform(kafkaTransforms+"ExtractField", "field=id"), "$Key or $Value"},
		{"date target", transform(kafkaTransforms+"TimestampConverter$Value", "field=a", "target.type=Date"), "string"},
		{"cast without field", transform(kafkaTransforms+"Cast$Value", "spec=int32"), "want field:type"},
		{"cast to bytes", transform(kafkaTransforms+"Cast$Value", "spec=a:bytes"), "want field:type"},
		{"flatten with schemas", transform(kafkaTransforms+"Flatten$Value", "value.converter.schemas.enable=true"), "without schemas"},
		{"headers without fields", transform(debeziumTransforms+"HeaderToValue", "headers=a,b", "fields=c", "operation=copy"), "as many fields as headers"},
		{"header operation", transform(debeziumTransforms+"HeaderToValue", "headers=a", "fields=c"), "move or copy"},
		{"time zone by offset", transform(debeziumTransforms+"TimezoneConverter", "converted.timezone=+05:00"), "no IANA name"},
		{"all times", transform(debeziumTransforms+"TimezoneConverter", "converted.timezone=UTC"), "include.list"},
		{"times of a table", transform(debeziumTransforms+"TimezoneConverter", "converted.timezone=UTC", "include.list=source:t"), "names no field"},
		{"key with schema", transform(kafkaTransforms+"ValueToKey", "fields=a", "key.converter.schemas.enable=true"), "key.converter.schemas.enable"},
		{"delete mode", transform(unwrap, "delete.tombstone.handling.mode=perhaps"), "delete.tombstone.handling.mode"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, err := debeziumconfig.Translate(base(tt.props))
			require.NoError(t, err)
			require.Len(t, result.Transforms, 1)
			assert.Empty(t, result.Transforms[0].Steps)
			assert.Contains(t, result.Transforms[0].Why, tt.want)
			assert.Contains(t, notes(result), "transforms.x: not translated: "+result.Transforms[0].Why)
			yaml, _ := result.YAML(service.GlobalEnvironment())
			assert.Empty(t, lint(t, string(yaml)))
		})
	}
}

func notes(r debeziumconfig.Result) (texts []string) {
	for _, n := range r.Notes {
		texts = append(texts, n.String())
	}
	return texts
}

// A transformation that is not translated, alone, leaves no processors, and its
// comment is not indented as if it were below some.
func TestTransforms_NoneTranslated(t *testing.T) {
	result, err := debeziumconfig.Translate(map[string]string{
		"connector.class": "io.debezium.connector.sqlserver.SqlServerConnector", "database.hostname": "h", "database.user": "u", "database.names": "db", "topic.prefix": "p",
		"transforms": "own", "transforms.own.type": "com.example.Own",
	})
	require.NoError(t, err)
	yaml, _ := result.YAML(service.GlobalEnvironment())
	assert.Contains(t, string(yaml), "\n  # transforms.own, com.example.Own\n")
	assert.NotContains(t, string(yaml), "processors:")
	assert.NotContains(t, string(yaml), "\n    # transforms.")
}
