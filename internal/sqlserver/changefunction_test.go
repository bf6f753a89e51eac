package sqlserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/lsn"
)

// lowPrivileged makes a login that may read what the catalogue says of change
// data capture, and connects with it.
func lowPrivileged(t *testing.T, s *servertest.Server, grants string) *sqlserver.Conn {
	t.Helper()
	s.Exec(t, "CREATE LOGIN reader WITH PASSWORD = '"+servertest.Password+"', CHECK_POLICY = OFF; CREATE USER reader FOR LOGIN reader;\n"+
		"GRANT SELECT ON cdc.change_tables TO reader; GRANT SELECT ON cdc.captured_columns TO reader; GRANT SELECT ON cdc.ddl_history TO reader;\n"+grants)
	config := s.Config()
	config.User = "reader"
	server, err := sqlserver.NewServer(config)
	require.NoError(t, err)
	conn, err := server.Connect(t.Context(), "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

// The function's pages hold the rows of the change table, in the same order as
// without command ids.
func TestFunctionReader_Pages(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY, v int NULL);\n"+enable("dbo", "t", "@capture_instance = N'odd ]name'"))
	s.Change(t, `
BEGIN TRAN; INSERT dbo.t VALUES (1, 1), (2, 2), (3, 3); UPDATE dbo.t SET v = v + 1; UPDATE dbo.t SET id = id + 1; COMMIT;
INSERT dbo.t VALUES (14, 4);
BEGIN TRAN; DELETE dbo.t WHERE id < 3; INSERT dbo.t VALUES (5, 5); COMMIT;`)
	conn := s.Connect(t)
	instance := catalogue(t, conn)["dbo.t"].Instances[0]
	to, err := conn.MaxLSN(t.Context())
	require.NoError(t, err)
	for name, skipped := range map[string][]int{"all operations": nil, "without deletes": {1}} {
		t.Run(name, func(t *testing.T) {
			query := sqlserver.ChangeQuery{From: instance.StartLSN, To: to, Limit: 1000, MaxBytes: 1 << 20}
			direct, err := conn.ReadChanges(t.Context(), sqlserver.NewChangeReader(instance, false, skipped), query)
			require.NoError(t, err)
			require.NotEmpty(t, direct.Rows)
			reader := sqlserver.NewFunctionReader(instance, skipped)
			assert.True(t, reader.ByFunction())
			assert.False(t, reader.ByCommand())
			for _, size := range []int{1, 2, 5, 1000} {
				var rows []sqlserver.ChangeRow
				query := sqlserver.ChangeQuery{From: instance.StartLSN, To: to, Limit: size, MaxBytes: 1 << 20}
				for end := false; !end; {
					page, err := conn.ReadChanges(t.Context(), reader, query)
					require.NoError(t, err)
					assert.Equal(t, instance.StartLSN, page.Low)
					rows = append(rows, page.Rows...)
					require.LessOrEqual(t, len(rows), len(direct.Rows))
					if end = page.End; !end {
						last := rows[len(rows)-1].Position()
						query.After = &last
						query.From = last.Commit
					}
				}
				require.Equal(t, direct.Rows, rows, "pages of %d rows", size)
			}
		})
	}
}

// What the function says of a bad range and of a missing right is one and the
// same error 313; what it means is said.
func TestFunctionReader_Refusals(t *testing.T) {
	const table = "CREATE TABLE dbo.t (id int PRIMARY KEY, v int NULL);\n"
	const open = "EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL;"
	const gated = "EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = N'change reader';"
	all := func(q *sqlserver.ChangeQuery) {}
	for _, test := range []struct {
		name    string
		enable  string
		grants  string // to a login of few rights
		query   func(*sqlserver.ChangeQuery)
		harm    string // after the catalogue was read
		problem string // what a [sqlserver.Problem] says
		rows    int
	}{
		{name: "open", enable: open, grants: "GRANT SELECT ON dbo.t TO reader;", query: all, rows: 2},
		{name: "in the gating role", enable: gated, grants: "GRANT SELECT ON dbo.t TO reader; ALTER ROLE [change reader] ADD MEMBER reader;", query: all, rows: 2},
		{
			name: "outside the gating role", enable: gated, grants: "GRANT SELECT ON dbo.t TO reader;", query: all,
			problem: `run ALTER ROLE [change reader] ADD MEMBER the login's user`,
		},
		{
			name: "source denied", enable: gated, grants: "GRANT SELECT ON dbo.t(id) TO reader; ALTER ROLE [change reader] ADD MEMBER reader;", query: all,
			problem: `run GRANT SELECT ON [dbo].[t] TO the login's user`,
		},
		{
			name: "beginning after the range", enable: open, grants: "GRANT SELECT ON dbo.t TO reader;",
			query: func(q *sqlserver.ChangeQuery) { q.From = q.To.Next() },
		},
		{
			name: "without a beginning", enable: open, grants: "GRANT SELECT ON dbo.t TO reader;", query: all,
			harm: "UPDATE cdc.change_tables SET start_lsn = NULL;",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := servertest.Start(t, table+test.enable)
			s.Change(t, "INSERT dbo.t VALUES (1, 1), (2, 2);")
			conn := lowPrivileged(t, s, test.grants)
			found := catalogue(t, conn)["dbo.t"]
			require.ErrorContains(t, found.HiddenChangeTable(), "run GRANT SELECT ON [cdc].[dbo_t_CT] TO", "the login has no right on it")
			to, err := conn.MaxLSN(t.Context())
			require.NoError(t, err)
			query := sqlserver.ChangeQuery{From: found.Instances[0].StartLSN, To: to, Limit: 10, MaxBytes: 1 << 20}
			test.query(&query)
			if test.harm != "" {
				s.Exec(t, test.harm)
			}
			page, err := conn.ReadChanges(t.Context(), sqlserver.NewFunctionReader(found.Instances[0], nil), query)
			if test.problem != "" {
				var problem sqlserver.Problem
				require.ErrorAs(t, err, &problem)
				assert.Equal(t, sqlserver.ReasonPermission, problem.Reason())
				assert.ErrorContains(t, err, test.problem)
				return
			}
			require.NoError(t, err)
			assert.Len(t, page.Rows, test.rows)
			assert.True(t, page.End)
		})
	}
}

// A range that the instance does not hold is named, with what it holds.
func TestFunctionReader_BadRange(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY);\n"+enable("dbo", "t"))
	s.Change(t, "INSERT dbo.t VALUES (1);")
	s.Change(t, "INSERT dbo.t VALUES (2);")
	conn := s.Connect(t)
	instance := catalogue(t, conn)["dbo.t"].Instances[0]
	reader := sqlserver.NewFunctionReader(instance, nil)
	to, err := conn.MaxLSN(t.Context())
	require.NoError(t, err)
	read := func(from, to lsn.LSN) (sqlserver.ChangePage, error) {
		return conn.ReadChanges(t.Context(), reader, sqlserver.ChangeQuery{From: from, To: to, Limit: 10, MaxBytes: 1 << 20})
	}
	var beyond *sqlserver.RangeError

	_, err = read(instance.StartLSN, to.Next())
	require.ErrorAs(t, err, &beyond)
	assert.Equal(t, sqlserver.RangeError{Instance: "dbo_t", From: instance.StartLSN, To: to.Next(), Low: instance.StartLSN, Max: to}, unwrapped(*beyond))

	s.Exec(t, "DECLARE @l binary(10) = sys.fn_cdc_get_max_lsn(); EXEC sys.sp_cdc_cleanup_change_table N'dbo_t', @l;")
	_, err = read(instance.StartLSN, to)
	require.ErrorAs(t, err, &beyond)
	assert.True(t, beyond.Low.After(instance.StartLSN))
	assert.ErrorContains(t, err, `"dbo_t" refused the commit LSNs from `+instance.StartLSN.String())
	page, err := read(beyond.Low, to)
	require.NoError(t, err)
	assert.NotEmpty(t, page.Rows)

	s.Exec(t, "EXEC sys.sp_cdc_disable_table N'dbo', N't', N'all';")
	_, err = read(to, to)
	require.ErrorIs(t, err, sqlserver.ErrInstanceGone)
}

// unwrapped is a RangeError without the server's words.
func unwrapped(e sqlserver.RangeError) sqlserver.RangeError {
	return sqlserver.RangeError{Instance: e.Instance, From: e.From, To: e.To, Low: e.Low, Max: e.Max}
}

// A statement that fails in the middle of a batch is what the error names, not
// the rows of the statement after it.
func TestPoll_DeniedStatementOfABatch(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY);\n"+enable("dbo", "t"))
	s.Change(t, "INSERT dbo.t VALUES (1);")
	conn := lowPrivileged(t, s, "GRANT VIEW DEFINITION ON SCHEMA::cdc TO reader; GRANT SELECT ON dbo.t TO reader; DENY SELECT ON cdc.lsn_time_mapping TO reader;")
	_, err := conn.Poll(t.Context(), lsn.LSN{}, 10)
	var problem sqlserver.Problem
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, sqlserver.ReasonPermission, problem.Reason())
	assert.ErrorContains(t, err, "lsn_time_mapping")

	instances := catalogue(t, conn)["dbo.t"].Instances
	_, err = conn.Changed(t.Context(), sqlserver.NewChangedReader(instances), lsn.LSN{}, lsn.Max)
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, sqlserver.ReasonPermission, problem.Reason())
}
