package crashtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What plans are to be examples of must occur in those that go test plays, and
// in a soak often.
func TestCoverage(t *testing.T) {
	for name, c := range map[string]struct{ plans, fewest int }{
		"of go test": {50, 1},
		"of a soak":  {1000, 20},
	} {
		t.Run(name, func(t *testing.T) {
			coverage := Coverage{}
			for seed := range c.plans {
				coverage.Add(NewPlan(uint64(seed) + 1))
			}
			assert.Empty(t, coverage.Missing(c.fewest))
			t.Logf("plans with each feature:\n%v", coverage)
		})
	}
}
