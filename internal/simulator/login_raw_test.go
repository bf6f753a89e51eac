package simulator

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// plainPrelogin is a PRELOGIN of a client without encryption that wants MARS
// (MS-TDS 2.2.6.5).
var plainPrelogin = []byte{
	0, 0, 16, 0, 6, // VERSION
	1, 0, 22, 0, 1, // ENCRYPTION
	4, 0, 23, 0, 1, // MARS
	0xFF,
	11, 0, 0, 0, 0, 0,
	2,
	1,
}

// loginMessage is LOGIN7 of sa with the password of these tests (MS-TDS
// 2.2.6.4). features are the bytes of FeatureExt, nil for none.
func loginMessage(version, packetSize uint32, features []byte) []byte {
	b := make([]byte, 94)
	binary.LittleEndian.PutUint32(b[4:], version)
	binary.LittleEndian.PutUint32(b[8:], packetSize)
	field := func(pos int, text string, transform func(byte) byte) {
		binary.LittleEndian.PutUint16(b[pos:], uint16(len(b)))
		binary.LittleEndian.PutUint16(b[pos+2:], uint16(len(text)))
		for _, x := range sqltypes.AppendUTF16(nil, text) {
			if transform != nil {
				x = transform(x)
			}
			b = append(b, x)
		}
	}
	field(40, "sa", nil)
	field(44, password, func(x byte) byte { return (x<<4 | x>>4) ^ 0xA5 })
	if features != nil {
		b[27] |= 0x10
		binary.LittleEndian.PutUint16(b[56:], uint16(len(b)))
		binary.LittleEndian.PutUint16(b[58:], 4)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(b)+4))
		b = append(b, features...)
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	return b
}

// dialRaw connects without a driver.
func dialRaw(t *testing.T, s *Server) *rawClient {
	t.Helper()
	conn, err := s.Dial(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &rawClient{t: t, conn: conn, in: tds.NewPacketReader(conn, 0)}
}

// loginRaw logs in without a driver and returns the answer to LOGIN7.
func loginRaw(t *testing.T, s *Server, login []byte) (*rawClient, string) {
	t.Helper()
	c := dialRaw(t, s)
	c.send(tds.PacketPrelogin, 1, plainPrelogin)
	_, err := c.in.ReadMessage()
	require.NoError(t, err)
	c.send(tds.PacketLogin7, 1, login)
	return c, c.receive()
}

func TestPrelogin_Answer(t *testing.T) {
	f := newFake(t, Options{})
	c := dialRaw(t, f.server)
	c.send(tds.PacketPrelogin, 1, plainPrelogin)
	m, err := c.in.ReadMessage()
	require.NoError(t, err)
	answer, err := tds.ParsePrelogin(m.Payload)
	require.NoError(t, err)
	assert.Equal(t, tds.EncryptNotSupported, answer.Encryption)
	assert.False(t, answer.MARS, "MARS is declined")
	assert.Equal(t, byte(0), m.Payload[0], "VERSION comes first")
}

func TestLogin_ProtocolVersions(t *testing.T) {
	f := newFake(t, Options{})
	f.statements["types"] = func(c *call) error {
		return c.dates()
	}
	for _, tt := range []struct {
		name         string
		asked, agree uint32
		row          string
		column       string
	}{
		{"7.4", 0x74000004, 0x74000004, "NBCROW", `"d" date`},
		{"later", 0x75000000, 0x74000004, "NBCROW", `"d" date`},
		{"7.3.B", 0x730B0003, 0x730B0003, "NBCROW", `"d" date`},
		{"7.3.A", 0x730A0003, 0x730A0003, "ROW", `"d" date`},
		{"7.2", 0x72090002, 0x72090002, "ROW", `"d" nvarchar(10)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, answer := loginRaw(t, f.server, loginMessage(tt.asked, 4096, nil))
			require.Contains(t, answer, "LOGINACK version "+hex32(tt.agree))
			c.batch("types")
			answer = c.receive()
			assert.Contains(t, answer, "\n"+tt.row+" ")
			assert.Contains(t, answer, tt.column)
			if tt.agree == 0x72090002 {
				assert.Contains(t, answer, `ROW "2024-02-29" | "01:02:03.12" | "2024-02-29 01:02:03.1234567" | "2024-02-29 01:02:03 +05:30" | NULL`)
			}
		})
	}
	_, answer := loginRaw(t, f.server, loginMessage(0x71000001, 4096, nil))
	assert.Contains(t, answer, "ERROR 18456")
	assert.Contains(t, answer, "needs 7.2 or later")
}

func hex32(v uint32) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for shift := 28; shift >= 0; shift -= 4 {
		b.WriteByte(digits[v>>shift&15])
	}
	return b.String()
}

func TestLogin_PacketSizes(t *testing.T) {
	f := newFake(t, Options{})
	for asked, agreed := range map[uint32]string{0: "4096", 1: "512", 511: "512", 512: "512", 8000: "8000", 32767: "32767", 1 << 31: "32767"} {
		_, answer := loginRaw(t, f.server, loginMessage(0x74000004, asked, nil))
		assert.Contains(t, answer, `ENVCHANGE 4 new "`+agreed+`" old "4096"`, asked)
	}
}

// Features that are not acknowledged are declined (MS-TDS 2.2.7.11).
func TestLogin_Features(t *testing.T) {
	f := newFake(t, Options{})
	var offered []byte
	offer := func(id byte, data ...byte) {
		offered = append(binary.LittleEndian.AppendUint32(append(offered, id), uint32(len(data))), data...)
	}
	offer(0x01, 0, 0, 0, 0) // SESSIONRECOVERY
	offer(0x04, 3)          // COLUMNENCRYPTION
	offer(0x05)             // GLOBALTRANSACTIONS
	offer(0x08, 1)          // AZURESQLSUPPORT
	offer(0x09, 2)          // DATACLASSIFICATION
	offer(0x0A, 1)          // UTF8_SUPPORT
	offer(0x0B)             // AZURESQLDNSCACHING
	offer(0x0D, 1)          // JSONSUPPORT
	offer(0x0E, 1)          // VECTORSUPPORT
	offer(0x10, 'x')        // USERAGENT
	_, answer := loginRaw(t, f.server, loginMessage(0x74000004, 4096, append(offered, 0xFF)))
	assert.Contains(t, answer, "LOGINACK")
	assert.Equal(t, 1, strings.Count(answer, "FEATUREEXTACK"), answer)
	assert.Contains(t, answer, "FEATUREEXTACK 10 01\n")

	_, answer = loginRaw(t, f.server, loginMessage(0x74000004, 4096, []byte{0x02, 1, 0, 0, 0, 2, 0xFF}))
	assert.Contains(t, answer, "Federated authentication is not supported.")
	_, answer = loginRaw(t, f.server, loginMessage(0x74000004, 4096, []byte{0xFF}))
	assert.NotContains(t, answer, "FEATUREEXTACK")
}

func TestLogin_MalformedClosesTheConnection(t *testing.T) {
	f := newFake(t, Options{})
	good := loginMessage(0x74000004, 4096, []byte{0xFF})
	change := func(at int, b ...byte) []byte {
		bad := append([]byte(nil), good...)
		copy(bad[at:], b)
		return bad
	}
	for name, login := range map[string][]byte{
		"empty":                      {},
		"cut":                        good[:93],
		"length of 2 GB":             change(0, 0xFF, 0xFF, 0xFF, 0x7F),
		"length below its own":       change(0, 4, 0, 0, 0),
		"user outside":               change(40, 0xFF, 0xFF, 1, 0),
		"features outside":           change(56, 0xFF, 0xFF),
		"feature without terminator": loginMessage(0x74000004, 4096, []byte{0x0A, 0xFF, 0xFF, 0xFF, 0x7F}),
	} {
		t.Run(name, func(t *testing.T) {
			c := dialRaw(t, f.server)
			c.send(tds.PacketPrelogin, 1, plainPrelogin)
			_, err := c.in.ReadMessage()
			require.NoError(t, err)
			c.send(tds.PacketLogin7, 1, login)
			c.requireClosed()
		})
	}
}

func TestLogin_TimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{})
		for name, say := range map[string]func(net.Conn){
			"silent":         func(net.Conn) {},
			"after a packet": func(c net.Conn) { _, _ = c.Write([]byte{0x12, 1, 0, 50, 0, 0, 1, 0}) },
		} {
			conn, err := f.server.Dial(t.Context())
			require.NoError(t, err)
			say(conn)
			start := time.Now()
			_, err = io.ReadAll(conn)
			require.NoError(t, err, name)
			assert.Equal(t, time.Minute, time.Since(start), name)
			conn.Close()
		}
		c, _ := loginRaw(t, f.server, loginMessage(0x74000004, 4096, nil))
		<-time.After(time.Hour)
		c.batch("select 1;")
		assert.Contains(t, c.receive(), "ROW 1", "a session has no time limit")
		c.conn.Close()
		require.NoError(t, f.server.Close())
	})
}

func TestEngine_ConnectionsAreSeen(t *testing.T) {
	s, _ := newServerDB(t)
	for encrypt, want := range map[string]string{"disable": "FALSE", "false": "FALSE", "true": "TRUE"} {
		db := openDB(t, s, dsn("sa", password, "encrypt", encrypt, "TrustServerCertificate", "true", "packet size", "8000"))
		var option string
		var protocol, size int
		require.NoError(t, db.QueryRowContext(t.Context(),
			"SELECT encrypt_option, protocol_version, net_packet_size FROM sys.dm_exec_connections WHERE session_id = @@SPID").
			Scan(&option, &protocol, &size))
		assert.Equal(t, want, option)
		assert.Equal(t, 0x74000004, protocol)
		assert.Equal(t, 8000, size)
	}
}

// withDatabase adds the database that LOGIN7 asks for.
func withDatabase(login []byte, name string) []byte {
	binary.LittleEndian.PutUint16(login[68:], uint16(len(login)))
	binary.LittleEndian.PutUint16(login[70:], uint16(len(name)))
	login = append(login, utf16(name)...)
	binary.LittleEndian.PutUint32(login, uint32(len(login)))
	return login
}
