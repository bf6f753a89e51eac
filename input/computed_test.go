package input_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// computedColumns are expressions of every type that one can have, over the
// column a.
var computedColumns = []string{
	"CONVERT(bit, a)", "CONVERT(tinyint, a)", "CONVERT(smallint, a)", "a * 2", "CONVERT(bigint, a) * 1000000",
	"CONVERT(decimal(9, 3), a) / 8", "CONVERT(money, a)", "CONVERT(real, a) / 3", "CONVERT(float, a) / 3",
	"CONVERT(char(5), a)", "CONVERT(varchar(20), a) + 'x'", "CONVERT(nvarchar(20), a) + N'ß'", "CONVERT(nvarchar(max), REPLICATE('y', a))",
	"CONVERT(varbinary(4), a)", "CONVERT(varbinary(max), a)", "DATEADD(day, a, CONVERT(datetime2(7), '2024-01-01', 126))",
	"CONVERT(date, DATEADD(day, a, CONVERT(datetime2(7), '2024-01-01', 126)))", "CONVERT(uniqueidentifier, CONVERT(binary(16), a))",
	"CASE WHEN a > 1 THEN NULL ELSE a END",
}

// With computed_columns: snapshot the rows of snapshots have computed columns,
// persisted or not; changes do not, not even as null; and the schema that
// registries see is the same in both, as is what schema changes tell.
func TestComputedColumns_Snapshot(t *testing.T) {
	for _, persisted := range []string{"", " PERSISTED"} {
		t.Run("computed"+persisted, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var columns strings.Builder
				for i, expression := range computedColumns {
					fmt.Fprintf(&columns, ", c%02d AS %s%s", i, expression, persisted)
				}
				server := newServer(t, "CREATE TABLE dbo.t (first AS a + 100, a int NOT NULL PRIMARY KEY"+columns.String()+", v int)\n"+
					"INSERT dbo.t (a, v) VALUES (1, 1)\n"+enable("dbo", "t"))
				p := startPipeline(t, server, settings{fields: "computed_columns: snapshot\nvalue_schemas_enable: true"})
				defer p.stop()
				row := p.next(1)[0]
				change(t, server, "INSERT dbo.t (a, v) VALUES (2, 2)\nUPDATE dbo.t SET v = 3 WHERE a = 1\nDELETE dbo.t WHERE a = 2")
				changes := p.next(4)
				assert.Contains(t, rowText(t, row.Value, "payload", "after"), `{"first":101,"a":1,"c00":true,"c01":1,"c02":1,"c03":2,"c04":1000000,`)
				assert.Contains(t, rowText(t, row.Value, "payload", "after"), `"c18":1,"v":1}`)
				assert.Equal(t, `{"a":2,"v":2}`, rowText(t, changes[0].Value, "payload", "after"))
				assert.Equal(t, `{"a":1,"v":1}`, rowText(t, changes[1].Value, "payload", "before"))
				assert.Equal(t, `{"a":1,"v":3}`, rowText(t, changes[1].Value, "payload", "after"))
				assert.Equal(t, `{"a":2,"v":2}`, rowText(t, changes[2].Value, "payload", "before"))
				assert.Equal(t, rowText(t, row.Value, "schema"), rowText(t, changes[0].Value, "schema"))
				assert.Equal(t, rowText(t, row.Value, "schema"), rowText(t, changes[1].Value, "schema"))

				// Nothing is told again: the table has not changed.
				<-time.After(time.Minute)
				assert.Empty(t, p.rest())
			})
		})
	}
}

// By default computed columns are not read at all: one that has no value in
// some row, as 1 / 0, harms nobody. Where it is asked for, the error names it.
func TestComputedColumns_WithoutValue(t *testing.T) {
	const table = "CREATE TABLE dbo.t (a int NOT NULL PRIMARY KEY, v int, share AS 100 / v)\nINSERT dbo.t VALUES (1, 4), (2, 0)\n"
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, table+enable("dbo", "t"))
		p := startPipeline(t, server, settings{})
		p.want(`r dbo.t {"a":1,"v":4}`, `r dbo.t {"a":2,"v":0}`)
		change(t, server, "UPDATE dbo.t SET v = 0 WHERE a = 1")
		p.want(`u dbo.t {"a":1,"v":0}`)
		p.stop()

		p = startPipeline(t, server, settings{fields: "computed_columns: snapshot"})
		p.logged("(computed_column)")
		for _, part := range []string{"one of [share]", "set computed_columns to omit"} {
			assert.Contains(t, p.logs.String(), part)
		}
		assert.Empty(t, p.rest())
		p.stop()

		p = startPipeline(t, server, settings{fields: "computed_columns: snapshot\ncolumn_exclude_list: ['dbo\\.t\\.share']"})
		defer p.stop()
		p.want(`r dbo.t {"a":1,"v":0}`, `r dbo.t {"a":2,"v":0}`)
	})
}

// A computed column is no part of a key, whoever asks for it.
func TestComputedColumns_NeverInKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.t (a int NOT NULL, b AS a * 2 PERSISTED NOT NULL, c int NOT NULL, PRIMARY KEY (a, b))\n"+
			"INSERT dbo.t VALUES (1, 3)\n"+enable("dbo", "t"))
		p := startPipeline(t, server, settings{fields: "computed_columns: snapshot"})
		row := p.next(1)[0]
		assert.Empty(t, row.Key)
		assert.Equal(t, `{"a":1,"b":2,"c":3}`, after(t, row))
		p.stop()
		p = startPipeline(t, server, settings{fields: "computed_columns: snapshot\nmessage_key_columns: 'dbo.t:c;dbo.t:b'"})
		defer p.stop()
		p.logged("(key_column)")
		assert.Contains(t, p.logs.String(), "dbo.t:b")
	})
}
