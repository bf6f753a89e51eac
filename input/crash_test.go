package input_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

var (
	crashSeeds = flag.Int("crash.seeds", defaultSeeds, "how many seeds TestCrash runs")
	crashFirst = flag.Uint64("crash.first", 1, "the first seed TestCrash runs")
)

// TestCrash runs a random workload against a stream that is killed, rejected,
// cut off and held up at random. Whatever happens to it, its events are those
// of an undisturbed stream once repeats are dropped by position, and the
// snapshot and the stream, applied to empty tables, make the source's tables.
func TestCrash(t *testing.T) {
	for seed := *crashFirst; seed < *crashFirst+uint64(*crashSeeds); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				t.Logf("again with: -run 'TestCrash$' -crash.first %d -crash.seeds 1", seed)
				newCrashRun(t, seed).run()
			})
		})
	}
}

const crashTables = `
CREATE TABLE dbo.a (id int NOT NULL PRIMARY KEY, u int NOT NULL UNIQUE, v nvarchar(20) NULL)
CREATE TABLE dbo.b (k nvarchar(10) NOT NULL, n int NOT NULL, v int NULL, PRIMARY KEY (k, n))
`

// lastKey is part of the key of the row that ends a run.
const lastKey = `"id":1000000`

// crashRun is one seed.
type crashRun struct {
	t      *testing.T
	rng    *rand.Rand
	server *simulator.Server
	work   workload
	chaos  *chaos
	store  *store
	fields string
	told   string // fields that both streams have

	rejected bool // the output has rejected something, or may have
}

func newCrashRun(t *testing.T, seed uint64) *crashRun {
	r := &crashRun{
		t: t, rng: rand.New(rand.NewPCG(seed, 0)), store: newStore(),
		server: newServer(t, crashTables+enable("dbo", "a")+enable("dbo", "b")),
	}
	r.work = workload{rng: r.rng}
	r.chaos = &chaos{rng: rand.New(rand.NewPCG(seed, 1)), seen: make(chan struct{}, 1)}
	pick := func(values ...int) int { return values[r.rng.IntN(len(values))] }
	r.fields = fmt.Sprintf("max_batch_size: %d\ncheckpoint_limit: %d\nsnapshot_fetch_size: %d\nstreaming_fetch_size: %d\nmax_iteration_transactions: %d\nmax_queue_size: %d\npoll_interval: 2s",
		pick(1, 2, 3, 7, 100), pick(1, 4, 50), pick(2, 5, 100), pick(1, 3, 10, 1000), pick(1, 2, 500), pick(1, 5, 1000))
	if r.rng.IntN(2) == 0 {
		r.told = "\nprovide_transaction_metadata: true\ninclude_schema_changes: true"
		r.fields += r.told + "\nheartbeat_interval: 3s"
	}
	if r.rng.IntN(3) == 0 {
		r.fields += fmt.Sprintf("\nbatching: { count: %d, period: 1s }", pick(2, 5, 20))
	}
	return r
}

func (r *crashRun) run() {
	r.change(r.work.script(3 + r.rng.IntN(10)))
	undisturbed := startPipeline(r.t, r.server, settings{fields: "snapshot_mode: no_data\npoll_interval: 2s\napplication_name: undisturbed" + r.told})
	<-time.After(10 * time.Second)

	p := r.start()
	for range 6 + r.rng.IntN(6) {
		r.change(r.work.script(1 + r.rng.IntN(8)))
		p = r.disturb(p)
	}
	r.chaos.reject(0)
	r.change("INSERT dbo.a VALUES (1000000, 1000000, N'the end')")
	r.waitFor(p, lastKey)
	for !slices.ContainsFunc(undisturbed.rest(), func(m received) bool { return strings.Contains(m.Key, lastKey) }) {
		<-undisturbed.signal
	}
	delivered := r.chaos.all()
	r.compare(undisturbed.rest(), delivered)
	require.Equal(r.t, tablesOf(r.snapshot()), tablesOf(delivered), "the tables rebuilt from the events")
}

func (r *crashRun) change(script string) { change(r.t, r.server, script) }

func (r *crashRun) start() *pipeline {
	return startPipeline(r.t, r.server, settings{fields: r.fields, store: r.store, output: r.chaos.write})
}

// disturb does one thing to a stream, or nothing, and returns the stream that
// goes on.
func (r *crashRun) disturb(p *pipeline) *pipeline {
	switch r.rng.IntN(8) {
	case 0, 1:
		p = r.kill(p)
	case 2:
		r.server.Restart()
	case 3:
		p.stop()
		p = r.start()
	case 4:
		r.rejected = true
		r.chaos.reject(1 + r.rng.IntN(12))
	default:
		r.server.Control(r.fault())
	}
	<-time.After(time.Duration(r.rng.IntN(20)) * time.Second)
	return p
}

// kill lets the stream deliver for a while, takes the store as it is then, and
// starts another from it.
func (r *crashRun) kill(p *pipeline) *pipeline {
	r.chaos.killAfter(r.rng.IntN(12), r.store)
	select {
	case <-r.chaos.killed():
	case <-time.After(30 * time.Second): // there was not that much to deliver
	}
	r.store = r.chaos.bury(r.store)
	p.stop()
	r.chaos.revive()
	return r.start()
}

func (r *crashRun) fault() simulator.Fault {
	objects := []string{
		"", "select from cdc.dbo_a_ct", "select from cdc.dbo_b_ct", "select from cdc.lsn_time_mapping", "select from cdc.change_tables",
		"select from dbo.a", "select from dbo.b", "select from sys.columns", "begin", "login",
	}
	actions := []simulator.Action{
		simulator.Cut(), simulator.Stall(), simulator.RestartServer(), simulator.Delay(3 * time.Second),
		simulator.Fail(1205, 13, 51, "Transaction was deadlocked and has been chosen as the deadlock victim."),
		simulator.Fail(1222, 16, 51, "Lock request time out period exceeded."),
	}
	f := simulator.Fault{On: objects[r.rng.IntN(len(objects))], App: "sqlserver-cdc", Nth: 1 + r.rng.IntN(3), Do: actions[r.rng.IntN(len(actions))]}
	if f.On != "login" && r.rng.IntN(2) == 0 {
		f.AfterRows = int64(1 + r.rng.IntN(4))
	}
	return f
}

func (r *crashRun) waitFor(p *pipeline, key string) {
	deadline := time.After(4 * patience) // a dead network is noticed after ten minutes
	for !r.chaos.has(key) {
		select {
		case <-r.chaos.seen:
		case err := <-p.ended:
			p.ended <- err
			require.Fail(r.t, "the stream has ended", "%v; log:\n%s", err, p.logs)
		case <-deadline:
			require.Fail(r.t, "the end did not come", "log:\n%s", p.logs)
		}
	}
}

// compare expects the events of the undisturbed stream, from where the
// disturbed one's snapshot began.
//
// A batch that was handed over before another is rejected may arrive before the
// rejected one comes again; everything after that one comes again too. So what
// always holds is that the last delivery of each event is in order, and without
// rejections the first one as well, which is what dropping by the greatest
// position keeps.
func (r *crashRun) compare(undisturbed, delivered []received) {
	r.t.Helper()
	start := ""
	end := commitOf(delivered[slices.IndexFunc(delivered, func(m received) bool { return strings.Contains(m.Key, lastKey) })])
	var stream []received
	for _, m := range delivered {
		switch {
		case m.Op == "r":
			start = commitOf(m)
		case m.Kind != "heartbeat": // which repeats a position
			stream = append(stream, m)
		}
	}
	// Before are the structures that the snapshot told of; of the transaction
	// that ends the run there may be more to come.
	outside := func(m received) bool { return commitOf(m) <= start || commitOf(m) >= end }
	stream = slices.DeleteFunc(stream, outside)
	want := placed(slices.DeleteFunc(slices.Clone(undisturbed), outside))
	require.NotEmpty(r.t, want)
	require.Equal(r.t, want, placed(lastDeliveries(stream)))
	if !r.rejected {
		require.Equal(r.t, want, placed(withoutRepeats(stream)))
	}
}

// withoutRepeats drops what a consumer drops that remembers the greatest
// position.
func withoutRepeats(messages []received) (kept []received) {
	newest := ""
	for _, m := range messages {
		if m.Position > newest {
			newest = m.Position
			kept = append(kept, m)
		}
	}
	return kept
}

// lastDeliveries keeps each event where it came last.
func lastDeliveries(messages []received) (kept []received) {
	seen := map[string]bool{}
	for _, m := range slices.Backward(messages) {
		if !seen[m.Position] {
			seen[m.Position] = true
			kept = append(kept, m)
		}
	}
	slices.Reverse(kept)
	return kept
}

// commitOf returns the text of a message's commit LSN.
func commitOf(m received) string {
	commit, _, _ := strings.Cut(m.Position, "/")
	return commit
}

// snapshot reads the source's tables as they are.
func (r *crashRun) snapshot() []received {
	r.t.Helper()
	p := startPipeline(r.t, r.server, settings{fields: "application_name: undisturbed"})
	<-time.After(time.Minute)
	p.stop()
	return p.rest()
}

// tablesOf applies events to empty tables.
func tablesOf(messages []received) map[string]string {
	rows := map[string]string{}
	for _, m := range messages {
		key := m.Table + m.Key
		var envelope struct{ After json.RawMessage }
		switch {
		case m.Kind != "change":
		case m.Op == "d":
			delete(rows, key)
		case json.Unmarshal([]byte(m.Value), &envelope) == nil:
			rows[key] = string(envelope.After)
		}
	}
	return rows
}

// chaos is an output that dies and rejects on demand.
type chaos struct {
	rng  *rand.Rand
	seen chan struct{}

	mu        sync.Mutex
	delivered []received
	rejects   int
	armed     bool
	left      int // messages until the kill, once armed
	store     *store
	remains   *store // the store at the kill
	died      chan struct{}
}

var errRejected = errors.New("rejected by the test")

func (c *chaos) write(_ context.Context, batch []received) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.remains != nil {
		return errCrashed
	}
	if c.rejects > 0 && c.rng.IntN(2) == 0 {
		c.rejects--
		// An output may have delivered some of what it rejects.
		c.delivered = append(c.delivered, batch[:c.rng.IntN(len(batch)+1)]...)
		return errRejected
	}
	c.delivered = append(c.delivered, batch...)
	select {
	case c.seen <- struct{}{}:
	default:
	}
	if c.armed {
		if c.left -= len(batch); c.left <= 0 {
			c.remains = c.store.copyOf()
			close(c.died)
			return errCrashed
		}
	}
	return nil
}

// killAfter makes the output die after so many messages.
func (c *chaos) killAfter(n int, s *store) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed, c.left, c.store, c.died = true, n, s, make(chan struct{})
}

func (c *chaos) killed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.died
}

// bury returns the store that the killed stream leaves.
func (c *chaos) bury(s *store) *store {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.remains == nil {
		c.remains = s.copyOf()
	}
	return c.remains
}

func (c *chaos) revive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.armed, c.remains = false, nil
}

func (c *chaos) reject(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rejects = n
}

// all returns what was delivered, by all streams.
func (c *chaos) all() []received {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.delivered)
}

func (c *chaos) has(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.delivered, func(m received) bool { return strings.Contains(m.Key, key) })
}

// workload makes random changes. Transactions that break a constraint are
// rolled back.
type workload struct {
	rng  *rand.Rand
	next int // the last id and unique value given out
}

// script returns transactions, one a batch.
func (w *workload) script(transactions int) string {
	var b strings.Builder
	for range transactions {
		statements := 1
		if w.rng.IntN(3) == 0 {
			statements = 2 + w.rng.IntN(6)
		}
		end := "COMMIT"
		if w.rng.IntN(8) == 0 {
			end = "ROLLBACK"
		}
		b.WriteString("BEGIN TRY\nBEGIN TRAN\n")
		for range statements {
			b.WriteString(w.statement() + "\n")
		}
		b.WriteString(end + "\nEND TRY BEGIN CATCH ROLLBACK END CATCH\nGO\n")
	}
	return b.String()
}

func (w *workload) statement() string {
	id := func() int { return 1 + w.rng.IntN(max(1, w.next)) }
	switch w.rng.IntN(10) {
	case 0, 1, 2:
		w.next++
		return fmt.Sprintf("INSERT dbo.a VALUES (%[1]d, %[1]d, N'v%[1]d')", w.next)
	case 3:
		w.next++
		return fmt.Sprintf("INSERT dbo.b VALUES (N'%c', %d, %d)", 'a'+w.rng.IntN(4), w.next, w.next)
	case 4:
		return fmt.Sprintf("UPDATE dbo.a SET v = N'w%d' WHERE id %% 5 = %d", w.rng.IntN(100), w.rng.IntN(5))
	case 5:
		return "UPDATE dbo.a SET u = u + 1" // deferred: the old values meet the new ones
	case 6:
		w.next++
		return fmt.Sprintf("UPDATE dbo.a SET id = %d WHERE id = %d", w.next, id())
	case 7:
		return fmt.Sprintf("DELETE dbo.a WHERE id = %d", id())
	case 8:
		return fmt.Sprintf("DELETE dbo.b WHERE n = %d", id())
	default:
		w.next += 20
		return fmt.Sprintf("INSERT dbo.b SELECT N'x', %d - n, n FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12)) AS s(n)", w.next)
	}
}
