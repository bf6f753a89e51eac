package debezium

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goldenFile ends the names of the files with Debezium's records.
const goldenFile = "records.jsonl"

// TestOurs plays every scenario against our own input and compares its records
// with those that Debezium's connector emitted.
func TestOurs(t *testing.T) {
	scenarios, err := Scenarios(os.DirFS("testdata"))
	require.NoError(t, err)
	differences, missing := readDifferences(t), readMissing(t)
	played := false
	t.Run("scenarios", func(t *testing.T) {
		for _, scenario := range scenarios {
			if missing.Unplayed(scenario.Name) {
				continue
			}
			t.Run(scenario.Name, func(t *testing.T) {
				t.Parallel()
				compareOurs(t, scenario, differences, missing)
			})
		}
		played = !t.Failed()
	})
	if played && !onlySome() {
		assert.Empty(t, differences.Unseen(), "intended differences that do not occur")
	}
}

// onlySome reports whether only some tests are run.
func onlySome() bool {
	for _, arg := range os.Args {
		if strings.HasPrefix(arg, "-test.run=") && strings.Contains(arg, "/") {
			return true
		}
	}
	return false
}

// TestMissing finds what is offered by now, and what a scenario asks for
// without being listed.
func TestMissing(t *testing.T) {
	missing := readMissing(t)
	offered, err := missing.Offered()
	require.NoError(t, err)
	assert.Empty(t, offered, "these are offered: remove them from missing.yaml")
	scenarios, err := Scenarios(os.DirFS("testdata"))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, scenario := range scenarios {
		names[scenario.Name] = true
		unlisted, err := missing.Unlisted(scenario.Properties)
		require.NoError(t, err)
		assert.Empty(t, unlisted, "%s asks for what is neither offered nor in missing.yaml", scenario.Name)
	}
	for _, p := range missing {
		for _, name := range p.Scenarios {
			assert.True(t, names[name], "missing.yaml: there is no scenario %q", name)
		}
	}
}

func compareOurs(t *testing.T, scenario Scenario, differences *Differences, missing Missing) {
	golden := readGolden(t, scenario)
	got, playErr := playOurs(t, scenario, differences)
	if ofMatrix(scenario) {
		assertPhasesAgree(t, golden)
		assertPhasesAgree(t, got)
	}
	assert.Empty(t, disagreement(scenario, golden, got, playErr, differences, missing))
}

func readDifferences(t *testing.T) *Differences {
	t.Helper()
	file, err := os.Open("differences.yaml")
	require.NoError(t, err)
	defer file.Close()
	differences, err := ReadDifferences(file)
	require.NoError(t, err)
	return differences
}

func readMissing(t *testing.T) Missing {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "missing.yaml"))
	require.NoError(t, err)
	defer file.Close()
	missing, err := ReadMissing(file)
	require.NoError(t, err)
	return missing
}

func readGolden(t *testing.T, scenario Scenario) []Canonical {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", scenario.File(goldenFile)))
	require.NoError(t, err)
	defer file.Close()
	records, err := ReadGolden(file)
	require.NoError(t, err)
	return records
}

// playOurs plays a scenario against our input, in virtual time.
func playOurs(t *testing.T, scenario Scenario, differences *Differences) (records []Canonical, playErr error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, err := StartServer(scenario.Properties.Databases())
		require.NoError(t, err)
		defer func() { assert.NoError(t, server.Close()) }()
		recorder := NewRecorder()
		pipeline := NewPipeline(server, recorder)
		player := Player{
			Server: server, Connector: pipeline, Recorder: recorder,
			Failure: func(text string) string { return differences.Failure(scenario.Name, text) },
		}
		if playErr = player.Play(t.Context(), scenario); playErr != nil && player.running {
			_ = pipeline.Stop(t.Context()) // the play's error says more
		}
		records = canonicalRecords(t, recorder.Records())
	})
	return records, playErr
}

func canonicalRecords(t *testing.T, records []Record) []Canonical {
	t.Helper()
	out := make([]Canonical, len(records))
	for i, r := range records {
		var err error
		out[i], err = canonical(r)
		require.NoError(t, err)
	}
	return out
}
