package input

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pauses before reading starts again.
const (
	pauseFirst = 100 * time.Millisecond
	pauseMost  = 10 * time.Second
)

// pace counts how often in a row reading has started again from the same
// place, and slows it down.
type pace struct {
	at    string
	times int
}

// next counts another start from a place; see [mark.place].
func (p *pace) next(at string) (times int) {
	if p.times > 0 && p.at != at {
		p.times = 0
	}
	p.at = at
	p.times++
	return p.times
}

// length returns how long to wait: doubling from pauseFirst to pauseMost, less
// up to a quarter so that many sources do not come back at once.
func (p *pace) length() time.Duration {
	d := pauseMost
	if p.times < 8 {
		d = min(d, pauseFirst<<(p.times-1))
	}
	return d - rand.N(d/4)
}

// pause waits as long as is due.
func (p *pace) pause(ctx context.Context) error {
	timer := time.NewTimer(p.length())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
