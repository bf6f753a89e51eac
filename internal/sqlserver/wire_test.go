package sqlserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

// enable is the statement that captures a table.
func enable(schemaName, table string, options ...string) string {
	quoted := func(s string) string { return "N'" + strings.ReplaceAll(s, "'", "''") + "'" }
	return fmt.Sprintf("EXEC sys.sp_cdc_enable_table @source_schema = %s, @source_name = %s, @role_name = NULL%s;\n",
		quoted(schemaName), quoted(table), strings.Join(append([]string{""}, options...), ", "))
}

func catalogue(t *testing.T, conn *sqlserver.Conn) map[string]*sqlserver.Table {
	t.Helper()
	tables, err := conn.Catalogue(t.Context(), nil)
	require.NoError(t, err)
	byName := map[string]*sqlserver.Table{}
	for _, table := range tables {
		byName[table.Source.Schema+"."+table.Source.Name] = table
	}
	return byName
}

func TestLogin_Refused(t *testing.T) {
	s := servertest.Start(t, "")
	for name, test := range map[string]struct {
		spoil func(*sqlserver.Config)
		says  string
	}{
		"password": {func(c *sqlserver.Config) { c.Password = "wrong-secret" }, "Login failed"},
		"database": {func(c *sqlserver.Config) { c.Database = "nowhere" }, "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := s.Config()
			test.spoil(&cfg)
			server, err := sqlserver.NewServer(cfg)
			require.NoError(t, err)
			_, err = server.Connect(t.Context(), "")
			require.ErrorContains(t, err, test.says)
			assert.Equal(t, sqlserver.ClassLogin, sqlserver.Classify(err))
			assert.NotContains(t, err.Error(), "secret")
			assert.NotContains(t, err.Error(), servertest.Password)
		})
	}
}

func TestFacts(t *testing.T) {
	s := servertest.Start(t, "")
	conn := s.Connect(t)
	facts, err := conn.Facts(t.Context())
	require.NoError(t, err)
	assert.Equal(t, servertest.Database, facts.Database)
	assert.True(t, facts.CDCEnabled)
	assert.False(t, facts.SnapshotAllowed)
	assert.NotEmpty(t, facts.Collation)
	assert.NotEmpty(t, facts.Version)
	assert.Zero(t, facts.Offset)

	s.Exec(t, "ALTER DATABASE db SET ALLOW_SNAPSHOT_ISOLATION ON")
	facts, err = conn.Facts(t.Context())
	require.NoError(t, err)
	assert.True(t, facts.SnapshotAllowed)
}

func TestPoll_WithoutCDC(t *testing.T) {
	s := servertest.Start(t, "EXEC sys.sp_cdc_disable_db")
	conn := s.Connect(t)
	_, err := conn.Poll(t.Context(), lsn.LSN{}, 10)
	var problem sqlserver.Problem
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, sqlserver.ReasonCDCDisabled, problem.Reason())
	assert.True(t, conn.Usable())
}

func TestCatalogue(t *testing.T) {
	s := servertest.Start(t, `
CREATE TABLE dbo.customers (
	id int IDENTITY NOT NULL PRIMARY KEY,
	name nvarchar(50) NOT NULL DEFAULT N'x',
	price decimal(10,3) NULL,
	doubled AS price * 2,
	at datetime2(3) NULL,
	ver rowversion,
	code varchar(9) COLLATE SQL_Latin1_General_CP1_CI_AS NULL
);
CREATE TABLE dbo.heap (a int NULL, b varchar(9));
CREATE TABLE dbo.two (a int NOT NULL, b int NOT NULL, c int NULL, CONSTRAINT pk PRIMARY KEY (b DESC, a));
CREATE TABLE dbo.uniq (a int NOT NULL, b int NULL, CONSTRAINT u UNIQUE (a), CONSTRAINT n UNIQUE (b));
`+enable("dbo", "customers")+enable("dbo", "heap", "@capture_instance = N'my inst'")+
		enable("dbo", "two", "@captured_column_list = N'b, a'"))
	tables := catalogue(t, s.Connect(t))

	customers := tables["dbo.customers"]
	require.Len(t, customers.Instances, 1)
	ci := customers.Instances[0]
	assert.Equal(t, "dbo_customers", ci.Name)
	assert.Equal(t, "dbo_customers_CT", ci.ChangeTable)
	assert.True(t, ci.HasCommand)
	assert.False(t, ci.StartLSN.IsZero())
	assert.False(t, ci.CreateDate.IsZero())
	assert.Equal(t, customers.Source.Key, ci.Shape.Key)
	var names []string
	for i, col := range ci.Shape.Columns {
		names = append(names, col.Name)
		source := customers.Source.WithoutComputed().Columns[i]
		source.Ordinal, source.DefaultValue = col.Ordinal, col.DefaultValue
		assert.Equal(t, source, col, "snapshot and stream see the same column")
	}
	assert.Equal(t, []string{"id", "name", "price", "at", "ver", "code"}, names, "computed columns are left out")
	assert.Equal(t, 7, ci.Shape.Columns[5].Ordinal, "the mask counts them")
	id, price := ci.Shape.Columns[0], ci.Shape.Columns[2]
	assert.True(t, id.Identity)
	assert.False(t, id.Nullable)
	assert.Equal(t, schema.Int, id.Type.Kind)
	assert.Equal(t, 10, price.Type.Precision)
	assert.Equal(t, 3, price.Type.Scale)
	assert.Equal(t, "(N'x')", ci.Shape.Columns[1].Default)
	assert.Equal(t, schema.RowVersion, ci.Shape.Columns[4].Type.Kind)
	assert.Equal(t, "SQL_Latin1_General_CP1_CI_AS", ci.Shape.Columns[5].Collation)
	assert.Equal(t, "[id] int", sqlserver.KeyDefinition(customers.PageKey))

	assert.Equal(t, "my inst", tables["dbo.heap"].Instances[0].Name)
	assert.Nil(t, tables["dbo.heap"].PageKey)
	assert.Nil(t, tables["dbo.heap"].Source.Key)
	assert.Equal(t, "[b] int DESC, [a] int", sqlserver.KeyDefinition(tables["dbo.two"].PageKey))
	assert.Len(t, tables["dbo.two"].Instances[0].Shape.Columns, 2)
	assert.Equal(t, "[a] int", sqlserver.KeyDefinition(tables["dbo.uniq"].PageKey))
	assert.Empty(t, tables["dbo.uniq"].Instances)
}

// Every kind of key is read in pages of one row, each row once, in key order.
func TestReadRows_Keys(t *testing.T) {
	for _, test := range []struct {
		name, columns, key string
		rows               []string
	}{
		{"datetime", "k datetime NOT NULL, n int NOT NULL", "k, n", []string{
			"'2024-01-01T00:00:00.003', 1", "'2024-01-01T00:00:00.003', 2", "'2024-01-01T00:00:00.007', 1",
			"'2024-01-01T00:00:00.007', 2", "'2024-01-01T00:00:00.010', 1",
		}},
		{"smalldatetime", "k smalldatetime NOT NULL", "k", []string{"'1900-01-01T00:00:00'", "'2024-05-06T07:08:00'", "'2079-06-06T23:59:00'"}},
		{"date", "k date NOT NULL", "k", []string{"'0001-01-01'", "'2024-05-06'", "'9999-12-31'"}},
		{"time", "k time(7) NOT NULL", "k", []string{"'00:00:00'", "'12:34:56.1234567'", "'12:34:56.1234568'", "'23:59:59.9999999'"}},
		{"datetime2", "k datetime2(7) NOT NULL", "k", []string{"'0001-01-01T00:00:00'", "'2024-05-06T07:08:09.1234567'", "'2024-05-06T07:08:09.1234568'", "'9999-12-31T23:59:59.9999999'"}},
		{"datetimeoffset", "k datetimeoffset(7) NOT NULL", "k", []string{
			"'2024-05-06T09:00:00.0000001+05:00'", "'2024-05-06T05:00:00+00:00'", "'0001-01-01T00:00:00+00:00'", "'9999-12-31T23:59:59.9999999+00:00'",
		}},
		{"bit", "k bit NOT NULL", "k", []string{"0", "1"}},
		{"tinyint", "k tinyint NOT NULL", "k", []string{"0", "128", "255"}},
		{"bigint", "k bigint NOT NULL", "k", []string{"-9223372036854775808", "0", "9223372036854775807"}},
		{"decimal", "k decimal(10,3) NOT NULL", "k", []string{"-0.005", "0", "0.001", "1234567.890"}},
		{"money", "k money NOT NULL", "k", []string{"-922337203685477.5808", "0.0001", "922337203685477.5807"}},
		{"float", "k float NOT NULL", "k", []string{"-1.5e300", "0.1", "0.30000000000000004", "1e300"}},
		{"real", "k real NOT NULL", "k", []string{"-1.5", "0.1", "3e38"}},
		{"uniqueidentifier", "k uniqueidentifier NOT NULL", "k", []string{
			"'FFFFFFFF-FFFF-FFFF-FFFF-000000000001'", "'00000000-0000-0000-0000-000000000002'", "'00000000-0000-0000-0001-000000000002'",
		}},
		{"varbinary", "k varbinary(20) NOT NULL", "k", []string{"0x", "0x00FF", "0x01", "0xFF"}},
		{"varchar", "k varchar(20) COLLATE SQL_Latin1_General_CP1_CI_AS NOT NULL", "k", []string{
			"'co-op'", "'coop'", "'CO-OPS'", "'résumé'", "'resume2'", "'a-1'", "'a1'", "'ñu'", "'nz'",
		}},
		{"equal but different", "k nvarchar(20) COLLATE Latin1_General_CI_AS NOT NULL, n int NOT NULL", "k, n", []string{"N'foo', 1", "N'FOO', 2", "N'Foo', 3", "N'fop', 1"}},
		{"nchar", "k nchar(3) NOT NULL", "k", []string{"N'a'", "N'ab'", "N'abc'"}},
		{"composite", "a int NOT NULL, b int NOT NULL", "a, b", []string{"1, 1", "1, 2", "2, 1", "2, 2", "3, 1"}},
		{"not in column order, descending", "a int NOT NULL, b int NOT NULL, c int NOT NULL", "b DESC, c, a DESC", []string{
			"1, 1, 1", "2, 1, 1", "1, 2, 1", "2, 2, 1", "1, 2, 2", "3, 1, 0", "3, 3, 3",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := servertest.Start(t, fmt.Sprintf("CREATE TABLE dbo.t (%s, filler varchar(5) NULL, PRIMARY KEY (%s));\nINSERT dbo.t VALUES (%s, 'x');",
				test.columns, test.key, strings.Join(test.rows, ", 'x'), (")))
			conn := s.Connect(t)
			table := catalogue(t, conn)["dbo.t"]
			require.NotEmpty(t, table.PageKey)
			reader := sqlserver.NewTableReader(table, table.Source)
			whole, err := conn.ReadRows(t.Context(), reader, nil, 1000, 1<<20)
			require.NoError(t, err)
			require.True(t, whole.End)
			require.Len(t, whole.Rows, len(test.rows))

			for _, size := range []int{1, 2, 3} {
				var (
					after []string
					seen  int
				)
				for end := false; !end; {
					page, err := conn.ReadRows(t.Context(), reader, after, size, 1<<20)
					require.NoError(t, err)
					for _, row := range page.Rows {
						require.Less(t, seen, len(whole.Rows), "pages of %d repeat rows", size)
						require.Equal(t, whole.Rows[seen], row, "row %d in pages of %d", seen, size)
						seen++
						after, err = reader.Key(row)
						require.NoError(t, err)
					}
					end = page.End
				}
				require.Equal(t, len(whole.Rows), seen, "pages of %d skip rows", size)
			}
		})
	}
}

// Names are whatever the catalogue holds.
func TestOddNames(t *testing.T) {
	tables := []struct{ schema, name string }{
		{"dbo", "UAT WAG CZ$Fixed Asset ['1']]"},
		{"s.1", "a.b"},
		{"dbo", "O'Hara"},
		{"dbo", "注文"},
		{"dbo", "Company Inc$Item$437dbf0e-84ff-417a-965d-ed2bb9650972"},
		{"dbo", "a b"},
		{"dbo", "a_b"},
	}
	var script strings.Builder
	script.WriteString("CREATE SCHEMA [s.1]\nGO\n")
	for i, table := range tables {
		name := sqlserver.Quote(table.schema) + "." + sqlserver.Quote(table.name)
		fmt.Fprintf(&script, "CREATE TABLE %s ([the ']key] int PRIMARY KEY, [select] int NULL);\n", name)
		fmt.Fprintf(&script, "INSERT %s VALUES (%d, 1);\n", name, i)
		script.WriteString(enable(table.schema, table.name, fmt.Sprintf("@capture_instance = N'ci %d]'", i)))
		fmt.Fprintf(&script, "INSERT %s VALUES (%d, 2);\n", name, 100+i)
	}
	s := servertest.Start(t, strings.ReplaceAll(script.String(), "[the ']key]", "[the '']]key]"))
	s.Capture(t)
	conn := s.Connect(t)
	found := catalogue(t, conn)
	to, err := conn.MaxLSN(t.Context())
	require.NoError(t, err)
	for i, want := range tables {
		table := found[want.schema+"."+want.name]
		require.NotNil(t, table, "%s.%s", want.schema, want.name)
		page, err := conn.ReadRows(t.Context(), sqlserver.NewTableReader(table, table.Instances[0].Shape), []string{"99"}, 10, 1<<20)
		require.NoError(t, err)
		require.Len(t, page.Rows, 1)
		assert.EqualValues(t, 100+i, page.Rows[0][0])
		changes, err := conn.ReadChanges(t.Context(), sqlserver.NewChangeReader(table.Instances[0], true, nil),
			sqlserver.ChangeQuery{To: to, Limit: 10, MaxBytes: 1 << 20})
		require.NoError(t, err)
		require.Len(t, changes.Rows, 1)
		assert.EqualValues(t, 100+i, changes.Rows[0].Values[0])
	}
}

func TestReadChanges_Pages(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY, v int NULL);\n"+enable("dbo", "t"))
	s.Change(t, `
BEGIN TRAN; INSERT dbo.t VALUES (1, 1), (2, 2), (3, 3); UPDATE dbo.t SET v = v + 1; COMMIT;
INSERT dbo.t VALUES (4, 4);
BEGIN TRAN; DELETE dbo.t WHERE id < 3; INSERT dbo.t VALUES (5, 5); COMMIT;`)
	conn := s.Connect(t)
	instance := catalogue(t, conn)["dbo.t"].Instances[0]
	poll, err := conn.Poll(t.Context(), lsn.LSN{}, 100)
	require.NoError(t, err)
	require.Len(t, poll.Commits, 3)
	assert.Equal(t, poll.Commits[2].LSN, poll.Max)
	cut, err := conn.Poll(t.Context(), poll.Commits[1].LSN, 1)
	require.NoError(t, err)
	assert.Equal(t, poll.Commits[1:2], cut.Commits)
	assert.Equal(t, poll.Instances, cut.Instances)

	for _, byCommand := range []bool{true, false} {
		reader := sqlserver.NewChangeReader(instance, byCommand, nil)
		query := sqlserver.ChangeQuery{To: poll.Max, Limit: 1000, MaxBytes: 1 << 20}
		whole, err := conn.ReadChanges(t.Context(), reader, query)
		require.NoError(t, err)
		require.True(t, whole.End)
		require.Len(t, whole.Rows, 3+6+1+3)
		assert.Equal(t, instance.StartLSN, whole.Low)
		for _, size := range []int{1, 2, 5, 13} {
			for _, bytes := range []int{1, 1 << 20} {
				var rows []sqlserver.ChangeRow
				query := sqlserver.ChangeQuery{To: poll.Max, Limit: size, MaxBytes: bytes}
				for end := false; !end; {
					page, err := conn.ReadChanges(t.Context(), reader, query)
					require.NoError(t, err)
					rows = append(rows, page.Rows...)
					require.LessOrEqual(t, len(rows), len(whole.Rows))
					if end = page.End; !end {
						last := rows[len(rows)-1].Position()
						query.After = &last
					}
				}
				require.Equal(t, whole.Rows, rows, "pages of %d rows or %d bytes", size, bytes)
			}
		}
	}
	changed, err := conn.Changed(t.Context(), sqlserver.NewChangedReader([]*sqlserver.CaptureInstance{instance, instance}), poll.Max, poll.Max)
	require.NoError(t, err)
	assert.Equal(t, []int{0, 1}, changed.Instances)
	assert.Equal(t, poll.HighestStart, changed.HighestStart)
	changed, err = conn.Changed(t.Context(), sqlserver.NewChangedReader([]*sqlserver.CaptureInstance{instance}), poll.Max.Next(), lsn.Max)
	require.NoError(t, err)
	assert.Empty(t, changed.Instances)
	assert.Equal(t, poll.HighestStart, changed.HighestStart)
}

// Every name in the statements is spelled as the catalogue spells it: a binary
// collation tells letters apart by case, a Turkish one has two letters i.
func TestStatements_InStrictCollations(t *testing.T) {
	for _, collation := range []string{"Latin1_General_BIN2", "Turkish_CI_AS", "Latin1_General_CS_AS"} {
		t.Run(collation, func(t *testing.T) {
			s := servertest.StartCollated(t, collation,
				"CREATE TABLE dbo.Items (ID int NOT NULL, Iı varchar(9) NOT NULL, PRIMARY KEY (Iı, ID));\n"+enable("dbo", "Items")+
					"ALTER DATABASE db SET ALLOW_SNAPSHOT_ISOLATION ON;")
			s.Change(t, "INSERT dbo.Items VALUES (1, 'a'), (2, 'b');")
			conn := s.Connect(t)
			facts, err := conn.Facts(t.Context())
			require.NoError(t, err)
			assert.Equal(t, collation, facts.Collation)
			table := catalogue(t, conn)["dbo.Items"]
			require.NotNil(t, table)
			poll, err := conn.Poll(t.Context(), lsn.LSN{}, 10)
			require.NoError(t, err)
			require.Len(t, poll.Commits, 1)
			changes, err := conn.ReadChanges(t.Context(), sqlserver.NewChangeReader(table.Instances[0], true, nil),
				sqlserver.ChangeQuery{To: poll.Max, Limit: 1, MaxBytes: 1 << 20})
			require.NoError(t, err)
			require.Len(t, changes.Rows, 1)
			require.NoError(t, conn.Begin(t.Context(), sqlserver.Snapshot))
			reader := sqlserver.NewTableReader(table, table.Source)
			first, err := conn.ReadRows(t.Context(), reader, nil, 1, 1<<20)
			require.NoError(t, err)
			require.Len(t, first.Rows, 1)
			after, err := reader.Key(first.Rows[0])
			require.NoError(t, err)
			second, err := conn.ReadRows(t.Context(), reader, after, 2, 1<<20)
			require.NoError(t, err)
			require.Len(t, second.Rows, 1)
			assert.True(t, second.End)
			require.NoError(t, conn.End(t.Context()))
		})
	}
}

// The mapping allows NULL everywhere but in start_lsn.
func TestPoll_NullsInTheMapping(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY);\n"+enable("dbo", "t"))
	for i := range 4 {
		s.Change(t, fmt.Sprintf("INSERT dbo.t VALUES (%d);", i))
	}
	s.Exec(t, `
UPDATE cdc.lsn_time_mapping SET tran_id = NULL, tran_begin_time = '2024-01-01', tran_end_time = '2024-01-02';
DECLARE @n TABLE (l binary(10), n int);
INSERT @n SELECT start_lsn, ROW_NUMBER() OVER (ORDER BY start_lsn) FROM cdc.lsn_time_mapping;
UPDATE cdc.lsn_time_mapping SET tran_begin_time = NULL WHERE start_lsn IN (SELECT l FROM @n WHERE n IN (2, 4));
UPDATE cdc.lsn_time_mapping SET tran_end_time = NULL WHERE start_lsn IN (SELECT l FROM @n WHERE n IN (3, 4));`)
	poll, err := s.Connect(t).Poll(t.Context(), lsn.LSN{}, 10)
	require.NoError(t, err)
	require.Len(t, poll.Commits, 4)
	first, second := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)
	for i, want := range []struct{ begin, end time.Time }{{first, second}, {second, second}, {first, first}, {}} {
		assert.Equal(t, want.begin, poll.Commits[i].Begin, "begin of commit %d", i)
		assert.Equal(t, want.end, poll.Commits[i].End, "end of commit %d", i)
	}
}

// An instance may get its start LSN some time after it was made, and the
// capture job may change a column's type: either is seen in the poll.
func TestPoll_FingerprintFollowsInstances(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY, v int NULL);\n"+enable("dbo", "t"))
	s.Change(t, "INSERT dbo.t VALUES (1, 1);")
	conn := s.Connect(t)
	fingerprint := func() sqlserver.Fingerprint {
		poll, err := conn.Poll(t.Context(), lsn.LSN{}, 10)
		require.NoError(t, err)
		return poll.Instances
	}
	last := fingerprint()
	s.Change(t, "INSERT dbo.t VALUES (2, 2);")
	assert.Equal(t, last, fingerprint(), "rows change nothing")
	for _, change := range []string{
		"ALTER TABLE dbo.t ALTER COLUMN v bigint NULL;",
		"UPDATE cdc.change_tables SET start_lsn = NULL;",
		"UPDATE cdc.change_tables SET start_lsn = sys.fn_cdc_get_max_lsn();",
		enable("dbo", "t", "@capture_instance = N'second'"),
	} {
		s.Change(t, change)
		now := fingerprint()
		assert.NotEqual(t, last, now, change)
		last = now
	}
}
