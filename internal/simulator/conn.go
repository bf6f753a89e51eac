package simulator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// conn is one client. Its serve goroutine logs in, then runs requests one
// after another; a second goroutine (inbox) reads, so that an attention is
// seen while a request runs.
type conn struct {
	server *Server
	// replica is what the client has connected to, nil for the server itself.
	replica *engine.Replica
	nc      net.Conn // what hangUp closes
	plain   *transport

	// ctx ends when the connection is gone; gone is its Done.
	ctx    context.Context
	cancel context.CancelFunc
	gone   <-chan struct{}
	done   chan struct{} // closed when serve has returned

	in       *tds.PacketReader
	out      *faultWriter
	packets  *tds.PacketWriter
	login    tds.Login7
	dialect  tds.Dialect
	session  session
	inbox    *inbox
	response *response // of the running request
	closing  sync.Once
}

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{server: s, nc: nc, plain: newTransport(nc), done: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.gone = c.ctx.Done()
	return c
}

// hangUp closes the connection; it may be called from anywhere, repeatedly.
func (c *conn) hangUp() {
	c.closing.Do(func() {
		c.cancel()
		c.nc.Close()
	})
}

// loginTimeout is how long a client may take to say LOGIN7.
const loginTimeout = 60 * time.Second

// serve runs the connection from its first byte to its end.
func (c *conn) serve() {
	defer c.hangUp()
	if err := c.run(); err != nil && !isDisconnect(err) && c.ctx.Err() == nil {
		c.server.opts.Log.Warn("connection ended", "remote", c.nc.RemoteAddr().String(), "error", err)
	}
}

// run is the life of a connection: TLS and PRELOGIN, LOGIN7, requests.
func (c *conn) run() error {
	stopTimer := c.server.opts.Clock.AfterFunc(loginTimeout, func() {
		c.server.opts.Log.Warn("login timed out", "remote", c.nc.RemoteAddr().String())
		c.hangUp()
	})
	defer stopTimer()
	transports, err := c.prelogin()
	if err != nil {
		return fmt.Errorf("pre-login: %w", err)
	}
	if err := c.readLogin(transports); err != nil {
		return fmt.Errorf("login: %w", err)
	}
	stopTimer()
	ok, err := c.logIn(transports)
	if err != nil || !ok {
		return err
	}
	defer c.session.Close()
	c.server.register(c, c.session.SPID())
	return c.requests()
}

// use reads and writes on that transport from here on.
func (c *conn) use(rw io.ReadWriter) {
	c.in = tds.NewPacketReader(rw, 0)
	c.out = &faultWriter{w: rw}
	c.packets = tds.NewPacketWriter(c.out, tds.PacketReply, tds.DefaultPacketSize)
}

// isDisconnect reports that the peer went away, which is not worth a warning.
func isDisconnect(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, errCut) || errors.Is(err, errFatal) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// recovered logs a panic of a session and turns it into an error.
func (c *conn) recovered(p any) error {
	c.server.opts.Log.Error("session panicked", "panic", p, "stack", string(debug.Stack()))
	return fmt.Errorf("internal error of the simulator: %v", p)
}
