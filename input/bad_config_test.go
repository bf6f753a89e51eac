package input_test

import (
	"context"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
)

// Mistakes that show without a server end the start, with one line that names
// the field, or the line of the file.
func TestBadConfig_WithoutServer(t *testing.T) {
	tests := []struct {
		name, fields string
		says         []string
	}{
		{"missing cache", "checkpoint_cache: none", []string{"checkpoint_cache", `"none"`}},
		{"include and exclude", "table_include_list: [ a ]\ntable_exclude_list: [ b ]", []string{"table_exclude_list", "table_include_list"}},
		{"bad pattern", "table_include_list: [ '[a' ]", []string{"table_include_list[0]", "regular expression", `"[a"`}},
		{"bad duration", "poll_interval: soon", []string{"invalid duration", `"soon"`, "500ms"}},
		{"no database", "database_names: []", []string{"database_names"}},
		{"bad pattern for databases", "database_names: [ 'a[b' ]", []string{"database_names", "regular expression", `"a[b"`}},
		{"unknown time zone", "database_server_timezone: Mars/Olympus", []string{"database_server_timezone", `"Mars/Olympus"`}},
		{"zone of this machine", "database_server_timezone: Local", []string{"database_server_timezone", `"Local"`}},
		{"key without columns", "message_key_columns: 'dbo.t'", []string{"message_key_columns", `"dbo.t"`}},
		{"key with a bad pattern", "message_key_columns: 'dbo.(t:a'", []string{"message_key_columns", "dbo.(t"}},
		{"possessive pattern in a rule", "column_mask_with_chars: [ { columns: [ 'a++' ], length: 1 } ]", []string{"column_mask_with_chars", `"a++"`}},
		{"unknown hash", "column_mask_hash: [ { columns: [ a ], algorithm: MD2, salt: s } ]", []string{"column_mask_hash", "MD2"}},
		{"unknown field", "bible: [ a ]", []string{"bible"}},
		{"bad connection string", "connection_string: 'sqlserver://sa:" + password + "@host?encrypt=perhaps'", []string{"encrypt", "perhaps"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := service.NewEnvironment()
			require.NoError(t, input.Register(env))
			builder := env.NewStreamBuilder()
			require.NoError(t, builder.AddCacheYAML("label: offsets\nmemory: {}"))
			require.NoError(t, builder.AddOutputYAML("drop: {}"))
			builder.SetLogger(slog.New(slog.DiscardHandler))
			err := builder.AddInputYAML(inputYAML(tt.fields))
			if err == nil {
				stream, buildErr := builder.Build()
				require.NoError(t, buildErr)
				err = stream.Run(t.Context())
			}
			require.Error(t, err)
			for _, part := range tt.says {
				assert.ErrorContains(t, err, part)
			}
			assert.NotContains(t, err.Error(), "\n")
			assert.NotContains(t, err.Error(), password)
		})
	}
}

// Mistakes that the server shows are said in one line with the remedy, not
// once for each attempt, and are noticed when they are cured.
func TestBadConfig_AtTheServer(t *testing.T) {
	tests := []struct {
		name, before, fields string
		says                 []string
		cure                 string
	}{
		{
			name: "no table matches", before: customers, fields: "table_include_list: [ 'dbo\\.orders' ]",
			says: []string{"nothing to capture", "passes table_include_list [", "sp_cdc_enable_table", "or correct table_include_list"},
			cure: "USE db\nCREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY)\nINSERT dbo.orders VALUES (1), (2)\n" + enable("dbo", "orders"),
		},
		{
			name: "no instance matches", before: customers, fields: "capture_instance_include_list: [ v2_.* ]",
			says: []string{"nothing to capture", "passes capture_instance_include_list [", "v2_.*", "or correct capture_instance_include_list"},
			cure: "USE db\nCREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY)\nINSERT dbo.orders VALUES (1), (2)\nEXEC sys.sp_cdc_enable_table N'dbo', N'orders', @role_name = NULL, @capture_instance = N'v2_orders'",
		},
		{
			name: "no captured table", before: "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\nINSERT dbo.t VALUES (1), (2)\n",
			says: []string{"nothing to capture", "sp_cdc_enable_table"}, cure: "USE db\n" + enable("dbo", "t"),
		},
		{
			name: "wrong password", before: customers, fields: "password: 'wr0ng-P@ss'",
			says: []string{"the server refuses the login", "Login failed for user 'sa'"}, cure: "ALTER LOGIN sa WITH PASSWORD = 'wr0ng-P@ss'",
		},
		{
			name: "unknown database", before: customers, fields: "database_names: [ other ]",
			says: []string{"the server refuses the login or the database", "other"},
			cure: "CREATE DATABASE other\nGO\nUSE other\nEXEC sys.sp_cdc_enable_db\nCREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\nINSERT dbo.t VALUES (1), (2)\n" + enable("dbo", "t"),
		},
		{
			name: "no change data capture", before: "", fields: "database_names: [ plain ]",
			says: []string{"change data capture is off", "sp_cdc_enable_db"},
			cure: "USE plain\nEXEC sys.sp_cdc_enable_db\nCREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\nINSERT dbo.t VALUES (1), (2)\n" + enable("dbo", "t"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, tt.before)
				sqlExec(t, server, "CREATE DATABASE plain")
				p := startPipeline(t, server, settings{fields: tt.fields})
				<-time.After(time.Second)
				require.Equal(t, 1, countLines(p, "Cannot go on"), "log:\n%s", p.logs)
				require.Equal(t, 1, countLines(p, "level=ERROR"), "one error line for one mistake; log:\n%s", p.logs)
				var line string
				for l := range strings.Lines(p.logs.String()) {
					if strings.Contains(l, "Failed to connect") {
						line = l
					}
				}
				for _, part := range tt.says {
					assert.Contains(t, line, part)
				}
				<-time.After(10 * time.Minute)
				assert.Equal(t, 1, countLines(p, "Cannot go on"))
				require.Empty(t, shorts(p.rest()))
				sqlExec(t, server, tt.cure)
				p.next(2)
				assert.Equal(t, 1, countLines(p, "Going on:"))
				assert.NotContains(t, p.logs.String(), "wr0ng-P@ss")
			})
		})
	}
}

// With on_fatal: stop the stream ends, and whoever asked is told why.
func TestBadConfig_Stop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		reasons := make(chan error, 10)
		p := startPipeline(t, server, settings{fields: "table_include_list: [ none ]\non_fatal: stop", onStop: func(err error) { reasons <- err }})
		err := <-p.ended
		p.ended <- err
		require.NoError(t, err)
		require.Len(t, reasons, 1)
		require.ErrorContains(t, <-reasons, "nothing to capture")
		require.Equal(t, 1, countLines(p, "level=ERROR"), "log:\n%s", p.logs)
	})
}

// A cache that cannot be written is a mistake too, and not tried again and again.
func TestBadConfig_CacheFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, customers)
		kept := newStore()
		kept.onSet = func(context.Context, string, []byte) error {
			return &fs.PathError{Op: "open", Path: "offsets/key", Err: fs.ErrNotExist}
		}
		reasons := make(chan error, 10)
		p := startPipeline(t, server, settings{store: kept, fields: "on_fatal: stop", onStop: func(err error) { reasons <- err }})
		err := <-p.ended
		p.ended <- err
		require.NoError(t, err)
		require.Len(t, reasons, 1)
		require.ErrorContains(t, <-reasons, "make the folder of a file cache")
		require.Equal(t, 1, countLines(p, "level=ERROR"), "log:\n%s", p.logs)
	})
}
