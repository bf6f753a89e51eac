package tape

import (
	"context"
	"net"
	"sync"
)

// Dialer opens a connection; it has the shape of the driver's dialer.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// exchange is one request and all that the server sent until the next one.
type exchange struct {
	request message
	answer  []byte
}

// Recorder is a [Dialer] that passes everything on and remembers it.
type Recorder struct {
	next Dialer

	mu    sync.Mutex
	conns []*recordedConn
}

// NewRecorder records the connections that next opens.
func NewRecorder(next Dialer) *Recorder { return &Recorder{next: next} }

// DialContext implements [Dialer].
func (r *Recorder) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := r.next.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	recorded := &recordedConn{Conn: conn}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns = append(r.conns, recorded)
	return recorded, nil
}

// Requests returns the number of requests so far.
func (r *Recorder) Requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, conn := range r.conns {
		conn.mu.Lock()
		n += len(conn.exchanges)
		conn.mu.Unlock()
	}
	return n
}

// Tape returns what has been recorded so far. The client must be at rest.
func (r *Recorder) Tape() (*Tape, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &Tape{answers: map[string][]*answer{}, login: map[byte]*answer{}}
	for _, conn := range r.conns {
		conn.mu.Lock()
		exchanges, err := conn.exchanges, conn.err
		conn.mu.Unlock()
		if err != nil {
			return nil, err
		}
		for _, e := range exchanges {
			if err := t.add(e); err != nil {
				return nil, err
			}
		}
	}
	return t, nil
}

// recordedConn is one connection under recording.
type recordedConn struct {
	net.Conn

	mu        sync.Mutex
	pending   []byte // of a request that is not whole yet
	exchanges []exchange
	err       error
}

func (c *recordedConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	c.pending = append(c.pending, b...)
	for c.err == nil {
		m, rest, ok, err := takeMessage(c.pending)
		if err != nil {
			c.err = err
		}
		if !ok {
			break
		}
		c.pending = rest
		c.exchanges = append(c.exchanges, exchange{request: m})
	}
	c.mu.Unlock()
	return c.Conn.Write(b)
}

func (c *recordedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if last := len(c.exchanges) - 1; last >= 0 {
		c.exchanges[last].answer = append(c.exchanges[last].answer, b[:n]...)
	}
	return n, err
}
