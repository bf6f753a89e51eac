package sqlserver

import (
	"context"
	"math/rand/v2"
	"time"
)

// How often and how patiently [Retry] tries.
const (
	retryAttempts = 10
	retryFirst    = 100 * time.Millisecond
	retryLast     = 10 * time.Second
)

// Retry runs f until it succeeds or fails with something that running it again
// does not cure, waiting longer each time. It gives up after ten attempts.
func Retry(ctx context.Context, f func() error) error {
	wait := retryFirst
	for attempt := 1; ; attempt++ {
		err := f()
		if Classify(err) != ClassRetry || attempt == retryAttempts {
			return err
		}
		// Jitter keeps two victims of one deadlock from meeting again.
		timer := time.NewTimer(wait/2 + rand.N(wait/2))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		wait = min(2*wait, retryLast)
	}
}
