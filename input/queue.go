package input

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/event"
)

// queueItems is the capacity of a queue in batches; its real bounds are
// messages and bytes.
const queueItems = 1024

// item is what waits between reading and hand-over: a batch of events, or none
// where the mark alone has moved.
type item struct {
	batch *event.Batch
	// mark holds once the batch and all before it are acknowledged.
	mark mark
}

// size returns the item's messages and bytes.
func (i item) size() (messages, bytes int) {
	if i.batch == nil {
		return 0, 0
	}
	return len(i.batch.Messages), i.batch.Bytes()
}

// queue holds what is read and not handed over: at most so many messages and
// bytes, or a single batch that exceeds them. One goroutine pushes and closes,
// one pops.
type queue struct {
	items                 chan item
	messages, bytes       *semaphore.Weighted
	maxMessages, maxBytes int64
	// held are the messages and bytes in the queue.
	heldMessages, heldBytes atomic.Int64
}

// newQueue returns a queue; zero bytes mean no bound.
func newQueue(messages, bytes int) *queue {
	q := &queue{
		items:       make(chan item, queueItems),
		messages:    semaphore.NewWeighted(int64(messages)),
		maxMessages: int64(messages),
		maxBytes:    int64(bytes),
	}
	if bytes > 0 {
		q.bytes = semaphore.NewWeighted(q.maxBytes)
	}
	return q
}

// push adds an item, waiting for room until ctx ends.
func (q *queue) push(ctx context.Context, i item) error {
	messages, bytes := i.size()
	if err := q.messages.Acquire(ctx, min(int64(messages), q.maxMessages)); err != nil {
		return context.Cause(ctx)
	}
	if q.bytes != nil {
		if err := q.bytes.Acquire(ctx, min(int64(bytes), q.maxBytes)); err != nil {
			return context.Cause(ctx)
		}
	}
	q.heldMessages.Add(int64(messages))
	q.heldBytes.Add(int64(bytes))
	select {
	case q.items <- i:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// took gives back the room of an item received from items.
func (q *queue) took(i item) {
	messages, bytes := i.size()
	q.heldMessages.Add(-int64(messages))
	q.heldBytes.Add(-int64(bytes))
	q.messages.Release(min(int64(messages), q.maxMessages))
	if q.bytes != nil {
		q.bytes.Release(min(int64(bytes), q.maxBytes))
	}
}

// Fill implements [metrics.Queue].
func (q *queue) Fill() (messages, bytes int64) { return q.heldMessages.Load(), q.heldBytes.Load() }

// Capacity implements [metrics.Queue].
func (q *queue) Capacity() (messages, bytes int64) { return q.maxMessages, q.maxBytes }

// close says that nothing more will be pushed.
func (q *queue) close() { close(q.items) }
