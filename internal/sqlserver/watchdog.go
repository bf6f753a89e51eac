package sqlserver

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// watchdog ends one statement that the driver would wait for without end.
//
// Cancelling the statement's context makes the driver send an attention and
// wait for its confirmation; on a dead network none comes, and while the
// driver writes it does not look at the context at all. So the connection is
// closed when a grace has passed. A statement whose context has no end is
// cancelled when the server has been silent for the query timeout. Time in
// which nobody asks the server for more does not count, so a slow consumer
// can keep a result open.
//
// Long before that, what [Conn.OnSilence] set is told of the silence, and the
// statement goes on.
type watchdog struct {
	wire    *wire
	timeout time.Duration
	grace   time.Duration
	cancel  context.CancelCauseFunc

	mu       sync.Mutex
	released bool
	silence  *time.Timer // watches for silence
	closing  *time.Timer // closes after the grace; nil until cancelled
	unhook   []func() bool
}

// watch guards a statement that runs under the returned context until release
// is called. That context ends when ctx does, but always as cancelled and with
// ctx's cause: the driver takes a passed deadline for a network timeout and
// gives up a connection that is good.
func watch(ctx context.Context, w *wire, cfg Config) (context.Context, *watchdog) {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	dog := &watchdog{wire: w, timeout: cfg.QueryTimeout, grace: cfg.CancelGrace, cancel: cancel}
	dog.mu.Lock()
	defer dog.mu.Unlock()
	dog.unhook = []func() bool{
		context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) }),
		context.AfterFunc(inner, dog.cancelled),
	}
	dog.silence = time.AfterFunc(min(dog.timeout, SilenceAfter), dog.check)
	return inner, dog
}

// check tells of a silent server, cancels the statement if that has lasted for
// too long, and comes back when either could have come.
func (d *watchdog) check() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.released {
		return
	}
	waited := d.wire.waited(time.Now())
	next := SilenceAfter - waited
	if next <= 0 {
		d.wire.tellSilence()
		next = SilenceAfter // after an answer there may be another silence
	}
	if waited < d.timeout {
		d.silence.Reset(min(next, d.timeout-waited))
		return
	}
	d.cancel(&TimeoutError{After: d.timeout})
}

// cancelled starts the grace.
func (d *watchdog) cancelled() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.released {
		return
	}
	d.closing = time.AfterFunc(d.grace, func() { d.wire.Close() })
}

// release ends the watch. It may be called more than once.
func (d *watchdog) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.released = true
	d.silence.Stop()
	for _, unhook := range d.unhook {
		unhook()
	}
	if d.closing != nil {
		d.closing.Stop()
	}
	d.cancel(context.Canceled)
}

// TimeoutError is a statement that the server did not answer in time.
type TimeoutError struct{ After time.Duration }

// Error names the time waited.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("no answer from the server within %s", e.After)
}
