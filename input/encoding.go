package input

import (
	"fmt"
	"strconv"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/notice"
)

// warnNull reports a NULL that change data capture recorded where the table
// has none: once for each column in the log, always in the metrics.
func (s *source) warnNull(n event.NullNotice) {
	s.in.metrics.UnexpectedNulls.Incr(1, n.Table.Database)
	if n.First && s.cfg.failures != event.FailuresSkip {
		s.log.Warnf("Column %q of %s is NOT NULL, but the change at %s has no value for it; it is null in the event and optional in the schema from now on", n.Column, n.Table.ID(), n.Position)
	}
}

// warnValue reports a value for which null is written: once for each column in
// the log, always in the metrics.
func (s *source) warnValue(n event.ValueNotice) {
	s.in.metrics.UnconvertedValues.Incr(1, n.Table.Database)
	if n.First && s.cfg.failures != event.FailuresSkip {
		s.log.Warnf("A value is null in the event at %s: %v", n.Position, n.Err)
	}
}

// leaveOut reports a change of which no event can be made and that is left out:
// each in the log, because what it held is lost, and in the metrics.
func (s *source) leaveOut(n event.FailureNotice) {
	s.in.metrics.LeftOut.Incr(1, n.Table.Database, n.Table.Schema+"."+n.Table.Name)
	log := s.log.Debugf
	if s.cfg.processingFailures == processingWarn {
		log = s.log.Warnf
	}
	log("A change is left out, because of %s: %s: no event can be made of it at position %s: %v", fieldEventProcessingFailureHandlingMode, s.cfg.processingFailures, n.Position, n.Err)
}

// warnReplaced warns of text that is not what the source holds, for all that can be
// seen of it.
func warnReplaced(n *notice.Once, r event.ReplacedNotice) {
	n.Warn(r.Table.ID().String(), fmt.Sprintf("column %q holds U+FFFD: unless the source has it so, it stands for half of a surrogate pair or for bytes that the column's code page does not define", r.Column))
}

// warnOmitted names the captured columns that the events of a table version leave
// out.
func warnOmitted(n *notice.Once, e *event.Encoder) {
	for _, o := range e.Omitted() {
		n.Warn(e.Table().ID().String(), "column "+strconv.Quote(o.Column)+" is left out of events: "+o.Reason)
	}
}
