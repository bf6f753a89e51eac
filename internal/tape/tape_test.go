package tape_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/tape"
)

// request frames a batch with ALL_HEADERS holding the transaction descriptor.
func request(descriptor byte, text string, packets int) []byte {
	payload := binary.LittleEndian.AppendUint32(nil, 22)
	payload = binary.LittleEndian.AppendUint32(payload, 18)
	payload = binary.LittleEndian.AppendUint16(payload, 2)
	payload = append(payload, descriptor, 0, 0, 0, 0, 0, 0, 0)
	payload = binary.LittleEndian.AppendUint32(payload, 1)
	payload = append(payload, text...)
	return frame(0x01, payload, packets)
}

func frame(kind byte, payload []byte, packets int) []byte {
	var out []byte
	for i := range packets {
		part := payload[i*len(payload)/packets : (i+1)*len(payload)/packets]
		status := byte(0)
		if i == packets-1 {
			status = 1
		}
		out = append(out, kind, status)
		out = binary.BigEndian.AppendUint16(out, uint16(len(part)+8))
		out = append(out, 0, 0, 1, 0)
		out = append(out, part...)
	}
	return out
}

// script is a dialer to a server that gives its answers in turn.
type script struct{ answers []string }

func (s *script) DialContext(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		defer server.Close()
		buffer := make([]byte, 4096)
		for _, answer := range s.answers {
			if _, err := server.Read(buffer); err != nil {
				return
			}
			if _, err := io.WriteString(server, answer); err != nil {
				return
			}
		}
	}()
	return client, nil
}

func ask(t *testing.T, conn net.Conn, request []byte, size int) string {
	t.Helper()
	_, err := conn.Write(request)
	require.NoError(t, err)
	answer := make([]byte, size)
	_, err = io.ReadFull(conn, answer)
	require.NoError(t, err)
	return string(answer)
}

func record(t *testing.T) *tape.Tape {
	t.Helper()
	recorder := tape.NewRecorder(&script{answers: []string{"hello", "page 1", "page 2", "idle"}})
	conn, err := recorder.DialContext(t.Context(), "tcp", "server")
	require.NoError(t, err)
	defer conn.Close()
	require.Equal(t, "hello", ask(t, conn, frame(0x12, []byte("nonce"), 1), 5))
	require.Equal(t, "page 1", ask(t, conn, request(1, "page", 1), 6))
	require.Equal(t, "page 2", ask(t, conn, request(2, "page", 1), 6))
	require.Equal(t, "idle", ask(t, conn, request(3, "poll", 1), 4))
	require.Equal(t, 4, recorder.Requests())
	recorded, err := recorder.Tape()
	require.NoError(t, err)
	return recorded
}

func TestTape_AnswersByRequest(t *testing.T) {
	t.Run("from memory", func(t *testing.T) { answersByRequest(t, record(t)) })
	t.Run("from a file", func(t *testing.T) {
		file, err := os.Create(filepath.Join(t.TempDir(), "tape"))
		require.NoError(t, err)
		defer file.Close()
		recorded := record(t)
		require.NoError(t, recorded.Spool(file))
		answersByRequest(t, recorded)
	})
}

func answersByRequest(t *testing.T, recorded *tape.Tape) {
	t.Helper()
	assert.Equal(t, 3, recorded.Len())
	assert.Equal(t, len("page 1page 2idle"), recorded.Bytes())
	for range 2 { // a tape can be played again
		conn, err := recorded.Play().DialContext(t.Context(), "", "")
		require.NoError(t, err)
		assert.Equal(t, "idle", ask(t, conn, request(9, "poll", 3), 4), "several packets, another transaction")
		assert.Equal(t, "hello", ask(t, conn, frame(0x12, []byte("another nonce"), 1), 5))
		assert.Equal(t, "page 1", ask(t, conn, request(9, "page", 1), 6))
		assert.Equal(t, "page 2", ask(t, conn, request(9, "page", 2), 6))
		assert.Equal(t, "page 2", ask(t, conn, request(9, "page", 1), 6), "the last answer is given again")

		_, err = conn.Write(request(9, "never asked", 1))
		require.ErrorContains(t, err, "never asked")
		_, err = conn.Read(make([]byte, 1))
		require.ErrorContains(t, err, "never asked")
		require.NoError(t, conn.Close())
	}
}

func TestTape_Sequence(t *testing.T) {
	conn, err := record(t).PlaySequence().DialContext(t.Context(), "", "")
	require.NoError(t, err)
	defer conn.Close()
	assert.Equal(t, "hello", ask(t, conn, frame(0x12, nil, 1), 5))
	assert.Equal(t, "page 1", ask(t, conn, request(0, "x", 1), 6))
	assert.Equal(t, "page 2", ask(t, conn, request(0, "y", 1), 6))
	assert.Equal(t, "idle", ask(t, conn, request(0, "z", 1), 4))
	_, err = conn.Write(request(0, "x", 1))
	require.ErrorIs(t, err, io.EOF)
}

// A client that cancels waits for the acknowledgement, behind what it has not
// read yet.
func TestTape_AcknowledgesAttention(t *testing.T) {
	conn, err := record(t).Play().DialContext(t.Context(), "", "")
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write(request(9, "page", 1))
	require.NoError(t, err)
	got := ask(t, conn, frame(0x06, nil, 1), len("page 1")+21)
	assert.Equal(t, "page 1", got[:6])
	assert.Equal(t, "\x04\x01\x00\x15", got[6:10], "a whole packet")
	assert.Equal(t, "\xfd\x20", got[14:16], "DONE with the attention bit")
}
