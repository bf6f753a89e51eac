package engine

import (
	"errors"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// groupKeys compiles the grouping expressions and their sets. An expression that
// is written several times is one key.
func (c *compiler) groupKeys(g *tsql.GroupBy, b *block, p *selectPlan) error {
	places := make([]int, len(g.Items))
	for i, item := range g.Items {
		e, err := c.expr(item, b)
		if err != nil {
			return err
		}
		key := b.exprKey(item)
		if _, plain := item.(*tsql.ColumnRef); plain && (e.column == nil || e.column.level > 0) {
			key = "" // an outer column is a constant here
		}
		at, known := b.groupKeys[key]
		if !known || key == "" {
			at = len(p.groupBy)
			p.groupBy = append(p.groupBy, e)
		}
		if key != "" {
			b.groupKeys[key] = at
		}
		places[i] = at
	}
	if g.Sets == nil {
		return nil
	}
	if len(p.groupBy) > 63 {
		return unsupported("More than 63 expressions in grouping sets")
	}
	b.groupSets = true
	for _, set := range g.Sets {
		keys := []int{}
		for _, item := range set {
			if !slices.Contains(keys, places[item]) {
				keys = append(keys, places[item])
			}
		}
		p.sets = append(p.sets, keys)
	}
	return nil
}

// groupValue is a grouping expression as select list, HAVING and ORDER BY see
// it: with several grouping sets, the group's value of it.
func (b *block) groupValue(at int, e *expr) *expr {
	if !b.groupSets {
		return e
	}
	return &expr{typ: e.typ, nullable: true, eval: func(fr *frame) (value, error) { return fr.keys[at], nil }}
}

// groupedOutside is error 8120 when a subquery reads a column of an enclosing
// grouped block that is no grouping expression there.
func (b *block) groupedOutside(use *columnUse) error {
	if use.level == 0 {
		return nil
	}
	outer := b
	for range use.level {
		outer = outer.outer
	}
	if !outer.grouped || outer.phase != phaseSelect || outer.inGroupKey > 0 {
		return nil
	}
	own := *use
	own.level = 0
	if _, ok := outer.groupKeys[outer.columnKey(&own)]; ok {
		return nil
	}
	return raise(8120, "Column '%s.%s' is invalid in the select list because it is not contained in either an aggregate function or the GROUP BY clause.", outer.sources[use.source].alias, use.desc.name)
}

// groupingCall is GROUPING(x), and GROUPING_ID(x, ..), whose first argument is
// the highest bit (MS docs: GROUPING_ID).
func (c *compiler) groupingCall(name string, f *tsql.FuncCall, b *block) (*expr, error) {
	if len(f.Args) == 0 || name == "GROUPING" && len(f.Args) != 1 {
		return nil, argumentCount(strings.ToLower(name), 1)
	}
	var places []int
	for i, a := range f.Args {
		at, ok := 0, false
		if b != nil && b.grouped {
			if ref, plain := a.(*tsql.ColumnRef); plain {
				if _, err := b.resolve(ref.Name); err != nil {
					return nil, err
				}
			}
			at, ok = b.groupKeys[b.exprKey(a)]
		}
		if !ok {
			return nil, raise(8161, "Argument %d of the %s function does not match any of the expressions in the GROUP BY clause.", i+1, name)
		}
		places = append(places, at)
	}
	t := typeInt
	if name == "GROUPING" {
		t = typeTinyInt
	}
	return &expr{typ: t, eval: func(fr *frame) (value, error) {
		bits := int64(0)
		for _, at := range places {
			bits = bits<<1 | int64(fr.nulled>>at&1)
		}
		return sqltypes.IntOf(bits), nil
	}}, nil
}

type rowGroup struct {
	fr     *frame
	states []aggState
}

// groupSet collects the groups of one grouping set.
type groupSet struct {
	keys   []int
	rows   *rowSet
	groups []*rowGroup
	key    []value
}

func (r *selectRun) newGroupSet(fr *frame, keys []int) *groupSet {
	s := &groupSet{keys: keys, key: make([]value, len(keys))}
	if len(keys) == 0 {
		// A set without expressions has one group, even of no rows.
		g := &rowGroup{fr: r.emptyGroup(fr), states: make([]aggState, len(r.p.aggregates))}
		setRows(g.fr, r.p.nulls)
		r.setKeys(g.fr, nil, nil)
		s.groups = []*rowGroup{g}
		return s
	}
	types := make([]sqltypes.Type, len(keys))
	for i, at := range keys {
		types[i] = r.p.groupBy[at].typ
	}
	s.rows = newRowSet(types)
	return s
}

// setKeys gives a group's frame the values of the grouping expressions, NULL for
// those outside of its set; its first row loses the columns among the latter.
func (r *selectRun) setKeys(fr *frame, keys []int, vals []value) {
	if r.p.sets == nil {
		return
	}
	fr.keys = make([]value, len(r.p.groupBy))
	fr.nulled = 1<<len(r.p.groupBy) - 1
	for i, at := range keys {
		fr.keys[at] = vals[i]
		fr.nulled &^= 1 << at
	}
	for at, e := range r.p.groupBy {
		if fr.nulled&(1<<at) == 0 || e.column == nil || e.column.level != 0 || fr.rows[e.column.source] == nil {
			continue
		}
		row := slices.Clone(fr.rows[e.column.source])
		row[e.column.ordinal] = value{}
		fr.rows[e.column.source] = row
	}
}

// groupOf finds or starts the group of the current row, whose values of the
// grouping expressions are all.
func (s *groupSet) groupOf(r *selectRun, fr *frame, all []value) *rowGroup {
	if s.rows == nil {
		return s.groups[0]
	}
	for i, at := range s.keys {
		s.key[i] = all[at]
	}
	at, added := s.rows.add(s.key)
	if added {
		g := &rowGroup{fr: r.snapshot(fr), states: make([]aggState, len(r.p.aggregates))}
		r.setKeys(g.fr, s.keys, s.key)
		s.groups = append(s.groups, g)
	}
	return s.groups[at]
}

// group reads all rows and returns one frame for each group, with the values of
// its aggregates. Its rows are those of the group's first row.
func (r *selectRun) group(fr *frame) ([]*frame, error) {
	p := r.p
	var sets []*groupSet
	if p.sets == nil {
		every := make([]int, len(p.groupBy))
		for i := range every {
			every[i] = i
		}
		sets = []*groupSet{r.newGroupSet(fr, every)}
	}
	for _, keys := range p.sets {
		sets = append(sets, r.newGroupSet(fr, keys))
	}
	key := make([]value, len(p.groupBy))
	err := p.root.run(fr, func() error {
		for i, e := range p.groupBy {
			v, err := e.eval(fr)
			if err != nil {
				return err
			}
			key[i] = v
		}
		for _, s := range sets {
			g := s.groupOf(r, fr, key)
			for i, a := range p.aggregates {
				if err := a.add(&g.states[i], fr); err != nil {
					return err
				}
			}
		}
		if p.firstOnly && sets[0].groups[0].states[0].count > 0 {
			return errStop
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		return nil, err
	}
	var frames []*frame
	for _, s := range sets {
		if frames, err = r.finishGroups(frames, s.groups); err != nil {
			return nil, err
		}
	}
	return frames, nil
}

// finishGroups computes the aggregates and adds the groups that HAVING keeps.
func (r *selectRun) finishGroups(frames []*frame, groups []*rowGroup) ([]*frame, error) {
	p := r.p
	var err error
	for _, g := range groups {
		g.fr.aggs = make([]value, len(p.aggregates))
		for i, a := range p.aggregates {
			if g.fr.aggs[i], err = a.result(&g.states[i], g.fr); err != nil {
				return nil, err
			}
		}
		if p.having != nil {
			t, err := p.having.eval(g.fr)
			if err != nil {
				return nil, err
			}
			if t != yes {
				continue
			}
		}
		frames = append(frames, g.fr)
	}
	return frames, nil
}

func (r *selectRun) emptyGroup(fr *frame) *frame {
	return &frame{x: fr.x, outer: fr.outer, rows: make([][]value, r.p.sources), params: fr.params}
}
