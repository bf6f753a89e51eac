package storage

import (
	"bytes"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// reopen closes a store as a crash would: without writing anything.
func reopen(t *testing.T, s *Store, opts Options) *Store {
	t.Helper()
	for _, db := range s.Databases() {
		require.NoError(t, db.file.f.Close())
		db.file = nil
	}
	require.NoError(t, s.Close())
	s, err := Open(opts)
	require.NoError(t, err)
	return s
}

// dump describes everything that must survive.
type dumpOf struct {
	name     string
	tables   []TableDef
	rows     map[int64][]rowImage
	nextIDs  map[int64]uint64
	metas    map[string]string
	log      []LoggedTxn
	last     LSN
	counters map[string]int64
	retain   bool
}

func dump(db *Database) dumpOf {
	d := dumpOf{
		name: db.Name(), tables: db.Tables(), rows: map[int64][]rowImage{}, nextIDs: map[int64]uint64{},
		metas: map[string]string{}, log: db.ReadLog(LSN{}, 1<<30), last: db.LastCommitLSN(), counters: map[string]int64{},
		retain: db.LogRetention(),
	}
	for _, tab := range db.userTables() {
		d.rows[tab.id] = tab.liveRows()
		d.nextIDs[tab.id] = tab.nextID.Load()
	}
	db.ScanMeta("", func(key string, value []byte) bool {
		d.metas[key] = string(value)
		return true
	})
	for _, c := range db.counters.all() {
		d.counters[c.key] = c.value
	}
	return d
}

func TestFile_SurvivesACrash(t *testing.T) {
	for _, policy := range []FsyncPolicy{FsyncNever, FsyncCommit} {
		t.Run(strconv.Itoa(int(policy)), func(t *testing.T) {
			opts := Options{Dir: t.TempDir(), Fsync: policy}
			s, err := Open(opts)
			require.NoError(t, err)
			db, err := s.CreateDatabase("te/st", 5)
			require.NoError(t, err)
			createTestTable(t, db)
			inTxn(t, db, func(tx *Txn) { insert(t, tx, row(50, "before retention", 1)) })
			require.NoError(t, db.SetLogRetention(true))
			var commits []LSN
			var id RowID
			for i := range int64(5) {
				info := inTxn(t, db, func(tx *Txn) {
					id = insert(t, tx, row(i, strconv.Itoa(int(i)), i))
					db.AddCounter("identity", 1)
				})
				commits = append(commits, info.LSN)
			}
			require.NoError(t, db.TruncateLog(commits[1]))
			inTxn(t, db, func(tx *Txn) {
				require.NoError(t, tx.PutMeta("k", []byte("v")))
				lsn, err := tx.Delete(testTable, id, WriteOptions{})
				require.NoError(t, err)
				_, err = tx.Insert(testTable, row(70, "pair", 1), WriteOptions{Pair: lsn})
				require.NoError(t, err)
				_, err = tx.LogMarker(testTable, []byte("marker"))
				require.NoError(t, err)
				def := testTableDef()
				def.Columns = append(def.Columns, sqltypes.VarBinaryOf(sqltypes.Max))
				require.NoError(t, tx.AlterTable(def, func(r Row) (Row, error) {
					return append(r[:3:3], sqltypes.RawOf("new")), nil
				}))
				require.NoError(t, tx.CreateIndex(testTable, IndexDef{ID: 4, Columns: []IndexColumn{{Ordinal: 3}}}))
				require.NoError(t, tx.DropIndex(testTable, 3))
				require.NoError(t, tx.CreateTable(TableDef{ID: 7, Columns: def.Columns}))
				require.NoError(t, tx.CreateTable(TableDef{ID: 8, Columns: def.Columns}))
				require.NoError(t, tx.DropTable(8))
			})
			require.NoError(t, s.RenameDatabase(5, "renamed"))
			open := db.Begin(TxnOptions{})
			_, err = open.Insert(7, Row{sqltypes.IntOf(1), sqltypes.Null(), sqltypes.Null(), sqltypes.Null()}, WriteOptions{})
			require.NoError(t, err)
			before := dump(db)
			open.Rollback()
			delete(before.rows, 7)
			delete(before.nextIDs, 7)

			s = reopen(t, s, opts)
			defer s.Close()
			require.Len(t, s.Databases(), 1)
			after := dump(s.Database(5))
			require.Empty(t, after.rows[7], "not committed")
			delete(after.rows, 7)
			delete(after.nextIDs, 7)
			require.Equal(t, before, after)
			tx := s.Database(5).Begin(TxnOptions{})
			defer tx.Rollback()
			require.Equal(t, []int64{0, 1, 2, 3, 50, 70}, ids(t, tx, 1, Range{}, ScanOptions{}))
			require.Len(t, ids(t, tx, 4, Point(sqltypes.RawOf("new")), ScanOptions{}), 6)
		})
	}
}

// Wherever a file is cut, the commits before the cut are there and no others.
func TestFile_TornTail(t *testing.T) {
	opts, s, db := newFileDatabase(t)
	header := db.file.size
	var ends []int64
	for i := range int64(3) {
		// The last byte of a commit is not zero, so that zeros behind a cut cannot restore it.
		inTxn(t, db, func(tx *Txn) { insert(t, tx, row(i, strconv.Itoa(int(i)), 7)) })
		ends = append(ends, db.file.size)
	}
	s = reopen(t, s, opts)
	require.NoError(t, s.Close())
	whole, err := os.ReadFile(filePath(opts.Dir, 5))
	require.NoError(t, err)
	for cut := header; cut <= int64(len(whole)); cut++ {
		for _, junk := range []string{"", "junk", string(make([]byte, 30))} {
			require.NoError(t, os.WriteFile(filePath(opts.Dir, 5), append(whole[:cut:cut], junk...), 0o644))
			s, err := Open(opts)
			require.NoError(t, err)
			var want []int64
			for i, end := range ends {
				if end <= cut {
					want = append(want, int64(i))
				}
			}
			db := s.Database(5)
			tx := db.Begin(TxnOptions{})
			require.Equal(t, want, ids(t, tx, 1, Range{}, ScanOptions{}))
			tx.Rollback()
			inTxn(t, db, func(tx *Txn) { insert(t, tx, row(100, "after", 1)) })
			require.NoError(t, s.Close())
		}
	}
}

func TestFile_DamageInTheMiddle(t *testing.T) {
	opts, s, db := newFileDatabase(t)
	at := db.file.size
	inTxn(t, db, func(tx *Txn) { insert(t, tx, row(1, "first", 1)) })
	inTxn(t, db, func(tx *Txn) { insert(t, tx, row(2, "second", 1)) })
	require.NoError(t, s.Close())
	path := filePath(opts.Dir, 5)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, damage := range []int{0, 4, 8, frameHeaderSize - 1, bytes.Index(whole[at:], []byte("first"))} {
		damaged := bytes.Clone(whole)
		damaged[int(at)+damage] ^= 1
		require.NoError(t, os.WriteFile(path, damaged, 0o644))
		_, err = Open(opts)
		var corrupt *CorruptFileError
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, path, corrupt.Path)
		require.Equal(t, at, corrupt.Offset)
		require.ErrorContains(t, err, path)
	}
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	_, err = Open(opts)
	require.ErrorAs(t, err, new(*CorruptFileError))
}

func TestFile_LargeTransaction(t *testing.T) {
	opts, s, db := newFileDatabase(t)
	size := db.file.size
	const rows = 50_000
	inTxn(t, db, func(tx *Txn) {
		for i := range int64(rows) {
			insert(t, tx, row(i, "a name of some length "+strconv.Itoa(int(i)), i))
		}
	})
	require.Greater(t, db.file.size, size+partSize, "more than one frame")
	s = reopen(t, s, opts)
	require.Equal(t, int64(rows), s.Database(5).RowCount(testTable))
	require.NoError(t, s.Close())

	// Without its last frame the whole transaction is gone.
	require.NoError(t, os.Truncate(filePath(opts.Dir, 5), size+partSize+100))
	s, err := Open(opts)
	require.NoError(t, err)
	require.Zero(t, s.Database(5).RowCount(testTable))
	require.Equal(t, size, s.Database(5).file.size)
	require.NoError(t, s.Close())
}

func TestFile_Compaction(t *testing.T) {
	opts, s, db := newFileDatabase(t)
	var id RowID
	inTxn(t, db, func(tx *Txn) { id = insert(t, tx, row(1, "a", 1)) })
	for i := range int64(20_000) {
		inTxn(t, db, func(tx *Txn) {
			require.NoError(t, tx.Update(testTable, id, row(1, "a name of some length", i), WriteOptions{}))
		})
	}
	require.NoError(t, db.SetLogRetention(true))
	db.SetCounter("c", 9)
	inTxn(t, db, func(tx *Txn) {
		require.NoError(t, tx.Update(testTable, id, row(1, "a", 1), WriteOptions{}))
		gone := insert(t, tx, row(2, "b", 1))
		lsn, err := tx.Delete(testTable, gone, WriteOptions{})
		require.NoError(t, err)
		_, err = tx.Insert(testTable, row(3, "c", 1), WriteOptions{Pair: lsn})
		require.NoError(t, err)
		_, err = tx.LogMarker(testTable, []byte("m"))
		require.NoError(t, err)
		require.NoError(t, tx.PutMeta("k", []byte("v")))
	})
	before := dump(db)
	size := db.file.size
	for range 2 {
		s = reopen(t, s, opts)
		require.Equal(t, before, dump(s.Database(5)))
		require.Less(t, s.Database(5).file.size, size/10)
	}
	inTxn(t, s.Database(5), func(tx *Txn) { insert(t, tx, row(5, "after", 1)) })
	before = dump(s.Database(5))
	s = reopen(t, s, opts)
	require.Equal(t, before, dump(s.Database(5)))
	require.NoError(t, s.Close())
}

func TestFile_DatabasesComeAndGo(t *testing.T) {
	opts := Options{Dir: t.TempDir()}
	s, err := Open(opts)
	require.NoError(t, err)
	a, err := s.CreateDatabase("a", 5)
	require.NoError(t, err)
	_, err = s.CreateDatabase("b", 6)
	require.NoError(t, err)
	_, err = s.CreateDatabase("c", 6)
	require.ErrorContains(t, err, "not free")
	_, err = Open(opts)
	require.ErrorIs(t, err, ErrDirInUse)

	tx := a.Begin(TxnOptions{})
	require.NoError(t, tx.PutMeta("k", []byte("v")))
	require.NoError(t, s.DropDatabase(5))
	require.NoFileExists(t, filePath(opts.Dir, 5))
	_, err = tx.Commit()
	require.ErrorContains(t, err, "is closed")
	require.Error(t, s.DropDatabase(5))
	require.NoError(t, os.WriteFile(filePath(opts.Dir, 9)+tempSuffix, []byte("x"), 0o644))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())

	s, err = Open(opts)
	require.NoError(t, err)
	defer s.Close()
	require.Len(t, s.Databases(), 1)
	require.Equal(t, "b", s.Databases()[0].Name())
	require.NoFileExists(t, filePath(opts.Dir, 9)+tempSuffix)
}

func TestFile_FailedWriteRollsBack(t *testing.T) {
	_, s, db := newFileDatabase(t)
	require.NoError(t, db.file.f.Close())
	tx := db.Begin(TxnOptions{})
	insert(t, tx, row(1, "a", 1))
	_, err := tx.Commit()
	require.ErrorContains(t, err, "committing")
	require.True(t, tx.Done())
	require.Zero(t, db.RowCount(testTable))
	db.file = nil
	require.NoError(t, s.Close())
}

func TestFile_FilteredIndexIsResolvedAfterOpen(t *testing.T) {
	opts, s, db := newFileDatabase(t)
	positive := func(r Row) bool { return r[2].Int64() > 0 }
	inTxn(t, db, func(tx *Txn) {
		require.NoError(t, tx.CreateIndex(testTable, IndexDef{
			ID: 4, Columns: []IndexColumn{{Ordinal: 0}}, Filter: positive, FilterSource: "n > 0",
		}))
		insert(t, tx, row(1, "a", 1))
		insert(t, tx, row(2, "b", 0))
	})
	s = reopen(t, s, opts)
	defer s.Close()
	db = s.Database(5)
	tx := db.Begin(TxnOptions{})
	defer tx.Rollback()
	_, err := tx.Insert(testTable, row(3, "c", 1), WriteOptions{})
	require.ErrorContains(t, err, "not resolved")
	require.NoError(t, db.ResolveFilters(func(def TableDef, ix IndexDef) (func(Row) bool, error) {
		require.Equal(t, "n > 0", ix.FilterSource)
		return positive, nil
	}))
	insert(t, tx, row(3, "c", 1))
	require.Equal(t, []int64{1, 3}, ids(t, tx, 4, Range{}, ScanOptions{}))
}
