package simulator

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tds"
)

// attentionAck is what answers an attention, in a message of its own.
const attentionAck = "DONE [attention] command 0x0\n"

// An attention ends whatever the server waits for, and the connection goes on
// (MS-TDS 2.2.1.7).
func TestAttention_EndsWaiting(t *testing.T) {
	for _, tt := range []struct{ name, before, request string }{
		{"WAITFOR", "", "WAITFOR DELAY '01:00:00'"},
		{"a lock", "BEGIN TRAN UPDATE t SET n = 2", "SELECT n FROM t"},
		{"a table's lock", "BEGIN TRAN SELECT n FROM t WITH (TABLOCKX)", "INSERT t VALUES (5)"},
		{"an application lock", "EXEC sp_getapplock 'a', 'Exclusive', 'Session'", "EXEC sp_getapplock 'a', 'Exclusive', 'Session'"},
		{"an endless loop", "", "WHILE 1 = 1 SET NOCOUNT ON"},
		{"endless rows", "", "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n a, n b, n c OPTION (MAXRECURSION 0)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, db := newServerDB(t)
			mustExec(t, db, "CREATE TABLE t (n int)", "INSERT t VALUES (1)")
			holder, c := newRawServerClient(t, s), newRawServerClient(t, s)
			holder.batch(tt.before + " SELECT 0")
			holder.receive()
			c.batch(tt.request)
			c.send(tds.PacketAttention, 1, nil)
			answer := c.receive()
			assert.NotContains(t, answer, "more] command 0x0\n!!")
			assert.Equal(t, attentionAck, c.receive(), answer)
			c.batch("SELECT 7 AS n")
			assert.Contains(t, c.receive(), "ROW 7\n")
		})
	}
}

// It takes back the statement that it interrupts; an open transaction stays,
// unless XACT_ABORT is on.
func TestAttention_AndTransactions(t *testing.T) {
	for option, open := range map[string]int{"OFF": 1, "ON": 0} {
		t.Run("XACT_ABORT "+option, func(t *testing.T) {
			s, db := newServerDB(t)
			mustExec(t, db, "CREATE TABLE t (n int)")
			c := newRawServerClient(t, s)
			c.batch("SET XACT_ABORT " + option + " BEGIN TRAN INSERT t VALUES (1)")
			c.receive()
			c.batch("WAITFOR DELAY '01:00:00'")
			c.send(tds.PacketAttention, 1, nil)
			c.receive()
			require.Contains(t, c.receive(), "attention")
			c.batch("SELECT @@TRANCOUNT AS n")
			assert.Contains(t, c.receive(), "ROW "+string(rune('0'+open))+"\n")
		})
	}
}

// Attentions without a request to interrupt are answered each; so is one that
// comes while a request is still being sent.
func TestAttention_BetweenPackets(t *testing.T) {
	s, db := newServerDB(t)
	mustExec(t, db, "CREATE TABLE t (i int NOT NULL)")
	c := newRawServerClient(t, s)
	c.batch("SELECT 1 AS n")
	assert.Contains(t, c.receive(), "ROW 1\n")
	for range 2 { // behind the last DONE
		c.send(tds.PacketAttention, 1, nil)
		assert.Equal(t, attentionAck, c.receive())
	}
	c.batch("INSERT BULK t (i int)")
	c.receive()
	c.send(tds.PacketBulkLoad, 0, []byte{0x81, 1, 0, 0, 0, 0, 0, 0x08, 0, 0x38, 1, 'i', 0, 0xD1, 1, 0, 0, 0})
	c.send(tds.PacketAttention, 1, nil)
	assert.Equal(t, attentionAck, c.receive(), "in the middle of a bulk load")
	c.batch("SELECT COUNT(*) AS n FROM t")
	assert.Contains(t, c.receive(), "ROW 0\n")
}

func TestAttention_WaitsForNoClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Options{Logins: map[string]string{"sa": password}})
		require.NoError(t, err)
		db := openDB(t, s, dsn("sa", password))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err = db.ExecContext(ctx, "WAITFOR DELAY '05:00:00'")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Minute, time.Since(start))
		require.NoError(t, db.Close())
		require.NoError(t, s.Close())
	})
}

// A reset returns the session to where its login left it, before the request
// runs (MS-TDS 2.2.3.1.2); the isolation level stays (MS docs:
// sp_reset_connection keeps it).
func TestWire_Reset(t *testing.T) {
	s, db := newServerDB(t)
	mustExec(t, db, "CREATE TABLE t (n int)", "CREATE DATABASE other")
	for _, keep := range []bool{false, true} {
		c := newRawServerClient(t, s)
		c.batch("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ SET LOCK_TIMEOUT 5 SET NOCOUNT ON CREATE TABLE #x (i int) EXEC sp_getapplock 'r', 'Exclusive', 'Session' USE other BEGIN TRAN INSERT master.dbo.t VALUES (1)")
		c.receive()
		status := byte(tds.StatusEndOfMessage | tds.StatusReset)
		if keep {
			status = tds.StatusEndOfMessage | tds.StatusResetKeepTrans
		}
		c.send(tds.PacketSQLBatch, status, append(headers(), utf16("SELECT @@TRANCOUNT, @@LOCK_TIMEOUT, DB_NAME(), OBJECT_ID('tempdb..#x'), APPLOCK_MODE('public', 'r', 'Session')")...))
		answer := c.receive()
		assert.Contains(t, answer, "ENVCHANGE 18", keep)
		assert.Less(t, strings.Index(answer, "ENVCHANGE 18"), strings.Index(answer, "COLMETADATA"))
		want := `ROW 0 | -1 | "master" | NULL | "NoLock"`
		if keep {
			want = `ROW 1 | -1 | "master" | NULL | "NoLock"`
		} else {
			assert.Contains(t, answer, "ENVCHANGE 10")
		}
		assert.Contains(t, strings.ReplaceAll(answer, "NBCROW", "ROW"), want)
		c.batch("SELECT transaction_isolation_level AS l FROM sys.dm_exec_sessions WHERE session_id = @@SPID")
		assert.Contains(t, c.receive(), "ROW 3\n", "the isolation level stays")
		require.NoError(t, c.conn.Close())
	}
}
