package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
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
