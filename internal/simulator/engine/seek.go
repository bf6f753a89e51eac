package engine

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// keyRange is a stretch of an ordered index between two positions. A position is
// a key prefix and a side: before all entries with that prefix, or after them.
// The empty prefix stands for the index's ends.
type keyRange struct {
	low, high           []value
	lowAfter, highAfter bool
}

func (r keyRange) storage() storage.Range {
	return storage.Range{Low: r.low, LowInclusive: !r.lowAfter, High: r.high, HighInclusive: r.highAfter}
}

var wholeIndex = []keyRange{{highAfter: true}}

// seekColumn is a key column of the index that is searched.
type seekColumn struct {
	slot int
	typ  sqltypes.Type
	desc bool
}

// seekPlan computes the stretches of an index in which the rows of a
// conjunction lie, from values known before the scan starts.
type seekPlan struct {
	columns []seekColumn
	terms   *seekTerms
}

// seekTerms is the part of a conjunction that speaks about one source's columns.
type seekTerms struct {
	compares []comparison
	ins      []*inList
	// ors are disjunctions, each of terms again.
	ors [][]*seekTerms
	// guards are conditions that do not read the source: where one does not hold,
	// the conjunction has no rows.
	guards []*cond
}

// collectTerms finds what a conjunction says about source src. bound are the
// sources whose rows are known when the scan starts.
func collectTerms(conds []*cond, src int, bound uint64) *seekTerms {
	bit := uint64(1) << src
	bound |= outerBit
	t := &seekTerms{}
	for _, k := range conds {
		switch {
		case k.volatile || k.aggregated:
		case k.uses&bit == 0:
			if k.uses&^bound == 0 {
				t.guards = append(t.guards, k)
			}
		case k.in != nil:
			if k.in.column.source == src && valuesBound(k.in.values, bound) {
				t.ins = append(t.ins, k.in)
			}
		case k.or != nil:
			var alternatives []*seekTerms
			for _, d := range k.or {
				alternatives = append(alternatives, collectTerms(conjuncts(d), src, bound))
			}
			t.ors = append(t.ors, alternatives)
		default:
			for _, cmp := range k.compare {
				if cmp.column.source == src && cmp.value.uses&^bound == 0 && seekable(cmp.column.desc.typ, cmp.value.typ, cmp.op) {
					t.compares = append(t.compares, cmp)
				}
			}
		}
	}
	return t
}

func valuesBound(list []*expr, bound uint64) bool {
	for _, e := range list {
		if e.uses&^bound != 0 {
			return false
		}
	}
	return true
}

// seekable reports whether the order of an index on a column of type ct is the
// order in which the column is compared with a value of type vt.
func seekable(ct, vt sqltypes.Type, op string) bool {
	switch {
	case vt.ID == sqltypes.Unknown:
		return true
	case ct.ID.IsText():
		if !vt.ID.IsText() {
			return false
		}
		// Legacy SQL_ collations order varchar by code page and nvarchar by Unicode.
		return op == "=" || ct.ID.IsNational() == vt.ID.IsNational() || ct.ID.IsNational() || ct.Collation == nil || ct.Collation.SortID == 0
	case ct.ID.IsNumber():
		return vt.ID.IsNumber() || vt.ID.IsText()
	case ct.ID.IsTemporal():
		return vt.ID.IsTemporal() || vt.ID.IsText()
	case ct.ID.IsBinary():
		return vt.ID.IsBinary()
	}
	return ct.ID == vt.ID || vt.ID.IsText() && ct.ID == sqltypes.UniqueIdentifier
}

// seekValue brings a value into the column's type. exact is false when that
// loses something, so that the bound cannot be used.
func seekValue(v value, from, to sqltypes.Type) (w value, exact bool) {
	if from.ID == to.ID && !needsConversion(from, to) ||
		from.ID.IsInteger() && to.ID.IsInteger() && to.ID != sqltypes.Bit ||
		from.ID.IsText() && to.ID.IsText() || from.ID.IsBinary() && to.ID.IsBinary() {
		return v, true
	}
	w, err := sqltypes.Convert(v, from, to, 0)
	if err != nil || w.IsNull() {
		return w, false
	}
	back, err := sqltypes.Convert(w, to, from, 0)
	if err != nil {
		return w, false
	}
	if from.ID.IsText() {
		// The text converts to the column's type for the comparison as well.
		return w, true
	}
	return w, sqltypes.Compare(back, v, from) == 0
}

// ranges evaluates the plan for the frame's values.
func (p *seekPlan) ranges(fr *frame) ([]keyRange, error) {
	return p.conjunction(fr, p.terms, nil, nil)
}

func (p *seekPlan) conjunction(fr *frame, t *seekTerms, outerCompares []comparison, outerIns []*inList) ([]keyRange, error) {
	for _, g := range t.guards {
		ok, err := g.eval(fr)
		if err != nil {
			return nil, err
		}
		if ok != yes {
			return nil, nil
		}
	}
	compares := append(slices.Clip(outerCompares), t.compares...)
	ins := append(slices.Clip(outerIns), t.ins...)
	result, err := p.prefix(fr, compares, ins)
	if err != nil {
		return nil, err
	}
	for _, alternatives := range t.ors {
		var union []keyRange
		for _, a := range alternatives {
			r, err := p.conjunction(fr, a, compares, ins)
			if err != nil {
				return nil, err
			}
			union = append(union, r...)
		}
		result = p.intersect(result, p.merge(union))
	}
	return result, nil
}

// maxPoints bounds the number of separate seeks that IN lists may expand to.
const maxPoints = 4096

// prefix turns simple comparisons into ranges: equalities fix key columns from
// the first on, the first column without one may have bounds.
func (p *seekPlan) prefix(fr *frame, compares []comparison, ins []*inList) ([]keyRange, error) {
	prefixes := [][]value{nil}
	for _, col := range p.columns {
		v, found, empty, err := equalValue(fr, compares, col)
		if err != nil || empty {
			return nil, err
		}
		if found {
			for i := range prefixes {
				prefixes[i] = append(slices.Clip(prefixes[i]), v)
			}
			continue
		}
		if list, ok, err := p.inValues(fr, ins, col); err != nil {
			return nil, err
		} else if ok && len(list)*len(prefixes) <= maxPoints {
			var next [][]value
			for _, pre := range prefixes {
				for _, v := range list {
					next = append(next, append(slices.Clip(pre), v))
				}
			}
			prefixes = next
			continue
		}
		return p.bounded(fr, compares, col, prefixes)
	}
	return p.merge(points(prefixes)), nil
}

func points(prefixes [][]value) []keyRange {
	out := make([]keyRange, len(prefixes))
	for i, pre := range prefixes {
		out[i] = keyRange{low: pre, high: pre, highAfter: true}
	}
	return out
}

// equalValue finds the value that an equality gives to the column. empty says
// that no row can match (column = NULL).
func equalValue(fr *frame, compares []comparison, col seekColumn) (v value, found, empty bool, err error) {
	for _, cmp := range compares {
		if cmp.op != "=" || cmp.column.ordinal != col.slot {
			continue
		}
		v, err = cmp.value.eval(fr)
		if err != nil {
			return v, false, false, err
		}
		if v.IsNull() {
			return v, false, true, nil
		}
		if w, exact := seekValue(v, cmp.value.typ, col.typ); exact {
			return w, true, false, nil
		}
	}
	return v, false, false, nil
}

func (p *seekPlan) inValues(fr *frame, ins []*inList, col seekColumn) ([]value, bool, error) {
	for _, in := range ins {
		if in.column.ordinal != col.slot {
			continue
		}
		var list []value
		usable := true
		for _, e := range in.values {
			v, err := e.eval(fr)
			if err != nil {
				return nil, false, err
			}
			if v.IsNull() {
				continue
			}
			w, exact := seekValue(v, e.typ, col.typ)
			if !seekable(col.typ, e.typ, "=") || !exact {
				usable = false
				break
			}
			list = append(list, w)
		}
		if usable {
			return list, true, nil
		}
	}
	return nil, false, nil
}

// bounded applies the lower and upper bounds of a column behind each prefix.
func (p *seekPlan) bounded(fr *frame, compares []comparison, col seekColumn, prefixes [][]value) ([]keyRange, error) {
	ranges := points(prefixes)
	for _, cmp := range compares {
		if cmp.op == "=" || cmp.column.ordinal != col.slot {
			continue
		}
		v, err := cmp.value.eval(fr)
		if err != nil {
			return nil, err
		}
		if v.IsNull() {
			return nil, nil
		}
		w, exact := seekValue(v, cmp.value.typ, col.typ)
		if !exact {
			continue
		}
		op := cmp.op
		if col.desc {
			op = flipOp(op)
		}
		bounds := make([]keyRange, len(prefixes))
		for i, pre := range prefixes {
			key := append(slices.Clip(pre), w)
			switch op {
			case ">", ">=":
				bounds[i] = keyRange{low: key, lowAfter: op == ">", high: pre, highAfter: true}
			default:
				bounds[i] = keyRange{low: pre, high: key, highAfter: op == "<="}
			}
		}
		ranges = p.intersect(p.merge(ranges), p.merge(bounds))
	}
	return p.merge(ranges), nil
}

// comparePosition orders two positions in the index.
func (p *seekPlan) comparePosition(a []value, aAfter bool, b []value, bAfter bool) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		r := compareNullable(a[i], b[i], p.columns[i].typ)
		if p.columns[i].desc {
			r = -r
		}
		if r != 0 {
			return r
		}
	}
	side := func(after bool) int {
		if after {
			return 1
		}
		return -1
	}
	switch {
	case len(a) < len(b):
		return side(aAfter)
	case len(a) > len(b):
		return -side(bAfter)
	case aAfter == bAfter:
		return 0
	default:
		return side(aAfter)
	}
}

// merge sorts ranges and joins those that overlap or touch.
func (p *seekPlan) merge(list []keyRange) []keyRange {
	if len(list) < 2 {
		if len(list) == 1 && p.comparePosition(list[0].low, list[0].lowAfter, list[0].high, list[0].highAfter) >= 0 {
			return nil
		}
		return list
	}
	slices.SortFunc(list, func(a, b keyRange) int {
		return p.comparePosition(a.low, a.lowAfter, b.low, b.lowAfter)
	})
	var out []keyRange
	for _, r := range list {
		if p.comparePosition(r.low, r.lowAfter, r.high, r.highAfter) >= 0 {
			continue
		}
		if n := len(out); n > 0 && p.comparePosition(r.low, r.lowAfter, out[n-1].high, out[n-1].highAfter) <= 0 {
			if p.comparePosition(r.high, r.highAfter, out[n-1].high, out[n-1].highAfter) > 0 {
				out[n-1].high, out[n-1].highAfter = r.high, r.highAfter
			}
			continue
		}
		out = append(out, r)
	}
	return out
}

// intersect keeps what lies in both of two merged lists.
func (p *seekPlan) intersect(a, b []keyRange) []keyRange {
	var out []keyRange
	for i, k := 0, 0; i < len(a) && k < len(b); {
		r := a[i]
		if p.comparePosition(b[k].low, b[k].lowAfter, r.low, r.lowAfter) > 0 {
			r.low, r.lowAfter = b[k].low, b[k].lowAfter
		}
		aEndsFirst := p.comparePosition(a[i].high, a[i].highAfter, b[k].high, b[k].highAfter) <= 0
		if !aEndsFirst {
			r.high, r.highAfter = b[k].high, b[k].highAfter
		}
		if p.comparePosition(r.low, r.lowAfter, r.high, r.highAfter) < 0 {
			out = append(out, r)
		}
		if aEndsFirst {
			i++
		} else {
			k++
		}
	}
	return out
}

// quality rates how much of an index the terms can use: fixed counts the key
// columns with equalities, bounded whether the next one has a bound.
func (t *seekTerms) quality(cols []seekColumn) (fixed int, bounded bool) {
	fixed, bounded = simpleQuality(t.compares, t.ins, cols)
	for _, alternatives := range t.ors {
		worst, worstBounded := len(cols)+1, true
		for _, a := range alternatives {
			if len(a.guards) > 0 && len(a.compares) == 0 && len(a.ins) == 0 && len(a.ors) == 0 {
				continue // decided when it runs
			}
			merged := &seekTerms{
				compares: append(slices.Clip(t.compares), a.compares...),
				ins:      append(slices.Clip(t.ins), a.ins...),
				ors:      a.ors,
			}
			f, bd := merged.quality(cols)
			if f < worst || f == worst && !bd {
				worst, worstBounded = f, bd
			}
		}
		if worst <= len(cols) && (worst > fixed || worst == fixed && worstBounded) {
			fixed, bounded = worst, worstBounded
		}
	}
	return fixed, bounded
}

func simpleQuality(compares []comparison, ins []*inList, cols []seekColumn) (fixed int, bounded bool) {
	for _, col := range cols {
		eq := slices.ContainsFunc(compares, func(k comparison) bool { return k.op == "=" && k.column.ordinal == col.slot }) ||
			slices.ContainsFunc(ins, func(in *inList) bool { return in.column.ordinal == col.slot })
		if eq {
			fixed++
			continue
		}
		return fixed, slices.ContainsFunc(compares, func(k comparison) bool { return k.op != "=" && k.column.ordinal == col.slot })
	}
	return fixed, false
}

// hasEquality reports whether a plain equality fixes the column.
func (t *seekTerms) hasEquality(slot int) bool {
	return slices.ContainsFunc(t.compares, func(k comparison) bool { return k.op == "=" && k.column.ordinal == slot })
}
