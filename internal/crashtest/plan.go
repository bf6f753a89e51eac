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

	traits   traits
	features features
}

// Step is one thing that happens. It needs nothing of the steps before it.
type Step interface {
	do(r *run) error
	String() string
}

// NewPlan makes the plan of a seed.
func NewPlan(seed uint64) *Plan {
	rng := rand.New(rand.NewPCG(seed, 0))
	traits := newTraits(rng)
	p := newPlanner(rng, traits)
	p.plan()
	return &Plan{Seed: seed, Steps: p.steps, traits: traits, features: p.features}
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
