package input

import (
	"context"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// reasonTooManyTables is the reason of the problem that more tables are captured
// than guardrail_collections_max allows.
const reasonTooManyTables = "too_many_tables"

// checkGuardrail counts the tables that are captured or, if consumers are told
// of all tables, all there are, as Debezium does (GuardrailValidator); there a
// table counts as captured without a capture instance too.
func (d *serverDatabase) checkGuardrail(ctx context.Context) error {
	limit := d.cfg.watch.guardrail
	if limit == 0 {
		return nil
	}
	tables := len(d.tables)
	if d.schemaChanges != nil && !d.cfg.capturedOnly {
		all, err := d.allTables(ctx)
		if err != nil {
			return err
		}
		tables = len(all)
	}
	if tables <= limit {
		return nil
	}
	text := fmt.Sprintf("database %q has %d tables to read, more than the %d of %s", d.name, tables, limit, fieldGuardrailMax)
	remedy := fmt.Sprintf("raise it, or narrow %s", fieldTableIncludeList)
	if d.cfg.watch.guardrailEnd {
		return sqlserver.NewProblem(reasonTooManyTables, text, remedy, nil)
	}
	d.notices.Warn("", fmt.Sprintf("Too many tables: %s; %s", text, remedy))
	return nil
}
