package simulator

import (
	"context"
	"errors"
	"io"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// errCut ends the work of a session whose connection a fault has closed.
var errCut = errors.New("connection cut by a fault")

// statementFault is the engine's fault hook.
func (s *Server) statementFault(info engine.StatementInfo) engine.Fault {
	if s.faults.empty() {
		return engine.Fault{}
	}
	f, ok := s.faults.match(info)
	if !ok {
		return engine.Fault{}
	}
	s.opts.Log.Debug("injecting fault", "fault", f.String(), "spid", info.SPID)
	c := s.connection(info.SPID)
	if c != nil && f.AfterBytes > 0 {
		c.out.arm(f.AfterBytes, func() error { return c.suffer(context.Background(), f.Do) })
		return engine.Fault{}
	}
	return engine.Fault{
		AfterRows: f.AfterRows,
		Do: func(ctx context.Context) error {
			if c != nil {
				return c.sufferAfterRows(ctx, f.Do)
			}
			return s.suffer(ctx, f.Do)
		},
	}
}

// suffer is what an action does to a statement without a connection: one of
// the server's own jobs, or of a test's Exec.
func (s *Server) suffer(ctx context.Context, a Action) error {
	switch a.kind {
	case actionFail:
		return a.err
	case actionDelay:
		return s.sleep(ctx, a)
	case actionRestart:
		s.restartLater()
		return errCut
	case actionCut, actionStall:
		return errCut
	}
	return nil
}

// sleep waits by the server's clock.
func (s *Server) sleep(ctx context.Context, a Action) error {
	done := make(chan struct{})
	stop := s.opts.Clock.AfterFunc(a.delay, func() { close(done) })
	defer stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sufferAfterRows first lets the client see all rows sent so far.
func (c *conn) sufferAfterRows(ctx context.Context, a Action) error {
	if a.kind != actionFail && c.response != nil {
		if err := c.response.flush(); err != nil {
			return err
		}
	}
	return c.suffer(ctx, a)
}

// suffer is what an action does to the statement that the connection runs. It
// is called on the connection's own goroutine.
func (c *conn) suffer(ctx context.Context, a Action) error {
	switch a.kind {
	case actionCut:
		c.hangUp()
		return errCut
	case actionStall:
		if a.delay > 0 {
			defer c.server.opts.Clock.AfterFunc(a.delay, c.hangUp)()
		}
		c.waitGone()
		return errCut
	case actionRestart:
		c.server.restartLater()
		c.waitGone()
		return errCut
	}
	return c.server.suffer(ctx, a)
}

// waitGone waits until the connection is closed by either side.
func (c *conn) waitGone() {
	if c.inbox == nil { // nobody reads yet, so nobody would notice
		_, _ = io.Copy(io.Discard, c.nc)
		return
	}
	<-c.gone
}
