package engine

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// mergePlan is a compiled MERGE. Source 0 of its block is the target, source 1
// the USING table.
type mergePlan struct {
	db     *Database
	table  *Table
	w      *tableWriter
	joined node // source left join target
	target node // the target alone
	whens  []mergeBranch
	out    *outputPlan
	width  int
}

type mergeBranch struct {
	when *tsql.MergeWhen
	and  *cond
	set  []setter
	in   *inserter
	vals []*expr
}

// merge compiles MERGE.
func (c *compiler) merge(st *tsql.MergeStmt) (func(x *Exec) error, error) {
	if st.Top != nil {
		return nil, unsupported("MERGE TOP")
	}
	ctes, err := c.withClause(st.With, nil, nil)
	if err != nil {
		return nil, err
	}
	p := &mergePlan{}
	if p.db, p.table, err = c.target(st.Target, "UPDATE"); err != nil {
		return nil, err
	}
	b := &block{ctes: ctes, phase: phaseFrom, names: c.x.db.nameRules()}
	src := tableSourceOf(p.table, p.db, st.Target.Alias, st.Target.Name.Base()+st.Target.Variable)
	src.schema = c.catalog(p.db).schemaName(p.table.SchemaID)
	target, err := c.addTable(b, &leaf{src: src, hints: st.Target.Hints})
	if err != nil {
		return nil, err
	}
	using, err := c.tableSource(st.Using, b)
	if err != nil {
		return nil, err
	}
	b.phase = phaseWhere
	on, err := c.cond(st.On, b)
	if err != nil {
		return nil, err
	}
	if p.w, err = c.tableWriter(p.db, p.table); err != nil {
		return nil, err
	}
	for i := range st.Whens {
		branch, err := c.mergeBranch(&st.Whens[i], b, p)
		if err != nil {
			return nil, err
		}
		p.whens = append(p.whens, branch)
	}
	if p.out, err = c.output(st.Output, p.w, b); err != nil {
		return nil, err
	}
	p.width = len(b.sources)
	join := &fromTree{bits: target.bits | using.bits, kind: tsql.LeftJoin, l: using, r: target, on: on}
	for _, part := range []struct {
		to   *node
		tree *fromTree
	}{{&p.joined, join}, {&p.target, target}} {
		pl := &planner{c: c, b: b, keepID: 1, writes: true}
		if *part.to, err = pl.plan(part.tree, nil); err != nil {
			return nil, err
		}
	}
	return p.run, nil
}

func (c *compiler) mergeBranch(when *tsql.MergeWhen, b *block, p *mergePlan) (mergeBranch, error) {
	branch := mergeBranch{when: when}
	var err error
	if when.And != nil {
		if branch.and, err = c.cond(when.And, b); err != nil {
			return branch, err
		}
	}
	switch when.Action {
	case tsql.MergeUpdate:
		branch.set, err = c.setters(when.Set, b, p.w)
	case tsql.MergeInsert:
		given := len(when.Values)
		if when.DefaultValues {
			given = -1
		}
		if branch.in, err = c.inserter(p.db, p.table, when.Columns, given); err != nil {
			return branch, err
		}
		branch.in.verb = "MERGE"
		if when.DefaultValues {
			branch.in.columns = nil
		}
		branch.vals = make([]*expr, len(when.Values))
		c.assigning = true
		defer func() { c.assigning = false }()
		for i, e := range when.Values {
			if _, ok := e.(*tsql.DefaultValue); ok {
				continue
			}
			if isRowVersion(branch.in.columns[i]) {
				return branch, errRowVersion()
			}
			if branch.vals[i], err = c.expr(e, b); err != nil {
				return branch, err
			}
		}
	}
	return branch, err
}

// choose finds the branch for a frame; nil when none applies.
func (p *mergePlan) choose(fr *frame, match tsql.MergeMatch) (*mergeBranch, error) {
	for i := range p.whens {
		b := &p.whens[i]
		if b.when.Match != match {
			continue
		}
		if b.and == nil {
			return b, nil
		}
		t, err := b.and.eval(fr)
		if err != nil {
			return nil, err
		}
		if t == yes {
			return b, nil
		}
	}
	return nil, nil
}

// mergeAction is one row's change, decided before any row is written.
type mergeAction struct {
	branch *mergeBranch
	row    foundRow
	base   [][]value
}

func (p *mergePlan) run(x *Exec) error {
	actions, err := p.decide(x)
	if err != nil {
		return err
	}
	out := p.out.start(x)
	p.begin(x)
	var updates []foundRow
	var assigned []int
	for i := range actions {
		a := &actions[i]
		switch a.branch.when.Action {
		case tsql.MergeUpdate:
			updates = append(updates, a.row)
			assigned = append(assigned, assignedColumns(a.branch.set)...)
		case tsql.MergeDelete:
			if err := p.w.delete(x, a.row.id, a.row.old, "MERGE"); err != nil {
				return err
			}
		}
	}
	if err := p.w.storeUpdates(x, updates, assigned, "MERGE", true); err != nil {
		return err
	}
	for i, k := 0, 0; i < len(actions); i++ {
		a := &actions[i]
		switch a.branch.when.Action {
		case tsql.MergeUpdate:
			err = out.addFrom(a.base, updates[k].old, updates[k].next, "UPDATE")
			k++
		case tsql.MergeDelete:
			err = out.addFrom(a.base, a.row.old, nil, "DELETE")
		default:
			if err = p.w.insert(x, a.row.next, storage.LSN{}); err == nil {
				p.w.note(x, "INSERT", nil, a.row.next)
				err = out.addFrom(a.base, nil, a.row.next, "INSERT")
			}
		}
		if err != nil {
			return err
		}
	}
	return out.finish(CommandMerge, int64(len(actions)))
}

// begin announces the events of all branches to the triggers.
func (p *mergePlan) begin(x *Exec) {
	for i := range p.whens {
		b := &p.whens[i]
		switch b.when.Action {
		case tsql.MergeInsert:
			p.w.begin(x, "INSERT", nil)
		case tsql.MergeUpdate:
			p.w.begin(x, "UPDATE", assignedColumns(b.set))
		case tsql.MergeDelete:
			p.w.begin(x, "DELETE", []int{})
		}
	}
}

// decide finds what happens to each row of target and source.
func (p *mergePlan) decide(x *Exec) ([]mergeAction, error) {
	var actions []mergeAction
	touched := map[storage.RowID]bool{}
	matchedTarget := map[storage.RowID]bool{}
	fr := &frame{x: x, rows: make([][]value, p.width), ids: make([]storage.RowID, p.width)}
	err := p.joined.run(fr, func() error {
		if fr.ids[0] == 0 {
			a, err := p.insertion(x, fr)
			if a != nil {
				actions = append(actions, *a)
			}
			return err
		}
		id := fr.ids[0]
		fr.ids[0] = 0
		matchedTarget[id] = true
		b, err := p.choose(fr, tsql.WhenMatched)
		if err != nil || b == nil {
			return err
		}
		if touched[id] {
			return raise(8672, "The MERGE statement attempted to UPDATE or DELETE the same row more than once. This happens when a target row matches more than one source row. A MERGE statement cannot UPDATE/DELETE the same row of the target table multiple times. Refine the ON clause to ensure a target row matches at most one source row, or use the GROUP BY clause to group the source rows.")
		}
		touched[id] = true
		a := mergeAction{branch: b, row: foundRow{id: id, old: fr.rows[0]}, base: cloneRows(fr.rows)}
		if b.when.Action == tsql.MergeUpdate {
			if a.row.next, err = p.w.apply(x, fr, b.set, a.row.old); err != nil {
				return err
			}
		}
		actions = append(actions, a)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = p.target.run(fr, func() error {
		id := fr.ids[0]
		if matchedTarget[id] {
			return nil
		}
		for i := 1; i < p.width; i++ {
			fr.rows[i] = nil
		}
		b, err := p.choose(fr, tsql.WhenNotMatchedBySource)
		if err != nil || b == nil {
			return err
		}
		a := mergeAction{branch: b, row: foundRow{id: id, old: fr.rows[0]}, base: cloneRows(fr.rows)}
		if b.when.Action == tsql.MergeUpdate {
			if a.row.next, err = p.w.apply(x, fr, b.set, a.row.old); err != nil {
				return err
			}
		}
		actions = append(actions, a)
		return nil
	})
	return actions, err
}

// insertion is the action for a source row without a match.
func (p *mergePlan) insertion(x *Exec, fr *frame) (*mergeAction, error) {
	b, err := p.choose(fr, tsql.WhenNotMatchedByTarget)
	if err != nil || b == nil {
		return nil, err
	}
	vals, missing := make([]value, len(b.vals)), make([]bool, len(b.vals))
	for i, e := range b.vals {
		if missing[i] = e == nil; missing[i] {
			continue
		}
		v, err := e.eval(fr)
		if err != nil {
			return nil, err
		}
		if vals[i], err = b.in.assign(v, e.typ, b.in.columns[i]); err != nil {
			return nil, err
		}
	}
	a := &mergeAction{branch: b, base: cloneRows(fr.rows)}
	a.row.next, err = b.in.build(x, vals, missing)
	return a, err
}

func cloneRows(rows [][]value) [][]value {
	out := make([][]value, len(rows))
	for i, r := range rows {
		out[i] = slices.Clone(r)
	}
	return out
}
