package debezium

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pageFile has the tables of properties, and the list of differences between
// these lines.
const (
	pageFile  = "../../docs/debezium.md"
	pageBegin = "<!-- differences: made from interop/debezium/differences.yaml by make goldens -->\n"
	pageEnd   = "<!-- differences: end -->\n"
)

// TestDifferencesPage keeps the list of docs/debezium.md equal to
// differences.yaml.
func TestDifferencesPage(t *testing.T) {
	page, err := os.ReadFile(pageFile)
	require.NoError(t, err)
	head, rest, begins := strings.Cut(string(page), pageBegin)
	_, tail, ends := strings.Cut(rest, pageEnd)
	require.True(t, begins && ends, "%s has no place for the list", pageFile)
	var list bytes.Buffer
	list.WriteString("\n| what | Debezium 3.6 | here | why |\n|---|---|---|---|\n")
	for _, topic := range readDifferences(t).Topics {
		why := topic.Why
		if topic.Unplayed != "" {
			why += fmt.Sprintf(" (shown by `%s` alone: %s)", topic.Test, topic.Unplayed)
		}
		fmt.Fprintf(&list, "| %s | %s | %s | %s |\n", topic.What, topic.Debezium, topic.Here, why)
	}
	list.WriteString("\n")
	want := head + pageBegin + list.String() + pageEnd + tail
	if *rewrite {
		require.NoError(t, os.WriteFile(pageFile, []byte(want), 0o644))
		return
	}
	assert.Equal(t, want, string(page), "run make goldens and read the diff of %s", pageFile)
}

// TestDifferences_NameTests makes sure that the tests which show what no
// scenario can are there.
func TestDifferences_NameTests(t *testing.T) {
	for _, topic := range readDifferences(t).Topics {
		if topic.Test != "" {
			requireTest(t, topic.Test)
		}
	}
}

// requireTest makes sure that there is a test, given as its folder, below the
// root of the module, and its name.
func requireTest(t *testing.T, name string) {
	t.Helper()
	folder, function, ok := strings.Cut(name, ".")
	require.True(t, ok, "want folder.Test, got %q", name)
	files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*_test.go"))
	require.NoError(t, err)
	found := false
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		found = found || bytes.Contains(text, []byte("func "+function+"("))
	}
	assert.True(t, found, "there is no test %s", name)
}
