package input_test

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// cost is what something took of the whole process.
type cost struct {
	wall, cpu     time.Duration
	allocs, bytes uint64
}

// measure adds what f takes. A collection before it leaves it no garbage of
// others.
func (c *cost) measure(f func()) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := processTime(), time.Now()
	f()
	c.wall += time.Since(start)
	c.cpu += processTime() - cpu
	runtime.ReadMemStats(&after)
	c.allocs += after.Mallocs - before.Mallocs
	c.bytes += after.TotalAlloc - before.TotalAlloc
}

// report prints a cost for each of so many events.
func (c *cost) report(b *testing.B, events int) {
	b.Helper()
	n := float64(events * b.N)
	b.ReportMetric(n/c.wall.Seconds()/1e3, "kevents/s")
	b.ReportMetric(c.cpu.Seconds()*1e6/n, "cpu-s/Mevent")
	b.ReportMetric(float64(c.allocs)/n, "allocs/event")
	b.ReportMetric(float64(c.bytes)/n, "B/event")
	b.ReportMetric(0, "ns/op")
}

// reportRatio prints the rate of c as a part of another's, both of the same
// work in the same run.
func (c *cost) reportRatio(b *testing.B, to *cost, name string) {
	b.Helper()
	b.ReportMetric(to.wall.Seconds()/c.wall.Seconds(), "rate/"+name)
	b.ReportMetric(c.cpu.Seconds()/to.cpu.Seconds(), "cpu/"+name)
}

// peakHeap returns the greatest size of the heap's objects, dead ones not yet
// collected included, while f runs.
func peakHeap(f func()) uint64 {
	runtime.GC()
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		var greatest uint64
		for {
			metrics.Read(sample)
			greatest = max(greatest, sample[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-stop:
				peak <- greatest
				return
			}
		}
	}()
	f()
	close(stop)
	return <-peak
}
