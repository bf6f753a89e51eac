// Package measure tells benchmarks what a piece of work costs the whole
// process, for ratios between pieces of work in the same run.
package measure

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

// Cost is what some work took of the whole process. The zero value is no work.
type Cost struct {
	Wall, CPU     time.Duration
	Allocs, Bytes uint64
}

// Measure adds what f takes. A collection before it leaves it no garbage of
// others.
func (c *Cost) Measure(f func()) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, start := processTime(), time.Now()
	f()
	c.Wall += time.Since(start)
	c.CPU += processTime() - cpu
	runtime.ReadMemStats(&after)
	c.Allocs += after.Mallocs - before.Mallocs
	c.Bytes += after.TotalAlloc - before.TotalAlloc
}

// Report prints the cost of one of so many events an operation.
func (c *Cost) Report(b *testing.B, events int) {
	b.Helper()
	n := float64(events * b.N)
	b.ReportMetric(n/c.Wall.Seconds()/1e3, "kevents/s")
	b.ReportMetric(c.CPU.Seconds()*1e6/n, "cpu-s/Mevent")
	b.ReportMetric(float64(c.Allocs)/n, "allocs/event")
	b.ReportMetric(float64(c.Bytes)/n, "B/event")
	b.ReportMetric(0, "ns/op")
}

// ReportRatio prints the rate of c as a part of another's, and its CPU time as
// a multiple, both of the same work in the same run.
func (c *Cost) ReportRatio(b *testing.B, to *Cost, name string) {
	b.Helper()
	b.ReportMetric(to.Wall.Seconds()/c.Wall.Seconds(), "rate/"+name)
	b.ReportMetric(c.CPU.Seconds()/to.CPU.Seconds(), "cpu/"+name)
}

// PeakHeap returns the greatest size of the heap's objects, dead ones not yet
// collected included, while f runs.
func PeakHeap(f func()) uint64 {
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
