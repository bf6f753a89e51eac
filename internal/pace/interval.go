package pace

import (
	"math/rand/v2"
	"time"
)

// Bounds are between what an interval adapts; zero: it does not.
type Bounds struct{ Floor, Ceiling time.Duration }

// Interval is the pause between two looks for changes. If it adapts, it is
// halved by a pass with changes, down to a floor, and doubled by one without, up
// to a ceiling.
//
// The first pause is a part of what is due, by chance: pipelines that are started
// together, or come back to a server together, would otherwise ask it together
// for ever.
type Interval struct {
	now     time.Duration
	bounds  Bounds
	changes bool // since the last pause
	begun   bool // there was a pause
}

// NewInterval returns a fixed interval, or one that adapts and begins there.
func NewInterval(fixed time.Duration, b Bounds) Interval {
	if b == (Bounds{}) {
		b = Bounds{fixed, fixed}
	}
	return Interval{now: fixed, bounds: b}
}

// Saw notes that there are changes.
func (i *Interval) Saw() { i.changes = true }

// Next returns the pause after a pass.
func (i *Interval) Next() time.Duration {
	if i.changes {
		i.now /= 2
	} else {
		i.now *= 2
	}
	i.now = min(max(i.now, i.bounds.Floor), i.bounds.Ceiling)
	i.changes = false
	if !i.begun {
		i.begun = true
		return rand.N(max(i.now, 1))
	}
	return i.now
}
