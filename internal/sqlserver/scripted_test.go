package sqlserver

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// scripted is a server of a few lines that answers every statement with what a
// test says, to play servers that misbehave.
type scripted struct {
	// answer is called for every statement; it runs until it returns.
	answer func(statement string, r *reply)
	// deaf makes the server ignore attentions.
	deaf bool
	// fedAuth makes the server ask for a token of Entra ID.
	fedAuth bool

	mu         sync.Mutex
	statements []string
	attentions int
	logins     []tds.Login7
	proofs     [][]byte // what the client answered during logins
}

// reply is the answer to one statement. Rows hold one int.
type reply struct {
	conn net.Conn
	out  *tds.PacketWriter
	rows *tds.RowEncoder
	call bool // the statement came by a procedure call, not as a batch
}

func (r *reply) columns() {
	columns := []tds.Column{{Name: "n", Type: sqltypes.Simple(sqltypes.Int)}}
	r.rows = tds.NewRowEncoder(columns)
	_, _ = r.out.Write(tds.AppendColMetadata(nil, columns))
}

func (r *reply) row(n int64) {
	_, _ = r.out.Write(r.rows.AppendRow(nil, []sqltypes.Value{sqltypes.IntOf(n)}))
}

func (r *reply) fail(number int32, class uint8) { r.failText(number, class, "refused") }

func (r *reply) failText(number int32, class uint8, message string) {
	_, _ = r.out.Write(tds.AppendNotice(nil, tds.Notice{Number: number, Class: class, State: 1, Message: message, Line: 1}))
	_, _ = r.out.Write(tds.AppendDone(nil, tds.DoneToken{Kind: tds.Done, Status: tds.DoneError}))
	_ = r.out.EndMessage()
}

// failMidway is an error with statements behind it that went on.
func (r *reply) failMidway(kind tds.DoneKind, number int32) {
	_, _ = r.out.Write(tds.AppendNotice(nil, tds.Notice{Number: number, Class: 16, State: 1, Message: "refused", Line: 1}))
	_, _ = r.out.Write(tds.AppendDone(nil, tds.DoneToken{Kind: kind, Status: tds.DoneError | tds.DoneMore}))
	for range 20 {
		_, _ = r.out.Write(tds.AppendDone(nil, tds.DoneToken{Kind: kind, Status: tds.DoneMore}))
	}
	if kind == tds.DoneInProc {
		_, _ = r.out.Write(tds.AppendReturnStatus(nil, number))
		_, _ = r.out.Write(tds.AppendDone(nil, tds.DoneToken{Kind: tds.DoneProc}))
	} else {
		_, _ = r.out.Write(tds.AppendDone(nil, tds.DoneToken{Kind: kind}))
	}
	_ = r.out.EndMessage()
}

// severe is the end of a session that the server could not help.
func (r *reply) severe() {
	_, _ = r.out.Write(tds.AppendNotice(nil, tds.Notice{Number: 4014, Class: 20, State: 1, Message: "fatal", Line: 1}))
	_, _ = r.out.Write(tds.AppendDone(nil, tds.DoneToken{Kind: tds.Done, Status: tds.DoneServerError}))
	_ = r.out.EndMessage()
}

func (r *reply) done() {
	_, _ = r.out.Write(tds.AppendDone(nil, tds.DoneToken{Kind: tds.Done}))
	_ = r.out.EndMessage()
}

// dial connects to the server in memory.
func (s *scripted) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go s.serve(server)
	return client, nil
}

func (s *scripted) serve(conn net.Conn) {
	defer conn.Close()
	in := tds.NewPacketReader(conn, tds.MaxMessageSize)
	for {
		m, err := in.ReadMessage()
		if err != nil {
			return
		}
		out := tds.NewPacketWriter(conn, tds.PacketReply, tds.DefaultPacketSize)
		switch m.Type {
		case tds.PacketPrelogin:
			_, _ = out.Write(s.prelogin())
			_ = out.EndMessage()
		case tds.PacketLogin7:
			login, err := tds.ParseLogin7(m.Payload)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.logins = append(s.logins, login)
			s.mu.Unlock()
			s.challenge(login, out)
		case packetSSPI, packetFedAuth:
			s.mu.Lock()
			s.proofs = append(s.proofs, slices.Clone(m.Payload))
			s.mu.Unlock()
			accept(out)
		case tds.PacketAttention:
			s.mu.Lock()
			s.attentions++
			s.mu.Unlock()
			if !s.deaf {
				_, _ = out.Write(tds.AppendDone(nil, tds.DoneToken{Kind: tds.Done, Status: tds.DoneAttention}))
				_ = out.EndMessage()
			}
		case tds.PacketSQLBatch:
			batch, err := tds.ParseSQLBatch(m.Payload)
			if err != nil {
				return
			}
			s.run(batch.Text, &reply{conn: conn, out: out})
		case tds.PacketRPC:
			_, calls, err := tds.ParseRPC(m.Payload)
			if err != nil {
				return
			}
			s.run(calls[0].Params[0].Value.Str(), &reply{conn: conn, out: out, call: true})
		default:
			return
		}
	}
}

func (s *scripted) run(text string, r *reply) {
	s.mu.Lock()
	s.statements = append(s.statements, text)
	s.mu.Unlock()
	s.answer(text, r)
}

// connect opens a connection to a scripted server.
func (s *scripted) connect(t *testing.T, cfg Config) *Conn {
	t.Helper()
	cfg.Host, cfg.Encrypt, cfg.Password, cfg.Dial = "h", EncryptFalse, secret, s.dial
	server, err := NewServer(cfg)
	require.NoError(t, err)
	conn, err := server.Connect(t.Context(), "")
	require.NoError(t, err)
	return conn
}
