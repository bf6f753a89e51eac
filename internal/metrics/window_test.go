package metrics

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// Percentiles are at most a sixteenth above those of the sorted numbers, the
// other figures exact.
func TestHistogram_Stats(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 200).Draw(t, "numbers")
		var h histogram
		var sum int64
		for _, v := range numbers {
			h.add(v, 1)
			sum += v
		}
		slices.Sort(numbers)
		got := h.stats()
		assert.Equal(t, numbers[0], got.min)
		assert.Equal(t, numbers[len(numbers)-1], got.max)
		assert.Equal(t, sum/int64(len(numbers)), got.average)
		for p, found := range map[int64]int64{50: got.p50, 95: got.p95, 99: got.p99} {
			exact := numbers[(int64(len(numbers))*p+99)/100-1]
			assert.GreaterOrEqual(t, found, exact, "p%d", p)
			assert.LessOrEqual(t, found, exact+exact/16, "p%d", p)
		}
	})
}

func TestHistogram_Buckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64Range(0, math.MaxInt64).Draw(t, "v")
		b := bucketOf(v)
		assert.Less(t, b, buckets)
		assert.LessOrEqual(t, v, topOf(b))
		if b > 0 {
			assert.Greater(t, v, topOf(b-1))
		}
	})
}

// A sample counts for one to two minutes, and then no more.
func TestWindow_Forgets(t *testing.T) {
	begin := time.Date(2024, 3, 5, 6, 7, 8, 0, time.UTC)
	var w window
	assert.Zero(t, w.stats(begin))
	w.add(begin, 90*time.Millisecond, 3)
	w.add(begin, 10*time.Millisecond, 1)
	assert.Equal(t, stats{min: 10, max: 90, average: 70, p50: 90, p95: 90, p99: 90}, w.stats(begin.Add(59*time.Second)))
	w.add(begin.Add(70*time.Second), 500*time.Millisecond, 1)
	assert.Equal(t, int64(500), w.stats(begin.Add(80*time.Second)).max)
	assert.Equal(t, int64(10), w.stats(begin.Add(80*time.Second)).min)
	assert.Equal(t, int64(500), w.stats(begin.Add(131*time.Second)).min)
	assert.Zero(t, w.stats(begin.Add(10*time.Minute)))
}
