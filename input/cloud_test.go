package input_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
)

// The services of Azure need nothing else of the input: neither an Agent's
// tables nor USE.
func TestCloud_Azure(t *testing.T) {
	for _, version := range []string{"AzureSQLDatabase", "ManagedInstance"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, err := simulator.New(simulator.Options{
					Logins: map[string]string{"sa": password}, Encryption: simulator.EncryptionUnsupported, Version: version,
				})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, server.Close()) })
				sqlExec(t, server, "CREATE DATABASE db")
				p := startPipeline(t, server, settings{})
				p.quiet()
				require.Contains(t, p.logs.String(), "sp_cdc_enable_db in it")
				inDatabase(t, server, append([]string{"EXEC sys.sp_cdc_enable_db"}, strings.Split(customers, "GO\n")...)...)
				p.next(2)
				inDatabase(t, server, "INSERT dbo.customers VALUES (3, N'Cem')")
				p.want(`c dbo.customers {"id":3,"name":"Cem"}`) // captured by the service
			})
		})
	}
}

// inDatabase runs batches over a connection to db: there is no USE.
func inDatabase(t *testing.T, server *simulator.Server, batches ...string) {
	t.Helper()
	conn := connect(t, server)
	defer conn.Close()
	for _, batch := range batches {
		require.NoError(t, conn.Exec(t.Context(), batch))
	}
}

// connect returns a connection to db beside that of the input.
func connect(t *testing.T, server *simulator.Server) *sqlserver.Conn {
	t.Helper()
	to, err := sqlserver.NewServer(sqlserver.Config{
		Host: "server", User: "sa", Password: password, Database: "db", Encrypt: sqlserver.EncryptFalse, Dial: server.DialContext,
	})
	require.NoError(t, err)
	conn, err := to.Connect(t.Context(), "")
	require.NoError(t, err)
	return conn
}

// Amazon RDS has procedures of its own to enable change data capture.
func TestCloud_RDS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := emptyServer(t)
		sqlExec(t, server, "CREATE DATABASE rdsadmin\nGO\nCREATE DATABASE db")
		p := startPipeline(t, server, settings{})
		<-time.After(time.Minute)
		require.Contains(t, p.logs.String(), "EXEC msdb.dbo.rds_cdc_enable_db N'db'")
	})
}
