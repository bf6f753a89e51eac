package input_test

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"testing"
	"testing/synctest"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
)

// A page is a seek in the key's index up to the last one: a parameter of
// another type than the column's would turn it into a scan, each slower than
// the one before (denisenkom/go-mssqldb#540).
func TestCases_PagesSeekToTheEnd(t *testing.T) {
	const digits = "(VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9)) AS %s(n)"
	for name, key := range map[string]string{
		"varchar":             "k varchar(20) COLLATE SQL_Latin1_General_CP1_CI_AS PRIMARY KEY, n int NOT NULL",
		"char":                "k char(20) COLLATE SQL_Latin1_General_CP1_CI_AS PRIMARY KEY, n int NOT NULL",
		"other code page":     "k varchar(20) COLLATE Cyrillic_General_CI_AS PRIMARY KEY, n int NOT NULL",
		"nvarchar":            "k nvarchar(20) COLLATE Latin1_General_100_CI_AS PRIMARY KEY, n int NOT NULL",
		"binary collation":    "k varchar(20) COLLATE Latin1_General_BIN2 PRIMARY KEY, n int NOT NULL",
		"descending":          "k varchar(20) NOT NULL, n int NOT NULL, PRIMARY KEY (k DESC, n)",
		"behind a number":     "k varchar(20) NOT NULL, n int NOT NULL, PRIMARY KEY (n, k)",
		"unique, not primary": "k varchar(20) NOT NULL UNIQUE, n int NOT NULL",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, "CREATE TABLE dbo.t ("+key+")\n"+
					"INSERT dbo.t SELECT CONCAT('k-', a.n, b.n, c.n, d.n), a.n * 1000 + b.n * 100 + c.n * 10 + d.n FROM "+
					fmt.Sprintf(digits, "a")+" CROSS JOIN "+fmt.Sprintf(digits, "b")+" CROSS JOIN "+fmt.Sprintf(digits, "c")+" CROSS JOIN "+fmt.Sprintf(digits, "d")+"\n"+enable("dbo", "t"))
				seeksBefore, scansBefore := indexReads(t, server)
				p := startPipeline(t, server, settings{fields: pageSizes(500)})
				p.next(10000)
				p.quiet()
				seeks, scans := indexReads(t, server)
				// Only the first page has nothing to seek.
				require.LessOrEqual(t, scans-scansBefore, 1)
				require.GreaterOrEqual(t, seeks-seeksBefore, 19)
			})
		})
	}
}

// indexReads returns how often indexes of dbo.t were searched, and how often
// read whole.
func indexReads(t *testing.T, server *simulator.Server) (seeks, scans int) {
	t.Helper()
	address := url.URL{Scheme: "sqlserver", Host: "server:1433", User: url.UserPassword("sa", password), RawQuery: "database=db&encrypt=disable"}
	connector, err := mssql.NewConnector(address.String())
	require.NoError(t, err)
	connector.Dialer = dialer{server}
	db := sql.OpenDB(connector)
	defer db.Close()
	require.NoError(t, db.QueryRowContext(t.Context(), `SELECT ISNULL(SUM(user_seeks), 0), ISNULL(SUM(user_scans), 0)
FROM sys.dm_db_index_usage_stats WHERE database_id = DB_ID() AND object_id = OBJECT_ID('dbo.t')`).Scan(&seeks, &scans))
	return seeks, scans
}

// dialer is a server's as the driver wants it.
type dialer struct{ server *simulator.Server }

func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return d.server.DialContext(ctx, network, address)
}

// HostName keeps the driver from looking the name up.
func (dialer) HostName() string { return "server" }
