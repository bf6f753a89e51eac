package event

import "sync"

// Batch is a sequence of messages in stream order, of one database.
type Batch struct {
	Messages []Message

	// chunk is the part of the arena that is being filled; messages hold on to
	// the full ones.
	chunk []byte
	bytes int
}

// released holds the memory of released batches' messages: of all that a batch
// is made of, it alone does not go on to the output.
var released sync.Pool // of *[]Message

// NewBatch returns an empty batch: in the memory of a released one if there is
// any, else with room for a number of messages.
func NewBatch(room int) *Batch {
	if messages, ok := released.Get().(*[]Message); ok {
		return &Batch{Messages: *messages}
	}
	return &Batch{Messages: make([]Message, 0, room)}
}

// Release gives back the memory of the messages, which must not be used any
// more. Their contents stay: keys, values and whatever else they point to.
func (b *Batch) Release() {
	clear(b.Messages)
	messages := b.Messages[:0]
	b.Messages = nil
	if cap(messages) > 0 {
		released.Put(&messages)
	}
}

// The pieces of the arena double from minChunk to maxChunk, so that a batch of
// one event stays small. Contents larger than a quarter of the greatest get a
// piece of their own, so that little is left unused.
const (
	minChunk = 4 << 10
	maxChunk = 64 << 10
)

// Bytes returns the bytes that keys and values of the batch hold, for limits
// on memory. Of structured values it is an estimate.
func (b *Batch) Bytes() int { return b.bytes }

// put copies p into the arena.
func (b *Batch) put(p []byte) []byte {
	b.bytes += len(p)
	if len(p) > maxChunk/4 {
		return append(make([]byte, 0, len(p)), p...)
	}
	if cap(b.chunk)-len(b.chunk) < len(p) {
		size := min(maxChunk, max(minChunk, 2*cap(b.chunk)))
		b.chunk = make([]byte, 0, max(size, len(p)))
	}
	start := len(b.chunk)
	b.chunk = append(b.chunk, p...)
	return b.chunk[start:len(b.chunk):len(b.chunk)]
}

// mark is a place in a batch to go back to.
type mark struct{ messages, bytes int }

func (b *Batch) mark() mark { return mark{len(b.Messages), b.bytes} }

// rollback drops the messages after a mark. Their bytes in the arena stay
// unused.
func (b *Batch) rollback(m mark) {
	clear(b.Messages[m.messages:])
	b.Messages = b.Messages[:m.messages]
	b.bytes = m.bytes
}
