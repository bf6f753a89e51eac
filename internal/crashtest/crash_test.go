package crashtest_test

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/crashtest"
)

var (
	seeds     = flag.Int("seeds", defaultSeeds, "how many plans TestCrash plays")
	firstSeed = flag.Uint64("first", 1, "the seed of the first one")
	skip      = flag.String("skip", "", "numbers of steps to leave out, with commas between them")
	attempts  = flag.Int("shrink", 300, "how many smaller plans to try of one that fails")
)

// Plans live in little memory and make much garbage: collected less often, they
// take a third less time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// TestCrash plays random plans. Whatever happens to a pipeline, its events are
// those of one that nothing happens to once repeats are dropped by position,
// and the snapshot and the stream, applied to empty tables, make the source's.
func TestCrash(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+uint64(*seeds); seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			plan := crashtest.NewPlan(seed)
			plan.Skip = skipped(t)
			err := play(t, plan)
			if err == nil {
				return
			}
			t.Logf("seed %d fails: %v\nlooking for a smaller plan", seed, err)
			plan, err = crashtest.Shrink(plan, err, func(p *crashtest.Plan) error { return play(t, p) }, *attempts)
			t.Fatalf("%v\n%v\nagain with: go test ./internal/crashtest -run '^TestCrash$' -count 1 -first %d -seeds 1 -skip '%s'",
				err, plan, seed, numbers(plan.Skip))
		})
	}
}

// play plays a plan in a bubble of virtual time.
func play(t *testing.T, p *crashtest.Plan) (err error) {
	synctest.Test(t, func(*testing.T) { _, err = p.Run(crashtest.Virtual()) })
	return err
}

func skipped(t *testing.T) map[int]bool {
	set := map[int]bool{}
	for _, text := range strings.FieldsFunc(*skip, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		set[n] = true
	}
	return set
}

func numbers(set map[int]bool) string {
	var list []int
	for n := range set {
		list = append(list, n)
	}
	slices.Sort(list)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}
