package metrics

import (
	"math/bits"
	"time"
)

// windowHalf is how long samples are collected before the older half of them is
// forgotten: figures are about the last one to two minutes.
const windowHalf = time.Minute

// window keeps the distribution of the durations of the last minutes in a fixed
// amount of memory.
type window struct {
	recent, older histogram
	turned        time.Time
}

// add adds a duration that so many events had.
func (w *window) add(now time.Time, d time.Duration, events int64) {
	w.turn(now)
	w.recent.add(max(d, 0).Milliseconds(), events)
}

// stats returns the figures at a moment.
func (w *window) stats(now time.Time) stats {
	w.turn(now)
	if w.older.n == 0 {
		return w.recent.stats()
	}
	both := w.older
	both.merge(&w.recent)
	return both.stats()
}

// turn forgets what is too old.
func (w *window) turn(now time.Time) {
	switch age := now.Sub(w.turned); {
	case age < windowHalf:
		return
	case age < 2*windowHalf:
		w.older = w.recent
	default:
		w.older = histogram{}
	}
	w.recent, w.turned = histogram{}, now
}

// stats are figures of a distribution, in milliseconds; zero without samples.
type stats struct{ min, max, average, p50, p95, p99 int64 }

// A histogram has 2^subBits buckets for each power of two, so that a percentile
// is at most a sixteenth too high.
const (
	subBits = 4
	buckets = (64 - subBits) << subBits
)

// histogram is a distribution of numbers that are not negative.
type histogram struct {
	counts             [buckets]int64
	n, sum, least, top int64
}

func (h *histogram) add(v, times int64) {
	if h.n == 0 || v < h.least {
		h.least = v
	}
	h.top = max(h.top, v)
	h.n += times
	h.sum += v * times
	h.counts[bucketOf(v)] += times
}

func (h *histogram) merge(o *histogram) {
	if o.n == 0 {
		return
	}
	if h.n == 0 || o.least < h.least {
		h.least = o.least
	}
	h.top = max(h.top, o.top)
	h.n += o.n
	h.sum += o.sum
	for i, n := range o.counts {
		h.counts[i] += n
	}
}

func (h *histogram) stats() stats {
	if h.n == 0 {
		return stats{}
	}
	return stats{
		min: h.least, max: h.top, average: h.sum / h.n,
		p50: h.percentile(50), p95: h.percentile(95), p99: h.percentile(99),
	}
}

// percentile returns the greatest number of the bucket in which it lies.
func (h *histogram) percentile(p int64) int64 {
	rank := (h.n*p + 99) / 100
	for i, n := range h.counts {
		if rank -= n; rank <= 0 {
			return min(topOf(i), h.top)
		}
	}
	return h.top
}

// bucketOf returns the bucket of a number: those below 2^subBits have their own.
func bucketOf(v int64) int {
	if v < 1<<subBits {
		return int(v)
	}
	shift := bits.Len64(uint64(v)) - subBits - 1
	return (shift+1)<<subBits + int(v>>shift) - 1<<subBits
}

// topOf returns the greatest number of a bucket.
func topOf(bucket int) int64 {
	if bucket < 1<<subBits {
		return int64(bucket)
	}
	shift := bucket>>subBits - 1
	return (int64(bucket&(1<<subBits-1)+1<<subBits)+1)<<shift - 1
}
