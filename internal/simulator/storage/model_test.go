package storage

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// modelRow is a row of testTableDef without its key.
type modelRow struct {
	name string
	n    int64
}

// modelTable maps keys to rows.
type modelTable map[int64]modelRow

// modelTxn is a transaction and what the model expects of it: a base and what it has
// changed itself; a nil row is a deletion.
type modelTxn struct {
	tx         *Txn
	isolation  Isolation
	base       modelTable // under Snapshot, from the first access on
	baseStamps map[int64]int
	own        map[int64]*modelRow
	savepoints []map[int64]*modelRow
}

// model is a database beside plain maps. Locks are never waited for, so that one
// goroutine can run all transactions: what is in the way is error 1222.
type model struct {
	dir       string
	store     *Store
	db        *Database
	committed modelTable
	stamps    map[int64]int // number of the last commit that touched a key
	commits   int
	open      []*modelTxn
}

// TestModel runs random transactions with savepoints, rollbacks, conflicts and crashes
// against plain maps.
func TestModel(t *testing.T) {
	tempDir := t.TempDir
	rapid.Check(t, func(t *rapid.T) {
		m := &model{committed: modelTable{}, stamps: map[int64]int{}}
		if rapid.IntRange(0, 3).Draw(t, "durable") == 0 {
			m.dir = tempDir()
		}
		m.create(t)
		t.Cleanup(func() { m.crash(t) })
		t.Repeat(map[string]func(*rapid.T){
			"begin":    m.begin,
			"insert":   m.insert,
			"update":   m.update,
			"update2":  m.update,
			"delete":   m.delete,
			"save":     m.savepoint,
			"undo":     m.rollbackTo,
			"commit":   m.commit,
			"rollback": m.rollback,
			"reopen":   m.reopen,
			"":         m.check,
		})
	})
}

func (m *model) create(t *rapid.T) {
	var err error
	m.store, err = Open(Options{Dir: m.dir})
	require.NoError(t, err)
	m.db, err = m.store.CreateDatabase("model", 5)
	require.NoError(t, err)
	require.NoError(t, m.db.SetLogRetention(true))
	m.db.SetReadCommittedSnapshot(true)
	tx := m.db.Begin(TxnOptions{})
	require.NoError(t, tx.CreateTable(testTableDef()))
	_, err = tx.Commit()
	require.NoError(t, err)
}

func (m *model) begin(t *rapid.T) {
	if len(m.open) == 4 {
		t.Skip("enough transactions")
	}
	mt := &modelTxn{isolation: rapid.SampledFrom([]Isolation{ReadCommitted, Snapshot}).Draw(t, "isolation"), own: map[int64]*modelRow{}}
	mt.tx = m.db.Begin(TxnOptions{Isolation: mt.isolation, LockTimeout: NoWait})
	m.open = append(m.open, mt)
}

// pick returns an open transaction at the start of a statement.
func (m *model) pick(t *rapid.T) *modelTxn {
	if len(m.open) == 0 {
		t.Skip("no transaction")
	}
	mt := rapid.SampledFrom(m.open).Draw(t, "txn")
	mt.tx.BeginStatement(t.Context())
	return mt
}

// access fixes a snapshot.
func (m *model) access(mt *modelTxn) {
	if mt.isolation == Snapshot && mt.base == nil {
		mt.base, mt.baseStamps = maps.Clone(m.committed), maps.Clone(m.stamps)
	}
}

// overlay returns the base with the transaction's own changes.
func (mt *modelTxn) overlay(base modelTable) modelTable {
	view := maps.Clone(base)
	for key, r := range mt.own {
		if r == nil {
			delete(view, key)
		} else {
			view[key] = *r
		}
	}
	return view
}

// view is what the transaction sees, current what its writes meet.
func (m *model) view(mt *modelTxn) modelTable {
	if mt.isolation == Snapshot {
		return mt.overlay(mt.base)
	}
	return m.current(mt)
}

func (m *model) current(mt *modelTxn) modelTable { return mt.overlay(m.committed) }

func drawRow(t *rapid.T) (int64, modelRow) {
	key := rapid.Int64Range(0, 7).Draw(t, "key")
	return key, modelRow{name: fmt.Sprintf("n%d", rapid.IntRange(0, 7).Draw(t, "name")), n: rapid.Int64Range(0, 3).Draw(t, "n")}
}

func (m *model) insert(t *rapid.T) {
	mt := m.pick(t)
	m.access(mt)
	key, r := drawRow(t)
	_, err := mt.tx.Insert(testTable, row(key, r.name, r.n), WriteOptions{})
	if m.wrote(t, mt, err, key, key, r) {
		mt.own[key] = &r
	}
}

func (m *model) update(t *rapid.T) {
	mt := m.pick(t)
	m.access(mt)
	from := rapid.Int64Range(0, 7).Draw(t, "from")
	id, ok := m.find(t, mt, from)
	if !ok {
		return
	}
	key, r := drawRow(t)
	err := mt.tx.Update(testTable, id, row(key, r.name, r.n), WriteOptions{})
	if m.wrote(t, mt, err, from, key, r) {
		mt.own[from] = nil
		mt.own[key] = &r
	}
}

func (m *model) delete(t *rapid.T) {
	mt := m.pick(t)
	m.access(mt)
	key := rapid.Int64Range(0, 7).Draw(t, "key")
	id, ok := m.find(t, mt, key)
	if !ok {
		return
	}
	_, err := mt.tx.Delete(testTable, id, WriteOptions{})
	if m.wrote(t, mt, err, key, key, modelRow{}) {
		mt.own[key] = nil
	}
}

// find looks a key up by index and compares the row with the model.
func (m *model) find(t *rapid.T, mt *modelTxn, key int64) (RowID, bool) {
	it := mt.tx.Scan(testTable, 1, Point(sqltypes.IntOf(key)), ScanOptions{})
	defer it.Close()
	id, r, ok := it.Next()
	require.NoError(t, it.Err())
	want, exists := m.view(mt)[key]
	require.Equal(t, exists, ok, "key %d", key)
	if ok {
		require.Equal(t, row(key, want.name, want.n), r)
	}
	return id, ok
}

// wrote judges the outcome of a write that moves the row from one key to another, and
// reports whether it took place.
func (m *model) wrote(t *rapid.T, mt *modelTxn, err error, from, key int64, r modelRow) bool {
	current := m.current(mt)
	var duplicate *DuplicateKeyError
	var number *sqltypes.Error
	switch {
	case err == nil:
		require.False(t, m.contended(mt, from), "key %d is being changed by another transaction", from)
		if mt.isolation == Snapshot && mt.own[from] == nil && hasKey(mt.base, from) {
			require.Equal(t, mt.baseStamps[from], m.stamps[from], "a lost update of key %d", from)
		}
		return true
	case errors.As(err, &duplicate):
		_, taken := current[key]
		named := false
		for _, other := range current {
			named = named || other.name == r.name
		}
		require.True(t, duplicate.Index == 1 && taken || duplicate.Index == 2 && named, "%v", err)
	case errors.As(err, &number) && number.Number == 1222:
		require.Greater(t, len(m.open), 1)
	case errors.As(err, &number) && number.Number == 3960:
		require.Equal(t, Snapshot, mt.isolation)
		require.True(t, m.goneSince(mt, from, key, r.name))
		require.True(t, mt.tx.Done())
		m.close(mt)
	default:
		require.NoError(t, err)
	}
	return false
}

// goneSince reports that others have changed a row of the snapshot that has one of the
// keys or the name.
func (m *model) goneSince(mt *modelTxn, from, key int64, name string) bool {
	for k, r := range mt.base {
		if (k == from || k == key || r.name == name) && mt.baseStamps[k] != m.stamps[k] {
			return true
		}
	}
	return false
}

func hasKey(tab modelTable, key int64) bool {
	_, ok := tab[key]
	return ok
}

// contended reports that another transaction has the committed row of that key in
// its hands.
func (m *model) contended(mt *modelTxn, key int64) bool {
	if mt.own[key] != nil || !hasKey(m.committed, key) {
		return false
	}
	return slices.ContainsFunc(m.open, func(o *modelTxn) bool {
		_, touched := o.own[key]
		return o != mt && touched
	})
}

func (m *model) savepoint(t *rapid.T) {
	mt := m.pick(t)
	require.NoError(t, mt.tx.Savepoint(fmt.Sprint(len(mt.savepoints))))
	mt.savepoints = append(mt.savepoints, maps.Clone(mt.own))
}

func (m *model) rollbackTo(t *rapid.T) {
	mt := m.pick(t)
	if len(mt.savepoints) == 0 {
		t.Skip("no savepoint")
	}
	n := rapid.IntRange(0, len(mt.savepoints)-1).Draw(t, "savepoint")
	require.NoError(t, mt.tx.RollbackTo(fmt.Sprint(n)))
	mt.own = maps.Clone(mt.savepoints[n])
	mt.savepoints = mt.savepoints[:n+1]
}

func (m *model) commit(t *rapid.T) {
	mt := m.pick(t)
	_, err := mt.tx.Commit()
	require.NoError(t, err)
	m.committed = m.current(mt)
	m.commits++
	for key := range mt.own {
		m.stamps[key] = m.commits
	}
	m.close(mt)
}

func (m *model) rollback(t *rapid.T) {
	mt := m.pick(t)
	mt.tx.Rollback()
	m.close(mt)
}

func (m *model) close(mt *modelTxn) {
	m.open = slices.DeleteFunc(m.open, func(o *modelTxn) bool { return o == mt })
}

// crash leaves the files as the death of the process would.
func (m *model) crash(t *rapid.T) {
	m.open = nil
	if m.dir != "" {
		require.NoError(t, m.db.file.f.Close())
		m.db.file = nil
	}
	require.NoError(t, m.store.Close())
}

// reopen crashes in the middle of a write and opens the store again.
func (m *model) reopen(t *rapid.T) {
	if m.dir == "" {
		t.Skip("in memory")
	}
	before := dump(m.db)
	m.crash(t)
	path := filePath(m.dir, 5)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	torn := rapid.IntRange(0, len(whole)/2).Draw(t, "torn")
	require.NoError(t, os.WriteFile(path, append(whole, whole[:torn][min(torn, 1):]...), 0o644))
	m.store, err = Open(Options{Dir: m.dir})
	if torn > 0 && errors.As(err, new(*CorruptFileError)) {
		// The junk was a whole frame behind a damaged one.
		require.NoError(t, os.WriteFile(path, whole, 0o644))
		m.store, err = Open(Options{Dir: m.dir})
	}
	require.NoError(t, err)
	m.db = m.store.Database(5)
	m.db.SetReadCommittedSnapshot(true)
	after := dump(m.db)
	before.rows, before.nextIDs, after.nextIDs = after.rows, nil, nil // uncommitted rows; check compares the rest
	require.Equal(t, before, after)
}

// check compares every index as every transaction sees it, and the table with its log.
func (m *model) check(t *rapid.T) {
	reader := &modelTxn{tx: m.db.Begin(TxnOptions{}), own: map[int64]*modelRow{}}
	defer reader.tx.Rollback()
	for _, mt := range append(slices.Clone(m.open), reader) {
		mt.tx.BeginStatement(t.Context())
		m.access(mt)
		m.checkScan(t, mt, 1, func(a, b int64) int { return cmp.Compare(a, b) })
		view := m.view(mt)
		m.checkScan(t, mt, 2, func(a, b int64) int { return cmp.Compare(view[a].name, view[b].name) })
		m.checkScan(t, mt, 3, func(a, b int64) int {
			return cmp.Or(cmp.Compare(view[b].n, view[a].n), cmp.Compare(a, b))
		})
		mt.tx.EndStatement()
	}
	require.Equal(t, m.committed, m.replayLog())
	if len(m.open) == 0 {
		require.Equal(t, len(m.committed), m.db.table(testTable).indexes[0].tree.Len(), "garbage is left")
	}
}

func (m *model) checkScan(t *rapid.T, mt *modelTxn, index int, order func(a, b int64) int) {
	view := m.view(mt)
	want := slices.SortedFunc(maps.Keys(view), order)
	for _, desc := range []bool{false, true} {
		it := mt.tx.Scan(testTable, index, Range{}, ScanOptions{Desc: desc})
		var got []int64
		for {
			_, r, ok := it.Next()
			if !ok {
				break
			}
			key := r[0].Int64()
			require.Equal(t, row(key, view[key].name, view[key].n), r)
			got = append(got, key)
		}
		require.NoError(t, it.Err())
		if desc {
			slices.Reverse(got)
		}
		require.Equal(t, len(want), len(got))
		for i := range want {
			require.Equal(t, want[i], got[i], "index %d", index)
		}
	}
}

// replayLog builds the table from the log.
func (m *model) replayLog() modelTable {
	rows := map[RowID]Row{}
	for _, txn := range m.db.ReadLog(LSN{}, 1<<30) {
		for _, r := range txn.Records {
			if r.Op == LogDelete {
				delete(rows, r.RowID)
			} else {
				rows[r.RowID] = r.After
			}
		}
	}
	tab := modelTable{}
	for _, r := range rows {
		tab[r[0].Int64()] = modelRow{name: r[1].Str(), n: r[2].Int64()}
	}
	return tab
}
