package sqlserver

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("rewrite", false, "write the table of errors anew")

// TestOperationsPage keeps the table of errors in docs/operations.md equal to
// the one that decides.
func TestOperationsPage(t *testing.T) {
	const (
		path  = "../../docs/operations.md"
		begin = "<!-- errors: made from internal/sqlserver/meaning.go by make golden -->\n"
		end   = "<!-- errors: end -->\n"
	)
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, begins := strings.Cut(string(page), begin)
	_, tail, ends := strings.Cut(rest, end)
	require.True(t, begins && ends, "%s has no place for the table", path)
	want := head + begin + errorTable() + end + tail
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	assert.Equal(t, want, string(page), "run make golden and read the diff of %s", path)
}

// errorTable has a row for each advice, and one without for the rest of each
// class.
func errorTable() string {
	type row struct{ class, advice string }
	rows := map[row][]int32{}
	for number, m := range meanings {
		r := row{m.class.String(), m.advice}
		rows[r] = append(rows[r], number)
	}
	order := slices.SortedFunc(maps.Keys(rows), func(a, b row) int {
		if a.class != b.class {
			return strings.Compare(a.class, b.class)
		}
		return int(slices.Min(rows[a]) - slices.Min(rows[b]))
	})
	var b strings.Builder
	b.WriteString("\n| Error | Class | What to do |\n|---|---|---|\n")
	for _, r := range order {
		slices.Sort(rows[r])
		advice := r.advice
		if advice == "" {
			advice = "nothing: it passes"
			if r.class == ClassPermission.String() || r.class == ClassMissing.String() {
				advice = "what the fatal state says"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Trim(strings.ReplaceAll(fmt.Sprint(rows[r]), " ", ", "), "[]"), r.class, advice)
	}
	b.WriteString("\n")
	return b.String()
}
