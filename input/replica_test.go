package input_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/input"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// group is a primary and a readable secondary, found by their addresses.
type group struct {
	primary   *simulator.Server
	secondary *simulator.Secondary

	mu    sync.Mutex
	dials []string
}

// newGroup has the table of customers and a secondary that takes connections.
func newGroup(t *testing.T) *group {
	t.Helper()
	g := &group{primary: newServer(t, customers)}
	var err error
	g.secondary, err = g.primary.AddSecondary(engine.ReplicaOptions{
		Name: "second", Connections: engine.SecondaryReadOnly, RoutingHost: "second", RoutingPort: 1500,
	})
	require.NoError(t, err)
	return g
}

func (g *group) option(*simulator.Server) input.Option {
	return input.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		g.mu.Lock()
		g.dials = append(g.dials, address)
		g.mu.Unlock()
		if address == "second:1500" {
			return g.secondary.DialContext(ctx, network, address)
		}
		return g.primary.DialContext(ctx, network, address)
	})
}

// dialled returns how often an address was dialled.
func (g *group) dialled(address string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, dial := range g.dials {
		if dial == address {
			n++
		}
	}
	return n
}

// Read intent leads over the listener to a secondary, on every connection. The
// snapshot and the stream need nothing that it does not have, and each look
// for changes sees what has arrived since the last.
func TestReplica_ReadOnlyIntent(t *testing.T) {
	for _, mode := range []string{"auto", "snapshot", "read_committed"} {
		t.Run(mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t)
				p := startPipeline(t, g.primary, settings{dial: g.option, fields: "application_intent: ReadOnly\nsnapshot_isolation_mode: " + mode})
				p.want(`r dbo.customers {"id":1,"name":"Ada"}`, `r dbo.customers {"id":2,"name":"Bob"}`)
				change(t, g.primary, "INSERT dbo.customers VALUES (3, N'Cem')")
				p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
				g.primary.Restart()
				change(t, g.primary, "UPDATE dbo.customers SET name = N'Cen' WHERE id = 3")
				p.want(`u dbo.customers {"id":3,"name":"Cen"}`)
				assert.Equal(t, 2, g.dialled("second:1500"), "each connection is routed")
				assert.NotContains(t, p.logs.String(), "Cannot go on")
			})
		})
	}
}

// A secondary that falls behind shows nothing new, and then everything.
func TestReplica_FallsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		p := startPipeline(t, g.primary, settings{dial: g.option, fields: "application_intent: ReadOnly"})
		p.next(2)
		g.secondary.Pause()
		change(t, g.primary, "INSERT dbo.customers VALUES (3, N'Cem')")
		p.quiet()
		g.secondary.Resume()
		p.want(`c dbo.customers {"id":3,"name":"Cem"}`)
	})
}

// A secondary for read-only connections refuses others, and says what to set.
func TestReplica_IntentMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t)
		p := startPipeline(t, g.primary, settings{dial: g.option, fields: "host: second\nport: 1500"})
		<-time.After(time.Minute)
		require.Empty(t, shorts(p.rest()))
		require.Contains(t, p.logs.String(), "application_intent: ReadOnly", "log:\n%s", p.logs)
	})
}
