package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// TestReplica follows MS docs: Offload read-only workload to secondary replica
// of an Always On availability group.
func TestReplica(t *testing.T) {
	in, err := engine.New(engine.Options{ServerName: "one"})
	require.NoError(t, err)
	defer in.Close()
	open := func(l engine.Login) *engine.Session {
		l.User, l.Database = "sa", "shop"
		s, err := in.Login(l)
		require.NoError(t, err)
		t.Cleanup(s.Close)
		return s
	}
	admin, err := in.Login(engine.Login{User: "sa"})
	require.NoError(t, err)
	t.Cleanup(admin.Close)
	run(t, admin, "CREATE DATABASE shop")
	primary := open(engine.Login{})
	run(t, primary, "CREATE TABLE t (id int PRIMARY KEY); INSERT t VALUES (1)")
	replica, err := in.AddReplica(engine.ReplicaOptions{Name: "two", Connections: engine.SecondaryReadOnly, RoutingHost: "two.test", RoutingPort: 1434})
	require.NoError(t, err)

	_, err = in.Login(engine.Login{User: "sa", Database: "shop", Replica: replica})
	require.ErrorIs(t, err, &sqltypes.Error{Number: 978}, "no read intent")
	secondary := open(engine.Login{ReadIntent: true, Replica: replica})
	require.True(t, secondary.IsSecondary())

	count := func(s *engine.Session) string { return run(t, s, "SELECT COUNT(*) FROM t WITH (TABLOCKX)") }
	assert.Contains(t, count(secondary), "\n1\n")
	for _, write := range []string{"INSERT t VALUES (9)", "DELETE t", "CREATE TABLE u (a int)", "UPDATE t SET id = 2"} {
		assert.Contains(t, run(t, secondary, write), "Msg 3906,", write)
	}
	assert.NotContains(t, run(t, secondary, "CREATE TABLE #x (a int); INSERT #x VALUES (1)"), "Msg", "tempdb is the replica's own")
	assert.Contains(t, run(t, secondary, "SELECT @@SERVERNAME, DATABASEPROPERTYEX('shop', 'Updateability'), SERVERPROPERTY('IsHadrEnabled')"), "two | READ_ONLY | 1")

	run(t, primary, "BEGIN TRAN; INSERT t VALUES (2)")
	assert.Contains(t, count(secondary), "\n1\n", "readers on a secondary never wait, whatever their hints")
	run(t, primary, "COMMIT")
	assert.Contains(t, count(secondary), "\n2\n")

	run(t, secondary, "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; BEGIN TRAN")
	assert.Contains(t, count(secondary), "\n2\n")
	run(t, primary, "INSERT t VALUES (3)")
	assert.Contains(t, count(secondary), "\n2\n", "a transaction sees one point in time")
	run(t, secondary, "COMMIT")
	assert.Contains(t, count(secondary), "\n3\n")

	replica.Pause()
	run(t, primary, "INSERT t VALUES (4)")
	assert.Contains(t, count(secondary), "\n3\n", "behind the primary")
	replica.Resume()
	assert.Contains(t, count(secondary), "\n4\n")

	host, port, ok := in.ReadOnlyRoute(engine.Login{ReadIntent: true, Database: "shop"})
	assert.Equal(t, []any{"two.test", uint16(1434), true}, []any{host, port, ok})
	_, _, ok = in.ReadOnlyRoute(engine.Login{Database: "shop"})
	assert.False(t, ok)

	in.Failover(replica)
	<-secondary.Done()
	promoted := open(engine.Login{Replica: replica})
	assert.NotContains(t, run(t, promoted, "INSERT t VALUES (5)"), "Msg")
	old := open(engine.Login{})
	assert.True(t, old.IsSecondary())
	assert.Contains(t, run(t, old, "DELETE t"), "Msg 3906,")
	assert.Contains(t, count(old), "\n5\n")
	in.FailBack()
}
