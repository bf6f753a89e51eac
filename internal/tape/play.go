package tape

import (
	"bytes"
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
	answers  map[string][]*answer // by request
	sequence []*answer            // to batches and RPCs, in order
	login    map[byte]*answer
}

// answer is what the server sent to one request, wherever it is kept.
type answer struct {
	kept     io.ReaderAt
	at, size int64
}

// reader returns a reader of the answer from its beginning.
func (a *answer) reader() *io.SectionReader { return io.NewSectionReader(a.kept, a.at, a.size) }

// attentionAck is the answer to a cancelled request: one packet with a DONE
// token whose status says so ([MS-TDS] 2.2.1.7, 2.2.7.6).
var attentionAck = &answer{size: 21, kept: bytes.NewReader([]byte{
	0x04, statusEOM, 0, 21, 0, 0, 1, 0,
	0xfd, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
})}

func (t *Tape) add(e exchange) error {
	if e.request.kind == typeAttention {
		return nil // answered without a recording
	}
	key, err := e.request.key()
	if err != nil {
		return err
	}
	a := &answer{kept: bytes.NewReader(e.answer), size: int64(len(e.answer))}
	t.answers[key] = append(t.answers[key], a)
	switch e.request.kind {
	case typePrelogin, typeLogin7:
		t.login[e.request.kind] = a
	case typeBatch, typeRPC:
		t.sequence = append(t.sequence, a)
	}
	return nil
}

// Spool moves the answers from memory into a file, which must stay open. So
// the tape is no part of the heap that a benchmark measures, and does not make
// the garbage collector rarer than it will be without one.
func (t *Tape) Spool(file *os.File) error {
	at, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("spooling tape: %w", err)
	}
	for _, answers := range t.answers {
		for _, a := range answers {
			if _, err := io.Copy(file, a.reader()); err != nil {
				return fmt.Errorf("spooling tape: %w", err)
			}
			a.kept, a.at = file, at
			at += a.size
		}
	}
	return nil
}

// Len returns the number of answers to batches and procedure calls.
func (t *Tape) Len() int { return len(t.sequence) }

// Bytes returns the size of the answers to batches and procedure calls.
func (t *Tape) Bytes() int {
	var n int64
	for _, answer := range t.sequence {
		n += answer.size
	}
	return int(n)
}

// Player opens connections onto one playing of a tape.
type Player struct {
	answer func(message) (*answer, error)
}

// Play returns a dialer whose connections answer each request as recorded.
func (t *Tape) Play() *Player {
	var mu sync.Mutex
	next := map[string]int{}
	return &Player{answer: func(m message) (*answer, error) {
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
	return &Player{answer: func(m message) (*answer, error) {
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
	answer func(message) (*answer, error)

	mu      sync.Mutex
	ready   sync.Cond
	pending []byte              // of a request that is not whole yet
	unread  []*io.SectionReader // answers, each with something left to read
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
		answer := attentionAck
		if m.kind != typeAttention {
			if answer, err = c.answer(m); err != nil {
				return 0, c.fail(err)
			}
		}
		if answer.size > 0 {
			c.unread = append(c.unread, answer.reader())
			c.ready.Signal()
		}
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
	n, err := c.unread[0].Read(b)
	if err == io.EOF {
		err = nil
	}
	if at, _ := c.unread[0].Seek(0, io.SeekCurrent); at == c.unread[0].Size() {
		c.unread = c.unread[1:]
	}
	return n, err
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
