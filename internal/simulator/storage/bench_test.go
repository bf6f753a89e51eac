package storage

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

const benchRows = 1_000_000

// changeTableDef has the shape of a change table: five columns of its own, ten captured
// ones, clustered by (start_lsn, command_id, seqval, operation).
func changeTableDef() TableDef {
	lsn := sqltypes.BinaryOf(10)
	integer := sqltypes.Simple(sqltypes.Int)
	def := TableDef{ID: testTable, Columns: []sqltypes.Type{lsn, lsn, lsn, integer, sqltypes.VarBinaryOf(128)}}
	for range 5 {
		def.Columns = append(def.Columns, sqltypes.Simple(sqltypes.BigInt), sqltypes.NVarCharOf(50))
	}
	def.Columns = append(def.Columns, integer)
	def.Indexes = []IndexDef{{ID: 1, Unique: true, Columns: []IndexColumn{{Ordinal: 0}, {Ordinal: 15}, {Ordinal: 2}, {Ordinal: 3}}}}
	return def
}

func changeRow(start, seq LSN, command int64) Row {
	r := Row{
		sqltypes.RawOf(string(start[:])), sqltypes.Null(), sqltypes.RawOf(string(seq[:])),
		sqltypes.IntOf(2), sqltypes.RawOf("\x03\xff"),
	}
	for range 5 {
		r = append(r, sqltypes.IntOf(command), sqltypes.StringOf("some text of a row"))
	}
	return append(r, sqltypes.IntOf(command))
}

func fillChangeTable(tb testing.TB, db *Database, n int) {
	inTxn(tb, db, func(tx *Txn) { require.NoError(tb, tx.CreateTable(changeTableDef())) })
	alloc := newLSNAllocator()
	inTxn(tb, db, func(tx *Txn) {
		for done := 0; done < n; {
			rows := make([]Row, 0, 10)
			for i := range 10 {
				rows = append(rows, changeRow(LSN{}, alloc.next(300), int64(i+1)))
			}
			commit := alloc.commit()
			for _, r := range rows {
				r[0] = sqltypes.RawOf(string(commit[:]))
				_, err := tx.Insert(testTable, r, WriteOptions{Unlogged: true})
				require.NoError(tb, err)
			}
			done += len(rows)
		}
	})
}

func BenchmarkDrainChangeTable(b *testing.B) {
	db, err := openStore(b, Options{}).CreateDatabase("bench", 5)
	require.NoError(b, err)
	fillChangeTable(b, db, benchRows)
	for name, opts := range map[string]TxnOptions{"read committed": {}, "snapshot": {Isolation: Snapshot}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				tx := db.Begin(opts)
				first := LSN{}
				it := tx.Scan(testTable, 1, Range{Low: []sqltypes.Value{sqltypes.RawOf(string(first[:]))}, High: []sqltypes.Value{sqltypes.RawOf("\xff")}}, ScanOptions{})
				n := 0
				for {
					_, _, ok := it.Next()
					if !ok {
						break
					}
					n++
				}
				require.NoError(b, it.Err())
				require.Equal(b, benchRows, n)
				tx.Rollback()
			}
			b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkSeek(b *testing.B) {
	db, err := openStore(b, Options{}).CreateDatabase("bench", 5)
	require.NoError(b, err)
	fillChangeTable(b, db, 100_000)
	it := db.Begin(TxnOptions{}).Scan(testTable, 1, Range{}, ScanOptions{})
	var keys []sqltypes.Value
	for {
		_, r, ok := it.Next()
		if !ok {
			break
		}
		keys = append(keys, r[0])
	}
	b.ReportAllocs()
	i := 0
	tx := db.Begin(TxnOptions{})
	defer tx.Rollback()
	for b.Loop() {
		it := tx.Scan(testTable, 1, Point(keys[i%len(keys)]), ScanOptions{})
		_, _, ok := it.Next()
		require.True(b, ok)
		i += 977
	}
}

func BenchmarkLoadAndReadLog(b *testing.B) {
	for _, dir := range []string{"memory", "file"} {
		b.Run(dir, func(b *testing.B) {
			for b.Loop() {
				opts := Options{}
				if dir == "file" {
					opts.Dir = b.TempDir()
				}
				db, err := openStore(b, opts).CreateDatabase("bench", 5)
				require.NoError(b, err)
				require.NoError(b, db.SetLogRetention(true))
				inTxn(b, db, func(tx *Txn) { require.NoError(b, tx.CreateTable(testTableDef())) })
				inTxn(b, db, func(tx *Txn) {
					for i := range int64(benchRows) {
						insert(b, tx, row(i, strconv.Itoa(int(i)), i))
					}
				})
				require.Len(b, db.ReadLog(LSN{}, 10)[0].Records, benchRows)
			}
			b.ReportMetric(float64(benchRows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
