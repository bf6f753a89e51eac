package event

// Batch is a sequence of messages in stream order, of one database.
type Batch struct {
	Messages []Message

	// chunk is the part of the arena that is being filled; messages hold on to
	// the full ones.
	chunk []byte
	bytes int
}

// chunkSize is the size of a piece of the arena. Contents larger than a
// quarter of it get a piece of their own, so that little is left unused.
const chunkSize = 64 << 10

// Bytes returns the bytes that keys and values of the batch hold, for limits
// on memory.
func (b *Batch) Bytes() int { return b.bytes }

// put copies p into the arena.
func (b *Batch) put(p []byte) []byte {
	b.bytes += len(p)
	if len(p) > chunkSize/4 {
		return append(make([]byte, 0, len(p)), p...)
	}
	if cap(b.chunk)-len(b.chunk) < len(p) {
		b.chunk = make([]byte, 0, chunkSize)
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
