package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// Source: MS docs, sys.dm_exec_sessions: open_transaction_count and
// transaction_isolation_level of every session.
func TestSessionsView_OtherSessions(t *testing.T) {
	in, s := shop(t)
	other := login(t, in, "shop")
	state := func() string {
		return run(t, s, fmt.Sprintf("SELECT open_transaction_count AS n, transaction_isolation_level AS l FROM sys.dm_exec_sessions WHERE session_id = %d", other.SPID()))
	}
	require.Contains(t, state(), "\n0 | 2\n")
	run(t, other, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRAN")
	require.Contains(t, state(), "\n1 | 5\n")
	run(t, other, "COMMIT")
	require.Contains(t, state(), "\n0 | 5\n")
}

// TestSessionViews_Columns follows MS docs: sys.dm_exec_sessions,
// sys.dm_exec_requests.
func TestSessionViews_Columns(t *testing.T) {
	_, s := shop(t)
	assert.Contains(t, run(t, s, "SELECT s.login_name, s.database_id - DB_ID(), s.unsuccessful_logons, s.authenticating_database_id FROM sys.dm_exec_sessions s WHERE s.session_id = @@SPID"),
		"sa | 0 | NULL | 1\n")
	assert.Contains(t, run(t, s, "SELECT t.text FROM sys.dm_exec_requests r CROSS APPLY sys.dm_exec_sql_text(r.sql_handle) t WHERE r.session_id = @@SPID"), "SELECT t.text FROM")
	assert.Contains(t, run(t, s, "SELECT percent_complete, nest_level, dop, is_resumable FROM sys.dm_exec_requests WHERE session_id = @@SPID"), "0 | 0 | 1 | 0\n")
	_, old := played(t, engine.Options{Version: "2016SP1"})
	assert.Contains(t, run(t, old, "SELECT is_resumable FROM sys.dm_exec_requests"), "Msg 207,")
	assert.Contains(t, run(t, old, "SELECT socket_count FROM sys.dm_os_sys_info"), "Msg 207,")
	_, sp2 := played(t, engine.Options{Version: "2016SP2"})
	assert.Contains(t, run(t, sp2, "SELECT socket_count FROM sys.dm_os_sys_info"), "\n1\n")
}
