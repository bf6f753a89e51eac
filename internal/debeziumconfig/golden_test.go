package debeziumconfig_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/debeziumconfig"
)

var rewrite = flag.Bool("rewrite", false, "write the expected files of testdata")

// secrets are the secrets of the files of testdata.
var secrets = regexp.MustCompile(`Correct-Horse|Very-Hidden|changeit|a-Secret|pa#ss|CzQMA0cB5K|pepper`)

// Each connector's configuration in testdata becomes the pipeline beside it,
// which passes lint, and the warnings beside that. Neither shows a secret.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	require.NoError(t, err)
	count := 0
	for _, file := range files {
		name, isInput := strings.CutSuffix(file, filepath.Ext(file))
		if ext := filepath.Ext(file); !isInput || ext != ".json" && ext != ".properties" && ext != ".yml" {
			continue
		}
		var options []debeziumconfig.Option
		if strings.HasSuffix(name, "_2_7") { // names alone do not tell 2.x from 3.x
			options = append(options, debeziumconfig.As(debeziumconfig.Debezium2))
		}
		count++
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			props, err := debeziumconfig.Read(data)
			require.NoError(t, err)
			result, err := debeziumconfig.Translate(props, options...)
			require.NoError(t, err)
			yaml, variables := result.YAML(service.GlobalEnvironment())
			var report strings.Builder
			for _, note := range result.Notes {
				if note.Warning() {
					report.WriteString(note.String() + "\n")
				}
			}
			for _, v := range variables {
				report.WriteString(v.Name + " (" + v.Origin + ")\n")
			}

			assert.Empty(t, lint(t, string(yaml)))
			assert.NotRegexp(t, secrets, string(yaml))
			assert.NotRegexp(t, secrets, report.String())
			same(t, name+".yaml", string(yaml))
			same(t, name+".txt", report.String())
		})
	}
	assert.GreaterOrEqual(t, count, 14)
}

// same compares with an expected file, or writes it.
func same(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	wantLines, gotLines := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range max(len(wantLines), len(gotLines)) {
		if i >= len(wantLines) || i >= len(gotLines) || wantLines[i] != gotLines[i] {
			t.Fatalf("%s differs from line %d on: go test ./internal/debeziumconfig -rewrite, and read the diff", file, i+1)
		}
	}
}

// lint returns what is wrong with a pipeline, with a number in each variable so
// that those of numbers are linted too.
func lint(t *testing.T, yaml string) (texts []string) {
	t.Helper()
	variable := regexp.MustCompile(`\$\{[A-Z][A-Z0-9_]*\}`)
	yaml = variable.ReplaceAllString(yaml, "1433")
	lints, err := service.GlobalEnvironment().FullConfigSchema("", "").NewStreamConfigLinter().LintYAML([]byte(yaml))
	require.NoError(t, err)
	for _, l := range lints {
		texts = append(texts, l.Error())
	}
	return texts
}

// waitLimit bounds waiting for a pipeline to end.
const waitLimit = 30 * time.Second

// readField returns a text field of the input as Benthos reads it from a
// pipeline.
func readField(t *testing.T, pipeline []byte, name string) (text string) {
	t.Helper()
	env := service.GlobalEnvironment().Clone()
	require.NoError(t, env.RegisterBatchInput(input.Name, input.Spec(), func(parsed *service.ParsedConfig, _ *service.Resources) (service.BatchInput, error) {
		var err error
		text, err = parsed.FieldString(name)
		require.NoError(t, err)
		return nil, errors.New("this is enough")
	}))
	builder := env.NewStreamBuilder()
	require.NoError(t, builder.SetYAML(string(pipeline)))
	require.NoError(t, builder.SetLoggerYAML("level: none"))
	stream, err := builder.Build()
	require.NoError(t, err)
	require.ErrorContains(t, stream.Run(t.Context()), "this is enough")
	return text
}
