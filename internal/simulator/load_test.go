package simulator

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

const (
	// loadSecondsVariable is how long TestLoad runs, in seconds.
	loadSecondsVariable = "SIMULATOR_LOAD_SECONDS"
	defaultLoadSeconds  = 3

	loadConnections = 64
	loadAccounts    = 200
	loadBalance     = 1000
	// hungAfter is the time after which a statement counts as one that never ends.
	hungAfter = 30 * time.Second
	// Heap in use after a collection may grow from the first third of the run to its end
	// by this much: connections' buffers and caches of plans come late, rows do not stay.
	heapSlack = 16 << 20
)

// TestLoad lets 64 connections transfer, insert, delete, cancel and add up in every
// isolation level: every statement ends, sums hold whenever they are promised, memory is
// flat, and nothing is left behind.
func TestLoad(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	seconds := defaultLoadSeconds
	if v := os.Getenv(loadSecondsVariable); v != "" {
		var err error
		seconds, err = strconv.Atoi(v)
		require.NoError(t, err, loadSecondsVariable)
	}
	server, err := New(Options{Logins: map[string]string{"sa": password}})
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	require.NoError(t, server.Exec(fmt.Sprintf(`CREATE DATABASE bank
GO
ALTER DATABASE bank SET ALLOW_SNAPSHOT_ISOLATION ON
ALTER DATABASE bank SET READ_COMMITTED_SNAPSHOT ON
USE bank
CREATE TABLE accounts (id int PRIMARY KEY, balance bigint NOT NULL)
CREATE TABLE journal (id bigint IDENTITY PRIMARY KEY, account int NOT NULL, note nvarchar(200) NULL, INDEX ix (account))
INSERT accounts SELECT value, %d FROM GENERATE_SERIES(1, %d)`, loadBalance, loadAccounts)))
	db := openDB(t, server, dsn("sa", password, "database", "bank"))
	db.SetMaxOpenConns(loadConnections)
	db.SetMaxIdleConns(loadConnections)

	ctx, stop := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second)
	defer stop()
	l := &load{t: t, db: db, ctx: ctx}
	l.run()
	require.NoError(t, ctxError(l.failure()))
	l.checkHeap()

	check := func(query string, want int64) {
		require.Equal(t, want, scanOne[int64](t, db, query), query)
	}
	check("SELECT SUM(balance) FROM accounts", loadAccounts*loadBalance)
	check("SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type <> 'DATABASE'", 0)
	check("SELECT COUNT(*) FROM sys.dm_tran_active_transactions", 0)
	require.Positive(t, l.done.Load())
	t.Logf("%d pieces of work, %d of them again after a deadlock or a conflict", l.done.Load(), l.again.Load())
	require.NoError(t, db.Close())
}

// ctxError leaves out that the time is over.
func ctxError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// load is a running load test.
type load struct {
	t   *testing.T
	db  *sql.DB
	ctx context.Context // ends with the time of the test

	done, again atomic.Int64
	// began is when each worker began its piece of work, in Unix nanoseconds.
	began [loadConnections]atomic.Int64
	// gaveUp says that a worker's last statement was cancelled.
	gaveUp [loadConnections]bool

	mu   sync.Mutex
	errs []error
	heap struct{ early, late uint64 }
}

func (l *load) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.errs...)
}

func (l *load) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

// run works until the time is over. A worker that hangs is reported with the stacks of
// all goroutines.
func (l *load) run() {
	deadline, _ := l.ctx.Deadline()
	third := time.AfterFunc(time.Until(deadline)/3, func() { l.sample(&l.heap.early) })
	defer third.Stop()
	var workers sync.WaitGroup
	for i := range loadConnections {
		workers.Go(func() { l.work(i) })
	}
	finished := make(chan struct{})
	go func() {
		workers.Wait()
		close(finished)
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-finished:
			l.sample(&l.heap.late)
			return
		case now := <-tick.C:
			for i := range l.began {
				if at := l.began[i].Load(); at != 0 && now.Sub(time.Unix(0, at)) > hungAfter {
					_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
					require.FailNow(l.t, "a statement does not end", "worker %d", i)
				}
			}
		}
	}
}

// sample reads the heap in use after a collection.
func (l *load) sample(into *uint64) {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	l.mu.Lock()
	defer l.mu.Unlock()
	*into = stats.HeapAlloc
}

func (l *load) checkHeap() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.t.Logf("heap after a third of the time %d KB, at the end %d KB", l.heap.early>>10, l.heap.late>>10)
	require.LessOrEqual(l.t, l.heap.late, l.heap.early+heapSlack)
}

// work does one piece of work after another on a connection of its own.
func (l *load) work(worker int) {
	conn, err := l.db.Conn(context.WithoutCancel(l.ctx))
	if err != nil {
		l.fail(err)
		return
	}
	defer func() { conn.Close() }()
	pieces := []func(context.Context, *sql.Conn) error{
		transfer(sql.LevelReadCommitted), transfer(sql.LevelRepeatableRead), transfer(sql.LevelSerializable), transfer(sql.LevelSnapshot),
		addUp(sql.LevelReadCommitted), addUp(sql.LevelSnapshot), addUp(sql.LevelSerializable), addUp(sql.LevelRepeatableRead),
		journal, journal, readJournal, cancelled, appLocked,
	}
	for l.ctx.Err() == nil {
		piece := pieces[rand.IntN(len(pieces))]
		l.began[worker].Store(time.Now().UnixNano())
		err := piece(context.WithoutCancel(l.ctx), conn)
		l.began[worker].Store(0)
		if errors.Is(err, errGaveUp) {
			l.gaveUp[worker] = true
			continue
		}
		switch {
		case err == nil:
			l.done.Add(1)
			l.gaveUp[worker] = false
		case isTransient(err):
			l.again.Add(1)
		case (errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone)) && l.gaveUp[worker]:
			// The driver gives some connections up with the statement, and
			// database/sql tells so at once or at the next one.
			conn.Close()
			if conn, err = l.db.Conn(context.WithoutCancel(l.ctx)); err != nil {
				l.fail(err)
				return
			}
		default:
			l.fail(fmt.Errorf("worker %d: %w", worker, err))
			return
		}
	}
}

// isTransient reports what a client tries again: deadlocks, update conflicts, timeouts.
func isTransient(err error) bool {
	var e mssql.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Number == 1205 || e.Number == 3960 || e.Number == 1222
}

// inTx runs f in a transaction.
func inTx(ctx context.Context, conn *sql.Conn, level sql.IsolationLevel, f func(*sql.Tx) error) error {
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: level})
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // a deadlock's victim is rolled back already
		return err
	}
	return tx.Commit()
}

// transfer moves money between two accounts.
func transfer(level sql.IsolationLevel) func(context.Context, *sql.Conn) error {
	return func(ctx context.Context, conn *sql.Conn) error {
		from := rand.IntN(loadAccounts) + 1
		to := (from+rand.IntN(loadAccounts-1))%loadAccounts + 1
		amount := rand.IntN(10)
		return inTx(ctx, conn, level, func(tx *sql.Tx) error {
			for _, change := range [][2]int{{from, -amount}, {to, amount}} {
				if _, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance + @p1 WHERE id = @p2", change[1], change[0]); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// addUp reads the sum of all accounts, which no moment changes.
func addUp(level sql.IsolationLevel) func(context.Context, *sql.Conn) error {
	return func(ctx context.Context, conn *sql.Conn) error {
		return inTx(ctx, conn, level, func(tx *sql.Tx) error {
			var sum int64
			if err := tx.QueryRowContext(ctx, "SELECT SUM(balance) FROM accounts").Scan(&sum); err != nil {
				return err
			}
			if sum != loadAccounts*loadBalance {
				return fmt.Errorf("sum %d under %v", sum, level)
			}
			return nil
		})
	}
}

// journal adds a few rows and takes as many old ones away.
func journal(ctx context.Context, conn *sql.Conn) error {
	account := rand.IntN(loadAccounts) + 1
	_, err := conn.ExecContext(ctx, `INSERT journal (account, note) VALUES (@p1, N'one'), (@p1, N'two'), (@p1, NULL);
DELETE journal WHERE account = @p1 AND id < (SELECT MAX(id) FROM journal WHERE account = @p1) - 5`, account)
	return err
}

func readJournal(ctx context.Context, conn *sql.Conn) error {
	rows, err := conn.QueryContext(ctx, "SELECT TOP (50) j.id, j.note, a.balance FROM journal j JOIN accounts a ON a.id = j.account ORDER BY j.id DESC")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// errGaveUp is the outcome of a statement that was cancelled.
var errGaveUp = errors.New("cancelled")

// cancelled gives a statement up while it may be waiting.
func cancelled(ctx context.Context, conn *sql.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(rand.IntN(3000))*time.Microsecond)
	defer cancel()
	_, err := conn.ExecContext(ctx, "UPDATE accounts WITH (TABLOCKX) SET balance = balance WHERE id = 1")
	if ctx.Err() != nil {
		return errGaveUp // whichever of the two was faster
	}
	return err
}

// appLocked takes an application lock around a statement.
func appLocked(ctx context.Context, conn *sql.Conn) error {
	return inTx(ctx, conn, sql.LevelReadCommitted, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DECLARE @r int;
EXEC @r = sp_getapplock @p1, 'Exclusive', 'Transaction', 5000;
IF @r >= 0 UPDATE accounts SET balance = balance WHERE id = 2`, strconv.Itoa(rand.IntN(4)))
		return err
	})
}
