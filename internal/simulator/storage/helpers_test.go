package storage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

const testTable = 100

// openStore opens a store that is closed with the test.
func openStore(t testing.TB, opts Options) *Store {
	t.Helper()
	s, err := Open(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// newTestDatabase returns a database in memory with the table of testTableDef.
func newTestDatabase(t testing.TB) *Database {
	t.Helper()
	db, err := openStore(t, Options{}).CreateDatabase("test", 5)
	require.NoError(t, err)
	createTestTable(t, db)
	return db
}

// newFileDatabase is newTestDatabase in a folder, for a test that closes the store
// and opens it again.
func newFileDatabase(t *testing.T) (Options, *Store, *Database) {
	t.Helper()
	opts := Options{Dir: t.TempDir()}
	s, err := Open(opts)
	require.NoError(t, err)
	db, err := s.CreateDatabase("test", 5)
	require.NoError(t, err)
	createTestTable(t, db)
	return opts, s, db
}

func createTestTable(t testing.TB, db *Database) {
	t.Helper()
	inTxn(t, db, func(tx *Txn) { require.NoError(t, tx.CreateTable(testTableDef())) })
}

// testTableDef is (id int clustered unique, name nvarchar(50) unique, n int indexed).
func testTableDef() TableDef {
	return TableDef{
		ID: testTable, Name: "dbo.t",
		Columns: []sqltypes.Type{sqltypes.Simple(sqltypes.Int), sqltypes.NVarCharOf(50), sqltypes.Simple(sqltypes.Int)},
		Indexes: []IndexDef{
			{ID: 1, Unique: true, Columns: []IndexColumn{{Ordinal: 0}}},
			{ID: 2, Unique: true, Columns: []IndexColumn{{Ordinal: 1}}},
			{ID: 3, Columns: []IndexColumn{{Ordinal: 2, Desc: true}, {Ordinal: 0}}},
		},
	}
}

func row(id int64, name string, n int64) Row {
	return Row{sqltypes.IntOf(id), sqltypes.StringOf(name), sqltypes.IntOf(n)}
}

// inTxn commits what f does.
func inTxn(t testing.TB, db *Database, f func(*Txn)) CommitInfo {
	t.Helper()
	tx := db.Begin(TxnOptions{})
	defer tx.Rollback()
	f(tx)
	info, err := tx.Commit()
	require.NoError(t, err)
	return info
}

func insert(t testing.TB, tx *Txn, r Row) RowID {
	t.Helper()
	id, err := tx.Insert(testTable, r, WriteOptions{})
	require.NoError(t, err)
	return id
}

// ids returns the first column of the rows of a scan.
func ids(t testing.TB, tx *Txn, index int, rng Range, opts ScanOptions) []int64 {
	t.Helper()
	it := tx.Scan(testTable, index, rng, opts)
	defer it.Close()
	var list []int64
	for {
		_, r, ok := it.Next()
		if !ok {
			require.NoError(t, it.Err())
			return list
		}
		list = append(list, r[0].Int64())
	}
}

// names returns the second column of all rows in the order of the clustered index.
func names(t testing.TB, tx *Txn) []string {
	t.Helper()
	it := tx.Scan(testTable, BaseIndex, Range{}, ScanOptions{})
	defer it.Close()
	var list []string
	for {
		_, r, ok := it.Next()
		if !ok {
			require.NoError(t, it.Err())
			return list
		}
		list = append(list, r[1].Str())
	}
}

func requireNumber(t testing.TB, number int32, err error) {
	t.Helper()
	var e *sqltypes.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, number, e.Number, e.Message)
}

func ints(values ...int64) []sqltypes.Value {
	list := make([]sqltypes.Value, len(values))
	for i, v := range values {
		list[i] = sqltypes.IntOf(v)
	}
	return list
}
