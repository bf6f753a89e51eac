package input

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// lintable is a configuration without mistakes, but for fields that are added.
const lintable = "host: h\nuser: u\ndatabase_names: [ db ]\ntopic_prefix: p\ncheckpoint_cache: offsets\n"

// What a start refuses is what the linter says, word for word, and each once; a
// start that is refused nothing has no lint. What the linter of Benthos says by
// itself stands in its own words.
func TestLint_SaysWhatAStartRefuses(t *testing.T) {
	tests := []struct {
		fields string
		says   []string // by the linter of Benthos itself
	}{
		{fields: ""},
		{fields: "port: 0"},
		{fields: "host: 'h:1433'"},
		{fields: "host: 'h:1433'\nport: 70000\npoll_interval: soon"},
		{fields: "user: ''"}, // an environment variable that is not set
		{fields: "instance: a\nuser: ''\npassword: ''"},
		{fields: "topic_prefix: 'a b'"},
		{fields: "topic_delimiter: '/'"},
		{fields: "topic_heartbeat_name: 'a b'"},
		{fields: "poll_interval: 0s"},
		{fields: "poll_interval_adaptive: { floor: 1m, ceiling: 1s }"},
		{fields: "poll_interval_adaptive: { floor: 0s, ceiling: 1s }"},
		{fields: "poll_interval_adaptive: { floor: 100ms, ceiling: 10s }"},
		{fields: "heartbeat_interval: -1s"},
		{fields: "streaming_delay: -1s"},
		{fields: "database_server_timezone: Mars/Olympus"},
		{fields: "database_server_timezone: W. Europe Standard Time"},
		{fields: "column_mask_hash: [ { columns: [ a ], algorithm: MD2, salt: s } ]"},
		{fields: "column_mask_hash: [ { columns: [ a ], algorithm: SHA-256, salt: '', version: 2 } ]"},
		{fields: "column_mask_hash: [ { columns: [ a ], algorithm: SHA-256, salt: s, version: 3 } ]"},
		{fields: "column_mask_with_chars: [ { columns: [ 'a++' ], length: 1 } ]"},
		{fields: "column_mask_with_chars: [ { columns: [ a ], length: -1 } ]"},
		{fields: "column_mask_with_chars: [ { columns: [], length: 1 } ]"},
		{fields: "column_include_list: [ '[a' ]"},
		{fields: "column_include_list: [ a ]\ncolumn_exclude_list: [ b ]"},
		{fields: "schema_include_list: [ '(' ]\nschema_exclude_list: [ b ]"},
		{fields: "capture_instance_include_list: [ '*' ]"},
		{fields: "column_propagate_source_type: [ '(' ]"},
		{fields: "message_key_columns: dbo.t"},
		{fields: "message_key_columns: 'dbo.(t:a'"},
		{fields: "skipped_operations: [ c, x ]"},
		{fields: "metadata_include: [ lsn ]"},
		{fields: "notification_enabled_channels: [ jmx ]"},
		{fields: "notification_enabled_channels: [ sink ]"},
		{fields: "notification_enabled_channels: [ sink ]\nnotification_sink_topic_name: 'a b'"},
		{fields: "driver_options: { colour: red }"},
		{fields: "driver_options: { packet size: big }"},
		{fields: "driver_options: { password: hush }"},
		{fields: "auth: { mode: ntlm }"},
		{fields: "auth: { mode: kerberos, keytab: k }\npassword: hush"},
		{fields: "-user\nauth: { mode: entra_service_principal, client_id: c }"},
		{fields: "-user\nauth: { mode: entra_default }"},
		{fields: "-user\nauth: { mode: entra_default }\nencrypt: 'false'"},
		{fields: "connection_string: 'sqlserver://h?database=db'"},
		{fields: "-host\n-user\nconnection_string: 'sqlserver://sa:hush@h:port'"},
		{fields: "-host\n-user\nconnection_string: 'sqlserver://h'"},
		{fields: "-host\n-user\n-database_names\nconnection_string: 'sqlserver://h'"},
		{fields: "-host"},
		{fields: "-user"},
		{fields: "-database_names"},
		{fields: "start_position: yesterday"},
		{fields: "start_position: earliest"},
		{fields: "start_position: 00000027:00000758:0005\nsnapshot_mode: no_data\ndatabase_names: [ a, b ]"},
		{fields: "max_batch_size: 0"},
		{fields: "max_batch_size: 8192"},
		{fields: "max_queue_size: 2048"},
		{fields: "max_queue_size: 2049"},
		{fields: "max_queue_size_in_bytes: -1"},
		{fields: "checkpoint_limit: 0"},
		{fields: "errors_max_retries: -2"},
		{fields: "database_names: [ a, a ]"},
		{fields: "database_names: [ 'a[b' ]"},
		{fields: "database_names: []"},
		{fields: "snapshot_mode: sometimes", says: []string{"value sometimes is not a valid option for this field"}},
		{fields: "auth: { mode: magic }", says: []string{"value magic is not a valid option for this field"}},
		{fields: "checkpoint_cache: ' '"},
	}
	for _, tt := range tests {
		t.Run(tt.fields, func(t *testing.T) {
			yaml := merged(lintable, tt.fields)
			want := append([]string{}, tt.says...)
			parsed, err := sharedSpec().ParseYAML(yaml, nil)
			require.NoError(t, err)
			if _, err := parseConfig(parsed); err != nil {
				refused, ok := err.(refusals)
				require.True(t, ok)
				assert.NotContains(t, err.Error(), "hush")
				for _, r := range refused {
					// An empty value is taken for one that is set where it runs.
					if !r.listed && !strings.Contains(tt.fields, r.field+": ''") {
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
