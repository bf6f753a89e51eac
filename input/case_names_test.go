package input_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oddNames are names of tables, schemas and columns that ERP systems really
// have, or that quoting could get wrong (airbytehq/airbyte#77729 and #73349,
// apache/flink-cdc#4014, Debezium's SpecialCharsInNamesIT).
var oddNames = []string{
	`UAT WAG CZ$Fixed Asset ['1']`,
	`Company Inc$Item$437dbf0e-84ff-417a-965d-ed2bb9650972`,
	`a.b`,
	`O'Hara`,
	`O''Hara`,
	`a"b`,
	`]`,
	`[`,
	`]]`,
	`[dbo].[t]`,
	`%`,
	`_`,
	`a_b`,
	`a b`,
	` leading`,
	`a;DROP TABLE x--`,
	`/* x */`,
	`@p1`,
	`a#`,
	`$action`,
	`\`,
	`{"a":1}`,
	`a,b`,
	`select`,
	`注文`,
	`Ünïcödé`,
	`日本😀`,
	"tab\there",
	"trailing.",
	"nbsp\u00a0",
	"ﬁ ligature",
	"e\u0301 combining",
	"INSERT INTO",
	"null",
	"__$operation2",
	strings.Repeat("注", 127), // and one more for its second column
}

// bracketed quotes a name as T-SQL does.
func bracketed(name string) string { return "[" + strings.ReplaceAll(name, "]", "]]") + "]" }

// quoted makes a T-SQL string of a text.
func quoted(text string) string { return "N'" + strings.ReplaceAll(text, "'", "''") + "'" }

// jsonName is the name as JSON has it in these tests' events.
func jsonName(name string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`, "😀", `\uD83D\uDE00`).Replace(name)
}

// enableAs captures a table in an instance of a given name.
func enableAs(schema, table, instance string) string {
	return fmt.Sprintf("EXEC sys.sp_cdc_enable_table @source_schema = %s, @source_name = %s, @role_name = NULL, @capture_instance = %s\n",
		quoted(schema), quoted(table), quoted(instance))
}

// A name comes out of both phases as it is, whether of a table or of a column,
// and whether or not it is in the key.
func TestCases_OddNamesOfTablesAndColumns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tables, rows strings.Builder
		for i, name := range oddNames {
			fmt.Fprintf(&tables, "CREATE TABLE dbo.%s (%s int NOT NULL PRIMARY KEY, %s int)\n", bracketed(name), bracketed(name), bracketed(name+"2"))
			tables.WriteString(enableAs("dbo", name, fmt.Sprintf("i%d", i)))
			fmt.Fprintf(&rows, "INSERT dbo.%s VALUES (1, 10), (2, 20), (3, 30)\n", bracketed(name))
		}
		snapshot, stream := bothWays(t, tables.String(), rows.String(), pageSizes(2))
		onlyOps(t, "r", snapshot)
		onlyOps(t, "c", stream)
		read := images(t, snapshot)
		assert.Equal(t, read, images(t, stream))
		for _, name := range oddNames {
			n := jsonName(name)
			var want []string
			for i := 1; i <= 3; i++ {
				want = append(want, fmt.Sprintf(`{"%s":%d} {"%s":%d,"%s2":%d}`, n, i, n, i, n, i*10))
			}
			assert.Equal(t, want, read["dbo."+name], name)
		}
		for _, m := range append(snapshot, stream...) {
			assert.Contains(t, m.Value, `"table":"`+jsonName(m.Table)+`"`)
			assert.Regexp(t, `^server1\.db\.dbo\.[A-Za-z0-9._-]+$`, m.Topic)
		}
	})
}

// Schemas and capture instances have odd names too, and instances' default
// names collide: schema a_b with table c, and schema a with table b_c. The
// instance is taken from the catalogue, never built
// (wintersrd/pipelinewise-tap-mssql#109).
func TestCases_OddNamesOfSchemasAndInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sources := []struct{ schema, table, instance string }{
			{"s.1", "a.b", ""},
			{"O'schema]", "t", ""},
			{"dbo", "t", "my inst"},
			{"dbo", "u", "it's [a] \"name\"]"},
			{"dbo", "v", "MyTable1234"},
			{"a_b", "c", ""},
			{"a", "b_c", "a_b_c_2"},
			{"注", "文", "注文"},
		}
		var tables, rows strings.Builder
		for _, s := range sources {
			name := bracketed(s.schema) + "." + bracketed(s.table)
			if s.schema != "dbo" {
				fmt.Fprintf(&tables, "GO\nUSE db\nGO\nCREATE SCHEMA %s\nGO\n", bracketed(s.schema))
			}
			fmt.Fprintf(&tables, "CREATE TABLE %s (id int NOT NULL PRIMARY KEY)\n", name)
			if s.instance == "" {
				tables.WriteString(enable(s.schema, s.table))
			} else {
				tables.WriteString(enableAs(s.schema, s.table, s.instance))
			}
			fmt.Fprintf(&rows, "INSERT %s VALUES (1), (2)\n", name)
		}
		snapshot, stream := bothWays(t, tables.String(), rows.String(), pageSizes(1))
		read := images(t, snapshot)
		assert.Equal(t, read, images(t, stream))
		for _, s := range sources {
			assert.Equal(t, []string{`{"id":1} {"id":1}`, `{"id":2} {"id":2}`}, read[s.schema+"."+s.table], "%s.%s", s.schema, s.table)
		}
	})
}

// Names of 128 characters, the most there can be, need an instance with a name
// of their own, which has 100 at most. The topic is cut at Kafka's 249.
func TestCases_LongestNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schema, table, column := strings.Repeat("s", 128), strings.Repeat("]", 128), strings.Repeat("c", 128)
		name := bracketed(schema) + "." + bracketed(table)
		instance := strings.Repeat("i", 100)
		snapshot, stream := bothWays(t,
			"GO\nUSE db\nGO\nCREATE SCHEMA "+bracketed(schema)+"\nGO\nCREATE TABLE "+name+" ("+bracketed(column)+" int NOT NULL PRIMARY KEY)\n"+enableAs(schema, table, instance),
			"INSERT "+name+" VALUES (1), (2)", pageSizes(1))
		want := map[string][]string{schema + "." + table: {
			fmt.Sprintf(`{"%s":1} {"%s":1}`, column, column), fmt.Sprintf(`{"%s":2} {"%s":2}`, column, column),
		}}
		assert.Equal(t, want, images(t, snapshot))
		assert.Equal(t, want, images(t, stream))
		for _, m := range append(snapshot, stream...) {
			require.Equal(t, ("server1.db." + schema + "." + strings.Repeat("_", 128))[:249], m.Topic)
		}
	})
}

// Names that differ in characters which topics do not allow share a topic; the
// metadata and the source block tell the tables apart.
func TestCases_TwoNamesOfOneTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		snapshot, stream := bothWays(t, lines(
			"CREATE TABLE dbo.[a b] (id int NOT NULL PRIMARY KEY)",
			"CREATE TABLE dbo.[a_b] (id int NOT NULL PRIMARY KEY)",
			"CREATE TABLE dbo.[a$b] (id int NOT NULL PRIMARY KEY)",
			enableAs("dbo", "a b", "i1"), enableAs("dbo", "a_b", "i2"), enableAs("dbo", "a$b", "i3")),
			"INSERT dbo.[a b] VALUES (1)\nINSERT dbo.[a_b] VALUES (2)\nINSERT dbo.[a$b] VALUES (3)", "")
		want := map[string][]string{
			"dbo.a b": {`{"id":1} {"id":1}`}, "dbo.a_b": {`{"id":2} {"id":2}`}, "dbo.a$b": {`{"id":3} {"id":3}`},
		}
		assert.Equal(t, want, images(t, snapshot))
		assert.Equal(t, want, images(t, stream))
		for _, m := range append(snapshot, stream...) {
			require.Equal(t, "server1.db.dbo.a_b", m.Topic)
		}
	})
}

func TestCases_SharedTopicIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newServer(t, "CREATE TABLE dbo.[a b] (id int NOT NULL PRIMARY KEY)\nCREATE TABLE dbo.[a_b] (id int NOT NULL PRIMARY KEY)\nINSERT dbo.[a b] VALUES (1)\n"+
			enableAs("dbo", "a b", "i1")+"\n"+enableAs("dbo", "a_b", "i2"))
		p := startPipeline(t, server, settings{})
		p.next(1)
		assert.Regexp(t, `Tables \S*a[ _]b\S* and \S*a[ _]b\S* share the topic server1\.db\.dbo\.a_b`, strings.ReplaceAll(p.logs.String(), "a b", "a_b"))
	})
}

// Include and exclude lists see the plain schema.table and match it as a whole.
func TestCases_ListsMatchPlainNamesAsAWhole(t *testing.T) {
	for _, c := range []struct {
		name, fields string
		want         []string
	}{
		{"whole names", `table_include_list: [ 'dbo\.orders' ]`, []string{"orders"}},
		{"any case", `table_include_list: [ 'DBO\.Orders' ]`, []string{"orders"}},
		{"an unescaped dot is any character", `table_include_list: [ 'dbo.o.hara' ]`, []string{"O'Hara"}},
		{"quotes and brackets", `table_include_list: [ 'dbo\.O''Hara', 'dbo\.a\]b' ]`, []string{"O'Hara", "a]b"}},
		{"lookahead", `table_include_list: [ 'dbo\.(?!orders).*' ]`, []string{"O'Hara", "a]b", "xorders"}},
		{"exclusion", `table_exclude_list: [ 'dbo\.orders.*', 'dbo\.x.*' ]`, []string{"O'Hara", "a]b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tables := []string{"orders", "orders_archive", "xorders", "O'Hara", "a]b"}
				var script strings.Builder
				for i, name := range tables {
					fmt.Fprintf(&script, "CREATE TABLE dbo.%s (id int NOT NULL PRIMARY KEY)\nINSERT dbo.%s VALUES (1)\n%s",
						bracketed(name), bracketed(name), enableAs("dbo", name, fmt.Sprintf("i%d", i)))
				}
				server := newQuietServer(t, script.String())
				p := startPipeline(t, server, settings{fields: c.fields})
				var got []string
				for _, m := range p.settled() {
					got = append(got, m.Table)
				}
				assert.ElementsMatch(t, c.want, got)
				for _, name := range tables {
					sqlExec(t, server, fmt.Sprintf("USE db\nINSERT dbo.%s VALUES (2)", bracketed(name)))
				}
				require.NoError(t, server.CaptureNow("db"))
				got = nil
				for _, m := range p.settled() {
					got = append(got, m.Table)
				}
				assert.ElementsMatch(t, c.want, got)
			})
		})
	}
}
