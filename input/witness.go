package input

import (
	"slices"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// witness is a commit at or before a position: a database that has recorded it
// with the same time has the history that the position is of. LSNs alone prove
// little, since a restored database uses those behind the backup again.
type witness struct {
	Commit lsn.LSN `json:"commit"`
	// Ended is when the transaction ended, by the server's clock and as it was
	// recorded: text without a time zone, which nothing moves.
	Ended string `json:"ended"`
}

// recordedLayout has the resolution of datetime.
const recordedLayout = "2006-01-02T15:04:05.000"

// witnessAt returns the witness of an LSN, given how it is recorded; none if it is
// not, or without a time.
func witnessAt(at lsn.LSN, r sqlserver.Recorded) witness {
	if !r.Found || r.Ended.IsZero() {
		return witness{}
	}
	return witness{at, r.Ended.Format(recordedLayout)}
}

// known reports whether there is one.
func (w witness) known() bool { return w.Ended != "" }

// seen is what a look for changes found of the commits, for the marks of its
// events. It is shared by them and never changed.
type seen struct {
	commits []sqlserver.Commit
	newest  sqlserver.Commit
}

func newSeen(p sqlserver.Poll) *seen {
	return &seen{p.Commits, sqlserver.Commit{LSN: p.Max, Recorded: p.MaxRecorded}}
}

// witness returns that of a commit LSN. If the LSN is no commit, such as the one
// before a hand-over, that is the witness of the mark before, which must not
// lie behind it.
func (s *seen) witness(at lsn.LSN, before witness) witness {
	if s != nil {
		if t := s.recorded(at); !t.IsZero() {
			return witness{at, t.Format(recordedLayout)}
		}
	}
	if before.Commit.After(at) {
		return witness{}
	}
	return before
}

// recorded returns when the transaction at a commit LSN ended; zero: unknown.
func (s *seen) recorded(at lsn.LSN) time.Time {
	if s.newest.LSN == at {
		return s.newest.Recorded
	}
	i, found := slices.BinarySearchFunc(s.commits, at, func(c sqlserver.Commit, at lsn.LSN) int { return c.LSN.Compare(at) })
	if !found {
		return time.Time{}
	}
	return s.commits[i].Recorded
}
