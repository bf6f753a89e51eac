package checkpoint

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/Jeffail/checkpoint"
)

// StallAfter is how long a full [Tracker] waits for an acknowledgement before
// it takes the output for one that waits for more messages.
const StallAfter = 5 * time.Second

// CautiousFor is how long a cautious [Tracker] waits for an acknowledgement
// before it goes up to its limit.
const CautiousFor = time.Second

// ErrClosed is returned by [Tracker.Track] and [Committer.Save] after Close.
var ErrClosed = errors.New("already closed")

// TrackerOptions are the bounds and hooks of a [Tracker].
type TrackerOptions[T any] struct {
	// Limit is the number of messages that may be handed over and
	// unacknowledged. A batch that alone exceeds it passes when nothing else
	// is pending.
	Limit int
	// Cautious hands over one batch at first, and then no more than was
	// acknowledged, up to Limit: so the next rejection costs no more than what was
	// gained since the one before.
	Cautious bool
	// Extra is the number of messages handed over beyond Limit once the
	// tracker has been full for [StallAfter] without any acknowledgement, and
	// ExtraBytes their size, 0 for no bound. An output that collects more
	// messages than Limit before it sends would otherwise stall for ever.
	Extra      int
	ExtraBytes int
	// OnStall is called once, when Extra is opened.
	OnStall func()
	// OnAdvance receives the highest mark before which everything is
	// acknowledged, each time it moves, in order and never concurrently. It
	// must not block or call the tracker.
	OnAdvance func(mark T)
}

// Tracker follows the messages of one session from hand-over to
// acknowledgement. It is safe for concurrent use.
type Tracker[T any] struct {
	opts TrackerOptions[T]

	mu         sync.Mutex
	cautious   bool // no more may be unacknowledged than gained
	gained     int  // messages acknowledged
	marks      *checkpoint.Uncapped[T]
	messages   int // unacknowledged, whatever their order
	beyond     int // bytes of unacknowledged batches handed over beyond Limit
	extended   bool
	waited     time.Duration // by calls that ended, since the last acknowledgement
	closed     bool
	changed    chan struct{} // closed and replaced at every acknowledgement
	lastHanded T
}

// NewTracker returns a tracker that has nothing pending. Start is the mark to
// report for messages that carry none of their own.
func NewTracker[T any](start T, opts TrackerOptions[T]) *Tracker[T] {
	return &Tracker[T]{
		opts:       opts,
		cautious:   opts.Cautious,
		marks:      checkpoint.NewUncapped[T](),
		changed:    make(chan struct{}),
		lastHanded: start,
	}
}

// Track registers the next batch in order: n messages of so many bytes, and
// the mark that holds once they and everything before them is acknowledged. A
// nil mark means that the batch alone moves nothing. It blocks while the
// tracker is full. The function returned acknowledges the batch; calling it
// again, or after Close, changes nothing.
func (t *Tracker[T]) Track(ctx context.Context, mark *T, n, bytes int) (ack func(), err error) {
	began, stall := time.Now(), time.NewTimer(t.patience())
	defer stall.Stop()
	for {
		ack, changed, err := t.tryTrack(mark, n, bytes)
		if ack != nil || err != nil {
			return ack, err
		}
		select {
		case <-ctx.Done():
			t.gaveUp(began, changed)
			return nil, context.Cause(ctx)
		case <-changed:
			began = time.Now()
			stall.Reset(t.patience())
		case <-stall.C:
			if t.endCaution() {
				began = time.Now()
				stall.Reset(StallAfter)
			} else {
				t.extend()
			}
		}
	}
}

// patience returns how much longer to wait until it is a stall.
func (t *Tracker[T]) patience() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	patience := StallAfter
	if t.cautious {
		patience = CautiousFor
	}
	return max(0, patience-t.waited)
}

// endCaution goes up to the limit, and reports whether that was news.
func (t *Tracker[T]) endCaution() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	ended := t.cautious
	t.cautious = false
	if ended {
		t.waited = 0
	}
	return ended
}

// limit is the number of messages that may be unacknowledged at present.
func (t *Tracker[T]) limit() int {
	if t.cautious {
		return min(t.gained, t.opts.Limit)
	}
	return t.opts.Limit
}

// gaveUp leaves the time waited to the next call, unless there was an
// acknowledgement meanwhile. A caller may be called off again and again, each
// time too soon for a stall to be noticed.
func (t *Tracker[T]) gaveUp(began time.Time, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if changed == t.changed {
		t.waited += time.Since(began)
	}
}

// tryTrack registers the batch if there is room, and otherwise returns the
// channel that is closed when that may have changed.
func (t *Tracker[T]) tryTrack(mark *T, n, bytes int) (ack func(), changed <-chan struct{}, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, nil, ErrClosed
	}
	after := t.messages + n
	beyond := 0
	if after > t.limit() && t.messages > 0 {
		beyond = bytes
		if !t.admitsBeyond(after, bytes) {
			return nil, t.changed, nil
		}
	}
	t.messages = after
	t.beyond += beyond
	if mark != nil {
		t.lastHanded = *mark
	}
	resolve := t.marks.Track(t.lastHanded, int64(n))
	return sync.OnceFunc(func() { t.acknowledge(resolve, n, beyond) }), nil, nil
}

// admitsBeyond is the rule for batches past the limit.
func (t *Tracker[T]) admitsBeyond(after, bytes int) bool {
	if !t.extended || after > t.opts.Limit+t.opts.Extra {
		return false
	}
	return t.opts.ExtraBytes == 0 || t.beyond+bytes <= t.opts.ExtraBytes
}

func (t *Tracker[T]) extend() {
	t.mu.Lock()
	first := !t.extended
	t.extended = true
	t.mu.Unlock()
	if first && t.opts.OnStall != nil {
		t.opts.OnStall()
	}
}

func (t *Tracker[T]) acknowledge(resolve func() *T, n, beyond int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.messages -= n
	t.beyond -= beyond
	t.waited = 0
	t.gained += n
	t.cautious = t.cautious && t.gained < t.opts.Limit
	t.resolve(resolve)
	close(t.changed)
	t.changed = make(chan struct{})
}

// resolve reports the highest mark if it moved. Reporting under the lock is
// what keeps marks in order.
func (t *Tracker[T]) resolve(resolve func() *T) {
	before := t.marks.Highest()
	if mark := resolve(); mark != before && t.opts.OnAdvance != nil {
		t.opts.OnAdvance(*mark)
	}
}

// Advance registers a mark that no message carries: it holds once everything
// handed over so far is acknowledged.
func (t *Tracker[T]) Advance(mark T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.lastHanded = mark
	t.resolve(t.marks.Track(mark, 0))
}

// HandedOver returns the mark of the last batch or advance.
func (t *Tracker[T]) HandedOver() T {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lastHanded
}

// Unacknowledged returns the number of messages handed over and not
// acknowledged.
func (t *Tracker[T]) Unacknowledged() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.messages
}

// Close ends the session: later acknowledgements change nothing, and no mark
// is reported after Close has returned.
func (t *Tracker[T]) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	t.closed = true
	close(t.changed)
}
