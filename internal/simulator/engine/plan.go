package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// node produces combinations of source rows: for each it sets the frame's rows
// and calls next.
type node interface {
	run(fr *frame, next func() error) error
}

// wishColumn is a column by which the rows should come ordered.
type wishColumn struct {
	source, slot int
	desc         bool
}

// planner turns a FROM tree and the conditions on it into nodes. Each condition
// is checked as soon as the rows it reads are there; inside a scan it may also
// bound the search.
type planner struct {
	c    *compiler
	b    *block
	wish []wishColumn
	// ordered reports that the rows come in the wished order.
	ordered   bool
	transient uint64
	// locking are the scans of tables that a hint locks whole.
	locking []*tableScan
	// keepID is the source whose row ids the statement needs, plus one.
	keepID int
	// writes says that the kept source's rows are about to be written.
	writes bool
}

func (p *planner) plan(t *fromTree, conds []*cond) (node, error) {
	if t == nil {
		return &singleRow{filter: andConds(conds)}, nil
	}
	return p.build(t, 0, conds, true)
}

// build plans a tree. bound are the sources whose rows are set before it runs,
// conds the conditions that must hold for its rows; first says that the tree
// drives the order of the result.
func (p *planner) build(t *fromTree, bound uint64, conds []*cond, first bool) (node, error) {
	if t.leaf != nil {
		return p.leafNode(t.leaf, bound, conds, first)
	}
	switch t.kind {
	case tsql.LeftJoin, tsql.OuterApply:
		return p.outerJoin(t, bound, conds, first)
	case tsql.FullJoin:
		return p.fullJoin(t, bound, conds)
	default:
		return p.innerJoin(t, bound, append(conjuncts(t.on), conds...), first)
	}
}

// split takes the conditions that read nothing but the given sources.
func split(conds []*cond, sources uint64) (within, rest []*cond) {
	for _, k := range conds {
		if k.uses&^(sources|outerBit) == 0 {
			within = append(within, k)
		} else {
			rest = append(rest, k)
		}
	}
	return within, rest
}

func (p *planner) innerJoin(t *fromTree, bound uint64, conds []*cond, first bool) (node, error) {
	left, rest := split(conds, bound|t.l.bits)
	right, rest := split(rest, bound|t.l.bits|t.r.bits)
	l, err := p.build(t.l, bound, left, first)
	if err != nil {
		return nil, err
	}
	r, err := p.inner(t.r, bound, t.l.bits, right)
	if err != nil {
		return nil, err
	}
	return filtered(&joinNode{l: l, r: r}, rest), nil
}

// outerJoin plans LEFT JOIN and OUTER APPLY: the ON condition belongs to the
// inner side, conditions from above apply after the null extension.
func (p *planner) outerJoin(t *fromTree, bound uint64, conds []*cond, first bool) (node, error) {
	left, rest := split(conds, bound|t.l.bits)
	l, err := p.build(t.l, bound, left, first)
	if err != nil {
		return nil, err
	}
	r, err := p.inner(t.r, bound, t.l.bits, conjuncts(t.on))
	if err != nil {
		return nil, err
	}
	return filtered(&joinNode{l: l, r: r, outer: true, nulls: p.nullRows(t.r.bits)}, rest), nil
}

func (p *planner) fullJoin(t *fromTree, bound uint64, conds []*cond) (node, error) {
	l, err := p.build(t.l, bound, nil, false)
	if err != nil {
		return nil, err
	}
	r, err := p.build(t.r, bound, nil, false)
	if err != nil {
		return nil, err
	}
	n := &fullJoinNode{
		l: l, r: &materialized{in: r, sources: bitList(t.r.bits), transient: &p.transient, dependent: true}, on: t.on,
		leftNulls: p.nullRows(t.l.bits), rightNulls: p.nullRows(t.r.bits),
	}
	return filtered(n, conds), nil
}

// inner plans the inner side of a join: a seek for each outer row where an index
// allows it, else a hash table on the joining columns, else a list in memory.
func (p *planner) inner(t *fromTree, bound, left uint64, conds []*cond) (node, error) {
	if t.leaf != nil && t.leaf.lateral {
		return p.build(t, bound|left, conds, false)
	}
	if t.leaf != nil && t.leaf.src.table != nil && p.canSeek(t.leaf, bound|left, conds) {
		return p.build(t, bound|left, conds, false)
	}
	own, joining := split(conds, bound|t.bits)
	in, err := p.build(t, bound, own, false)
	if err != nil {
		return nil, err
	}
	m := &materialized{in: in, sources: bitList(t.bits), transient: &p.transient, dependent: dependsOnOuter(own) || p.treeDependent(t) || bound != 0}
	for _, k := range joining {
		for _, cmp := range k.compare {
			if cmp.op == "=" && t.bits&(1<<cmp.column.source) != 0 && cmp.value.uses&t.bits == 0 && hashable(cmp) {
				m.keys = append(m.keys, hashKey{column: cmp.column, value: cmp.value})
				break
			}
		}
	}
	return filtered(m, joining), nil
}

// treeDependent reports whether the rows of a tree may differ between two runs
// of the block within one statement.
func (p *planner) treeDependent(t *fromTree) bool {
	if t.leaf == nil {
		return dependsOnOuter(conjuncts(t.on)) || p.treeDependent(t.l) || p.treeDependent(t.r)
	}
	l := t.leaf
	if l.query != nil {
		return l.query.outerUses != 0 || l.query.volatile
	}
	if l.table != nil {
		for _, a := range l.table.args {
			if a.uses != 0 {
				return true
			}
		}
	}
	return l.lateral || l.recurse != nil
}

func dependsOnOuter(conds []*cond) bool {
	for _, k := range conds {
		if k.uses&outerBit != 0 || k.volatile {
			return true
		}
	}
	return false
}

func bitList(bits uint64) []int {
	var out []int
	for i := range 63 {
		if bits&(1<<i) != 0 {
			out = append(out, i)
		}
	}
	return out
}

// nullRows are the rows of sources that an outer join extends with NULL.
func (p *planner) nullRows(bits uint64) map[int][]value {
	out := map[int][]value{}
	for _, i := range bitList(bits) {
		if i >= len(p.b.sources) {
			break
		}
		src := p.b.sources[i]
		width := len(src.columns)
		if src.table != nil {
			width = src.table.Width
		}
		out[i] = make([]value, width)
	}
	return out
}

func filtered(n node, conds []*cond) node {
	if len(conds) == 0 {
		return n
	}
	return &filterNode{in: n, cond: andConds(conds)}
}

func (p *planner) canSeek(l *leaf, bound uint64, conds []*cond) bool {
	terms := collectTerms(conds, l.index, bound)
	for _, ix := range l.src.table.Indexes {
		if ix.Filter != "" {
			continue
		}
		if fixed, _ := terms.quality(seekColumns(l.src.table, ix)); fixed > 0 {
			return true
		}
	}
	return false
}

func seekColumns(t *Table, ix *Index) []seekColumn {
	cols := make([]seekColumn, len(ix.Keys))
	for i, k := range ix.Keys {
		cols[i] = seekColumn{slot: k.ColumnID - 1, typ: t.ColumnByID(k.ColumnID).Type, desc: k.Desc}
	}
	return cols
}

func (p *planner) leafNode(l *leaf, bound uint64, conds []*cond, first bool) (node, error) {
	bit := uint64(1) << l.index
	var before, own []*cond
	for _, k := range conds {
		if k.uses&bit == 0 && !k.volatile {
			before = append(before, k)
		} else {
			own = append(own, k)
		}
	}
	var n node
	switch {
	case l.src.table != nil:
		own = append(own, l.guards...)
		scan, err := p.tableScan(l, bound, conds, own, first)
		if err != nil {
			return nil, err
		}
		n = scan
	case l.view != nil:
		n = filtered(&viewNode{source: l.index, view: l.view, db: l.viewDB}, own)
	case l.recurse != nil:
		n = filtered(&recursionNode{source: l.index, rec: l.recurse}, own)
	case l.values != nil:
		p.transient |= bit
		n = filtered(&valuesNode{source: l.index, rows: l.values}, own)
	case l.query != nil:
		p.transient |= bit
		n = filtered(&queryNode{source: l.index, query: l.query, up: l.up}, own)
	default:
		p.transient |= bit
		n = filtered(&functionNode{source: l.index, call: l.table}, own)
	}
	if len(before) > 0 {
		return &guardNode{in: n, cond: andConds(before)}, nil
	}
	return n, nil
}

// tableScan chooses the index and the ranges for reading a table.
func (p *planner) tableScan(l *leaf, bound uint64, all, own []*cond, first bool) (node, error) {
	t := l.src.table
	scan := &tableScan{source: l.index, table: t, db: l.src.db, index: storage.BaseIndex, filter: andConds(own)}
	hints, err := parseHints(t, l.hints)
	if err != nil {
		return nil, err
	}
	scan.hints = hints
	if scan.early, scan.late, err = p.c.x.virtualColumns(t, l.src.read); err != nil {
		return nil, err
	}
	if hints.options.TableLock != storage.LockNone {
		p.locking = append(p.locking, scan)
	}
	if p.keepID == l.index+1 {
		scan.keepID = true
		scan.writes = p.writes
	}
	terms := collectTerms(all, l.index, bound)
	wish := p.wish
	if !first {
		wish = nil
	}
	best, bestScore := (*Index)(nil), 0
	bestDesc, bestOrdered := false, false
	for _, ix := range t.Indexes {
		if hints.index != 0 && ix.ID != hints.index {
			continue
		}
		if ix.Filter != "" && hints.index != ix.ID {
			continue
		}
		cols := seekColumns(t, ix)
		fixed, bounded := terms.quality(cols)
		score := 10 * fixed
		if bounded {
			score += 5
		}
		if ix.Unique && fixed == len(cols) {
			score += 1000
		}
		desc, ordered := servesOrder(ix, l.index, terms, wish)
		if ordered {
			score += 4
		}
		if ix.Clustered && score > 0 {
			score++
		}
		if score > bestScore || hints.index == ix.ID && best == nil {
			best, bestScore, bestDesc, bestOrdered = ix, score, desc, ordered
		}
	}
	if best != nil {
		scan.index = best.ID
		cols := seekColumns(t, best)
		if fixed, bounded := terms.quality(cols); fixed > 0 || bounded {
			scan.seek = &seekPlan{columns: cols, terms: terms}
		}
		scan.desc = bestOrdered && bestDesc
	}
	if first && bestOrdered && len(p.wish) > 0 {
		p.ordered = true
	}
	if first && best != nil && bestScore >= 1000 && len(p.wish) > 0 && onlySource(p.wish, l.index) {
		p.ordered = true // at most one row
	}
	return scan, nil
}

func onlySource(wish []wishColumn, source int) bool {
	for _, w := range wish {
		if w.source != source {
			return false
		}
	}
	return true
}

// servesOrder reports whether walking the index gives the wished order, and in
// which direction. Key columns fixed by an equality do not count.
func servesOrder(ix *Index, source int, terms *seekTerms, wish []wishColumn) (desc, ordered bool) {
	if len(wish) == 0 {
		return false, false
	}
	keys := ix.Keys
	decided := false
	for _, w := range wish {
		if w.source != source {
			return false, false
		}
		if terms.hasEquality(w.slot) {
			for len(keys) > 0 && keys[0].ColumnID-1 == w.slot {
				keys = keys[1:]
			}
			continue
		}
		for len(keys) > 0 && keys[0].ColumnID-1 != w.slot && terms.hasEquality(keys[0].ColumnID-1) {
			keys = keys[1:]
		}
		if len(keys) == 0 {
			// All key columns are used up: what follows orders equal keys only.
			return desc, ix.Unique && decided
		}
		if keys[0].ColumnID-1 != w.slot {
			return false, false
		}
		backwards := keys[0].Desc != w.desc
		if decided && backwards != desc {
			return false, false
		}
		desc, decided = backwards, true
		keys = keys[1:]
	}
	return desc, true
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
