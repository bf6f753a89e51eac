package storage

import (
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A backup has all that must survive, as of one moment, and none of what is not
// committed then; a restore has it under another name, in memory and in a folder.
func TestBackup_RoundTrip(t *testing.T) {
	for name, opts := range map[string]Options{"memory": {}, "folder": {Dir: t.TempDir()}} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(opts)
			require.NoError(t, err)
			db, err := s.CreateDatabase("source", 5)
			require.NoError(t, err)
			require.NoError(t, db.SetLogRetention(true))
			createTestTable(t, db)
			inTxn(t, db, func(tx *Txn) {
				for i := range int64(100) {
					insert(t, tx, row(i, strconv.Itoa(int(i)), i))
				}
				require.NoError(t, tx.PutMeta("doc", []byte("text")))
				db.AddCounter("identity", 7)
			})
			before := dump(db)
			open := db.Begin(TxnOptions{})
			insert(t, open, row(1000, "not committed", 1))
			data, last, err := db.Backup(t.Context(), TxnOptions{})
			require.NoError(t, err)
			require.Equal(t, db.LastCommitLSN(), last)
			open.Rollback()
			inTxn(t, db, func(tx *Txn) { insert(t, tx, row(2000, "later", 1)) })

			copied, err := s.RestoreDatabase(6, "copy", data)
			require.NoError(t, err)
			got := dump(copied)
			require.Equal(t, "copy", got.name)
			got.name = before.name
			got.nextIDs, before.nextIDs = nil, nil
			require.Equal(t, before, got)
			inTxn(t, copied, func(tx *Txn) { insert(t, tx, row(3000, "goes on", 1)) })

			// Over itself: LSNs go back to the backup's and on from there.
			again, err := s.RestoreDatabase(5, "source", data)
			require.NoError(t, err)
			require.Equal(t, last, again.LastCommitLSN())
			tx := db.Begin(TxnOptions{})
			insert(t, tx, row(4000, "in what was replaced", 1))
			_, err = tx.Commit()
			require.Error(t, err)
			if opts.Dir == "" {
				require.NoError(t, s.Close())
				return
			}
			s = reopen(t, s, opts)
			require.Len(t, dump(s.Database(5)).rows[testTable], 100)
			require.Len(t, dump(s.Database(6)).rows[testTable], 101)
			require.NoError(t, s.Close())
		})
	}
}

func TestBackup_DamagedIsRefused(t *testing.T) {
	db := newTestDatabase(t)
	inTxn(t, db, func(tx *Txn) { insert(t, tx, row(1, "a", 1)) })
	data, _, err := db.Backup(t.Context(), TxnOptions{})
	require.NoError(t, err)
	for n := range data {
		cut := append([]byte(nil), data...)
		cut[n] ^= 0x20
		_, err := db.store.RestoreDatabase(6, "copy", cut)
		require.Error(t, err, "byte %d", n)
	}
	require.Nil(t, db.store.Database(6))
}

// DDL that is not over is waited for.
func TestBackup_WaitsForDDL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newTestDatabase(t)
		ddl := db.Begin(TxnOptions{})
		require.NoError(t, ddl.CreateIndex(testTable, IndexDef{ID: 9, Columns: []IndexColumn{{Ordinal: 2}}}))
		var data []byte
		var wg sync.WaitGroup
		wg.Go(func() {
			var err error
			if data, _, err = db.Backup(t.Context(), TxnOptions{}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		_, err := ddl.Commit()
		require.NoError(t, err)
		wg.Wait()
		copied, err := db.store.RestoreDatabase(6, "copy", data)
		require.NoError(t, err)
		require.Len(t, copied.Tables()[0].Indexes, 4)
	})
}

func TestParseLSN(t *testing.T) {
	l := MakeLSN(0x2d, 0x580, 0x1d)
	got, err := ParseLSN(l.String())
	require.NoError(t, err)
	require.Equal(t, l, got)
	for _, text := range []string{"", "0000002d:00000580:001", "0000002d00000580001d", "0000002D:00000580:001d", "0000002d:00000580:001d0", "xxxxxxxx:00000580:001d"} {
		_, err := ParseLSN(text)
		require.Error(t, err, "%q", text)
	}
}
