package sqlserver_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/sqlserver/servertest"
)

// A column that is denied stays so whatever is granted on its table: the remedy
// names the columns, and cures.
func TestTableReader_RefusedColumns(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY, [o]]d] int NULL, v int NULL, w int NULL);\nINSERT dbo.t VALUES (1, 2, 3, 4);\n"+enable("dbo", "t"))
	conn := lowPrivileged(t, s, "GRANT SELECT ON SCHEMA::cdc TO reader; GRANT SELECT ON dbo.t TO reader; DENY SELECT ([o]]d]) ON dbo.t TO reader;")
	table := catalogue(t, conn)["dbo.t"]
	reader := sqlserver.NewTableReader(table, table.Instances[0].Shape)
	read := func() error {
		_, err := conn.ReadRows(t.Context(), reader, nil, 10, 1<<20)
		return err
	}
	err := read()
	require.ErrorContains(t, err, "reading [o]]d] of [dbo].[t] is not permitted; run GRANT SELECT ON [dbo].[t] ([o]]d]) TO the login's user")
	require.ErrorContains(t, err, "column_exclude_list")
	var problem sqlserver.Problem
	require.ErrorAs(t, err, &problem)
	assert.Equal(t, sqlserver.ReasonPermission, problem.Reason())
	s.Exec(t, "GRANT SELECT ON dbo.t ([o]]d]) TO reader")
	require.NoError(t, read())
}

// A right to the catalogue that is missing is told alone, without what it was
// needed for.
func TestHiddenInstances_Refused(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY);\n"+enable("dbo", "t"))
	conn := lowPrivileged(t, s, "REVOKE SELECT ON cdc.change_tables FROM reader;")
	_, err := conn.HiddenInstances(t.Context())
	require.Error(t, err)
	assert.Regexp(t, `^reading cdc\.change_tables is not permitted; run GRANT SELECT ON SCHEMA::cdc TO`, err.Error())
}

// A table that is denied to a role of the user stays so whatever is granted: the
// remedy says where to look, and what it finds there, revoked, cures.
func TestTableReader_DeniedToARole(t *testing.T) {
	s := servertest.Start(t, "CREATE TABLE dbo.t (id int PRIMARY KEY);\nINSERT dbo.t VALUES (1);\n"+enable("dbo", "t"))
	conn := lowPrivileged(t, s, "GRANT SELECT ON SCHEMA::cdc TO reader; GRANT SELECT ON dbo.t TO reader;")
	table := catalogue(t, conn)["dbo.t"]
	reader := sqlserver.NewTableReader(table, table.Instances[0].Shape)
	read := func() error {
		_, err := conn.ReadRows(t.Context(), reader, nil, 10, 1<<20)
		return err
	}
	s.Exec(t, "CREATE ROLE hushed; ALTER ROLE hushed ADD MEMBER reader; DENY SELECT ON SCHEMA::dbo TO hushed")
	require.ErrorContains(t, read(), "run GRANT SELECT ON [dbo].[t] TO the login's user; if it is still refused then, REVOKE the DENY")
	s.Exec(t, "GRANT SELECT ON [dbo].[t] TO reader")
	err := read()
	_, look, said := strings.Cut(err.Error(), "the database: ")
	require.True(t, said, err.Error())
	look, _, _ = strings.Cut(look, ": ")
	found, err := s.Query("USE " + servertest.Database + "\n" + look)
	require.NoError(t, err)
	require.Len(t, found[len(found)-1].Rows, 1, look)
	s.Exec(t, "REVOKE SELECT ON SCHEMA::dbo FROM hushed")
	require.NoError(t, read())
}
