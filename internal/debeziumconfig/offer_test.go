package debeziumconfig

import (
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
)

// offerWith is the offer of an input that has further fields, or others in the
// place of its own.
func offerWith(t *testing.T, fields ...*service.ConfigField) offer {
	t.Helper()
	env := service.NewEmptyEnvironment()
	require.NoError(t, env.RegisterBatchInput(input.Name, service.NewConfigSpec().Fields(fields...),
		func(*service.ParsedConfig, *service.Resources) (service.BatchInput, error) { return nil, nil }))
	o, err := offerOf(env)
	require.NoError(t, err)
	return o
}

// A field that the tables know is used as soon as the input has it, and a value
// as soon as the field takes it.
func TestOffer_GrowsWithTheInput(t *testing.T) {
	props := map[string]string{
		"connector.class": connectorClass, "topic.prefix": "p",
		"driver.applicationIntent":                               "ReadOnly",
		"snapshot.mode":                                          "always",
		"snapshot.mode.configuration.based.start.stream":         "true",
		"snapshot.select.statement.overrides":                    "dbo.t",
		"snapshot.select.statement.overrides.dbo.t":              "SELECT 1",
		"snapshot.max.threads.multiplier.db.dbo.t":               "3",
		"signal.kafka.bootstrap.servers":                         "a:1,b:2",
		"signal.kafka.topic":                                     "s",
		"notification.enabled.channels":                          "sink,jmx",
		"driver.queryTimeout":                                    "90",
		"database.initial.statements":                            "SELECT ';;'; SELECT 2",
		"schema.history.internal.store.only.captured.tables.ddl": "true",
	}
	fields := []*service.ConfigField{
		service.NewStringField("topic_prefix"),
		service.NewStringEnumField("application_intent", "ReadWrite", "ReadOnly"),
		service.NewStringAnnotatedEnumField("snapshot_mode", map[string]string{"initial": "i", "always": "a"}),
		service.NewStringEnumField("snapshot_isolation_mode", "auto", "repeatable_read", "snapshot"),
	}
	for _, name := range []string{
		"snapshot_mode_configuration_based", "snapshot_select_statement_overrides", "snapshot_max_threads_multipliers",
		"signal_kafka", "notification_enabled_channels", "database_query_timeout", "database_initial_statements",
		"schema_changes_captured_only", "extended_headers_enabled", "source_timestamp_mode",
		"event_converting_failure_handling_mode", "include_schema_changes", "computed_columns",
	} {
		fields = append(fields, service.NewAnyField(name))
	}
	result, err := Translate(props, withOffer(offerWith(t, fields...)))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"topic_prefix":                           "p",
		"application_intent":                     "ReadOnly",
		"snapshot_mode":                          "always",
		"snapshot_mode_configuration_based":      map[string]any{"start_stream": true},
		"snapshot_select_statement_overrides":    map[string]any{"dbo.t": "SELECT 1"},
		"snapshot_max_threads_multipliers":       map[string]any{"db.dbo.t": 3},
		"signal_kafka":                           map[string]any{"seed_brokers": []string{"a:1", "b:2"}, "topic": "s"},
		"notification_enabled_channels":          []string{"sink"},
		"database_query_timeout":                 "90s",
		"database_initial_statements":            []string{"SELECT ';'", "SELECT 2"},
		"schema_changes_captured_only":           true,
		"snapshot_isolation_mode":                "snapshot",
		"extended_headers_enabled":               true,
		"source_timestamp_mode":                  "begin",
		"event_converting_failure_handling_mode": "warn",
		"computed_columns":                       "snapshot",
		"schemas_enable":                         true,
	}, result.Input())
	for _, note := range result.Notes {
		assert.NotEqual(t, Planned, note.Kind, note)
	}
}

// Every field of the tables is one that docs/debezium.md lists: a misspelt name
// would be "planned" for ever.
func TestOffer_KnowsNoOtherFields(t *testing.T) {
	listed := listedFields(t)
	for _, r := range rules {
		if r.field != "" {
			assert.Contains(t, listed, r.field)
		}
	}
	for field := range inForce {
		assert.Contains(t, listed, field)
	}
}

func TestOffer_Current(t *testing.T) {
	o, err := current()
	require.NoError(t, err)
	assert.True(t, o.has("topic_prefix"))
	assert.False(t, o.has("tls.skip_cert_verify"), "fields of fields are not fields")
	assert.Contains(t, o.options("snapshot_mode"), "initial")
	assert.Empty(t, o.options("host"))
}

// An environment without the input offers nothing, and says so.
func TestOffer_NoInput(t *testing.T) {
	_, err := offerOf(service.NewEmptyEnvironment())
	require.ErrorContains(t, err, input.Name)
}
