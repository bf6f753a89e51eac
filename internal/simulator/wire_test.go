package simulator

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func requireNumber(t *testing.T, err error, number int32) {
	t.Helper()
	var e mssql.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, number, e.Number, e.Message)
}

func TestLogin(t *testing.T) {
	f := newFake(t, Options{})
	t.Run("accepted", func(t *testing.T) {
		db := openDB(t, f.server, dsn("sa", password, "database", "inventory", "app name", "tester", "applicationintent", "ReadOnly"))
		require.NoError(t, db.PingContext(t.Context()))
		f.mu.Lock()
		defer f.mu.Unlock()
		login := f.logins[len(f.logins)-1]
		assert.Equal(t, "inventory", login.Database)
		assert.Equal(t, "tester", login.App)
		assert.True(t, login.ReadIntent)
	})
	t.Run("wrong password", func(t *testing.T) {
		err := openDB(t, f.server, dsn("sa", "wrong")).PingContext(t.Context())
		requireNumber(t, err, 18456)
	})
	t.Run("wrong database", func(t *testing.T) {
		err := openDB(t, f.server, dsn("sa", password, "database", "nowhere")).PingContext(t.Context())
		var e mssql.Error
		require.ErrorAs(t, err, &e)
		require.Len(t, e.All, 2)
		assert.Equal(t, int32(4060), e.All[0].Number)
		assert.Equal(t, int32(18456), e.All[1].Number)
	})
	t.Run("changed password is refused", func(t *testing.T) {
		err := openDB(t, f.server, dsn("sa", password, "change password", "other")).PingContext(t.Context())
		requireNumber(t, err, 18456)
	})
}

func TestEncryption(t *testing.T) {
	for _, tt := range []struct {
		name    string
		server  Encryption
		client  string
		wantErr string
	}{
		{"off", EncryptionNegotiated, "disable", ""},
		{"login only", EncryptionNegotiated, "false", ""},
		{"everything", EncryptionNegotiated, "true", ""},
		{"strict", EncryptionNegotiated, "strict", ""},
		{"forced", EncryptionForced, "false", ""},
		{"server has none, client needs none", EncryptionUnsupported, "false", ""},
		{"server has none, client needs it", EncryptionUnsupported, "true", "server does not support encryption"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, Options{Encryption: tt.server})
			f.statements["SELECT n"] = func(c *call) error { return c.integers(1, 5000) }
			config, err := msdsn.Parse(dsn("sa", password, "encrypt", tt.client, "packet size", "32767"))
			require.NoError(t, err)
			if config.TLSConfig != nil {
				config.TLSConfig.RootCAs = f.server.CertPool()
			}
			connector := mssql.NewConnectorConfig(config)
			connector.Dialer = pipeDialer{server: f.server}
			db := sql.OpenDB(connector)
			defer db.Close()
			var sum int
			rows, err := db.QueryContext(t.Context(), "SELECT n")
			if tt.wantErr != "" {
				require.ErrorContains(t, err, tt.wantErr)
				return
			}
			require.NoError(t, err)
			defer rows.Close()
			for rows.Next() {
				var n int
				require.NoError(t, rows.Scan(&n))
				sum += n
			}
			require.NoError(t, rows.Err())
			assert.Equal(t, 5000*5001/2, sum)
		})
	}
}

// go-mssqldb encrypts the first packet of a login only.
func TestEncryption_LoginOfSeveralPackets(t *testing.T) {
	for _, encrypt := range []string{"disable", "false", "true"} {
		t.Run(encrypt, func(t *testing.T) {
			f := newFake(t, Options{})
			app := strings.Repeat("long name ", 500)
			db := openDB(t, f.server, dsn("sa", password, "encrypt", encrypt, "TrustServerCertificate", "true", "app name", app))
			require.NoError(t, db.PingContext(t.Context()))
			f.mu.Lock()
			defer f.mu.Unlock()
			assert.Equal(t, app, f.logins[0].App)
		})
	}
}

func TestCertificate(t *testing.T) {
	f := newFake(t, Options{})
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(f.server.CertificatePEM()))
	leaf := f.server.wrappedTLS.Certificates[0].Leaf
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "simulator"} {
		chains, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: pool})
		require.NoError(t, err)
		require.Len(t, chains[0], 2, "the server and its authority")
	}
	_, err := leaf.Verify(x509.VerifyOptions{DNSName: "elsewhere", Roots: pool})
	require.Error(t, err)
	assert.False(t, leaf.IsCA, "Java refuses an authority as a server's certificate in some modes")
	assert.True(t, f.server.authority.IsCA)
	given := newFake(t, Options{TLS: &tls.Config{}})
	assert.Nil(t, given.server.CertificatePEM())
}

func TestBatch_Results(t *testing.T) {
	f := newFake(t, Options{})
	f.statements["two"] = func(c *call) error {
		if err := c.integers(1, 2); err != nil {
			return err
		}
		if err := c.Message(&engine.Message{Number: 50000, Class: 10, Text: "between"}); err != nil {
			return err
		}
		return c.integers(3, 3)
	}
	f.statements["error"] = func(c *call) error {
		if err := c.integers(1, 2); err != nil {
			return err
		}
		if err := c.Message(&engine.Message{Number: 208, Class: 16, State: 1, Text: "Invalid object name 'x'.", Line: 7}); err != nil {
			return err
		}
		return c.Done(engine.DoneInfo{Error: true})
	}
	f.statements["nothing"] = func(*call) error { return nil }
	f.statements["returned"] = func(*call) error { return sqltypes.Errorf(102, 1, 15, "Incorrect syntax near 'x'.") }
	db := openDB(t, f.server, dsn("sa", password))

	rows, err := db.QueryContext(t.Context(), "two")
	require.NoError(t, err)
	defer rows.Close()
	var got [][]int
	for more := true; more; more = rows.NextResultSet() {
		var set []int
		for rows.Next() {
			var n int
			require.NoError(t, rows.Scan(&n))
			set = append(set, n)
		}
		got = append(got, set)
	}
	require.NoError(t, rows.Err())
	assert.Equal(t, [][]int{{1, 2}, {3}}, got)

	_, err = db.ExecContext(t.Context(), "error")
	requireNumber(t, err, 208)
	_, err = db.ExecContext(t.Context(), "returned")
	requireNumber(t, err, 102)
	_, err = db.ExecContext(t.Context(), "nothing")
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "unknown")
	requireNumber(t, err, 2812)
}

func TestCall_ParametersAndOutput(t *testing.T) {
	f := newFake(t, Options{})
	long := strings.Repeat("long é ", 200_000)
	f.statements["p"] = func(c *call) error {
		var names []string
		for _, a := range c.args {
			names = append(names, a.Name)
		}
		if err := c.Columns([]engine.Column{{Name: "names", Type: sqltypes.NVarCharOf(sqltypes.Max)}, {Name: "text", Type: c.args[0].Type}}); err != nil {
			return err
		}
		if err := c.Row([]sqltypes.Value{sqltypes.StringOf(strings.Join(names, ",")), c.args[0].Value}); err != nil {
			return err
		}
		if err := c.Done(engine.DoneInfo{InProc: true, HasCount: true, Count: 1, Command: engine.CommandSelect}); err != nil {
			return err
		}
		if err := c.ReturnStatus(4); err != nil {
			return err
		}
		return c.ReturnValue("@out", 1, sqltypes.Simple(sqltypes.BigInt), sqltypes.IntOf(9))
	}
	db := openDB(t, f.server, dsn("sa", password))
	var out int64
	var status mssql.ReturnStatus
	rows, err := db.QueryContext(t.Context(), "p", sql.Named("text", long), sql.Named("out", sql.Out{Dest: &out}), &status)
	require.NoError(t, err)
	defer rows.Close()
	require.True(t, rows.Next())
	var names, text string
	require.NoError(t, rows.Scan(&names, &text))
	assert.Equal(t, "@text,@out", names)
	assert.Equal(t, long, text)
	require.False(t, rows.Next())
	require.NoError(t, rows.Err())
	assert.Equal(t, int64(9), out)
	assert.Equal(t, mssql.ReturnStatus(4), status)
}

func TestCall_InvalidValue(t *testing.T) {
	f := newFake(t, Options{})
	f.statements["p"] = func(*call) error { return nil }
	db := openDB(t, f.server, dsn("sa", password))
	nan := 0.0
	_, err := db.ExecContext(t.Context(), "p", sql.Named("f", nan/nan))
	requireNumber(t, err, 8023)
	require.NoError(t, db.PingContext(t.Context()), "the connection goes on")
}

func TestTransactions(t *testing.T) {
	f := newFake(t, Options{})
	f.statements["in transaction"] = func(c *call) error { return c.integers(int(c.session.descriptor), int(c.session.descriptor)) }
	db := openDB(t, f.server, dsn("sa", password))
	for _, end := range []func(*sql.Tx) error{(*sql.Tx).Commit, (*sql.Tx).Rollback} {
		tx, err := db.BeginTx(t.Context(), &sql.TxOptions{Isolation: sql.LevelSnapshot})
		require.NoError(t, err)
		var descriptor int
		require.NoError(t, tx.QueryRowContext(t.Context(), "in transaction").Scan(&descriptor))
		assert.Equal(t, 0x105, descriptor)
		require.NoError(t, end(tx))
	}
}

func TestReset_FollowsPool(t *testing.T) {
	f := newFake(t, Options{})
	f.statements["resets"] = func(c *call) error { return c.integers(c.session.resets, c.session.resets) }
	db := openDB(t, f.server, dsn("sa", password))
	db.SetMaxOpenConns(1)
	var n int
	for want := range 3 {
		require.NoError(t, db.QueryRowContext(t.Context(), "resets").Scan(&n))
		assert.Equal(t, want+1, n, "the driver asks for a reset each time it takes the connection")
	}
}

func TestAttention_CancelsRunningStatement(t *testing.T) {
	f := newFake(t, Options{})
	started := make(chan struct{})
	f.statements["sleep"] = func(c *call) error {
		close(started)
		<-c.ctx.Done()
		return c.ctx.Err()
	}
	f.statements["SELECT n"] = func(c *call) error { return c.integers(1, 3) }
	db := openDB(t, f.server, dsn("sa", password))
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	_, err = conn.ExecContext(ctx, "sleep")
	require.ErrorIs(t, err, context.Canceled)
	var n int
	require.NoError(t, conn.QueryRowContext(t.Context(), "SELECT n").Scan(&n), "the connection goes on")
	assert.Equal(t, 1, n)
}

// A client that cancels while rows stream in stops the statement, and the
// connection goes on.
func TestAttention_StopsRows(t *testing.T) {
	f := newFake(t, Options{})
	stopped := make(chan error, 1)
	f.statements["endless"] = func(c *call) error {
		err := c.integers(1, 1<<40)
		stopped <- err
		return err
	}
	db := openDB(t, f.server, dsn("sa", password))
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := conn.QueryContext(ctx, "endless")
	require.NoError(t, err)
	defer rows.Close()
	require.True(t, rows.Next())
	cancel()
	for rows.Next() {
	}
	require.ErrorIs(t, rows.Err(), context.Canceled)
	require.ErrorIs(t, <-stopped, context.Canceled)
	require.NoError(t, conn.PingContext(t.Context()))
}

func TestServer_OverTCP(t *testing.T) {
	f := newFake(t, Options{})
	f.statements["SELECT n"] = func(c *call) error { return c.integers(1, 3) }
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- f.server.Serve(listener) }()
	db, err := sql.Open("sqlserver", strings.Replace(dsn("sa", password, "encrypt", "true", "TrustServerCertificate", "true"), "localhost", listener.Addr().String(), 1))
	require.NoError(t, err)
	defer db.Close()
	var n int
	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT n").Scan(&n))
	require.NoError(t, f.server.Close())
	require.ErrorIs(t, <-served, ErrServerClosed)
	require.Error(t, db.PingContext(t.Context()))
	require.ErrorIs(t, f.server.Serve(listener), ErrServerClosed)
	_, err = f.server.Dial(t.Context())
	require.ErrorIs(t, err, ErrServerClosed)
}

func TestRestart(t *testing.T) {
	f := newFake(t, Options{})
	started := make(chan struct{})
	f.statements["sleep"] = func(c *call) error {
		close(started)
		<-c.ctx.Done()
		return c.ctx.Err()
	}
	db := openDB(t, f.server, dsn("sa", password))
	failed := make(chan error, 1)
	require.NoError(t, db.PingContext(t.Context()))
	go func() {
		_, err := db.ExecContext(t.Context(), "sleep")
		failed <- err
	}()
	<-started
	f.server.Restart()
	require.Error(t, <-failed)
	assert.Zero(t, f.sessions())
	require.NoError(t, db.PingContext(t.Context()))
}

func TestPanic_EndsTheConnectionOnly(t *testing.T) {
	f := newFake(t, Options{})
	f.statements["panic"] = func(*call) error { panic("oops") }
	db := openDB(t, f.server, dsn("sa", password))
	_, err := db.ExecContext(t.Context(), "panic")
	require.ErrorContains(t, err, "internal error of the simulator: oops")
	require.Error(t, db.PingContext(t.Context()))
	require.NoError(t, db.PingContext(t.Context()), "a new connection")
}

func TestKill_EndsTheConnection(t *testing.T) {
	f := newFake(t, Options{})
	f.statements["kill me"] = func(c *call) error {
		close(c.session.killed)
		return nil
	}
	db := openDB(t, f.server, dsn("sa", password))
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(), "kill me")
	require.NoError(t, err)
	require.Error(t, conn.PingContext(t.Context()))
}

// The whole conversation runs on virtual time: a statement that waits an hour
// takes none.
func TestServer_InsideSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(t, Options{})
		f.statements["wait an hour"] = func(c *call) error {
			select {
			case <-time.After(time.Hour):
			case <-c.ctx.Done():
				return c.ctx.Err()
			}
			return c.integers(1, 1)
		}
		db := openDB(t, f.server, dsn("sa", password, "encrypt", "true", "TrustServerCertificate", "true"))
		start := time.Now()
		var n int
		require.NoError(t, db.QueryRowContext(t.Context(), "wait an hour").Scan(&n))
		assert.Equal(t, time.Hour, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := db.ExecContext(ctx, "wait an hour")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Hour+time.Minute, time.Since(start))
		db.Close()
		f.server.Close()
	})
}
