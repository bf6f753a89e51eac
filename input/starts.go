package input

import (
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// Each start of a database has one line in the log that says where it begins: a
// cache that has lost everything looks like one that is new, and only who knows
// that there was a position can tell.

// sayGoesOn says from which stored position a database is read, if there is one,
// once in the life of an input.
func (s *source) sayGoesOn() {
	m := s.keeper.committed()
	if !m.begun() || !s.keeper.saysStart.IsZero() {
		return
	}
	s.keeper.saysStart = m.position().Commit
	s.log.Infof("Start from the stored position: %s, %s", s.cfg.goesOn(m), s.cfg.keptUnder(s.keeper.database))
}

// sayBegins says where a database begins that has no stored position. A snapshot
// that is lost before its first row begins anew, elsewhere.
func (s *source) sayBegins(start lsn.LSN) {
	if s.keeper.saysStart == start {
		return
	}
	s.keeper.saysStart = start
	s.log.Infof("Start without a stored position: %s, %s", s.cfg.begins(start), s.cfg.keptUnder(s.keeper.database))
}

// keptUnder says where the position of a database is, or will be.
func (c config) keptUnder(database string) string {
	return fmt.Sprintf("key %q of cache %q", c.checkpointKey(database), c.cache)
}

// begins says where reading begins, given the LSN after which changes are read.
func (c config) begins(start lsn.LSN) string {
	text := fieldSnapshotMode + " " + c.snapshotMode
	if c.snapshotMode != snapshotInitial {
		text += fmt.Sprintf(", %s %s", fieldStartPosition, c.startPosition)
	}
	if !c.startPosition.IsNow() {
		start = start.Next() // as it is configured: the first to be read
	}
	return fmt.Sprintf("%s, at LSN %s", text, start)
}

// goesOn says in what state a stored mark is, and what of the configuration is for
// starts without one.
func (c config) goesOn(m mark) string {
	text := "snapshot under way"
	switch {
	case m.snapshotted():
		text = "streaming"
	case c.snapshotMode == snapshotNoData && len(m.progress.Tables) > 0:
		text += fmt.Sprintf(", which %s %s ends", fieldSnapshotMode, c.snapshotMode)
	}
	text += fmt.Sprintf(", at LSN %s", m.position().Commit)
	switch unheeded := c.unheeded(m); len(unheeded) {
	case 0:
		return text
	case 1:
		return fmt.Sprintf("%s (%s is for starts without one)", text, unheeded[0])
	default:
		return fmt.Sprintf("%s (%s are for starts without one)", text, strings.Join(unheeded, " and "))
	}
}

// unheeded returns the fields that a start from a mark does not heed, though they
// are set to something else than led to it.
func (c config) unheeded(m mark) (fields []string) {
	if !c.startPosition.IsNow() {
		fields = append(fields, fmt.Sprintf("%s %s", fieldStartPosition, c.startPosition))
	}
	rowsRead := m.progress != nil && len(m.progress.Tables) > 0
	if m.snapshotted() && rowsRead != (c.snapshotMode == snapshotInitial) {
		fields = append(fields, fmt.Sprintf("%s %s", fieldSnapshotMode, c.snapshotMode))
	}
	return fields
}
