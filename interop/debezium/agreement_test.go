package debezium

import (
	"fmt"
	"slices"
	"strings"
)

// disagreement says where our records are others than Debezium's and are not
// meant to be, or how our play ended; "" if nowhere.
func disagreement(scenario Scenario, golden, ours []Canonical, playErr error, differences *Differences, missing Missing) string {
	var want []Canonical
	counts := map[string]int{}
	for _, r := range missing.Without(golden) {
		counts[r.outline()]++
		if !differences.LeavesOut(scenario.Name, r, counts[r.outline()]) {
			want = append(want, r)
		}
	}
	databases := scenario.Properties.Databases()
	want, got := byDatabase(want, databases), byDatabase(missing.Without(ours), databases)
	wrong := brokenTransactions(got, databases)
	got = withoutAdded(want, got, func(r Canonical, nth int) bool { return differences.Adds(scenario.Name, r, nth) })
	if playErr != nil {
		if !differences.Ends(scenario.Name, playErr) {
			return fmt.Sprintf("after these records:\n%s\n%v", strings.Join(outlines(got), "\n"), playErr)
		}
		want = want[:min(len(want), len(got))]
	}
	if a, b := outlines(want), outlines(got); !slices.Equal(a, b) {
		return fmt.Sprintf("Debezium's records and their order:\n%s\nours:\n%s", strings.Join(a, "\n"), strings.Join(b, "\n"))
	}
	reported := map[string]bool{} // each once
	for i := range want {
		for _, found := range Compare(want[i], got[i]) {
			text := want[i].Topic + ": " + found.String()
			if !differences.Intends(scenario.Name, found) && !reported[text] {
				reported[text] = true
				wrong = append(wrong, fmt.Sprintf("record %d of %s", i+1, text))
			}
		}
	}
	return strings.Join(wrong, "\n")
}

// withoutAdded returns our records without those that stand where Debezium's
// are others and that are meant to be ours alone.
func withoutAdded(want, got []Canonical, added func(r Canonical, nth int) bool) (kept []Canonical) {
	counts := map[string]int{}
	for _, r := range got {
		counts[r.outline()]++
		n := len(kept)
		if (n >= len(want) || want[n].outline() != r.outline()) && added(r, counts[r.outline()]) {
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

// outlines are the outlines of records.
func outlines(records []Canonical) []string {
	out := make([]string, len(records))
	for i, r := range records {
		out[i] = r.outline()
	}
	return out
}
