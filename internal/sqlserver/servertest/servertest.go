// Package servertest gives tests a SQL Server: the simulator in memory, behind
// the real driver and the real wire protocol.
package servertest

import (
	"context"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// Database is the database that [Start] makes, with change data capture on.
const Database = "db"

// Password is the password of sa. It must never be seen anywhere else.
const Password = "p@ss/w;ord=1"

// Server is a running server whose jobs are stopped: a test captures when it
// wants to.
type Server struct{ *simulator.Server }

// Start runs a script in a new database of a new server.
func Start(t testing.TB, script string) *Server {
	t.Helper()
	return StartCollated(t, "SQL_Latin1_General_CP1_CI_AS", script)
}

// StartCollated is Start with a collation for the database, which rules how
// its catalogue compares names.
func StartCollated(t testing.TB, collation, script string) *Server {
	t.Helper()
	sim, err := simulator.New(simulator.Options{Logins: map[string]string{"sa": Password}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sim.Close()) })
	sim.StopAgent()
	s := &Server{sim}
	require.NoError(t, s.Server.Exec("CREATE DATABASE "+Database+" COLLATE "+collation))
	s.Exec(t, "EXEC sys.sp_cdc_enable_db")
	s.Exec(t, script)
	return s
}

// Exec runs a script in the database.
func (s *Server) Exec(t testing.TB, script string) {
	t.Helper()
	require.NoError(t, s.Server.Exec("USE "+Database+"\nGO\n"+script))
}

// Capture moves what was committed into the change tables.
func (s *Server) Capture(t testing.TB) {
	t.Helper()
	require.NoError(t, s.CaptureNow(Database))
}

// Change runs a script and captures what it did.
func (s *Server) Change(t testing.TB, script string) {
	t.Helper()
	s.Exec(t, script)
	s.Capture(t)
}

// Config reaches the server.
func (s *Server) Config() sqlserver.Config {
	return sqlserver.Config{
		Host: "simulator", User: "sa", Password: Password, Database: Database, Encrypt: sqlserver.EncryptFalse,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return s.Dial(ctx) },
	}
}

// Connect opens a connection to the database.
func (s *Server) Connect(t testing.TB) *sqlserver.Conn {
	t.Helper()
	server, err := sqlserver.NewServer(s.Config())
	require.NoError(t, err)
	conn, err := server.Connect(t.Context(), "")
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}
