package sqlserver

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// wire is the network connection below the driver. It knows since when
// somebody has been waiting for the other side, and closes once.
type wire struct {
	net.Conn
	// Unix nanoseconds; zero while nobody waits. A write waits too, once what
	// the other side does not confirm fills the buffers in between.
	reading, writing atomic.Int64
	closing          sync.Once
	closeErr         error
}

// Read implements [net.Conn].
func (w *wire) Read(b []byte) (int, error) {
	w.reading.Store(time.Now().UnixNano())
	n, err := w.Conn.Read(b)
	w.reading.Store(0)
	return n, err
}

// Write implements [net.Conn].
func (w *wire) Write(b []byte) (int, error) {
	w.writing.Store(time.Now().UnixNano())
	n, err := w.Conn.Write(b)
	w.writing.Store(0)
	return n, err
}

// Close implements [net.Conn]. It may be called at any time, more than once.
func (w *wire) Close() error {
	w.closing.Do(func() { w.closeErr = w.Conn.Close() })
	return w.closeErr
}

// waited returns how long a read or a write has been waiting for the server;
// zero when none is.
func (w *wire) waited(now time.Time) time.Duration {
	var longest time.Duration
	for _, since := range []int64{w.reading.Load(), w.writing.Load()} {
		if since != 0 {
			longest = max(longest, now.Sub(time.Unix(0, since)))
		}
	}
	return longest
}
