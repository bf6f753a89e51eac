package input_test

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/tape"
)

// benchWorkload is a database to read.
type benchWorkload struct {
	server *simulator.Server
	store  *store // the position to begin at
	events int    // messages that reading it gives
}

// benchTape is the tape of reading a workload, whose server is gone.
type benchTape struct {
	tape   *tape.Tape
	store  *store
	events int
}

// benchRows is how many rows the benchmarks' table has.
const benchRows = 200_000

// benchTable is a table of ten columns as OLTP systems have them.
const benchTable = `
CREATE TABLE dbo.orders (
	id int NOT NULL PRIMARY KEY,
	customer nvarchar(50) NOT NULL,
	sku varchar(20) NOT NULL,
	amount decimal(18, 2) NOT NULL,
	placed datetime2(7) NOT NULL,
	paid bit NOT NULL,
	quantity int NOT NULL,
	account bigint NULL,
	discount float NULL,
	reference uniqueidentifier NOT NULL)
CREATE TABLE dbo.numbers (n int NOT NULL PRIMARY KEY)
INSERT INTO dbo.numbers VALUES (0)
GO
`

// insertOrders inserts the orders of a range of numbers, given as expressions.
func insertOrders(from, to string) string {
	return fmt.Sprintf(`INSERT INTO dbo.orders
		SELECT n, N'Sébastien Żółć ' + CONVERT(nvarchar(10), n), 'SKU-' + CONVERT(varchar(10), n %% 5000),
			n * 1.25, DATEADD(second, n, CONVERT(datetime2(7), '2024-05-06T07:08:09.1234567')), n %% 2, n %% 100, 4000000000 + n, n / 8e0,
			'6F9619FF-8B86-D011-B42D-00C04FC964FF'
		FROM dbo.numbers WHERE n >= %s AND n < %s`, from, to)
}

// recording records a workload when it is first asked for.
type recording struct {
	start func(testing.TB) *benchWorkload

	once     sync.Once
	recorded *benchTape
}

func (r *recording) get(tb testing.TB) *benchTape {
	tb.Helper()
	r.once.Do(func() {
		w := r.start(tb)
		r.recorded = w.record(tb)
		w.close(tb)
	})
	require.NotNil(tb, r.recorded, "recording failed before")
	return r.recorded
}

// streamWorkload is many small transactions: ten inserts, and an update or a
// delete.
var streamWorkload = recording{start: func(tb testing.TB) *benchWorkload {
	w := newBenchWorkload(tb, benchRows)
	w.begin(tb)
	change(tb, w.server, fmt.Sprintf(`SET NOCOUNT ON
		DECLARE @i int = 0
		WHILE @i < %d
		BEGIN
			BEGIN TRANSACTION
			%s
			IF @i %% 20 = 0 UPDATE dbo.orders SET paid = 1, quantity = 7 WHERE id = @i + 4
			ELSE DELETE FROM dbo.orders WHERE id = @i + 4
			COMMIT
			SET @i = @i + 10
		END`, benchRows, insertOrders("@i", "@i + 10")))
	w.events = benchRows + benchRows/20 + 2*benchRows/20 // inserts, updates, deletes with tombstones
	return w
}}

// snapshotWorkload is one table.
var snapshotWorkload = recording{start: func(tb testing.TB) *benchWorkload {
	w := newBenchWorkload(tb, benchRows)
	change(tb, w.server, insertOrders("0", strconv.Itoa(benchRows)))
	w.events = benchRows
	return w
}}

// newBenchWorkload starts a server with an empty table and the numbers to fill it.
func newBenchWorkload(tb testing.TB, rows int) *benchWorkload {
	tb.Helper()
	server, err := simulator.New(simulator.Options{
		Logins:     map[string]string{"sa": password},
		Encryption: simulator.EncryptionUnsupported,
	})
	require.NoError(tb, err)
	server.StopAgent()
	sqlExec(tb, server, "CREATE DATABASE db\nGO\nUSE db\nEXEC sys.sp_cdc_enable_db\nALTER DATABASE db SET ALLOW_SNAPSHOT_ISOLATION ON\nGO\nUSE db\n"+
		benchTable+enable("dbo", "orders"))
	for n := 1; n < rows; n *= 2 {
		sqlExec(tb, server, fmt.Sprintf("USE db\nINSERT INTO dbo.numbers SELECT n + %d FROM dbo.numbers WHERE n + %[1]d < %d", n, rows))
	}
	return &benchWorkload{server: server, store: newStore()}
}

// begin takes the snapshot of a single row, so that what comes is streamed.
func (w *benchWorkload) begin(tb testing.TB) {
	tb.Helper()
	change(tb, w.server, "INSERT INTO dbo.numbers VALUES (-1)\n"+insertOrders("-1", "0"))
	runBench(tb, benchSource{dial: w.server.DialContext, store: w.store}, 1)
}

// record reads the workload once and keeps what the server said in a file that
// has no name any more.
func (w *benchWorkload) record(tb testing.TB) *benchTape {
	tb.Helper()
	recorder := tape.NewRecorder(w.server)
	runBench(tb, benchSource{dial: recorder.DialContext, store: w.store.copyOf(), settle: func() { restOf(recorder) }}, w.events)
	t, err := recorder.Tape()
	require.NoError(tb, err)
	file, err := os.CreateTemp(tb.TempDir(), "tape")
	require.NoError(tb, err)
	require.NoError(tb, os.Remove(file.Name()))
	require.NoError(tb, t.Spool(file))
	return &benchTape{tape: t, store: w.store.copyOf(), events: w.events}
}

// restOf waits until the client rests between two polls, so that ending it
// cuts no answer: a tape cannot play that.
func restOf(recorder *tape.Recorder) {
	const rest = 100 * time.Millisecond
	for before := -1; recorder.Requests() != before; <-time.After(rest) {
		before = recorder.Requests()
	}
}

// run streams the workload from its server.
func (w *benchWorkload) run(tb testing.TB) {
	tb.Helper()
	runBench(tb, benchSource{dial: w.server.DialContext, store: w.store.copyOf()}, w.events)
}

func (w *benchWorkload) close(tb testing.TB) {
	tb.Helper()
	require.NoError(tb, w.server.Close())
}

// run streams the workload from its tape.
func (r *benchTape) run(tb testing.TB, fields string) {
	tb.Helper()
	runBench(tb, benchSource{dial: r.tape.Play().DialContext, store: r.store.copyOf(), fields: fields}, r.events)
}
