package simulator

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// pipeCapacity is how many bytes one direction of a pipe holds before Write
// waits, like a socket's buffers.
const pipeCapacity = 256 << 10

// newPipe returns the two ends of a connection in memory. Unlike net.Pipe it
// buffers, so that neither side has to wait for the other's Read. It waits on
// condition variables and timers only, which testing/synctest understands.
func newPipe() (client, server net.Conn) {
	up, down := newPipeHalf(), newPipeHalf()
	return &pipeConn{in: down, out: up}, &pipeConn{in: up, out: down}
}

type pipeConn struct {
	in, out *pipeHalf
}

var _ net.Conn = (*pipeConn)(nil)

func (c *pipeConn) Read(b []byte) (int, error) {
	n, err := c.in.read(b)
	return n, asNetError("read", err)
}

func (c *pipeConn) Write(b []byte) (int, error) {
	n, err := c.out.write(b)
	return n, asNetError("write", err)
}

// asNetError wraps errors as TCP's are: drivers tell by the type *net.OpError
// that a connection is no good any more.
func asNetError(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: pipeAddr{}.Network(), Addr: pipeAddr{}, Err: err}
}

// Close ends both directions. The peer still reads what was written before.
func (c *pipeConn) Close() error {
	c.out.closeWriter()
	c.in.closeReader()
	return nil
}

func (c *pipeConn) LocalAddr() net.Addr  { return pipeAddr{} }
func (c *pipeConn) RemoteAddr() net.Addr { return pipeAddr{} }

func (c *pipeConn) SetDeadline(t time.Time) error {
	c.in.reader.set(c.in, t)
	c.out.writer.set(c.out, t)
	return nil
}

func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.in.reader.set(c.in, t)
	return nil
}

func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.out.writer.set(c.out, t)
	return nil
}

type pipeAddr struct{}

func (pipeAddr) Network() string { return "memory" }
func (pipeAddr) String() string  { return "simulator" }

// pipeHalf is one direction of a pipe.
type pipeHalf struct {
	mu           sync.Mutex
	changed      sync.Cond
	buf          []byte
	off          int // of the first unread byte in buf
	readerClosed bool
	writeLost    bool // a write came after the reader closed: TCP takes one, then breaks
	writerClosed bool
	reader       pipeDeadline
	writer       pipeDeadline
}

func newPipeHalf() *pipeHalf {
	h := &pipeHalf{}
	h.changed.L = &h.mu
	return h
}

func (h *pipeHalf) read(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.readerClosed:
			return 0, net.ErrClosed
		case h.reader.expired:
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		case h.off < len(h.buf):
			n := copy(b, h.buf[h.off:])
			h.off += n
			if h.off == len(h.buf) {
				h.buf, h.off = h.buf[:0], 0
			}
			h.changed.Broadcast()
			return n, nil
		case h.writerClosed:
			return 0, io.EOF
		}
		h.changed.Wait()
	}
}

func (h *pipeHalf) write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	written := 0
	for {
		switch {
		case h.writerClosed:
			return written, net.ErrClosed
		case h.readerClosed && h.writeLost:
			return written, syscall.EPIPE
		case h.writer.expired:
			return written, os.ErrDeadlineExceeded
		case len(b) == 0:
			return written, nil
		case h.readerClosed:
			h.writeLost = true
			return written + len(b), nil
		}
		if room := pipeCapacity - (len(h.buf) - h.off); room > 0 {
			n := min(room, len(b))
			h.compact(n)
			h.buf = append(h.buf, b[:n]...)
			b = b[n:]
			written += n
			h.changed.Broadcast()
			continue
		}
		h.changed.Wait()
	}
}

// compact moves the unread bytes to the front when n more would not fit.
func (h *pipeHalf) compact(n int) {
	if h.off > 0 && len(h.buf)+n > cap(h.buf) {
		h.buf = h.buf[:copy(h.buf, h.buf[h.off:])]
		h.off = 0
	}
}

func (h *pipeHalf) closeWriter() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writerClosed = true
	h.writer.stop()
	h.changed.Broadcast()
}

func (h *pipeHalf) closeReader() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.readerClosed = true
	h.reader.stop()
	h.changed.Broadcast()
}

// pipeDeadline is guarded by the mutex of its half.
type pipeDeadline struct {
	timer   *time.Timer
	version int // of the deadline, so that a late timer of an older one does nothing
	expired bool
}

func (d *pipeDeadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer = nil
	d.version++
}

func (d *pipeDeadline) set(h *pipeHalf, t time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d.stop()
	d.expired = false
	if !t.IsZero() {
		if wait := time.Until(t); wait <= 0 {
			d.expired = true
		} else {
			version := d.version
			d.timer = time.AfterFunc(wait, func() { d.expire(h, version) })
		}
	}
	h.changed.Broadcast()
}

func (d *pipeDeadline) expire(h *pipeHalf, version int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if d.version == version {
		d.expired = true
		h.changed.Broadcast()
	}
}
