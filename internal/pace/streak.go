package pace

import (
	"context"
	"time"
)

// Streak counts how often in a row reading has started again from the same
// place, and slows it down. The zero value has counted nothing.
type Streak struct {
	at    string
	times int
}

// Next counts another start, from a place that is told from others by any text.
func (s *Streak) Next(at string) (times int) {
	if s.times > 0 && s.at != at {
		s.times = 0
	}
	s.at = at
	s.times++
	return s.times
}

// Times returns how many starts in a row there were.
func (s *Streak) Times() int { return s.times }

// Pause waits as long as is due, or until ctx ends.
func (s *Streak) Pause(ctx context.Context, policy Retry) error {
	timer := time.NewTimer(policy.Pause(s.times))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
