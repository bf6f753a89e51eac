package simulator

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime/pprof"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/measure"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/tape"
)

// changeRows is the size of the change table of BenchmarkChangeTable.
const changeRows = 1_000_000

// BenchmarkChangeTable drains a change table of ten captured columns with the
// driver in the same process. It reports the CPU time of the server as a
// multiple of the driver's, which is what the driver takes to drain a tape of
// the same answer. In a CPU profile the goroutines are labelled "side".
func BenchmarkChangeTable(b *testing.B) {
	s, err := New(Options{Logins: map[string]string{"sa": password}, Encryption: EncryptionUnsupported})
	require.NoError(b, err)
	defer s.Close()
	fillChangeTable(b, s)

	recorder := tape.NewRecorder(s)
	drainChanges(b, recorder)
	recorded, err := recorder.Tape()
	require.NoError(b, err)
	file, err := os.Create(filepath.Join(b.TempDir(), "tape"))
	require.NoError(b, err)
	defer file.Close()
	require.NoError(b, recorded.Spool(file))

	var both, alone measure.Cost
	for b.Loop() {
		both.Measure(func() { drainChanges(b, s) })
		alone.Measure(func() { drainChanges(b, recorded.PlaySequence()) })
	}
	both.Report(b, changeRows)
	b.ReportMetric((both.CPU-alone.CPU).Seconds()/alone.CPU.Seconds(), "server-cpu/driver")
}

func fillChangeTable(b *testing.B, s *Server) {
	b.Helper()
	s.StopAgent()
	require.NoError(b, s.Exec(`CREATE DATABASE db
GO
USE db
EXEC sys.sp_cdc_enable_db
CREATE TABLE dbo.n (n int NOT NULL PRIMARY KEY)
INSERT dbo.n VALUES (0)
CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, customer nvarchar(50), sku varchar(20), amount decimal(18, 2),
	placed datetime2(7), paid bit, quantity int, account bigint, discount float, reference uniqueidentifier)
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL`))
	for n := 1; n < changeRows; n *= 2 {
		require.NoError(b, s.Exec(fmt.Sprintf("USE db\nINSERT dbo.n SELECT n + %d FROM dbo.n WHERE n + %[1]d < %d", n, changeRows)))
	}
	require.NoError(b, s.Exec(`USE db
INSERT dbo.t SELECT n, N'Sébastien ' + CONVERT(nvarchar(10), n), 'SKU-' + CONVERT(varchar(10), n), n * 1.25,
	DATEADD(second, n, CONVERT(datetime2(7), '2024-05-06T07:08:09.1234567')), n % 2, n % 100, 4000000000 + n, n / 8e0,
	'6F9619FF-8B86-D011-B42D-00C04FC964FF' FROM dbo.n`))
	require.NoError(b, s.CaptureNow("db"))
}

// drainChanges reads every row of the change table, a page's columns wide.
func drainChanges(b *testing.B, dialer tape.Dialer) {
	b.Helper()
	connector, err := mssql.NewConnector(dsn("sa", password, "database", "db", "encrypt", "disable"))
	require.NoError(b, err)
	connector.Dialer = labelled{dialer}
	pprof.Do(b.Context(), pprof.Labels("side", "driver"), func(ctx context.Context) {
		conn, err := connector.Connect(ctx)
		require.NoError(b, err)
		defer conn.Close()
		stmt, err := conn.(driver.ConnPrepareContext).PrepareContext(ctx, "SELECT * FROM cdc.dbo_t_CT")
		require.NoError(b, err)
		rows, err := stmt.(driver.StmtQueryContext).QueryContext(ctx, nil)
		require.NoError(b, err)
		defer rows.Close()
		n, row := 0, make([]driver.Value, len(rows.Columns()))
		for err = rows.Next(row); err == nil; err = rows.Next(row) {
			n++
		}
		require.ErrorIs(b, err, io.EOF)
		require.Equal(b, changeRows, n)
	})
}

// labelled marks the goroutines that serve its connections in CPU profiles.
type labelled struct{ next tape.Dialer }

// HostName keeps the driver from looking up an address.
func (labelled) HostName() string { return "simulator" }

func (d labelled) DialContext(ctx context.Context, network, address string) (conn net.Conn, err error) {
	pprof.Do(ctx, pprof.Labels("side", "server"), func(ctx context.Context) {
		conn, err = d.next.DialContext(ctx, network, address)
	})
	return conn, err
}
