package engine

import (
	"encoding/binary"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// tableWriter is what a statement needs to store rows of one table: defaults,
// computed columns and constraints, compiled.
type tableWriter struct {
	db       *Database
	schema   string
	table    *Table
	defaults map[int]*expr // by slot
	computed computedSet
	checks   []tableCheck
	keys     []foreignKeyCheck
	// children are the foreign keys of other tables that point here.
	children []foreignKeyCheck
	triggers []*trigger
	targets  map[int]string // names for truncation errors, by slot
	// replicated are the large objects that the capture job will copy.
	replicated []*TableColumn
	write      storage.WriteOptions
	// lock is the lock of the whole table that a hint asks for.
	lock storage.LockMode
}

type tableCheck struct {
	check *Check
	cond  *cond
}

func (c *compiler) tableWriter(db *Database, t *Table) (*tableWriter, error) {
	x := c.x.within(db)
	cat := c.catalog(db)
	w := &tableWriter{
		db: db, table: t, schema: cat.schemaName(t.SchemaID), defaults: map[int]*expr{}, targets: map[int]string{},
		write: storage.WriteOptions{Unlogged: !t.TrackedByCDC},
	}
	w.replicated = replicatedColumns(t)
	full := db.Name() + "." + w.schema + "." + t.Name
	if t.heldBySession {
		full = t.Name
	}
	for _, col := range t.Columns {
		w.targets[col.slot()] = sqltypes.TargetColumn(full, col.Name)
		if col.Default == nil {
			continue
		}
		d, err := x.defaultExpr(col)
		if err != nil {
			return nil, err
		}
		w.defaults[col.slot()] = d
	}
	var err error
	if w.computed, err = x.computedColumns(t); err != nil {
		return nil, err
	}
	for _, ck := range t.Checks {
		if ck.Disabled {
			continue
		}
		k, err := x.tableCondition(t, ck.Text)
		if err != nil {
			return nil, err
		}
		w.checks = append(w.checks, tableCheck{ck, k})
	}
	w.keys, w.children = foreignKeyChecks(cat, t)
	w.triggers, err = c.tableTriggers(db, t)
	return w, err
}

// defaultExpr compiles a column's default.
func (x *Exec) defaultExpr(col *TableColumn) (*expr, error) {
	e, err := tsql.ParseExpr(col.Default.Text, tsql.Options{})
	if err != nil {
		return nil, err
	}
	c := &compiler{x: x}
	k, err := c.columnDefault(e, col.Type)
	if err != nil {
		return nil, err
	}
	return assigned(k, col.Type), nil
}

// computedColumn is a computed column's expression over the stored row.
type computedColumn struct {
	slot    int
	expr    *expr
	from    sqltypes.Type
	to      sqltypes.Type
	virtual bool
}

func (c computedColumn) value(fr *frame) (value, error) {
	v, err := c.expr.eval(fr)
	if err != nil {
		return v, err
	}
	return convertValue(v, c.from, c.to)
}

type computedSet []computedColumn

func (x *Exec) computedColumns(t *Table) (computedSet, error) {
	var set computedSet
	for _, col := range t.Columns {
		if col.Computed == "" {
			continue
		}
		e, err := tsql.ParseExpr(col.Computed, tsql.Options{})
		if err != nil {
			return nil, err
		}
		c := &compiler{x: x}
		k, err := c.expr(e, tableBlock(t))
		if err != nil {
			return nil, err
		}
		set = append(set, computedColumn{slot: col.slot(), expr: k, from: k.typ, to: col.Type, virtual: t.virtual(col)})
	}
	return set, nil
}

// fill computes the columns into the row.
func (s computedSet) fill(x *Exec, row []value) error {
	if len(s) == 0 {
		return nil
	}
	fr := &frame{x: x, rows: [][]value{row}}
	for _, c := range s {
		v, err := c.value(fr)
		switch {
		case err == nil:
			row[c.slot] = v
		case c.failsWhenRead(err):
			row[c.slot] = value{}
		default:
			return err
		}
	}
	return nil
}

func identityKey(t *Table) string { return "identity/" + itoa(t.ID) }

// nextIdentity gives the next identity value. A rollback does not take it back.
func (x *Exec) nextIdentity(db *Database, t *Table, spec *Identity) value {
	n := db.store.AddCounter(identityKey(t), 1)
	return sqltypes.IntOf(spec.Seed + (n-1)*spec.Increment)
}

// lastIdentity is the newest identity value of a table (IDENT_CURRENT).
func lastIdentity(db *Database, t *Table, spec *Identity) int64 {
	n := max(db.store.Counter(identityKey(t)), 1)
	return spec.Seed + (n-1)*spec.Increment
}

// noteIdentity moves the counter past an explicitly inserted value.
func noteIdentity(db *Database, t *Table, spec *Identity, v int64) {
	n := (v-spec.Seed)/spec.Increment + 1
	if n > db.store.Counter(identityKey(t)) {
		db.store.SetCounter(identityKey(t), n)
	}
}

// nextRowVersion gives the next value of the database's rowversion counter.
func (x *Exec) nextRowVersion(db *Database) value {
	n := 2000 + db.store.AddCounter("rowversion", 1)
	return sqltypes.BytesOf(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

func nullError(db *Database, c *Catalog, t *Table, column, verb string) error {
	name := db.Name() + "." + c.schemaName(t.SchemaID) + "." + t.Name
	if t.heldBySession {
		name = t.Name
	}
	return sqltypes.Errorf(515, 2, 16, "Cannot insert the value NULL into column '%s', table '%s'; column does not allow nulls. %s fails.", column, name, verb)
}

// complete checks a row that is about to be stored: NULLs, computed columns,
// checks and foreign keys. verb is INSERT, UPDATE or MERGE for the errors.
func (w *tableWriter) complete(x *Exec, row []value, verb string) error {
	if err := w.computed.fill(x, row); err != nil {
		return err
	}
	for _, col := range w.table.Columns {
		if !col.Nullable && row[col.slot()].IsNull() {
			return nullError(w.db, x.catalog(w.db), w.table, col.Name, verb)
		}
	}
	for _, ck := range w.checks {
		t, err := ck.cond.eval(&frame{x: x, rows: [][]value{row}})
		if err != nil {
			return err
		}
		if t == no {
			return w.conflict(verb, "CHECK", ck.check.Name, w.table, ck.check.ColumnID)
		}
	}
	return w.checkParents(x, row, verb)
}

// conflict is error 547.
func (w *tableWriter) conflict(verb, kind, name string, t *Table, column int) error {
	where := ""
	if col := t.ColumnByID(column); col != nil {
		where = ", column '" + col.Name + "'"
	}
	return sqltypes.Errorf(547, 0, 16, "The %s statement conflicted with the %s constraint \"%s\". The conflict occurred in database \"%s\", table \"%s.%s\"%s.",
		verb, kind, name, w.db.Name(), w.schema, t.Name, where)
}

// insert stores a row.
func (w *tableWriter) insert(x *Exec, row storage.Row, pair storage.LSN) error {
	txn, err := x.writerFor(w)
	if err != nil {
		return err
	}
	opts := w.write
	opts.Pair = pair
	_, err = txn.Insert(w.table.ID, row, opts)
	return x.storageError(err, w.table)
}

// writerFor is the transaction for writing a table. A table variable is not part
// of the session's transaction, but its statements share one of their own.
func (x *Exec) writerFor(w *tableWriter) (*storage.Txn, error) {
	if w.table.tableVariable {
		return x.s.tableVariableTxn(), nil
	}
	if x.function {
		return nil, raise(443, "Invalid use of a side-effecting operator 'INSERT' within a function.")
	}
	txn, err := x.rowWriter(w.db, w.table)
	if err != nil || w.lock == storage.LockNone {
		return txn, err
	}
	return txn, txn.LockTable(w.table.ID, w.lock)
}

// duplicateKey names a repeated key as the server does: 2627 for constraints,
// 2601 for indexes.
func (x *Exec) duplicateKey(dup *storage.DuplicateKeyError, t *Table) error {
	var parts []string
	var ix *Index
	for _, i := range t.Indexes {
		if i.ID == dup.Index {
			ix = i
		}
	}
	if ix == nil {
		return raise(2601, "Cannot insert duplicate key row in object '%s'.", t.Name)
	}
	for i, v := range dup.Key {
		parts = append(parts, displayValue(v, t.ColumnByID(ix.Keys[i].ColumnID).Type))
	}
	schema := "dbo"
	for _, db := range x.in.Databases() {
		c := x.catalog(db)
		if c.tables[t.ID] == t {
			schema = c.schemaName(t.SchemaID)
		}
	}
	object := schema + "." + t.Name
	key := strings.Join(parts, ", ")
	if ix.Constraint != "" {
		return sqltypes.Errorf(2627, 1, 14, "Violation of %s constraint '%s'. Cannot insert duplicate key in object '%s'. The duplicate key value is (%s).",
			constraintWord(ix), ix.Name, object, key)
	}
	return sqltypes.Errorf(2601, 1, 14, "Cannot insert duplicate key row in object '%s' with unique index '%s'. The duplicate key value is (%s).", object, ix.Name, key)
}

func displayValue(v value, t sqltypes.Type) string {
	if v.IsNull() {
		return "<NULL>"
	}
	style := 0
	if t.ID.IsBinary() {
		style = 1
	}
	w, err := sqltypes.Convert(v, t, sqltypes.NVarCharOf(4000), style)
	if err != nil {
		return "?"
	}
	return w.Str()
}
