package debeziumconfig

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var inCode = regexp.MustCompile("`([^`]+)`")

// table returns the code words of a column of the tables of docs/debezium.md.
func table(t *testing.T, column int) (words []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/debezium.md")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 5 {
			continue
		}
		for _, match := range inCode.FindAllStringSubmatch(cells[column], -1) {
			words = append(words, match[1])
		}
	}
	require.NotEmpty(t, words)
	return words
}

// listedFields are the fields that docs/debezium.md lists; "same names" and
// dots of omission stand for the properties in its first column.
func listedFields(t *testing.T) map[string]bool {
	t.Helper()
	listed := map[string]bool{}
	for _, field := range table(t, 1) {
		listed[field] = true
	}
	for _, property := range table(t, 0) {
		listed[strings.ReplaceAll(property, ".", "_")] = true
	}
	return listed
}

// planned matches what is said of a field that the input does not have yet.
var planned = regexp.MustCompile(`the field (\w+) is planned`)

// Every property that docs/debezium.md lists is known: none is reported as a
// mistake, and none as planned whose field is there.
func TestPropertyTable_EveryPropertyIsKnown(t *testing.T) {
	offered, err := current()
	require.NoError(t, err)
	example := strings.NewReplacer(".*", ".x", "ALG", "SHA-256", "with.N.chars", "with.3.chars", "to.N.chars", "to.3.chars")
	for _, property := range table(t, 0) {
		if property == "driver.*" || property == "signal.kafka.*" || property == "snapshot.mode.configuration.based.*" || property == nameProperty || property == classProperty {
			continue
		}
		result, err := Translate(map[string]string{classProperty: connectorClass, "topic.prefix": "p", example.Replace(property): "1"})
		require.NoError(t, err)
		for _, note := range result.Notes {
			assert.NotEqual(t, Unknown, note.Kind, note)
			if match := planned.FindStringSubmatch(note.Text); match != nil {
				assert.False(t, offered.has(match[1]), "%s is there", match[1])
			}
		}
	}
}

// No two rules take the same property, and each has one way to set a field.
func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rules {
		assert.Equal(t, r.special == nil, r.field != "", "%v", r.properties)
		for _, property := range r.properties {
			assert.False(t, seen[property], property)
			seen[property] = true
			assert.Empty(t, ignoredReason(property), property)
		}
	}
}

// ignoredReason is why a property with a rule would be ignored without it; the
// schema history is ignored as a whole but for one property.
func ignoredReason(property string) string {
	if strings.HasSuffix(property, "tables.ddl") {
		return ""
	}
	return reasonFor(property)
}

// Every transformation that is translated is one that docs/migrating.md lists,
// but for the older name of one.
func TestTranslators_AreListed(t *testing.T) {
	text, err := os.ReadFile("../../docs/migrating.md")
	require.NoError(t, err)
	for class := range translators {
		name := class[strings.LastIndexByte(class, '.')+1:]
		if name != "UnwrapFromEnvelope" {
			assert.Contains(t, string(text), "`"+name+"`")
		}
	}
}
