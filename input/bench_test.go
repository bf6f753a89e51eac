package input_test

import (
	"database/sql/driver"
	"errors"
	"io"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/measure"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/tape"
)

// Every benchmark measures what it is about and, turn by turn in the same run,
// the bare driver that drains the same tape and the bare Benthos stream of as
// many messages: only the ratios can be compared between machines and days.
// One operation is the whole workload.

func BenchmarkStream(b *testing.B) { benchmark(b, &streamWorkload) }

func BenchmarkSnapshot(b *testing.B) { benchmark(b, &snapshotWorkload) }

// benchPayload is about the size of an envelope of the benchmarks' table.
const benchPayload = 620

func benchmark(b *testing.B, recording *recording) {
	r := recording.get(b)
	b.Run("driver", func(b *testing.B) {
		var c measure.Cost
		for b.Loop() {
			c.Measure(func() { drainTape(b, r) })
		}
		c.Report(b, r.events)
	})
	b.Run("ceiling", func(b *testing.B) {
		var c measure.Cost
		for b.Loop() {
			c.Measure(func() { runCeiling(b, r.events, benchPayload, 2048) })
		}
		c.Report(b, r.events)
	})
	for _, v := range []struct{ name, fields string }{
		{"plain", ""}, {"schemas", "schemas_enable: true"}, {"structured", "structured: true"},
	} {
		b.Run(v.name, func(b *testing.B) {
			benchmarkRatios(b, r, func() { r.run(b, v.fields) })
		})
	}
	b.Run("simulator", func(b *testing.B) {
		w := recording.start(b)
		defer w.close(b)
		benchmarkRatios(b, r, func() { w.run(b) })
	})
}

// benchmarkRatios measures f beside the driver and the ceiling.
func benchmarkRatios(b *testing.B, r *benchTape, f func()) {
	var c, bare, top measure.Cost
	for b.Loop() {
		bare.Measure(func() { drainTape(b, r) })
		c.Measure(f)
		top.Measure(func() { runCeiling(b, r.events, benchPayload, 2048) })
	}
	c.Report(b, r.events)
	c.ReportRatio(b, &bare, "driver")
	c.ReportRatio(b, &top, "ceiling")
}

// drainTape reads every row of a tape with the driver and forgets it.
func drainTape(tb testing.TB, r *benchTape) {
	tb.Helper()
	connector, err := mssql.NewConnector("sqlserver://sa:x@tape?encrypt=disable")
	require.NoError(tb, err)
	connector.Dialer = tapeDialer{r.tape.PlaySequence()}
	conn, err := connector.Connect(tb.Context())
	require.NoError(tb, err)
	defer conn.Close()
	for range r.tape.Len() {
		require.NoError(tb, drainAnswer(tb, conn))
	}
}

// tapeDialer keeps the driver from looking up the address of its host.
type tapeDialer struct{ *tape.Player }

// HostName implements [mssql.HostDialer].
func (tapeDialer) HostName() string { return "tape" }

func drainAnswer(tb testing.TB, conn driver.Conn) error {
	tb.Helper()
	stmt, err := conn.(driver.ConnPrepareContext).PrepareContext(tb.Context(), "next")
	if err != nil {
		return err
	}
	result, err := stmt.(driver.StmtQueryContext).QueryContext(tb.Context(), nil)
	if err != nil {
		return err
	}
	rows := result.(*mssql.Rows)
	defer rows.Close()
	for {
		row := make([]driver.Value, len(rows.Columns()))
		for err == nil {
			err = rows.Next(row)
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		if !rows.HasNextResultSet() {
			return nil
		}
		if err = rows.NextResultSet(); err != nil {
			return err
		}
	}
}
