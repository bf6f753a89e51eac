package tds

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// packet builds one packet by hand.
func packet(t PacketType, status uint8, body string) []byte {
	b := []byte{uint8(t), status, 0, 0, 0, 0, 1, 0}
	binary.BigEndian.PutUint16(b[2:], uint16(headerSize+len(body)))
	return append(b, body...)
}

func TestPacketReader_ReadMessage(t *testing.T) {
	join := func(packets ...[]byte) []byte { return bytes.Join(packets, nil) }
	tests := []struct {
		name    string
		in      []byte
		want    string
		status  uint8
		wantErr string
	}{
		{name: "one packet", in: packet(PacketSQLBatch, 1, "abc"), want: "abc", status: 1},
		{name: "empty body", in: packet(PacketAttention, 1, ""), want: "", status: 1},
		{name: "three packets", in: join(packet(PacketRPC, 0, "ab"), packet(PacketRPC, 0, ""), packet(PacketRPC, 1, "c")), want: "abc", status: 1},
		{name: "reset bit of the first packet", in: join(packet(PacketRPC, 8, "ab"), packet(PacketRPC, 1, "c")), want: "abc", status: 9},
		{name: "ignore bit of the last packet", in: join(packet(PacketRPC, 0, "ab"), packet(PacketRPC, 3, "")), want: "ab", status: 3},
		{name: "types mixed", in: join(packet(PacketRPC, 0, "ab"), packet(PacketSQLBatch, 1, "c")), wantErr: "SQLBATCH packet inside a message of type RPC"},
		{name: "unknown type, before its body is waited for", in: []byte("GET / HT"), wantErr: "packet type 71 is unknown"},
		{name: "length shorter than the header", in: []byte{1, 1, 0, 7, 0, 0, 0, 0}, wantErr: "shorter than its header"},
		{name: "cut in the body", in: packet(PacketRPC, 1, "abcdef")[:10], wantErr: "unexpected EOF"},
		{name: "cut in the header", in: []byte{1, 1, 0}, wantErr: "unexpected EOF"},
		{name: "cut between packets", in: packet(PacketRPC, 0, "ab"), wantErr: "unexpected EOF"},
		{name: "above the bound", in: join(packet(PacketRPC, 0, "12345678"), packet(PacketRPC, 1, "9")), wantErr: "exceeds the size limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := NewPacketReader(iotest.OneByteReader(bytes.NewReader(tt.in)), 8).ReadMessage()
			if tt.wantErr != "" {
				require.ErrorContains(t, err, tt.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(m.Payload))
			assert.Equal(t, tt.status, m.Status)
		})
	}
	t.Run("end between messages", func(t *testing.T) {
		r := NewPacketReader(bytes.NewReader(packet(PacketSQLBatch, 1, "abc")), 0)
		_, err := r.ReadMessage()
		require.NoError(t, err)
		_, err = r.ReadMessage()
		require.Equal(t, io.EOF, err)
	})
}

// A header that claims much must not cost memory before bytes arrive.
func TestPacketReader_MemoryFollowsBytes(t *testing.T) {
	var in []byte
	for range 3 {
		in = append(in, packet(PacketRPC, 0, "x")...)
	}
	r := NewPacketReader(bytes.NewReader(in), 0)
	_, err := r.ReadMessage()
	require.Error(t, err)
	assert.Less(t, cap(r.buf), 64)
}

// An attention between the packets of a message takes the message back.
func TestPacketReader_AttentionBetweenPackets(t *testing.T) {
	in := append(packet(PacketSQLBatch, 0, "abc"), packet(PacketAttention, StatusEndOfMessage, "")...)
	in = append(in, packet(PacketSQLBatch, StatusEndOfMessage, "d")...)
	r := NewPacketReader(bytes.NewReader(in), 0)
	m, err := r.ReadMessage()
	require.NoError(t, err)
	assert.Equal(t, PacketAttention, m.Type)
	assert.Empty(t, m.Payload)
	m, err = r.ReadMessage()
	require.NoError(t, err)
	assert.Equal(t, "d", string(m.Payload))
}

func TestPacketWriter_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(MinPacketSize, 2*MinPacketSize).Draw(t, "packet size")
		messages := rapid.SliceOfN(rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 1500), 0, 4), 1, 4).Draw(t, "writes")
		var wire bytes.Buffer
		w := NewPacketWriter(&wire, PacketReply, size)
		w.SetSPID(0x0102)
		for _, writes := range messages {
			for i, b := range writes {
				if _, err := w.Write(b); err != nil {
					t.Fatal(err)
				}
				if i == 0 && len(writes) > 1 {
					if err := w.Flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := w.EndMessage(); err != nil {
				t.Fatal(err)
			}
		}
		assertFraming(t, wire.Bytes(), size)
		r := NewPacketReader(&wire, 0)
		for _, writes := range messages {
			m, err := r.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			if want := bytes.Join(writes, nil); !bytes.Equal(want, m.Payload) {
				t.Fatalf("want %d bytes, got %d", len(want), len(m.Payload))
			}
		}
	})
}

// assertFraming checks sizes, sequence numbers and SPIDs of all packets.
func assertFraming(t *rapid.T, wire []byte, size int) {
	sequence := uint8(0)
	for len(wire) > 0 {
		sequence++
		n := int(binary.BigEndian.Uint16(wire[2:]))
		if n > size || wire[6] != sequence || binary.BigEndian.Uint16(wire[4:]) != 0x0102 {
			t.Fatalf("packet of %d bytes, sequence %d, want at most %d and %d", n, wire[6], size, sequence)
		}
		if wire[1]&StatusEndOfMessage != 0 {
			sequence = 0
		}
		wire = wire[n:]
	}
}

func TestPacketWriter_SizeChangesWithNextPacket(t *testing.T) {
	var wire bytes.Buffer
	w := NewPacketWriter(&wire, PacketReply, 512)
	_, err := w.Write(make([]byte, 10))
	require.NoError(t, err)
	require.NoError(t, w.EndMessage())
	w.SetPacketSize(1024)
	_, err = w.Write(make([]byte, 2000))
	require.NoError(t, err)
	require.NoError(t, w.EndMessage())
	second := wire.Bytes()[18:]
	assert.Equal(t, uint16(1024), binary.BigEndian.Uint16(second[2:]))
	assert.Equal(t, uint8(0), second[1])
}

func TestPacketWriter_ErrorSticks(t *testing.T) {
	broken := errors.New("broken")
	w := NewPacketWriter(errWriter{broken}, PacketReply, 512)
	require.NoError(t, w.Flush())
	_, err := w.Write(make([]byte, gather+1024))
	require.ErrorIs(t, err, broken)
	_, err = w.Write([]byte{1})
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, w.Flush(), broken)
	require.ErrorIs(t, w.EndMessage(), broken)
}

type errWriter struct{ err error }

func (w errWriter) Write([]byte) (int, error) { return 0, w.err }

func FuzzPacketReader(f *testing.F) {
	f.Add(packet(PacketSQLBatch, 1, "abc"))
	f.Add(append(packet(PacketRPC, 0, "ab"), packet(PacketRPC, 1, "c")...))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewPacketReader(bytes.NewReader(in), 1<<16)
		total := 0
		for {
			m, err := r.ReadMessage()
			if err != nil {
				return
			}
			total += len(m.Payload)
			require.LessOrEqual(t, total, len(in))
		}
	})
}
