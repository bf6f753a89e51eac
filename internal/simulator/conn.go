package simulator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"syscall"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// conn is one client. Its serve goroutine logs in, then runs requests one
// after another; a second goroutine (inbox) reads, so that an attention is
// seen while a request runs.
type conn struct {
	server *Server
	nc     net.Conn // what hangUp closes
	plain  *transport

	// ctx ends when the connection is gone; gone is its Done.
	ctx    context.Context
	cancel context.CancelFunc
	gone   <-chan struct{}
	done   chan struct{} // closed when serve has returned

	in       *tds.PacketReader
	out      *faultWriter
	packets  *tds.PacketWriter
	login    tds.Login7
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

// serve runs the connection from its first byte to its end.
func (c *conn) serve() {
	defer c.hangUp()
	if err := c.run(); err != nil && !isDisconnect(err) && c.ctx.Err() == nil {
		c.server.opts.Log.Warn("connection ended", "remote", c.nc.RemoteAddr().String(), "error", err)
	}
}

// run is the life of a connection: TLS and PRELOGIN, LOGIN7, requests.
func (c *conn) run() error {
	transports, err := c.prelogin()
	if err != nil {
		return fmt.Errorf("pre-login: %w", err)
	}
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

// transports are what a login negotiated: what LOGIN7 travels on, and what all
// that follows does.
type transports struct {
	login, rest io.ReadWriter
	encrypted   bool // rest is
	strict      bool // TDS 8
}

// prelogin exchanges PRELOGIN messages and sets up TLS before or after them.
func (c *conn) prelogin() (transports, error) {
	strict, err := c.plain.startsWithTLS()
	if err != nil {
		return transports{}, err
	}
	var t transports
	if strict {
		if c.server.strictTLS == nil {
			return transports{}, errors.New("client wants TDS 8, which the server has no certificate for")
		}
		conn := tls.Server(c.plain, c.server.strictTLS)
		if err := conn.Handshake(); err != nil {
			return transports{}, fmt.Errorf("TLS handshake: %w", err)
		}
		secured := newTransport(conn)
		t = transports{login: secured, rest: secured, encrypted: true, strict: true}
	} else {
		t = transports{login: c.plain, rest: c.plain}
	}
	c.use(t.rest)
	encryption, err := c.answerPrelogin(strict)
	if err != nil || strict || encryption == tds.EncryptNotSupported {
		return t, err
	}
	conn, err := acceptWrappedTLS(c.plain, c.server.wrappedTLS)
	if err != nil {
		return transports{}, err
	}
	secured := newTransport(conn)
	if encryption == tds.EncryptOff {
		return transports{login: loginStream{secured: secured, plain: c.plain}, rest: c.plain}, nil
	}
	return transports{login: secured, rest: secured, encrypted: true}, nil
}

// answerPrelogin reads the client's PRELOGIN and answers what encryption is
// used.
func (c *conn) answerPrelogin(strict bool) (tds.Encryption, error) {
	m, err := c.in.ReadMessage()
	if err != nil {
		return 0, err
	}
	if m.Type != tds.PacketPrelogin {
		return 0, fmt.Errorf("%v instead of PRELOGIN", m.Type)
	}
	hello, err := tds.ParsePrelogin(m.Payload)
	if err != nil {
		return 0, err
	}
	encryption := hello.Encryption
	if !strict {
		encryption = c.server.negotiate(hello.Encryption)
	}
	answer := tds.AppendPrelogin(nil, tds.Prelogin{Version: c.server.version, Encryption: encryption})
	if _, err := c.packets.Write(answer); err != nil {
		return 0, err
	}
	return encryption, c.packets.EndMessage()
}

// negotiate answers a client's ENCRYPTION option (MS-TDS 2.2.6.5). A client
// that cannot live with the answer hangs up.
func (s *Server) negotiate(client tds.Encryption) tds.Encryption {
	switch {
	case s.opts.Encryption == EncryptionUnsupported:
		return tds.EncryptNotSupported
	case client == tds.EncryptNotSupported && s.opts.Encryption != EncryptionForced:
		return tds.EncryptNotSupported
	case s.opts.Encryption == EncryptionForced && client != tds.EncryptOn:
		return tds.EncryptRequired
	case client == tds.EncryptOff:
		return tds.EncryptOff
	}
	return tds.EncryptOn
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
