package startposition

import (
	"cmp"
	"fmt"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// ReasonNotHeld is the reason of the problem that start_position is not
// in what the change tables hold.
const ReasonNotHeld = "start_position"

// The words that start_position may be, beside an LSN and a time.
const (
	Now      = "now"
	Earliest = "earliest"
)

// Position is where the stream of a database begins that has no stored position
// and no snapshot of rows. The zero value is now.
type Position struct {
	text     string
	earliest bool
	lsn      lsn.LSN   // zero: none
	time     time.Time // zero: none
}

// Parse reads start_position.
func Parse(text string) (Position, error) {
	p := Position{text: text}
	switch text {
	case Now:
		return Position{}, nil
	case Earliest:
		p.earliest = true
		return p, nil
	}
	var err error
	if p.lsn, err = lsn.Parse(text); err == nil && !p.lsn.IsZero() {
		return p, nil
	}
	if p.time, err = time.Parse(time.RFC3339Nano, text); err == nil {
		return p, nil
	}
	return Position{}, fmt.Errorf("%q is no start: use %s, %s, an LSN such as 00000027:00000758:0005 or 0x00000027000007580005, or a time such as 2006-01-02T15:04:05Z", text, Now, Earliest)
}

// IsNow reports whether the stream begins with what is captured from now on.
func (p Position) IsNow() bool { return p == Position{} }

// IsLSN reports whether it is an LSN, and so of one database alone.
func (p Position) IsLSN() bool { return !p.lsn.IsZero() }

// String returns it as it is configured.
func (p Position) String() string { return cmp.Or(p.text, Now) }
