package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
