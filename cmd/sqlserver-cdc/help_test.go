package main

import (
	"strings"
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v2"
)

// The help names commands that work.
func TestAppHelp(t *testing.T) {
	help := appHelp()
	require.NotEqual(t, cli.AppHelpTemplate, help)
	assert.NotContains(t, help, "descriptionTemplate")
	for line := range strings.Lines(helpDescription) {
		if _, args, ok := strings.Cut(strings.TrimSpace(line), "{{.Name}} create "); ok {
			args, _, _ = strings.Cut(args, " ")
			parts := strings.Split(args, "/")
			require.Len(t, parts, 3)
			_, ok := service.GlobalEnvironment().GetInputConfig(parts[0])
			assert.True(t, ok, parts[0])
			_, ok = service.GlobalEnvironment().GetOutputConfig(parts[2])
			assert.True(t, ok, parts[2])
		}
	}
}
