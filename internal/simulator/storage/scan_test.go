package storage

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func TestScan_Ranges(t *testing.T) {
	db := newTestDatabase(t)
	inTxn(t, db, func(tx *Txn) {
		for i := range int64(20) {
			insert(t, tx, row(i, strconv.Itoa(int(i)), i/5))
		}
	})
	tests := map[string]struct {
		index int
		rng   Range
		opts  ScanOptions
		want  []int64
	}{
		"point":            {1, Point(ints(7)...), ScanOptions{}, []int64{7}},
		"missing point":    {1, Point(ints(70)...), ScanOptions{}, nil},
		"closed":           {1, Range{ints(3), ints(5), true, true}, ScanOptions{}, []int64{3, 4, 5}},
		"open":             {1, Range{ints(3), ints(5), false, false}, ScanOptions{}, []int64{4}},
		"half open":        {1, Range{ints(17), nil, false, false}, ScanOptions{}, []int64{18, 19}},
		"below":            {1, Range{nil, ints(2), false, false}, ScanOptions{}, []int64{0, 1}},
		"backwards":        {1, Range{ints(3), ints(5), true, true}, ScanOptions{Desc: true}, []int64{5, 4, 3}},
		"backwards open":   {1, Range{ints(3), ints(5), false, false}, ScanOptions{Desc: true}, []int64{4}},
		"backwards below":  {1, Range{nil, ints(2), false, true}, ScanOptions{Desc: true}, []int64{2, 1, 0}},
		"prefix":           {3, Point(ints(2)...), ScanOptions{}, []int64{10, 11, 12, 13, 14}},
		"prefix and more":  {3, Range{ints(2, 12), ints(2), true, true}, ScanOptions{}, []int64{12, 13, 14}},
		"prefix backwards": {3, Point(ints(2)...), ScanOptions{Desc: true}, []int64{14, 13, 12, 11, 10}},
		"desc column":      {3, Range{ints(3), ints(3, 16), true, true}, ScanOptions{}, []int64{15, 16}},
		"desc exclusive":   {3, Range{ints(1), nil, false, false}, ScanOptions{}, []int64{0, 1, 2, 3, 4}},
		"empty range":      {1, Range{ints(5), ints(3), true, true}, ScanOptions{}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tx := db.Begin(TxnOptions{})
			defer tx.Rollback()
			require.Equal(t, tt.want, ids(t, tx, tt.index, tt.rng, tt.opts))
		})
	}
	t.Run("all, in more than one chunk", func(t *testing.T) {
		tx := db.Begin(TxnOptions{})
		defer tx.Rollback()
		require.Len(t, ids(t, tx, 1, Range{}, ScanOptions{}), 20)
		require.Len(t, ids(t, tx, 3, Range{}, ScanOptions{Desc: true}), 20)
		require.Equal(t, int64(15), ids(t, tx, 3, Range{}, ScanOptions{})[0], "descending first column")
	})
}

func TestScan_HeapKeepsInsertionOrder(t *testing.T) {
	db := newTestDatabase(t)
	inTxn(t, db, func(tx *Txn) {
		def := testTableDef()
		def.Indexes = nil
		require.NoError(t, tx.AlterTable(def, nil))
		for _, i := range []int64{5, 1, 9} {
			insert(t, tx, row(i, "x", 0))
		}
	})
	tx := db.Begin(TxnOptions{})
	defer tx.Rollback()
	require.Equal(t, []int64{5, 1, 9}, ids(t, tx, BaseIndex, Range{}, ScanOptions{}))
	require.Equal(t, []int64{9, 1, 5}, ids(t, tx, BaseIndex, Range{}, ScanOptions{Desc: true}))
}

func TestScan_UnknownTableAndIndex(t *testing.T) {
	db := newTestDatabase(t)
	tx := db.Begin(TxnOptions{})
	defer tx.Rollback()
	it := tx.Scan(1, 0, Range{}, ScanOptions{})
	_, _, ok := it.Next()
	require.False(t, ok)
	require.ErrorAs(t, it.Err(), new(*NoTableError))
	it = tx.Scan(testTable, 9, Range{}, ScanOptions{})
	_, _, ok = it.Next()
	require.False(t, ok)
	require.ErrorAs(t, it.Err(), new(*NoIndexError))
}

// An iterator that is open while rows come, go and move returns each row that was there
// all the time exactly once.
func TestScan_OpenIteratorWhileOthersWrite(t *testing.T) {
	db := newTestDatabase(t)
	rowIDs := map[int64]RowID{}
	inTxn(t, db, func(tx *Txn) {
		for i := range int64(1000) {
			rowIDs[i] = insert(t, tx, row(i*2, strconv.Itoa(int(i*2)), 0))
		}
	})
	for name, opts := range map[string]TxnOptions{
		"read committed": {}, "snapshot": {Isolation: Snapshot}, "read uncommitted": {Isolation: ReadUncommitted},
	} {
		t.Run(name, func(t *testing.T) {
			tx := db.Begin(opts)
			defer tx.Rollback()
			it := tx.Scan(testTable, 1, Range{}, ScanOptions{})
			var even int64
			for {
				_, r, ok := it.Next()
				if !ok {
					break
				}
				id := r[0].Int64()
				if id%2 == 1 {
					require.NotEqual(t, Snapshot, opts.Isolation, "a snapshot does not see later inserts")
					continue
				}
				require.Equal(t, even, id)
				even += 2
				if id%100 == 0 {
					other := db.Begin(TxnOptions{})
					require.NoError(t, other.Update(testTable, rowIDs[id/2], row(id, strconv.Itoa(int(id)), id), WriteOptions{}))
					odd, err := other.Insert(testTable, row(id+1, strconv.Itoa(int(id+1)), 0), WriteOptions{})
					require.NoError(t, err)
					_, err = other.Commit()
					require.NoError(t, err)
					inTxn(t, db, func(tx *Txn) {
						_, err := tx.Delete(testTable, odd, WriteOptions{})
						require.NoError(t, err)
					})
				}
			}
			require.NoError(t, it.Err())
			require.Equal(t, int64(2000), even)
		})
	}
}

// An UPDATE that moves rows ahead of its own scan does not meet them again.
func TestScan_DoesNotMeetItsOwnWrites(t *testing.T) {
	db := newTestDatabase(t)
	inTxn(t, db, func(tx *Txn) {
		for i := range int64(100) {
			insert(t, tx, row(i, strconv.Itoa(int(i)), i))
		}
	})
	inTxn(t, db, func(tx *Txn) {
		tx.BeginStatement(t.Context())
		it := tx.Scan(testTable, 3, Range{}, ScanOptions{RowLock: LockU, Desc: true, StatementStart: true})
		count := 0
		for {
			id, r, ok := it.Next()
			if !ok {
				break
			}
			count++
			n := r[2].Int64() + 10
			require.NoError(t, tx.Update(testTable, id, Row{r[0], r[1], sqltypes.IntOf(n)}, WriteOptions{}))
		}
		require.NoError(t, it.Err())
		require.Equal(t, 100, count)
	})
}

func TestScan_FilteredIndex(t *testing.T) {
	db := newTestDatabase(t)
	def := IndexDef{
		ID: 4, Unique: true, Columns: []IndexColumn{{Ordinal: 2}}, FilterSource: "n > 0",
		Filter: func(r Row) bool { return r[2].Int64() > 0 },
	}
	var moved RowID
	inTxn(t, db, func(tx *Txn) {
		insert(t, tx, row(1, "a", 0))
		moved = insert(t, tx, row(2, "b", 0))
		insert(t, tx, row(3, "c", 7))
		require.NoError(t, tx.CreateIndex(testTable, def))
	})
	tx := db.Begin(TxnOptions{})
	defer tx.Rollback()
	require.Equal(t, []int64{3}, ids(t, tx, 4, Range{}, ScanOptions{}))
	require.NoError(t, tx.Update(testTable, moved, row(2, "b", 6), WriteOptions{}))
	require.Equal(t, []int64{2, 3}, ids(t, tx, 4, Range{}, ScanOptions{}))
	var duplicate *DuplicateKeyError
	require.ErrorAs(t, tx.Update(testTable, moved, row(2, "b", 7), WriteOptions{}), &duplicate)
	require.Equal(t, 4, duplicate.Index)
	require.NoError(t, tx.Update(testTable, moved, row(2, "b", 0), WriteOptions{}))
	require.Equal(t, []int64{3}, ids(t, tx, 4, Range{}, ScanOptions{}))
}
