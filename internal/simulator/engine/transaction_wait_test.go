package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
)

// background runs a batch in its own goroutine. In a bubble, synctest.Wait returns once
// it has ended or waits.
func background(t *testing.T, s *engine.Session, sql string) (answer chan string) {
	t.Helper()
	answer = make(chan string, 1)
	go func() {
		r := &recorder{}
		if err := s.Batch(t.Context(), sql, r); err != nil {
			r.out.WriteString("session ended: " + err.Error() + "\n")
		}
		answer <- r.out.String()
	}()
	return answer
}

// requireWaiting checks that a batch has not ended.
func requireWaiting(t *testing.T, answer chan string) {
	t.Helper()
	synctest.Wait()
	select {
	case got := <-answer:
		require.Fail(t, "the batch did not wait", got)
	default:
	}
}

// MS docs, ALTER DATABASE SET options: without a termination clause the statement waits
// for the other users of the database.
func TestAlterDatabase_WaitsForUsers(t *testing.T) {
	for _, how := range []string{"USE master", "leaves", "rolls back from elsewhere"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, s := shop(t)
				must(t, s, "CREATE TABLE t (id int)")
				other := login(t, in, "shop")
				must(t, other, "SELECT 1")
				if how == "rolls back from elsewhere" {
					must(t, other, "USE master; BEGIN TRAN; INSERT shop.dbo.t VALUES (1)")
				}
				answer := background(t, s, "ALTER DATABASE shop SET SINGLE_USER")
				requireWaiting(t, answer)
				switch how {
				case "leaves":
					other.Close()
				case "USE master":
					must(t, other, how)
				default:
					must(t, other, "ROLLBACK")
				}
				require.Empty(t, <-answer)
			})
		})
	}
}

func TestAlterDatabase_Termination(t *testing.T) {
	tests := map[string]struct {
		before, with string
		wait         time.Duration
		want         string
		killed       bool
	}{
		"immediate":    {with: "WITH ROLLBACK IMMEDIATE", killed: true},
		"after":        {with: "WITH ROLLBACK AFTER 7 SECONDS", wait: 7 * time.Second, killed: true},
		"lock timeout": {before: "SET LOCK_TIMEOUT 2000; ", wait: 2 * time.Second, want: "Msg 5061,"},
		"no wait":      {with: "WITH NO_WAIT", want: "Msg 5070,"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, s := shop(t)
				must(t, s, "CREATE TABLE t (id int)")
				other := login(t, in, "shop")
				must(t, other, "BEGIN TRAN; INSERT t VALUES (1)")
				start := time.Now()
				got := run(t, s, tt.before+"ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT ON "+tt.with)
				require.Equal(t, tt.wait, time.Since(start))
				select {
				case <-other.Done():
					require.True(t, tt.killed)
					require.Equal(t, "int\n0\n(1)\n", run(t, s, "SELECT COUNT(*) FROM t"))
				default:
					require.False(t, tt.killed)
				}
				if tt.want == "" {
					require.Empty(t, got)
				} else {
					require.Contains(t, got, tt.want)
					require.Contains(t, got, "Msg 5069,")
				}
			})
		})
	}
}

// Two sessions that throw each other out of their databases: one of them is killed, and
// nobody hangs.
func TestAlterDatabase_ThrowEachOtherOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, a := shop(t)
		must(t, a, "CREATE DATABASE store; CREATE TABLE t (id int)")
		b := login(t, in, "store")
		must(t, b, "CREATE TABLE t (id int)")
		third := login(t, in, "master")
		must(t, third, "BEGIN TRAN; SELECT * FROM shop.dbo.t WITH (TABLOCKX); SELECT * FROM store.dbo.t WITH (TABLOCKX)")
		first := background(t, a, "SELECT * FROM t; ALTER DATABASE store SET SINGLE_USER WITH ROLLBACK IMMEDIATE")
		second := background(t, b, "SELECT * FROM t; ALTER DATABASE shop SET SINGLE_USER WITH ROLLBACK IMMEDIATE")
		synctest.Wait()
		must(t, third, "ROLLBACK")
		<-first
		<-second
	})
}

// MS docs, sys.databases.snapshot_isolation_state: while transactions are open that began
// before, the database is in transition.
func TestAlterDatabase_SnapshotTransition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, s := shop(t)
		must(t, s, "CREATE TABLE t (id int)")
		open, third := login(t, in, "shop"), login(t, in, "shop")
		state := func() string {
			return run(t, third, "SELECT snapshot_isolation_state_desc AS s FROM sys.databases WHERE name = 'shop'")
		}
		must(t, open, "BEGIN TRAN; INSERT t VALUES (1)")
		answer := background(t, s, "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON")
		requireWaiting(t, answer)
		require.Equal(t, engine.SnapshotTurningOn, in.Database("shop").SnapshotIsolation())
		require.Contains(t, run(t, third, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT * FROM t"), "Msg 3956,")
		must(t, third, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN TRAN; SELECT * FROM t WITH (NOLOCK)")
		must(t, open, "COMMIT")
		require.Empty(t, <-answer, "later transactions do not count")
		require.Contains(t, state(), "\nON\n")

		must(t, third, "ROLLBACK")
		must(t, open, "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; BEGIN TRAN; SELECT * FROM t")
		answer = background(t, s, "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION OFF")
		requireWaiting(t, answer)
		require.Equal(t, engine.SnapshotTurningOff, in.Database("shop").SnapshotIsolation())
		must(t, open, "SELECT * FROM t; COMMIT")
		require.Empty(t, <-answer)
		require.Contains(t, run(t, open, "SELECT * FROM t"), "Msg 3952,")
	})
}

// A deadlock between a table and an application lock: sp_getapplock answers -3, and the
// transaction goes on (MS docs, sp_getapplock).
func TestAppLock_Deadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, a := shop(t)
		must(t, a, "CREATE TABLE t (id int PRIMARY KEY); INSERT t VALUES (1)")
		b := login(t, in, "shop")
		must(t, b, "BEGIN TRAN; EXEC sp_getapplock 'x', 'Exclusive'")
		must(t, a, "SET DEADLOCK_PRIORITY LOW; BEGIN TRAN; UPDATE t SET id = 2")
		first := background(t, a, "DECLARE @r int; EXEC @r = sp_getapplock 'x', 'Exclusive'; SELECT @r AS r, @@TRANCOUNT AS n")
		requireWaiting(t, first)
		second := background(t, b, "SELECT * FROM t")
		require.Contains(t, <-first, "r int | n int\n-3 | 1\n")
		requireWaiting(t, second)
		must(t, a, "ROLLBACK")
		require.Equal(t, "id int\n1\n(1)\n", <-second)
	})
}

func TestAppLock_WaitsAndTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, a := shop(t)
		b := login(t, in, "shop")
		must(t, a, "EXEC sp_getapplock 'x', 'Exclusive', 'Session'")
		start := time.Now()
		require.Contains(t, run(t, b, "DECLARE @r int; EXEC @r = sp_getapplock 'x', 'Shared', 'Session', 3000; SELECT @r"), "\n-1\n")
		require.Equal(t, 3*time.Second, time.Since(start))
		answer := background(t, b, "DECLARE @r int; EXEC @r = sp_getapplock 'x', 'Shared', 'Session'; SELECT @r")
		requireWaiting(t, answer)
		a.Close()
		require.Contains(t, <-answer, "\n1\n", "granted after waiting")
	})
}

// 1205 rolls the transaction back and says so to the client; DEADLOCK_PRIORITY chooses
// the victim.
func TestDeadlock_Victim(t *testing.T) {
	for victim, priorities := range [][2]string{{"-3", "-2"}, {"HIGH", "5"}, {"10", "NORMAL"}} {
		t.Run(fmt.Sprint(priorities), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, a := shop(t)
				must(t, a, "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT t VALUES (1, 0), (2, 0)")
				sessions := []*engine.Session{a, login(t, in, "shop")}
				for i, s := range sessions {
					must(t, s, fmt.Sprintf("SET DEADLOCK_PRIORITY %s; BEGIN TRAN; UPDATE t SET v = 1 WHERE id = %d", priorities[i], i+1))
				}
				answers := []chan string{background(t, sessions[0], "UPDATE t SET v = 2 WHERE id = 2; SELECT 'next'")}
				requireWaiting(t, answers[0])
				answers = append(answers, background(t, sessions[1], "UPDATE t SET v = 2 WHERE id = 1; SELECT 'next'"))
				loser := min(victim, 1)
				require.Regexp(t, `^Msg 1205, Level 13, State 51, Line 1: Transaction \(Process ID \d+\) was deadlocked on lock resources[^\n]*\nrollback\n$`, <-answers[loser])
				require.Contains(t, <-answers[1-loser], "next")
				require.Equal(t, "int\n0\n(1)\n", run(t, sessions[loser], "SELECT @@TRANCOUNT"))
			})
		})
	}
}

// What a waiting session looks like from outside.
func TestViews_Waits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, s := shop(t)
		must(t, s, "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT t VALUES (1, 0)")
		other := login(t, in, "shop")
		must(t, other, "BEGIN TRAN work; UPDATE t SET v = 1")
		answer := background(t, s, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT v FROM t")
		requireWaiting(t, answer)
		third := login(t, in, "master")
		for query, want := range map[string]string{
			"SELECT blocking_session_id AS b, wait_type AS w, status AS s, command AS c FROM sys.dm_exec_requests WHERE session_id = 51":                                                                                    "52 | LCK_M_S | suspended | SET",
			"SELECT session_id AS s, blocking_session_id AS b, wait_type AS w FROM sys.dm_os_waiting_tasks":                                                                                                                 "51 | 52 | LCK_M_S",
			"SELECT spid AS s, blocked AS b, open_tran AS o FROM sys.sysprocesses WHERE spid IN (51, 52)":                                                                                                                   "51 | 52 | 0\n52 | 0 | 1",
			"SELECT request_session_id AS s, resource_type AS t, request_mode AS m, request_status AS r FROM sys.dm_tran_locks WHERE resource_type = 'KEY'":                                                                 "51 | KEY | S | WAIT\n52 | KEY | X | GRANT",
			"SELECT t.name AS n, s.session_id AS s, s.open_transaction_count AS o FROM sys.dm_tran_active_transactions t JOIN sys.dm_tran_session_transactions s ON s.transaction_id = t.transaction_id":                    "work | 52 | 1",
			"SELECT d.database_transaction_log_record_count AS c, d.database_transaction_state AS s FROM sys.dm_tran_database_transactions d JOIN sys.dm_tran_active_transactions t ON t.transaction_id = d.transaction_id": "1 | 4",
			"SELECT open_transaction_count AS o, status AS s FROM sys.dm_exec_sessions WHERE session_id = 52":                                                                                                               "1 | sleeping",
		} {
			r := must(t, third, query)
			require.Contains(t, r.out.String(), "\n"+want+"\n", query)
		}
		require.Contains(t, run(t, third, "EXEC sp_who '51'"), "51 | 0 | suspended | sa |  | 52    | shop | SET | 0")
		require.Contains(t, run(t, third, "EXEC sp_who2"), "52    | SLEEPING | sa |   . |   . | shop | AWAITING COMMAND")
		require.Contains(t, run(t, third, "EXEC sp_lock 51"), "KEY | (000000000001) | S | WAIT")
		must(t, other, "COMMIT")
		<-answer
	})
}

// KILL ends a session that waits, and what it did is gone.
func TestKill_Waiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, s := shop(t)
		must(t, s, "CREATE TABLE t (id int); CREATE TABLE u (id int); BEGIN TRAN; INSERT t VALUES (1)")
		holder, third := login(t, in, "shop"), login(t, in, "shop")
		must(t, holder, "BEGIN TRAN; INSERT u VALUES (1)")
		answer := background(t, s, "SELECT * FROM u")
		requireWaiting(t, answer)
		require.Contains(t, run(t, third, "KILL 51 WITH STATUSONLY"), "Msg 6120,")
		must(t, third, "KILL 51")
		require.Contains(t, <-answer, "596")
		s.Close()
		require.Equal(t, "int\n0\n(1)\n", run(t, third, "SELECT COUNT(*) FROM t"))
	})
}

func TestKill_NeedsPermission(t *testing.T) {
	in, s := shop(t)
	must(t, s, "CREATE USER reader FOR LOGIN reader")
	r, err := in.Login(engine.Login{User: "reader", Password: "secret", Database: "shop"})
	require.NoError(t, err)
	defer r.Close()
	require.Contains(t, run(t, r, "KILL 51"), "Msg 6102,")
	require.Contains(t, run(t, r, "SELECT * FROM sys.dm_tran_locks"), "Msg 300,")
	must(t, s, "ALTER DATABASE shop SET RESTRICTED_USER WITH ROLLBACK IMMEDIATE")
	<-r.Done()
	_, err = in.Login(engine.Login{User: "reader", Password: "secret", Database: "shop"})
	require.Error(t, err)
	login(t, in, "shop")
}
