package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// changePlan is the reading half of UPDATE and DELETE: it finds the rows of the
// target.
type changePlan struct {
	b      *block
	root   node
	target int
	db     *Database
	table  *Table
	limits *limitPlan
	// transient are sources whose rows must be copied to be kept.
	transient uint64
	// cursor names the cursor of WHERE CURRENT OF, "" for none.
	cursor string
}

// change compiles target, FROM and WHERE.
func (c *compiler) change(with []tsql.CTE, top *tsql.Top, target tsql.Target, from []tsql.TableSource, where tsql.Expr, permission string, prepare func(b *block, p *changePlan) error) (*changePlan, error) {
	ctes, err := c.withClause(with, nil, nil)
	if err != nil {
		return nil, err
	}
	b := &block{ctes: ctes, phase: phaseFrom, names: c.x.db.nameRules()}
	p := &changePlan{b: b, target: -1}
	tree, err := c.from(from, b)
	if err != nil {
		return nil, err
	}
	name := target.Name.Base()
	for i, s := range b.sources {
		if target.Variable == "" && len(target.Name.Parts) == 1 && strings.EqualFold(s.alias, name) {
			p.target = i
		}
	}
	if p.target >= 0 && b.sources[p.target].table == nil {
		return nil, unsupported("Changing rows through a derived table")
	}
	if p.target < 0 {
		if tree, err = c.addTarget(b, p, tree, target, permission); err != nil {
			return nil, err
		}
	}
	src := b.sources[p.target]
	p.db, p.table = src.db, src.table
	if !p.table.heldBySession && c.x.proc == "" {
		if err := c.x.checkPermission(p.db, c.catalog(p.db).schemaName(p.table.SchemaID), p.table.Object, permission); err != nil {
			return nil, err
		}
	}
	b.phase = phaseWhere
	var k *cond
	if where != nil {
		if k, err = c.cond(where, b); err != nil {
			return nil, err
		}
	}
	if err := prepare(b, p); err != nil {
		return nil, err
	}
	if p.limits, err = c.limits(top, &tsql.SelectQuery{}, b); err != nil {
		return nil, err
	}
	pl := &planner{c: c, b: b, keepID: p.target + 1, writes: true}
	if p.root, err = pl.plan(tree, conjuncts(k)); err != nil {
		return nil, err
	}
	p.transient = pl.transient
	return p, nil
}

// addTarget finds a target that the FROM clause does not name by alias: the same
// table there, or a source of its own.
func (c *compiler) addTarget(b *block, p *changePlan, tree *fromTree, target tsql.Target, permission string) (*fromTree, error) {
	db, t, err := c.target(target, permission)
	if err != nil {
		return nil, err
	}
	for i, s := range b.sources {
		if s.table == t {
			p.target = i
			return tree, nil
		}
	}
	name := target.Name.Base()
	if target.Variable != "" {
		name = target.Variable
	}
	src := tableSourceOf(t, db, target.Alias, name)
	src.schema = c.catalog(db).schemaName(t.SchemaID)
	l, err := c.addTable(b, &leaf{src: src, hints: target.Hints})
	if err != nil {
		return nil, err
	}
	p.target = l.leaf.index
	if tree != nil {
		l = &fromTree{bits: l.bits | tree.bits, kind: tsql.CrossJoin, l: l, r: tree}
	}
	return l, nil
}

// foundRow is a row of the target that the statement changes.
type foundRow struct {
	id   storage.RowID
	old  storage.Row
	next storage.Row
	base [][]value
}

// find collects the target's rows, each once, before any is changed. visit fills
// in what the statement needs of each.
func (p *changePlan) find(x *Exec, keepBase bool, visit func(fr *frame, r *foundRow) error) ([]foundRow, error) {
	fr := &frame{x: x, rows: make([][]value, len(p.b.sources)), ids: make([]storage.RowID, len(p.b.sources))}
	lim, err := p.limits.evaluate(fr)
	if err != nil {
		return nil, err
	}
	if n := x.s.rowCountLimit; n > 0 && !x.system && (!lim.limited || lim.count > n) {
		lim.limited, lim.count = true, n
	}
	if lim.limited && lim.count == 0 {
		return nil, nil
	}
	var only storage.RowID
	if p.cursor != "" {
		if only, err = x.currentOf(p.cursor, p.table); err != nil {
			return nil, err
		}
	}
	var seen map[storage.RowID]bool
	if len(p.b.sources) > 1 {
		seen = map[storage.RowID]bool{}
	}
	var rows []foundRow
	err = p.root.run(fr, func() error {
		id := fr.ids[p.target]
		if fr.rows[p.target] == nil || id == 0 {
			return nil // null-extended by an outer join
		}
		if only != 0 && id != only {
			return nil
		}
		if seen != nil {
			if seen[id] {
				return nil
			}
			seen[id] = true
		}
		r := foundRow{id: id, old: fr.rows[p.target]}
		if keepBase {
			r.base = slices.Clone(fr.rows)
			for i := range r.base {
				if p.transient&(1<<i) != 0 {
					r.base[i] = slices.Clone(r.base[i])
				}
			}
		}
		if err := visit(fr, &r); err != nil {
			return err
		}
		rows = append(rows, r)
		if lim.limited && int64(len(rows)) >= lim.count {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	if err == nil && only != 0 && len(rows) == 0 {
		err = raise(16947, "No rows were updated or deleted.")
	}
	return rows, err
}

// setter is one assignment of UPDATE .. SET.
type setter struct {
	column *TableColumn
	slot   int // of the variable, -1 for none
	varTyp sqltypes.Type
	value  *expr
}

// setters compiles SET. values may read the block's sources.
func (c *compiler) setters(list []tsql.SetItem, b *block, w *tableWriter) ([]setter, error) {
	out := make([]setter, len(list))
	defer func() { c.assigning = false }()
	for i, it := range list {
		if it.Method != nil {
			return nil, unsupported("The method " + it.Method.Name)
		}
		c.assigning = true
		s := setter{slot: -1}
		if it.Variable != "" {
			a, err := c.assignment(it.Variable, "=")
			if err != nil {
				return nil, err
			}
			s.slot, s.varTyp = a.slot, a.typ
		}
		var current tsql.Expr
		if !it.Column.IsZero() {
			col := w.table.Column(it.Column.Base())
			if col == nil {
				return nil, errInvalidColumn(it.Column.Base())
			}
			for _, before := range out[:i] {
				if before.column == col {
					return nil, raise(264, "The column name '%s' is specified more than once in the SET clause or column list of an INSERT. A column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the duplication in your code.", col.Name)
				}
			}
			switch {
			case col.Identity != nil:
				return nil, raise(8102, "Cannot update identity column '%s'.", col.Name)
			case col.Computed != "":
				return nil, raise(271, "The column \"%s\" cannot be modified because it is either a computed column or is the result of a UNION operator.", col.Name)
			case col.Type.ID == sqltypes.RowVersion:
				return nil, raise(272, "Cannot update a timestamp column.")
			}
			s.column = col
			current = &tsql.ColumnRef{Name: it.Column}
		} else {
			current = &tsql.Variable{Name: it.Variable}
		}
		if _, ok := it.Value.(*tsql.DefaultValue); ok && s.column != nil {
			if s.value = w.defaults[s.column.slot()]; s.value == nil {
				s.value = constExpr(value{}, s.column.Type)
			}
			out[i] = s
			continue
		}
		e, err := c.expr(it.Value, b)
		if err != nil {
			return nil, err
		}
		if it.Op != "=" && it.Op != "" {
			cur, err := c.expr(current, b)
			if err != nil {
				return nil, err
			}
			if e, err = c.arithmetic(it.Op[:1], cur, e); err != nil {
				return nil, err
			}
		}
		s.value = e
		out[i] = s
	}
	return out, nil
}

// apply computes the new row.
func (w *tableWriter) apply(x *Exec, fr *frame, set []setter, old storage.Row) (storage.Row, error) {
	next := slices.Clone(old)
	for _, s := range set {
		v, err := s.value.eval(fr)
		if err != nil {
			return nil, err
		}
		if s.column != nil {
			if v, err = w.assign(v, s.value.typ, s.column); err != nil {
				return nil, err
			}
			next[s.column.slot()] = v
		}
		if s.slot >= 0 {
			from := s.value.typ
			if s.column != nil {
				from = s.column.Type
			}
			if !v.IsNull() {
				if v, err = sqltypes.Assign(v, from, s.varTyp, ""); err != nil {
					return nil, err
				}
			}
			x.vars[s.slot] = v
		}
	}
	return next, nil
}

// update compiles UPDATE.
func (c *compiler) update(st *tsql.UpdateStmt) (func(x *Exec) error, error) {
	var w *tableWriter
	var set []setter
	p, err := c.change(st.With, st.Top, st.Target, st.From, st.Where, "UPDATE", func(b *block, p *changePlan) error {
		var err error
		if w, err = c.tableWriter(p.db, p.table); err != nil {
			return err
		}
		set, err = c.setters(st.Set, b, w)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.cursor = st.Cursor
	out, err := c.output(st.Output, w, p.b)
	if err != nil {
		return nil, err
	}
	assigned := assignedColumns(set)
	return func(x *Exec) error {
		rows, err := p.find(x, out != nil, func(fr *frame, r *foundRow) error {
			var err error
			r.next, err = w.apply(x, fr, set, r.old)
			return err
		})
		if err != nil {
			return err
		}
		run := out.start(x)
		w.begin(x, "UPDATE", assigned)
		if err := w.storeUpdates(x, rows, assigned, "UPDATE", false); err != nil {
			return err
		}
		for _, r := range rows {
			if err := run.addFrom(r.base, r.old, r.next, "UPDATE"); err != nil {
				return err
			}
		}
		return run.finish(CommandUpdate, int64(len(rows)))
	}, nil
}

func assignedColumns(set []setter) []int {
	var ids []int
	for _, s := range set {
		if s.column != nil {
			ids = append(ids, s.column.ID)
		}
	}
	return ids
}

// deferred reports how the server updates these columns: unique is an assignment
// to a column of any unique index, key one to the primary or clustered key. Such
// updates of several rows delete all rows and insert them again, and so do
// updates of one row that change the values (MS KB 238254).
func (w *tableWriter) deferred(assigned []int) (unique, key bool) {
	for _, ix := range w.table.Indexes {
		for _, id := range assigned {
			in := slices.ContainsFunc(ix.Keys, func(k IndexKey) bool { return k.ColumnID == id })
			if !in {
				continue
			}
			unique = unique || ix.Unique
			key = key || ix.Clustered || ix.Constraint == KindPrimaryKey
		}
	}
	return unique || key, key
}

// storeUpdates writes changed rows. merge marks MERGE, which replaces rows even
// when it assigns the key its own value.
func (w *tableWriter) storeUpdates(x *Exec, rows []foundRow, assigned []int, verb string, merge bool) error {
	for i := range rows {
		w.note(x, "UPDATE", rows[i].old, rows[i].next)
	}
	unique, key := w.deferred(assigned)
	version := w.rowVersionColumn()
	for i := range rows {
		r := &rows[i]
		if err := w.computed.fill(x, r.next); err != nil {
			return err
		}
		if version != nil {
			r.next[version.slot()] = x.nextRowVersion(w.db)
		}
		if err := w.complete(x, r.next, verb); err != nil {
			return err
		}
		if err := w.checkReplicated(x, r.old, r.next); err != nil {
			return err
		}
		if len(w.children) > 0 {
			if err := w.checkChildren(x, r.old, r.next, verb); err != nil {
				return err
			}
		}
	}
	singleton := len(rows) == 1 && !merge
	if singleton && unique && x.in.traced(singletonUpdates) {
		unique = false
	}
	if unique && (!singleton && len(rows) > 0 || singleton && w.uniqueChanged(rows[0].old, rows[0].next)) {
		return w.replaceAll(x, rows, !key || len(rows) == 1)
	}
	for i := range rows {
		if err := w.replace(x, rows[i].id, rows[i].old, rows[i].next); err != nil {
			return err
		}
	}
	return nil
}

func (w *tableWriter) rowVersionColumn() *TableColumn {
	for _, c := range w.table.Columns {
		if c.Type.ID == sqltypes.RowVersion {
			return c
		}
	}
	return nil
}

// uniqueChanged reports whether a row's values in unique indexes or the clustered
// key differ.
func (w *tableWriter) uniqueChanged(old, next storage.Row) bool {
	for _, ix := range w.table.Indexes {
		if !ix.Unique && !ix.Clustered {
			continue
		}
		for _, k := range ix.Keys {
			if !identical(old[k.ColumnID-1], next[k.ColumnID-1]) {
				return true
			}
		}
	}
	return false
}

// identical compares stored values exactly: 'a' and 'A' differ, as in the log.
func identical(a, b value) bool { return a == b }

// replace updates a row in place; one that does not change is not logged.
func (w *tableWriter) replace(x *Exec, id storage.RowID, old, next storage.Row) error {
	if slices.EqualFunc(old, next, identical) {
		return nil
	}
	txn, err := x.writerFor(w)
	if err != nil {
		return err
	}
	return x.storageError(txn.Update(w.table.ID, id, next, w.write), w.table)
}

// replaceAll deletes all rows, then inserts their new versions. paired gives each
// insert the log sequence number of its delete.
func (w *tableWriter) replaceAll(x *Exec, rows []foundRow, paired bool) error {
	txn, err := x.writerFor(w)
	if err != nil {
		return err
	}
	lsns := make([]storage.LSN, len(rows))
	for i := range rows {
		if lsns[i], err = txn.Delete(w.table.ID, rows[i].id, w.write); err != nil {
			return x.storageError(err, w.table)
		}
	}
	for i := range rows {
		pair := storage.LSN{}
		if paired {
			pair = lsns[i]
		}
		if err := w.insert(x, rows[i].next, pair); err != nil {
			return err
		}
	}
	return nil
}

// delete removes a row after its foreign keys allow it.
func (w *tableWriter) delete(x *Exec, id storage.RowID, old storage.Row, verb string) error {
	if len(w.children) > 0 {
		if err := w.checkChildren(x, old, nil, verb); err != nil {
			return err
		}
	}
	txn, err := x.writerFor(w)
	if err != nil {
		return err
	}
	if _, err = txn.Delete(w.table.ID, id, w.write); err != nil {
		return x.storageError(err, w.table)
	}
	w.note(x, "DELETE", old, nil)
	return nil
}

// delete compiles DELETE.
func (c *compiler) delete(st *tsql.DeleteStmt) (func(x *Exec) error, error) {
	var w *tableWriter
	p, err := c.change(st.With, st.Top, st.Target, st.From, st.Where, "DELETE", func(b *block, p *changePlan) error {
		var err error
		w, err = c.tableWriter(p.db, p.table)
		return err
	})
	if err != nil {
		return nil, err
	}
	p.cursor = st.Cursor
	out, err := c.output(st.Output, w, p.b)
	if err != nil {
		return nil, err
	}
	return func(x *Exec) error {
		rows, err := p.find(x, out != nil, func(*frame, *foundRow) error { return nil })
		if err != nil {
			return err
		}
		run := out.start(x)
		w.begin(x, "DELETE", []int{})
		for _, r := range rows {
			if err := w.delete(x, r.id, r.old, "DELETE"); err != nil {
				return err
			}
			if err := run.addFrom(r.base, r.old, nil, "DELETE"); err != nil {
				return err
			}
		}
		return run.finish(CommandDelete, int64(len(rows)))
	}, nil
}
