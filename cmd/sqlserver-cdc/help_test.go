package main

import (
	"strings"
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The help names commands that work.
func TestAppHelp(t *testing.T) {
	help := appHelp()
	assert.Contains(t, help, helpDescription)
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
