package cdc_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFunctions_EndTheirTransaction reads a function that looks into tables
// before a transaction under SNAPSHOT begins: what the function read belongs to
// its own statement.
func TestFunctions_EndTheirTransaction(t *testing.T) {
	s := start(t)
	s.exec("CREATE TABLE dbo.t (id int PRIMARY KEY)")
	s.track("t")
	s.exec("ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON")
	s.exec("SELECT sys.fn_cdc_get_max_lsn()")
	require.Equal(t, []string{"0"}, s.query("SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRANSACTION; SELECT COUNT(*) FROM dbo.t; COMMIT"))
}
