package input

import (
	"context"
	"sync"
)

// demand says while the pipeline asks for a batch. A source waits for room
// among the messages that are not acknowledged only then: an output that is
// merely slow must not be taken for one that waits for more messages.
type demand struct {
	mu      sync.Mutex
	asking  context.Context // of the last call that asked; at first one that has ended
	changed chan struct{}   // closed when the next call begins to ask, and replaced
}

func newDemand() demand {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	return demand{asking: ended, changed: make(chan struct{})}
}

// raise begins to ask, until ctx ends or the function returned is called.
func (d *demand) raise(ctx context.Context) (lower func()) {
	ctx, cancel := context.WithCancel(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asking = ctx
	close(d.changed)
	d.changed = make(chan struct{})
	return cancel
}

// await returns once somebody asks, with a context that ends when they do not
// any more. That may have happened meanwhile: whoever was woken has the right
// to one attempt, so that nobody is always too late.
func (d *demand) await(ctx context.Context) (context.Context, error) {
	d.mu.Lock()
	asking, changed := d.asking, d.changed
	d.mu.Unlock()
	if asking.Err() == nil {
		return asking, nil
	}
	select {
	case <-changed:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asking, nil
}
