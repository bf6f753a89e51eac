package input

import (
	"context"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// heartbeatAction runs heartbeat_action_query, over a connection of its own: it
// may wait for locks, and whatever it leaves behind concerns nobody else. It
// never fails the source.
type heartbeatAction struct {
	source  *source
	text    string
	running sync.Mutex // held while the statement runs
	wait    sync.WaitGroup

	// The goroutine that runs owns the rest.
	conn   *sqlserver.Conn // nil: not connected
	failed bool            // the last time
}

func newHeartbeatAction(s *source) *heartbeatAction {
	return &heartbeatAction{source: s, text: s.cfg.heartbeatAction}
}

// begin runs the statement, unless it runs still. It does not wait.
func (a *heartbeatAction) begin() {
	if !a.running.TryLock() {
		return
	}
	a.wait.Go(func() {
		defer a.running.Unlock()
		a.report(a.run(a.source.in.ctx))
	})
}

// run runs the statement once.
func (a *heartbeatAction) run(ctx context.Context) error {
	if a.conn != nil && !a.conn.Usable() {
		a.disconnect()
	}
	if a.conn == nil {
		var err error
		if a.conn, err = a.source.in.server.Connect(ctx, a.source.cfg.server.Database); err != nil {
			return err
		}
	}
	return a.conn.Exec(ctx, a.text)
}

// report counts a failure, and logs the first in a row.
func (a *heartbeatAction) report(err error) {
	s := a.source
	switch {
	case err == nil:
		if a.failed {
			s.log.Infof("The statement of %s works again", fieldHeartbeatActionQuery)
		}
	case s.in.ctx.Err() != nil:
		return
	default:
		s.in.metrics.ActionFailures.Incr(1, s.meter.Name())
		if !a.failed {
			s.log.Warnf("The statement of %s fails and is tried again with the next heartbeat: %v", fieldHeartbeatActionQuery, advised(err))
		}
	}
	a.failed = err != nil
}

// close waits for the statement to end, which the end of the input ends, and
// disconnects. Without an action it does nothing.
func (a *heartbeatAction) close(ctx context.Context) {
	if a == nil {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.wait.Wait()
		a.disconnect()
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

func (a *heartbeatAction) disconnect() {
	if a.conn == nil {
		return
	}
	if err := a.conn.Close(); err != nil {
		a.source.log.Debugf("Closing the connection of %s: %v", fieldHeartbeatActionQuery, err)
	}
	a.conn = nil
}
