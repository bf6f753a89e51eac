package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/timezone"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// tableStatesStatement reads, of each capture instance, the time at its low end and
// that of its creation, the number of source columns that it does not have and of
// its columns that the source does not have any more, the latest change of the
// source's structure, and the time of an LSN. An LSN that is no commit has the time of the commit before
// it, a low end that of the one after. Computed columns are never captured.
// Columns are told by their ids, since a name may come back as another column.
// Sources: MS docs, cdc.change_tables, cdc.captured_columns, cdc.ddl_history,
// cdc.lsn_time_mapping, sys.columns.
const tableStatesStatement = `SELECT t.object_id, OBJECT_SCHEMA_NAME(t.source_object_id), OBJECT_NAME(t.source_object_id), t.capture_instance,
 (SELECT TOP (1) m.tran_end_time FROM cdc.lsn_time_mapping AS m WHERE m.start_lsn >= t.start_lsn ORDER BY m.start_lsn), t.create_date,
 (SELECT COUNT(*) FROM sys.columns AS c WHERE c.object_id = t.source_object_id AND c.is_computed = 0
  AND NOT EXISTS (SELECT 1 FROM cdc.captured_columns AS k WHERE k.object_id = t.object_id AND k.column_id = c.column_id)),
 (SELECT COUNT(*) FROM cdc.captured_columns AS k WHERE k.object_id = t.object_id
  AND NOT EXISTS (SELECT 1 FROM sys.columns AS c WHERE c.object_id = t.source_object_id AND c.column_id = k.column_id)),
 h.ddl_lsn, h.ddl_command,
 (SELECT TOP (1) m.tran_end_time FROM cdc.lsn_time_mapping AS m WHERE m.start_lsn <= @p1 ORDER BY m.start_lsn DESC),
 DATEPART(TZOFFSET, SYSDATETIMEOFFSET())
FROM cdc.change_tables AS t
OUTER APPLY (SELECT TOP (1) d.ddl_lsn, d.ddl_command FROM cdc.ddl_history AS d WHERE d.object_id = t.object_id ORDER BY d.ddl_lsn DESC) AS h
ORDER BY t.create_date, t.object_id;`

// cleanedAfter is how much younger than its instance the low end of what is kept
// must be to have been moved by a cleanup. At creation it is the newest LSN, and the
// next that is mapped to a time may be that of a row that marks an idle time.
const cleanedAfter = 10 * time.Minute

// TableState is what an operator wants to know of a capture instance.
type TableState struct {
	Schema, Table string
	// Instance is the instance's name, ObjectID that of its change table.
	Instance string
	ObjectID int32
	// Low is the time at the low end of what is kept, in UTC; zero if unknown.
	Low time.Time
	// Cleaned tells that cleanup has taken something: what is kept does not begin
	// where the instance did.
	Cleaned bool
	// Position is that of the LSN asked for.
	Position time.Time
	// Uncaptured is the number of source columns that are not captured.
	Uncaptured int
	// Dropped is the number of captured columns that the source has no more.
	Dropped int
	// Altered is the LSN of the latest change of the source's structure that the
	// capture job has come to, DDL its statement; zero and empty if there was none
	// since the instance was made.
	Altered lsn.LSN
	DDL     string
}

// TableStates returns the states of all capture instances whose tables the
// login can see, the newer of a table's two behind the older.
func (c *Conn) TableStates(ctx context.Context, position lsn.LSN) ([]TableState, error) {
	var states []TableState
	err := c.each(ctx, func(row []driver.Value) error {
		s := scanner{row: row}
		state := TableState{
			ObjectID: int32(s.int()), Schema: s.text(), Table: s.text(), Instance: s.text(),
			Low: s.time(),
		}
		state.Cleaned = state.Low.Sub(s.time()) > cleanedAfter
		state.Uncaptured, state.Dropped = int(s.int()), int(s.int())
		state.Altered, _ = s.lsn()
		state.DDL, state.Position = s.text(), s.time()
		zone := c.zoneOr(s.int())
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
