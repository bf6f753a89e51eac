package input

import (
	"context"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// tableWatch looks at the states of the tables between two passes.
type tableWatch struct {
	poller
	database *serverDatabase
	saved    func() lsn.Position
}

// PollOnce implements [poller].
func (w tableWatch) PollOnce(ctx context.Context) (bool, error) {
	more, err := w.poller.PollOnce(ctx)
	if err == nil && w.database.meter.TablesDue(time.Now()) {
		w.look(ctx)
	}
	return more, err
}

// look publishes the states of the tables. They are for metrics alone: without
// the right to read them there are none, and a connection that is lost is
// noticed by the next pass.
func (w tableWatch) look(ctx context.Context) {
	d := w.database
	states, err := d.conn.TableStates(ctx, w.saved().Commit)
	if err != nil {
		d.log.Debug("the states of the tables are not known", "error", err)
		return
	}
	d.meter.Tables(slices.DeleteFunc(states, func(s sqlserver.TableState) bool { return !d.selection.Match(s.Schema, s.Table) }))
}
