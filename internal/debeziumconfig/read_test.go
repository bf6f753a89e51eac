package debeziumconfig_test

import (
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/debeziumconfig"
)

func TestRead(t *testing.T) {
	tests := []struct {
		name, text string
		want       map[string]string
	}{
		{"framed", `{"name": "n", "config": {"a": "b"}}`, map[string]string{"name": "n", "a": "b"}},
		{"bare", `{"a": "b"}`, map[string]string{"a": "b"}},
		{"other types", `{"a": 1433, "b": true, "c": null, "d": 12345678901234567890}`, map[string]string{"a": "1433", "b": "true", "d": "12345678901234567890"}},
		{"byte order mark", "\ufeff{\"a\": \"b\"}", map[string]string{"a": "b"}},
		{"Strimzi", `{"metadata": {"name": "n"}, "spec": {"class": "C", "tasksMax": 1, "config": {"a": "b"}}}`, map[string]string{"name": "n", "connector.class": "C", "tasks.max": "1", "a": "b"}},
		{"Strimzi, YAML", "# c\n---\napiVersion: v1\nkind: KafkaConnector\nmetadata: {name: n}\nspec:\n  class: C\n  tasksMax: 1\n  config:\n    a: b\n    p: 1433\n    t: true\n    list: >-\n      x,\n      y\n", map[string]string{"name": "n", "connector.class": "C", "tasks.max": "1", "a": "b", "p": "1433", "t": "true", "list": "x, y"}},
		{"properties", "a=b\n", map[string]string{"a": "b"}},
		{"separators", "a = b\nc:d\n e   f g \nh\ni=\n", map[string]string{"a": "b", "c": "d", "e": "f g ", "h": "", "i": ""}},
		{"comments", "# a=b\n  ! c=d\n\na=#b\n", map[string]string{"a": "#b"}},
		{"continued", "a=b,\\\n    c,\\\r\n\td\n", map[string]string{"a": "b,c,d"}},
		{"continued at the end", "a=b\\", map[string]string{"a": "b"}},
		{"escaped", `a\=b\:c\ d=\u00e4\t\\.\q` + "\n", map[string]string{"a=b:c d": "ä\t\\.q"}},
		{"even backslashes", `a=b\\` + "\nc=d\n", map[string]string{"a": `b\`, "c": "d"}},
		{"twice", "a=b\na=c\n", map[string]string{"a": "c"}},
		{
			"Debezium Server", "debezium.source.connector.class=C\ndebezium.source.a=b\ndebezium.format.value=json\ndebezium.format.value.schemas.enable=false\ndebezium.transforms=x\ndebezium.sink.type=kafka\n",
			map[string]string{"connector.class": "C", "a": "b", "value.converter": "json", "value.converter.schemas.enable": "false", "transforms": "x", "debezium.sink.type": "kafka"},
		},
		{
			"formats of Debezium Server for all", "debezium.source.connector.class=C\ndebezium.format.schemas.enable=false\ndebezium.format.key.schemas.enable=true\ndebezium.format.header.schemas.enable=true\n",
			map[string]string{"connector.class": "C", "key.converter.schemas.enable": "true", "value.converter.schemas.enable": "false", "debezium.format.header.schemas.enable": "true"},
		},
		{
			"variables of Debezium Server", "debezium.source.connector.class=C\ndebezium.source.a=${HOST:x}.${ZONE}\ndebezium.source.b=${file:/x:y}\n",
			map[string]string{"connector.class": "C", "a": "${env:HOST:x}.${env:ZONE}", "b": "${file:/x:y}"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := debeziumconfig.Read([]byte(tt.text))
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

// An error says where the mistake is, and quotes no value.
func TestRead_Refused(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", " \n", "empty"},
		{"cut off", "{\n\"database.password\": \"Hidden1\",\n", "unexpected EOF"},
		{"syntax", "{\n\"database.password\": \"Hidden1\"\n\"a\": 1}", "line 3"},
		{"a list", `[{"config": {"database.password": "Hidden1"}}]`, "want one connector"},
		{"an object inside", `{"a": {"database.password": "Hidden1"}}`, `property "a": want text`},
		{"two objects", `{"a": "b"} {"c": "d"}`, "more after the first object"},
		{"YAML of another kind", "apiVersion: v1\nkind: Secret\ndata: {password: Hidden1}\n", "kind KafkaConnector"},
		{"bad YAML", "apiVersion: v1\n\tpassword: Hidden1\n", "reading YAML"},
		{"list in YAML", "apiVersion: v1\nkind: KafkaConnector\nspec: {config: {a: [Hidden1]}}\n", `property "a": want text`},
		{"unicode escape", "a=b\ndatabase.password=Hidden1\\u00g1\n", "line 2"},
		{"short unicode escape", `a=\u00`, "line 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := debeziumconfig.Read([]byte(tt.text))
			require.ErrorContains(t, err, tt.want)
			assert.NotContains(t, err.Error(), "Hidden1")
		})
	}
}

// A connector that names a converter brings all its settings; otherwise the
// worker's count.
func TestOverWorker(t *testing.T) {
	worker := debeziumconfig.OfWorker(map[string]string{
		"bootstrap.servers": "k:1", "group.id": "g",
		"key.converter": "K", "key.converter.schemas.enable": "false", "value.converter": "V", "value.converter.schemas.enable": "false",
	})
	assert.NotContains(t, worker, "group.id")
	got := debeziumconfig.OverWorker(worker, map[string]string{"a": "b", "value.converter": "W"})
	assert.Equal(t, map[string]string{
		"bootstrap.servers": "k:1", "key.converter": "K", "key.converter.schemas.enable": "false", "value.converter": "W", "a": "b",
	}, got)
}

// Nothing that is read makes a panic, and what is translated becomes YAML.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"name": "n", "config": {"connector.class": "SqlServerConnector", "topic.prefix": "p", "a": 1}}`))
	f.Add([]byte("apiVersion: v1\nkind: KafkaConnector\nspec:\n  class: SqlServerConnector\n  config:\n    topic.prefix: p\n    a: [1]\n"))
	f.Add([]byte("connector.class=SqlServerConnector\ntopic.prefix=p\ntable.include.list=a\\,b\n"))
	f.Add([]byte("connector.class=SqlServerConnector\ntopic.prefix=p\ntransforms=x\ntransforms.x.type=io.debezium.transforms.Filter\ntransforms.x.condition=value.a == 'b' ? \"c\" : null\n"))
	f.Add([]byte("connector.class=SqlServerConnector\ntopic.prefix=${a:b}\ntransforms=x\ntransforms.x.type=org.apache.kafka.connect.transforms.TimestampRouter\ntransforms.x.timestamp.format=yyyy'T'\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		props, err := debeziumconfig.Read(data)
		if err != nil {
			return
		}
		result, err := debeziumconfig.Translate(props)
		if err != nil {
			return
		}
		yaml, _ := result.YAML(service.GlobalEnvironment())
		_, err = service.GlobalEnvironment().FullConfigSchema("", "").NewStreamConfigLinter().SetSkipEnvVarCheck(true).LintYAML(yaml)
		require.NoError(t, err, "not even YAML:\n%s", yaml)
	})
}
