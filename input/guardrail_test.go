package input_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The guardrail counts the captured tables, or all if consumers are told of
// all, and warns or ends.
func TestGuardrail(t *testing.T) {
	script := pagedTables + "CREATE TABLE dbo.uncaptured (id int)\n" + enable("dbo", "a") + enable("dbo", "b")
	for name, test := range map[string]struct {
		fields       string
		warns, fatal bool
	}{
		"none":                        {fields: ""},
		"reached":                     {fields: "guardrail_collections_max: 2"},
		"passed":                      {fields: "guardrail_collections_max: 1", warns: true},
		"passed, fail":                {fields: "guardrail_collections_max: 1\nguardrail_collections_limit_action: fail", fatal: true},
		"reached, fail":               {fields: "guardrail_collections_max: 2\nguardrail_collections_limit_action: fail"},
		"passed by tables to tell of": {fields: "guardrail_collections_max: 2\ninclude_schema_changes: true\nschema_changes_captured_only: false", warns: true},
		"not told of":                 {fields: "guardrail_collections_max: 2\nschema_changes_captured_only: false"},
		"narrowed":                    {fields: "guardrail_collections_max: 1\nguardrail_collections_limit_action: fail\ntable_include_list: ['dbo\\.a']"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := startPipeline(t, newServer(t, script), settings{fields: test.fields})
				<-time.After(5 * time.Minute)
				assert.Equal(t, test.warns, countLines(p, "Too many tables") == 1, "log:\n%s", p.logs)
				if test.fatal {
					require.Contains(t, p.logs.String(), "Cannot go on (too_many_tables)")
					require.Contains(t, p.logs.String(), "has 2 tables to read, more than the 1 of guardrail_collections_max; raise it, or narrow table_include_list")
					require.Empty(t, p.rest())
					return
				}
				require.NotEmpty(t, p.rest())
				require.NotContains(t, p.logs.String(), "Cannot go on")
			})
		})
	}
}
