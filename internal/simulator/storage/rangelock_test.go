package storage

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// between is the range of keys from low to high, both included.
func between(low, high int64) Range {
	return Range{Low: ints(low), High: ints(high), LowInclusive: true, HighInclusive: true}
}

// What a SERIALIZABLE transaction has read by a range of keys stays so, and the rest of
// the table is free.
func TestRangeLock_BarsWritersInTheRange(t *testing.T) {
	db := newTestDatabase(t)
	rows := map[int64]RowID{}
	inTxn(t, db, func(tx *Txn) {
		for _, key := range []int64{10, 20, 30, 40} {
			rows[key] = insert(t, tx, row(key, strconv.Itoa(int(key)), key))
		}
	})
	reader := db.Begin(TxnOptions{Isolation: Serializable})
	defer reader.Rollback()
	require.Equal(t, []int64{20, 30}, ids(t, reader, 1, between(15, 35), ScanOptions{}))

	try := func(f func(tx *Txn) error) error {
		tx := db.Begin(TxnOptions{LockTimeout: NoWait})
		defer tx.Rollback()
		return f(tx)
	}
	add := func(key int64) func(*Txn) error {
		return func(tx *Txn) error {
			_, err := tx.Insert(testTable, row(key, "new", 1), WriteOptions{})
			return err
		}
	}
	move := func(from, to int64) func(*Txn) error {
		return func(tx *Txn) error {
			return tx.Update(testTable, rows[from], row(to, strconv.Itoa(int(from)), 1), WriteOptions{})
		}
	}
	remove := func(key int64) func(*Txn) error {
		return func(tx *Txn) error {
			_, err := tx.Delete(testTable, rows[key], WriteOptions{})
			return err
		}
	}
	for name, f := range map[string]func(*Txn) error{
		"insert": add(25), "insert at the bound": add(15), "delete": remove(20), "change": move(20, 20),
		"move out": move(20, 50), "move in": move(40, 35),
	} {
		requireNumber(t, 1222, try(f))
		_ = name
	}
	for name, f := range map[string]func(*Txn) error{
		"insert below": add(14), "insert above": add(36), "delete": remove(40), "change": move(10, 10), "move past": move(10, 50),
	} {
		require.NoError(t, try(f), name)
	}
	reader.Rollback()
	require.NoError(t, try(add(25)))
	require.Empty(t, db.table(testTable).ranges.held)
}

// Readers that come after a waiting writer queue behind it.
func TestRangeLock_DoesNotStarveWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newTestDatabase(t)
		first := db.Begin(TxnOptions{Isolation: Serializable})
		require.Empty(t, ids(t, first, 1, between(1, 10), ScanOptions{}))
		var mu sync.Mutex
		var order []string
		done := func(name string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, name)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			tx := db.Begin(TxnOptions{})
			insert(t, tx, row(5, "a", 1))
			done("writer")
			tx.Rollback()
		})
		synctest.Wait()
		wg.Go(func() {
			tx := db.Begin(TxnOptions{Isolation: Serializable})
			ids(t, tx, 1, between(3, 7), ScanOptions{})
			done("reader")
			tx.Rollback()
		})
		synctest.Wait()
		require.Empty(t, order)
		first.Rollback()
		wg.Wait()
		require.Equal(t, []string{"writer", "reader"}, order)
		require.Empty(t, db.table(testTable).ranges.pending)
	})
}

// Updates of one range wait for each other instead of ending in a deadlock.
func TestRangeLock_UpdatesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newTestDatabase(t)
		var id RowID
		inTxn(t, db, func(tx *Txn) { id = insert(t, tx, row(1, "a", 0)) })
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				tx := db.Begin(TxnOptions{Isolation: Serializable})
				defer tx.Rollback()
				it := tx.Scan(testTable, 1, Point(ints(1)...), ScanOptions{RowLock: LockU})
				_, r, ok := it.Next()
				if !ok {
					t.Error(it.Err())
					return
				}
				if err := tx.Update(testTable, id, Row{r[0], r[1], sqltypes.IntOf(r[2].Int64() + 1)}, WriteOptions{}); err != nil {
					t.Error(err)
				}
				if _, err := tx.Commit(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		tx := db.Begin(TxnOptions{})
		defer tx.Rollback()
		r, ok, err := tx.Get(testTable, id, ScanOptions{})
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, int64(4), r[2].Int64())
	})
}

// Many ranges become a lock on the table.
func TestRangeLock_Escalates(t *testing.T) {
	db := newTestDatabase(t)
	tx := db.Begin(TxnOptions{Isolation: Serializable})
	for key := range int64(maxRanges + 1) {
		ids(t, tx, 1, Point(ints(key)...), ScanOptions{})
	}
	require.Equal(t, LockS, tx.heldMode(tx.tableResource(testTable)))
	tx.Rollback()
	require.Empty(t, db.table(testTable).ranges.held)
	require.Empty(t, db.store.locks.locks)
}

// A range and its bounds agree with a plain comparison of keys.
func TestRangeLock_AgreesWithScans(t *testing.T) {
	db := newTestDatabase(t)
	inTxn(t, db, func(tx *Txn) {
		for i := range int64(30) {
			insert(t, tx, row(i, strconv.Itoa(int(i)), i%7))
		}
	})
	tab := db.table(testTable)
	rapid.Check(t, func(t *rapid.T) {
		draw := func() *rangeLock {
			prefix := func(name string) []sqltypes.Value {
				values := []int64{rapid.Int64Range(-1, 8).Draw(t, name), rapid.Int64Range(-1, 31).Draw(t, name)}
				return ints(values[:rapid.IntRange(0, 2).Draw(t, name+" columns")]...)
			}
			r := Range{Low: prefix("low"), High: prefix("high"), LowInclusive: rapid.Bool().Draw(t, "from"), HighInclusive: rapid.Bool().Draw(t, "to")}
			ix, err := tab.index(3)
			require.NoError(t, err)
			return &rangeLock{ix: ix, span: r.span(ix, false)}
		}
		a, b := draw(), draw()
		common := false
		for _, r := range tab.liveRows() {
			inA := false
			walk(a.ix, a.span, nil, func(e entry) bool {
				inA = inA || e.rec.id == r.id
				return true
			})
			require.Equal(t, inA, a.touches(r.row), "row %v", r.row)
			common = common || a.touches(r.row) && b.touches(r.row)
		}
		if common {
			require.True(t, a.overlaps(b))
			require.True(t, b.overlaps(a))
		}
		require.Equal(t, a.overlaps(b), b.overlaps(a))
	})
}

// promise is a transaction that reads the same ranges again and again.
type promise struct {
	tx    *Txn
	level Isolation
	seen  map[[2]int64][]rowImage
}

// TestIsolation_Promises lets readers of every level look again at what they have read
// while others write: SNAPSHOT and SERIALIZABLE see the same, REPEATABLE READ sees at
// least the same rows. Nobody waits, so one goroutine plays all. At the end no lock, no
// range and no view is left.
func TestIsolation_Promises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := Open(Options{})
		require.NoError(t, err)
		db, err := s.CreateDatabase("promises", 5)
		require.NoError(t, err)
		tx := db.Begin(TxnOptions{})
		require.NoError(t, tx.CreateTable(testTableDef()))
		_, err = tx.Commit()
		require.NoError(t, err)
		var open []*promise
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(t *rapid.T) {
				level := rapid.SampledFrom([]Isolation{Snapshot, Serializable, RepeatableRead}).Draw(t, "level")
				open = append(open, &promise{tx: db.Begin(TxnOptions{Isolation: level, LockTimeout: NoWait}), level: level, seen: map[[2]int64][]rowImage{}})
			},
			"read": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("nobody reads")
				}
				rapid.SampledFrom(open).Draw(t, "reader").read(t)
			},
			"write":  func(t *rapid.T) { writeOnce(t, db) },
			"write2": func(t *rapid.T) { writeOnce(t, db) },
			"end": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("nobody reads")
				}
				open[0].tx.Rollback()
				open = open[1:]
			},
		})
		for _, p := range open {
			p.tx.Rollback()
		}
		requireNothingHeld(t, db)
	})
}

// read scans a range and compares with the last time.
func (p *promise) read(t *rapid.T) {
	low := rapid.Int64Range(0, 9).Draw(t, "low")
	key := [2]int64{low, low + rapid.Int64Range(0, 4).Draw(t, "length")}
	p.tx.BeginStatement(t.Context())
	defer p.tx.EndStatement()
	it := p.tx.Scan(testTable, 1, between(key[0], key[1]), ScanOptions{})
	var rows []rowImage
	for {
		id, r, ok := it.Next()
		if !ok {
			break
		}
		rows = append(rows, rowImage{id, r})
	}
	if it.Err() != nil {
		require.ErrorContains(t, it.Err(), "1222")
		return
	}
	before, again := p.seen[key]
	p.seen[key] = rows
	switch {
	case !again:
	case p.level == RepeatableRead:
		for _, r := range before {
			require.True(t, slices.ContainsFunc(rows, func(o rowImage) bool { return o.id == r.id && slices.Equal(o.row, r.row) }), "row %v is gone", r.row)
		}
	default:
		require.Equal(t, before, rows, "level %d", p.level)
	}
}

// writeOnce changes one row in a transaction of its own, if nobody is in the way.
func writeOnce(t *rapid.T, db *Database) {
	tx := db.Begin(TxnOptions{LockTimeout: NoWait})
	defer tx.Rollback()
	key := rapid.Int64Range(0, 13).Draw(t, "key")
	it := tx.Scan(testTable, 1, Point(ints(key)...), ScanOptions{RowLock: LockU})
	id, _, found := it.Next()
	if it.Err() != nil {
		return
	}
	to := rapid.Int64Range(0, 13).Draw(t, "to")
	r := row(to, strconv.Itoa(int(to)), rapid.Int64Range(0, 100).Draw(t, "n"))
	var err error
	switch {
	case !found:
		_, err = tx.Insert(testTable, row(key, strconv.Itoa(int(key)), 0), WriteOptions{})
	case rapid.Bool().Draw(t, "delete"):
		_, err = tx.Delete(testTable, id, WriteOptions{})
	default:
		err = tx.Update(testTable, id, r, WriteOptions{})
	}
	if err == nil {
		_, err = tx.Commit()
		require.NoError(t, err)
	}
}

// requireNothingHeld checks that ended transactions have left nothing behind.
func requireNothingHeld(t require.TestingT, db *Database) {
	require.Empty(t, db.store.locks.locks)
	require.Zero(t, db.store.locks.rowLocks.Load())
	require.Empty(t, db.views.open)
	require.Empty(t, db.running.txns)
	for _, tab := range db.allTables() {
		require.Empty(t, tab.ranges.held)
		require.Empty(t, tab.ranges.pending)
	}
	require.Empty(t, db.store.Locks())
}

// Random sessions lock random things in random order: every one ends, by itself or as a
// victim, so no deadlock goes unnoticed. In a bubble one that did would be fatal.
func TestDeadlock_AlwaysFound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type step struct {
			table int64
			row   RowID
			mode  LockMode
			app   bool
		}
		programs := rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
			return step{
				table: rapid.Int64Range(1, 3).Draw(t, "table"), row: RowID(rapid.IntRange(0, 2).Draw(t, "row")),
				mode: rapid.SampledFrom([]LockMode{LockIS, LockIX, LockS, LockU, LockSIX, LockX}).Draw(t, "mode"),
				app:  rapid.Bool().Draw(t, "app"),
			}
		}), 1, 5), 2, 6).Draw(rt, "programs")
		synctest.Test(t, func(t *testing.T) {
			db := newTestDatabase(t)
			var wg sync.WaitGroup
			for _, program := range programs {
				wg.Go(func() {
					tx := db.Begin(TxnOptions{})
					defer tx.Rollback()
					for _, s := range program {
						var err error
						if s.app {
							_, err = tx.LockApp(t.Context(), 5, strconv.Itoa(int(s.table)), s.mode, 0)
						} else {
							err = tx.lock(resource{db: 5, table: s.table, row: s.row}, s.mode, false)
						}
						if tx.Done() || err != nil {
							return
						}
					}
				})
			}
			wg.Wait()
			requireNothingHeld(t, db)
		})
	})
}

// A panic of the engine's code in the middle of a write leaves nothing locked and no row
// half done.
func TestPanic_LeavesNothingBehind(t *testing.T) {
	db := newTestDatabase(t)
	explode := false
	inTxn(t, db, func(tx *Txn) {
		insert(t, tx, row(1, "a", 1))
		require.NoError(t, tx.CreateIndex(testTable, IndexDef{
			ID: 7, Columns: []IndexColumn{{Ordinal: 2}}, FilterSource: "n > 0",
			Filter: func(r Row) bool {
				if explode && r[2].Int64() == 13 {
					panic("engine")
				}
				return r[2].Int64() > 0
			},
		}))
	})
	explode = true
	for name, f := range map[string]func(tx *Txn){
		"insert": func(tx *Txn) { insert(t, tx, row(2, "b", 13)) },
		"update": func(tx *Txn) { require.NoError(t, tx.Update(testTable, 1, row(1, "a", 13), WriteOptions{})) },
	} {
		t.Run(name, func(t *testing.T) {
			tx := db.Begin(TxnOptions{Isolation: Serializable})
			ids(t, tx, 1, between(1, 5), ScanOptions{})
			require.Panics(t, func() { f(tx) })
			tx.Rollback()
			requireNothingHeld(t, db)
			reader := db.Begin(TxnOptions{LockTimeout: NoWait})
			defer reader.Rollback()
			require.Equal(t, []string{"a"}, names(t, reader))
			require.Equal(t, []int64{1}, ids(t, reader, 7, Range{}, ScanOptions{}))
		})
	}
}
