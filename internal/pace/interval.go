package pace

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"time"
)

// Bounds are between what an interval adapts; zero: it does not.
type Bounds struct{ Floor, Ceiling time.Duration }

// Interval is the pause between two looks for changes. If it adapts, it is
// halved by a pass with changes, down to a floor, and doubled by one without, up
// to a ceiling.
//
// The first pause is a part of what is due, which part depends on who looks:
// pipelines that are started together, or come back to a server together, would
// otherwise ask it together for ever.
type Interval struct {
	now     time.Duration
	bounds  Bounds
	who     uint64
	changes bool // since the last pause
	begun   bool // there was a pause
}

// NewInterval returns the interval of who looks: a fixed one, or one that adapts
// and begins there.
func NewInterval(who string, fixed time.Duration, b Bounds) Interval {
	if b == (Bounds{}) {
		b = Bounds{fixed, fixed}
	}
	sum := sha256.Sum256([]byte(who))
	return Interval{now: fixed, bounds: b, who: binary.BigEndian.Uint64(sum[:])}
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
		part, _ := bits.Mul64(i.who, uint64(i.now)) // of 2^64
		return time.Duration(part)
	}
	return i.now
}
