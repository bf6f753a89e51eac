package input

import (
	"context"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// tableWatch looks at the states of the tables before a pass: the first time
// before any message, so that what was altered meanwhile is said first.
type tableWatch struct {
	poller
	database *serverDatabase
	saved    func() stream.Place
}

// PollOnce implements [poller].
func (w tableWatch) PollOnce(ctx context.Context) (bool, error) {
	if w.database.meter.TablesDue(time.Now()) {
		w.look(ctx)
	}
	return w.poller.PollOnce(ctx)
}

// look publishes the states of the tables, and says how they were changed. That
// is for people alone: without the right to read the states there are none, and a
// connection that is lost is noticed by the next pass.
func (w tableWatch) look(ctx context.Context) {
	d, saved := w.database, w.saved()
	states, err := d.conn.TableStates(ctx, saved.Position.Commit)
	if err != nil {
		d.log.Debug("the states of the tables are not known", "error", err)
		return
	}
	states = slices.DeleteFunc(states, func(s sqlserver.TableState) bool {
		return !d.selection.Match(s.Schema, s.Table) || !d.selection.MatchInstance(s.Instance)
	})
	if len(states) > 0 {
		d.meter.Position(states[0].Position)
	}
	d.altered.Look(d.name, d.instances.expected(states))
	if err := w.ownPositions(ctx, states, saved.Held); err != nil {
		d.log.Debug("the states of held tables are not known", "error", err)
		return
	}
	d.meter.Tables(states)
}

// ownPositions gives the states of held tables their own positions.
func (w tableWatch) ownPositions(ctx context.Context, states []sqlserver.TableState, held []stream.Held) error {
	for _, h := range held {
		own, err := w.database.conn.TimeUpTo(ctx, h.Position.Commit)
		if err != nil {
			return err
		}
		for i := range states {
			if states[i].Schema == h.Schema && states[i].Table == h.Table {
				states[i].Position = own
			}
		}
	}
	return nil
}
