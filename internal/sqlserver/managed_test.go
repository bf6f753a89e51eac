package sqlserver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/schema"
)

func onlyTables(t *testing.T, patterns ...string) *schema.Selection {
	t.Helper()
	selection, err := schema.NewSelection(schema.SelectionOptions{Tables: schema.FilterOptions{TableInclude: patterns}})
	require.NoError(t, err)
	return selection
}

// What is read of a table is what another instance like the one it has is made
// from; it can be made, and then is like it.
func TestManaged_AnotherLikeIt(t *testing.T) {
	s := servertest.Start(t, `CREATE TABLE dbo.[it's] (id int PRIMARY KEY, u int NOT NULL, v int, secret int, twice AS v * 2)
CREATE UNIQUE INDEX [u x] ON dbo.[it's] (u)
CREATE TABLE dbo.plain (id int)
CREATE TABLE dbo.other (id int)
`+enable("dbo", "it's", "@capture_instance = N'the first'", "@index_name = N'u x'", "@filegroup_name = N'PRIMARY'", "@supports_net_changes = 1",
		"@captured_column_list = N'[id], u, [v], twice'")+enable("dbo", "other"))
	s.Exec(t, "CREATE ROLE gate UPDATE cdc.change_tables SET role_name = N'gate' WHERE capture_instance = N'the first'")
	conn := s.Connect(t)
	s.Change(t, "ALTER TABLE dbo.[it's] ADD w int NULL")
	m, err := conn.Managed(t.Context(), onlyTables(t, "dbo.(it's|plain)"))
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"the first", "dbo_other"}, m.Names)
	require.Len(t, m.Tables, 2)
	table, plain := m.Tables[0], m.Tables[1]
	assert.Equal(t, []string{"it's", "plain"}, []string{table.Name, plain.Name})
	assert.Empty(t, plain.Instances)
	assert.Equal(t, []sqlserver.ManagedColumn{
		{ID: 1, Name: "id"}, {ID: 2, Name: "u"}, {ID: 3, Name: "v"}, {ID: 4, Name: "secret"}, {ID: 5, Name: "twice", Computed: true}, {ID: 6, Name: "w"},
	}, table.Columns)
	require.Len(t, table.Instances, 1)
	first := table.Instances[0]
	assert.Equal(t, []sqlserver.ManagedColumn{{ID: 1, Name: "id"}, {ID: 2, Name: "u"}, {ID: 3, Name: "v"}, {ID: 5, Name: "twice", Computed: true}}, first.Captured)
	assert.Equal(t, "the first", first.Name)
	assert.False(t, first.StartLSN.IsZero())
	assert.NotZero(t, first.ObjectID)
	assert.WithinDuration(t, time.Now(), first.CreateDate, 25*time.Hour, "server-local")
	assert.Equal(t, []string{"gate", "u x", "PRIMARY"}, []string{first.Role, first.Index, first.Filegroup})
	assert.True(t, first.NetChanges)
	assert.True(t, first.PartitionSwitch)
	require.Len(t, first.DDL, 1)
	assert.Equal(t, "ALTER TABLE dbo.[it's] ADD w int NULL", first.DDL[0].Command)
	assert.True(t, first.DDL[0].LSN.After(first.StartLSN))

	e := sqlserver.EnableTable{
		Schema: "dbo", Table: "it's", Instance: "another", Columns: []string{"id", "u", "v", "twice", "w"}, TableID: table.ObjectID, LastColumn: 6,
		Role: first.Role, Index: first.Index, Filegroup: first.Filegroup, NetChanges: true, NoPartitionSwitch: true,
	}
	e.LastColumn = 5
	require.NoError(t, conn.Manage(t.Context(), e.Statement()))
	m, err = conn.Managed(t.Context(), onlyTables(t, "dbo.it's"))
	require.NoError(t, err)
	require.Len(t, m.Tables[0].Instances, 1, "the table has a column more than the statement knows of")
	e.LastColumn = 6
	require.NoError(t, conn.Manage(t.Context(), e.Statement()))
	m, err = conn.Managed(t.Context(), onlyTables(t, "dbo.it's"))
	require.NoError(t, err)
	require.Len(t, m.Tables[0].Instances, 2)
	second := m.Tables[0].Instances[1]
	assert.Equal(t, append(first.Captured, sqlserver.ManagedColumn{ID: 6, Name: "w"}), second.Captured)
	assert.Equal(t, [5]any{first.Role, first.Index, first.Filegroup, first.NetChanges, "another"}, [5]any{second.Role, second.Index, second.Filegroup, second.NetChanges, second.Name})
	assert.True(t, second.StartLSN.After(first.DDL[0].LSN))

	err = conn.Manage(t.Context(), e.Statement())
	assert.True(t, sqlserver.Overtaken(err), "%v", err)
	require.NoError(t, conn.Manage(t.Context(), sqlserver.DisableTable{Schema: "dbo", Table: "it's", Instance: "the first", ObjectID: second.ObjectID}.Statement()))
	require.NoError(t, conn.Manage(t.Context(), sqlserver.DisableTable{Schema: "dbo", Table: "it's", Instance: "another", ObjectID: second.ObjectID}.Statement()))
	require.NoError(t, conn.Manage(t.Context(), sqlserver.DisableTable{Schema: "dbo", Table: "it's", Instance: "another", ObjectID: second.ObjectID}.Statement()), "it is gone")
	m, err = conn.Managed(t.Context(), onlyTables(t, "dbo.it's"))
	require.NoError(t, err)
	require.Len(t, m.Tables[0].Instances, 1)
	assert.Equal(t, first, m.Tables[0].Instances[0])
	err = conn.Manage(t.Context(), sqlserver.DisableTable{Schema: "dbo", Table: "it's", Instance: "another"}.ByHand())
	assert.True(t, sqlserver.Overtaken(err), "%v", err)
}

// An index that went is not asked for again.
func TestManaged_IndexIsGone(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int NOT NULL, v int)\n"+enable("dbo", "t"))
	conn := s.Connect(t)
	read := func() sqlserver.ManagedInstance {
		m, err := conn.Managed(t.Context(), onlyTables(t, "dbo.t"))
		require.NoError(t, err)
		return m.Tables[0].Instances[0]
	}
	assert.Empty(t, read().Index)
	s.Exec(t, "CREATE INDEX plain ON dbo.t (id) CREATE UNIQUE INDEX good ON dbo.t (id)")
	for index, want := range map[string]string{"gone": "", "plain": "", "good": "good"} {
		s.Exec(t, "UPDATE cdc.change_tables SET index_name = N'"+index+"'")
		assert.Equal(t, want, read().Index)
	}
}

// The mark changes with tables, columns and instances, and with nothing else.
func TestManagedMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Start(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int)\n"+enable("dbo", "t"))
		conn := s.Connect(t)
		read := func() sqlserver.ManagedMark {
			m, err := conn.ManagedMark(t.Context())
			require.NoError(t, err)
			return m
		}
		last := read()
		s.Change(t, "INSERT dbo.t VALUES (1, 1)")
		assert.Equal(t, last, read())
		for _, script := range []string{
			"CREATE TABLE dbo.u (id int)", "ALTER TABLE dbo.t ADD w int NULL", "ALTER TABLE dbo.u ADD w int NULL", "DROP TABLE dbo.u",
			enable("dbo", "t", "@capture_instance = N'second'"), "EXEC sys.sp_cdc_disable_table N'dbo', N't', N'dbo_t'",
		} {
			<-time.After(time.Second) // dates of modification are not finer than a datetime
			s.Change(t, script)
			next := read()
			assert.NotEqual(t, last, next, "%s", script)
			last = next
		}
	})
}

// A table that somebody works with is waited for, but not for long, and nothing
// stays behind of the attempt.
func TestManage_BusyTable(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, v int)\nCREATE TABLE dbo.u (id int)\n"+enable("dbo", "u"))
	conn, writer := s.Connect(t), s.Connect(t)
	require.NoError(t, writer.Exec(t.Context(), "BEGIN TRANSACTION; INSERT dbo.t VALUES (1, 1)"))
	e := sqlserver.EnableTable{Schema: "dbo", Table: "t", Instance: "mine", Role: "gate"}
	err := conn.Manage(t.Context(), e.Statement())
	require.Error(t, err)
	assert.True(t, sqlserver.Busy(err), "%v", err)
	assert.False(t, sqlserver.Overtaken(err))
	require.NoError(t, conn.Close())

	conn = s.Connect(t)
	m, err := conn.Managed(t.Context(), onlyTables(t, "dbo.t"))
	require.NoError(t, err)
	assert.Empty(t, m.Tables[0].Instances)
	require.NoError(t, writer.Exec(t.Context(), "COMMIT"))
	require.NoError(t, conn.Manage(t.Context(), e.Statement()))
}

func TestManageRights(t *testing.T) {
	s := servertest.Start(t, "CREATE LOGIN reader WITH PASSWORD = '"+servertest.Password+"', CHECK_POLICY = OFF\nCREATE USER [the reader] FOR LOGIN reader\nCREATE TABLE dbo.t (id int)")
	rights, err := s.Connect(t).ManageRights(t.Context())
	require.NoError(t, err)
	assert.Equal(t, sqlserver.ManageRights{User: "dbo", Owner: true}, rights)

	reader := connectAs(t, s, "reader")
	rights, err = reader.ManageRights(t.Context())
	require.NoError(t, err)
	assert.Equal(t, sqlserver.ManageRights{User: "the reader"}, rights)
	err = reader.Manage(t.Context(), sqlserver.EnableTable{Schema: "dbo", Table: "t", Instance: "mine"}.Statement())
	assert.Equal(t, sqlserver.ClassPermission, sqlserver.Classify(err), "%v", err)

	s.Exec(t, "ALTER ROLE db_owner ADD MEMBER [the reader]")
	rights, err = reader.ManageRights(t.Context())
	require.NoError(t, err)
	assert.True(t, rights.Owner)
	require.NoError(t, s.Server.Exec("ALTER DATABASE db SET READ_ONLY WITH ROLLBACK IMMEDIATE"))
	rights, err = s.Connect(t).ManageRights(t.Context())
	require.NoError(t, err)
	assert.True(t, rights.ReadOnly)
}

func connectAs(t *testing.T, s *servertest.Server, user string) *sqlserver.Conn {
	t.Helper()
	cfg := s.Config()
	cfg.User = user
	server, err := sqlserver.NewServer(cfg)
	require.NoError(t, err)
	conn, err := server.Connect(t.Context(), "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}
