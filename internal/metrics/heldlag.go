package metrics

import (
	"maps"
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// heldLag is how far a held table is behind. Whether a transaction changed it
// cannot be known while it cannot be read: from the first that may have on, it is
// not known to be delivered whole.
type heldLag struct {
	at     lsn.Position // up to which the table was read when it began to be held
	oldest time.Time    // of the first transaction behind that; zero: none is known
	// over is set once the table is read on: what it has missed may not be
	// acknowledged yet.
	over bool
}

// behind returns h with what is known of transactions, given some in order.
func (h heldLag) behind(commits []sqlserver.Commit) heldLag {
	if h.oldest.IsZero() {
		first := slices.IndexFunc(commits, func(c sqlserver.Commit) bool { return h.at.Before(lsn.EndOf(c.LSN)) })
		if first >= 0 {
			h.oldest = commits[first].End
		}
	}
	return h
}

// hold notes that a table is held, and transactions in order.
func (l *lag) hold(held stream.Held, commits []sqlserver.Commit) {
	h, known := l.held[held.Name()]
	if !known {
		h.at = held.Position
	}
	h.over = false
	if l.held == nil {
		l.held = map[string]heldLag{}
	}
	l.held[held.Name()] = h.behind(commits)
}

// release notes that a table is held no more.
func (l *lag) release(held stream.Held) {
	if h, known := l.held[held.Name()]; known {
		h.over = true
		l.held[held.Name()] = h
	}
}

// caughtUpTo forgets the tables that are held no more and not at a place up to
// which everything is delivered.
func (l *lag) caughtUpTo(delivered stream.Place) {
	maps.DeleteFunc(l.held, func(table string, h heldLag) bool {
		return h.over && !delivered.Position.Before(h.at) &&
			!slices.ContainsFunc(delivered.Held, func(o stream.Held) bool { return o.Name() == table })
	})
}

// FallsBehind notes that a table is held.
func (m *Meter) FallsBehind(h stream.Held) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.move()
	m.lag.hold(h, m.lag.commits)
}

// PolledBehind notes what a look for changes has found behind the position of a
// held table.
func (m *Meter) PolledBehind(h stream.Held, p sqlserver.Poll) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lag.hold(h, p.Commits)
}

// CatchesUp notes that a table is held no more.
func (m *Meter) CatchesUp(h stream.Held) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lag.release(h)
}
