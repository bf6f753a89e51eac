package storage

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func loggingDatabase(t testing.TB, opts Options) *Database {
	t.Helper()
	db, err := openStore(t, opts).CreateDatabase("test", 5)
	require.NoError(t, err)
	require.NoError(t, db.SetLogRetention(true))
	createTestTable(t, db)
	return db
}

// Patterns of a SQL Server 2025's change table (cmettler/fabricator-extension): two
// inserts in one transaction have the slots right before their commit's; each
// transaction has a block of its own, 8 units after the last.
func TestLog_LSNPattern(t *testing.T) {
	db := loggingDatabase(t, Options{})
	var id RowID
	first := inTxn(t, db, func(tx *Txn) {
		id = insert(t, tx, row(1, "a", 1))
		insert(t, tx, row(2, "b", 1))
	})
	second := inTxn(t, db, func(tx *Txn) {
		require.NoError(t, tx.Update(testTable, id, row(1, "c", 1), WriteOptions{}))
	})
	txns := db.ReadLog(LSN{}, 10)
	require.Len(t, txns, 2, "DDL alone is no logged transaction")

	vlf, block, commitSlot := first.LSN.Parts()
	require.Equal(t, first.LSN, txns[0].CommitLSN)
	require.Equal(t, MakeLSN(vlf, block, commitSlot-2), txns[0].Records[0].LSN)
	require.Equal(t, MakeLSN(vlf, block, commitSlot-1), txns[0].Records[1].LSN)
	require.Equal(t, MakeLSN(vlf, block, commitSlot-3), txns[0].BeginLSN)

	require.Equal(t, MakeLSN(vlf, block+8, 3), second.LSN)
	require.Equal(t, MakeLSN(vlf, block+8, 2), txns[1].Records[0].LSN)
	require.Equal(t, second.LSN, db.LastCommitLSN())
}

func TestLog_Records(t *testing.T) {
	db := loggingDatabase(t, Options{})
	inTxn(t, db, func(tx *Txn) {
		a := insert(t, tx, row(1, "a", 1))
		require.NoError(t, tx.Update(testTable, a, row(1, "b", 2), WriteOptions{}))
		m := tx.Mark()
		insert(t, tx, row(9, "undone", 2))
		require.NoError(t, tx.Undo(m))
		_, err := tx.Insert(testTable, row(5, "unlogged", 2), WriteOptions{Unlogged: true})
		require.NoError(t, err)
		deleted, err := tx.Delete(testTable, a, WriteOptions{})
		require.NoError(t, err)
		_, err = tx.Insert(testTable, row(2, "b", 2), WriteOptions{Pair: deleted})
		require.NoError(t, err)
		_, err = tx.LogMarker(testTable, []byte("ALTER"))
		require.NoError(t, err)
	})
	records := db.ReadLog(LSN{}, 10)[0].Records
	require.Len(t, records, 5)
	type image struct {
		op            LogOp
		before, after Row
		marker        string
	}
	var got []image
	for i, r := range records {
		got = append(got, image{r.Op, r.Before, r.After, string(r.Marker)})
		require.Equal(t, int64(testTable), r.Table)
		if i > 0 {
			require.Positive(t, r.LSN.Compare(records[i-1].LSN))
		}
	}
	require.Equal(t, []image{
		{LogInsert, nil, row(1, "a", 1), ""},
		{LogUpdate, row(1, "a", 1), row(1, "b", 2), ""},
		{LogDelete, row(1, "b", 2), nil, ""},
		{LogInsert, nil, row(2, "b", 2), ""},
		{LogMarker, nil, nil, "ALTER"},
	}, got)
	require.Equal(t, records[2].LSN, records[3].PairLSN)
}

func TestLog_TruncateAndRetention(t *testing.T) {
	db := loggingDatabase(t, Options{})
	var commits []LSN
	for i := range int64(5) {
		info := inTxn(t, db, func(tx *Txn) { insert(t, tx, row(i, strconv.Itoa(int(i)), i)) })
		commits = append(commits, info.LSN)
	}
	read := func(after LSN, limit int) (list []LSN) {
		for _, txn := range db.ReadLog(after, limit) {
			list = append(list, txn.CommitLSN)
		}
		return list
	}
	require.Equal(t, commits, read(LSN{}, 10))
	require.Equal(t, commits[2:4], read(commits[1], 2))
	require.NoError(t, db.TruncateLog(commits[2]))
	require.Equal(t, commits[3:], read(LSN{}, 10))

	alone := db.AllocLSN()
	require.Positive(t, alone.Compare(commits[4]))
	later := inTxn(t, db, func(tx *Txn) { insert(t, tx, row(10, "x", 1)) })
	require.Negative(t, alone.Compare(later.LSN))

	require.True(t, db.LogRetention())
	require.NoError(t, db.SetLogRetention(false))
	require.Empty(t, read(LSN{}, 10))
	inTxn(t, db, func(tx *Txn) { insert(t, tx, row(11, "y", 1)) })
	require.Empty(t, read(LSN{}, 10))
}

// Records of transactions that run at the same time interleave; the order of the log is
// that of the commits.
func TestLog_CommitOrder(t *testing.T) {
	db := loggingDatabase(t, Options{})
	a, b := db.Begin(TxnOptions{}), db.Begin(TxnOptions{})
	insert(t, a, row(1, "a1", 1))
	insert(t, b, row(2, "b1", 1))
	insert(t, a, row(3, "a2", 1))
	for _, tx := range []*Txn{b, a} {
		_, err := tx.Commit()
		require.NoError(t, err)
	}
	txns := db.ReadLog(LSN{}, 10)
	require.Equal(t, []uint64{b.ID(), a.ID()}, []uint64{txns[0].ID, txns[1].ID})
	require.Negative(t, txns[1].Records[0].LSN.Compare(txns[0].Records[0].LSN))
	require.Negative(t, txns[0].CommitLSN.Compare(txns[1].CommitLSN))
}

func TestLog_Times(t *testing.T) {
	clock := &setClock{now: time.Date(2024, 1, 2, 3, 4, 5, 6, time.UTC)}
	db := loggingDatabase(t, Options{Clock: clock})
	tx := db.Begin(TxnOptions{})
	begin := clock.advance(time.Minute)
	insert(t, tx, row(1, "a", 1))
	end := clock.advance(time.Minute)
	_, err := tx.Commit()
	require.NoError(t, err)
	clock.advance(-time.Hour)
	inTxn(t, db, func(tx *Txn) { insert(t, tx, row(2, "b", 1)) })
	logged := db.ReadLog(LSN{}, 2)
	require.Equal(t, begin, logged[0].BeginTime, "the begin is the first write")
	require.Equal(t, end, logged[0].CommitTime)
	require.Equal(t, end, logged[1].CommitTime, "the order of times is that of LSNs")
}

// setClock shows the time that a test sets.
type setClock struct {
	SystemClock
	now time.Time
}

func (c *setClock) Now() time.Time { return c.now }

func (c *setClock) advance(d time.Duration) time.Time {
	c.now = c.now.Add(d)
	return c.now
}

func TestLSNAllocator(t *testing.T) {
	t.Run("grows through blocks and VLFs", func(t *testing.T) {
		a := newLSNAllocator()
		last := a.next(100)
		vlfs := map[uint32]bool{}
		for i := range 200_000 {
			lsn := a.next(i % 5000)
			if i%3 == 0 {
				lsn = a.commit()
			}
			require.Positive(t, lsn.Compare(last))
			last = lsn
			vlf, block, slot := lsn.Parts()
			vlfs[vlf] = true
			require.Zero(t, block%8)
			require.NotZero(t, slot)
		}
		require.Greater(t, len(vlfs), 2)
	})
	t.Run("continues after a commit", func(t *testing.T) {
		a := newLSNAllocator()
		a.after(MakeLSN(0x2d, 0x580, 0x1d))
		require.Equal(t, MakeLSN(0x2d, 0x588, 1), a.next(10))
		a.after(MakeLSN(0x2d, 0x500, 1))
		require.Equal(t, MakeLSN(0x2d, 0x588, 2), a.next(10), "never goes back")
	})
	require.Equal(t, "0000002d:00000580:001d", MakeLSN(0x2d, 0x580, 0x1d).String())
}

func TestCounters(t *testing.T) {
	db := newTestDatabase(t)
	require.Equal(t, int64(0), db.Counter("identity/1"))
	require.Equal(t, int64(5), db.AddCounter("identity/1", 5))
	db.SetCounter("identity/12", -3)
	db.SetCounter("other", 1)
	db.DeleteCounters("identity/1")
	require.Zero(t, db.Counter("identity/12"))
	require.Equal(t, int64(1), db.Counter("other"))
}

func TestRows_AreCheckedAgainstTheTable(t *testing.T) {
	db := newTestDatabase(t)
	tx := db.Begin(TxnOptions{})
	defer tx.Rollback()
	_, err := tx.Insert(testTable, Row{sqltypes.Null()}, WriteOptions{})
	require.ErrorContains(t, err, "3 columns")
	_, err = tx.Insert(7, row(1, "a", 1), WriteOptions{})
	require.ErrorAs(t, err, new(*NoTableError))
}
