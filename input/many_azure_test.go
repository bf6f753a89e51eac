package input_test

import (
	"database/sql"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// In Azure SQL Database a session cannot go to another database, and sees the
// others in master alone. Names need neither.
func TestMany_AzureDatabase(t *testing.T) {
	for _, tt := range []struct {
		name, fields string
		read         []string
		says         string
	}{
		{"by names", "database_names: [ a, b ]", []string{"a", "b"}, ""},
		{"by a pattern", "database_names: [ '.' ]", []string{"a", "b"}, ""},
		{"by a pattern, over one of them", "connection_string: 'sqlserver://sa:s3cr3t-P%40ss%3Bword@server?encrypt=disable&database=a'\ndatabase_names: [ 'b+' ]", nil, "name the databases there"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := azureServer(t, "a", "b")
				p := startPipeline(t, server, settings{fields: tt.fields})
				<-time.After(2 * time.Minute)
				for _, name := range tt.read {
					require.Equal(t, twoRows, shorts(ofDatabase(p.rest(), name)), "log:\n%s", p.logs)
				}
				require.Len(t, p.rest(), 2*len(tt.read), "log:\n%s", p.logs)
				require.Contains(t, p.logs.String(), tt.says)
			})
		})
	}
}

// azureServer starts a logical server with databases as newServerOf makes them.
func azureServer(t *testing.T, databases ...string) *simulator.Server {
	t.Helper()
	server, err := simulator.New(simulator.Options{
		Logins: map[string]string{"sa": password}, Encryption: simulator.EncryptionUnsupported, Version: "AzureSQLDatabase",
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	for _, name := range databases {
		sqlExec(t, server, "CREATE DATABASE "+name)
		execIn(t, server, name, "EXEC sys.sp_cdc_enable_db")
		execIn(t, server, name, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, name nvarchar(20) NULL)\nINSERT dbo.t VALUES (1, N'one'), (2, N'two')\n"+enable("dbo", "t"))
	}
	return server
}

// execIn runs a batch over a connection to a database.
func execIn(t *testing.T, server *simulator.Server, database, batch string) {
	t.Helper()
	connector, err := mssql.NewConnector("sqlserver://sa:" + url.QueryEscape(password) + "@server?encrypt=disable&database=" + database)
	require.NoError(t, err)
	connector.Dialer = serverDialer{server}
	db := sql.OpenDB(connector)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), batch)
	require.NoError(t, err)
}

// serverDialer keeps the driver from looking up the address of its host.
type serverDialer struct{ *simulator.Server }

// HostName implements [mssql.HostDialer].
func (serverDialer) HostName() string { return "server" }
