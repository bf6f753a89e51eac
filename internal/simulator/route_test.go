package simulator

import (
	"context"
	"database/sql"
	"net"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// routedDialer reaches the secondary by its address.
type routedDialer struct {
	primary, secondary *Server
	address            string
}

func (d routedDialer) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	if address == d.address {
		return d.secondary.Dial(ctx)
	}
	return d.primary.Dial(ctx)
}

func (routedDialer) HostName() string { return "localhost" }

func TestRouteReadIntent(t *testing.T) {
	secondary := newFake(t, Options{})
	primary := newFake(t, Options{RouteReadIntent: "secondary:1500"})
	for intent, want := range map[string]*fake{"ReadOnly": secondary, "ReadWrite": primary} {
		before := len(want.logins)
		connector, err := mssql.NewConnector(dsn("sa", password, "applicationintent", intent, "database", "inventory"))
		require.NoError(t, err)
		connector.Dialer = routedDialer{primary.server, secondary.server, "secondary:1500"}
		db := sql.OpenDB(connector)
		require.NoError(t, db.PingContext(t.Context()))
		require.NoError(t, db.Close())
		assert.Greater(t, len(want.logins), before, intent)
	}
	for _, bad := range []string{"secondary", ":1500", "secondary:x", "secondary:70000"} {
		_, err := newServer(Options{RouteReadIntent: bad})
		require.ErrorContains(t, err, "reading route")
	}
}
