package storage

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// Transfers between accounts under every isolation level that loses no update, while
// readers add the accounts up: the sum never changes, nobody hangs, nothing is left.
func TestStress_Transfers(t *testing.T) {
	const (
		accounts  = 20
		transfers = 150
		sum       = int64(accounts * 100)
	)
	for name, opts := range map[string]Options{"memory": {}, "file": {Dir: t.TempDir()}} {
		t.Run(name, func(t *testing.T) {
			db, err := openStore(t, opts).CreateDatabase("bank", 5)
			require.NoError(t, err)
			require.NoError(t, db.SetLogRetention(true))
			createTestTable(t, db)
			inTxn(t, db, func(tx *Txn) {
				for i := range int64(accounts) {
					insert(t, tx, row(i, strconv.Itoa(int(i)), 100))
				}
			})
			var writers, readers sync.WaitGroup
			stop := make(chan struct{})
			for _, level := range []Isolation{ReadCommitted, RepeatableRead, Serializable, Snapshot} {
				for range 2 {
					writers.Go(func() {
						for range transfers {
							if err := retry(func() error { return transfer(db, level, accounts) }); err != nil {
								t.Error(err)
							}
						}
					})
				}
			}
			for _, level := range []Isolation{Snapshot, Serializable, ReadUncommitted} {
				readers.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						got, err := total(db, level)
						if isTransient(err) {
							continue
						}
						if err != nil || level != ReadUncommitted && got != sum {
							t.Errorf("level %d: sum %d, error %v", level, got, err)
							return
						}
					}
				})
			}
			writers.Wait()
			close(stop)
			readers.Wait()
			got, err := total(db, Snapshot)
			require.NoError(t, err)
			require.Equal(t, sum, got)
			require.Empty(t, db.store.locks.locks)
			db.collectGarbage()
			require.Equal(t, accounts, db.table(testTable).indexes[2].tree.Len())
			last := LSN{}
			for _, txn := range db.ReadLog(LSN{}, 1<<30) {
				require.Positive(t, txn.CommitLSN.Compare(last))
				last = txn.CommitLSN
			}
		})
	}
}

// transfer moves money between two accounts.
func transfer(db *Database, level Isolation, accounts int64) error {
	tx := db.Begin(TxnOptions{Isolation: level})
	defer tx.Rollback()
	a := rand.Int64N(accounts)
	b := (a + 1 + rand.Int64N(accounts-1)) % accounts
	amount := rand.Int64N(10)
	// Under READ COMMITTED only U locks keep what was read from changing.
	opts := ScanOptions{}
	if level == ReadCommitted {
		opts.RowLock = LockU
	}
	for _, change := range []struct{ key, n int64 }{{a, -amount}, {b, amount}} {
		it := tx.Scan(testTable, 1, Point(sqltypes.IntOf(change.key)), opts)
		id, r, ok := it.Next()
		if !ok {
			return errors.Join(errors.New("account is missing"), it.Err())
		}
		if err := tx.Update(testTable, id, Row{r[0], r[1], sqltypes.IntOf(r[2].Int64() + change.n)}, WriteOptions{}); err != nil {
			return err
		}
	}
	_, err := tx.Commit()
	return err
}

func total(db *Database, level Isolation) (sum int64, err error) {
	tx := db.Begin(TxnOptions{Isolation: level})
	defer tx.Rollback()
	it := tx.Scan(testTable, 3, Range{}, ScanOptions{})
	for {
		_, r, ok := it.Next()
		if !ok {
			return sum, it.Err()
		}
		sum += r[2].Int64()
	}
}

// retry runs f again as a client would after a deadlock or a conflict.
func retry(f func() error) error {
	for {
		if err := f(); !isTransient(err) {
			return err
		}
	}
}

func isTransient(err error) bool {
	var e *sqltypes.Error
	return errors.As(err, &e) && (e.Number == 1205 || e.Number == 3960)
}

// Several sessions insert the same keys at the same time: each key is stored once.
func TestStress_UniqueKeys(t *testing.T) {
	db := newTestDatabase(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	stored := map[int64]int{}
	for range 4 {
		wg.Go(func() {
			for key := range int64(200) {
				tx := db.Begin(TxnOptions{})
				_, err := tx.Insert(testTable, row(key, strconv.Itoa(int(key)), 0), WriteOptions{})
				if err == nil && rand.IntN(3) > 0 {
					_, err = tx.Commit()
					mu.Lock()
					stored[key]++
					mu.Unlock()
				}
				tx.Rollback()
				if err != nil && !errors.As(err, new(*DuplicateKeyError)) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, int64(len(stored)), db.RowCount(testTable))
	for key, n := range stored {
		require.Equal(t, 1, n, "key %d", key)
	}
}

// Rows come and go at both ends of a table that is being scanned, as in a change table
// between the capture and the cleanup job.
func TestStress_ScanWhileCleaning(t *testing.T) {
	db := newTestDatabase(t)
	const rows = 3000
	var wg sync.WaitGroup
	wg.Go(func() {
		var queue []RowID
		for i := range int64(rows) {
			tx := db.Begin(TxnOptions{})
			id, err := tx.Insert(testTable, row(i, strconv.Itoa(int(i)), i), WriteOptions{Unlogged: true})
			if queue = append(queue, id); len(queue) > 100 {
				_, err = tx.Delete(testTable, queue[0], WriteOptions{Unlogged: true})
				queue = queue[1:]
			}
			if err != nil {
				t.Error(err)
			}
			if _, err := tx.Commit(); err != nil {
				t.Error(err)
			}
		}
	})
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		for _, opts := range []TxnOptions{{Isolation: Snapshot}, {Isolation: ReadUncommitted}, {}} {
			tx := db.Begin(opts)
			list := ids(t, tx, 1, Range{}, ScanOptions{})
			if opts.Isolation == Snapshot && len(list) > 0 {
				require.LessOrEqual(t, len(list), 100)
				require.Equal(t, list[0]+int64(len(list))-1, list[len(list)-1], "without holes")
			}
			tx.Rollback()
		}
	}
	require.Equal(t, int64(100), db.RowCount(testTable))
}
