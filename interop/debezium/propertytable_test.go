package debezium

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tableRow is a row of the tables of docs/debezium.md.
type tableRow struct {
	// Properties are those that Debezium 3.6 reads: not the names of 1.x.
	Properties []string
	// Older are the names of 1.x.
	Older     []string
	Behaviour string
	Here      string
	// Required properties have no default.
	Required bool
}

var (
	inTable = regexp.MustCompile("`([^`]+)`( \\(1\\.x\\))?")
	inTest  = regexp.MustCompile("`([a-z/-]+\\.Test\\w+)`")
)

// propertyTable reads the tables of docs/debezium.md: Debezium, field, default,
// behaviour, here.
func propertyTable(t *testing.T) (rows []tableRow) {
	t.Helper()
	text, err := os.ReadFile(pageFile)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 5 || strings.TrimSpace(cells[1]) == "Field" || strings.HasPrefix(cells[0], "---") {
			continue
		}
		row := tableRow{Behaviour: strings.TrimSpace(cells[3]), Here: strings.TrimSpace(cells[4])}
		row.Required = strings.TrimSpace(cells[2]) == "required"
		for _, match := range inTable.FindAllStringSubmatch(cells[0], -1) {
			if match[2] != "" {
				row.Older = append(row.Older, match[1])
				continue
			}
			row.Properties = append(row.Properties, match[1])
		}
		rows = append(rows, row)
	}
	require.NotEmpty(t, rows)
	return rows
}

// compared reports whether the row says how events are that can be compared with
// Debezium's in this version.
func (r tableRow) compared() bool {
	return r.withoutEffect() || r.Here == "yes" && (strings.HasPrefix(r.Behaviour, "same") || strings.HasPrefix(r.Behaviour, "differs"))
}

// tests are those that the row names for what no record shows.
func (r tableRow) tests() (names []string) {
	for _, match := range inTest.FindAllStringSubmatch(r.Behaviour, -1) {
		names = append(names, match[1])
	}
	return names
}

// withoutEffect reports whether the row says that Debezium's records are the
// same with the property and without it.
func (r tableRow) withoutEffect() bool { return strings.Contains(r.Behaviour, "without effect") }

// TestPropertyTable_IsComplete finds every property of Debezium's documentation
// in the tables.
func TestPropertyTable_IsComplete(t *testing.T) {
	var listed []*regexp.Regexp
	for _, row := range propertyTable(t) {
		for _, property := range slices.Concat(row.Properties, row.Older) {
			listed = append(listed, propertyPattern(property))
		}
	}
	text, err := os.ReadFile("testdata/properties.txt")
	require.NoError(t, err)
	example := strings.NewReplacer(".N.", ".5.", "ALG", "MD5", "salt.S", "salt.x", "*", "x")
	names := 0
	for line := range strings.Lines(string(text)) {
		name := strings.TrimSpace(line)
		if strings.HasPrefix(name, "#") {
			continue
		}
		names++
		found := slices.ContainsFunc(listed, func(p *regexp.Regexp) bool { return p.MatchString(example.Replace(name)) })
		assert.True(t, found, "%s is not in %s", name, pageFile)
	}
	assert.Greater(t, names, 150)
}

// propertyPattern matches the names that a property of the tables stands for:
// N is a number, ALG, S and a star anything.
func propertyPattern(property string) *regexp.Regexp {
	parts := strings.Split(regexp.QuoteMeta(property), `\.`)
	for i, part := range parts {
		switch part {
		case "N":
			parts[i] = `\d+`
		case "ALG":
			parts[i] = `[^.]+`
		case "S", `\*`:
			parts[i] = `.+`
		}
	}
	return regexp.MustCompile("^" + strings.Join(parts, `\.`) + "$")
}
