package simulator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/cdc"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// ErrServerClosed is returned by Serve and Dial after Close.
var ErrServerClosed = errors.New("simulator: server closed")

// Server is one SQL Server: its databases and all connections to them.
type Server struct {
	opts       Options
	version    tds.Version
	backend    backend
	instance   *engine.Instance  // nil behind a test's own backend
	agent      *cdc.Agent        // likewise
	authority  *x509.Certificate // nil when Options.TLS was given
	wrappedTLS *tls.Config
	strictTLS  *tls.Config
	faults     faultSet
	route      route

	mu        sync.Mutex
	closed    bool
	listeners map[net.Listener]struct{}
	conns     map[*conn]struct{}
	bySPID    map[int]*conn
	work      sync.WaitGroup // connections and restarts
}

// New opens the databases and starts the jobs. The server listens nowhere
// before Serve or Dial is called.
func New(opts Options) (*Server, error) {
	s, err := newServer(opts)
	if err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

// newServer makes a server without a backend.
func newServer(opts Options) (*Server, error) {
	s := &Server{
		opts:      opts.withDefaults(),
		listeners: map[net.Listener]struct{}{},
		conns:     map[*conn]struct{}{},
		bySPID:    map[int]*conn{},
	}
	version, err := wireVersion(s.opts.Version)
	if err != nil {
		return nil, err
	}
	s.version = version
	if s.route, err = parseRoute(s.opts.RouteReadIntent); err != nil {
		return nil, err
	}
	if err := s.prepareTLS(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) prepareTLS() error {
	if s.opts.Encryption == EncryptionUnsupported {
		return nil
	}
	config := s.opts.TLS
	if config == nil {
		made, err := processCertificate()
		if err != nil {
			return err
		}
		config = &tls.Config{Certificates: []tls.Certificate{made.server}, MinVersion: tls.VersionTLS12}
		s.authority = made.authority
	}
	s.wrappedTLS, s.strictTLS = serverTLS(config)
	return nil
}

// CertPool holds the certificate authority made at start, for clients that
// verify the server's certificate. It is empty when Options.TLS was given.
func (s *Server) CertPool() *x509.CertPool {
	pool := x509.NewCertPool()
	if s.authority != nil {
		pool.AddCert(s.authority)
	}
	return pool
}

// CertificatePEM is the certificate authority made at start, nil when
// Options.TLS was given. The server's certificate is for localhost, simulator,
// the machine's host name and the loopback addresses.
func (s *Server) CertificatePEM() []byte {
	if s.authority == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.authority.Raw})
}

// Serve accepts connections until Close, then returns ErrServerClosed. It
// closes the listener.
func (s *Server) Serve(l net.Listener) error { return s.serve(l, nil) }

// serve accepts connections to a replica, nil for the server itself.
func (s *Server) serve(l net.Listener, replica *engine.Replica) error {
	if !s.track(l) {
		l.Close()
		return ErrServerClosed
	}
	defer s.untrack(l)
	for {
		nc, err := l.Accept()
		if err != nil {
			if s.isClosed() {
				return ErrServerClosed
			}
			return fmt.Errorf("accepting connections: %w", err)
		}
		if !s.start(nc, replica) {
			nc.Close()
			return ErrServerClosed
		}
	}
}

// ServeConn serves one connection in the background and closes it at the end.
// After Close it closes the connection at once.
func (s *Server) ServeConn(nc net.Conn) {
	if !s.start(nc, nil) {
		nc.Close()
	}
}

// Dial connects in memory. The connection has deadlines and buffers and works
// inside testing/synctest.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) { return s.dial(ctx, nil) }

func (s *Server) dial(ctx context.Context, replica *engine.Replica) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	client, server := newPipe()
	if !s.start(server, replica) {
		client.Close()
		return nil, ErrServerClosed
	}
	return client, nil
}

// DialContext is Dial in the form that drivers want; it takes no notice of the
// address.
func (s *Server) DialContext(ctx context.Context, _, _ string) (net.Conn, error) { return s.Dial(ctx) }

// Control arms a fault.
func (s *Server) Control(f Fault) *ArmedFault { return s.faults.add(f) }

// Restart closes all connections, which rolls back their transactions, and
// waits until they are gone. Databases, listeners, jobs and armed faults stay.
func (s *Server) Restart() {
	for _, c := range s.connections() {
		c.hangUp()
		<-c.done
	}
}

// restartLater is Restart for a connection's own goroutine.
func (s *Server) restartLater() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(s.Restart)
	}
}

// Close stops accepting, closes all connections, waits for them, stops the
// jobs and closes the databases. Calling it again does nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	for l := range s.listeners {
		l.Close()
	}
	s.mu.Unlock()
	for _, c := range s.connections() {
		c.hangUp()
	}
	s.work.Wait()
	return s.shut()
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Server) track(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.listeners[l] = struct{}{}
	}
	return !s.closed
}

func (s *Server) untrack(l net.Listener) {
	l.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

// start runs a connection to a replica on its own goroutine, false after Close.
func (s *Server) start(nc net.Conn, replica *engine.Replica) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	c := newConn(s, nc)
	c.replica = replica
	s.conns[c] = struct{}{}
	s.work.Go(func() {
		defer s.forget(c)
		c.serve()
	})
	return true
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	for spid, other := range s.bySPID {
		if other == c {
			delete(s.bySPID, spid)
		}
	}
	close(c.done)
}

func (s *Server) connections() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*conn, 0, len(s.conns))
	for c := range s.conns {
		all = append(all, c)
	}
	return all
}

func (s *Server) register(c *conn, spid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bySPID[spid] = c
}

// connection finds the connection of a session, nil for sessions that have
// none.
func (s *Server) connection(spid int) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bySPID[spid]
}
