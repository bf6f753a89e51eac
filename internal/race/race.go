// Package race lets tests do less under the race detector, which makes everything
// ten times slower: it is after accesses to memory, and those of a matrix are much
// the same in all its cases. Without it the tests run whole.
package race

import "iter"

// Every returns the numbers below count; under the race detector every nth alone,
// beginning with the first.
func Every(count, nth int) iter.Seq[int] {
	if !Enabled {
		nth = 1
	}
	return func(yield func(int) bool) {
		for i := 0; i < count; i += nth {
			if !yield(i) {
				return
			}
		}
	}
}
