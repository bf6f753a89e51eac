package notice

import (
	"fmt"
	"strings"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// Structures says how tables were changed under their capture instances.
// An instance keeps the columns that it was made with: a column that is added
// later is not recorded, and nothing else in a stream shows that it is missing.
// It remembers what it has seen, so it lives as long as its source, and is safe
// for concurrent use.
type Structures struct {
	once *Once

	mu sync.Mutex
	// seen is the latest change of structure by the object id of a change table.
	seen map[int32]lsn.LSN
}

// NewStructures returns what has seen nothing yet, and warns through once.
func NewStructures(once *Once) *Structures {
	return &Structures{once: once, seen: map[int32]lsn.LSN{}}
}

// Look compares the states of the tables of a database with those before. Of two
// instances of a table the one that comes later in states counts.
func (w *Structures) Look(database string, states []sqlserver.TableState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	newest := make(map[schema.TableID]sqlserver.TableState, len(states))
	for _, s := range states {
		newest[schema.TableID{Database: database, Schema: s.Schema, Name: s.Table}] = s
	}
	for table, s := range newest {
		before, known := w.seen[s.ObjectID]
		w.seen[s.ObjectID] = s.Altered
		switch {
		case s.Altered.IsZero():
			// An instance of some columns was made like that.
		case s.Uncaptured > 0 || s.Dropped > 0:
			w.once.Warn(table.String(), drift(s))
		case known && before.Before(s.Altered):
			w.once.Warn(table.String(), "the structure of the table was changed, and its events follow: "+s.DDL)
		}
	}
}

// drift describes an instance that does not have the columns of its table.
func drift(s sqlserver.TableState) string {
	var parts []string
	if s.Uncaptured > 0 {
		parts = append(parts, fmt.Sprintf("does not have %d of the table's columns, whose values are not recorded and cannot be had later", s.Uncaptured))
	}
	if s.Dropped > 0 {
		parts = append(parts, fmt.Sprintf("has %d that the table has no more, which are null from now on", s.Dropped))
	}
	return fmt.Sprintf("capture instance %q %s; make a second instance with sys.sp_cdc_enable_table, which has the columns of today. The table was last changed by: %s",
		s.Instance, strings.Join(parts, " and "), s.DDL)
}
