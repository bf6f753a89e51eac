//go:build interop

package debezium

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var recordsDir = flag.String("records", "", "a folder for the records of each scenario as JSON lines")

// TestScenarios plays every scenario of testdata against Debezium and compares
// what it emits with the scenario's events.txt and records.jsonl.
func TestScenarios(t *testing.T) {
	scenarios, err := Scenarios(os.DirFS("testdata"))
	require.NoError(t, err)
	require.NotEmpty(t, scenarios)
	jvm := startJVM(t)
	for _, scenario := range scenarios {
		t.Run(scenario.Name, func(t *testing.T) {
			t.Parallel()
			play(t, jvm, scenario)
		})
	}
}

func play(t *testing.T, jvm *JVM, scenario Scenario) {
	server, err := StartServer(scenario.Properties.Databases())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	require.NoError(t, server.Listen(t.Context()))
	recorder := NewRecorder()
	player := Player{
		Server:    server,
		Connector: NewDebezium(jvm, strings.ReplaceAll(scenario.Name, "/", "-"), t.TempDir(), recorder),
		Recorder:  recorder,
	}
	err = player.Play(t.Context(), scenario)
	records := recorder.Records()
	if threads, set := scenario.Properties["snapshot.max.threads"]; set && threads != "1" {
		records = SortSnapshot(records)
	}
	// Debezium takes databases in the order of a hash table.
	records = sortedBy(scenario.Properties.Databases(), databasesOf(canonicalRecords(t, records)), records)
	writeRecords(t, scenario.Name, records)
	digest, digestErr := Digest(records)
	require.NoError(t, digestErr)
	require.NoError(t, err, "after these records:\n%s", digest)
	assert.NoError(t, CheckStream(records, scenario.Properties.Mask()))
	if !generated(scenario) { // too many for people to read
		compare(t, filepath.Join("testdata", scenario.File("events.txt")), digest)
	}
	var golden bytes.Buffer
	require.NoError(t, WriteGolden(&golden, canonicalRecords(t, records)))
	compare(t, filepath.Join("testdata", scenario.File(goldenFile)), golden.String())
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	// The records keep what Debezium drew for itself in that one play.
	assert.Equal(t, steady(string(want)), steady(got))
}

func writeRecords(t *testing.T, name string, records []Record) {
	t.Helper()
	if *recordsDir == "" {
		return
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	for _, r := range records {
		require.NoError(t, encoder.Encode(r))
	}
	file := filepath.Join(*recordsDir, filepath.FromSlash(name)+".jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, lines.Bytes(), 0o644))
}

// startJVM builds the runner, if it is not up to date, and starts it. What it
// logs is in target/runner.log.
func startJVM(t *testing.T) *JVM {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), "./build").CombinedOutput()
	require.NoError(t, err, "building the runner:\n%s", output)
	target, err := filepath.Abs("target")
	require.NoError(t, err)
	log, err := os.Create(filepath.Join(target, "runner.log"))
	require.NoError(t, err)
	// The test's context ends before its clean-up, which lets the runner end by itself.
	jvm, err := StartJVM(context.WithoutCancel(t.Context()), target, log)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, jvm.Close())
		assert.NoError(t, log.Close())
		if t.Failed() {
			t.Logf("the runner's log is in %s", log.Name())
		}
	})
	return jvm
}
