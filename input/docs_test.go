package input_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/redpanda-data/benthos/v4/public/service"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
)

// specification returns what Benthos knows of the input.
func specification(t *testing.T) service.TemplateDataPlugin {
	t.Helper()
	env := service.NewEmptyEnvironment()
	require.NoError(t, input.Register(env))
	var data service.TemplateDataPlugin
	env.WalkInputs(func(_ string, config *service.ConfigView) {
		var err error
		data, err = config.TemplateData()
		require.NoError(t, err)
	})
	require.NotEmpty(t, data.Fields)
	return data
}

// property is one row of the tables of docs/debezium.md.
type property struct {
	fields   []string
	defaults []string
	here     string
}

// properties reads the tables: Debezium, field, default, behaviour, here.
func properties(t *testing.T) []property {
	t.Helper()
	text, err := os.ReadFile("../docs/debezium.md")
	require.NoError(t, err)
	var out []property
	code := regexp.MustCompile("`([^`]+)`")
	codes := func(cell string) []string {
		var words []string
		for _, m := range code.FindAllStringSubmatch(cell, -1) {
			words = append(words, m[1])
		}
		return words
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 5 || strings.HasPrefix(cells[0], "---") || strings.TrimSpace(cells[1]) == "Field" {
			continue
		}
		p := property{fields: codes(cells[1]), defaults: codes(cells[2]), here: strings.TrimSpace(cells[4])}
		if len(p.defaults) == 0 {
			p.defaults = []string{strings.TrimSpace(cells[2])}
		}
		require.Contains(t, []string{"yes", "planned", "-"}, p.here, "%s", line)
		out = append(out, p)
	}
	return out
}

// TestSpecification_PropertyTable holds the specification to the tables of
// docs/debezium.md: every field they promise is there with its default, none
// they call planned is, and none is missing from them.
func TestSpecification_PropertyTable(t *testing.T) {
	spec := map[string]service.TemplateDataPluginField{}
	for _, f := range specification(t).Fields {
		if !strings.ContainsAny(f.FullName, ".[") {
			spec[f.FullName] = f
		}
	}
	listed := map[string]bool{}
	for _, p := range properties(t) {
		for _, name := range p.fields {
			field, exists := spec[name]
			assert.Equal(t, p.here == "yes", exists, "%s is %q in docs/debezium.md", name, p.here)
			if !exists {
				continue
			}
			listed[name] = true
			want := p.defaults[0]
			switch {
			case want == "required" || want == "-" || want == "derived" || want == "schemas_enable" || name == "batching" || name == "tls":
				assert.Empty(t, strings.Trim(field.DefaultMarshalled, `"`), "%s has no default of its own", name)
			default:
				var got any
				require.NoError(t, json.Unmarshal([]byte(field.DefaultMarshalled), &got), name)
				text, ok := got.(string)
				if !ok {
					text = strings.TrimSpace(field.DefaultMarshalled)
				}
				assert.Equal(t, want, text, "default of %s", name)
			}
		}
	}
	for name := range spec {
		assert.True(t, listed[name], "%s is not in docs/debezium.md", name)
	}
}

var fieldsPage = template.Must(template.New("fields").Funcs(template.FuncMap{
	"depth": func(f service.TemplateDataPluginField) string {
		return strings.Repeat("#", min(3+strings.Count(f.FullName, "."), 5))
	},
}).Parse(`# Fields of {{ .Name }}

This page is made from the specification of the input; a test keeps it so.

## All fields with their defaults

` + "```yaml" + `
{{ .AdvancedConfigYAML }}` + "```" + `

## Each field
{{ range .Fields }}
{{ depth . }} ` + "`{{ .FullName }}`" + `

{{ .Description }}

Type: {{ .Type }}{{ if .IsSecret }}, a secret{{ end }}{{ if .DefaultMarshalled }}. Default: ` + "`{{ .DefaultMarshalled }}`" + `{{ end }}
{{ if .AnnotatedOptions }}
{{ range .AnnotatedOptions }}- ` + "`{{ index . 0 }}`" + `: {{ index . 1 }}
{{ end }}{{ else if .Options }}
One of {{ range $i, $o := .Options }}{{ if $i }}, {{ end }}` + "`{{ $o }}`" + `{{ end }}
{{ end }}{{ if .ExamplesMarshalled }}
` + "```yaml" + `
{{ range .ExamplesMarshalled }}{{ . }}{{ end }}` + "```" + `
{{ end }}{{ end }}
{{ .Footnotes }}`))

// TestFieldsPage keeps docs/fields.md equal to the specification; -rewrite
// writes it.
func TestFieldsPage(t *testing.T) {
	const path = "../docs/fields.md"
	data := specification(t)
	// Fields below tls and batching are Benthos's own.
	data.Fields = slices.DeleteFunc(data.Fields, func(f service.TemplateDataPluginField) bool {
		return strings.HasPrefix(f.FullName, "tls.") || strings.HasPrefix(f.FullName, "batching.")
	})
	// The block is linted as it stands, and with a host a database is needed.
	data.AdvancedConfigYAML = strings.Replace(data.AdvancedConfigYAML, "database_names: []", "database_names: [ inventory ] # Default: []", 1)
	// Without a default there is no option to show.
	const unset = `event_converting_failure_handling_mode: ""`
	data.AdvancedConfigYAML = strings.Replace(data.AdvancedConfigYAML, unset, "# event_converting_failure_handling_mode: warn", 1)
	data.AdvancedConfigYAML = strings.Replace(data.AdvancedConfigYAML, `floor: ""`, "floor: 100ms", 1)
	data.AdvancedConfigYAML = strings.Replace(data.AdvancedConfigYAML, `ceiling: ""`, "ceiling: 10s", 1)
	var page bytes.Buffer
	require.NoError(t, fieldsPage.Execute(&page, data))
	if rewrite := flag.Lookup("rewrite"); rewrite != nil && rewrite.Value.String() == "true" {
		require.NoError(t, os.WriteFile(path, page.Bytes(), 0o644))
	}
	current, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(current), page.String(), "run make golden and read the diff of %s", path)
}
