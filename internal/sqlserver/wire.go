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

	// silent is set once onSilence was told of the other side's silence, until it
	// was told of its end.
	silent    atomic.Bool
	telling   sync.Mutex // held while onSilence is set or called
	onSilence func(yes bool)
}

// Read implements [net.Conn].
func (w *wire) Read(b []byte) (int, error) {
	w.reading.Store(time.Now().UnixNano())
	n, err := w.Conn.Read(b)
	w.reading.Store(0)
	if n > 0 && w.silent.Load() {
		w.tellAnswer()
	}
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

// tellSilence tells of the other side's silence, once, if it still lasts.
func (w *wire) tellSilence() {
	w.telling.Lock()
	defer w.telling.Unlock()
	if w.onSilence == nil || w.silent.Load() {
		return
	}
	// Set before it is looked again, so that an answer in between is not missed.
	w.silent.Store(true)
	if w.waited(time.Now()) < SilenceAfter {
		w.silent.Store(false)
		return
	}
	w.onSilence(true)
}

// tellAnswer tells of the end of a silence that was told of.
func (w *wire) tellAnswer() {
	w.telling.Lock()
	defer w.telling.Unlock()
	if w.silent.Swap(false) {
		w.onSilence(false)
	}
}
