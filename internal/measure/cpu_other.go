//go:build !unix

package measure

import (
	"runtime/metrics"
	"time"
)

// processTime returns the CPU time that Go code and its collector have used,
// as far as the runtime has counted it.
func processTime() time.Duration {
	sample := []metrics.Sample{{Name: "/cpu/classes/total:cpu-seconds"}, {Name: "/cpu/classes/idle:cpu-seconds"}}
	metrics.Read(sample)
	return time.Duration((sample[0].Value.Float64() - sample[1].Value.Float64()) * float64(time.Second))
}
