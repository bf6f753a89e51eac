package sqlserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// Server opens connections to one server. It is safe for concurrent use and
// holds no connection itself.
type Server struct {
	config Config
	params msdsn.Config
	tokens *entraTokens // nil: no tokens are used
}

// NewServer checks the configuration; it does not dial. Errors name the field
// and never hold a secret.
func NewServer(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	params, err := cfg.driverConfig()
	if err != nil {
		return nil, err
	}
	s := &Server{config: cfg, params: params}
	if cfg.Auth.Mode.entra() {
		s.tokens = &entraTokens{auth: cfg.Auth, create: newCredential}
		if cfg.NewCredential != nil {
			s.tokens.create = cfg.NewCredential
		}
	}
	return s, nil
}

// Database returns the database that the settings name; empty for the login's
// default.
func (s *Server) Database() string { return s.params.Database }

// ReadWrite returns the server without [IntentReadOnly]. It shares the tokens.
func (s *Server) ReadWrite() *Server {
	other := *s
	other.config.ApplicationIntent, other.params.ReadOnlyIntent = IntentReadWrite, false
	return &other
}

// String returns the server's address, for logs.
func (s *Server) String() string {
	host := s.params.Host
	if s.params.Instance != "" {
		host += `\` + s.params.Instance
	}
	if s.params.Port == 0 {
		return host
	}
	return net.JoinHostPort(host, strconv.FormatUint(s.params.Port, 10))
}

// Connect opens a connection to a database; empty means [Server.Database], and
// runs the initial statements on it. It returns when ctx ends or the connect
// timeout has passed, even if the server accepts and then stays silent.
func (s *Server) Connect(ctx context.Context, database string) (*Conn, error) {
	params := s.params
	if database != "" {
		params.Database = database
	}
	if params.ReadOnlyIntent && params.Database == "" {
		return nil, errors.New("application_intent ReadOnly: needs a database")
	}
	if params.TLSConfig != nil {
		// The driver writes to it, and a routed connection changes its name.
		params.TLSConfig = params.TLSConfig.Clone()
	}
	conn, err := s.logIn(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", s, err)
	}
	if err := conn.runInitial(ctx, s.config.InitialStatements); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// logIn dials and logs in, within the connect timeout.
func (s *Server) logIn(ctx context.Context, params msdsn.Config) (*Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.config.ConnectTimeout,
		fmt.Errorf("no answer within %s", s.config.ConnectTimeout))
	defer cancel()
	connector, err := s.connector(params)
	if err != nil {
		return nil, err
	}
	dialer := &dialer{dial: s.config.Dial, params: params}
	connector.Dialer = dialer

	// The driver's login does not look at its context: it ends when its
	// network connection does.
	stop := context.AfterFunc(ctx, dialer.abort)
	raw, err := connector.Connect(ctx)
	if !stop() && err == nil {
		raw.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		dialer.abort()
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		} else if refused := dialer.refusal(); refused != nil {
			return nil, &unreachableError{advice: s.config.address(), err: refused}
		}
		return nil, connectError(err)
	}
	conn, ok := raw.(*mssql.Conn)
	if !ok {
		raw.Close()
		return nil, fmt.Errorf("driver returned %T", raw)
	}
	return newConn(conn, dialer.last(), s.config, params.Database), nil
}

func (s *Server) connector(params msdsn.Config) (*mssql.Connector, error) {
	if s.tokens != nil {
		return s.tokens.connector(params)
	}
	return mssql.NewConnectorConfig(params), nil
}

// dialer opens the network connections of one login and remembers them, so
// that it can be aborted. It resolves names itself: the driver's look-up does
// not take a context.
type dialer struct {
	dial   DialFunc
	params msdsn.Config

	mu      sync.Mutex
	aborted bool
	refused error // why the last address could not be reached
	wires   []*wire
}

var _ mssql.HostDialer = (*dialer)(nil)

// HostName makes the driver leave name resolution to DialContext.
func (d *dialer) HostName() string { return d.params.Host }

// DialContext implements [mssql.Dialer].
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.open(ctx, network, address)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.refused = err
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: conn}
	if d.aborted {
		conn.Close()
		return nil, net.ErrClosed
	}
	d.wires = append(d.wires, w)
	return w, nil
}

// refusal returns why the last address that was tried could not be reached; nil
// if it could.
func (d *dialer) refusal() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused
}

func (d *dialer) open(ctx context.Context, network, address string) (net.Conn, error) {
	if d.dial != nil {
		return d.dial(ctx, network, address)
	}
	std := &net.Dialer{KeepAlive: d.params.KeepAlive}
	if network != "tcp" || !d.params.MultiSubnetFailover {
		return std.DialContext(ctx, network, address)
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ips, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	return dialFirst(ctx, std, ips, port)
}

// dialFirst dials all addresses of an availability group listener at once and
// keeps the first that answers: only one subnet has the listener online.
// Source: MS docs, "MultiSubnetFailover".
func dialFirst(ctx context.Context, std *net.Dialer, ips []string, port string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	for _, ip := range ips {
		go func() {
			conn, err := std.DialContext(ctx, "tcp", net.JoinHostPort(ip, port))
			results <- result{conn, err}
		}()
	}
	var (
		first net.Conn
		errs  []error
	)
	for range ips {
		r := <-results
		switch {
		case r.err != nil:
			errs = append(errs, r.err)
		case first != nil:
			r.conn.Close()
		default:
			first = r.conn
			cancel()
		}
	}
	if first == nil {
		return nil, errors.Join(errs...)
	}
	return first, nil
}

// abort closes what was dialled and refuses more.
func (d *dialer) abort() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.aborted = true
	for _, w := range d.wires {
		w.Close()
	}
}

// last returns the connection that the login ended on, after any routing.
func (d *dialer) last() *wire {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wires[len(d.wires)-1]
}
