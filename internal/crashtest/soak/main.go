// Soak plays random plans of package crashtest in real time, each against a
// simulator in a process of its own, and ends with a summary.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/crashtest"
)

var (
	seeds    = flag.Int("seeds", 1000, "how many plans to play")
	first    = flag.Uint64("first", 0, "the seed of the first one; 0: fresh ones")
	skip     = flag.String("skip", "", "numbers of steps to leave out, with commas between them")
	parallel = flag.Int("parallel", 6, "how many plans to play at once")
	attempts = flag.Int("shrink", 100, "how many smaller plans to try of one that fails")
	events   = flag.Int("events", 0, "instead of plans, change so many rows under one pipeline, and watch its memory")
	faults   = flag.Int("faults", 1000, "how many things go wrong meanwhile, with -events")
	serve    = flag.Bool("serve", false, "be the process of a simulator")
)

func main() {
	flag.Parse()
	var err error
	switch {
	case *serve:
		err = crashtest.Serve(flag.Arg(0), flag.Arg(1))
	case *events > 0:
		err = long()
	default:
		err = soak()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// long runs one pipeline for very long.
func long() error {
	if *first == 0 {
		*first = rand.Uint64N(1 << 40)
	}
	summary, err := crashtest.Long{
		Events: *events, Faults: *faults, Seed: *first,
		Progress: func(summary string) { fmt.Println("so far:", summary) },
	}.Run(environment())
	summary = fmt.Sprintf("soak-long: seed %d, %s", *first, summary)
	if err != nil {
		return fmt.Errorf("%s\n%w", summary, err)
	}
	fmt.Println(summary)
	return nil
}

func soak() error {
	if *first == 0 {
		*first = rand.Uint64N(1 << 40)
	}
	skipped, err := numbers(*skip)
	if err != nil {
		return err
	}
	began := time.Now()
	next := make(chan uint64)
	var (
		players  sync.WaitGroup
		mu       sync.Mutex
		total    crashtest.Result
		coverage = crashtest.Coverage{}
		played   int
		failed   []uint64
	)
	for range *parallel {
		players.Go(func() {
			for seed := range next {
				plan := crashtest.NewPlan(seed)
				plan.Skip = skipped
				result, err := plan.Run(environment())
				if err != nil {
					report(plan, err)
				}
				mu.Lock()
				total.Add(result)
				coverage.Add(plan)
				if played++; played%100 == 0 {
					fmt.Printf("so far: %d plans, %d failed, %v\n", played, len(failed), time.Since(began).Round(time.Second))
				}
				if err != nil {
					failed = append(failed, seed)
				}
				mu.Unlock()
			}
		})
	}
	for seed := *first; seed < *first+uint64(*seeds); seed++ {
		next <- seed
	}
	close(next)
	players.Wait()
	fmt.Printf("plans with each feature:\n%v", coverage)
	summary := fmt.Sprintf("soak: %d plans from seed %d, %d failed %v, %v, %v", *seeds, *first, len(failed), failed, total, time.Since(began).Round(time.Second))
	if len(failed) > 0 {
		return errors.New(summary)
	}
	fmt.Println(summary)
	return nil
}

// environment is real time, in which a second of a plan is a millisecond. Looks
// for changes are a little rarer: they are all that two pipelines do while they
// wait, and take time from other plans.
func environment() crashtest.Environment {
	return crashtest.Environment{
		Second: time.Millisecond, Poll: 10 * time.Millisecond, Patience: 2 * time.Minute,
		Server:  func() (crashtest.Server, error) { return crashtest.NewProcessServer(os.Args[0], "-serve") },
		OnStuck: dump,
	}
}

// dump writes what every goroutine does to a file of its own.
func dump() {
	file, err := os.CreateTemp("", "soak-stuck-*.txt")
	if err == nil {
		err = errors.Join(pprof.Lookup("goroutine").WriteTo(file, 2), file.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "writing goroutines:", err)
		return
	}
	fmt.Println("what every goroutine does is in", file.Name())
}

// report looks for a smaller plan that fails and prints it. What fails once
// may not fail again, so each is played a few times.
func report(plan *crashtest.Plan, err error) {
	fmt.Printf("seed %d fails: %v\nlooking for a smaller plan\n", plan.Seed, err)
	plan, err = crashtest.Shrink(plan, err, func(p *crashtest.Plan) error {
		for range 3 {
			if _, err := p.Run(environment()); err != nil {
				return err
			}
		}
		return nil
	}, *attempts)
	var left []string
	for n := range plan.Skip {
		left = append(left, strconv.Itoa(n))
	}
	slices.Sort(left)
	fmt.Printf("%v\n%v\nagain with: go run ./internal/crashtest/soak -first %d -seeds 1 -skip '%s'\n", err, plan, plan.Seed, strings.Join(left, ","))
}

func numbers(list string) (map[int]bool, error) {
	set := map[int]bool{}
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("reading -skip: %w", err)
		}
		set[n] = true
	}
	return set, nil
}
