package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/urfave/cli/v2"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/debeziumconfig"
)

const connectorFiles = "../../internal/debeziumconfig/testdata"

// convert runs the command on a file.
func convert(t *testing.T, o debeziumConfigOptions) (pipeline, log string) {
	t.Helper()
	var out, errOut bytes.Buffer
	o.out, o.log = &out, &errOut
	require.NoError(t, runDebeziumConfig(o))
	return out.String(), errOut.String()
}

// Every example of a connector's configuration becomes a pipeline that passes
// lint in this distribution.
func TestDebeziumConfig_OutputsPassLint(t *testing.T) {
	files, err := filepath.Glob(connectorFiles + "/*.json")
	require.NoError(t, err)
	properties, err := filepath.Glob(connectorFiles + "/*.properties")
	require.NoError(t, err)
	resources, err := filepath.Glob(connectorFiles + "/*.yml")
	require.NoError(t, err)
	files = append(append(files, properties...), resources...)
	require.GreaterOrEqual(t, len(files), 14)
	for _, variable := range []string{"SQLSERVER_USER", "SQLSERVER_PASSWORD", "SQL_HOST", "CRM_PASSWORD", "DB_HOST", "MASK_SALT", "MASK_SALT_2"} {
		t.Setenv(variable, "example")
	}
	t.Setenv("SQLSERVER_PORT", "1433")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			pipeline, log := convert(t, debeziumConfigOptions{file: file})
			assert.NotContains(t, log, "does not pass lint")
			path := filepath.Join(t.TempDir(), "pipeline.yaml")
			require.NoError(t, os.WriteFile(path, []byte(pipeline), 0o600))
			code, err := run(t.Context(), []string{binaryName, "lint", path})
			require.NoError(t, err)
			assert.Zero(t, code)
		})
	}
}

// What has to be known goes to standard error, and no secret goes anywhere.
func TestDebeziumConfig_Log(t *testing.T) {
	pipeline, log := convert(t, debeziumConfigOptions{file: filepath.Join(connectorFiles, "confluent_avro.json")})
	assert.Contains(t, log, "warning: value.converter: not applicable: Avro")
	assert.Contains(t, log, "environment variable: SQLSERVER_PASSWORD (database.password, ${file:/etc/kafka/secrets/erp.properties:password})\n")
	for _, secret := range []string{"Very-Hidden-2", "Very-Hidden-3"} {
		assert.NotContains(t, pipeline+log, secret)
	}
}

// Standard input is a file too, and a value that is wrong is named.
func TestDebeziumConfig_StandardInput(t *testing.T) {
	connector := "connector.class=SqlServerConnector\ndatabase.hostname=h\ndatabase.names=db\ntopic.prefix=a b\npoll.interval.ms=20\n"
	pipeline, log := convert(t, debeziumConfigOptions{file: "-", in: strings.NewReader(connector)})
	assert.Contains(t, pipeline, "    poll_interval: 20ms\n")
	assert.Contains(t, log, `warning: the pipeline does not pass lint: `)
	assert.Contains(t, log, `topic_prefix: invalid value "a b"`)
}

func TestDebeziumConfig_Worker(t *testing.T) {
	worker := filepath.Join(t.TempDir(), "worker.properties")
	require.NoError(t, os.WriteFile(worker, []byte("bootstrap.servers=k:9\nkey.converter=org.apache.kafka.connect.json.JsonConverter\nkey.converter.schemas.enable=false\nvalue.converter=org.apache.kafka.connect.json.JsonConverter\nvalue.converter.schemas.enable=false\noffset.storage.topic=o\n"), 0o600))
	file := filepath.Join(connectorFiles, "tutorial.json")
	pipeline, log := convert(t, debeziumConfigOptions{file: file, worker: worker})
	assert.Contains(t, pipeline, "    schemas_enable: false\n")
	assert.Contains(t, pipeline, "seed_brokers: [ 'k:9' ]")
	assert.NotContains(t, log, "offset.storage")

	pipeline, _ = convert(t, debeziumConfigOptions{file: file, generation: debeziumconfig.Debezium1})
	assert.Contains(t, pipeline, "    schemas_enable: true\n")
	assert.Contains(t, pipeline, "    poll_interval: 1s\n")
}

func TestDebeziumConfig_Refused(t *testing.T) {
	mysql := filepath.Join(t.TempDir(), "mysql.json")
	require.NoError(t, os.WriteFile(mysql, []byte(`{"connector.class": "io.debezium.connector.mysql.MySqlConnector"}`), 0o600))
	tutorial := filepath.Join(connectorFiles, "tutorial.json")
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"no file", nil, "want the name of one file"},
		{"missing file", []string{"none.json"}, "none.json"},
		{"another connector", []string{mysql}, "Debezium's MySQL connector"},
		{"unknown version", []string{"--debezium", "4", tutorial}, "--debezium 4: want 1, 2 or 3"},
		{"missing worker", []string{"--worker", "none.properties", tutorial}, "none.properties"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, err := run(t.Context(), append([]string{binaryName, "debezium-config"}, tt.args...))
			require.ErrorContains(t, err, tt.want)
			assert.NotZero(t, code)
		})
	}
}

// The commands of docs/migrating.md run as they stand there, and what they
// print passes lint. Those that need a server have tests of their own.
func TestMigrating_CommandsRun(t *testing.T) {
	text, err := os.ReadFile("../../docs/migrating.md")
	require.NoError(t, err)
	connector, err := os.ReadFile(filepath.Join(connectorFiles, "tutorial.json"))
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("connector.json", connector, 0o600))
	require.NoError(t, os.WriteFile("connect-distributed.properties", []byte("bootstrap.servers=k:9\n"), 0o600))
	t.Setenv("SQLSERVER_PASSWORD", "example")
	commands := 0
	for block := range strings.SplitSeq(string(text), "```sh\n") {
		block, _, isBlock := strings.Cut(block, "```\n")
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			needsServer := strings.HasPrefix(line, binaryName+" run ") || strings.HasPrefix(line, binaryName+" import-offsets ")
			if !isBlock || !strings.HasPrefix(line, binaryName+" ") || needsServer {
				continue
			}
			commands++
			line, file, _ := strings.Cut(line, " > ")
			if file != "" {
				pipeline, _ := convert(t, debeziumConfigOptions{file: strings.Fields(line)[2]})
				require.NoError(t, os.WriteFile(file, []byte(pipeline), 0o600))
			}
			code, err := run(t.Context(), strings.Fields(line))
			require.NoError(t, err, line)
			require.Zero(t, code, line)
		}
	}
	require.Equal(t, 4, commands)
}

// The help tells the defaults as they are.
func TestDebeziumConfig_Help(t *testing.T) {
	var out strings.Builder
	app := cli.NewApp()
	app.Writer = &out
	app.Commands = []*cli.Command{debeziumConfigCommand()}
	require.NoError(t, app.Run([]string{"sqlserver-cdc", "debezium-config", "--help"}))
	assert.Contains(t, out.String(), "1, 2 or 3 (default: 1 if there are names that only 1.x has, else 3)")
	assert.NotContains(t, out.String(), "default: 0")
}
