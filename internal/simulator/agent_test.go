package simulator

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestServer_CapturesChanges(t *testing.T) {
	s, _ := newServerDB(t)
	s.StopAgent()
	require.NoError(t, s.Exec(`
CREATE DATABASE inventory
GO
USE inventory
EXEC sys.sp_cdc_enable_db
CREATE TABLE t (id int NOT NULL PRIMARY KEY, v nvarchar(10))
EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N't', @role_name = NULL
INSERT INTO t VALUES (1, N'a')
UPDATE t SET v = N'b'
DELETE FROM t
`))
	db := openDB(t, s, dsn("sa", password, "database", "inventory"))
	assert.Zero(t, scanOne[int](t, db, "SELECT COUNT(*) FROM cdc.dbo_t_CT"))
	require.NoError(t, s.CaptureNow("inventory"))
	rows, err := db.QueryContext(t.Context(), "SELECT __$operation, v FROM cdc.dbo_t_CT ORDER BY __$start_lsn, __$command_id, __$operation")
	require.NoError(t, err)
	defer rows.Close()
	var got []string
	for rows.Next() {
		var operation, value string
		require.NoError(t, rows.Scan(&operation, &value))
		got = append(got, operation+value)
	}
	require.NoError(t, rows.Err())
	assert.Equal(t, []string{"2a", "3a", "4b", "1b"}, got)
	s.StartAgent()
}

func TestServer_WithoutAgent(t *testing.T) {
	f := newFake(t, Options{})
	require.ErrorIs(t, f.server.CaptureNow("inventory"), errNoAgent)
}
