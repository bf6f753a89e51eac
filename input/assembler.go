package input

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/messages"
)

// errDrained says that a reading has ended and everything it read is handed
// over.
var errDrained = errors.New("nothing more to hand over")

// handover is a batch for the pipeline, or only a mark if all its messages
// were filtered or there were none.
type handover struct {
	messages service.MessageBatch
	bytes    int
	mark     mark
}

// assembler makes batches for the pipeline of what is in the queue: as they
// were read, or collected anew by a batching policy. It is not safe for
// concurrent use.
type assembler struct {
	maker  *messages.Maker
	policy *service.Batcher // nil: batches leave as they were read

	// The rest is for the policy alone.
	waiting  item // the item whose messages are being added,
	messages service.MessageBatch
	next     int // and the next one of them
	added    int // messages in the policy's batch
	bytes    int
	mark     mark // of the last message added
	full     bool // the policy asks for its batch
}

func newAssembler(maker *messages.Maker, policy service.BatchPolicy, mgr *service.Resources, start mark) (*assembler, error) {
	a := &assembler{maker: maker, mark: start}
	if policy.IsNoop() {
		return a, nil
	}
	var err error
	if a.policy, err = policy.NewBatcher(mgr); err != nil {
		return nil, fmt.Errorf("field %s: %w", fieldBatching, err)
	}
	return a, nil
}

// checkBatching finds a policy's mistakes before anything runs.
func checkBatching(policy service.BatchPolicy, mgr *service.Resources) error {
	a, err := newAssembler(nil, policy, mgr, mark{})
	if err != nil {
		return err
	}
	return a.close(context.Background())
}

// take returns the next batch. It waits until ctx ends; what it has
// collected is kept for the next call.
func (a *assembler) take(ctx context.Context, q *queue) (handover, error) {
	if a.policy == nil {
		i, err := pop(ctx, q, nil)
		if err != nil {
			return handover{}, err
		}
		h := handover{mark: i.mark}
		_, h.bytes = i.size()
		if i.batch != nil {
			h.messages = a.maker.Batch(i.batch)
			i.batch.Release()
		}
		return h, nil
	}
	for {
		a.fill()
		if a.full {
			return a.flush(ctx)
		}
		i, err := a.popUntilDue(ctx, q)
		switch {
		case err == nil:
			a.begin(i)
		case errors.Is(err, errDue), errors.Is(err, errDrained) && a.added > 0:
			return a.flush(ctx)
		default:
			return handover{}, err
		}
	}
}

// begin starts adding an item. One without messages moves the mark of what is
// collected, or leaves at once if nothing is.
func (a *assembler) begin(i item) {
	a.waiting, a.next, a.messages = i, 0, nil
	if i.batch != nil && len(i.batch.Messages) > 0 {
		a.messages = a.maker.Batch(i.batch)
		return
	}
	a.mark = i.mark
	a.full = a.added == 0
}

// fill adds messages until the policy asks for its batch or there are none.
func (a *assembler) fill() {
	from := a.next
	for !a.full && a.next < len(a.messages) {
		e := &a.waiting.batch.Messages[a.next]
		a.full = a.policy.Add(a.messages[a.next])
		a.added++
		a.bytes += len(e.Key) + len(e.Value)
		a.next++
	}
	if a.next == from {
		return
	}
	a.mark = a.waiting.markAfter(a.next-1, a.mark)
	if a.next == len(a.messages) {
		a.waiting.batch.Release()
	}
}

// markAfter returns the mark that holds after the nth message: while
// streaming each position is one, among rows only the batch's end.
func (i item) markAfter(n int, before mark) mark {
	switch {
	case n == len(i.batch.Messages)-1:
		return i.mark
	case i.mark.streaming && !i.mark.pausing():
		return i.mark.behind(i.batch.Messages[n].Position)
	default:
		return before
	}
}

func (a *assembler) flush(ctx context.Context) (handover, error) {
	h := handover{bytes: a.bytes, mark: a.mark}
	if a.added > 0 {
		var err error
		if h.messages, err = a.policy.Flush(ctx); err != nil {
			// The policy has let go of the messages: they must be read again.
			return handover{}, &rejectedError{fmt.Errorf("batching: %w", err)}
		}
	}
	a.added, a.bytes, a.full = 0, 0, false
	return h, nil
}

// errDue says that the policy's period has passed.
var errDue = errors.New("the batching period has passed")

func (a *assembler) popUntilDue(ctx context.Context, q *queue) (item, error) {
	wait, ok := a.policy.UntilNext()
	if !ok || a.added == 0 {
		return pop(ctx, q, nil)
	}
	due := time.NewTimer(wait)
	defer due.Stop()
	return pop(ctx, q, due.C)
}

// pop takes an item from the queue. An ended context comes first: nothing is
// handed over once a message is rejected.
func pop(ctx context.Context, q *queue, due <-chan time.Time) (item, error) {
	if ctx.Err() != nil {
		return item{}, context.Cause(ctx)
	}
	select {
	case i, ok := <-q.items:
		if !ok {
			return item{}, errDrained
		}
		q.took(i)
		return i, nil
	case <-due:
		return item{}, errDue
	case <-ctx.Done():
		return item{}, context.Cause(ctx)
	}
}

// close releases the policy's processors.
func (a *assembler) close(ctx context.Context) error {
	if a.policy == nil {
		return nil
	}
	return a.policy.Close(ctx)
}
