package tape

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Tape is a recording, ready to be played any number of times.
type Tape struct {
	answers  map[string][][]byte // by request
	sequence [][]byte            // answers to batches and RPCs, in order
	login    map[byte][]byte
}

func (t *Tape) add(e exchange) error {
	key, err := e.request.key()
	if err != nil {
		return err
	}
	t.answers[key] = append(t.answers[key], e.answer)
	switch e.request.kind {
	case typePrelogin, typeLogin7:
		if t.login == nil {
			t.login = map[byte][]byte{}
		}
		t.login[e.request.kind] = e.answer
	case typeBatch, typeRPC:
		t.sequence = append(t.sequence, e.answer)
	}
	return nil
}

// Len returns the number of answers to batches and procedure calls.
func (t *Tape) Len() int { return len(t.sequence) }

// Bytes returns the size of the answers to batches and procedure calls.
func (t *Tape) Bytes() int {
	n := 0
	for _, answer := range t.sequence {
		n += len(answer)
	}
	return n
}

// Player opens connections onto one playing of a tape.
type Player struct {
	answer func(message) ([]byte, error)
}

// Play returns a dialer whose connections answer each request as recorded.
func (t *Tape) Play() *Player {
	var mu sync.Mutex
	next := map[string]int{}
	return &Player{answer: func(m message) ([]byte, error) {
		key, err := m.key()
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		answers := t.answers[key]
		if len(answers) == 0 {
			return nil, fmt.Errorf("no answer recorded for request %q", m.payload)
		}
		i := min(next[key], len(answers)-1)
		next[key]++
		return answers[i], nil
	}}
}

// PlaySequence returns a dialer for one connection that gets the recorded
// answers in turn, whatever it asks, then io.EOF.
func (t *Tape) PlaySequence() *Player {
	next := 0
	return &Player{answer: func(m message) ([]byte, error) {
		if m.kind == typePrelogin || m.kind == typeLogin7 {
			return t.login[m.kind], nil
		}
		if next >= len(t.sequence) {
			return nil, io.EOF
		}
		next++
		return t.sequence[next-1], nil
	}}
}

// DialContext implements [Dialer].
func (p *Player) DialContext(context.Context, string, string) (net.Conn, error) {
	c := &playedConn{answer: p.answer}
	c.ready.L = &c.mu
	return c, nil
}

// playedConn answers from memory. Deadlines are ignored: nothing is waited for.
type playedConn struct {
	answer func(message) ([]byte, error)

	mu      sync.Mutex
	ready   sync.Cond
	pending []byte // of a request that is not whole yet
	unread  []byte
	err     error
}

func (c *playedConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	c.pending = append(c.pending, b...)
	for {
		m, rest, ok, err := takeMessage(c.pending)
		if err != nil {
			return 0, c.fail(err)
		}
		if !ok {
			return len(b), nil
		}
		c.pending = rest
		answer, err := c.answer(m)
		if err != nil {
			return 0, c.fail(err)
		}
		if len(c.unread) == 0 {
			c.unread = answer // never written to: no copy on the usual path
		} else {
			c.unread = append(c.unread[:len(c.unread):len(c.unread)], answer...)
		}
		c.ready.Signal()
	}
}

func (c *playedConn) fail(err error) error {
	c.err = err
	c.ready.Broadcast()
	return err
}

func (c *playedConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.unread) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		c.ready.Wait()
	}
	n := copy(b, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

func (c *playedConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = os.ErrClosed
	}
	c.ready.Broadcast()
	return nil
}

func (c *playedConn) LocalAddr() net.Addr              { return address{} }
func (c *playedConn) RemoteAddr() net.Addr             { return address{} }
func (c *playedConn) SetDeadline(time.Time) error      { return nil }
func (c *playedConn) SetReadDeadline(time.Time) error  { return nil }
func (c *playedConn) SetWriteDeadline(time.Time) error { return nil }

type address struct{}

func (address) Network() string { return "tape" }
func (address) String() string  { return "tape" }
