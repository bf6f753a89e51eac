package storage

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// seedFile returns the bytes of a file with most kinds of records.
func seedFile(tb testing.TB) []byte {
	tb.Helper()
	dir := tb.TempDir()
	s, err := Open(Options{Dir: dir})
	require.NoError(tb, err)
	db, err := s.CreateDatabase("fuzz", 5)
	require.NoError(tb, err)
	require.NoError(tb, db.SetLogRetention(true))
	createTestTable(tb, db)
	var info CommitInfo
	inTxn(tb, db, func(tx *Txn) {
		id := insert(tb, tx, row(1, "a", 1))
		require.NoError(tb, tx.Update(testTable, id, row(2, "b", 2), WriteOptions{}))
		require.NoError(tb, tx.PutMeta("k", []byte("v")))
		db.AddCounter("c", 1)
	})
	info = inTxn(tb, db, func(tx *Txn) {
		require.NoError(tb, tx.AlterTable(testTableDef(), nil))
		require.NoError(tb, tx.DropIndex(testTable, 2))
		_, err := tx.LogMarker(testTable, []byte("m"))
		require.NoError(tb, err)
	})
	require.NoError(tb, db.TruncateLog(info.LSN))
	inTxn(tb, db, func(tx *Txn) { insert(tb, tx, row(3, "c", 1)) })
	require.NoError(tb, db.writeCompacted(&logFile{f: scratch(tb)}))
	require.NoError(tb, s.Close())
	b, err := os.ReadFile(filePath(dir, 5))
	require.NoError(tb, err)
	return b
}

func scratch(tb testing.TB) *os.File {
	tb.Helper()
	f, err := os.Create(filepath.Join(tb.TempDir(), "scratch"))
	require.NoError(tb, err)
	tb.Cleanup(func() { f.Close() })
	return f
}

// compactedSeed returns the bytes of a compacted file.
func compactedSeed(tb testing.TB) []byte {
	tb.Helper()
	db := loggingDatabase(tb, Options{})
	inTxn(tb, db, func(tx *Txn) {
		id := insert(tb, tx, row(1, "a", 1))
		require.NoError(tb, tx.Update(testTable, id, row(2, "b", 2), WriteOptions{}))
		_, err := tx.Delete(testTable, id, WriteOptions{})
		require.NoError(tb, err)
		insert(tb, tx, row(1, "a", 1))
	})
	f := scratch(tb)
	require.NoError(tb, db.writeCompacted(&logFile{f: f}))
	b, err := os.ReadFile(f.Name())
	require.NoError(tb, err)
	return b
}

// FuzzFile replays damaged files. They may be refused, but without a panic; what is
// accepted is the same when it is read again without the part that was cut.
func FuzzFile(f *testing.F) {
	f.Add(seedFile(f), false)
	f.Add(compactedSeed(f), true)
	s := openStore(f, Options{})
	f.Fuzz(func(t *testing.T, data []byte, fixSums bool) {
		if fixSums {
			data = withValidSums(data)
		}
		db, end, err := s.replay(bytes.NewReader(data), int64(len(data)), "fuzz")
		if err != nil {
			require.ErrorAs(t, err, new(*CorruptFileError))
			return
		}
		again, endAgain, err := s.replay(bytes.NewReader(data[:end]), end, "fuzz")
		require.NoError(t, err)
		require.Equal(t, end, endAgain)
		require.Equal(t, dump(db), dump(again))
	})
}

// withValidSums makes frames whose payload was damaged pass their checksum, so that the
// fuzzer reaches the decoders.
func withValidSums(data []byte) []byte {
	data = append([]byte(nil), data...)
	for off := 0; len(data)-off >= frameHeaderSize; {
		f := data[off:]
		length := int(uint32(f[4]) | uint32(f[5])<<8 | uint32(f[6])<<16 | uint32(f[7])<<24)
		if length > len(f)-frameHeaderSize {
			break
		}
		f = f[:frameHeaderSize+length]
		more := f[frameHeaderSize-1]&frameMore != 0
		copy(f, frameMagic)
		endFrame(f, 0, more)
		off += len(f)
	}
	return data
}
