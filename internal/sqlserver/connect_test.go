package sqlserver

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
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

// A dial may take as long as the connect timeout says, and no longer.
func TestConnect_SlowDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{}
		slow := func(ctx context.Context, network, address string) (net.Conn, error) {
			select {
			case <-time.After(40 * time.Second):
				return s.dial(ctx, network, address)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		for timeout, works := range map[time.Duration]bool{time.Minute: true, 30 * time.Second: false} {
			server, err := NewServer(Config{Host: "h", Encrypt: EncryptFalse, ConnectTimeout: timeout, Dial: slow})
			require.NoError(t, err)
			conn, err := server.Connect(t.Context(), "")
			if !works {
				require.ErrorContains(t, err, "no answer within 30s")
				continue
			}
			require.NoError(t, err)
			conn.Close()
		}
	})
}

// The port of a named instance is asked of SQL Server Browser
// (MC-SQLR 2.2.5, SVR_RESP), over the same dialer.
func TestConnect_NamedInstance(t *testing.T) {
	s := &scripted{answer: func(_ string, r *reply) { r.done() }}
	var dials []string
	server, err := NewServer(Config{
		Host: "h", Instance: "SQL2019", Encrypt: EncryptFalse,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			dials = append(dials, network+" "+address)
			if network == "udp" {
				return browser("ServerName;H;InstanceName;SQL2019;IsClustered;No;Version;15.0.2000.5;tcp;1500;;"), nil
			}
			return s.dial(ctx, network, address)
		},
	})
	require.NoError(t, err)
	conn, err := server.Connect(t.Context(), "")
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.Exec(t.Context(), "SELECT n"))
	assert.Equal(t, []string{"udp h:1434", "tcp h:1500"}, dials)
}

// browser plays SQL Server Browser on one connection.
func browser(instances string) net.Conn {
	client, server := net.Pipe()
	go func() {
		defer server.Close()
		if _, err := server.Read(make([]byte, 1024)); err != nil {
			return
		}
		answer := append([]byte{5}, byte(len(instances)), 0)
		_, _ = server.Write(append(answer, instances...))
	}()
	return client
}

// A server that does not listen, or is not known by its name, is told by its
// address and the fields that hold it: no connection was lost.
func TestConnect_Refused(t *testing.T) {
	refused := errors.New("connection refused")
	for _, tt := range []struct {
		name string
		cfg  Config
		says string
	}{
		{"fields", Config{Host: "h"}, "connecting to h:1433: the server cannot be reached; unless it is being restarted, correct host and port: connection refused"},
		{"named instance", Config{Host: "h", Instance: "i"}, `connecting to h\i: the server cannot be reached; unless it is being restarted, correct host and instance: `},
		{"connection string", Config{ConnectionString: "sqlserver://u:" + url.QueryEscape(secret) + "@h:1434"}, "connecting to h:1434: the server cannot be reached; unless it is being restarted, correct connection_string: connection refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.cfg.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, refused }
			s, err := NewServer(tt.cfg)
			require.NoError(t, err)
			_, err = s.Connect(t.Context(), "")
			require.ErrorContains(t, err, tt.says)
			require.ErrorIs(t, err, refused)
			assert.Equal(t, ClassReconnect, Classify(err))
			assert.NotContains(t, err.Error(), "lost")
			assert.NotContains(t, err.Error(), secret)
		})
	}
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
