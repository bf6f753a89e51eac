package input_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// network is what lies between the input and the server.
type network struct {
	server *simulator.Server

	mu    sync.Mutex
	conns []*networkConn
	dials int
	hole  bool // packets are dropped both ways, and nobody is told
}

func (n *network) option(server *simulator.Server) input.Option {
	n.server = server
	return input.WithDialer(n.dial)
}

func (n *network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dials++
	dropped := n.hole
	n.mu.Unlock()
	if dropped {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	conn, err := n.server.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &networkConn{Conn: conn, closed: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns = append(n.conns, c)
	return c, nil
}

// reset closes every connection, as a RST does.
func (n *network) reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		c.Conn.Close()
	}
	n.conns = nil
}

// drop begins or ends dropping packets. Connections that were there when it
// began never come back to life: their packets are missing.
func (n *network) drop(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hole = on
	if on {
		for _, c := range n.conns {
			c.dead.Store(true)
		}
	}
}

func (n *network) counted() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials
}

// networkConn is a connection over a network.
type networkConn struct {
	net.Conn

	dead    atomic.Bool // its packets are dropped
	closing sync.Once
	closed  chan struct{}
}

func (c *networkConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.dead.Load() {
		<-c.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *networkConn) Write(b []byte) (int, error) {
	if c.dead.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (c *networkConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// A connection reset between two looks for changes costs nothing.
func TestNetwork_Reset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, between := newServer(t, customers), &network{}
		p := startPipeline(t, server, settings{dial: between.option, fields: "poll_interval: 30s"})
		p.next(2)
		for id := 3; id < 6; id++ {
			<-time.After(10 * time.Second)
			between.reset()
			change(t, server, fmt.Sprintf("INSERT dbo.customers VALUES (%d, N'n')", id))
			p.want(fmt.Sprintf(`c dbo.customers {"id":%d,"name":"n"}`, id))
		}
		p.quiet()
		assert.Equal(t, 4, between.counted(), "one new connection for each reset")
		assert.Equal(t, 3, countLines(p, "Reading was interrupted"), "log:\n%s", p.logs)
	})
}

// A network that drops packets in the middle of a result, for ten minutes and
// without a word, is noticed by the query timeout, and reading goes on behind
// the last message.
func TestNetwork_BlackHole(t *testing.T) {
	for _, phase := range []string{"snapshot", "stream"} {
		t.Run(phase, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var rows strings.Builder
				for id := 3; id <= 300; id++ {
					fmt.Fprintf(&rows, "INSERT dbo.customers VALUES (%d, N'n')\n", id)
				}
				script := customers
				if phase == "snapshot" {
					script += rows.String()
				}
				server, between := newServer(t, script), &network{}
				require.NoError(t, server.CaptureNow("db")) // before the snapshot begins
				armed := false
				p := startPipeline(t, server, settings{
					dial:   between.option,
					fields: "snapshot_fetch_size: 50\nstreaming_fetch_size: 50\nmax_batch_size: 20\nmax_queue_size: 21\ndatabase_query_timeout: 3m",
					output: func(_ context.Context, batch []received) error {
						last := batch[len(batch)-1].Key
						if !armed && len(last) > len(`{"id":99}`) {
							armed = true
							between.drop(true)
							time.AfterFunc(10*time.Minute, func() { between.drop(false) })
						}
						return nil
					},
				})
				if phase == "stream" {
					p.next(2)
					change(t, server, rows.String())
				}
				all := p.next(map[string]int{"snapshot": 300, "stream": 298}[phase])
				require.True(t, armed)
				if phase == "stream" {
					requireGrowing(t, all)
				}
				seen := map[string]int{}
				for _, m := range all {
					seen[m.Key]++
				}
				assert.Len(t, seen, len(all), "nothing comes twice")
				p.quiet()
			})
		})
	}
}

// While the network drops everything the input says so once and tries again
// at growing intervals.
func TestNetwork_BlackHoleForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, between := newServer(t, customers), &network{}
		p := startPipeline(t, server, settings{dial: between.option, fields: "database_query_timeout: 1m\nconnection_validation_timeout: 5s"})
		p.next(2)
		before := between.counted()
		between.drop(true)
		<-time.After(time.Hour)
		attempts := between.counted() - before
		between.drop(false)
		change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
		assert.Greater(t, attempts, 10)
		assert.Less(t, attempts, 1000)
	})
}

// errors_max_retries ends what trying again does not cure.
func TestNetwork_RetriesExhausted(t *testing.T) {
	for _, mode := range []string{"wait", "stop"} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, between := newServer(t, customers), &network{}
				stopped := make(chan error, 1)
				p := startPipeline(t, server, settings{
					dial:   between.option,
					fields: "errors_max_retries: 3\nconnection_validation_timeout: 5s\ndatabase_query_timeout: 1m\non_fatal: " + mode,
					onStop: func(err error) { stopped <- err },
				})
				p.next(2)
				between.drop(true)
				if mode == "stop" {
					err := <-stopped
					require.ErrorContains(t, err, "3 attempts in a row to go on did not help")
					require.ErrorContains(t, err, "no answer within 5s")
					return
				}
				<-time.After(30 * time.Minute)
				require.Contains(t, p.logs.String(), "Cannot go on (retries_exhausted)")
				between.drop(false)
				change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
				p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
				require.Contains(t, p.logs.String(), "retries_exhausted is cured")
			})
		})
	}
}

// Once it is cured the count begins again, though nothing has changed since.
func TestNetwork_RetriesCountedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, between := newServer(t, customers), &network{}
		p := startPipeline(t, server, settings{dial: between.option, fields: "errors_max_retries: 3"})
		p.next(2)
		cut := server.Control(simulator.Fault{On: "select from cdc.lsn_time_mapping", App: "sqlserver-cdc", Keep: true, Do: simulator.Cut()})
		<-time.After(time.Minute)
		cut.Remove()
		<-time.After(2 * time.Minute)
		require.Contains(t, p.logs.String(), "retries_exhausted is cured")
		between.reset()
		change(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
		require.Equal(t, 1, countLines(p, "Cannot go on"), "log:\n%s", p.logs)
	})
}
