package input

import (
	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// Names of the fields that say what is looked after beside the changes.
const (
	fieldAgentStatusQuery = "database_sqlserver_agent_status_query"
	fieldGuardrailMax     = "guardrail_collections_max"
	fieldGuardrailAction  = "guardrail_collections_limit_action"
	fieldStrict           = "strict"
)

// Values of guardrail_collections_limit_action.
const (
	guardrailWarn = "warn"
	guardrailFail = "fail"
)

// watchConfig is what is looked after beside the changes.
type watchConfig struct {
	agentQuery   string
	guardrail    int  // the most tables; zero: any number
	guardrailEnd bool // more are a fatal state, and not a warning
	strict       bool
}

// watchFields are the fields that say what is looked after.
func watchFields() []*service.ConfigField {
	return []*service.ConfigField{
		stringField(fieldAgentStatusQuery).
			Description("Asks whether SQL Server Agent runs: its first value is true, 1 or `'true'` while the Agent runs; `[#db]` stands for the database. It is asked once a minute, and with it what else tells a capture job that stands still from a database in which nothing changes: the scan sessions and errors of change data capture, the job itself, and the age of its newest row. What the login may not see is unknown and never an error; the log says once which right shows it. The default needs VIEW SERVER STATE; a query that calls a signed procedure or function of your own needs less. It is not asked of replicas and in Azure SQL Database.").
			Default(sqlserver.DefaultAgentStatusQuery).Advanced().
			Example("SELECT [#db].dbo.is_agent_running()"),
		intField(fieldGuardrailMax).
			Description("The most tables of a database that may be captured, 0 for any number. With `schema_changes_captured_only: false` all its tables count. It is looked at whenever the input connects.").
			Default(0).Advanced(),
		annotatedField(fieldGuardrailAction, map[string]string{
			guardrailWarn: "A warning in the log.",
			guardrailFail: "A fatal state; see `on_fatal`.",
		}).
			Description("What happens when there are more tables than `guardrail_collections_max`.").
			Default(guardrailWarn).Advanced(),
		boolField(fieldStrict).
			Description("Whether trouble that could be lived with is a fatal state, see `on_fatal`: a table that cannot be read on, which is otherwise held while the others go on (the gauge `sqlserver_cdc_table_held`), and a capture job that stands still, which is otherwise a warning and the gauge `sqlserver_cdc_capture_stalled`.").
			Default(false).Advanced(),
	}
}

// watch reads these fields.
func (r *fieldReader) watch() watchConfig {
	return watchConfig{
		agentQuery:   r.string(fieldAgentStatusQuery),
		guardrail:    r.atLeast(0, fieldGuardrailMax),
		guardrailEnd: choice(r, fieldGuardrailAction, guardrailWarn, guardrailFail) == guardrailFail,
		strict:       r.bool(fieldStrict),
	}
}
