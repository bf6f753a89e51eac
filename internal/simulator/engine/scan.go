package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// tableScan reads a table through one of its indexes.
type tableScan struct {
	source int
	table  *Table
	db     *Database
	index  int
	seek   *seekPlan
	desc   bool
	filter *cond
	// early and late are columns that are computed when they are read: in the
	// filter, and of rows that pass it.
	early, late computedSet
	hints       scanHints
	// keepID keeps the row ids in the frame; writes also takes update locks.
	keepID, writes bool
}

// cancelEvery is the number of rows between two looks at the context.
const cancelEvery = 256

func (n *tableScan) run(fr *frame, next func() error) error {
	x := fr.x
	if err := x.checkReadPast(n.hints.options); err != nil {
		return err
	}
	txn, err := x.reader(n.db, n.table)
	if err != nil {
		return err
	}
	ranges := wholeIndex
	if n.seek != nil {
		if ranges, err = n.seek.ranges(fr); err != nil {
			return err
		}
	}
	n.db.usage.note(n.table, n.index, !whole(ranges), x.Now().UnixNano())
	opts := n.hints.options
	opts.Desc = n.desc
	if n.writes {
		opts.StatementStart = true
		// Under SNAPSHOT the rows are those of the view; a row that changed since is
		// found when it is written (3960).
		if opts.RowLock == storage.LockNone && x.s.isolation != storage.Snapshot {
			opts.RowLock = storage.LockU
		}
	}
	for i := range ranges {
		r := ranges[i]
		if n.desc {
			r = ranges[len(ranges)-1-i]
		}
		if err := n.scan(fr, txn.Scan(n.table.ID, n.index, r.storage(), opts), next); err != nil {
			return err
		}
	}
	return nil
}

// lock takes the lock of the table that a hint asks for, for a scan whose rows
// nobody wants.
func (n *tableScan) lock(x *Exec) error {
	txn, err := x.reader(n.db, n.table)
	if err != nil {
		return err
	}
	it := txn.Scan(n.table.ID, storage.BaseIndex, wholeIndex[0].storage(), n.hints.options)
	defer it.Close()
	it.Next()
	return x.storageError(it.Err(), n.table)
}

func (n *tableScan) scan(fr *frame, it *storage.Iterator, next func() error) error {
	defer it.Close()
	x := fr.x
	for {
		id, row, ok := it.Next()
		if !ok {
			return x.storageError(it.Err(), n.table)
		}
		x.rowsRead++
		if x.rowsRead%cancelEvery == 0 {
			if err := x.ctx.Err(); err != nil {
				return err
			}
		}
		fr.rows[n.source] = row
		if n.keepID {
			fr.ids[n.source] = id
		}
		if err := n.early.check(x, row); err != nil {
			return err
		}
		if n.filter != nil {
			t, err := n.filter.eval(fr)
			if err != nil {
				return err
			}
			if t != yes {
				if n.writes {
					it.ReleaseRow()
				}
				continue
			}
		}
		if err := n.late.check(x, row); err != nil {
			return err
		}
		if err := next(); err != nil {
			return err
		}
	}
}

// singleRow is the FROM clause that is not there: one row, if the condition holds.
type singleRow struct{ filter *cond }

func (n *singleRow) run(fr *frame, next func() error) error {
	if n.filter != nil {
		t, err := n.filter.eval(fr)
		if err != nil || t != yes {
			return err
		}
	}
	return next()
}

// filterNode passes on the rows for which a condition holds.
type filterNode struct {
	in   node
	cond *cond
}

func (n *filterNode) run(fr *frame, next func() error) error {
	return n.in.run(fr, func() error {
		t, err := n.cond.eval(fr)
		if err != nil || t != yes {
			return err
		}
		return next()
	})
}

// guardNode runs its input only if a condition that does not read it holds.
type guardNode struct {
	in   node
	cond *cond
}

func (n *guardNode) run(fr *frame, next func() error) error {
	t, err := n.cond.eval(fr)
	if err != nil || t != yes {
		return err
	}
	return n.in.run(fr, next)
}

// viewNode reads a virtual table; its rows are computed once per statement.
type viewNode struct {
	source int
	view   *View
	db     *Database
}

type viewKey struct {
	view *View
	db   *Database
}

func (n *viewNode) run(fr *frame, next func() error) error {
	rows, err := fr.x.viewRows(n.view, n.db)
	if err != nil {
		return err
	}
	for _, row := range rows {
		fr.x.rowsRead++
		fr.rows[n.source] = row
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

func (x *Exec) viewRows(v *View, db *Database) ([][]value, error) {
	key := viewKey{v, db}
	if rows, ok := x.viewCache[key]; ok {
		return rows, nil
	}
	var rows [][]value
	err := v.Rows(x.within(db), db, func(row []value) error {
		rows = append(rows, append([]value(nil), row...))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if x.viewCache == nil {
		x.viewCache = map[viewKey][][]value{}
	}
	x.viewCache[key] = rows
	return rows, nil
}

// recursionNode reads the previous step of a recursive expression.
type recursionNode struct {
	source int
	rec    *recursion
}

func (n *recursionNode) run(fr *frame, next func() error) error {
	for _, row := range fr.x.recursions[n.rec] {
		fr.rows[n.source] = row
		if err := next(); err != nil {
			return err
		}
	}
	return fr.x.ctx.Err()
}

type valuesNode struct {
	source int
	rows   [][]*expr
}

func (n *valuesNode) run(fr *frame, next func() error) error {
	for _, row := range n.rows {
		vals, err := evalAll(fr, row)
		if err != nil {
			return err
		}
		fr.rows[n.source] = vals
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

// queryNode reads a derived table, a view or a common table expression.
type queryNode struct {
	source int
	query  *queryPlan
	up     int
}

func (n *queryNode) run(fr *frame, next func() error) error {
	var outer *frame
	if n.up >= 0 {
		outer = fr
		for i := 0; i < n.up && outer != nil; i++ {
			outer = outer.outer
		}
	}
	return n.query.run(fr.x, outer, func(row []value) error {
		fr.rows[n.source] = row
		return next()
	})
}

// functionNode reads a table-valued function.
type functionNode struct {
	source int
	call   *tableCall
}

func (n *functionNode) run(fr *frame, next func() error) error {
	args, err := evalAll(fr, n.call.args)
	if err != nil {
		return err
	}
	emit := func(row []value) error {
		fr.rows[n.source] = row
		return next()
	}
	if n.call.query != nil {
		return n.call.query.run(fr.x, &frame{x: fr.x, params: args}, emit)
	}
	return n.call.rows(fr.x, args, emit)
}
