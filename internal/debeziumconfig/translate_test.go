package debeziumconfig_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/debeziumconfig"
)

func TestTranslate_Refused(t *testing.T) {
	const class, prefix = "connector.class", "topic.prefix"
	tests := []struct {
		name  string
		props map[string]string
		want  []string
	}{
		{"nothing", nil, []string{"connector.class is missing", "SqlServerConnector"}},
		{"another connector", map[string]string{class: "io.debezium.connector.mysql.MySqlConnector", prefix: "p"}, []string{"MySqlConnector", "Debezium's MySQL connector"}},
		{"a sink", map[string]string{class: "io.debezium.connector.jdbc.JdbcSinkConnector"}, []string{"Debezium's JDBC sink connector"}},
		{"an unknown one", map[string]string{class: "com.example.Mine"}, []string{`"com.example.Mine"`, "not Debezium's SQL Server connector"}},
		{"no prefix", map[string]string{class: "io.debezium.connector.sqlserver.SqlServerConnector"}, []string{"topic.prefix is missing", "database.server.name"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := debeziumconfig.Translate(tt.props)
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

// Values of properties become values of fields.
func TestTranslate_Values(t *testing.T) {
	tests := []struct {
		property, value string
		field           string
		want            any // nil: not set
		note            string
	}{
		{"database.port", "1434", "port", 1434, ""},
		{"database.port", "${env:PORT}", "port", debeziumconfig.Reference("${env:PORT}"), ""},
		{"database.port", "many", "port", nil, "database.port: invalid: want a whole number"},
		{"database.password", " x y ", "password", "x y", ""},
		{"table.include.list", ` dbo\.a , dbo\.b\,c ,, `, "table_include_list", []string{`dbo\.a`, `dbo\.b,c`}, ""},
		{"table.include.list", "", "table_include_list", nil, ""},
		{"table.whitelist", "a", "table_include_list", []string{"a"}, ""},
		{"table.include.list", "${env:TABLES}", "table_include_list", []string{"${env:TABLES}"}, "one variable is one item"},
		{"tombstones.on.delete", "FALSE", "tombstones_on_delete", false, ""},
		{"tombstones.on.delete", "maybe", "tombstones_on_delete", nil, "tombstones.on.delete: invalid: want true or false"},
		{"poll.interval.ms", "90000", "poll_interval", "90s", ""},
		{"poll.interval.ms", "60000", "poll_interval", "1m", ""},
		{"poll.interval.ms", "1", "poll_interval", "1ms", ""},
		{"poll.interval.ms", "-1", "poll_interval", nil, "poll.interval.ms: invalid: want a whole number of ms, not negative"},
		{"poll.interval.ms", "9999999999999999", "poll_interval", nil, "poll.interval.ms: invalid: the number is too large"},
		{"database.hostname", `sql01\PROD`, "host", nil, "database.hostname: invalid: want the host alone"},
		{"poll.interval.ms", "${env:MS}", "poll_interval", "${env:MS}ms", ""},
		{"time.precision.mode", "CONNECT", "time_precision_mode", "connect", ""},
		{"time.precision.mode", "lunar", "time_precision_mode", nil, `"lunar" is not offered`},
		{"snapshot.mode", "schema_only", "snapshot_mode", "no_data", ""},
		{"snapshot.mode", "initial_schema_only", "snapshot_mode", "no_data", ""},
		{"driver.encrypt", "false", "encrypt", "login", ""},
		{"database.encrypt", "mandatory", "encrypt", "true", ""},
		{"driver.encrypt", "perhaps", "encrypt", nil, "driver.encrypt: invalid"},
		{"driver.trustServerCertificate", "true", "tls", map[string]any{"skip_cert_verify": true}, ""},
		{"driver.trustServerCertificate", "false", "tls", nil, ""},
		{"driver.applicationIntent", "readwrite", "application_intent", "ReadWrite", ""},
		{"driver.hostnameincertificate", "*.x", "driver_options", map[string]any{"hostnameincertificate": "*.x"}, ""},
		{"driver.authentication", "SqlPassword", "auth", nil, ""},
		{"streaming.fetch.size", "0", "streaming_fetch_size", nil, "0 is no limit"},
		{"query.fetch.size", "77", "streaming_fetch_size", 77, ""},
		{"column.mask.with.3.chars", "a.b.c,d.e.f", "column_mask_with_chars", []map[string]any{{"columns": []string{"a.b.c", "d.e.f"}, "length": 3}}, ""},
		{"column.mask.hash.v2.SHA-256.with.salt.a.b", "x", "column_mask_hash", []map[string]any{{"columns": []string{"x"}, "algorithm": "SHA-256", "salt": "a.b", "version": 2}}, ""},
		{"column.mask.with.99999999999999999999.chars", "x", "column_mask_with_chars", nil, "too large"},
		{"sanitize.field.names", "true", "field_name_adjustment_mode", "avro", ""},
		{"sanitize.field.names", "false", "field_name_adjustment_mode", nil, ""},
		{"topic.naming.strategy", "io.debezium.schema.SchemaTopicNamingStrategy", "topic_naming", nil, ""},
		{"topic.naming.strategy", "com.example.Names", "topic_naming", nil, "the pipeline changes topics"},
		{"heartbeat.interval.ms", "0", "", nil, ""},
		{"snapshot.locking.mode", "none", "", nil, ""},
		{"tasks.max", "1", "", nil, ""},
		{"tasks.max", "3", "", nil, "one input is one task"},
		{"tabel.include.list", "x", "", nil, "tabel.include.list: unknown"},
		{"transforms.a.type", "x", "", nil, "the list transforms does not name it"},
	}
	for _, tt := range tests {
		t.Run(tt.property+"="+tt.value, func(t *testing.T) {
			result, err := debeziumconfig.Translate(base(map[string]string{tt.property: tt.value}))
			require.NoError(t, err)
			got, set := result.Input()[tt.field]
			assert.Equal(t, tt.want != nil, set)
			assert.Equal(t, tt.want, got)
			warnings := warnings(result)
			if tt.note == "" {
				assert.Empty(t, warnings)
				return
			}
			require.Len(t, warnings, 1)
			assert.Contains(t, warnings[0], tt.note)
		})
	}
}

// What the input would refuse is left out with a note; Debezium takes it, and
// runs the statement never, or where it fails.
func TestTranslate_HeartbeatAction(t *testing.T) {
	for name, test := range map[string]struct {
		properties map[string]string
		kept       bool
		note       string
	}{
		"with an interval":      {map[string]string{"heartbeat.interval.ms": "1000"}, true, ""},
		"with a variable":       {map[string]string{"heartbeat.interval.ms": "${env:MS}"}, true, ""},
		"without":               {nil, false, "heartbeat.action.query: not applicable: without heartbeat.interval.ms it never ran"},
		"with an interval of 0": {map[string]string{"heartbeat.interval.ms": "0"}, false, "heartbeat.action.query: not applicable: without heartbeat.interval.ms it never ran"},
		"read only": {
			map[string]string{"heartbeat.interval.ms": "1000", "driver.applicationIntent": "ReadOnly"},
			false,
			"heartbeat.action.query: not applicable: nothing is written with application_intent: ReadOnly",
		},
	} {
		t.Run(name, func(t *testing.T) {
			properties := map[string]string{"heartbeat.action.query": "UPDATE dbo.beat SET n = 1"}
			maps.Copy(properties, test.properties)
			result, err := debeziumconfig.Translate(base(properties))
			require.NoError(t, err)
			_, kept := result.Input()["heartbeat_action_query"]
			assert.Equal(t, test.kept, kept)
			if test.note == "" {
				assert.Empty(t, warnings(result))
				return
			}
			require.Len(t, warnings(result), 1)
			assert.Contains(t, warnings(result)[0], test.note)
		})
	}
}

func warnings(r debeziumconfig.Result) (texts []string) {
	for _, n := range r.Notes {
		if n.Warning() {
			texts = append(texts, n.String())
		}
	}
	return texts
}

// Defaults that changed since 1.x are written out, and 1.x is told by names
// that only it has.
func TestTranslate_Generations(t *testing.T) {
	old := map[string]string{
		"connector.class":   "io.debezium.connector.sqlserver.SqlServerConnector",
		"database.hostname": "h", "database.dbname": "db", "database.server.name": "p",
	}
	result, err := debeziumconfig.Translate(old)
	require.NoError(t, err)
	assert.Equal(t, debeziumconfig.Debezium1, result.Generation)
	fields := result.Input()
	for field, want := range map[string]any{
		"topic_prefix": "p", "poll_interval": "1s", "topic_naming": "schema_table", "schema_name_adjustment_mode": "avro",
		"encrypt": "login", "schemas_enable": true, "skipped_operations": []string{"none"},
	} {
		assert.Equal(t, want, fields[field], field)
	}

	for _, generation := range []debeziumconfig.Generation{debeziumconfig.Debezium2, debeziumconfig.Debezium3} {
		result, err = debeziumconfig.Translate(old, debeziumconfig.As(generation))
		require.NoError(t, err)
		assert.Equal(t, generation, result.Generation)
		for _, field := range []string{"poll_interval", "topic_naming", "schema_name_adjustment_mode", "encrypt"} {
			assert.NotContains(t, result.Input(), field)
		}
	}

	result, err = debeziumconfig.Translate(base(nil))
	require.NoError(t, err)
	assert.Equal(t, debeziumconfig.Debezium3, result.Generation)
	result, err = debeziumconfig.Translate(base(nil), debeziumconfig.As(debeziumconfig.Debezium1))
	require.NoError(t, err)
	assert.NotContains(t, result.Input(), "topic_naming", "several databases were a mode of 1.9 with the database in topics")
	assert.Equal(t, "1s", result.Input()["poll_interval"])

	old["key.converter"] = "io.confluent.connect.avro.AvroConverter"
	result, err = debeziumconfig.Translate(old)
	require.NoError(t, err)
	assert.Equal(t, "avro", result.Input()["field_name_adjustment_mode"])
}

// Of a property's old and new names the new one counts.
func TestTranslate_BothNames(t *testing.T) {
	result, err := debeziumconfig.Translate(base(map[string]string{"table.include.list": "new", "table.whitelist": "old"}))
	require.NoError(t, err)
	assert.Equal(t, []string{"new"}, result.Input()["table_include_list"])
	assert.Equal(t, []string{"table.whitelist: not applicable: table.include.list takes its place"}, warnings(result))
}

func TestTranslate_Converters(t *testing.T) {
	const json = "org.apache.kafka.connect.json.JsonConverter"
	tests := []struct {
		name  string
		props map[string]string
		want  map[string]any
	}{
		{"of the worker", map[string]string{}, map[string]any{"schemas_enable": true}},
		{"JSON", map[string]string{"key.converter": json, "value.converter": json}, map[string]any{"schemas_enable": true}},
		{"without schemas", map[string]string{"key.converter": json, "value.converter": json, "key.converter.schemas.enable": "false", "value.converter.schemas.enable": "false"}, map[string]any{"schemas_enable": false}},
		{"one of each", map[string]string{"key.converter": json, "value.converter": json, "key.converter.schemas.enable": "false"}, map[string]any{"key_schemas_enable": false, "value_schemas_enable": true}},
		{"of Confluent Cloud", map[string]string{"output.data.format": "JSON", "output.key.format": "JSON"}, map[string]any{"schemas_enable": false}},
		{"text and JSON", map[string]string{"key.converter": "org.apache.kafka.connect.storage.StringConverter", "value.converter": json}, map[string]any{"key_schemas_enable": false, "value_schemas_enable": true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.props["connector.class"], tt.props["topic.prefix"] = "SqlServerConnector", "p"
			result, err := debeziumconfig.Translate(tt.props)
			require.NoError(t, err)
			got := map[string]any{}
			for name, value := range result.Input() {
				if strings.Contains(name, "schemas_enable") {
					got[name] = value
				}
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// Where there is an output for Kafka it is used, and with what this
// distribution lacks it passes lint all the same.
func TestYAML_KafkaOutput(t *testing.T) {
	env := service.GlobalEnvironment().Clone()
	result, err := debeziumconfig.Translate(base(map[string]string{"schema.history.internal.kafka.bootstrap.servers": "a:1, b:2"}))
	require.NoError(t, err)
	yaml, _ := result.YAML(env)
	assert.Contains(t, string(yaml), "  stdout: {}\n")
	assert.Contains(t, string(yaml), "  #   seed_brokers: [ 'a:1', 'b:2' ]\n")

	require.NoError(t, env.RegisterBatchOutput("kafka_franz", service.NewConfigSpec(),
		func(*service.ParsedConfig, *service.Resources) (service.BatchOutput, service.BatchPolicy, int, error) {
			return nil, service.BatchPolicy{}, 0, nil
		}))
	yaml, _ = result.YAML(env)
	assert.NotContains(t, string(yaml), "stdout")
	assert.Contains(t, string(yaml), "\n  kafka_franz:\n    seed_brokers: [ 'a:1', 'b:2' ]\n")
}

// Whatever the values, the pipeline passes lint and gives them back; what
// Benthos would take for variables is escaped.
func TestYAML_AnyText(t *testing.T) {
	for _, text := range []string{
		"plain", "it's", `dbo\.a`, "${HOME}", "${a:b}", "${a:", "x ${a|b} y", "${a", "${a.b:}", "x ${topic} y", "yes", "null", "5", "5s", "# no comment", "a: b", "- a", "line\nbreak", "tab\t", "\u2028", "ä", "%d", "*a", "&a", "!t", "@t", "`t", "{}", "[a", "'", `"`, " ",
	} {
		result, err := debeziumconfig.Translate(base(map[string]string{"unavailable.value.placeholder": text}))
		require.NoError(t, err)
		yaml, variables := result.YAML(service.GlobalEnvironment())
		want := strings.TrimSpace(text)
		if want == "" {
			continue // a property that is not set
		}
		if strings.HasPrefix(text, "${a") && strings.HasSuffix(text, "}") {
			assert.Len(t, variables, 1, "a reference to a configuration provider is none of Benthos")
			continue
		}
		assert.Empty(t, variables)
		assert.Equal(t, want, readField(t, yaml, "unavailable_value_placeholder"), "%q in\n%s", text, yaml)
	}
}

// Names that would be no patterns are escaped; the others stay as they are.
func TestTranslate_DatabaseNames(t *testing.T) {
	result, err := debeziumconfig.Translate(map[string]string{
		"connector.class": "SqlServerConnector", "topic.prefix": "p", "database.names": "shop,shop.eu,a(b,C++",
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"shop", "shop.eu", `a\(b`, `C\+\+`}, result.Input()["database_names"])
}

// The JDBC driver's ways to log in are those of auth, and the client's secret is
// shown nowhere.
func TestTranslate_Authentication(t *testing.T) {
	for _, test := range []struct {
		name  string
		props map[string]string
		want  any
		note  string
	}{
		{"service principal", map[string]string{"driver.authentication": "ActiveDirectoryServicePrincipal", "database.user": "id@tenant", "database.password": "Hidden1"}, map[string]any{"mode": "entra_service_principal", "client_id": "id", "tenant_id": "tenant", "client_secret": "Hidden1"}, ""},
		{"managed identity", map[string]string{"database.authentication": "ActiveDirectoryMSI", "database.msiClientId": "id"}, map[string]any{"mode": "entra_managed_identity", "client_id": "id"}, ""},
		{"default", map[string]string{"driver.authentication": "ActiveDirectoryDefault", "driver.msiClientId": "id", "database.password": "Hidden1"}, map[string]any{"mode": "entra_default"}, "driver.msiClientId: differs: set the environment variable AZURE_CLIENT_ID"},
		{"Kerberos", map[string]string{"driver.integratedSecurity": "true", "driver.authenticationScheme": "JavaKerberos", "driver.realm": "R"}, map[string]any{"mode": "kerberos", "realm": "R"}, ""},
		{"NTLM", map[string]string{"driver.integratedSecurity": "true", "driver.authenticationScheme": "NTLM", "driver.domain": "D", "database.password": "Hidden1"}, map[string]any{"mode": "ntlm", "domain": "D"}, ""},
		{"the process's account", map[string]string{"driver.integratedSecurity": "true"}, map[string]any{"mode": "windows"}, ""},
		{"a login", map[string]string{"driver.authentication": "SqlPassword", "driver.integratedSecurity": "false"}, nil, ""},
		{"password", map[string]string{"driver.authentication": "ActiveDirectoryPassword", "database.password": "Hidden1"}, nil, "driver.authentication: not applicable: logging in as ActiveDirectoryPassword is not offered"},
		{"unknown", map[string]string{"driver.authentication": "Magic"}, nil, "driver.authentication: invalid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := debeziumconfig.Translate(base(test.props))
			require.NoError(t, err)
			assert.Equal(t, test.want, result.Input()["auth"])
			if test.want != nil && test.name != "Kerberos" && test.name != "NTLM" {
				assert.NotContains(t, result.Input(), "user")
				assert.NotContains(t, result.Input(), "password")
			}
			assert.Contains(t, strings.Join(notes(result), "\n"), test.note)
			yaml, _ := result.YAML(service.GlobalEnvironment())
			assert.Empty(t, lint(t, string(yaml)), "%s", yaml)
			assert.NotContains(t, string(yaml)+strings.Join(notes(result), ""), "Hidden1")
		})
	}
}
