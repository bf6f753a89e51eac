package storage

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTxn_CommitAndRollback(t *testing.T) {
	db := newTestDatabase(t)
	tx := db.Begin(TxnOptions{})
	id := insert(t, tx, row(1, "a", 1))
	require.Equal(t, []string{"a"}, names(t, tx))
	tx.Rollback()
	tx.Rollback()
	require.True(t, tx.Done())
	_, err := tx.Insert(testTable, row(1, "a", 1), WriteOptions{})
	require.ErrorIs(t, err, ErrTxnDone)
	_, err = tx.Commit()
	require.ErrorIs(t, err, ErrTxnDone)

	inTxn(t, db, func(tx *Txn) {
		require.Empty(t, names(t, tx))
		require.ErrorIs(t, tx.Update(testTable, id, row(1, "a", 1), WriteOptions{}), ErrRowNotFound)
		again := insert(t, tx, row(1, "a", 1))
		require.Greater(t, again, id, "row ids are never used twice")
	})
}

func TestTxn_Savepoints(t *testing.T) {
	db := newTestDatabase(t)
	tx := db.Begin(TxnOptions{})
	defer tx.Rollback()
	a := insert(t, tx, row(1, "a", 1))
	require.NoError(t, tx.Savepoint("s"))
	require.NoError(t, tx.Update(testTable, a, row(1, "b", 2), WriteOptions{}))
	require.NoError(t, tx.Savepoint("s"))
	insert(t, tx, row(2, "c", 1))
	_, err := tx.Delete(testTable, a, WriteOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, names(t, tx))

	require.NoError(t, tx.RollbackTo("s"))
	require.Equal(t, []string{"b"}, names(t, tx))
	insert(t, tx, row(2, "a", 1))
	require.NoError(t, tx.RollbackTo("s"), "the newest of two savepoints stays")
	require.Equal(t, []string{"b"}, names(t, tx))
	require.ErrorIs(t, tx.RollbackTo("other"), ErrNoSavepoint)

	m := tx.Mark()
	insert(t, tx, row(2, "d", 1))
	require.NoError(t, tx.Undo(m))
	require.Equal(t, []string{"b"}, names(t, tx))
	require.Equal(t, []int64{1}, ids(t, tx, 3, Range{}, ScanOptions{}))
}

// MS docs, ROLLBACK TRANSACTION: rolling back to a savepoint frees the locks taken
// after it, "with the exception of escalations and conversions".
func TestTxn_RollbackToFreesLaterLocks(t *testing.T) {
	db := newTestDatabase(t)
	tx := db.Begin(TxnOptions{})
	defer tx.Rollback()
	require.NoError(t, tx.LockTable(testTable, LockIS))
	require.NoError(t, tx.Savepoint("s"))
	require.NoError(t, tx.LockTable(testTable, LockS))
	require.NoError(t, tx.LockTable(testTable+1, LockX))
	require.NoError(t, tx.RollbackTo("s"))

	other := db.Begin(TxnOptions{LockTimeout: NoWait})
	defer other.Rollback()
	require.NoError(t, other.LockTable(testTable+1, LockX), "taken after the savepoint")
	requireNumber(t, 1222, other.LockTable(testTable, LockIX))
}

func TestTxn_IsolationLevels(t *testing.T) {
	tests := map[string]struct {
		opts TxnOptions
		rcsi bool
		scan ScanOptions
		// what a reader sees before, during and after another transaction's update; "!"
		// is a lock timeout.
		before, during, after string
	}{
		"read committed waits":            {TxnOptions{}, false, ScanOptions{}, "old", "!", "new"},
		"read uncommitted":                {TxnOptions{Isolation: ReadUncommitted}, false, ScanOptions{}, "old", "new", "new"},
		"nolock":                          {TxnOptions{}, false, ScanOptions{NoLock: true}, "old", "new", "new"},
		"read committed snapshot":         {TxnOptions{}, true, ScanOptions{}, "old", "old", "new"},
		"readcommittedlock":               {TxnOptions{}, true, ScanOptions{ReadCommittedLock: true}, "old", "!", "new"},
		"snapshot":                        {TxnOptions{Isolation: Snapshot}, false, ScanOptions{}, "old", "old", "old"},
		"readpast":                        {TxnOptions{}, false, ScanOptions{ReadPast: true}, "old", "", "new"},
		"tablock under uncommitted":       {TxnOptions{Isolation: ReadUncommitted}, false, ScanOptions{TableLock: LockS}, "old", "!", "new"},
		"holdlock is serializable":        {TxnOptions{}, false, ScanOptions{HoldLock: true}, "old", "!w", ""},
		"repeatable read":                 {TxnOptions{Isolation: RepeatableRead}, false, ScanOptions{}, "old", "!w", ""},
		"serializable":                    {TxnOptions{Isolation: Serializable}, false, ScanOptions{}, "old", "!w", ""},
		"updlock":                         {TxnOptions{}, false, ScanOptions{RowLock: LockU}, "old", "!w", ""},
		"xlock":                           {TxnOptions{}, false, ScanOptions{RowLock: LockX}, "old", "!w", ""},
		"tablockx":                        {TxnOptions{}, false, ScanOptions{TableLock: LockX}, "old", "!w", ""},
		"tablock ends with its statement": {TxnOptions{}, false, ScanOptions{TableLock: LockS}, "old", "!", "new"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			db := newTestDatabase(t)
			db.SetReadCommittedSnapshot(tt.rcsi)
			var id RowID
			inTxn(t, db, func(tx *Txn) { id = insert(t, tx, row(1, "old", 1)) })
			tt.opts.LockTimeout = NoWait
			reader := db.Begin(tt.opts)
			defer reader.Rollback()
			read := func() string {
				reader.BeginStatement(t.Context())
				defer reader.EndStatement()
				it := reader.Scan(testTable, BaseIndex, Range{}, tt.scan)
				defer it.Close()
				_, r, ok := it.Next()
				switch {
				case it.Err() != nil:
					requireNumber(t, 1222, it.Err())
					return "!"
				case !ok:
					return ""
				}
				return r[1].Str()
			}
			require.Equal(t, tt.before, read())
			writer := db.Begin(TxnOptions{LockTimeout: NoWait})
			defer writer.Rollback()
			err := writer.Update(testTable, id, row(1, "new", 1), WriteOptions{})
			if tt.during == "!w" {
				requireNumber(t, 1222, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.during, read())
			_, err = writer.Commit()
			require.NoError(t, err)
			require.Equal(t, tt.after, read())
		})
	}
}

func TestTxn_SnapshotUpdateConflict(t *testing.T) {
	db := newTestDatabase(t)
	var a, b RowID
	inTxn(t, db, func(tx *Txn) {
		a = insert(t, tx, row(1, "a", 1))
		b = insert(t, tx, row(2, "b", 1))
	})
	tx := db.Begin(TxnOptions{Isolation: Snapshot})
	require.Len(t, names(t, tx), 2)
	inTxn(t, db, func(tx *Txn) {
		_, err := tx.Delete(testTable, b, WriteOptions{})
		require.NoError(t, err)
	})
	require.NoError(t, tx.Update(testTable, a, row(1, "z", 1), WriteOptions{}))
	require.Equal(t, []string{"z", "b"}, names(t, tx), "own changes over the snapshot")
	requireNumber(t, 3960, tx.Update(testTable, b, row(2, "y", 1), WriteOptions{}))
	require.True(t, tx.Done(), "the conflict ends the transaction")
	inTxn(t, db, func(tx *Txn) { require.Equal(t, []string{"a"}, names(t, tx)) })
}

// Inserting the key of a row that was deleted since the snapshot conflicts: error 3960
// speaks of "update, delete, or insert the row that has been modified or deleted".
func TestTxn_SnapshotInsertOfADeletedKey(t *testing.T) {
	db := newTestDatabase(t)
	var a RowID
	inTxn(t, db, func(tx *Txn) { a = insert(t, tx, row(1, "a", 1)) })
	tx := db.Begin(TxnOptions{Isolation: Snapshot})
	require.Len(t, names(t, tx), 1)
	inTxn(t, db, func(tx *Txn) {
		_, err := tx.Delete(testTable, a, WriteOptions{})
		require.NoError(t, err)
	})
	_, err := tx.Insert(testTable, row(1, "b", 1), WriteOptions{})
	requireNumber(t, 3960, err)
	require.True(t, tx.Done())
	inTxn(t, db, func(tx *Txn) { insert(t, tx, row(1, "b", 1)) })
}

func TestTxn_SnapshotBeginsAtFirstAccess(t *testing.T) {
	db := newTestDatabase(t)
	tx := db.Begin(TxnOptions{Isolation: Snapshot})
	defer tx.Rollback()
	inTxn(t, db, func(tx *Txn) { insert(t, tx, row(1, "a", 1)) })
	require.Equal(t, []string{"a"}, names(t, tx))
	inTxn(t, db, func(tx *Txn) { insert(t, tx, row(2, "b", 1)) })
	require.Equal(t, []string{"a"}, names(t, tx))
	tx.EndStatement()
	inTxn(t, db, func(tx *Txn) {
		require.NoError(t, tx.AlterTable(testTableDef(), nil))
	})
	it := tx.Scan(testTable, BaseIndex, Range{}, ScanOptions{})
	_, _, ok := it.Next()
	require.False(t, ok)
	requireNumber(t, 3961, it.Err())
}

func TestTxn_SetIsolation(t *testing.T) {
	db := newTestDatabase(t)
	tx := db.Begin(TxnOptions{})
	defer tx.Rollback()
	require.NoError(t, tx.SetIsolation(Serializable))
	insert(t, tx, row(1, "a", 1))
	requireNumber(t, 3951, tx.SetIsolation(Snapshot))
	require.Equal(t, Serializable, tx.Isolation())
}

func TestTxn_UniqueKeys(t *testing.T) {
	db := newTestDatabase(t)
	var a RowID
	inTxn(t, db, func(tx *Txn) { a = insert(t, tx, row(1, "a", 1)) })
	inTxn(t, db, func(tx *Txn) {
		_, err := tx.Insert(testTable, row(1, "z", 1), WriteOptions{})
		var duplicate *DuplicateKeyError
		require.ErrorAs(t, err, &duplicate)
		require.Equal(t, 1, duplicate.Index)
		require.Equal(t, ints(1), duplicate.Key)
		_, err = tx.Insert(testTable, row(2, "A ", 1), WriteOptions{})
		require.ErrorAs(t, err, &duplicate)
		require.Equal(t, 2, duplicate.Index, "keys compare by collation, without trailing blanks")

		b := insert(t, tx, row(2, "b", 1))
		require.ErrorAs(t, tx.Update(testTable, b, row(2, "a", 1), WriteOptions{}), &duplicate)
		require.NoError(t, tx.Update(testTable, a, row(1, "c", 1), WriteOptions{}))
		require.NoError(t, tx.Update(testTable, b, row(2, "a", 1), WriteOptions{}), "the key was given up")
		_, err = tx.Delete(testTable, b, WriteOptions{})
		require.NoError(t, err)
		insert(t, tx, row(3, "a", 1))
		require.Equal(t, []string{"c", "a"}, names(t, tx))
	})
}

func TestTxn_ReadOnly(t *testing.T) {
	db := newTestDatabase(t)
	tx := db.Begin(TxnOptions{ReadOnly: true})
	defer tx.Rollback()
	_, err := tx.Insert(testTable, row(1, "a", 1), WriteOptions{})
	require.ErrorIs(t, err, ErrReadOnly)
	require.ErrorIs(t, tx.PutMeta("k", nil), ErrReadOnly)
	require.ErrorIs(t, tx.DropTable(testTable), ErrReadOnly)
}

func TestTxn_GetByID(t *testing.T) {
	db := newTestDatabase(t)
	var id RowID
	inTxn(t, db, func(tx *Txn) { id = insert(t, tx, row(1, "a", 1)) })
	snapshot := db.Begin(TxnOptions{Isolation: Snapshot})
	defer snapshot.Rollback()
	r, ok, err := snapshot.Get(testTable, id, ScanOptions{})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, row(1, "a", 1), r)

	writer := db.Begin(TxnOptions{})
	defer writer.Rollback()
	require.NoError(t, writer.Update(testTable, id, row(9, "b", 1), WriteOptions{}))
	r, _, err = snapshot.Get(testTable, id, ScanOptions{})
	require.NoError(t, err)
	require.Equal(t, row(1, "a", 1), r)
	r, _, err = snapshot.Get(testTable, id, ScanOptions{NoLock: true})
	require.NoError(t, err)
	require.Equal(t, row(9, "b", 1), r)
	_, ok, err = writer.Get(testTable, id+1, ScanOptions{})
	require.NoError(t, err)
	require.False(t, ok)
}

func TestMeta(t *testing.T) {
	db := newTestDatabase(t)
	all := func(prefix string) (keys []string) {
		db.ScanMeta(prefix, func(key string, value []byte) bool {
			keys = append(keys, key+"="+string(value))
			return true
		})
		return keys
	}
	inTxn(t, db, func(tx *Txn) {
		require.NoError(t, tx.PutMeta("table/1", []byte("one")))
		require.NoError(t, tx.PutMeta("table/2", []byte("two")))
		require.NoError(t, tx.PutMeta("user/1", nil))
		require.Error(t, tx.PutMeta("", nil))
	})
	require.Equal(t, []string{"table/1=one", "table/2=two"}, all("table/"))
	tx := db.Begin(TxnOptions{})
	require.NoError(t, tx.PutMeta("table/1", []byte("eins")))
	require.NoError(t, tx.DeleteMeta("table/2"))
	require.NoError(t, tx.DeleteMeta("missing"))
	value, ok := tx.Meta("table/1")
	require.True(t, ok)
	require.Equal(t, "eins", string(value))
	_, ok = tx.Meta("table/2")
	require.False(t, ok)
	require.Equal(t, []string{"table/1=one", "table/2=two"}, all("table/"), "not committed")
	_, err := tx.Commit()
	require.NoError(t, err)
	require.Equal(t, []string{"table/1=eins"}, all("table/"))
	require.Len(t, all(""), 2)
	_, ok = db.Meta("table")
	require.False(t, ok)
}

func TestDDL_IsUndone(t *testing.T) {
	db := newTestDatabase(t)
	inTxn(t, db, func(tx *Txn) { insert(t, tx, row(1, "a", 1)) })
	steps := map[string]func(*Txn) error{
		"create":       func(tx *Txn) error { return tx.CreateTable(TableDef{ID: 7, Columns: testTableDef().Columns}) },
		"truncate":     func(tx *Txn) error { return tx.TruncateTable(testTable) },
		"drop":         func(tx *Txn) error { return tx.DropTable(testTable) },
		"drop index":   func(tx *Txn) error { return tx.DropIndex(testTable, 2) },
		"drop cluster": func(tx *Txn) error { return tx.DropIndex(testTable, 1) },
		"create index": func(tx *Txn) error {
			return tx.CreateIndex(testTable, IndexDef{ID: 9, Columns: []IndexColumn{{Ordinal: 2}}})
		},
		"alter": func(tx *Txn) error {
			def := testTableDef()
			def.Columns = append(def.Columns, def.Columns[0])
			return tx.AlterTable(def, func(r Row) (Row, error) { return append(r[:3:3], r[0]), nil })
		},
	}
	before := db.Tables()
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			tx := db.Begin(TxnOptions{})
			require.NoError(t, step(tx))
			if db.table(testTable) != nil && name != "alter" {
				insert(t, tx, row(2, "b", 1))
			}
			tx.Rollback()
			require.Equal(t, before, db.Tables())
			tx = db.Begin(TxnOptions{})
			defer tx.Rollback()
			for _, index := range []int{0, 1, 2, 3} {
				require.Equal(t, []int64{1}, ids(t, tx, index, Range{}, ScanOptions{}))
			}
		})
	}
}

func TestDDL_CreateUniqueIndexOverDuplicates(t *testing.T) {
	db := newTestDatabase(t)
	inTxn(t, db, func(tx *Txn) {
		insert(t, tx, row(1, "a", 1))
		insert(t, tx, row(2, "b", 1))
		var duplicate *DuplicateKeyError
		err := tx.CreateIndex(testTable, IndexDef{ID: 9, Unique: true, Columns: []IndexColumn{{Ordinal: 2}}})
		require.ErrorAs(t, err, &duplicate)
		require.Equal(t, ints(1), duplicate.Key)
		require.ErrorAs(t, tx.DropIndex(testTable, 9), new(*NoIndexError))
	})
}

// Old versions and index entries go once no view needs them.
func TestGarbage_IsCollected(t *testing.T) {
	db := newTestDatabase(t)
	var id RowID
	inTxn(t, db, func(tx *Txn) { id = insert(t, tx, row(1, "a", 0)) })
	reader := db.Begin(TxnOptions{Isolation: Snapshot})
	require.Equal(t, []string{"a"}, names(t, reader))
	for i := range int64(100) {
		inTxn(t, db, func(tx *Txn) { require.NoError(t, tx.Update(testTable, id, row(1, "b", i), WriteOptions{})) })
	}
	require.Equal(t, []string{"a"}, names(t, reader))
	tab := db.table(testTable)
	require.Greater(t, tab.indexes[2].tree.Len(), 50)
	reader.Rollback()
	require.Equal(t, 1, tab.indexes[2].tree.Len())
	require.Nil(t, tab.records.get(id).head.prev)
	inTxn(t, db, func(tx *Txn) {
		_, err := tx.Delete(testTable, id, WriteOptions{})
		require.NoError(t, err)
	})
	for _, ix := range tab.indexes {
		require.Zero(t, ix.tree.Len())
	}
	require.Zero(t, db.RowCount(testTable))
	require.Empty(t, tab.records.pages)
}
