package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// TestExecuteAs_NeedsImpersonate: nobody becomes somebody else without IMPERSONATE
// (MS docs: EXECUTE AS, Permissions).
func TestExecuteAs_NeedsImpersonate(t *testing.T) {
	in, s := shop(t)
	must(t, s, "CREATE USER reader FOR LOGIN reader; CREATE USER other WITHOUT LOGIN; CREATE USER third WITHOUT LOGIN")
	r, err := in.Login(engine.Login{User: "reader", Password: "secret", Database: "shop"})
	require.NoError(t, err)
	t.Cleanup(r.Close)

	assert.Contains(t, run(t, r, "EXECUTE AS USER = 'dbo'"), "Msg 15517, Level 16, State 1")
	assert.Contains(t, run(t, r, "EXECUTE AS USER = 'other'"), "Msg 15517,")
	assert.Contains(t, run(t, r, "EXECUTE AS LOGIN = 'sa'"), "Msg 15406, Level 16, State 1")
	assert.Contains(t, run(t, r, "SELECT USER_NAME()"), "\nreader\n")
	assert.Contains(t, run(t, r, "EXECUTE AS USER = 'reader'; SELECT USER_NAME(); REVERT"), "\nreader\n")
	assert.Contains(t, run(t, r, "EXECUTE AS LOGIN = 'reader'; SELECT SUSER_NAME(); REVERT"), "\nreader\n")

	must(t, s, "GRANT IMPERSONATE ON USER::other TO reader")
	assert.Contains(t, run(t, s, "SELECT class, class_desc, permission_name FROM sys.database_permissions WHERE class = 4"), "\n4 | DATABASE_PRINCIPAL | IMPERSONATE\n")
	assert.Contains(t, run(t, r, "EXECUTE AS USER = 'other'; SELECT USER_NAME(); EXECUTE AS USER = 'dbo'; REVERT"), "\nother\n")
	assert.Contains(t, run(t, r, "EXECUTE AS USER = 'third'"), "Msg 15517,")

	assert.Contains(t, run(t, s, "GRANT IMPERSONATE ON LOGIN::sa TO reader"), "Msg 40000,")
	must(t, s, "GRANT IMPERSONATE ANY LOGIN TO reader")
	assert.Contains(t, run(t, r, "EXECUTE AS LOGIN = 'sa'; SELECT SUSER_NAME(); REVERT"), "\nsa\n")
	assert.Contains(t, run(t, s, "EXECUTE AS USER = 'third'; SELECT USER_NAME(); REVERT"), "\nthird\n")
}

// TestExecStrings_Join joins texts and converts what is none (MS docs: EXECUTE).
func TestExecStrings_Join(t *testing.T) {
	_, s := shop(t)
	assert.Contains(t, run(t, s, "DECLARE @n int = 9999; EXEC ('KILL ' + @n)"), "Msg 6106,")
	assert.Contains(t, run(t, s, "DECLARE @n int = 7, @none varchar(5); EXEC ('SELECT ' + @none + @n)"), "\n7\n")
}
