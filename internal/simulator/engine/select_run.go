package engine

import (
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// selectRun is one execution of a selectPlan.
type selectRun struct {
	p    *selectPlan
	x    *Exec
	lim  limit
	emit func([]value) error
	seen *rowSet
	buf  []value
	// sent counts the rows after DISTINCT, offset included.
	sent   int64
	sorted []sortedRow
	// stopped tells the run's own errStop from one of the consumer.
	stopped bool
}

type sortedRow struct {
	out, keys []value
}

func (p *selectPlan) newFrame(x *Exec, outer *frame) *frame {
	fr := &frame{x: x, outer: outer, rows: make([][]value, p.sources)}
	if p.target != nil {
		fr.ids = make([]storage.RowID, p.sources)
	}
	return fr
}

func (p *selectPlan) run(x *Exec, outer *frame, emit func([]value) error) error {
	fr := p.newFrame(x, outer)
	return p.runFrame(fr, emit)
}

// runFrame executes the plan in a frame that the caller has prepared.
func (p *selectPlan) runFrame(fr *frame, emit func([]value) error) error {
	lim, err := p.limits.evaluate(fr)
	if err != nil {
		return err
	}
	if lim.limited && lim.count == 0 {
		return p.lockTables(fr)
	}
	r := &selectRun{p: p, x: fr.x, lim: lim, emit: emit, buf: make([]value, len(p.out))}
	if p.distinct {
		types := make([]sqltypes.Type, len(p.out))
		for i, e := range p.out {
			types[i] = e.typ
		}
		r.seen = newRowSet(types)
	}
	switch {
	case p.grouped || len(p.windows) > 0:
		err = r.materialize(fr)
	case len(p.order) > 0 && !p.ordered || lim.percent > 0:
		if err = p.root.run(fr, func() error { return r.collect(fr) }); err == nil {
			err = r.flush()
		}
	default:
		err = p.root.run(fr, func() error { return r.project(fr) })
	}
	if errors.Is(err, errStop) && r.stopped {
		return nil
	}
	return err
}

// lockTables takes the locks that hints ask for, for a block that returns no
// rows: SELECT TOP (0) * FROM t WITH (TABLOCKX) is a way to lock a table, which
// debezium's ExclusiveSnapshotLock relies on.
func (p *selectPlan) lockTables(fr *frame) error {
	for _, n := range p.locking {
		if err := n.lock(fr.x); err != nil {
			return err
		}
	}
	return nil
}

// evalOut computes the output row of the frame into the shared buffer.
func (r *selectRun) evalOut(fr *frame) error {
	for i, e := range r.p.out {
		if e.column != nil && e.column.level == 0 {
			r.buf[i] = fr.rows[e.column.source][e.column.ordinal]
			continue
		}
		v, err := e.eval(fr)
		if err != nil {
			return err
		}
		r.buf[i] = v
	}
	return nil
}

// project sends the row of the frame on without sorting.
func (r *selectRun) project(fr *frame) error {
	if err := r.evalOut(fr); err != nil {
		return err
	}
	if r.seen != nil {
		if _, added := r.seen.add(r.buf); !added {
			return nil
		}
	}
	return r.send(r.buf)
}

func (r *selectRun) send(row []value) error {
	r.sent++
	if r.sent <= r.lim.offset {
		return nil
	}
	if err := r.emit(row); err != nil {
		return err
	}
	if r.lim.limited && !r.p.limits.ties && r.sent-r.lim.offset >= r.lim.count {
		r.stopped = true
		return errStop
	}
	return nil
}

// collect keeps the row of the frame for sorting. Under TOP no more than about
// twice the wanted rows are held.
func (r *selectRun) collect(fr *frame) error {
	if err := r.evalOut(fr); err != nil {
		return err
	}
	if r.seen != nil {
		if _, added := r.seen.add(r.buf); !added {
			return nil
		}
	}
	row := sortedRow{out: slices.Clone(r.buf), keys: make([]value, len(r.p.order))}
	for i, k := range r.p.order {
		if k.output >= 0 {
			row.keys[i] = row.out[k.output]
			continue
		}
		v, err := k.expr.eval(fr)
		if err != nil {
			return err
		}
		row.keys[i] = v
	}
	r.sorted = append(r.sorted, row)
	if r.lim.limited && !r.p.limits.ties && int64(len(r.sorted)) > 2*(r.lim.offset+r.lim.count)+1024 {
		r.sort()
		r.sorted = r.sorted[:r.lim.offset+r.lim.count]
	}
	return nil
}

func (r *selectRun) sort() {
	keys := make([]sortKey, len(r.p.order))
	for i, k := range r.p.order {
		keys[i] = k.sortKey
	}
	sort.SliceStable(r.sorted, func(i, j int) bool {
		return compareKeys(r.sorted[i].keys, r.sorted[j].keys, keys) < 0
	})
}

// flush sorts what was collected and sends it.
func (r *selectRun) flush() error {
	r.sort()
	if r.lim.percent > 0 {
		r.lim.limited = true
		r.lim.count = int64(math.Ceil(float64(len(r.sorted)) * r.lim.percent / 100))
	}
	keys := make([]sortKey, len(r.p.order))
	for i, k := range r.p.order {
		keys[i] = k.sortKey
	}
	for i, row := range r.sorted {
		if r.p.limits.ties && r.lim.limited && int64(i) >= r.lim.count &&
			compareKeys(row.keys, r.sorted[r.lim.count-1].keys, keys) != 0 {
			break
		}
		if err := r.send(row.out); err != nil {
			return err
		}
	}
	return nil
}

// materialize runs blocks that group or compute windows: all rows, or all
// groups, are there before the first one is sent.
func (r *selectRun) materialize(fr *frame) error {
	var frames []*frame
	var err error
	if r.p.grouped {
		frames, err = r.group(fr)
	} else {
		err = r.p.root.run(fr, func() error {
			frames = append(frames, r.snapshot(fr))
			return nil
		})
	}
	if err != nil {
		return err
	}
	for at, w := range r.p.windows {
		if at == 0 {
			for _, f := range frames {
				f.wins = make([]value, len(r.p.windows))
			}
		}
		if err := w.compute(frames, at); err != nil {
			return err
		}
	}
	sorting := len(r.p.order) > 0 || r.lim.percent > 0
	for _, f := range frames {
		if sorting {
			err = r.collect(f)
		} else {
			err = r.project(f)
		}
		if err != nil {
			return err
		}
	}
	if sorting {
		return r.flush()
	}
	return nil
}

// snapshot copies the frame so that it outlives the current row.
func (r *selectRun) snapshot(fr *frame) *frame {
	rows := slices.Clone(fr.rows)
	for i := range rows {
		if r.p.transient&(1<<i) != 0 {
			rows[i] = slices.Clone(rows[i])
		}
	}
	out := &frame{x: fr.x, outer: fr.outer, rows: rows, params: fr.params}
	if fr.ids != nil {
		out.ids = append([]storage.RowID(nil), fr.ids...)
	}
	return out
}
