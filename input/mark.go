package input

import (
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// mark says how far an input has come: what holds once the messages up to it
// are acknowledged, and where reading goes on. The zero mark is a first start.
type mark struct {
	// progress is that of the snapshot; nil before one has begun.
	progress *snapshot.Progress
	// ordinal is that of the last snapshot row handed over before the mark by
	// this process. Ordinals grow over all its attempts to read the snapshot.
	ordinal uint64
	// streaming is set once the stream has begun; state is its position then,
	// without the capture instances, which are kept apart.
	streaming bool
	state     stream.State
	// witness is a commit at or before the position; seen are those of the look
	// for changes that the mark comes from, nil if it comes from none.
	witness witness
	seen    *seen
}

// position returns the place of a mark in the order in which marks are handed
// over. The stream comes after the LSN that the snapshot began at.
func (m mark) position() lsn.Position {
	switch {
	case m.streaming:
		return m.state.Position
	case m.progress != nil:
		return lsn.Position{Commit: m.progress.Start, Ordinal: m.ordinal}
	default:
		return lsn.Position{}
	}
}

// before reports whether m comes before o.
func (m mark) before(o mark) bool { return m.position().Before(o.position()) }

// place tells marks apart between which something was done that is not done
// again: rows of a snapshot that are read again have other positions.
func (m mark) place() string {
	switch {
	case m.pausing() && !m.progress.Again.Done:
		return fmt.Sprint(m.progress.Again.Start, m.progress.Again.Tables, m.state.Held)
	case m.streaming || m.progress == nil:
		return fmt.Sprint(m.position(), m.state.Held)
	}
	return fmt.Sprint(m.progress.Tables)
}

// pausing reports whether the mark stands where rows were read again in a pause
// of the stream.
func (m mark) pausing() bool {
	return m.streaming && m.progress != nil && m.progress.Again != nil && m.progress.Again.Start == m.state.Position.Commit
}

// snapshotKnown returns the mark with a progress. A stream that goes on from a
// position alone, such as another connector's, has none before.
func (m mark) snapshotKnown() mark {
	if m.streaming && m.progress == nil {
		m.progress = &snapshot.Progress{Start: m.state.Position.Commit, Done: true}
	}
	return m
}

// beginning returns the mark of a snapshot that begins at an LSN. One that was
// lost before its first row, and is begun anew, takes the stored start with it: a
// restart that went back to it would deliver rows at positions that consumers take
// for repeats.
func (m mark) beginning(start lsn.LSN) mark {
	if !m.streaming && m.progress != nil && m.progress.Start != start {
		m.progress = &snapshot.Progress{Start: start, NextOrdinal: m.progress.NextOrdinal}
	}
	return m
}

// reserving returns the mark with ordinals reserved up to a number, unless it
// has more.
func (m mark) reserving(start lsn.LSN, next uint64) mark {
	switch {
	case m.progress == nil:
		m.progress = &snapshot.Progress{Start: start, NextOrdinal: next}
	case m.progress.NextOrdinal < next:
		p := *m.progress
		p.NextOrdinal = next
		m.progress = &p
	}
	return m
}

// begun reports whether it is settled where the stream begins.
func (m mark) begun() bool { return m.streaming || m.progress != nil }

// snapshotted reports whether the stream may begin, or has.
func (m mark) snapshotted() bool {
	return m.streaming || m.progress != nil && m.progress.Done
}

// start returns the state at which the stream begins or goes on, given what is
// known of the tables.
func (m mark) start(known stream.Known) stream.State {
	state := m.state
	state.Instances, state.Structures = known.Instances, known.Structures
	if !m.streaming {
		state.Position = m.progress.Position()
	}
	return state
}

// streamed returns how far the stream has come.
func (m mark) streamed() stream.Place {
	if m.streaming {
		return m.state.Place()
	}
	return stream.Place{Position: m.position()}
}

// at returns the mark of a stream that has come to a place.
func (m mark) at(place stream.Place) mark {
	m.streaming, m.state = true, m.state.At(place)
	m.witness = m.seen.witness(place.Position.Commit, m.witness)
	return m
}

// behind returns the mark behind one event of a batch, given that of the batch.
func (m mark) behind(event lsn.Position) mark { return m.at(m.state.Place().Behind(event)) }
