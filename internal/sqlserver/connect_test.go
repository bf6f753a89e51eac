package sqlserver

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// silent accepts a connection and never says a word.
func silent(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go io.Copy(io.Discard, server) //nolint:errcheck // ends when the client closes
	return client, nil
}

func TestConnect_SilentServer(t *testing.T) {
	for name, cfg := range map[string]Config{
		"no TLS": {Host: "h", Encrypt: EncryptFalse},
		"TLS":    {Host: "h"},
		"strict": {Host: "h", Encrypt: EncryptStrict},
	} {
		cfg.Password = secret
		cfg.Dial = silent
		t.Run(name+", context ends", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := NewServer(cfg)
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				begin := time.Now()
				_, err = s.Connect(ctx, "")
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, time.Second, time.Since(begin))
				assert.Equal(t, ClassCancelled, Classify(err))
				assert.NotContains(t, err.Error(), secret)
			})
		})
		t.Run(name+", timeout passes", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, err := NewServer(cfg)
				require.NoError(t, err)
				begin := time.Now()
				_, err = s.Connect(t.Context(), "")
				require.Error(t, err)
				assert.Equal(t, DefaultConnectTimeout, time.Since(begin))
				assert.Equal(t, ClassReconnect, Classify(err))
				assert.Contains(t, err.Error(), "connecting to h:1433")
			})
		})
	}
}

func TestConnect_Refused(t *testing.T) {
	refused := errors.New("connection refused")
	s, err := NewServer(Config{Host: "h", Password: secret, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, refused
	}})
	require.NoError(t, err)
	_, err = s.Connect(t.Context(), "")
	require.ErrorContains(t, err, "refused")
	assert.Equal(t, ClassReconnect, Classify(err))
	assert.NotContains(t, err.Error(), secret)
}

func TestDialFirst(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	conn, err := dialFirst(t.Context(), &net.Dialer{}, []string{"not an address", "127.0.0.1"}, port)
	require.NoError(t, err)
	conn.Close()
	_, err = dialFirst(t.Context(), &net.Dialer{}, []string{"not an address"}, port)
	require.Error(t, err)
}
