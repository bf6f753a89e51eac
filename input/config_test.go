package input

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/pace"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// build makes an input of YAML, as Benthos does.
func build(t *testing.T, yaml string) (*input, error) {
	t.Helper()
	parsed, err := sharedSpec().ParseYAML(yaml, nil)
	if err != nil {
		return nil, err
	}
	return newInput(parsed, service.MockResources(service.MockResourcesOptAddCache("offsets")), options{})
}

const minimal = "host: h\nuser: u\npassword: 'p@:/ss'\ndatabase_names: [db]\ntopic_prefix: p\ncheckpoint_cache: offsets\n"

func TestConfig_Defaults(t *testing.T) {
	in, err := build(t, minimal)
	require.NoError(t, err)
	c := in.cfg
	assert.Equal(t, sqlserver.Config{
		Host: "h", Port: 1433, User: "u", Password: "p@:/ss", Database: "db", Encrypt: "true",
		ApplicationName: "sqlserver-cdc", ApplicationIntent: "ReadWrite", DriverOptions: map[string]string{}, CancelGrace: cancelGrace,
		Auth: sqlserver.Auth{Mode: "sql"}, ConnectTimeout: time.Minute, QueryTimeout: 10 * time.Minute, InitialStatements: []string{},
	}, c.server)
	assert.Equal(t, pace.Retry{Most: 10 * time.Second, Limit: -1}, c.retries)
	assert.True(t, c.tombstones)
	assert.False(t, c.keySchemas)
	assert.False(t, c.valueSchemas)
	assert.Equal(t, 500*time.Millisecond, c.pollInterval)
	assert.Equal(t, 2048, c.maxBatchSize)
	assert.Equal(t, 8192, c.maxQueueSize)
	assert.Equal(t, 8192, c.checkpointLimit)
	assert.True(t, c.replayNacks)
	assert.False(t, c.stopOnFatal)
	assert.True(t, c.batching.IsNoop())
	assert.Equal(t, "p.DB", c.checkpointKey("DB"))
}

func TestConfig_Values(t *testing.T) {
	in, err := build(t, `
connection_string: sqlserver://u:p@h:1?database=db
topic_prefix: p
checkpoint_cache: offsets
checkpoint_cache_key: mine
schemas_enable: true
key_schemas_enable: false
on_fatal: stop
batching: { count: 10, period: 1s }
tls: { skip_cert_verify: true }
`)
	require.NoError(t, err)
	c := in.cfg
	assert.Equal(t, "sqlserver://u:p@h:1?database=db", c.server.ConnectionString)
	assert.Zero(t, c.server.Port)
	assert.True(t, c.server.TLS.InsecureSkipVerify)
	assert.Equal(t, "mine", c.checkpointKey("db"))
	assert.False(t, c.keySchemas)
	assert.True(t, c.valueSchemas)
	assert.True(t, c.stopOnFatal)
	assert.Equal(t, 10, c.batching.Count)
}

func TestConfig_BatchesFitTheCheckpointLimit(t *testing.T) {
	in, err := build(t, minimal+"checkpoint_limit: 5\nmax_batch_size: 100")
	require.NoError(t, err)
	assert.Equal(t, 5, in.cfg.maxBatchSize)
}

// Debezium reads its modes in any case, and so does the linter of Benthos.
func TestConfig_CaseOfChoices(t *testing.T) {
	choices := [][2]string{
		{fieldEncrypt, "login"},
		{fieldApplicationIntent, "ReadOnly"},
		{fieldSourceTimestampMode, "begin"},
		{fieldSchemaNameAdjustmentMode, "avro_unicode"},
		{fieldFieldNameAdjustmentMode, "avro"},
		{fieldEventConvertingFailureHandlingMode, "skip"},
		{fieldSnapshotMode, "no_data"},
		{fieldSnapshotIsolationMode, "read_committed"},
		{fieldDataQueryMode, "function"},
		{fieldCaptureInstances, "observe"},
		{fieldComputedColumns, "snapshot"},
		{fieldOnFatal, "stop"},
		{fieldTopicNaming, "schema_table"},
		{fieldTimePrecisionMode, "isostring"},
		{fieldDecimalHandlingMode, "double"},
		{fieldBinaryHandlingMode, "hex"},
	}
	parsed := func(spell func(string) string) config {
		yaml := minimal
		for _, choice := range choices {
			yaml += choice[0] + ": " + spell(choice[1]) + "\n"
		}
		in, err := build(t, yaml)
		require.NoError(t, err)
		in.cfg.databases = nil // compiled patterns are never equal
		return in.cfg
	}
	want := parsed(func(value string) string { return value })
	assert.Equal(t, want, parsed(strings.ToUpper))
	assert.Equal(t, want, parsed(strings.ToLower))
}

func TestConfig_NamedInstanceAsksForItsPort(t *testing.T) {
	in, err := build(t, minimal+"instance: X")
	require.NoError(t, err)
	assert.Zero(t, in.cfg.server.Port)
	in, err = build(t, minimal+"instance: X\nport: 1500")
	require.NoError(t, err)
	assert.Equal(t, 1500, in.cfg.server.Port)
}

// Each mistake gives one line that names the field, and no secret.
func TestConfig_Mistakes(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"no cache resource", strings.Replace(minimal, "offsets", "nowhere", 1), `field checkpoint_cache: there is no cache resource with the label "nowhere"`},
		{"both lists", minimal + "table_include_list: [a]\ntable_exclude_list: [b]", "field table_exclude_list: cannot be combined with table_include_list"},
		{"bad regex", minimal + "table_include_list: ['dbo\\.(?<!a']", "table_include_list"},
		{"bad duration", minimal + "poll_interval: soon", "poll_interval"},
		{"negative duration", minimal + "poll_interval: -1s", `field poll_interval: invalid duration "-1s"`},
		{"bad port", minimal + "port: 70000", "field port: got 70000, must be from 1 to 65535"},
		{"bad encrypt", minimal + "encrypt: maybe", "maybe"},
		{"bad driver option", minimal + "driver_options: {colour: red}", "driver_options"},
		{"option with a field", minimal + "driver_options: {password: x}", "password"},
		{"bad metadata", minimal + "metadata_include: [lsn]", `field metadata_include: unknown metadata key "lsn"`},
		{"no server", strings.Replace(minimal, "host: h\n", "", 1), "host"},
		{"no database", strings.Replace(minimal, "database_names: [db]\n", "", 1), "field database_names: a list of names is required"},
		{"a database twice", strings.Replace(minimal, "[db]", "[a, b, a]", 1), `field database_names: "a" is given twice`},
		{"a bad pattern for databases", strings.Replace(minimal, "[db]", "['a[b']", 1), "field database_names: regular expression"},
		{"empty prefix", strings.Replace(minimal, "topic_prefix: p", "topic_prefix: ' '", 1), `field topic_prefix: invalid value " "`},
		{"prefix Kafka refuses", strings.Replace(minimal, "topic_prefix: p", "topic_prefix: 'a b/c'", 1), `field topic_prefix: invalid value "a b/c"`},
		{"zero", minimal + "checkpoint_limit: 0", "field checkpoint_limit: got 0, must be at least 1"},
		{"an action without heartbeats", minimal + "heartbeat_action_query: SELECT 1", "field heartbeat_action_query: it runs with each heartbeat, and heartbeat_interval: 0s sends none"},
		{"an action that may not write", minimal + "heartbeat_interval: 10s\nheartbeat_action_query: SELECT 1\napplication_intent: ReadOnly", "field heartbeat_action_query: it is there to write, which application_intent: ReadOnly forbids"},
		{"bad batching", minimal + "batching: {count: 5, period: soon}", "batching"},
		{"connection string unreadable", "connection_string: 'sqlserver://u:secret@h:port'\ntopic_prefix: p\ncheckpoint_cache: offsets", "field connection_string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := build(t, tt.yaml)
			require.ErrorContains(t, err, tt.want)
			assert.NotContains(t, err.Error(), "\n", "one line")
			assert.NotContains(t, err.Error(), "p@:/ss")
			assert.NotContains(t, err.Error(), "secret")
		})
	}
}

// documentedFields returns the fields of the tables of docs/debezium.md that
// are there in this version, with their defaults as written.
func documentedFields(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "debezium.md"))
	require.NoError(t, err)
	fields := map[string]string{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || strings.TrimSpace(cells[4]) != "yes" {
			continue
		}
		field := strings.Trim(strings.TrimSpace(cells[1]), "`")
		require.NotContains(t, fields, field)
		fields[field] = strings.TrimSpace(cells[2])
	}
	return fields
}

// The specification has exactly the documented fields, with their defaults.
func TestSpec_IsDocumented(t *testing.T) {
	env := service.NewEnvironment()
	require.NoError(t, Register(env))
	view, ok := env.GetInputConfig(Name)
	require.True(t, ok)
	data, err := view.TemplateData()
	require.NoError(t, err)

	// Defaults that are not a value but what happens without one.
	optional := map[string]string{
		"-": "", "derived": "", "`schemas_enable`": "", "required": "",
	}
	documented := documentedFields(t)
	got := map[string]string{}
	for _, f := range data.Fields {
		if strings.Contains(f.FullName, ".") || strings.Contains(f.FullName, "[]") {
			continue // inside tls and batching, which Benthos documents
		}
		got[f.FullName] = strings.Trim(f.DefaultMarshalled, `"`)
		assert.NotEmpty(t, f.Description, f.FullName)
	}
	want := map[string]string{}
	for field, value := range documented {
		if plain, ok := optional[value]; ok {
			want[field] = plain
			continue
		}
		want[field] = strings.Trim(value, "`")
	}
	assert.Equal(t, want, got)
}
