package simulator

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPipe_CarriesBytes(t *testing.T) {
	client, server := newPipe()
	defer client.Close()
	data := make([]byte, 3*pipeCapacity+17)
	random := rand.NewChaCha8(sha256.Sum256(nil))
	_, _ = random.Read(data)
	go func() {
		defer server.Close()
		for rest := data; len(rest) > 0; {
			n := min(len(rest), 1+int(random.Uint64()%70_000))
			if _, err := server.Write(rest[:n]); err != nil {
				return
			}
			rest = rest[n:]
		}
	}()
	got, err := io.ReadAll(client)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(data, got))
}

func TestPipe_Close(t *testing.T) {
	client, server := newPipe()
	_, err := server.Write([]byte("last words"))
	require.NoError(t, err)
	require.NoError(t, server.Close())
	require.NoError(t, server.Close())
	got, err := io.ReadAll(client)
	require.NoError(t, err)
	assert.Equal(t, "last words", string(got))
	_, err = client.Write([]byte("lost"))
	require.NoError(t, err, "as over TCP, where the reset comes later")
	_, err = client.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.EPIPE)
	_, err = server.Read(make([]byte, 1))
	require.ErrorIs(t, err, net.ErrClosed)
	require.NoError(t, client.Close())
	_, err = client.Write([]byte("x"))
	require.ErrorIs(t, err, net.ErrClosed)
	var netErr net.Error
	require.ErrorAs(t, err, &netErr)
}

func TestPipe_Deadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := newPipe()
		defer client.Close()
		defer server.Close()
		start := time.Now()
		require.NoError(t, client.SetReadDeadline(start.Add(time.Second)))
		_, err := client.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(start))

		require.NoError(t, client.SetWriteDeadline(start.Add(3*time.Second)))
		n, err := client.Write(make([]byte, pipeCapacity+1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, pipeCapacity, n)
		assert.Equal(t, 3*time.Second, time.Since(start))

		require.NoError(t, client.SetDeadline(time.Time{}))
		_, err = server.Write([]byte("x"))
		require.NoError(t, err)
		_, err = client.Read(make([]byte, 1))
		require.NoError(t, err)

		require.NoError(t, client.SetDeadline(start))
		_, err = client.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "a deadline in the past")
	})
}

func TestPipe_CloseWakesReaderAndWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := newPipe()
		results := make(chan error, 2)
		go func() {
			_, err := client.Read(make([]byte, 1))
			results <- err
		}()
		go func() {
			_, err := client.Write(make([]byte, 2*pipeCapacity))
			results <- err
		}()
		synctest.Wait()
		server.Close()
		for range 2 { // the reader ends with EOF; the writer's bytes are lost
			if err := <-results; err != nil {
				require.ErrorIs(t, err, io.EOF)
			}
		}
		client.Close()
	})
}
