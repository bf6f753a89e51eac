package stream

// queue is a binary heap of feeds by the position of their next event.
type queue []*feed

// push adds a feed that has a next event.
func (q *queue) push(f *feed) {
	*q = append(*q, f)
	h := *q
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].before(h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}

// pop removes the first feed.
func (q *queue) pop() {
	h := *q
	last := len(h) - 1
	h[0] = h[last]
	h[last] = nil
	*q = h[:last]
	q.fix()
}

// fix restores the order after the first feed has gone on to a later event.
func (q *queue) fix() {
	h := *q
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].before(h[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}
