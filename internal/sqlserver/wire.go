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
	waitingSince atomic.Int64 // Unix nanoseconds; zero while nobody waits
	closing      sync.Once
	closeErr     error
}

// Read implements [net.Conn].
func (w *wire) Read(b []byte) (int, error) {
	w.waitingSince.Store(time.Now().UnixNano())
	n, err := w.Conn.Read(b)
	w.waitingSince.Store(0)
	return n, err
}

// Close implements [net.Conn]. It may be called at any time, more than once.
func (w *wire) Close() error {
	w.closing.Do(func() { w.closeErr = w.Conn.Close() })
	return w.closeErr
}

// waited returns how long a read has been waiting for the server; zero when
// none is.
func (w *wire) waited(now time.Time) time.Duration {
	since := w.waitingSince.Load()
	if since == 0 {
		return 0
	}
	return now.Sub(time.Unix(0, since))
}
