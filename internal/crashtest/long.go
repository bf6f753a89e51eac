package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

// Long is one pipeline that runs for very long: rows are changed again and
// again while things go wrong now and then. Nothing may be lost, and the memory
// of this process, which holds the pipeline and no more than a number for each
// row, may not grow. Proc file systems tell it, so that it needs Linux.
type Long struct {
	Events, Faults int
	Seed           uint64
}

// longRows is how many rows are changed by each statement.
const longRows = 1000

// long is a Long that runs.
type long struct {
	Long
	env    Environment
	server Server
	rng    *rand.Rand
	cache  *streamtest.Cache

	mu       sync.Mutex
	versions map[int]int // of each row, as delivered
	commit   string      // of the newest change delivered
	reject   bool        // the next batch
	lost     error
	resident []int64 // bytes, one sample a round
}

// Run plays it and returns a summary.
func (l Long) Run(e Environment) (summary string, err error) {
	server, err := e.Server()
	if err != nil {
		return "", fmt.Errorf("starting the server: %w", err)
	}
	run := &long{
		Long: l, env: e, server: server, rng: rand.New(rand.NewPCG(l.Seed, 3)),
		cache: streamtest.NewCache(), versions: map[int]int{},
	}
	err = run.play()
	middle, last := run.thirds()
	summary = fmt.Sprintf("%d rounds of %d changes, %d faults, resident memory %d MiB in the middle third and %d MiB in the last",
		len(run.resident), longRows, l.Faults, middle>>20, last>>20)
	if err == nil && last > middle+middle/10+16<<20 {
		err = fmt.Errorf("memory grows: %s", summary)
	}
	return summary, errors.Join(err, server.Close())
}

func (l *long) play() error {
	err := l.server.Exec("CREATE DATABASE " + database + "\nGO\n" + useDatabase + `EXEC sys.sp_cdc_enable_db
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int NOT NULL)
` + fmt.Sprintf("INSERT dbo.t SELECT value, 0 FROM GENERATE_SERIES(1, %d)\n", longRows) + capture("t", "dbo_t"))
	if err != nil {
		return fmt.Errorf("preparing the source: %w", err)
	}
	fatal := make(chan error, 1)
	stream, err := streamtest.Start(streamtest.Config{
		Input: inputYAML(subjectName, []string{
			"on_fatal: stop", fmt.Sprint("poll_interval: ", l.env.seconds(2)), fmt.Sprint("retriable_restart_connector_wait: ", l.env.seconds(10)),
		}),
		Options: []input.Option{input.WithDialer(l.server.Dial), input.WithOnStop(func(err error) { fatal <- err })},
		Cache:   l.cache, Output: l.take,
	})
	if err != nil {
		return err
	}
	err = l.rounds(fatal)
	return errors.Join(err, stream.Stop(l.env.Patience))
}

// rounds changes all rows, again and again.
func (l *long) rounds(fatal <-chan error) error {
	rounds := max(1, l.Events/longRows)
	for round := 1; round <= rounds; round++ {
		// Faults are spread evenly over the rounds.
		for range l.Faults*round/rounds - l.Faults*(round-1)/rounds {
			if err := l.misfortune(); err != nil {
				return err
			}
		}
		if err := errors.Join(l.server.Exec(useDatabase+"UPDATE dbo.t SET v = v + 1"), l.server.Capture(database)); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if err := l.await(round, fatal); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if round%20 == 0 {
			if err := l.server.Exec(useDatabase + longCleanup); err != nil {
				return err
			}
		}
		resident, err := residentMemory()
		if err != nil {
			return err
		}
		l.resident = append(l.resident, resident)
	}
	return nil
}

// longCleanup leaves the newest transaction.
const longCleanup = `DECLARE @low binary(10) = (SELECT MAX([__$start_lsn]) FROM cdc.dbo_t_CT)
EXEC sys.sp_cdc_cleanup_change_table @capture_instance = N'dbo_t', @low_water_mark = @low
`

// await waits until a round is delivered and saved.
func (l *long) await(round int, fatal <-chan error) error {
	deadline := time.After(l.env.Patience)
	for {
		whole, err := l.has(round)
		if whole || err != nil {
			return err
		}
		select {
		case err := <-fatal:
			return fmt.Errorf("the pipeline gave up: %w", err)
		case <-time.After(l.env.seconds(5)):
		case <-deadline:
			if l.env.OnStuck != nil {
				l.env.OnStuck()
			}
			return fmt.Errorf("not delivered in %v", l.env.Patience)
		}
	}
}

// has reports whether all rows have the version of a round, and the position
// behind them is saved.
func (l *long) has(round int) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil || len(l.versions) < longRows {
		return false, l.lost
	}
	for _, version := range l.versions {
		if version < round {
			return false, nil
		}
	}
	for key, value := range l.cache.Values() {
		if bytes.Contains([]byte(key), []byte(".position.")) && l.commit != "" && savedCommit(value) >= l.commit {
			return true, nil
		}
	}
	// A snapshot that holds the round has no change to wait for.
	return l.commit == "", nil
}

// misfortune lets something go wrong.
func (l *long) misfortune() error {
	switch l.rng.IntN(10) {
	case 0:
		return l.server.Restart()
	case 1:
		return cutSessions{}.do(&run{server: l.server})
	case 2, 3:
		l.mu.Lock()
		l.reject = true
		l.mu.Unlock()
		return nil
	}
	objects := []string{"", "select from cdc.dbo_t_ct", "select from cdc.lsn_time_mapping"}
	return l.server.Arm(Fault{
		On: objects[l.rng.IntN(len(objects))], App: subjectName, Nth: 1, AfterRows: int64(l.rng.IntN(20)),
		Do: []Misfortune{Cut, Stall, Wait, Deadlock, Lockout}[l.rng.IntN(5)], Time: l.env.seconds(30),
	})
}

// take is the output: each row's versions follow each other, but for repeats.
func (l *long) take(_ context.Context, batch service.MessageBatch) error {
	events, err := eventsOf(batch)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reject {
		l.reject = false
		return errRejected
	}
	for _, e := range events {
		if e.Kind != kindChange {
			continue
		}
		var v struct{ After struct{ ID, V int } }
		if err := json.Unmarshal([]byte(e.Value), &v); err != nil {
			return err
		}
		was, known := l.versions[v.After.ID]
		if known && v.After.V > was+1 && l.lost == nil {
			l.lost = fmt.Errorf("%v comes after version %d: something is lost", e, was)
		}
		l.versions[v.After.ID] = max(was, v.After.V)
		if e.Op != opRead {
			l.commit = max(l.commit, e.commit())
		}
	}
	return nil
}

// thirds returns the mean of the samples' middle and last third.
func (l *long) thirds() (middle, last int64) {
	n := len(l.resident) / 3
	mean := func(samples []int64) (sum int64) {
		for _, s := range samples {
			sum += s
		}
		return sum / int64(max(1, len(samples)))
	}
	return mean(l.resident[n : 2*n]), mean(l.resident[2*n:])
}

// residentMemory returns the resident memory of this process, in bytes.
// Source: proc(5), /proc/pid/statm, whose second number counts pages.
func residentMemory() (int64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, fmt.Errorf("reading /proc/self/statm: %q", text)
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err
}
