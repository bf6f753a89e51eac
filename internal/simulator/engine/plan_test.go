package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// keyed is a session with dbo.k(a, b, c, v), clustered on (a, b, c), of 10 x 10 x
// 10 rows, and dbo.m(id, g) with an index on g.
func keyed(t *testing.T) *engine.Session {
	t.Helper()
	_, s := shop(t)
	must(t, s, `CREATE TABLE k (a int NOT NULL, b int NOT NULL, c int NOT NULL, v varchar(20) NULL, CONSTRAINT pk PRIMARY KEY (a, b, c))`)
	must(t, s, `WITH d AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM d WHERE n < 9)
INSERT INTO k (a, b, c, v) SELECT x.n, y.n, z.n, 'v' FROM d x CROSS JOIN d y CROSS JOIN d z`)
	must(t, s, `CREATE TABLE m (id int NOT NULL PRIMARY KEY, g int NULL)`)
	must(t, s, `INSERT INTO m SELECT a * 100 + b * 10 + c, a FROM k`)
	must(t, s, `CREATE INDEX ix_g ON m (g DESC)`)
	return s
}

// TestPlan_RowsRead counts the rows that a statement reads from tables: a page
// must cost its rows, not the table.
func TestPlan_RowsRead(t *testing.T) {
	s := keyed(t)
	tests := []struct {
		name, sql string
		rows      int
		most      int64
	}{
		{"whole table", `SELECT * FROM k`, 1000, 1000},
		{"top without order", `SELECT TOP (3) * FROM k`, 3, 3},
		{"key order", `SELECT TOP (3) * FROM k ORDER BY a, b, c`, 3, 3},
		{"descending key order", `SELECT TOP (3) * FROM k ORDER BY a DESC, b DESC, c DESC`, 3, 3},
		{"point", `SELECT v FROM k WHERE a = 3 AND b = 4 AND c = 5`, 1, 1},
		{"prefix", `SELECT v FROM k WHERE a = 3 AND b = 4`, 10, 10},
		{"prefix and bound", `SELECT v FROM k WHERE a = 3 AND b >= 8`, 20, 20},
		{"between", `SELECT v FROM k WHERE a BETWEEN 3 AND 4`, 200, 200},
		{"in list", `SELECT v FROM k WHERE a IN (1, 5, 5) AND b = 2`, 20, 20},
		{"ors of points", `SELECT v FROM k WHERE (a = 1 AND b = 2) OR (a = 9 AND b = 9 AND c > 7)`, 12, 12},
		{"empty range", `SELECT v FROM k WHERE a > 5 AND a < 3`, 0, 0},
		{"null value", `DECLARE @n int; SELECT v FROM k WHERE a = @n`, 0, 0},
		{"lexicographic chain", `DECLARE @a int = 4, @b int = 9, @c int = 8;
SELECT TOP (5) a, b, c FROM k WHERE ((a = @a AND b = @b AND c > @c) OR (a = @a AND b > @b) OR a > @a) AND a <= 5 ORDER BY a, b, c`, 5, 5},
		{"chain with a lower bound beside it", `DECLARE @a int = 4, @b int = 3, @c int = 8;
SELECT TOP (5) a, b, c FROM k WHERE ((a = @a AND b = @b AND c > @c) OR (a = @a AND b > @b) OR a > @a) AND a <= 4 AND a >= 4 ORDER BY a, b, c`, 5, 5},
		{"chain, negated upper bound", `SELECT TOP (5) a, b, c FROM k WHERE ((a = 4 AND b > 8) OR a > 4) AND NOT ((a = 6 AND b > 2) OR a > 6) ORDER BY a, b, c`, 5, 5},
		{"optional bound that is absent", `DECLARE @from int; SELECT TOP (2) a FROM k WHERE (@from IS NULL OR a > @from) ORDER BY a, b, c`, 2, 2},
		{"optional bound that is there", `DECLARE @from int = 8; SELECT a FROM k WHERE (@from IS NULL OR a > @from) ORDER BY a, b, c`, 100, 100},
		{"max", `SELECT MAX(a) FROM k`, 1, 1},
		{"min of a prefix", `SELECT MIN(b) FROM k WHERE a = 5`, 1, 1},
		{"max below a bound", `SELECT MAX(a) FROM k WHERE a < 7`, 1, 1},
		{"max over a page", `SELECT MAX(a) FROM (SELECT TOP (7) a FROM k WHERE a >= 2 ORDER BY a, b, c) AS page`, 1, 7},
		{"secondary index", `SELECT id FROM m WHERE g = 4`, 100, 100},
		{"secondary index order", `SELECT TOP (2) g FROM m ORDER BY g DESC`, 2, 2},
		{"secondary index order backwards", `SELECT TOP (2) g FROM m ORDER BY g`, 2, 2},
		{"seek on the inner side", `SELECT m.id FROM (SELECT TOP (3) a, b, c FROM k ORDER BY a, b, c) AS p JOIN m ON m.id = p.a * 100 + p.b * 10 + p.c`, 3, 6},
		{"left join seeks", `SELECT TOP (4) k.a, m.g FROM k LEFT JOIN m ON m.id = k.c + 5000 ORDER BY k.a, k.b, k.c`, 4, 4},
		{"exists stops at the first row", `SELECT 1 WHERE EXISTS (SELECT * FROM k)`, 1, 1},
		{"paging", `SELECT a FROM k ORDER BY a, b, c OFFSET 5 ROWS FETCH NEXT 2 ROWS ONLY`, 2, 7},
		{"other integer types", `SELECT v FROM k WHERE a = CAST(3 AS bigint) AND b = CAST(4 AS tinyint)`, 10, 10},
		{"text for a number", `SELECT v FROM k WHERE a = '3' AND b = '4'`, 10, 10},
		{"fraction is no bound", `SELECT v FROM k WHERE a > 8.5`, 100, 1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := must(t, s, tt.sql)
			require.Equal(t, tt.rows, r.rows, r.out.String())
			require.LessOrEqual(t, s.RowsRead(), tt.most)
		})
	}
}

// TestPlan_SameAnswer compares ranges with the same condition on an expression
// that no index serves.
func TestPlan_SameAnswer(t *testing.T) {
	s := keyed(t)
	conditions := []string{
		"{a} = 3", "{a} > 3 AND {b} < 2", "{a} IN (1, 2) OR {b} = 9", "({a} = 1 AND {b} > 7) OR ({a} > 7 AND {c} = 3)", "NOT ({a} > 2 OR {b} > 1)",
		"{a} <> 4 AND {a} < 6", "({a} = 2 OR {a} = 3) AND ({b} = 1 OR {b} > 7)", "{a} >= 9 OR {a} <= 0", "{a} BETWEEN 2 AND 3 AND {b} NOT BETWEEN 2 AND 8",
		"{a} NOT IN (1, 2, 3)", "{a} = 1 AND {a} = 2", "{a} > 3 AND ({b} = 1 OR {b} = NULL)",
	}
	for _, cond := range conditions {
		t.Run(cond, func(t *testing.T) {
			query := func(form string) string {
				c := cond
				for _, col := range []string{"a", "b", "c"} {
					c = strings.ReplaceAll(c, "{"+col+"}", fmt.Sprintf(form, col))
				}
				return run(t, s, "SELECT a, b, c FROM k WHERE "+c+" ORDER BY a, b, c")
			}
			require.Equal(t, query("(%s + 0)"), query("%s"))
		})
	}
}
