package pace

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestInterval(t *testing.T) {
	const ms = time.Millisecond
	follow := func(i Interval, passes string) (pauses []time.Duration) {
		for _, pass := range passes {
			if pass == 'c' {
				i.Saw()
				i.Saw() // two batches are one pass
			}
			pauses = append(pauses, i.Next())
		}
		return pauses
	}
	for _, test := range []struct {
		name   string
		fixed  time.Duration
		bounds Bounds
		passes string // c: with changes
		want   []time.Duration
	}{
		{"fixed", 500 * ms, Bounds{}, "c..c", []time.Duration{500 * ms, 500 * ms, 500 * ms, 500 * ms}},
		{"idle", 500 * ms, Bounds{100 * ms, 3000 * ms}, "....", []time.Duration{1000 * ms, 2000 * ms, 3000 * ms, 3000 * ms}},
		{"busy", 500 * ms, Bounds{100 * ms, 3000 * ms}, "cccc", []time.Duration{250 * ms, 125 * ms, 100 * ms, 100 * ms}},
		{"both", 500 * ms, Bounds{100 * ms, 3000 * ms}, "..c..", []time.Duration{1000 * ms, 2000 * ms, 1000 * ms, 2000 * ms, 3000 * ms}},
		{"beginning above the ceiling", 5000 * ms, Bounds{100 * ms, 1000 * ms}, ".c", []time.Duration{1000 * ms, 500 * ms}},
		{"beginning below the floor", 10 * ms, Bounds{100 * ms, 1000 * ms}, "c.", []time.Duration{100 * ms, 200 * ms}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := follow(NewInterval("db", test.fixed, test.bounds), test.passes)
			assert.Less(t, got[0], test.want[0], "a part of the first")
			assert.Equal(t, test.want[1:], got[1:])
		})
	}
}

// Pipelines that begin together do not ask together.
func TestInterval_FirstPause(t *testing.T) {
	const all = time.Second
	var tenths [10]int
	for n := range 1000 {
		i := NewInterval("server.database"+strconv.Itoa(n), all, Bounds{})
		first := i.Next()
		assert.Less(t, first, all)
		tenths[first*10/all]++
		assert.Equal(t, all, i.Next())
	}
	for _, n := range tenths {
		assert.InDelta(t, 100, n, 60)
	}
	zero := NewInterval("db", 0, Bounds{})
	assert.Zero(t, zero.Next())
}
