package input

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/stream"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/snapshot"
)

// mark says how far an input has come: what holds once the messages up to it
// are acknowledged, and where reading goes on. The zero mark is a first start.
type mark struct {
	// progress is that of the snapshot; nil before one has begun.
	progress *snapshot.Progress
	// streaming is set once the stream has begun; state is its position then,
	// without the capture instances, which are kept apart.
	streaming bool
	state     stream.State
}

// position returns the place of a mark in the order of all marks. Ordinals of
// a snapshot grow with its progress, and the stream comes after the LSN that
// the snapshot began at.
func (m mark) position() lsn.Position {
	switch {
	case m.streaming:
		return m.state.Position
	case m.progress != nil:
		return lsn.Position{Commit: m.progress.Start, Ordinal: m.progress.NextOrdinal}
	default:
		return lsn.Position{}
	}
}

// before reports whether m comes before o.
func (m mark) before(o mark) bool { return m.position().Before(o.position()) }

// snapshotted reports whether the stream may begin, or has.
func (m mark) snapshotted() bool {
	return m.streaming || m.progress != nil && m.progress.Done
}

// start returns the state at which the stream begins or goes on, given the
// capture instances that were read last.
func (m mark) start(instances []stream.InstanceIdentity) stream.State {
	state := m.state
	state.Instances = instances
	if !m.streaming {
		state.Position = m.progress.Position()
	}
	return state
}

// at returns the mark of a stream that has come to a position.
func (m mark) at(position lsn.Position) mark {
	m.streaming = true
	m.state.Position = position
	return m
}
