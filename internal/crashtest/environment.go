package crashtest

import (
	"fmt"
	"time"
)

// Environment is where plans are played.
type Environment struct {
	// Second is how long a second of a plan takes.
	Second time.Duration
	// Poll is how long pipelines wait between two looks for changes.
	Poll time.Duration
	// Patience is how long to wait for what must come.
	Patience time.Duration
	// Server starts a simulator.
	Server func() (Server, error)
	// OnStuck, if set, is called when what must come does not, while everything
	// still stands as it does then.
	OnStuck func()
}

// Virtual is an environment inside testing/synctest, where time costs nothing.
// A dead network is noticed after ten minutes, a few times in a row.
func Virtual() Environment {
	return Environment{Second: time.Second, Poll: 2 * time.Second, Patience: 2 * time.Hour, Server: NewServer}
}

// seconds returns how long some seconds of a plan take.
func (e Environment) seconds(n int) time.Duration { return time.Duration(n) * e.Second }

// delay returns a second as WAITFOR DELAY takes it.
func (e Environment) delay() string {
	return fmt.Sprintf("00:00:%06.3f", e.Second.Seconds())
}
