package input

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInterval(t *testing.T) {
	const ms = time.Millisecond
	follow := func(i interval, passes string) (pauses []time.Duration) {
		for _, pass := range passes {
			if pass == 'c' {
				i.saw()
				i.saw() // two batches are one pass
			}
			pauses = append(pauses, i.next())
		}
		return pauses
	}
	for _, test := range []struct {
		name   string
		fixed  time.Duration
		bounds adaptive
		passes string // c: with changes
		want   []time.Duration
	}{
		{"fixed", 500 * ms, adaptive{}, "c..c", []time.Duration{500 * ms, 500 * ms, 500 * ms, 500 * ms}},
		{"idle", 500 * ms, adaptive{100 * ms, 3000 * ms}, "....", []time.Duration{1000 * ms, 2000 * ms, 3000 * ms, 3000 * ms}},
		{"busy", 500 * ms, adaptive{100 * ms, 3000 * ms}, "cccc", []time.Duration{250 * ms, 125 * ms, 100 * ms, 100 * ms}},
		{"both", 500 * ms, adaptive{100 * ms, 3000 * ms}, "..c..", []time.Duration{1000 * ms, 2000 * ms, 1000 * ms, 2000 * ms, 3000 * ms}},
		{"beginning above the ceiling", 5000 * ms, adaptive{100 * ms, 1000 * ms}, ".c", []time.Duration{1000 * ms, 500 * ms}},
		{"beginning below the floor", 10 * ms, adaptive{100 * ms, 1000 * ms}, "c.", []time.Duration{100 * ms, 200 * ms}},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, follow(newInterval(test.fixed, test.bounds), test.passes))
		})
	}
}

func TestAdaptive_Validate(t *testing.T) {
	require.NoError(t, adaptive{}.validate())
	require.NoError(t, adaptive{time.Second, time.Second}.validate())
	require.ErrorContains(t, adaptive{0, time.Second}.validate(), "poll_interval_adaptive.floor")
	require.ErrorContains(t, adaptive{2 * time.Second, time.Second}.validate(), "floor 2s is more than ceiling 1s")
}
