package simulator

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// transport is a connection whose reads are buffered, so that a packet header
// costs no system call and the first byte can be looked at.
type transport struct {
	net.Conn
	r *bufio.Reader
}

const readBuffer = 16 << 10

func newTransport(c net.Conn) *transport {
	return &transport{Conn: c, r: bufio.NewReaderSize(c, readBuffer)}
}

func (t *transport) Read(b []byte) (int, error) { return t.r.Read(b) }

// tlsHandshake is the first byte of a TLS connection, where TDS 7 has a packet
// type.
const tlsHandshake = 0x16

// startsWithTLS reports a client of TDS 8.
func (t *transport) startsWithTLS() (bool, error) {
	first, err := t.r.Peek(1)
	if err != nil {
		return false, err
	}
	return first[0] == tlsHandshake, nil
}

// wrappedTLS is what TLS runs over in TDS 7. During the handshake records
// travel as the payload of PRELOGIN packets (MS-TDS 3.2.5.2); afterwards they
// stand alone.
//
// It never hands over bytes beyond a record that TLS has begun: when only the
// login is encrypted, plain packets follow the last record on the same
// connection.
type wrappedTLS struct {
	*transport
	wrapped bool
	packets *tds.PacketReader
	payload []byte // of the current PRELOGIN packet, not yet read
	out     *tds.PacketWriter
	record  recordReader
}

// acceptWrappedTLS runs the server's side of the handshake.
func acceptWrappedTLS(ctx context.Context, t *transport, config *tls.Config) (*tls.Conn, error) {
	w := &wrappedTLS{
		transport: t,
		wrapped:   true,
		packets:   tds.NewPacketReader(t, tds.MaxPacketSize),
		out:       tds.NewPacketWriter(t, tds.PacketPrelogin, tds.DefaultPacketSize),
		record:    recordReader{r: t},
	}
	conn := tls.Server(w, config)
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	if err := w.finish(); err != nil {
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return conn, nil
}

// finish sends what the handshake has left to send and stops wrapping.
func (w *wrappedTLS) finish() error {
	err := w.flushHandshake()
	w.wrapped = false
	return err
}

func (w *wrappedTLS) Read(b []byte) (int, error) {
	if !w.wrapped {
		return w.record.Read(b)
	}
	if len(w.payload) == 0 {
		if err := w.flushHandshake(); err != nil {
			return 0, err
		}
		m, err := w.packets.ReadMessage()
		if err != nil {
			return 0, err
		}
		if m.Type != tds.PacketPrelogin {
			return 0, fmt.Errorf("%v during the TLS handshake", m.Type)
		}
		w.payload = m.Payload
	}
	n := copy(b, w.payload)
	w.payload = w.payload[n:]
	return n, nil
}

// flushHandshake sends what the handshake has written, when it now waits for
// the client.
func (w *wrappedTLS) flushHandshake() error {
	if !w.out.Pending() {
		return nil
	}
	return w.out.EndMessage()
}

func (w *wrappedTLS) Write(b []byte) (int, error) {
	if w.wrapped {
		return w.out.Write(b)
	}
	return w.transport.Write(b)
}

// recordReader reads TLS records one at a time.
type recordReader struct {
	r      io.Reader
	header [5]byte
	unread []byte // of the header
	left   int    // bytes of the record's body
}

func (r *recordReader) Read(b []byte) (int, error) {
	if len(r.unread) == 0 && r.left == 0 {
		if _, err := io.ReadFull(r.r, r.header[:]); err != nil {
			return 0, err
		}
		r.unread = r.header[:]
		r.left = int(r.header[3])<<8 | int(r.header[4])
	}
	if len(r.unread) > 0 {
		n := copy(b, r.unread)
		r.unread = r.unread[n:]
		return n, nil
	}
	n, err := r.r.Read(b[:min(len(b), r.left)])
	r.left -= n
	return n, err
}

// loginStream reads a login of which only the first packet may be encrypted:
// go-mssqldb returns to plain packets right after that one, mssql-jdbc after
// the whole message. The first byte of what comes next tells.
type loginStream struct {
	secured, plain *transport
}

// tlsApplicationData is the first byte of a TLS record that carries data; no
// packet type is 23.
const tlsApplicationData = 0x17

func (l loginStream) Read(b []byte) (int, error) {
	if l.secured.r.Buffered() > 0 {
		return l.secured.Read(b)
	}
	next, err := l.plain.r.Peek(1)
	if err != nil {
		return 0, err
	}
	if next[0] == tlsApplicationData {
		return l.secured.Read(b)
	}
	return l.plain.Read(b)
}

// Write is never called before the login is read.
func (l loginStream) Write(b []byte) (int, error) { return l.secured.Write(b) }
