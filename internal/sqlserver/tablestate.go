package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/timezone"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// tableStatesStatement reads, of each capture instance, the time at its low end
// and the number of source columns that it does not have, and the time of an
// LSN. An LSN that is no commit has the time of the commit before it, a low end
// that of the one after. Computed columns are never captured.
// Sources: MS docs, cdc.change_tables, cdc.captured_columns,
// cdc.lsn_time_mapping, sys.columns.
const tableStatesStatement = `SELECT OBJECT_SCHEMA_NAME(t.source_object_id), OBJECT_NAME(t.source_object_id),
 (SELECT TOP (1) m.tran_end_time FROM cdc.lsn_time_mapping AS m WHERE m.start_lsn >= t.start_lsn ORDER BY m.start_lsn),
 (SELECT COUNT(*) FROM sys.columns AS c WHERE c.object_id = t.source_object_id AND c.is_computed = 0
  AND NOT EXISTS (SELECT 1 FROM cdc.captured_columns AS k WHERE k.object_id = t.object_id AND k.column_id = c.column_id)),
 (SELECT TOP (1) m.tran_end_time FROM cdc.lsn_time_mapping AS m WHERE m.start_lsn <= @p1 ORDER BY m.start_lsn DESC),
 DATEPART(TZOFFSET, SYSDATETIMEOFFSET())
FROM cdc.change_tables AS t;`

// TableState is what an operator wants to know of a capture instance.
type TableState struct {
	Schema, Table string
	// Low is the time at the low end of what is kept, in UTC; zero if unknown.
	Low time.Time
	// Position is that of the LSN asked for.
	Position time.Time
	// Uncaptured is the number of source columns that are not captured.
	Uncaptured int
}

// TableStates returns the states of all capture instances whose tables the
// login can see.
func (c *Conn) TableStates(ctx context.Context, position lsn.LSN) ([]TableState, error) {
	var states []TableState
	err := c.each(ctx, func(row []driver.Value) error {
		s := scanner{row: row}
		state := TableState{Schema: s.text(), Table: s.text(), Low: s.time(), Uncaptured: int(s.int()), Position: s.time()}
		zone := c.zone
		if offset := time.Duration(s.int()) * time.Minute; zone == nil {
			zone = time.FixedZone("", int(offset/time.Second))
		}
		for _, t := range []*time.Time{&state.Low, &state.Position} {
			if !t.IsZero() {
				*t = timezone.Instant(*t, zone).UTC()
			}
		}
		if state.Table != "" {
			states = append(states, state)
		}
		return s.err
	}, tableStatesStatement, position[:])
	if err != nil {
		return nil, fmt.Errorf("reading the states of capture instances: %w", err)
	}
	return states, nil
}
