package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

func TestMainSchema_Defaults(t *testing.T) {
	parsed, err := mainSchema("v", "d").NewStreamConfigMarshaller().AnyToYAML(map[string]any{})
	require.NoError(t, err)
	assert.Contains(t, parsed, "threads: 1\n")
	assert.Contains(t, parsed, "address: 127.0.0.1:4195\n")
	assert.Contains(t, parsed, "'@service': sqlserver-cdc\n")
}

func TestRun_Lint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pipeline.yaml")
	lint := func(fields string) int {
		text := "input:\n  sqlserver_cdc: {host: h, user: u, database_names: [db], topic_prefix: p, checkpoint_cache: offsets" + fields + "}\noutput: {drop: {}}\n"
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		code, err := run(t.Context(), []string{binaryName, "lint", file})
		require.NoError(t, err)
		return code
	}
	assert.Zero(t, lint(""))
	assert.Equal(t, 1, lint(", poll_interval: soon"))
}

// A pipeline whose input cannot go on ends with a code of its own if it is
// asked to end.
func TestRun_FatalStop(t *testing.T) {
	server, err := simulator.New(simulator.Options{Logins: map[string]string{simulatorUser: simulatorPassword}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(listener) }()

	file := filepath.Join(t.TempDir(), "pipeline.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
http: { enabled: false }
logger: { level: none }
input:
  sqlserver_cdc:
    host: 127.0.0.1
    port: %d
    user: sa
    password: wrong
    encrypt: 'false'
    database_names: [master]
    topic_prefix: p
    checkpoint_cache: offsets
    on_fatal: stop
output: { drop: {} }
cache_resources: [ { label: offsets, memory: {} } ]
`, listener.Addr().(*net.TCPAddr).Port), 0o600))
	code, err := run(t.Context(), []string{binaryName, "run", file})
	require.NoError(t, err)
	assert.Equal(t, codeFatal, code)
}
