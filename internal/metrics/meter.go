package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

const (
	// publishInterval is how often the gauges are set that move by themselves.
	// While nothing else happens, a tenth of the time that it lasts is enough,
	// up to publishMost.
	publishInterval = time.Second
	publishMost     = 10 * time.Second
	// maxTables is the number of tables of a database that have figures of their
	// own; others are counted together, as otherTables.
	maxTables   = 1000
	otherTables = "other"
)

// Meter keeps the figures of one database, which outlive its connections. What
// is counted is counted once a batch; what changes with time alone is published
// by a goroutine, because while the output takes nothing no other runs. It is
// safe for concurrent use.
type Meter struct {
	metrics  *Set
	interval time.Duration // the longest time between two looks for changes

	mu       sync.Mutex
	database string // empty before the first connection: nothing is published
	lag      lag
	window   window
	queue    Queue      // nil: there is no reading yet
	pending  func() int // messages handed over and not acknowledged
	snapshot snapshotFigures

	moved time.Time     // when a figure last changed not by time alone
	slow  bool          // the gauges are not set every publishInterval
	wake  chan struct{} // tells that they are to be set sooner

	labels     map[schema.TableID]string
	held       map[heldBy]int64
	commit     lsn.LSN                 // of the last event counted
	tablesAt   time.Time               // when the tables are to be looked at next
	tables     map[string]tableFigures // by label, as they were published
	statements int64                   // of the present connection, as far as they are counted
	counts     []eventCount            // of the batch being counted,
	counted    map[counted]int         // and their places in it
}

// heldBy is what held tables are counted by.
type heldBy struct{ label, reason string }

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

// NewMeter returns the figures of a database, with the longest time between two
// looks for changes.
func NewMeter(m *Set, interval time.Duration) *Meter {
	return &Meter{
		metrics: m, interval: interval, moved: time.Now(), wake: make(chan struct{}, 1),
		labels: map[schema.TableID]string{}, held: map[heldBy]int64{}, counted: map[counted]int{},
	}
}

// Connected notes a new connection, and that it is not the first.
func (m *Meter) Connected(database string, again bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.database, m.statements = database, 0
	if again {
		m.metrics.reconnects.Incr(1, database)
	} else {
		m.metrics.begin(database)
	}
}

// Name returns the database's name as the figures have it.
func (m *Meter) Name() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.database
}

// Captures notes how many tables are captured.
func (m *Meter) Captures(database string, tables int) {
	m.metrics.capturedTables.Set(int64(tables), database)
}

// Queue is what is read and not handed over.
type Queue interface {
	// Fill returns how many messages and bytes there are.
	Fill() (messages, bytes int64)
	// Capacity returns how many there may be; zero bytes: no bound.
	Capacity() (messages, bytes int64)
}

// Reads notes the queue of a new reading, and what knows how many of its
// messages are handed over and not acknowledged.
func (m *Meter) Reads(q Queue, unacknowledged func() int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queue, m.pending = q, unacknowledged
	m.move()
}

// Polled notes what a look for changes has found, and how many statements the
// connection has sent so far.
func (m *Meter) Polled(p sqlserver.Poll, statements int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	again := m.lag.silent(now, m.interval)
	if m.lag.looked(now, p) || again {
		m.move()
	}
	m.metrics.polls.Incr(1, m.database)
	m.metrics.statements.Incr(statements-m.statements, m.database)
	m.statements = statements
}

// CaughtUp notes that everything that was found is read.
func (m *Meter) CaughtUp() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lag.caughtUp() {
		m.move()
	}
}

// Stalled notes whether the capture job is known to stand still.
func (m *Meter) Stalled(yes bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lag.stalled != yes {
		m.lag.stalled = yes
		m.move()
	}
}

// Read counts a batch of the stream.
func (m *Meter) Read(b *event.Batch, upTo lsn.Position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	lastCommit := m.lag.read(b, upTo)
	if !lastCommit.IsZero() {
		m.metrics.lastCommit.Set(lastCommit.Unix(), m.database)
	}
	m.count(b)
}

// CountBatch counts a batch that is not of the stream.
func (m *Meter) CountBatch(b *event.Batch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count(b)
}

// Acknowledged notes that everything up to a place is delivered.
func (m *Meter) Acknowledged(upTo stream.Place) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.move()
	m.lag.caughtUpTo(upTo)
	m.lag.acknowledged(now, upTo.Position, func(took time.Duration, events int64) {
		m.window.add(now, took, events)
		m.metrics.deliveryTimes.Timing(took.Nanoseconds(), m.database)
	})
}

// Held notes that a table cannot be read on, for a reason, or that this is over.
// Tables that are counted together add up. They are counted here: Benthos counts
// anew from zero with each call that adds to a gauge.
func (m *Meter) Held(schemaName, table, reason string, yes bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	by := heldBy{m.label(schema.TableID{Schema: schemaName, Name: table}), reason}
	if yes {
		m.held[by]++
	} else {
		m.held[by]--
	}
	m.metrics.held.Set(m.held[by], m.database, by.label, reason)
}

// count counts the messages of a batch, those that are alike at once.
func (m *Meter) count(b *event.Batch) {
	m.move()
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
func (m *Meter) place(what counted, e *event.Message) int {
	at, known := m.counted[what]
	if !known {
		at = len(m.counts)
		m.counts = append(m.counts, eventCount{counted: what, id: schema.TableID{Schema: e.Schema, Name: e.Table}})
		m.counted[what] = at
	}
	return at
}

// label returns the label of a table.
func (m *Meter) label(id schema.TableID) string {
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

// Run publishes again and again until ctx ends.
func (m *Meter) Run(ctx context.Context) {
	timer := time.NewTimer(publishInterval)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			now := time.Now()
			m.publish(now)
			timer.Reset(m.pause(now))
		case <-m.wake:
			timer.Reset(publishInterval)
		case <-ctx.Done():
			return
		}
	}
}

// pause returns how long the gauges may stay as they are.
func (m *Meter) pause(now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := min(max(now.Sub(m.moved)/10, publishInterval), publishMost)
	m.slow = d > publishInterval
	return d
}

// move notes that a figure changes not by time alone. It needs the lock.
func (m *Meter) move() {
	m.moved = time.Now()
	if !m.slow {
		return
	}
	m.slow = false
	select {
	case m.wake <- struct{}{}:
	default: // it is awake
	}
}

// publish sets the gauges that move by themselves.
func (m *Meter) publish(now time.Time) {
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
		messages, bytes := m.queue.Fill()
		to.queueMessages.Set(messages, database)
		to.queueBytes.Set(bytes, database)
		messages, bytes = m.queue.Capacity()
		to.queueMessageCapacity.Set(messages, database)
		to.queueByteCapacity.Set(bytes, database)
		to.unacknowledged.Set(unacknowledged, database)
	}
}

// unacknowledged asks without the meter's lock: who knows calls
// [Meter.Acknowledged] under one of its own.
func (m *Meter) unacknowledged() int64 {
	m.mu.Lock()
	pending := m.pending
	m.mu.Unlock()
	if pending == nil {
		return 0
	}
	return int64(pending())
}

// snapshotFigures say how far a snapshot has come.
type snapshotFigures struct {
	known        bool // whether there is one to tell of
	begun, ended time.Time
	tables, done int
}

// publish sets the gauges of snapshots.
func (f *snapshotFigures) publish(now time.Time, to *Set, database string) {
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

// SnapshotBegins notes that so many tables are to be read, of which some are
// read already.
func (m *Meter) SnapshotBegins(tables, done int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.move()
	m.snapshot = snapshotFigures{known: true, begun: time.Now(), tables: tables, done: done}
}

// TableRead notes that a table is read.
func (m *Meter) TableRead() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.move()
	m.snapshot.done++
}

// SnapshotEnds notes that all tables are read.
func (m *Meter) SnapshotEnds() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.move()
	m.snapshot.ended = time.Now()
}
