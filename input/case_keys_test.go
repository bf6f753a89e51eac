package input_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/race"
)

// keyTypes are types of key columns with values that lie close together or at
// the ends of the type. The two datetime values of one millisecond's rounding
// made a reader of time.Time bounds loop or skip (estuary backfill, go-mssqldb
// rounding of 1/300 s ticks); a bit key crashed another
// (woodlee/sqlserver-cdc-to-kafka#37).
var keyTypes = []struct {
	name, sql string
	values    []string
}{
	{"bit", "bit", []string{"0", "1"}},
	{"tinyint", "tinyint", []string{"0", "127", "128", "255"}},
	{"smallint", "smallint", []string{"-32768", "-1", "0", "32767"}},
	{"int", "int", []string{"-2147483648", "-1", "0", "1", "2147483647"}},
	{"bigint", "bigint", []string{"-9223372036854775808", "-9007199254740993", "-9007199254740992", "0", "9007199254740992", "9007199254740993", "9223372036854775807"}},
	{"decimal", "decimal(10,3)", []string{"-9999999.999", "-0.001", "0", "0.001", "0.002", "9999999.999"}},
	{"decimal38", "decimal(38,0)", []string{"-99999999999999999999999999999999999999", "0", "99999999999999999999999999999999999998", "99999999999999999999999999999999999999"}},
	{"money", "money", []string{"-922337203685477.5808", "-0.0001", "0", "0.0001", "922337203685477.5807"}},
	{"smallmoney", "smallmoney", []string{"-214748.3648", "0", "0.0001", "214748.3647"}},
	{"float", "float", []string{"-1.7976931348623157E308", "0", "0.1", "0.30000000000000004", "0.3", "1.7976931348623157E308"}},
	{"real", "real", []string{"-3.4E38", "0", "0.1", "0.2", "16777216"}},
	{"date", "date", []string{"'0001-01-01'", "'2000-02-29'", "'2000-03-01'", "'9999-12-31'"}},
	{"time0", "time(0)", []string{"'00:00:00'", "'00:00:01'", "'23:59:59'"}},
	{"time7", "time(7)", []string{"'00:00:00'", "'00:00:00.0000001'", "'00:00:00.0000002'", "'23:59:59.9999999'"}},
	{"datetime", "datetime", []string{"'1753-01-01'", "'2000-01-01T00:00:00.003'", "'2000-01-01T00:00:00.007'", "'2000-01-01T00:00:00.010'", "'9999-12-31T23:59:59.997'"}},
	{"smalldatetime", "smalldatetime", []string{"'1900-01-01'", "'2000-01-01T00:01:00'", "'2000-01-01T00:02:00'", "'2079-06-06T23:59:00'"}},
	{"datetime2_0", "datetime2(0)", []string{"'0001-01-01'", "'2000-01-01T00:00:01'", "'9999-12-31T23:59:59'"}},
	{"datetime2_7", "datetime2(7)", []string{"'1677-09-22'", "'2000-01-01T00:00:00.0000001'", "'2000-01-01T00:00:00.0000002'", "'2262-04-11T23:47:16.8547758'"}},
	{"datetimeoffset", "datetimeoffset(7)", []string{"'1583-01-01T00:00:00Z'", "'2000-01-01T00:00:00.0000001+14:00'", "'2000-01-01T00:00:00.0000002+14:00'", "'2000-01-01T00:00:00.0000001-14:00'"}},
	// In GUID order the last group counts most.
	{"guid", "uniqueidentifier", []string{"'FFFFFFFF-0000-0000-0000-000000000000'", "'00000000-FFFF-0000-0000-000000000001'", "'6F9619FF-8B86-D011-B42D-00C04FC964FF'", "'00000000-0000-0000-0000-000000000000'", "'00000000-0000-0000-0000-000000000001'"}},
	{"char", "char(3)", []string{"''", "'a'", "'ab'", "'abc'"}},
	{"varchar", "varchar(20) COLLATE SQL_Latin1_General_CP1_CI_AS", []string{"''", "'co-op'", "'coop'", "'CO-OPS'", "'a-1'", "'a1'", "'O''Hara'", "'%'", "'[x]'"}},
	{"nvarchar", "nvarchar(20)", []string{"N''", "N'a'", "N'ä'", "N'ñu'", "N'nz'", "N'注文'", "N'😀x'"}},
	{"nchar", "nchar(3)", []string{"N''", "N'é'", "N'éa'"}},
	{"varchar_bin", "varchar(20) COLLATE Latin1_General_BIN2", []string{"'A'", "'B'", "'a'", "'b'"}},
	{"binary", "binary(4)", []string{"0x00", "0x01", "0x7fffffff", "0x80000000", "0xffffffff"}},
	{"varbinary", "varbinary(8)", []string{"0x", "0x01", "0x0101", "0x0102", "0xff"}},
}

// keyTables creates, for each type, a table keyed by it alone, one keyed by it
// and a number, and one keyed by a number and it in descending order, out of
// the order of their columns.
func keyTables() (tables, rows string) {
	var create, insert strings.Builder
	for _, k := range keyTypes {
		fmt.Fprintf(&create, "CREATE TABLE dbo.alone_%s (v int, k %s NOT NULL PRIMARY KEY)\n", k.name, k.sql)
		fmt.Fprintf(&create, "CREATE TABLE dbo.first_%s (v int, n int NOT NULL, k %s NOT NULL, PRIMARY KEY (k, n))\n", k.name, k.sql)
		fmt.Fprintf(&create, "CREATE TABLE dbo.last_%s (k %s NOT NULL, v int, n int NOT NULL, PRIMARY KEY (n DESC, k DESC))\n", k.name, k.sql)
		for _, table := range []string{"alone_", "first_", "last_"} {
			create.WriteString(enable("dbo", table+k.name))
		}
		for _, v := range k.values {
			fmt.Fprintf(&insert, "INSERT dbo.alone_%s (v, k) VALUES (0, %s)\n", k.name, v)
			for _, table := range []string{"first_", "last_"} {
				fmt.Fprintf(&insert, "INSERT dbo.%s%s (v, n, k) VALUES (0, 1, %s), (0, 2, %s)\n", table, k.name, v, v)
			}
		}
	}
	return create.String(), insert.String()
}

// Whatever the type of a key and the size of a page, every row is read once,
// and stream and snapshot agree on its key and its values.
func TestCases_KeysOfEveryTypeArePagedOnce(t *testing.T) {
	tables, rows := keyTables()
	for i := range race.Every(3, 3) {
		size := i + 1
		t.Run(fmt.Sprintf("pages of %d", size), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				snapshot, stream := bothWays(t, tables, rows, pageSizes(size))
				onlyOps(t, "r", snapshot)
				onlyOps(t, "c", stream)
				read, streamed := images(t, snapshot), images(t, stream)
				for _, k := range keyTypes {
					for table, want := range map[string]int{"alone_": 1, "first_": 2, "last_": 2} {
						name := "dbo." + table + k.name
						got := read[name]
						assert.Len(t, slices.Compact(slices.Clone(got)), want*len(k.values), name)
						assert.Len(t, got, want*len(k.values), name)
						assert.Equal(t, streamed[name], got, name)
					}
				}
			})
		})
	}
}

// Two key columns are compared as a pair, in the order and the directions of
// the key: "a > x AND b > y" lost rows (redpanda connect #3842).
func TestCases_CompositeKeysAreComparedAsPairs(t *testing.T) {
	for _, key := range []string{"a, b", "b, a", "a DESC, b", "a, b DESC", "b DESC, a DESC"} {
		for size := 1; size <= 3; size++ {
			t.Run(fmt.Sprintf("%s by %d", key, size), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := newServer(t, lines(
						"CREATE TABLE dbo.t (a int NOT NULL, b int NOT NULL, PRIMARY KEY ("+key+"))",
						"INSERT dbo.t VALUES (1,1), (1,2), (2,1), (2,2), (3,1)",
						enable("dbo", "t")))
					p := startPipeline(t, server, settings{fields: pageSizes(size)})
					got := p.next(5)
					p.quiet()
					var rows []string
					for _, m := range got {
						rows = append(rows, after(t, m))
					}
					assert.ElementsMatch(t, []string{
						`{"a":1,"b":1}`, `{"a":1,"b":2}`, `{"a":2,"b":1}`, `{"a":2,"b":2}`, `{"a":3,"b":1}`,
					}, rows)
					first := strings.Fields(key)[0]
					assert.True(t, strings.HasPrefix(got[0].Key, `{"`+strings.TrimSuffix(first, ",")+`":`), "key fields in the order of the key: %s", got[0].Key)
				})
			})
		}
	}
}

// Rows that differ only in case are one value to a collation and have to be
// paged by the other column.
func TestCases_TextKeysThatAreEqualToTheCollation(t *testing.T) {
	for size := 1; size <= 3; size++ {
		synctest.Test(t, func(t *testing.T) {
			snapshot, stream := bothWays(t, lines(
				"CREATE TABLE dbo.t (k varchar(20) COLLATE SQL_Latin1_General_CP1_CI_AS NOT NULL, n int NOT NULL, PRIMARY KEY (k, n))",
				enable("dbo", "t")),
				"INSERT dbo.t VALUES ('foo',1), ('FOO',2), ('Foo',3), ('foo ',4), ('bar',1)", pageSizes(size))
			want := map[string][]string{"dbo.t": {
				`{"k":"FOO","n":2} {"k":"FOO","n":2}`,
				`{"k":"Foo","n":3} {"k":"Foo","n":3}`,
				`{"k":"bar","n":1} {"k":"bar","n":1}`,
				`{"k":"foo ","n":4} {"k":"foo ","n":4}`,
				`{"k":"foo","n":1} {"k":"foo","n":1}`,
			}}
			assert.Equal(t, want, images(t, snapshot))
			assert.Equal(t, want, images(t, stream))
		})
	}
}

// A table without a key is read in one scan, beside others, and each of equal
// rows counts (apache/flink-cdc#1359 stopped at such a table).
func TestCases_TablesWithoutKeyAreReadToo(t *testing.T) {
	for size := 1; size <= 3; size++ {
		synctest.Test(t, func(t *testing.T) {
			server := newServer(t, lines(
				"CREATE TABLE dbo.a_keyed (id int NOT NULL PRIMARY KEY)",
				"CREATE TABLE dbo.log (a int NULL, b varchar(9))",
				"CREATE TABLE dbo.z_keyed (id int NOT NULL PRIMARY KEY)",
				"INSERT dbo.a_keyed VALUES (1)",
				"INSERT dbo.log VALUES (1, 'same'), (1, 'same'), (NULL, NULL)",
				"INSERT dbo.z_keyed VALUES (1)",
				enable("dbo", "a_keyed"), enable("dbo", "log"), enable("dbo", "z_keyed")))
			p := startPipeline(t, server, settings{fields: pageSizes(size)})
			p.want(
				`r dbo.a_keyed {"id":1}`,
				`r dbo.log {"a":1,"b":"same"}`, `r dbo.log {"a":1,"b":"same"}`, `r dbo.log {"a":null,"b":null}`,
				`r dbo.z_keyed {"id":1}`)
			change(t, server, "DELETE TOP (1) FROM dbo.log WHERE a = 1\nINSERT dbo.log VALUES (2, ''), (2, '')\nUPDATE dbo.log SET a = 3 WHERE a = 2")
			got := p.want(
				`d dbo.log {"a":1,"b":"same"}`,
				`c dbo.log {"a":2,"b":""}`, `c dbo.log {"a":2,"b":""}`,
				`u dbo.log {"a":3,"b":""}`, `u dbo.log {"a":3,"b":""}`)
			for _, m := range got {
				assert.NotContains(t, m.Meta, "key", "%s", m)
			}
			p.quiet()
		})
	}
}

// A computed column is in no event, so a key with one is none: rows then have
// the key of the next index that can be one, and are still read in pages.
func TestCases_ComputedColumnsInKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, lines(
			"CREATE TABLE dbo.t (a int NOT NULL, b AS a * 2 PERSISTED NOT NULL PRIMARY KEY, c AS a + 1)",
			"CREATE TABLE dbo.u (a int NOT NULL UNIQUE, b AS a * 2 PERSISTED NOT NULL PRIMARY KEY)",
			"INSERT dbo.t (a) VALUES (1), (2)",
			"INSERT dbo.u (a) VALUES (1), (2)",
			enable("dbo", "t"), enable("dbo", "u")))
		p := startPipeline(t, server, settings{fields: pageSizes(1)})
		got := p.want(`r dbo.t {"a":1}`, `r dbo.t {"a":2}`, `r dbo.u {"a":1}`, `r dbo.u {"a":2}`)
		change(t, server, "INSERT dbo.t (a) VALUES (3)\nINSERT dbo.u (a) VALUES (3)\nDELETE dbo.t WHERE a = 1")
		got = append(got, p.want(`c dbo.t {"a":3}`, `c dbo.u {"a":3}`, `d dbo.t {"a":1}`)...)
		for _, m := range got {
			if m.Table == "u" {
				require.Equal(t, after(t, m), m.Key)
			} else {
				require.Empty(t, m.Key)
			}
		}
		assert.Contains(t, p.logs.String(), `is no key: its column \"b\" is computed`)
	})
}
