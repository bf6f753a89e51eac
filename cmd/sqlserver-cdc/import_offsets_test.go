package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

const importedPipeline = `
input:
  broker:
    inputs:
      - sqlserver_cdc:
          host: server
          user: sa
          password: "${IMPORT_PASSWORD}"
          encrypt: "false"
          database_names: [ ${IMPORT_DATABASES} ]
          topic_prefix: ${IMPORT_PREFIX:server1}
          checkpoint_cache: offsets
output:
  http_client: { url: "http://localhost:1" }
`

// The command stores the position where the pipeline's cache is, without
// reaching its output.
func TestImportOffsets(t *testing.T) {
	t.Setenv("IMPORT_PASSWORD", "00; '%")
	t.Setenv("IMPORT_DATABASES", "'db'")
	server, err := simulator.New(simulator.Options{Logins: map[string]string{"sa": "00; '%"}, Encryption: simulator.EncryptionUnsupported})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	require.NoError(t, server.Exec("CREATE DATABASE db\nGO\nUSE db\nEXEC sys.sp_cdc_enable_db\nCREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)\n"+
		"EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL\nINSERT dbo.t VALUES (1)"))
	require.NoError(t, server.CaptureNow("db"))
	sets, err := server.Query("USE db\nSELECT CONVERT(varchar(22), MAX([__$start_lsn]), 2) FROM cdc.dbo_t_CT")
	require.NoError(t, err)
	commit := sets[len(sets)-1].Rows[0][0].Str()
	commit = commit[:8] + ":" + commit[8:16] + ":" + commit[16:]

	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	pipeline := write("pipeline.yaml", importedPipeline)
	resources := write("cache.yaml", "cache_resources:\n  - label: offsets\n    file: { directory: '"+folder+"' }\n")
	o := importOffsetsOptions{
		pipeline: pipeline, offsets: "-", resources: []string{resources},
		in: strings.NewReader(`{"offsets":[{"partition":{"server":"server1","database":"db"},"offset":{"commit_lsn":"` + commit + `","change_lsn":"NULL","event_serial_no":0}}]}`),
	}
	var out, log bytes.Buffer
	o.out, o.log = &out, &log
	require.NoError(t, runImportOffsets(t.Context(), o, input.WithDialer(server.DialContext)))
	assert.Contains(t, out.String(), "database db: position "+strings.ToLower(commit))
	assert.FileExists(t, filepath.Join(folder, "server1.db.position.a"))
	assert.FileExists(t, filepath.Join(folder, "server1.db.instances.a"))

	o.in = strings.NewReader("")
	require.ErrorContains(t, runImportOffsets(t.Context(), o, input.WithDialer(server.DialContext)), "nothing was stored")
	o.pipeline = write("other.yaml", "input:\n  stdin: {}\n")
	require.ErrorContains(t, runImportOffsets(t.Context(), o), "want one input sqlserver_cdc, found 0")
}
