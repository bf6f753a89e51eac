package engine

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// joinNode runs its right side for each row of its left side. An outer join
// passes a left row without a match on with NULLs.
type joinNode struct {
	l, r  node
	outer bool
	nulls map[int][]value
}

func (n *joinNode) run(fr *frame, next func() error) error {
	if !n.outer {
		return n.l.run(fr, func() error { return n.r.run(fr, next) })
	}
	return n.l.run(fr, func() error {
		matched := false
		err := n.r.run(fr, func() error {
			matched = true
			return next()
		})
		if err != nil || matched {
			return err
		}
		setRows(fr, n.nulls)
		return next()
	})
}

func setRows(fr *frame, rows map[int][]value) {
	for i, row := range rows {
		fr.rows[i] = row
		if fr.ids != nil {
			fr.ids[i] = 0
		}
	}
}

// hashKey is an equality between a column of the inner side and a value of the
// outer side.
type hashKey struct {
	column *columnUse
	value  *expr
}

// hashable reports whether equal values of both sides hash alike.
func hashable(cmp comparison) bool {
	a, b := cmp.column.desc.typ, cmp.value.typ
	switch {
	case a.ID.IsInteger() && b.ID.IsInteger(), a.ID.IsText() && b.ID.IsText(), a.ID.IsBinary() && b.ID.IsBinary():
		return true
	}
	return a.ID == b.ID && a.Scale == b.Scale
}

// materialized keeps the rows of its input in memory, in a hash table when there
// are keys, so that an outer side can look through them again and again.
type materialized struct {
	in        node
	sources   []int
	transient *uint64
	keys      []hashKey
	// dependent marks input that must be read again when the block runs again.
	dependent bool
}

// heldRows are the kept rows: one slice of source rows for each combination.
type heldRows struct {
	rows   [][][]value
	ids    [][]storage.RowID
	lookup *rowSet
	groups [][]int
	frame  *frame
}

func (n *materialized) run(fr *frame, next func() error) error {
	held, err := n.load(fr)
	if err != nil {
		return err
	}
	if held.lookup == nil {
		for i := range held.rows {
			n.restore(fr, held, i)
			if err := next(); err != nil {
				return err
			}
		}
		return fr.x.ctx.Err()
	}
	key := make([]value, len(n.keys))
	for i, k := range n.keys {
		if key[i], err = k.value.eval(fr); err != nil {
			return err
		}
		if key[i].IsNull() {
			return nil
		}
	}
	at := held.lookup.find(key)
	if at < 0 {
		return nil
	}
	for _, i := range held.groups[at] {
		n.restore(fr, held, i)
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}

func (n *materialized) restore(fr *frame, held *heldRows, at int) {
	for i, s := range n.sources {
		fr.rows[s] = held.rows[at][i]
		if fr.ids != nil {
			fr.ids[s] = held.ids[at][i]
		}
	}
}

// load reads the input once for each run of the block, or once for the whole
// statement when it does not depend on outer rows.
func (n *materialized) load(fr *frame) (*heldRows, error) {
	held := fr.x.held[n]
	if held != nil && (!n.dependent || held.frame == fr) {
		return held, nil
	}
	held = &heldRows{frame: fr}
	if len(n.keys) > 0 {
		types := make([]sqltypes.Type, len(n.keys))
		for i, k := range n.keys {
			types[i] = k.column.desc.typ
		}
		held.lookup = newRowSet(types)
	}
	err := n.in.run(fr, func() error {
		rows := make([][]value, len(n.sources))
		for i, s := range n.sources {
			rows[i] = fr.rows[s]
			if *n.transient&(1<<s) != 0 {
				rows[i] = slices.Clone(rows[i])
			}
		}
		held.rows = append(held.rows, rows)
		if fr.ids != nil {
			ids := make([]storage.RowID, len(n.sources))
			for i, s := range n.sources {
				ids[i] = fr.ids[s]
			}
			held.ids = append(held.ids, ids)
		}
		if held.lookup == nil {
			return nil
		}
		key := make([]value, len(n.keys))
		for i, k := range n.keys {
			key[i] = fr.rows[k.column.source][k.column.ordinal]
			if key[i].IsNull() {
				return nil
			}
		}
		at, added := held.lookup.add(key)
		if added {
			held.groups = append(held.groups, nil)
		}
		held.groups[at] = append(held.groups[at], len(held.rows)-1)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if fr.x.held == nil {
		fr.x.held = map[*materialized]*heldRows{}
	}
	fr.x.held[n] = held
	return held, nil
}

// fullJoinNode is FULL OUTER JOIN.
type fullJoinNode struct {
	l                     node
	r                     *materialized
	on                    *cond
	leftNulls, rightNulls map[int][]value
}

func (n *fullJoinNode) run(fr *frame, next func() error) error {
	held, err := n.r.load(fr)
	if err != nil {
		return err
	}
	matched := make([]bool, len(held.rows))
	err = n.l.run(fr, func() error {
		found := false
		for i := range held.rows {
			n.r.restore(fr, held, i)
			t, err := n.on.eval(fr)
			if err != nil {
				return err
			}
			if t != yes {
				continue
			}
			found, matched[i] = true, true
			if err := next(); err != nil {
				return err
			}
		}
		if found {
			return nil
		}
		setRows(fr, n.rightNulls)
		return next()
	})
	if err != nil {
		return err
	}
	for i := range held.rows {
		if matched[i] {
			continue
		}
		setRows(fr, n.leftNulls)
		n.r.restore(fr, held, i)
		if err := next(); err != nil {
			return err
		}
	}
	return nil
}
