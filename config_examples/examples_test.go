package configexamples_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"

	configexamples "github.com/sqlserver-cdc/benthos-sqlserver-cdc/config_examples"
	_ "github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
)

// Every example passes the linter.
func TestExamples_Lint(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			linter := service.GlobalEnvironment().FullConfigSchema("", "").NewStreamConfigLinter()
			linter.SetEnvVarLookupFunc(func(_ context.Context, name string) (string, bool) {
				if name == "SQLSERVER_PASSWORD" {
					return "secret", true
				}
				return "", false
			})
			lints, err := linter.LintYAML(text)
			require.NoError(t, err)
			assert.Empty(t, lints)
		})
	}
}

func TestQuickstart_IsEmbedded(t *testing.T) {
	text, err := os.ReadFile("quickstart.yaml")
	require.NoError(t, err)
	assert.Equal(t, string(text), configexamples.Quickstart)
}
