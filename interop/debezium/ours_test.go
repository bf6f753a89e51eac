package debezium

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	got = missing.Without(got)
	if ofMatrix(scenario) {
		assertPhasesAgree(t, golden)
		assertPhasesAgree(t, got)
	}
	var want []Canonical
	for _, r := range missing.Without(golden) {
		if !differences.LeavesOut(scenario.Name, r) {
			want = append(want, r)
		}
	}
	want, got = byDatabase(want, scenario.Properties), byDatabase(got, scenario.Properties)
	got = withoutAdded(want, got, func(r Canonical) bool { return differences.Adds(scenario.Name, r) })
	if playErr != nil {
		require.True(t, differences.Ends(scenario.Name, playErr), "after these records:\n%s\n%v", strings.Join(outlines(got), "\n"), playErr)
		want = want[:min(len(want), len(got))]
	}
	require.Equal(t, outlines(want), outlines(got), "the records and their order")
	var wrong []string // each once
	reported := map[string]bool{}
	for i := range want {
		for _, found := range Compare(want[i], got[i]) {
			text := want[i].Topic + ": " + found.String()
			if !differences.Intends(scenario.Name, found) && !reported[text] {
				reported[text] = true
				wrong = append(wrong, fmt.Sprintf("record %d of %s", i+1, text))
			}
		}
	}
	assert.Empty(t, strings.Join(wrong, "\n"))
}

// byDatabase puts the records of one database after those of another, in the
// order in which the connector was given them: only within each is an order
// promised. Debezium reads one after the other, our input all at once.
func byDatabase(records []Canonical, properties Properties) []Canonical {
	databases := properties.Databases()
	place := func(r Canonical) int {
		return slices.IndexFunc(databases, func(name string) bool {
			named := r.tree.get("key").get("payload").get("databaseName")
			return strings.HasPrefix(r.Topic, properties["topic.prefix"]+"."+name+".") || named != nil && unquoted(named) == name
		})
	}
	if len(databases) > 1 {
		slices.SortStableFunc(records, func(a, b Canonical) int { return place(a) - place(b) })
	}
	return records
}

// withoutAdded returns our records without those that stand where Debezium's
// are others and that are meant to be ours alone.
func withoutAdded(want, got []Canonical, added func(Canonical) bool) (kept []Canonical) {
	for _, r := range got {
		n := len(kept)
		if (n >= len(want) || want[n].outline() != r.outline()) && added(r) {
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

// outlines are the operations, or else the kinds, and the topics of records.
func outlines(records []Canonical) []string {
	out := make([]string, len(records))
	for i, r := range records {
		out[i] = r.outline()
	}
	return out
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
