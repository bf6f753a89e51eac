package crashtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Plan is what happens to a source and to the pipeline that reads it.
type Plan struct {
	Seed  uint64
	Steps []Step
	// Skip are the numbers of steps that are left out.
	Skip map[int]bool

	traits traits
}

// Step is one thing that happens. It needs nothing of the steps before it.
type Step interface {
	do(r *run) error
	String() string
}

// traits are the settings of a whole plan.
type traits struct {
	// told has transactions and changes of structure told of.
	told bool
	// threads of the pipeline and batches in flight: with more than one the
	// engine reorders.
	threads int
	// function asks the capture instances' functions, which do not say in which
	// order a statement changed rows: key changes that meet are left out then.
	function bool
	// observe stays with the older of two capture instances.
	observe bool
	cache   cacheKind
	first   settings
}

// settings are those of one life of the pipeline. Times are in seconds of the
// plan.
type settings struct {
	batch, checkpoint, snapshotPage, page, transactions, queue, queueBytes int
	// collect is batching.count; zero: none.
	collect   int
	heartbeat bool
}

// fields returns the YAML of the input's fields that both pipelines have.
func (t traits) fields(e Environment) []string {
	lines := []string{
		"on_fatal: stop", fmt.Sprint("poll_interval: ", e.seconds(2)),
		fmt.Sprint("retriable_restart_connector_wait: ", e.seconds(10)),
		fmt.Sprint("provide_transaction_metadata: ", t.told), fmt.Sprint("include_schema_changes: ", t.told),
	}
	if t.function {
		lines = append(lines, "data_query_mode: function")
	}
	if t.observe {
		lines = append(lines, "capture_instances: observe")
	}
	return lines
}

// fields returns the YAML of the input's fields.
func (s settings) fields(e Environment) []string {
	lines := []string{
		fmt.Sprint("max_batch_size: ", s.batch), fmt.Sprint("checkpoint_limit: ", s.checkpoint),
		fmt.Sprint("snapshot_fetch_size: ", s.snapshotPage), fmt.Sprint("streaming_fetch_size: ", s.page),
		fmt.Sprint("max_iteration_transactions: ", s.transactions), fmt.Sprint("max_queue_size: ", s.queue),
		fmt.Sprint("max_queue_size_in_bytes: ", s.queueBytes),
	}
	if s.collect > 0 {
		lines = append(lines, fmt.Sprintf("batching: { count: %d, period: %v }", s.collect, e.seconds(1)))
	}
	if s.heartbeat {
		lines = append(lines, fmt.Sprint("heartbeat_interval: ", e.seconds(3)))
	}
	return lines
}

// planner makes a plan of random numbers.
type planner struct {
	rng     *rand.Rand
	work    workload
	steps   []Step
	columns int // added to table a so far
	copies  int // capture instances made so far
}

// NewPlan makes the plan of a seed.
func NewPlan(seed uint64) *Plan {
	p := &planner{rng: rand.New(rand.NewPCG(seed, 0))}
	p.work.rng = p.rng
	plan := &Plan{Seed: seed, traits: traits{
		told: p.rng.IntN(2) == 0, threads: 1, cache: cacheKind(p.rng.IntN(int(cacheKinds))), first: p.settings(),
	}}
	if p.rng.IntN(6) == 0 {
		plan.traits.threads = 2 + p.rng.IntN(3)
	}
	plan.traits.observe = p.rng.IntN(4) == 0
	plan.traits.function = p.rng.IntN(6) == 0
	p.work.apart = plan.traits.function
	p.changes(3 + p.rng.IntN(10))
	p.steps = append(p.steps, start{})
	for range 6 + p.rng.IntN(8) {
		p.changes(1 + p.rng.IntN(8))
		p.trouble()
		if p.rng.IntN(4) == 0 {
			p.structure()
		}
	}
	if p.rng.IntN(4) == 0 {
		p.lapse()
		for range 2 + p.rng.IntN(3) {
			p.changes(1 + p.rng.IntN(8))
			p.trouble()
		}
	}
	plan.Steps = p.steps
	return plan
}

func (p *planner) pick(values ...int) int { return values[p.rng.IntN(len(values))] }

func (p *planner) add(s Step) { p.steps = append(p.steps, s) }

func (p *planner) settings() settings {
	s := settings{
		batch: p.pick(1, 2, 3, 7, 100), checkpoint: p.pick(1, 4, 50, 1000), snapshotPage: p.pick(2, 5, 100),
		page: p.pick(1, 3, 10, 1000), transactions: p.pick(1, 2, 500), queue: p.pick(1, 5, 1000),
		queueBytes: p.pick(1000, 1<<20), heartbeat: p.rng.IntN(3) == 0,
	}
	if p.rng.IntN(3) == 0 {
		s.collect = p.pick(2, 5, 20)
	}
	return s
}

// changes adds transactions, each a step of its own, so that each can be left
// out.
func (p *planner) changes(n int) {
	for range n {
		switch p.rng.IntN(40) {
		case 0:
			p.huge()
		case 1, 2:
			p.add(overlap{p.work.slow(), p.work.slow()})
		default:
			p.add(change{p.work.transaction()})
		}
		if p.rng.IntN(3) == 0 {
			p.add(scan{})
		}
	}
	p.add(scan{})
}

// huge adds a transaction of hundreds of rows, and another that takes them away
// again: with them the transactions that change all rows would be as large.
func (p *planner) huge() {
	p.add(change{p.work.huge(50 + p.rng.IntN(300))})
	if p.rng.IntN(2) == 0 {
		p.changes(1)
	}
	p.add(change{"DELETE dbo.a WHERE v = N'big'\nDELETE dbo.b WHERE k = N'huge'\nGO\n"})
}

// trouble adds a misfortune, and a while in which it may happen.
func (p *planner) trouble() {
	switch p.rng.IntN(12) {
	case 0, 1, 2:
		p.add(p.kill())
	case 3:
		p.add(restart{p.settings(), p.rng.IntN(4) == 0})
	case 4, 5:
		p.add(reject{1 + p.rng.IntN(12), p.rng.Uint64()})
	case 6:
		p.add(block{1 + p.rng.IntN(60)})
	case 7:
		p.add(cutSessions{})
	case 8:
		p.add(restartServer{})
	default:
		for range 1 + p.rng.IntN(3) {
			p.add(p.fault())
		}
	}
	p.add(pause{p.rng.IntN(20)})
}

func (p *planner) kill() Step {
	k := kill{next: p.settings(), after: p.rng.IntN(12), torn: p.rng.IntN(2) == 0}
	if p.rng.IntN(2) == 0 {
		k.save, k.after = 1+p.rng.IntN(4), -1
	}
	return k
}

func (p *planner) fault() Step {
	objects := []string{
		"", "select from cdc.dbo_a_ct", "select from cdc.dbo_b_ct", "select from cdc.lsn_time_mapping", "select from cdc.change_tables",
		"select from dbo.a", "select from dbo.b", "select from sys.columns", "begin", "login",
	}
	f := Fault{
		On: objects[p.rng.IntN(len(objects))], App: subjectName, Nth: 1 + p.rng.IntN(3),
		Do: []Misfortune{Cut, Stall, Wait, Restart, Deadlock, Lockout}[p.rng.IntN(6)],
	}
	if f.On != "login" {
		switch p.rng.IntN(4) {
		case 0, 1:
			f.AfterRows = int64(1 + p.rng.IntN(4))
		case 2:
			if f.Do == Cut || f.Do == Restart || f.Do == Stall {
				f.AfterBytes = int64(1 + p.rng.IntN(2000))
			}
		}
	}
	seconds := 3
	if f.Do == Stall {
		seconds = p.pick(1, 30, 900) // the last one longer than the input waits
	}
	return fault{f, seconds}
}

// structure adds a change of a table's structure with what follows it: another
// capture instance, and later the end of the one before.
func (p *planner) structure() {
	switch p.rng.IntN(4) {
	case 0:
		p.add(cleanup{})
		return
	case 1:
		p.add(change{"ALTER TABLE dbo.a ALTER COLUMN v nvarchar(" + fmt.Sprint(30+10*p.rng.IntN(5)) + ") NULL\nGO\n"})
		p.add(scan{})
		return
	}
	p.copies++
	name := fmt.Sprint("dbo_a_", p.copies)
	if p.rng.IntN(3) == 0 && p.columns > 0 {
		column := p.work.added[p.rng.IntN(len(p.work.added))]
		p.add(change{fmt.Sprintf("IF COL_LENGTH(N'dbo.a', N'%[1]s') IS NOT NULL EXEC(N'ALTER TABLE dbo.a DROP COLUMN %[1]s')\nGO\n", column)})
	} else {
		p.columns++
		column := fmt.Sprint(addedPrefix, p.columns)
		p.work.added = append(p.work.added, column)
		p.add(change{"ALTER TABLE dbo.a ADD " + column + " int NULL\nGO\n"})
	}
	p.changes(1 + p.rng.IntN(4))
	p.add(secondInstance{name})
	p.changes(1 + p.rng.IntN(6))
	p.trouble()
	p.changes(1 + p.rng.IntN(4))
	p.add(dropOldInstance{})
}

// lapse adds something that takes changes away before they are read. The
// pipeline must say so, and starts afresh.
func (p *planner) lapse() {
	p.add(lapse{how: lapseKind(p.rng.IntN(int(lapseKinds))), changes: p.work.transaction() + p.work.transaction(), next: p.settings()})
}

// handsOver reports whether a table gets a second capture instance.
func (p *Plan) handsOver() bool {
	for i, s := range p.Steps {
		if _, is := s.(secondInstance); is && !p.Skip[i] {
			return true
		}
	}
	return false
}

// String lists the steps with their numbers.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %+v\n", p.Seed, p.traits)
	for i, s := range p.Steps {
		if !p.Skip[i] {
			fmt.Fprintf(&b, "%4d  %s\n", i, strings.ReplaceAll(strings.TrimSuffix(s.String(), "\nGO\n"), "\n", "\n      "))
		}
	}
	return b.String()
}
