package pace

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// PauseFirst is the pause before the first attempt to read again.
const PauseFirst = 100 * time.Millisecond

// ReasonRetries is the reason of the problem that trying again did not help as
// often as it was allowed to.
const ReasonRetries = "retries_exhausted"

// Retry says how reading starts again after errors that time cures.
//
// Debezium waits for retriable.restart.connector.wait.ms before each attempt.
// Here that is the longest pause: a deadlock or a failover is mostly over
// sooner, so pauses begin at PauseFirst and double.
type Retry struct {
	Most  time.Duration // the longest pause
	Limit int           // attempts in a row that get no further; negative: no end
}

// Pause returns how long to wait before an attempt, counted from 1: less up to
// a quarter, so that many sources do not come back at once.
func (r Retry) Pause(attempt int) time.Duration {
	d := r.Most
	// Beyond that many doublings any wait is longer than a year.
	if attempt <= 24 {
		d = min(d, PauseFirst<<(attempt-1))
	}
	return d - rand.N(max(d/4, 1))
}

// Judge returns the reason and the problem of an error before another attempt
// is made, if that is one too many; else no reason and the error.
func (r Retry) Judge(attempt int, err error) (reason string, judged error) {
	if r.Limit < 0 || attempt <= r.Limit {
		return "", err
	}
	return ReasonRetries, sqlserver.NewProblem(ReasonRetries,
		fmt.Sprintf("reading failed and %d attempts in a row to go on did not help", r.Limit),
		"find the cause in what follows; with errors_max_retries: -1 it is tried for ever", err)
}
