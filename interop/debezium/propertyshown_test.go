package debezium

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestProperties_Count holds every property that docs/debezium.md calls the same
// as Debezium's, or different on purpose, to a scenario that is compared and in
// which it counts: Debezium's records are others than those of the same steps
// without it. Where no record can show it, the row names the test that does.
func TestProperties_Count(t *testing.T) {
	scenarios, err := Scenarios(os.DirFS("testdata"))
	require.NoError(t, err)
	missing := readMissing(t)
	played := slices.DeleteFunc(slices.Clone(scenarios), func(s Scenario) bool { return missing.Unplayed(s.Name) })
	for _, row := range propertyTable(t) {
		if !row.compared() {
			continue
		}
		for _, name := range row.tests() {
			requireTest(t, name)
		}
		for _, property := range row.Properties {
			pairs := twins(played, scenarios, propertyPattern(property), neededAlways(row, property))
			different := slices.ContainsFunc(pairs, func(p twin) bool { return p.differ(t, property) })
			switch {
			case row.withoutEffect():
				assert.NotEmpty(t, pairs, "%s: no two scenarios differ in it alone", property)
				assert.False(t, different, "%s is said to be without effect", property)
			case len(row.tests()) == 0:
				assert.True(t, different, "%s counts in no scenario: there are %d pairs that differ in it alone; add one, or name the test that shows it in %s",
					property, len(pairs), pageFile)
			}
		}
	}
}

// neededAlways reports whether a connector cannot be without the property, where
// it has any effect.
func neededAlways(row tableRow, property string) bool {
	return row.Required || property == "database.names" || property == "notification.sink.topic.name"
}

// twin are two scenarios of the same steps that differ in one property alone.
type twin struct{ with, without Scenario }

// twins finds the pairs for a property among the scenarios; the one that has it
// must be of those that are played. A property that is always needed has another
// value in the second.
func twins(played, all []Scenario, property *regexp.Regexp, needed bool) (pairs []twin) {
	for _, a := range played {
		rest, has := without(a.Properties, property)
		if !has {
			continue
		}
		for _, b := range all {
			others, hasToo := without(b.Properties, property)
			if folder(a) == folder(b) && a.Name != b.Name && needed == hasToo && maps.Equal(rest, others) {
				pairs = append(pairs, twin{a, b})
			}
		}
	}
	return pairs
}

// without returns properties without one, and without the prefix of topics, in
// which all scenarios differ.
func without(p Properties, property *regexp.Regexp) (rest Properties, has bool) {
	rest = Properties{}
	for name, value := range p {
		switch {
		case property.MatchString(name):
			has = true
		case name != "topic.prefix":
			rest[name] = value
		}
	}
	return rest, has
}

func folder(s Scenario) string {
	name, _, _ := strings.Cut(s.Name, "/")
	return name
}

// differ reports whether Debezium's records differ in more than the prefix of
// topics, unless that is what is looked at.
func (p twin) differ(t *testing.T, property string) bool {
	t.Helper()
	a, b := goldenText(t, p.with), goldenText(t, p.without)
	if property != "topic.prefix" {
		a, b = unprefixed(a, p.with), unprefixed(b, p.without)
	}
	return a != b
}

// unprefixed replaces the prefix of topics in records, also as it is adjusted.
func unprefixed(records string, s Scenario) string {
	prefix := s.Properties["topic.prefix"]
	return strings.NewReplacer(prefix, "P", strings.ReplaceAll(prefix, "_", "_u005f"), "P").Replace(records)
}

func goldenText(t *testing.T, s Scenario) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", s.File(goldenFile)))
	require.NoError(t, err)
	// What Debezium drew for itself says nothing.
	return steady(string(text))
}

// The pairs are those that differ in one property.
func TestTwins(t *testing.T) {
	plain := Scenario{Name: "a/plain", Properties: Properties{"topic.prefix": "plain", "database.names": "d"}}
	masked := Scenario{Name: "a/masked", Properties: Properties{"topic.prefix": "masked", "database.names": "d", "column.mask.with.5.chars": "x"}}
	more := Scenario{Name: "a/more", Properties: masked.Properties.With(Properties{"column.mask.with.0.chars": "y"})}
	both := Scenario{Name: "a/both", Properties: masked.Properties.With(Properties{"skipped.operations": "c"})}
	elsewhere := Scenario{Name: "b/plain", Properties: plain.Properties}
	other := Scenario{Name: "a/other", Properties: Properties{"topic.prefix": "other", "database.names": "e"}}
	all := []Scenario{plain, masked, more, both, elsewhere, other}
	tests := []struct {
		property string
		needed   bool
		want     []twin
	}{
		{"column.mask.with.N.chars", false, []twin{{masked, plain}, {more, plain}}},
		{"skipped.operations", false, []twin{{both, masked}}},
		{"database.names", true, []twin{{plain, other}, {other, plain}}},
		{"tombstones.on.delete", false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.property, func(t *testing.T) {
			assert.Equal(t, tt.want, twins(all, all, propertyPattern(tt.property), tt.needed))
		})
	}
	t.Run("only of those played", func(t *testing.T) {
		assert.Equal(t, []twin{{masked, plain}}, twins([]Scenario{masked}, all, propertyPattern("column.mask.with.N.chars"), false))
	})
}
