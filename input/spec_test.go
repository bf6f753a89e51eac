package input

import (
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
)

// lint returns what the linter says about an input's configuration.
func lint(t *testing.T, yaml string) []string {
	t.Helper()
	env := service.NewEnvironment()
	require.NoError(t, env.RegisterBatchInput(Name, sharedSpec(), func(*service.ParsedConfig, *service.Resources) (service.BatchInput, error) {
		return nil, nil
	}))
	lints, err := env.NewComponentConfigLinter().LintInputYAML([]byte(yaml))
	require.NoError(t, err)
	var texts []string
	for _, l := range lints {
		texts = append(texts, l.What)
	}
	return texts
}

func TestSpec_Lint(t *testing.T) {
	const required = "  topic_prefix: server1\n  checkpoint_cache: offsets\n"
	const server = "  host: h\n  user: u\n  database_names: [db]\n"
	tests := []struct {
		name string
		yaml string // fields of the input, indented by two
		want string // part of the one lint; empty: none
	}{
		{"complete", server + required, ""},
		{"connection string", "  connection_string: sqlserver://h?database=db\n" + required, ""},
		{"no server", required, "host: required unless connection_string is set"},
		{"both forms", "  connection_string: sqlserver://h\n" + server + required, "connection_string: cannot be combined with host"},
		{"no topic prefix", server + "  checkpoint_cache: offsets\n", "topic_prefix"},
		{"prefix Kafka refuses", server + "  topic_prefix: 'a b/c'\n  checkpoint_cache: offsets\n", `topic_prefix: invalid value "a b/c"`},
		{"no database", "  host: h\n  user: u\n" + required, "database_names: a list of names is required unless connection_string names a database"},
		{"host with port", "  host: h:1433\n  user: u\n  database_names: [db]\n" + required, `host: "h:1433" must be a name or an address alone`},
		{"host with instance", "  host: 'h\\SQL2019'\n  user: u\n  database_names: [db]\n" + required, "instance into instance"},
		{"address of IPv6", "  host: 2001:db8::1\n  user: u\n  database_names: [db]\n" + required, ""},
		{"no cache", server + "  topic_prefix: p\n", "checkpoint_cache"},
		{"unknown field", server + required + "  bible: 1\n", "field bible not recognised"},
		{"both lists", server + required + "  table_include_list: [a]\n  table_exclude_list: [b]\n", "cannot be combined with table_include_list"},
		{"one list empty", server + required + "  table_include_list: []\n  table_exclude_list: [b]\n", ""},
		{"unclosed group", server + required + "  table_include_list: ['dbo\\.(a']\n", `table_include_list[0]: regular expression "dbo\\.(a"`},
		{"unclosed class", server + required + "  table_exclude_list: ['dbo\\.[a']\n", "regular expression"},
		{"nothing to repeat", server + required + "  table_exclude_list: ['*']\n", "regular expression"},
		{"lookahead", server + required + "  table_include_list: ['dbo\\.(?!audit).*']\n", ""},
		{"possessive", server + required + "  table_include_list: ['dbo\\.a++']\n", "nested repetition"},
		{"bad duration", server + required + "  poll_interval: 5 parsecs\n", "invalid duration"},
		{"duration without unit", server + required + "  poll_interval: '5'\n", "invalid duration"},
		{"negative duration", server + required + "  poll_interval: -1s\n", "invalid duration"},
		{"no heartbeats", server + required + "  heartbeat_interval: 0s\n", ""},
		{"bad interval", server + required + "  heartbeat_interval: often\n", "invalid duration"},
		{"port out of range", server + required + "  port: 70000\n", "from 1 to 65535"},
		{"negative mask", server + required + "  column_mask_with_chars: [ { columns: [ a ], length: -1 } ]\n", "must not be negative"},
		{"empty mask", server + required + "  column_mask_with_chars: [ { columns: [ a ], length: 0 } ]\n", ""},
		{"negative length", server + required + "  column_truncate_to_chars: [ { columns: [ a ], length: -1 } ]\n", "must not be negative"},
		{"unknown hash", server + required + "  column_mask_hash: [ { columns: [ a ], algorithm: MD5, salt: s, version: 3 } ]\n", "unknown version 3"},
		{"zero batch", server + required + "  max_batch_size: 0\n", "must be at least 1"},
		{"no limit of transactions", server + required + "  max_iteration_transactions: 0\n", ""},
		{"negative limit", server + required + "  max_queue_size_in_bytes: -1\n", "must not be negative"},
		{"two databases", server + required + "  database_names: [a, 'b_.*']\n", ""},
		{"observing instances", server + required + "  capture_instances: observe\n", ""},
		{"managing instances", server + required + "  capture_instances: manage\n", ""},
		{"unknown handling of instances", server + required + "  capture_instances: ignore\n", `unknown value "ignore"; use`},
		{"empty database", server + required + "  database_names: [a, '']\n", "must not be empty"},
		{"unknown mode", server + required + "  snapshot_mode: sometimes\n", "sometimes"},
		{"start at an LSN", server + required + "  snapshot_mode: no_data\n  start_position: 0x00000027000007580005\n", ""},
		{"start at a time", server + required + "  snapshot_mode: no_data\n  start_position: 2026-01-31T12:00:00.5+01:00\n", ""},
		{"start nowhere", server + required + "  start_position: yesterday\n", `"yesterday" is no start`},
		{"read-only intent", server + required + "  application_intent: ReadOnly\n", ""},
		{"unknown intent", server + required + "  application_intent: WriteOnly\n", "WriteOnly"},
		{"token", "  host: h\n  database_names: [db]\n" + required + "  auth: { mode: entra_managed_identity, client_id: id }\n", ""},
		{"unknown authentication", server + required + "  auth: { mode: magic }\n", "magic"},
		{"no limit of queries", server + required + "  database_query_timeout: 0s\n", ""},
		{"bad limit of queries", server + required + "  database_query_timeout: long\n", "0s is no limit"},
		{"no retries", server + required + "  errors_max_retries: 0\n", ""},
		{"negative retries", server + required + "  errors_max_retries: -2\n", "must be -1 for no limit"},
		{"unknown metadata", server + required + "  metadata_include: [lsn]\n", `unknown metadata key "lsn"`},
		{"start with a snapshot", server + required + "  start_position: earliest\n", "start_position: \"earliest\" needs snapshot_mode: no_data"},
		{"known metadata", server + required + "  metadata_include: [schema, commit_lsn]\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := lint(t, Name+":\n"+tt.yaml)
			if tt.want == "" {
				assert.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			assert.Contains(t, got[0], tt.want)
		})
	}
}

func TestSpec_ExamplesLint(t *testing.T) {
	env := service.NewEnvironment()
	require.NoError(t, env.RegisterBatchInput(Name, sharedSpec(), func(*service.ParsedConfig, *service.Resources) (service.BatchInput, error) {
		return nil, nil
	}))
	for _, e := range specExamples {
		t.Run(e.title, func(t *testing.T) {
			linter := env.FullConfigSchema("", "").NewStreamConfigLinter().SetSkipEnvVarCheck(true)
			lints, err := linter.LintYAML([]byte(e.yaml))
			require.NoError(t, err)
			assert.Empty(t, lints)
		})
	}
}
