package stream

import (
	"math"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// firstCommit returns the commit LSN from which to read, inclusively, to get
// every event after a position: the position's own transaction, unless the
// position stands for the whole of it.
func firstCommit(at lsn.Position) lsn.LSN {
	if at.Command == lsn.MaxCommand {
		return at.Commit.Next()
	}
	return at.Commit
}

// delivered reports whether an event stands at or before a position.
func delivered(event, at lsn.Position) bool { return event.Compare(at) <= 0 }

// deliveredRow reports whether all messages of a change row stand at or before
// a position, whatever their number: they differ in the ordinal alone.
func deliveredRow(row, at lsn.Position) bool {
	row.Ordinal = math.MaxUint64
	return delivered(row, at)
}

// insideTransaction reports whether some of the changes of the position's
// transaction are delivered, and maybe not all.
func insideTransaction(at lsn.Position) bool {
	return at.Command != lsn.MaxCommand && !at.Change.IsZero()
}

// startingAt returns the position to go on from, given how transactions were
// ordered when it was taken and how they are now. A position inside a
// transaction means nothing in another order, so the transaction is replayed.
func startingAt(at lsn.Position, wasByCommand, isByCommand bool) lsn.Position {
	// Command ids begin at 1, and without them every position has command 0: a
	// position that contradicts the stored order was taken in the other one.
	takenByCommand := at.Command != 0
	if !insideTransaction(at) || (takenByCommand == isByCommand && wasByCommand == isByCommand) {
		return at
	}
	return replaying(at)
}

// replaying returns the position from which the whole transaction of a position
// is read again.
func replaying(at lsn.Position) lsn.Position { return lsn.EndOf(at.Commit.Prev()) }
