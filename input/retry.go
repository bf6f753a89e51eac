package input

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// pauseFirst is the pause before the first attempt to read again.
const pauseFirst = 100 * time.Millisecond

// reasonRetries is the reason of the problem that trying again did not help as
// often as it was allowed to.
const reasonRetries = "retries_exhausted"

// retryPolicy says how reading starts again after errors that time cures.
//
// Debezium waits for retriable.restart.connector.wait.ms before each attempt.
// Here that is the longest pause: a deadlock or a failover is mostly over
// sooner, so pauses begin at pauseFirst and double.
type retryPolicy struct {
	most  time.Duration
	limit int // attempts in a row that get no further; negative: no end
}

// pause returns how long to wait before an attempt, counted from 1: less up to
// a quarter, so that many sources do not come back at once.
func (p retryPolicy) pause(attempt int) time.Duration {
	d := p.most
	// Beyond that many doublings any wait is longer than a year.
	if attempt <= 24 {
		d = min(d, pauseFirst<<(attempt-1))
	}
	return d - rand.N(max(d/4, 1))
}

// judge returns the reason and the problem of an error before another attempt
// is made, if that is one too many; else no reason and the error.
func (p retryPolicy) judge(attempt int, err error) (reason string, judged error) {
	if p.limit < 0 || attempt <= p.limit {
		return "", err
	}
	return reasonRetries, sqlserver.NewProblem(reasonRetries,
		fmt.Sprintf("reading failed and %d attempts in a row to go on did not help", p.limit),
		fmt.Sprintf("find the cause in what follows; with %s: -1 it is tried for ever", fieldErrorsMaxRetries), err)
}
