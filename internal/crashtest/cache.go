package crashtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// cacheKind is how the cache behaves.
type cacheKind int

const (
	quick cacheKind = iota
	slow            // takes a second now and then: closing waits for a few
	flaky           // fails now and then, at most so often in a life
	cacheKinds
)

func (k cacheKind) String() string { return [...]string{"quick", "slow", "flaky"}[k] }

// flakiest is how often a flaky cache fails in a life. The input tries again
// after a pause that no setting shortens.
const flakiest = 20

var errFlaky = errors.New("the cache is not there for a moment")

// mood returns what a cache of a kind does before it keeps a value. Flaky ones
// fail after they have kept it, too, which the second result tells.
func (k cacheKind) mood(e Environment, rng *rand.Rand) func(ctx context.Context) (err error, keep bool) {
	var mu sync.Mutex // the documents of an input are saved side by side
	failures := 0
	fails := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if failures == flakiest || rng.IntN(4) != 0 {
			return false
		}
		failures++
		return true
	}
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(n)
	}
	return func(ctx context.Context) (error, bool) {
		switch k {
		case slow:
			select {
			case <-time.After(e.seconds(draw(2))):
			case <-ctx.Done():
				return ctx.Err(), false
			}
		case flaky:
			if fails() {
				return errFlaky, draw(2) == 0
			}
		}
		return nil, true
	}
}
