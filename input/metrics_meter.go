package input

import (
	"context"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/checkpoint"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

const (
	// publishInterval is how often the gauges are set that move by themselves.
	publishInterval = time.Second
	// maxTables is the number of tables of a database that have figures of their
	// own; others are counted together, as otherTables.
	maxTables   = 1000
	otherTables = "other"
)

// meter keeps the figures of one database, which outlive its connections. What
// is counted is counted once a batch; what changes with time alone is published
// by a goroutine, because while the output takes nothing no other runs. It is
// safe for concurrent use.
type meter struct {
	metrics  *metrics
	interval time.Duration // the longest time between two looks for changes

	mu       sync.Mutex
	database string // empty before the first connection: nothing is published
	lag      lag
	window   window
	queue    *queue
	tracker  *checkpoint.Tracker[mark]
	snapshot snapshotFigures

	labels     map[schema.TableID]string
	commit     lsn.LSN         // of the last event counted
	tablesAt   time.Time       // when the tables are to be looked at next
	statements int64           // of the present connection, as far as they are counted
	counts     []eventCount    // of the batch being counted,
	counted    map[counted]int // and their places in it
}

// counted is what events are counted by: a version of a table, and an operation.
type counted struct {
	table *schema.Table
	op    string
}

// eventCount counts the events of a batch that are alike.
type eventCount struct {
	counted
	id schema.TableID
	n  int64
}

func newMeter(m *metrics, interval time.Duration) *meter {
	return &meter{metrics: m, interval: interval, labels: map[schema.TableID]string{}, counted: map[counted]int{}}
}

// connected notes a new connection, and that it is not the first.
func (m *meter) connected(database string, again bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.database, m.statements = database, 0
	if again {
		m.metrics.reconnects.Incr(1, database)
	}
}

// name returns the database's name as the figures have it.
func (m *meter) name() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.database
}

// captures notes how many tables are captured.
func (m *meter) captures(database string, tables int) {
	m.metrics.capturedTables.Set(int64(tables), database)
}

// reads notes the queue and the tracker of a new reading.
func (m *meter) reads(q *queue, t *checkpoint.Tracker[mark]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue, m.tracker = q, t
}

// polled notes what a look for changes has found, and how many statements the
// connection has sent so far.
func (m *meter) polled(p sqlserver.Poll, statements int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lag.looked(time.Now(), p)
	m.metrics.polls.Incr(1, m.database)
	m.metrics.statements.Incr(statements-m.statements, m.database)
	m.statements = statements
}

// caughtUp notes that everything that was found is read.
func (m *meter) caughtUp() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lag.caughtUp()
}

// stalled notes whether the capture job is known to stand still.
func (m *meter) stalled(yes bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lag.stalled = yes
}

// read counts a batch of the stream.
func (m *meter) read(b *event.Batch, upTo lsn.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	lastCommit := m.lag.read(b, upTo)
	if !lastCommit.IsZero() {
		m.metrics.lastCommit.Set(lastCommit.Unix(), m.database)
	}
	m.count(b)
}

// countBatch counts a batch that is not of the stream.
func (m *meter) countBatch(b *event.Batch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count(b)
}

// acknowledged notes that everything up to a position is delivered.
func (m *meter) acknowledged(upTo lsn.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.lag.acknowledged(now, upTo, func(took time.Duration, events int64) {
		m.window.add(now, took, events)
		m.metrics.deliveryTimes.Timing(took.Nanoseconds(), m.database)
	})
}

// tablesDue reports whether it is time to look at the states of the tables.
func (m *meter) tablesDue(now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Before(m.tablesAt) {
		return false
	}
	m.tablesAt = now.Add(tableInterval)
	return true
}

// tables publishes the states of the tables.
func (m *meter) tables(states []sqlserver.TableState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range states {
		table := m.label(schema.TableID{Schema: s.Schema, Name: s.Table})
		m.metrics.drift.Set(int64(s.Uncaptured), m.database, table)
		if s.Position.IsZero() {
			continue
		}
		m.metrics.position.Set(s.Position.Unix(), m.database)
		if !s.Low.IsZero() {
			m.metrics.headroom.Set(max(0, int64(s.Position.Sub(s.Low).Seconds())), m.database, table)
		}
	}
}

// count counts the messages of a batch, those that are alike at once.
func (m *meter) count(b *event.Batch) {
	m.counts = m.counts[:0]
	clear(m.counted)
	var others map[event.Kind]int64
	var transactions, changes int64
	at := 0 // the place of the change before
	for i := range b.Messages {
		e := &b.Messages[i]
		if e.Kind != event.KindChange {
			if others == nil {
				others = map[event.Kind]int64{}
			}
			others[e.Kind]++
			continue
		}
		changes++
		if e.Op != event.OpRead && e.CommitLSN != m.commit {
			m.commit = e.CommitLSN
			transactions++
		}
		if what := (counted{e.TableRef, e.Op}); at == len(m.counts) || m.counts[at].counted != what {
			at = m.place(what, e)
		}
		m.counts[at].n++
	}
	for _, c := range m.counts {
		m.metrics.events.Incr(c.n, m.database, m.label(c.id), c.op)
	}
	if changes > 0 {
		m.metrics.messages.Incr(changes, m.database, string(event.KindChange))
		m.metrics.transactions.Incr(transactions, m.database)
		m.metrics.lastEvent.Set(time.Now().Unix(), m.database)
	}
	for kind, n := range others {
		m.metrics.messages.Incr(n, m.database, string(kind))
	}
}

// place returns where a change is counted.
func (m *meter) place(what counted, e *event.Message) int {
	at, known := m.counted[what]
	if !known {
		at = len(m.counts)
		m.counts = append(m.counts, eventCount{counted: what, id: schema.TableID{Schema: e.Schema, Name: e.Table}})
		m.counted[what] = at
	}
	return at
}

// label returns the label of a table.
func (m *meter) label(id schema.TableID) string {
	id.Database = ""
	label, known := m.labels[id]
	if !known {
		if len(m.labels) >= maxTables {
			return otherTables
		}
		label = id.Schema + "." + id.Name
		m.labels[id] = label
	}
	return label
}

// run publishes again and again until ctx ends.
func (m *meter) run(ctx context.Context) {
	ticker := time.NewTicker(publishInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			m.publish(time.Now())
		case <-ctx.Done():
			return
		}
	}
}

// publish sets the gauges that move by themselves.
func (m *meter) publish(now time.Time) {
	unacknowledged := m.unacknowledged()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.database == "" {
		return
	}
	to, database := m.metrics, m.database
	if !m.lag.polled.IsZero() {
		to.lag.Set(m.lag.behind(now, m.interval).Milliseconds(), database)
		to.lsnAge.Set(int64(m.lag.lsnAge(now).Seconds()), database)
	}
	s := m.window.stats(now)
	for _, stat := range []struct {
		name  string
		value int64
	}{
		{"min", s.min}, {"max", s.max}, {"average", s.average}, {"p50", s.p50}, {"p95", s.p95}, {"p99", s.p99},
	} {
		to.deliveryLag.Set(stat.value, database, stat.name)
	}
	m.snapshot.publish(now, to, database)
	if m.queue != nil {
		messages, bytes := m.queue.fill()
		to.queueMessages.Set(messages, database)
		to.queueBytes.Set(bytes, database)
		to.queueMessageCapacity.Set(m.queue.maxMessages, database)
		to.queueByteCapacity.Set(m.queue.maxBytes, database)
		to.unacknowledged.Set(unacknowledged, database)
	}
}

// unacknowledged asks the tracker, without the meter's lock: the tracker calls
// [meter.acknowledged] under its own.
func (m *meter) unacknowledged() int64 {
	m.mu.Lock()
	t := m.tracker
	m.mu.Unlock()
	if t == nil {
		return 0
	}
	return int64(t.Unacknowledged())
}

// snapshotFigures say how far a snapshot has come.
type snapshotFigures struct {
	known        bool // whether there is one to tell of
	begun, ended time.Time
	tables, done int
}

// publish sets the gauges of snapshots.
func (f *snapshotFigures) publish(now time.Time, to *metrics, database string) {
	if !f.known {
		return
	}
	running, completed, until := int64(1), int64(0), now
	if !f.ended.IsZero() {
		running, completed, until = 0, 1, f.ended
	}
	to.snapshotRunning.Set(running, database)
	to.snapshotCompleted.Set(completed, database)
	to.snapshotTables.Set(int64(f.tables), database)
	to.snapshotRemaining.Set(int64(max(0, f.tables-f.done)), database)
	to.snapshotSeconds.Set(int64(until.Sub(f.begun).Seconds()), database)
}

// snapshotBegins notes that so many tables are to be read, of which some are
// read already.
func (m *meter) snapshotBegins(tables, done int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.snapshot = snapshotFigures{known: true, begun: time.Now(), tables: tables, done: done}
}

// tableRead notes that a table is read.
func (m *meter) tableRead() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.snapshot.done++
}

// snapshotEnds notes that all tables are read.
func (m *meter) snapshotEnds() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.snapshot.ended = time.Now()
}
