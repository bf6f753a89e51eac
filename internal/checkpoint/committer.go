package checkpoint

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Times of a [Committer].
const (
	// writeTimeout bounds one write, so that a cache that hangs is retried.
	writeTimeout = 30 * time.Second
	// writeInterval is the least time between two writes: marks that arrive
	// meanwhile are coalesced, so that a fast stream does not keep the cache
	// busy. The first mark after a pause is written at once.
	writeInterval = 20 * time.Millisecond
	// retryFirst and retryMost are the pauses after a failed write.
	retryFirst = 200 * time.Millisecond
	retryMost  = 10 * time.Second
)

// CommitterOptions are the parts of a [Committer].
type CommitterOptions[T any] struct {
	// Save writes a mark. It is never called concurrently.
	Save func(ctx context.Context, mark T) error
	// Before reports whether mark a comes before mark b. A mark before the
	// newest is not written.
	Before func(a, b T) bool
	// OnError is told about each failed write, with the number of failures in
	// a row; OnRecover about the first write that succeeds after some.
	OnError   func(err error, failures int)
	OnRecover func(failures int)
	// Final reports whether a failed write would fail for ever: then nothing is
	// written any more. Nil: none would.
	Final func(err error) bool
}

// Committer writes marks from one goroutine, the newest only: what arrives
// during a write or a pause replaces what waits. A failed write is repeated
// until it succeeds or a newer mark takes its place.
type Committer[T any] struct {
	opts   CommitterOptions[T]
	ctx    context.Context
	cancel context.CancelFunc
	wake   chan struct{} // has room for one: something is waiting
	ending chan struct{} // closed by Close: pauses are cut short
	done   chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	newest  *T   // the greatest mark offered
	waiting bool // newest is not saved yet
	closing bool
	lastErr error
	failed  int           // writes, in all
	tried   chan struct{} // closed and replaced after every write
}

// NewCommitter starts a committer. [Committer.Close] ends it.
func NewCommitter[T any](opts CommitterOptions[T]) *Committer[T] {
	ctx, cancel := context.WithCancel(context.Background())
	c := &Committer[T]{
		opts: opts, ctx: ctx, cancel: cancel,
		wake: make(chan struct{}, 1), ending: make(chan struct{}), done: make(chan struct{}), tried: make(chan struct{}),
	}
	go c.run()
	return c
}

// Offer hands over a mark to be saved. It never blocks. A mark before one
// offered earlier is dropped.
func (c *Committer[T]) Offer(mark T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing || c.newest != nil && c.opts.Before(mark, *c.newest) {
		return
	}
	c.newest = &mark
	c.waiting = true
	c.signal()
}

// Save offers a mark and returns once it, or a newer one, is saved. The first
// write that fails meanwhile is returned; the committer tries again all the
// same.
func (c *Committer[T]) Save(ctx context.Context, mark T) error {
	c.mu.Lock()
	before := c.failed
	c.mu.Unlock()
	c.Offer(mark)
	for {
		c.mu.Lock()
		waiting, closing, failed, err, tried := c.waiting, c.closing, c.failed, c.lastErr, c.tried
		c.mu.Unlock()
		switch {
		case closing:
			return ErrClosed
		case !waiting:
			return nil
		case failed > before:
			return fmt.Errorf("saving the position: %w", err)
		}
		select {
		case <-tried:
		case <-c.ending:
		case <-c.done:
			return c.ended()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// ended returns why nothing is written any more.
func (c *Committer[T]) ended() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lastErr != nil {
		return fmt.Errorf("saving the position: %w", c.lastErr)
	}
	return ErrClosed
}

// Close saves the newest mark if it is not saved yet, trying again until ctx
// ends, and stops the committer. It returns an error if the mark could not be
// saved: the messages since the one saved before will be delivered again. A
// second call waits for the same end.
func (c *Committer[T]) Close(ctx context.Context) error {
	c.mu.Lock()
	if !c.closing {
		c.closing = true
		close(c.ending)
	}
	c.mu.Unlock()

	select {
	case <-c.done:
	case <-ctx.Done():
	}
	// A cache that ignores its context may keep the goroutine for a while
	// longer; nothing waits for it.
	c.cancel()

	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.waiting:
		return nil
	case c.lastErr != nil:
		return fmt.Errorf("saving the last position: %w", c.lastErr)
	default:
		return fmt.Errorf("saving the last position: %w", ctx.Err())
	}
}

func (c *Committer[T]) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *Committer[T]) run() {
	defer close(c.done)
	failures := 0
	for {
		mark, closing := c.take()
		if mark == nil {
			if closing || !c.wait() {
				return
			}
			continue
		}
		if err := c.save(mark); err != nil {
			failures++
			c.opts.OnError(err, failures)
			if c.opts.Final != nil && c.opts.Final(err) || !c.pause(retryPause(failures)) {
				return
			}
			continue
		}
		if failures > 0 {
			c.opts.OnRecover(failures)
			failures = 0
		}
		if !closing && !c.pause(writeInterval) {
			return
		}
	}
}

// take returns the mark to save next, nil if there is none.
func (c *Committer[T]) take() (mark *T, closing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting {
		mark = c.newest
	}
	return mark, c.closing
}

func (c *Committer[T]) save(mark *T) error {
	ctx, cancel := context.WithTimeout(c.ctx, writeTimeout)
	defer cancel()
	err := c.opts.Save(ctx, *mark)

	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastErr = err
	if err != nil {
		c.failed++
	}
	close(c.tried)
	c.tried = make(chan struct{})
	if err == nil && c.newest == mark {
		c.waiting = false
	}
	return err
}

// wait blocks until something is offered or the committer closes.
func (c *Committer[T]) wait() bool {
	select {
	case <-c.wake:
		return true
	case <-c.ending:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// pause waits between two writes. Closing cuts a pause short, and makes the
// following ones short.
func (c *Committer[T]) pause(d time.Duration) bool {
	ending := c.ending
	select {
	case <-ending:
		ending, d = nil, min(d, retryFirst)
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ending:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// retryPause doubles from retryFirst to retryMost.
func retryPause(failures int) time.Duration {
	pause := retryFirst
	for range failures - 1 {
		if pause *= 2; pause >= retryMost {
			return retryMost
		}
	}
	return pause
}
