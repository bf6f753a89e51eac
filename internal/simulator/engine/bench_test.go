package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// counter is a sink that only counts.
type counter struct{ rows int }

func (c *counter) Columns([]engine.Column) error                                { return nil }
func (c *counter) Row([]sqltypes.Value) error                                   { c.rows++; return nil }
func (c *counter) Done(engine.DoneInfo) error                                   { return nil }
func (c *counter) Message(*engine.Message) error                                { return nil }
func (c *counter) EnvChange(engine.EnvKind, []byte, []byte) error               { return nil }
func (c *counter) ReturnStatus(int32) error                                     { return nil }
func (c *counter) ReturnValue(string, int, sqltypes.Type, sqltypes.Value) error { return nil }

// BenchmarkScan reports the executor's cost of a row of ten columns, without
// encoding.
func BenchmarkScan(b *testing.B) {
	in, err := engine.New(engine.Options{})
	require.NoError(b, err)
	s, err := in.Login(engine.Login{User: "sa"})
	require.NoError(b, err)
	run := func(sql string) {
		require.NoError(b, s.Batch(b.Context(), sql, &counter{}))
	}
	run("CREATE DATABASE bench")
	run("USE bench")
	run(`CREATE TABLE t (id int NOT NULL PRIMARY KEY, a int, b bigint, c varchar(20), d nvarchar(20), e decimal(10, 2), f datetime2, g bit, h float, lsn binary(10))`)
	run(`WITH d AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM d WHERE n < 9)
INSERT INTO t SELECT v.n * 10000 + w.n * 1000 + x.n * 100 + y.n * 10 + z.n, 1, 2, 'abc', N'def', 1.5, '2024-01-01', 1, 2.5, CAST(x.n AS binary(10))
FROM d v CROSS JOIN d w CROSS JOIN d x CROSS JOIN d y CROSS JOIN d z`)
	for _, q := range []struct{ name, sql string }{
		{"all", "SELECT * FROM t"},
		{"page", "SELECT id, a, b, c, d, e, f, g, h, lsn FROM t WHERE ((id = 4 AND lsn > 0x00) OR id > 4) AND id <= 1000000 ORDER BY id"},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			rows := 0
			for b.Loop() {
				c := &counter{}
				require.NoError(b, s.Batch(b.Context(), q.sql, c))
				rows += c.rows
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
		})
	}
}
