package debezium

import (
	"sync"
	"time"
)

// epoch is what a scripted clock shows at first.
var epoch = time.Date(2024, time.March, 5, 6, 7, 8, 120_000_000, time.UTC)

// ScriptedClock is a server's clock that stands until it is moved, so that the
// times in records are the same in every play. Timeouts pass in real time: what
// waits for them is outside of the server.
type ScriptedClock struct {
	mu  sync.Mutex
	now time.Time
}

// NewScriptedClock returns a clock that stands at the start of all scenarios.
func NewScriptedClock() *ScriptedClock { return &ScriptedClock{now: epoch} }

// Now returns what the clock shows.
func (c *ScriptedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock ahead.
func (c *ScriptedClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// AfterFunc calls f once d has passed in real time.
func (c *ScriptedClock) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	return time.AfterFunc(d, f).Stop
}
