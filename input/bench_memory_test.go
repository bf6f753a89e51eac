package input_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/crashtest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/measure"
)

// memoryRows is how many rows the transaction of BenchmarkMemory changes, in
// two tables.
const memoryRows = 5_000_000

// memoryBound is what a stream may hold with default settings, dead objects that
// are not yet collected included (half of it, as collections go), whatever the
// size of a transaction.
const memoryBound = 160 << 20

// BenchmarkMemory streams one transaction over two tables from a simulator in a
// process of its own, and reports how large the heap gets.
func BenchmarkMemory(b *testing.B) {
	b.Setenv(beServer, "1")
	server, err := crashtest.NewProcessServer(os.Args[0])
	require.NoError(b, err)
	defer func() { require.NoError(b, server.Close()) }()
	begun := changeInOneTransaction(b, server, memoryRows)
	var (
		c    measure.Cost
		peak uint64
	)
	for b.Loop() {
		c.Measure(func() {
			peak = max(peak, measure.PeakHeap(func() {
				runBench(b, benchSource{dial: server.Dial, store: begun.copyOf()}, memoryRows)
			}))
		})
	}
	c.Report(b, memoryRows)
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
	if peak > memoryBound {
		b.Errorf("the heap grew to %d MiB", peak>>20)
	}
}

// changeInOneTransaction makes a database whose last transaction inserts so
// many rows into two tables, in turns, and returns the position before it.
func changeInOneTransaction(b *testing.B, server crashtest.Server, rows int) *store {
	b.Helper()
	exec := func(script string) { require.NoError(b, server.Exec("USE db\n"+script)) }
	require.NoError(b, server.Exec("CREATE DATABASE db"))
	exec("EXEC sys.sp_cdc_enable_db\nALTER DATABASE db SET ALLOW_SNAPSHOT_ISOLATION ON\nGO\nUSE db\n" + benchTable +
		strings.Replace(benchTable[:strings.Index(benchTable, "CREATE TABLE dbo.numbers")], "orders", "returns", 1) + "\nGO\nUSE db\n" +
		enable("dbo", "orders") + enable("dbo", "returns"))
	half := rows / 2
	for n := 1; n < half; n *= 2 {
		exec(fmt.Sprintf("INSERT INTO dbo.numbers SELECT n + %d FROM dbo.numbers WHERE n + %[1]d < %d", n, half))
	}
	exec("INSERT INTO dbo.numbers VALUES (-1)\n" + insertOrders("-1", "0"))
	require.NoError(b, server.Capture("db"))
	begun := newStore()
	runBench(b, benchSource{dial: server.Dial, store: begun}, 1)

	const step = 250_000
	var script strings.Builder
	script.WriteString("SET NOCOUNT ON\nBEGIN TRANSACTION\n")
	for n := 0; n < half; n += step {
		insert := insertOrders(fmt.Sprint(n), fmt.Sprint(min(n+step, half)))
		script.WriteString(insert + "\n" + strings.Replace(insert, "dbo.orders", "dbo.returns", 1) + "\n")
	}
	script.WriteString("COMMIT")
	exec(script.String())
	require.NoError(b, server.Capture("db"))
	return begun
}
