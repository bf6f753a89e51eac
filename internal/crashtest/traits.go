package crashtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// databases are the names of those that plans are played in: the first one, or
// both.
var databases = []string{"db", "other"}

// use returns the statement that goes to a database.
func use(database string) string { return "USE " + database + "\n" }

// traits are the settings of a whole plan.
type traits struct {
	// two databases are read by one input.
	two bool
	// told has transactions and changes of structure told of.
	told bool
	// threads of the pipeline and batches in flight: with more than one the
	// engine reorders.
	threads int
	// function asks the capture instances' functions, which do not say in which
	// order a statement changed rows. With keys that are the clustered ones the
	// order of change LSNs will do.
	function bool
	// strict has one table that cannot be read stop them all. Denied plans take
	// the right to read a table away for a while, and are not strict.
	strict, denied bool
	// reread reads rows again of tables whose changes were cleaned up.
	reread bool
	// manage has the subject make and drop capture instances itself.
	manage bool
	// observe stays with the older of two capture instances.
	observe bool
	// adaptive lets the subject's pauses follow the load, structured hands its
	// values over parsed. Neither may change anything.
	adaptive, structured bool
	cache                cacheKind
	first                settings
}

// newTraits draws the traits of a plan.
func newTraits(rng *rand.Rand) traits {
	t := traits{
		two: rng.IntN(4) == 0, told: rng.IntN(2) == 0, threads: 1, function: rng.IntN(6) == 0, observe: rng.IntN(4) == 0,
		adaptive: rng.IntN(3) == 0, structured: rng.IntN(4) == 0, cache: cacheKind(rng.IntN(int(cacheKinds))),
		first: newSettings(rng),
	}
	if rng.IntN(6) == 0 {
		t.threads = 2 + rng.IntN(3)
	}
	switch {
	case rng.IntN(2) == 0:
		t.strict = true
	case !t.function && rng.IntN(4) == 0:
		t.denied = true
	}
	t.reread = rng.IntN(2) == 0
	t.manage = !t.observe && !t.denied && rng.IntN(5) == 0
	return t
}

// databases returns those that are read.
func (t traits) databases() []string {
	if t.two {
		return databases
	}
	return databases[:1]
}

// fields returns the YAML of the input's fields that both pipelines have.
func (t traits) fields(e Environment) []string {
	lines := []string{
		"database_names: [ " + strings.Join(t.databases(), ", ") + " ]",
		"on_fatal: stop", fmt.Sprint("poll_interval: ", e.Poll),
		fmt.Sprint("retriable_restart_connector_wait: ", e.seconds(10)),
		// A transaction with a table that is held is told of twice.
		fmt.Sprint("provide_transaction_metadata: ", t.told && !t.denied), fmt.Sprint("include_schema_changes: ", t.told),
	}
	if t.function {
		lines = append(lines, "data_query_mode: function")
	}
	if t.observe {
		lines = append(lines, "capture_instances: observe")
	}
	return lines
}

// ofSubject returns the YAML of the fields that the subject alone has.
func (t traits) ofSubject(e Environment) []string {
	lines := []string{fmt.Sprint("structured: ", t.structured), fmt.Sprint("strict: ", t.strict)}
	if t.reread {
		lines = append(lines, "retention_gap_policy: snapshot")
	}
	if t.manage {
		lines = append(lines, "capture_instances: manage")
	}
	if t.adaptive {
		lines = append(lines, fmt.Sprintf("poll_interval_adaptive: { floor: %v, ceiling: %v }", e.Poll/2, 4*e.Poll))
	}
	return lines
}

// settings are those of one life of the pipeline. Times are in seconds of the
// plan.
type settings struct {
	batch, checkpoint, snapshotPage, page, transactions, queue, queueBytes int
	// collect is batching.count; zero: none.
	collect   int
	heartbeat bool
}

// pick returns one of some values.
func pick(rng *rand.Rand, values ...int) int { return values[rng.IntN(len(values))] }

func newSettings(rng *rand.Rand) settings {
	s := settings{
		batch: pick(rng, 1, 2, 3, 7, 100), checkpoint: pick(rng, 1, 4, 50, 1000), snapshotPage: pick(rng, 2, 5, 100),
		page: pick(rng, 1, 3, 10, 100, 1000, 1000), transactions: pick(rng, 1, 2, 500, 500),
		queueBytes: pick(rng, 1000, 1<<20), heartbeat: rng.IntN(3) == 0,
	}
	s.queue = s.batch + pick(rng, 1, 5, 1000)
	if rng.IntN(3) == 0 {
		s.collect = pick(rng, 2, 5, 20)
	}
	return s
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
