package crashtest

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
)

// memory is the resident memory of this process over time, in bytes.
type memory struct{ samples []int64 }

// growth is what memory may grow by in a long run, besides a tenth: a heap
// needs room for its garbage, and breathes.
const growth = 16 << 20

// sample takes a sample. Source: proc(5), /proc/pid/statm, whose second number
// counts resident pages. It needs Linux.
func (m *memory) sample() error {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return fmt.Errorf("reading /proc/self/statm: %q", text)
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return fmt.Errorf("reading /proc/self/statm: %w", err)
	}
	m.samples = append(m.samples, pages*int64(os.Getpagesize()))
	return nil
}

// thirds returns the means of the samples' first and last third.
func (m *memory) thirds() (first, last int64) {
	n := len(m.samples) / 3
	mean := func(samples []int64) (sum int64) {
		for _, s := range samples {
			sum += s
		}
		return sum / int64(max(1, len(samples)))
	}
	return mean(m.samples[:n]), mean(m.samples[len(m.samples)-n:])
}

// grows returns an error if the last third needs more than the first one.
func (m *memory) grows() error {
	if first, last := m.thirds(); last > first+first/10+growth {
		return fmt.Errorf("memory grows: %v", m)
	}
	return nil
}

// String names the mean of the first third, that of the last, and the peak.
func (m *memory) String() string {
	if len(m.samples) == 0 {
		return "unknown"
	}
	first, last := m.thirds()
	return fmt.Sprintf("%d MiB in the first third, %d MiB in the last, %d MiB at most", first>>20, last>>20, slices.Max(m.samples)>>20)
}
