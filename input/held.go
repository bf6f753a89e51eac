package input

import (
	"fmt"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
)

// holder is a sink that is told of tables that are held.
type holder interface {
	tableHeld(h stream.Held, cause error)
}

var _ holder = (*reading)(nil)

// onHeld returns who is told of tables that cannot be read on; nil if such a
// table is to end the reading.
func (c config) onHeld(sink stream.Sink) stream.OnHeld {
	to, tells := sink.(holder)
	if c.watch.strict || !tells {
		return nil
	}
	return to.tableHeld
}

// tableHeld implements [holder]: each reason is logged once, and the gauge is 1
// until the table is read on.
func (r *reading) tableHeld(h stream.Held, cause error) {
	if cause == nil {
		r.source.tableReleased(h)
		return
	}
	s, table := r.source, h.Name()
	delete(s.released, table)
	s.meter.FallsBehind(h)
	reason, cause := diagnose(cause, true)
	before, held := s.held[table]
	if held && reason == before {
		return
	}
	s.log.Errorf("Table %s is held at position %s (%s): whatever else can be read is read on, and it is tried again every minute: %v", table, h.Position, reason, s.withFreshStart(reason, cause))
	if held {
		s.meter.Held(h.Schema, h.Table, before, false)
	}
	s.meter.Held(h.Schema, h.Table, reason, true)
	s.held[table] = reason
}

// tableReleased takes note that a table is held no more. That is said once it is
// saved.
func (s *source) tableReleased(h stream.Held) {
	table := h.Name()
	s.released[table] = true
	s.meter.CatchesUp(h)
	if before, held := s.held[table]; held {
		s.meter.Held(h.Schema, h.Table, before, false)
		delete(s.held, table)
	}
}

// sayReleased says which tables are held no more, once a restart goes on with them
// too: a rejection may go back to where they are held.
func (s *source) sayReleased() {
	if len(s.released) == 0 {
		return
	}
	held := s.keeper.savedPlace().Held
	for table := range s.released {
		if !slices.ContainsFunc(held, func(h stream.Held) bool { return h.Name() == table }) {
			s.log.Infof("Table %s is no longer held", table)
			delete(s.released, table)
		}
	}
}

// withFreshStart returns an error with the way to start afresh, where that cures
// it.
func (s *source) withFreshStart(reason string, err error) error {
	if !curedAfresh[reason] {
		return err
	}
	return fmt.Errorf("%w. %s", err, s.howToStartAfresh())
}
