package simulator

import (
	"io"
	"net"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// rawClient speaks packets over a connection that the driver has logged in.
type rawClient struct {
	t    *testing.T
	conn net.Conn
	in   *tds.PacketReader
}

func newRawClient(t *testing.T, f *fake) *rawClient {
	t.Helper()
	return newRawServerClient(t, f.server)
}

func newRawServerClient(t *testing.T, server *Server) *rawClient {
	t.Helper()
	c := &rawClient{t: t}
	connector, err := mssql.NewConnector(dsn("sa", password))
	require.NoError(t, err)
	connector.Dialer = pipeDialer{server: server, wrap: func(nc net.Conn) net.Conn {
		c.conn = nc
		return nc
	}}
	login, err := connector.Connect(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = login.Close() })
	c.in = tds.NewPacketReader(c.conn, 0)
	return c
}

// send writes one packet that is a whole message.
func (c *rawClient) send(typ tds.PacketType, status byte, body []byte) {
	c.t.Helper()
	n := 8 + len(body)
	_, err := c.conn.Write(append([]byte{byte(typ), status, byte(n >> 8), byte(n), 0, 0, 1, 0}, body...))
	require.NoError(c.t, err)
}

func (c *rawClient) batch(text string) {
	c.t.Helper()
	c.send(tds.PacketSQLBatch, 1, sqltypes.AppendUTF16(headers(), text))
}

// headers is ALL_HEADERS without a transaction.
func headers() []byte {
	return append([]byte{22, 0, 0, 0, 18, 0, 0, 0, 2, 0}, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0)
}

// callProcedure is one RPC by name without parameters.
func callProcedure(name string) []byte {
	b := sqltypes.AppendUTF16([]byte{byte(len(name)), 0}, name)
	return append(b, 0, 0)
}

// receive reads one message and prints it.
func (c *rawClient) receive() string {
	c.t.Helper()
	m, err := c.in.ReadMessage()
	require.NoError(c.t, err)
	require.Equal(c.t, tds.PacketReply, m.Type)
	return tds.Trace(m.Payload)
}

func (c *rawClient) requireClosed() {
	c.t.Helper()
	_, err := c.in.ReadMessage()
	require.Equal(c.t, io.EOF, err)
}

func lines(s ...string) string { return strings.Join(s, "\n") + "\n" }

func TestWire_AttentionOfIdleConnection(t *testing.T) {
	f := newFake(t, Options{})
	c := newRawClient(t, f)
	for range 2 {
		c.send(tds.PacketAttention, 1, nil)
		assert.Equal(t, "DONE [attention] command 0x0\n", c.receive())
	}
}

// An attention sent right behind a request is that request's, however soon it
// ends: exactly one acknowledgement arrives, in a message of its own.
func TestWire_AttentionIsAnsweredOnce(t *testing.T) {
	f := newFake(t, Options{})
	f.statements["quick"] = func(c *call) error { return c.integers(1, 1) }
	c := newRawClient(t, f)
	for range 100 {
		c.batch("quick")
		c.send(tds.PacketAttention, 1, nil)
		require.NotContains(t, c.receive(), "attention", "the request's own message")
		require.Equal(t, "DONE [attention] command 0x0\n", c.receive())
	}
	c.batch("quick")
	assert.NotContains(t, c.receive(), "attention")
}

func TestWire_IgnoredRequest(t *testing.T) {
	f := newFake(t, Options{})
	c := newRawClient(t, f)
	c.send(tds.PacketSQLBatch, 0, headers())
	c.send(tds.PacketSQLBatch, 3, nil)
	assert.Equal(t, "DONE [error] command 0x0\n", c.receive())
}

func TestWire_PipelinedRequestsRunInOrder(t *testing.T) {
	f := newFake(t, Options{})
	f.statements["a"] = func(c *call) error { return c.integers(1, 0) }
	f.statements["b"] = func(c *call) error {
		return c.Done(engine.DoneInfo{Command: engine.CommandInsert, HasCount: true, Count: 7})
	}
	c := newRawClient(t, f)
	c.batch("a")
	c.batch("b")
	assert.Contains(t, c.receive(), "DONE [] command 0xC1 count 0\n")
	assert.Equal(t, "DONE [] command 0xC3 count 7\n", c.receive())
}

func TestWire_MalformedRequest(t *testing.T) {
	f := newFake(t, Options{})
	c := newRawClient(t, f)
	c.send(tds.PacketRPC, 1, []byte{1, 2, 3})
	answer := c.receive()
	assert.Contains(t, answer, "ERROR 4002 state 1 class 16")
	assert.Contains(t, answer, "DONE [error]")
	c.batch("select 1;")
	assert.Contains(t, c.receive(), "ROW 1\n", "the connection goes on")
}

func TestWire_UnsupportedMessageEndsTheConnection(t *testing.T) {
	f := newFake(t, Options{})
	c := newRawClient(t, f)
	c.send(tds.PacketFedAuthToken, 1, []byte{1, 2, 3})
	assert.Contains(t, c.receive(), "The simulator does not support messages of type FEDAUTHTOKEN.")
	c.requireClosed()
}

func TestWire_ShapeOfCalls(t *testing.T) {
	f := newFake(t, Options{})
	f.statements["rows"] = func(c *call) error {
		if err := c.Columns([]engine.Column{{Name: "n", Type: sqltypes.Simple(sqltypes.Int)}}); err != nil {
			return err
		}
		if err := c.Row([]sqltypes.Value{sqltypes.IntOf(1)}); err != nil {
			return err
		}
		if err := c.Done(engine.DoneInfo{InProc: true, HasCount: true, Count: 1, Command: engine.CommandSelect}); err != nil {
			return err
		}
		if err := c.ReturnStatus(0); err != nil {
			return err
		}
		return c.ReturnValue("@p", 0, sqltypes.Simple(sqltypes.Int), sqltypes.Null())
	}
	f.statements["fails"] = func(c *call) error {
		if err := c.Message(&engine.Message{Number: 50000, Class: 16, State: 1, Text: "no", Procedure: "fails", Line: 2}); err != nil {
			return err
		}
		if err := c.Done(engine.DoneInfo{InProc: true, Error: true}); err != nil {
			return err
		}
		return c.ReturnStatus(-6)
	}
	c := newRawClient(t, f)
	body := append(headers(), callProcedure("rows")...)
	body = append(append(body, 0xFF), callProcedure("fails")...)
	c.send(tds.PacketRPC, 1, body)
	assert.Equal(t, lines(
		`COLMETADATA 1`,
		`  "n" int wire 0x38 user 0 flags 0x08`,
		`ROW 1`,
		`DONEINPROC [more] command 0xC1 count 1`,
		`RETURNSTATUS 0`,
		`RETURNVALUE 0 "@p" status 1 int NULL`,
		`DONEPROC [more] command 0x0`,
		`ERROR 50000 state 1 class 16 "no" server "simulator" procedure "fails" line 2`,
		`DONEINPROC [more error] command 0x0`,
		`RETURNSTATUS -6`,
		`DONEPROC [error] command 0x0`,
	), c.receive())
}

func TestWire_TransactionBit(t *testing.T) {
	f := newFake(t, Options{})
	c := newRawClient(t, f)
	c.send(tds.PacketTransaction, 1, append(headers(), 5, 0, 2, 0))
	assert.Equal(t, lines("ENVCHANGE 8 new 0201000000000000 old ", "DONE [transaction] command 0x0"), c.receive())
	c.batch("select 1;")
	assert.Contains(t, c.receive(), "DONE [transaction] command 0xC1 count 1")
	c.send(tds.PacketTransaction, 1, append(headers(), 8, 0, 0, 1, 3, 0))
	assert.Equal(t, lines(
		"ENVCHANGE 10 new  old 0201000000000000",
		"ENVCHANGE 8 new 0301000000000000 old ",
		"DONE [transaction] command 0x0",
	), c.receive(), "rollback that begins the next one")
}

func TestWire_GarbageClosesTheConnection(t *testing.T) {
	f := newFake(t, Options{})
	for name, in := range map[string]string{
		"another protocol":        "GET / HTTP/1.1\r\n\r\n",
		"a reply":                 "\x04\x01\x00\x08\x00\x00\x00\x00",
		"empty pre-login":         "\x12\x01\x00\x08\x00\x00\x00\x00",
		"TLS without a handshake": "\x16\x03\x01\x00\x05hello",
		"nothing":                 "",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := f.server.Dial(t.Context())
			require.NoError(t, err)
			_, err = conn.Write([]byte(in))
			require.NoError(t, err)
			if in == "" {
				conn.Close()
				return
			}
			_, err = io.ReadAll(conn)
			require.NoError(t, err)
			conn.Close()
		})
	}
}

func utf16(s string) []byte { return sqltypes.AppendUTF16(nil, s) }
