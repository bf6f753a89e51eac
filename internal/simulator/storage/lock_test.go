package storage

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// In a bubble, synctest.Wait returns once every transaction waits for a lock.

func TestLock_TimeoutIsByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newTestDatabase(t)
		writer := db.Begin(TxnOptions{})
		insert(t, writer, row(1, "a", 1))

		other := db.Begin(TxnOptions{LockTimeout: 3 * time.Second})
		start := time.Now()
		_, err := other.Insert(testTable, row(1, "b", 1), WriteOptions{})
		requireNumber(t, 1222, err)
		require.Equal(t, 3*time.Second, time.Since(start))
		require.False(t, other.Done(), "the transaction stays open")
		insert(t, other, row(2, "b", 1))
		other.Rollback()
		writer.Rollback()
	})
}

func TestLock_UniqueKeyWaitsForTheOther(t *testing.T) {
	for _, commit := range []bool{true, false} {
		t.Run("commit="+strconv.FormatBool(commit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := newTestDatabase(t)
				first := db.Begin(TxnOptions{})
				insert(t, first, row(1, "a", 1))
				result := make(chan error)
				go func() {
					tx := db.Begin(TxnOptions{})
					_, err := tx.Insert(testTable, row(1, "b", 1), WriteOptions{})
					tx.Rollback()
					result <- err
				}()
				synctest.Wait()
				if commit {
					_, err := first.Commit()
					require.NoError(t, err)
					require.ErrorAs(t, <-result, new(*DuplicateKeyError))
				} else {
					first.Rollback()
					require.NoError(t, <-result)
				}
			})
		})
	}
}

func TestLock_DeadlockVictim(t *testing.T) {
	tests := map[string]struct {
		priority [2]int
		extra    [2]int // further rows that each changes
		victim   int
	}{
		"the lower priority":   {[2]int{-1, 0}, [2]int{5, 0}, 0},
		"who changed less":     {[2]int{0, 0}, [2]int{0, 3}, 0},
		"of equals, the newer": {[2]int{0, 0}, [2]int{0, 0}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := newTestDatabase(t)
				var rows [2]RowID
				inTxn(t, db, func(tx *Txn) {
					rows[0] = insert(t, tx, row(1, "a", 0))
					rows[1] = insert(t, tx, row(2, "b", 0))
				})
				var txns [2]*Txn
				for i := range txns {
					owner := &Owner{SPID: 51 + i}
					owner.SetDeadlockPriority(tt.priority[i])
					txns[i] = db.Begin(TxnOptions{Owner: owner})
					for n := range tt.extra[i] {
						id := int64(100*(i+1) + n)
						insert(t, txns[i], row(id, strconv.Itoa(int(id)), 0))
					}
					require.NoError(t, txns[i].Update(testTable, rows[i], row(int64(i+1), strconv.Itoa(i), 1), WriteOptions{}))
				}
				var errs [2]error
				var wg sync.WaitGroup
				for i, tx := range txns {
					wg.Go(func() {
						errs[i] = tx.Update(testTable, rows[1-i], row(int64(2-i), "x", 1), WriteOptions{})
						if errs[i] == nil {
							_, errs[i] = tx.Commit()
						}
					})
					synctest.Wait()
				}
				wg.Wait()
				requireNumber(t, 1205, errs[tt.victim])
				require.ErrorContains(t, errs[tt.victim], "Process ID "+strconv.Itoa(51+tt.victim))
				require.True(t, txns[tt.victim].Done(), "already rolled back")
				require.NoError(t, errs[1-tt.victim])
			})
		})
	}
}

// Two readers that both want to change what both have read: a conversion deadlock.
func TestLock_ConversionDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newTestDatabase(t)
		var id RowID
		inTxn(t, db, func(tx *Txn) { id = insert(t, tx, row(1, "a", 0)) })
		var errs [2]error
		var txns [2]*Txn
		for i := range txns {
			txns[i] = db.Begin(TxnOptions{Isolation: RepeatableRead})
			require.Len(t, names(t, txns[i]), 1)
		}
		var wg sync.WaitGroup
		for i, tx := range txns {
			wg.Go(func() {
				errs[i] = tx.Update(testTable, id, row(1, strconv.Itoa(i), 1), WriteOptions{})
				tx.Rollback()
			})
			synctest.Wait()
		}
		wg.Wait()
		require.NoError(t, errs[0])
		requireNumber(t, 1205, errs[1])
	})
}

// A deadlock over two databases is seen when a session ties its transactions together.
func TestLock_DeadlockOverTwoDatabases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, Options{})
		var dbs [2]*Database
		for i := range dbs {
			var err error
			dbs[i], err = s.CreateDatabase(strconv.Itoa(i), 5+i)
			require.NoError(t, err)
		}
		errs := make([]error, 2)
		var sessions [2][2]*Txn
		for i := range sessions {
			owner := NewOwner()
			sessions[i][i] = dbs[i].Begin(TxnOptions{Owner: owner})
			sessions[i][1-i] = dbs[1-i].Begin(TxnOptions{Owner: owner})
			require.NoError(t, sessions[i][i].LockTable(1, LockX))
		}
		var wg sync.WaitGroup
		for i := range sessions {
			wg.Go(func() {
				errs[i] = sessions[i][1-i].LockTable(1, LockX)
				sessions[i][i].Rollback()
				sessions[i][1-i].Rollback()
			})
		}
		wg.Wait()
		require.NotEqual(t, errs[0] == nil, errs[1] == nil, "exactly one is the victim")
		requireNumber(t, 1205, errors.Join(errs...))
	})
}

func TestLock_ContextEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newTestDatabase(t)
		holder := db.Begin(TxnOptions{})
		require.NoError(t, holder.LockTable(testTable, LockX))
		cause := errors.New("attention")
		ctx, cancel := context.WithCancelCause(t.Context())
		result := make(chan error)
		waiter := db.Begin(TxnOptions{})
		go func() {
			waiter.BeginStatement(ctx)
			result <- waiter.LockTable(testTable, LockS)
		}()
		synctest.Wait()
		cancel(cause)
		require.ErrorIs(t, <-result, cause)
		holder.Rollback()
		require.NoError(t, waiter.LockTable(testTable+1, LockS))
		waiter.Rollback()
		require.Empty(t, db.store.locks.locks, "no lock is left behind")
	})
}

// Locks are granted in the order of arrival: readers that come after a waiting writer
// do not starve it.
func TestLock_QueueIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newTestDatabase(t)
		var mu sync.Mutex
		var order []string
		first := db.Begin(TxnOptions{})
		require.NoError(t, first.LockTable(testTable, LockS))
		var wg sync.WaitGroup
		for _, want := range []struct {
			name string
			mode LockMode
		}{{"writer", LockX}, {"reader", LockS}} {
			wg.Go(func() {
				tx := db.Begin(TxnOptions{})
				if err := tx.LockTable(testTable, want.mode); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, want.name)
				mu.Unlock()
				tx.Rollback()
			})
			synctest.Wait()
		}
		require.Empty(t, order)
		first.Rollback()
		wg.Wait()
		require.Equal(t, []string{"writer", "reader"}, order)
	})
}

// A row that somebody waits for can be had after a rollback to a savepoint already.
func TestLock_SavepointRollbackWakesWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newTestDatabase(t)
		var id RowID
		inTxn(t, db, func(tx *Txn) { id = insert(t, tx, row(1, "a", 0)) })
		holder := db.Begin(TxnOptions{})
		defer holder.Rollback()
		require.NoError(t, holder.Savepoint("s"))
		require.NoError(t, holder.Update(testTable, id, row(1, "b", 0), WriteOptions{}))
		result := make(chan []string)
		go func() {
			tx := db.Begin(TxnOptions{})
			list := names(t, tx)
			tx.Rollback()
			result <- list
		}()
		synctest.Wait()
		require.NoError(t, holder.RollbackTo("s"))
		require.Equal(t, []string{"a"}, <-result)
	})
}

// MS docs, "Lock escalation": many row locks become one table lock.
func TestLock_Escalation(t *testing.T) {
	db := newTestDatabase(t)
	const rows = escalateAt + 100
	inTxn(t, db, func(tx *Txn) {
		for i := range int64(rows) {
			insert(t, tx, row(i, strconv.Itoa(int(i)), i))
		}
	})
	tx := db.Begin(TxnOptions{Isolation: RepeatableRead})
	defer tx.Rollback()
	require.Len(t, ids(t, tx, 1, Range{}, ScanOptions{}), rows)
	require.Equal(t, LockS, tx.heldMode(tx.tableResource(testTable)))
	require.Len(t, tx.held, 1)
	require.Zero(t, db.store.locks.rowLocks.Load())
}

func TestLock_ReleaseRow(t *testing.T) {
	db := newTestDatabase(t)
	inTxn(t, db, func(tx *Txn) {
		insert(t, tx, row(1, "a", 1))
		insert(t, tx, row(2, "b", 1))
	})
	tx := db.Begin(TxnOptions{})
	defer tx.Rollback()
	it := tx.Scan(testTable, 1, Range{}, ScanOptions{RowLock: LockU})
	_, _, ok := it.Next()
	require.True(t, ok)
	it.ReleaseRow()
	_, _, ok = it.Next()
	require.True(t, ok)

	other := db.Begin(TxnOptions{LockTimeout: NoWait})
	defer other.Rollback()
	require.Equal(t, []int64{1}, ids(t, other, 1, Point(ints(1)...), ScanOptions{RowLock: LockU}))
	require.Empty(t, ids(t, other, 1, Point(ints(2)...), ScanOptions{RowLock: LockU, ReadPast: true}))
	require.Equal(t, []int64{1, 2}, ids(t, other, 1, Range{}, ScanOptions{}), "U does not bar readers")
}

func TestLockMode_Lattice(t *testing.T) {
	for a := LockSchS; a < lockModes; a++ {
		for b := LockSchS; b < lockModes; b++ {
			require.Equal(t, a.compatibleWith(b), b.compatibleWith(a), "%s %s", a, b)
			require.Equal(t, a.with(b), b.with(a), "%s %s", a, b)
			both := a.with(b)
			for c := LockSchS; c < lockModes; c++ {
				if both.compatibleWith(c) {
					require.True(t, a.compatibleWith(c) && b.compatibleWith(c), "%s includes %s and %s", both, a, b)
				}
			}
		}
	}
}
