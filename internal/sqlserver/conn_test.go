package sqlserver

import (
	"context"
	"database/sql/driver"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// all reads every row of a statement.
func all(ctx context.Context, c *Conn, text string, args ...driver.Value) (rows []int64, err error) {
	err = c.each(ctx, func(row []driver.Value) error {
		rows = append(rows, row[0].(int64))
		return nil
	}, text, args...)
	return rows, err
}

func TestConn_RowsAndResults(t *testing.T) {
	s := &scripted{answer: func(_ string, r *reply) {
		r.columns()
		for n := range int64(1000) {
			r.row(n)
		}
		r.done()
	}}
	conn := s.connect(t, Config{})
	defer conn.Close()
	rows, err := all(t.Context(), conn, "SELECT n", int64(1))
	require.NoError(t, err)
	assert.Len(t, rows, 1000)
	rows, err = all(t.Context(), conn, "SELECT n")
	require.NoError(t, err)
	assert.Len(t, rows, 1000)
	assert.Equal(t, []string{"SELECT n", "SELECT n"}, s.statements)
	assert.Zero(t, s.attentions, "a result read to its end needs no attention")
}

// An error is never taken for the end of rows, wherever it comes.
func TestConn_Errors(t *testing.T) {
	for name, answer := range map[string]func(r *reply){
		"at once": func(r *reply) { r.fail(errDeadlock, 13) },
		"before the first row": func(r *reply) {
			r.columns()
			r.fail(errDeadlock, 13)
		},
		"after some rows": func(r *reply) {
			r.columns()
			r.row(1)
			r.row(2)
			r.fail(errDeadlock, 13)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scripted{answer: func(_ string, r *reply) { answer(r) }}
			conn := s.connect(t, Config{})
			defer conn.Close()
			_, err := all(t.Context(), conn, "SELECT n")
			require.Error(t, err)
			assert.Equal(t, ClassRetry, Classify(err))
			assert.True(t, conn.Usable(), "the server has answered in order")
			require.Error(t, conn.Exec(t.Context(), "SELECT n"))
		})
	}
	for name, answer := range map[string]func(r *reply){
		"severed":        func(r *reply) { r.fail(4002, severed) },
		"cut at once":    func(r *reply) { r.conn.Close() },
		"cut after rows": func(r *reply) { r.columns(); r.row(1); _ = r.out.Flush(); r.conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s := &scripted{answer: func(_ string, r *reply) { answer(r) }}
			conn := s.connect(t, Config{})
			defer conn.Close()
			_, err := all(t.Context(), conn, "SELECT n")
			require.Error(t, err)
			assert.Equal(t, ClassReconnect, Classify(err))
			assert.False(t, conn.Usable())
			_, err = all(t.Context(), conn, "SELECT n")
			require.ErrorIs(t, err, ErrConnectionLost)
			assert.NotContains(t, err.Error(), secret)
		})
	}
}

// A statement that fails with much of its answer still to come leaves nothing
// behind: the connection serves the next one.
func TestConn_ErrorMidway(t *testing.T) {
	for name, run := range map[string]func(ctx context.Context, c *Conn) error{
		"query": func(ctx context.Context, c *Conn) error {
			_, err := all(ctx, c, "EXEC dbo.several")
			return err
		},
		"query with arguments": func(ctx context.Context, c *Conn) error {
			_, err := all(ctx, c, "EXEC dbo.several @p1", int64(1))
			return err
		},
		"batch":                func(ctx context.Context, c *Conn) error { return c.Exec(ctx, "SET A ON; SET B ON") },
		"batch with arguments": func(ctx context.Context, c *Conn) error { return c.Exec(ctx, "EXEC dbo.several @p1", int64(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{answer: func(text string, r *reply) {
					switch {
					case text == "SELECT n":
						r.columns()
						r.row(7)
						r.done()
					case r.call:
						r.failMidway(tds.DoneInProc, errDeadlock)
					default:
						r.failMidway(tds.Done, errDeadlock)
					}
				}}
				conn := s.connect(t, Config{})
				defer conn.Close()
				for range 3 {
					err := run(t.Context(), conn)
					require.Error(t, err)
					assert.Equal(t, ClassRetry, Classify(err))
					require.True(t, conn.Usable())
					rows, err := all(t.Context(), conn, "SELECT n")
					require.NoError(t, err)
					assert.Equal(t, []int64{7}, rows)
				}
			})
		})
	}
}

// What is not read is cancelled, and the connection serves on.
func TestRows_CloseEarly(t *testing.T) {
	s := &scripted{answer: func(text string, r *reply) {
		r.columns()
		r.row(1)
		if text == "SELECT one" {
			r.done()
			return
		}
		_ = r.out.Flush()
	}}
	conn := s.connect(t, Config{})
	defer conn.Close()
	rows, err := conn.Query(t.Context(), "SELECT much")
	require.NoError(t, err)
	require.True(t, rows.Next(make([]driver.Value, 1)))
	require.NoError(t, rows.Close())
	require.NoError(t, rows.Close(), "twice is fine")
	got, err := all(t.Context(), conn, "SELECT one")
	require.NoError(t, err)
	assert.Equal(t, []int64{1}, got)
	assert.Equal(t, 1, s.attentions)
}

// stalls is how a statement can hang.
var stalls = map[string]func(r *reply){
	"before the answer": func(*reply) {},
	"after some rows":   func(r *reply) { r.columns(); r.row(1); _ = r.out.Flush() },
}

func TestWatchdog_Cancel(t *testing.T) {
	for name, stall := range stalls {
		t.Run("attention is answered, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{answer: func(_ string, r *reply) { stall(r) }}
				conn := s.connect(t, Config{})
				defer conn.Close()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				begin := time.Now()
				_, err := all(ctx, conn, "SELECT n")
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, time.Second, time.Since(begin))
				assert.Equal(t, ClassCancelled, Classify(err))
				assert.Equal(t, 1, s.attentions)
				assert.True(t, conn.Usable())
			})
		})
		t.Run("attention is not answered, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{deaf: true, answer: func(_ string, r *reply) { stall(r) }}
				conn := s.connect(t, Config{CancelGrace: 2 * time.Second})
				defer conn.Close()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				begin := time.Now()
				_, err := all(ctx, conn, "SELECT n")
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, 3*time.Second, time.Since(begin))
				assert.False(t, conn.Usable())
			})
		})
	}
}

func TestWatchdog_SilentServer(t *testing.T) {
	for name, stall := range stalls {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &scripted{deaf: true, answer: func(_ string, r *reply) { stall(r) }}
				conn := s.connect(t, Config{QueryTimeout: time.Minute, CancelGrace: time.Second})
				defer conn.Close()
				begin := time.Now()
				_, err := all(t.Context(), conn, "SELECT n")
				var timeout *TimeoutError
				require.ErrorAs(t, err, &timeout)
				assert.Equal(t, ClassReconnect, Classify(err))
				assert.Equal(t, time.Minute+time.Second, time.Since(begin))
			})
		})
	}
}

// A server that answers slowly is not silent, however long its answer takes; from
// its last word on it is.
func TestWatchdog_SilentAfterASlowAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{deaf: true, answer: func(_ string, r *reply) {
			r.columns()
			for n := range int64(5) {
				<-time.After(40 * time.Second)
				r.row(n)
				_ = r.out.Flush()
			}
		}}
		conn := s.connect(t, Config{QueryTimeout: time.Minute, CancelGrace: time.Second})
		defer conn.Close()
		begin := time.Now()
		_, err := all(t.Context(), conn, "SELECT n")
		var timeout *TimeoutError
		require.ErrorAs(t, err, &timeout)
		assert.Equal(t, 5*40*time.Second+time.Minute+time.Second, time.Since(begin))
	})
}

// stuck is a connection that takes no more bytes once it is told to.
type stuck struct {
	net.Conn
	on      atomic.Bool
	closing sync.Once
	closed  chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	if s.on.Load() {
		<-s.closed
		return 0, net.ErrClosed
	}
	return s.Conn.Write(b)
}

func (s *stuck) Close() error {
	s.closing.Do(func() { close(s.closed) })
	return s.Conn.Close()
}

// A network that takes no more bytes is silence too.
func TestWatchdog_BlockedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{}
		var between *stuck
		server, err := NewServer(Config{
			Host: "h", Encrypt: EncryptFalse, QueryTimeout: time.Minute, CancelGrace: time.Second,
			Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := s.dial(ctx, network, address)
				between = &stuck{Conn: conn, closed: make(chan struct{})}
				return between, err
			},
		})
		require.NoError(t, err)
		conn, err := server.Connect(t.Context(), "")
		require.NoError(t, err)
		defer conn.Close()
		between.on.Store(true)
		begin := time.Now()
		_, err = all(t.Context(), conn, "SELECT n")
		require.Error(t, err)
		assert.Equal(t, ClassReconnect, Classify(err))
		assert.Equal(t, time.Minute+time.Second, time.Since(begin))
	})
}

// A consumer may take its time: it is not the server that is silent.
func TestWatchdog_SlowConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{answer: func(_ string, r *reply) {
			r.columns()
			for n := range int64(5000) {
				r.row(n)
			}
			r.done()
		}}
		conn := s.connect(t, Config{QueryTimeout: time.Second})
		defer conn.Close()
		n := 0
		require.NoError(t, conn.each(t.Context(), func([]driver.Value) error {
			if n++; n%1000 == 0 {
				<-time.After(time.Hour)
			}
			return nil
		}, "SELECT n"))
		assert.Equal(t, 5000, n)
	})
}

// Closing the connection ends the statement that runs on it.
func TestConn_CloseWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{answer: func(string, *reply) {}}
		conn := s.connect(t, Config{})
		time.AfterFunc(time.Second, func() { conn.Close() })
		_, err := all(t.Context(), conn, "SELECT n")
		require.Error(t, err)
		assert.Equal(t, ClassReconnect, Classify(err))
	})
}
