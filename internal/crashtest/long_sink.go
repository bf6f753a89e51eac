package crashtest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/redpanda-data/benthos/v4/public/service"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/streamtest"
)

// longSink is the output of a [Long] through all lives of its pipeline. It
// knows of each row the version it has seen: versions follow each other, but
// for repeats.
type longSink struct {
	mu       sync.Mutex
	cache    *streamtest.Cache // of the present life
	versions map[rowOf]int
	newest   string // position
	commit   string // commit LSN of the newest change
	reject   bool   // the next batch
	more     int    // changes before the one at which some is closed; negative: it is
	some     chan struct{}
	repeats  int
	lost     int
	loss     error // the first one
}

// rowOf names a row.
type rowOf struct {
	table string
	id    int
}

func newLongSink() longSink { return longSink{versions: map[rowOf]int{}, more: -1} }

// live returns the output for a life, which takes nothing once another has
// begun or this one was killed.
func (s *longSink) live(cache *streamtest.Cache) func(context.Context, service.MessageBatch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache = cache
	return func(_ context.Context, batch service.MessageBatch) error {
		events, err := eventsOf(batch)
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case s.cache != cache:
			return errDead
		case s.reject:
			s.reject = false
			return errRejected
		}
		for _, e := range events {
			if err := s.note(e); err != nil {
				return err
			}
		}
		return nil
	}
}

// when returns what is closed once more changes than n were delivered.
func (s *longSink) when(n int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more, s.some = n, make(chan struct{})
	return s.some
}

// kill ends the present life and returns what it leaves.
func (s *longSink) kill() *streamtest.Cache {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.cache.Copy()
	s.cache = nil
	return left
}

func (s *longSink) rejectNext() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reject = true
}

func (s *longSink) note(e Event) error {
	if e.Kind != kindChange {
		return nil
	}
	var v struct{ After struct{ ID, V int } }
	if err := json.Unmarshal([]byte(e.Value), &v); err != nil {
		return fmt.Errorf("reading %v: %w", e, err)
	}
	row := rowOf{e.Table, v.After.ID}
	was, known := s.versions[row]
	if missing := v.After.V - was - 1; known && missing > 0 {
		s.lost += missing
		if s.loss == nil {
			s.loss = fmt.Errorf("%v comes after version %d: something is lost", e, was)
		}
	}
	s.versions[row] = max(was, v.After.V)
	if s.more--; s.more == -1 {
		close(s.some)
	}
	if e.Op == opRead {
		return nil
	}
	s.commit = max(s.commit, e.commit())
	if e.Position <= s.newest {
		s.repeats++
	}
	s.newest = max(s.newest, e.Position)
	return nil
}

// has reports whether all rows have the version of a round, and the position
// behind them is saved.
func (s *longSink) has(round int) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loss != nil || len(s.versions) < longRows {
		return false, s.loss
	}
	for _, version := range s.versions {
		if version < round {
			return false, nil
		}
	}
	if s.commit == "" {
		return true, nil // a snapshot that holds the round has no change to wait for
	}
	return saved(s.cache, longDatabase) >= s.commit, nil
}

// count returns how many changes came again, and how many are missing between
// those that came.
func (s *longSink) count() (repeats, lost int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.repeats, s.lost
}

// counts prints what there is of each kind.
func counts[K ~string](of map[K]int) string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprint(string(kind), " ", of[kind]))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
