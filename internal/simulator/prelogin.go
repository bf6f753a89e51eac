package simulator

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// transports are what a login negotiated: what LOGIN7 travels on, and what all
// that follows does.
type transports struct {
	login, rest io.ReadWriter
	encrypted   bool // rest is
	strict      bool // TDS 8
}

// prelogin exchanges PRELOGIN messages and sets up TLS: before them when the
// client speaks TDS 8, else as they agree.
func (c *conn) prelogin() (transports, error) {
	strict, err := c.plain.startsWithTLS()
	if err != nil {
		return transports{}, err
	}
	if strict {
		return c.preloginInsideTLS()
	}
	c.use(c.plain)
	encryption, err := c.answerPrelogin(c.server.negotiate)
	if err != nil {
		return transports{}, err
	}
	if encryption == tds.EncryptNotSupported {
		return transports{login: c.plain, rest: c.plain}, nil
	}
	conn, err := acceptWrappedTLS(c.ctx, c.plain, c.server.wrappedTLS)
	if err != nil {
		return transports{}, err
	}
	secured := newTransport(conn)
	if encryption == tds.EncryptOff {
		return transports{login: loginStream{secured: secured, plain: c.plain}, rest: c.plain}, nil
	}
	return transports{login: secured, rest: secured, encrypted: true}, nil
}

// preloginInsideTLS is the order of TDS 8. The ENCRYPTION option means nothing
// there and is answered as it came.
func (c *conn) preloginInsideTLS() (transports, error) {
	if c.server.strictTLS == nil {
		return transports{}, errors.New("client wants TDS 8, which the server has no certificate for")
	}
	conn := tls.Server(c.plain, c.server.strictTLS)
	if err := conn.HandshakeContext(c.ctx); err != nil {
		return transports{}, fmt.Errorf("TLS handshake: %w", err)
	}
	secured := newTransport(conn)
	c.use(secured)
	_, err := c.answerPrelogin(func(client tds.Encryption) tds.Encryption { return client })
	return transports{login: secured, rest: secured, encrypted: true, strict: true}, err
}

// answerPrelogin reads the client's PRELOGIN and answers what encryption is
// used.
func (c *conn) answerPrelogin(negotiate func(client tds.Encryption) tds.Encryption) (tds.Encryption, error) {
	m, err := c.in.ReadMessage()
	if err != nil {
		return 0, err
	}
	if m.Type != tds.PacketPrelogin {
		return 0, fmt.Errorf("%v instead of PRELOGIN", m.Type)
	}
	hello, err := tds.ParsePrelogin(m.Payload)
	if err != nil {
		return 0, err
	}
	encryption := negotiate(hello.Encryption)
	answer := tds.AppendPrelogin(nil, tds.Prelogin{Version: c.server.version, Encryption: encryption})
	if _, err := c.packets.Write(answer); err != nil {
		return 0, err
	}
	return encryption, c.packets.EndMessage()
}

// negotiate answers a client's ENCRYPTION option (MS-TDS 2.2.6.5). A client
// that cannot live with the answer hangs up.
func (s *Server) negotiate(client tds.Encryption) tds.Encryption {
	switch {
	case s.opts.Encryption == EncryptionUnsupported:
		return tds.EncryptNotSupported
	case client == tds.EncryptNotSupported && s.opts.Encryption != EncryptionForced:
		return tds.EncryptNotSupported
	case s.opts.Encryption == EncryptionForced && client != tds.EncryptOn:
		return tds.EncryptRequired
	case client == tds.EncryptOff:
		return tds.EncryptOff
	}
	return tds.EncryptOn
}
