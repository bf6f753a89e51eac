package metrics

import (
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

const (
	// tableInterval is how often the states of the tables are looked at.
	tableInterval = time.Minute
	// standing is the age of a position from which on reading may be behind: while
	// nothing changes the capture job notes so about every five minutes.
	standing = 15 * time.Minute
	// noHeadroom is the headroom of a table that had one and is not read any more:
	// Benthos cannot take a figure back.
	noHeadroom = -1
)

// tableFigures are the figures of a table, or of those that are counted together.
type tableFigures struct {
	drift    int64
	headroom int64 // in seconds, once it is shown
	shown    bool
}

// TablesDue reports whether it is time to look at the states of the tables.
func (m *Meter) TablesDue(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Before(m.tablesAt) {
		return false
	}
	m.tablesAt = now.Add(tableInterval)
	return true
}

// Position publishes the commit time of the stored position; zero: unknown.
func (m *Meter) Position(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !at.IsZero() {
		m.metrics.position.Set(at.Unix(), m.database)
	}
}

// Tables publishes the states of all tables that are read, the newer of a table's
// two instances behind the older, each with the position up to which it is read.
func (m *Meter) Tables(states []sqlserver.TableState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	tables := m.tableFigures(states)
	m.metrics.capturedTables.Set(int64(len(tables)), m.database)
	labels := map[string]tableFigures{}
	for id, f := range tables {
		label := m.label(id)
		if others, counted := labels[label]; counted {
			f = f.with(others)
		}
		labels[label] = f
	}
	for label, f := range labels {
		m.metrics.drift.Set(f.drift, m.database, label)
		if f.shown {
			m.metrics.headroom.Set(f.headroom, m.database, label)
		}
	}
	for label, f := range m.tables {
		if _, left := labels[label]; left {
			continue
		}
		m.metrics.drift.Set(0, m.database, label)
		if f.shown {
			m.metrics.headroom.Set(noHeadroom, m.database, label)
		}
	}
	m.tables = labels
}

// tableFigures returns the figures of each table: the drift of its newest instance,
// and the headroom of the one that has kept changes for longest. That of a table of
// which cleanup has taken nothing yet says how young the table is, and is shown only
// once reading may be behind.
func (m *Meter) tableFigures(states []sqlserver.TableState) map[schema.TableID]tableFigures {
	now, tables := time.Now(), map[schema.TableID]tableFigures{}
	for _, s := range states {
		id := schema.TableID{Schema: s.Schema, Name: s.Table}
		f := tables[id]
		f.drift = int64(s.Uncaptured)
		if !s.Position.IsZero() && !s.Low.IsZero() {
			f.headroom = max(f.headroom, int64(s.Position.Sub(s.Low).Seconds()))
			f.shown = f.shown || s.Cleaned || m.lag.age(now, s.Position) > standing || m.tables[m.label(id)].shown
		}
		tables[id] = f
	}
	return tables
}

// with returns the figures of tables that are counted together: the worst of them.
func (f tableFigures) with(o tableFigures) tableFigures {
	switch {
	case !f.shown:
		f.headroom, f.shown = o.headroom, o.shown
	case o.shown:
		f.headroom = min(f.headroom, o.headroom)
	}
	f.drift = max(f.drift, o.drift)
	return f
}
