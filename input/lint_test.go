package input

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lintable is a configuration without mistakes, but for fields that are added.
const lintable = "host: h\nuser: u\ndatabase_names: [ db ]\ntopic_prefix: p\ncheckpoint_cache: offsets\n"

// What a start refuses is what the linter says, word for word, and each once; a
// start that is refused nothing has no lint.
func TestLint_SaysWhatAStartRefuses(t *testing.T) {
	tests := []string{
		"",
		"port: 0",
		"host: 'h:1433'",
		"host: 'h:1433'\nport: 70000\npoll_interval: soon",
		"user: ''", // an environment variable that is not set
		"instance: a\nuser: ''\npassword: ''",
		"topic_prefix: 'a b'",
		"topic_delimiter: '/'",
		"topic_heartbeat_name: 'a b'",
		"poll_interval: 0s",
		"poll_interval_adaptive: { floor: 1m, ceiling: 1s }",
		"poll_interval_adaptive: { floor: 0s, ceiling: 1s }",
		"poll_interval_adaptive: { floor: 100ms, ceiling: 10s }",
		"heartbeat_interval: -1s",
		"streaming_delay: -1s",
		"heartbeat_action_query: SELECT 1",
		"heartbeat_action_query: SELECT 1\nheartbeat_interval: 0s",
		"heartbeat_action_query: SELECT 1\nheartbeat_interval: 10s",
		"heartbeat_action_query: SELECT 1\nheartbeat_interval: 10s\napplication_intent: readonly",
		"heartbeat_action_query: SELECT 1\napplication_intent: ReadOnly",
		"database_server_timezone: Mars/Olympus",
		"database_server_timezone: W. Europe Standard Time",
		"column_mask_hash: [ { columns: [ a ], algorithm: MD2, salt: s } ]",
		"column_mask_hash: [ { columns: [ a ], algorithm: SHA-256, salt: '', version: 2 } ]",
		"column_mask_hash: [ { columns: [ a ], algorithm: SHA-256, salt: s, version: 3 } ]",
		"column_mask_with_chars: [ { columns: [ 'a++' ], length: 1 } ]",
		"column_mask_with_chars: [ { columns: [ a ], length: -1 } ]",
		"column_mask_with_chars: [ { columns: [], length: 1 } ]",
		"column_include_list: [ '[a' ]",
		"column_include_list: [ a ]\ncolumn_exclude_list: [ b ]",
		"schema_include_list: [ '(' ]\nschema_exclude_list: [ b ]",
		"capture_instance_include_list: [ '*' ]",
		"column_propagate_source_type: [ '(' ]",
		"message_key_columns: dbo.t",
		"message_key_columns: 'dbo.(t:a'",
		"skipped_operations: [ c, x ]",
		"metadata_include: [ lsn ]",
		"notification_enabled_channels: [ jmx ]",
		"notification_enabled_channels: [ sink ]",
		"notification_enabled_channels: [ sink ]\nnotification_sink_topic_name: 'a b'",
		"driver_options: { colour: red }",
		"driver_options: { packet size: big }",
		"driver_options: { password: hush }",
		"auth: { mode: ntlm }",
		"auth: { mode: sql, domain: '' }",
		"auth: { mode: kerberos, keytab: k }\npassword: hush",
		"-user\nauth: { mode: entra_service_principal, client_id: c }",
		"-user\nauth: { mode: entra_default }",
		"-user\nauth: { mode: entra_default }\nencrypt: 'false'",
		"connection_string: 'sqlserver://h?database=db'",
		"-host\n-user\nconnection_string: 'sqlserver://sa:hush@h:port'",
		"-host\n-user\nconnection_string: 'sqlserver://h'",
		"-host\n-user\n-database_names\nconnection_string: 'sqlserver://h'",
		"-host",
		"-user",
		"-database_names",
		"start_position: yesterday",
		"start_position: earliest",
		"start_position: 00000027:00000758:0005\nsnapshot_mode: no_data\ndatabase_names: [ a, b ]",
		"max_batch_size: 0",
		"max_batch_size: 8192",
		"max_queue_size: 2048",
		"max_queue_size: 2049",
		"max_queue_size_in_bytes: -1",
		"checkpoint_limit: 0",
		"errors_max_retries: -2",
		"database_names: [ a, a ]",
		"database_names: [ 'a[b' ]",
		"database_names: []",
		"snapshot_mode: sometimes",
		"auth: { mode: magic }",
		"checkpoint_cache: ' '",
	}
	for _, fields := range tests {
		t.Run(fields, func(t *testing.T) {
			yaml := merged(lintable, fields)
			want := []string{}
			parsed, err := sharedSpec().ParseYAML(yaml, nil)
			require.NoError(t, err)
			if _, err := parseConfig(parsed); err != nil {
				var refused refusals
				require.ErrorAs(t, err, &refused)
				assert.NotContains(t, err.Error(), "hush")
				for _, r := range refused {
					// An empty value is taken for one that is set where it runs.
					if !strings.Contains(fields, r.field+": ''") {
						want = append(want, r.text)
					}
				}
			}
			got := lint(t, Name+":\n"+indented(yaml))
			slices.Sort(got)
			slices.Sort(want)
			assert.Equal(t, want, append([]string{}, got...))
		})
	}
}

// merged lays fields over others; one that begins with a minus is taken away.
func merged(below, above string) string {
	var lines []string
	for line := range strings.Lines(below) {
		name, _, _ := strings.Cut(line, ":")
		if !strings.Contains("\n"+above, "\n"+name+":") && !strings.Contains("\n"+above, "\n-"+name+"\n") && !strings.HasSuffix("\n"+above, "\n-"+name) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	for line := range strings.Lines(above) {
		if !strings.HasPrefix(line, "-") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "\n")
}

func indented(yaml string) string {
	return "  " + strings.ReplaceAll(yaml, "\n", "\n  ") + "\n"
}

// A field that does not exist has a hint beside the lint of Benthos, if it can be
// told what was meant.
func TestLint_Misnamed(t *testing.T) {
	for field, want := range map[string]string{
		"tabel_include_list":             "was table_include_list meant?",
		"database.hostname":              "the field is named host",
		"database.names":                 "the field is named database_names",
		"database_user":                  "the field is named user",
		"poll.interval.ms":               "the field is named poll_interval",
		"max_queue_size_ms":              "the field is named max_queue_size",
		"table.include.list":             "the field is named table_include_list",
		"table_whitelist":                "the field is named table_include_list",
		"column.mask.with.12.chars":      "the field is named column_mask_with_chars and takes a list",
		"column.truncate.to.5.chars":     "the field is named column_truncate_to_chars and takes a list",
		"driver.trustServerCertificate":  "parameters of the driver go into driver_options",
		"snapshot_max_threads":           "this version does not have it yet",
		"signal.data.collection":         "this version does not have it yet",
		"snapshot_lock_timeout":          "this version does not have it yet",
		"schema.history.internal.driver": "",
		"bible":                          "",
	} {
		t.Run(field, func(t *testing.T) {
			got := lint(t, Name+":\n"+indented(lintable+fmt.Sprintf("%q: x", field)))
			assert.Contains(t, got, "field "+field+" not recognised")
			if want == "" {
				assert.Len(t, got, 1)
				return
			}
			assert.Len(t, got, 2)
			assert.Contains(t, got, field+": "+want)
		})
	}
}

// The fields that are said to come are those that docs/debezium.md calls planned,
// and none that is there.
func TestLint_Planned(t *testing.T) {
	text, err := os.ReadFile("../docs/debezium.md")
	require.NoError(t, err)
	code := regexp.MustCompile("`([^`]+)`")
	found := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || strings.TrimSpace(cells[4]) != "planned" {
			continue
		}
		names := code.FindAllStringSubmatch(cells[1], -1)
		if names == nil { // "same names"
			names = code.FindAllStringSubmatch(cells[0], -1)
		}
		for _, name := range names {
			assert.Contains(t, planned, strings.ReplaceAll(name[1], ".", "_"))
			found++
		}
	}
	assert.Positive(t, found)
	for _, name := range planned {
		assert.NotContains(t, fieldNames(), name)
	}
}
