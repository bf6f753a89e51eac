package input

import (
	"context"
	"time"
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

// pause waits as long as is due.
func (p *pace) pause(ctx context.Context, policy retryPolicy) error {
	timer := time.NewTimer(policy.pause(p.times))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
