package engine

import (
	"sort"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// window is one function with an OVER clause.
type window struct {
	name      string
	typ       sqltypes.Type
	partition []*expr
	order     []sortKey
	// agg computes aggregates; args are those of the ranking and offset functions.
	agg   *aggregate
	args  []*expr
	frame *tsql.Frame
	// start and end are the offsets of a ROWS frame's bounds.
	start, end *expr
	// next gives the values of NEXT VALUE FOR, one a row in the window's order.
	next func() (value, error)
}

func (c *compiler) windowCall(name string, f *tsql.FuncCall, b *block) (*expr, error) {
	if b == nil || b.phase != phaseSelect {
		return nil, sqltypes.Errorf(4108, 1, 15, "Windowed functions can only appear in the SELECT or ORDER BY clauses.")
	}
	w := &window{name: name, frame: f.Over.Frame}
	var err error
	switch {
	case isAggregate(name):
		if f.Distinct {
			return nil, raise(10759, "Use of DISTINCT is not allowed with the OVER clause.")
		}
		if w.agg, err = c.windowAggregate(name, f, b); err != nil {
			return nil, err
		}
		w.typ = w.agg.typ
	default:
		if w.args, err = c.exprs(f.Args, b); err != nil {
			return nil, err
		}
		if err = w.checkArguments(); err != nil {
			return nil, err
		}
	}
	if w.partition, err = c.exprs(f.Over.PartitionBy, b); err != nil {
		return nil, err
	}
	for _, o := range f.Over.OrderBy {
		k, err := c.expr(o.Expr, b)
		if err != nil {
			return nil, err
		}
		w.order = append(w.order, sortKey{expr: k, desc: o.Desc})
	}
	if w.agg == nil && len(w.order) == 0 {
		return nil, sqltypes.Errorf(4112, 1, 15, "The function '%s' must have an OVER clause with ORDER BY.", name)
	}
	if w.frame != nil {
		if w.frame.Start.N != nil {
			if w.start, err = c.expr(w.frame.Start.N, b); err != nil {
				return nil, err
			}
		}
		if w.frame.End.N != nil {
			if w.end, err = c.expr(w.frame.End.N, b); err != nil {
				return nil, err
			}
		}
	}
	at := len(b.windows)
	b.windows = append(b.windows, w)
	return &expr{typ: w.typ, nullable: true, eval: func(fr *frame) (value, error) { return fr.wins[at], nil }}, nil
}

// windowAggregate compiles a windowed aggregate, whose argument is evaluated
// after grouping.
func (c *compiler) windowAggregate(name string, f *tsql.FuncCall, b *block) (*aggregate, error) {
	a := &aggregate{name: name}
	if f.Star {
		a.typ = countType(name)
		return a, nil
	}
	if len(f.Args) != 1 {
		return nil, argumentCount(strings.ToLower(name), 1)
	}
	var err error
	if a.arg, err = c.expr(f.Args[0], b); err != nil {
		return nil, err
	}
	if a.typ, err = aggregateType(name, a.arg.typ); err != nil {
		return nil, err
	}
	if name == "SUM" || name == "AVG" {
		a.arg = implicit(a.arg, sumType(a.arg.typ))
	}
	return a, nil
}

func (w *window) checkArguments() error {
	switch w.name {
	case "ROW_NUMBER", "RANK", "DENSE_RANK":
		if len(w.args) != 0 {
			return argumentCount(strings.ToLower(w.name), 0)
		}
		w.typ = typeBigInt
	case "NTILE":
		if len(w.args) != 1 {
			return argumentCount("ntile", 1)
		}
		w.typ = typeBigInt
	case "LAG", "LEAD":
		if len(w.args) < 1 || len(w.args) > 3 {
			return argumentCount(strings.ToLower(w.name), 1)
		}
		w.typ = w.args[0].typ
		if len(w.args) == 3 {
			w.args[2] = implicit(w.args[2], w.typ)
		}
	case "FIRST_VALUE", "LAST_VALUE":
		if len(w.args) != 1 {
			return argumentCount(strings.ToLower(w.name), 1)
		}
		w.typ = w.args[0].typ
	default:
		return unsupported("The window function " + w.name)
	}
	return nil
}

// windowRow is a materialised row on which windows are computed.
type windowRow struct {
	fr   *frame
	part []value
	keys []value
	args []value
}

// compute fills wins[at] of every frame.
func (w *window) compute(frames []*frame, at int) error {
	rows := make([]windowRow, len(frames))
	for i, fr := range frames {
		r := windowRow{fr: fr}
		var err error
		if r.part, err = evalAll(fr, w.partition); err != nil {
			return err
		}
		r.keys = make([]value, len(w.order))
		for k, o := range w.order {
			if r.keys[k], err = o.expr.eval(fr); err != nil {
				return err
			}
		}
		if r.args, err = evalAll(fr, w.args); err != nil {
			return err
		}
		rows[i] = r
	}
	partKeys := make([]sortKey, len(w.partition))
	for i, p := range w.partition {
		partKeys[i] = sortKey{expr: p}
	}
	sort.SliceStable(rows, func(i, j int) bool {
		if r := compareKeys(rows[i].part, rows[j].part, partKeys); r != 0 {
			return r < 0
		}
		return compareKeys(rows[i].keys, rows[j].keys, w.order) < 0
	})
	for start := 0; start < len(rows); {
		end := start + 1
		for end < len(rows) && compareKeys(rows[start].part, rows[end].part, partKeys) == 0 {
			end++
		}
		if err := w.computePartition(rows[start:end], at); err != nil {
			return err
		}
		start = end
	}
	return nil
}

func (w *window) computePartition(rows []windowRow, at int) error {
	if w.agg != nil {
		return w.aggregatePartition(rows, at)
	}
	rank, dense := int64(0), int64(0)
	for i, r := range rows {
		peer := i > 0 && compareKeys(rows[i-1].keys, r.keys, w.order) == 0
		if !peer {
			rank, dense = int64(i+1), dense+1
		}
		var v value
		switch w.name {
		case "NEXT VALUE FOR":
			var err error
			if v, err = w.next(); err != nil {
				return err
			}
		case "ROW_NUMBER":
			v = sqltypes.IntOf(int64(i + 1))
		case "RANK":
			v = sqltypes.IntOf(rank)
		case "DENSE_RANK":
			v = sqltypes.IntOf(dense)
		case "NTILE":
			v = sqltypes.IntOf(tile(i, len(rows), int(r.args[0].Int64())))
		case "LAG", "LEAD":
			v = w.offset(rows, i)
		case "FIRST_VALUE":
			v = rows[0].args[0]
		case "LAST_VALUE":
			last := w.lastPeer(rows, i)
			if w.frame != nil && w.frame.End.Kind == tsql.UnboundedFollowing {
				last = len(rows) - 1
			} else if w.frame != nil && w.frame.Rows {
				last = i
			}
			v = rows[last].args[0]
		}
		r.fr.wins[at] = v
	}
	return nil
}

func tile(i, rows, n int) int64 {
	if n < 1 {
		n = 1
	}
	size, extra := rows/n, rows%n
	if i < extra*(size+1) {
		return int64(i/(size+1)) + 1
	}
	if size == 0 {
		return int64(i) + 1
	}
	return int64(extra+(i-extra*(size+1))/size) + 1
}

func (w *window) offset(rows []windowRow, i int) value {
	n := 1
	if len(w.args) > 1 {
		n = int(rows[i].args[1].Int64())
	}
	if w.name == "LAG" {
		n = -n
	}
	if k := i + n; k >= 0 && k < len(rows) {
		return rows[k].args[0]
	}
	if len(w.args) > 2 {
		return rows[i].args[2]
	}
	return value{}
}

// lastPeer is the last row with the order keys of row i, where the default frame
// (RANGE UNBOUNDED PRECEDING) ends.
func (w *window) lastPeer(rows []windowRow, i int) int {
	for i+1 < len(rows) && compareKeys(rows[i+1].keys, rows[i].keys, w.order) == 0 {
		i++
	}
	return i
}

func (w *window) aggregatePartition(rows []windowRow, at int) error {
	running := len(w.order) > 0 && (w.frame == nil || w.frame.Start.Kind == tsql.UnboundedPreceding)
	if running || w.frame == nil {
		return w.aggregateRunning(rows, at)
	}
	for i := range rows {
		from, to, err := w.bounds(rows, i)
		if err != nil {
			return err
		}
		var s aggState
		for k := max(from, 0); k <= min(to, len(rows)-1); k++ {
			if err := w.agg.add(&s, rows[k].fr); err != nil {
				return err
			}
		}
		if rows[i].fr.wins[at], err = w.agg.result(&s, rows[i].fr); err != nil {
			return err
		}
	}
	return nil
}

// aggregateRunning grows one state over the partition.
func (w *window) aggregateRunning(rows []windowRow, at int) error {
	var s aggState
	done := 0
	for i := range rows {
		_, to, err := w.bounds(rows, i)
		if err != nil {
			return err
		}
		for ; done <= min(to, len(rows)-1); done++ {
			if err := w.agg.add(&s, rows[done].fr); err != nil {
				return err
			}
		}
		if rows[i].fr.wins[at], err = w.agg.result(&s, rows[i].fr); err != nil {
			return err
		}
	}
	return nil
}

// bounds are the first and last row of row i's frame.
func (w *window) bounds(rows []windowRow, i int) (from, to int, err error) {
	if len(w.order) == 0 && w.frame == nil {
		return 0, len(rows) - 1, nil
	}
	if w.frame == nil {
		return 0, w.lastPeer(rows, i), nil
	}
	if from, err = w.bound(rows, i, w.frame.Start.Kind, w.start, true); err != nil {
		return 0, 0, err
	}
	to, err = w.bound(rows, i, w.frame.End.Kind, w.end, false)
	return from, to, err
}

func (w *window) bound(rows []windowRow, i int, kind tsql.FrameBoundKind, n *expr, first bool) (int, error) {
	offset := 0
	if n != nil {
		v, err := n.eval(rows[i].fr)
		if err != nil {
			return 0, err
		}
		offset = int(v.Int64())
	}
	switch kind {
	case tsql.UnboundedPreceding:
		return 0, nil
	case tsql.UnboundedFollowing:
		return len(rows) - 1, nil
	case tsql.Preceding:
		return i - offset, nil
	case tsql.Following:
		return i + offset, nil
	default:
		if w.frame.Rows {
			return i, nil
		}
		if first {
			for i > 0 && compareKeys(rows[i-1].keys, rows[i].keys, w.order) == 0 {
				i--
			}
			return i, nil
		}
		return w.lastPeer(rows, i), nil
	}
}
