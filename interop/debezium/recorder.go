package debezium

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Phase is how far a connector is since its last start.
type Phase string

// The phases, in the order in which they are reached. Failed and stopped end
// the others.
const (
	PhaseStarted      Phase = "started"
	PhaseSnapshotDone Phase = "snapshot_done"
	PhaseStreaming    Phase = "streaming"
	PhaseStopped      Phase = "stopped"
)

// ErrConnectorFailed is wrapped by the error of waiting for a connector that
// has failed; the message holds the connector's own.
var ErrConnectorFailed = errors.New("the connector has failed")

// Recorder keeps what a connector emits and lets others wait for it. It may be
// used from any goroutine.
type Recorder struct {
	mu      sync.Mutex
	changed chan struct{} // closed and replaced with each change
	records []Record
	last    time.Time // of the last record
	phases  []Phase
	failure string
}

// NewRecorder returns an empty one.
func NewRecorder() *Recorder { return &Recorder{changed: make(chan struct{})} }

// Record adds a record.
func (r *Recorder) Record(record Record) {
	r.update(func() {
		r.records = append(r.records, record)
		r.last = time.Now()
	})
}

// Reach notes a phase.
func (r *Recorder) Reach(phase Phase) { r.update(func() { r.phases = append(r.phases, phase) }) }

// Fail notes that the connector has failed.
func (r *Recorder) Fail(message string) { r.update(func() { r.failure = message }) }

// Begin forgets phases and failure for another start.
func (r *Recorder) Begin() { r.update(func() { r.phases, r.failure = nil, "" }) }

// Records returns all records in their order.
func (r *Recorder) Records() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.records)
}

// Err is the connector's failure since its last start, if any.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrConnectorFailed, r.failure)
}

// AwaitRecords waits until there are n records in all.
func (r *Recorder) AwaitRecords(ctx context.Context, n int) error {
	return r.await(ctx, fmt.Sprintf("for %d records", n), func() bool { return len(r.records) >= n })
}

// AwaitPhase waits until the phase is reached.
func (r *Recorder) AwaitPhase(ctx context.Context, phase Phase) error {
	return r.await(ctx, fmt.Sprintf("for phase %s", phase), func() bool { return slices.Contains(r.phases, phase) })
}

// AwaitFailure waits until the connector fails and returns its message.
func (r *Recorder) AwaitFailure(ctx context.Context) (string, error) {
	err := r.await(ctx, "for a failure", func() bool { return r.failure != "" })
	if err != nil && !errors.Is(err, ErrConnectorFailed) {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failure, nil
}

// Last is how many records there are and when the last one came.
func (r *Recorder) Last() (count int, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.records), r.last
}

func (r *Recorder) update(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Recorder) await(ctx context.Context, what string, reached func() bool) error {
	for {
		r.mu.Lock()
		done, changed, failure, count := reached(), r.changed, r.failure, len(r.records)
		r.mu.Unlock()
		switch {
		case done:
			return nil
		case failure != "":
			return fmt.Errorf("waiting %s: %w: %s", what, ErrConnectorFailed, failure)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting %s, have %d records: %w", what, count, context.Cause(ctx))
		}
	}
}
