package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// outputPlan is an OUTPUT clause. Its block has the statement's own sources,
// then inserted, deleted and, for MERGE, the action.
type outputPlan struct {
	items   []*expr
	columns []columnDesc
	into    *inserter
	from    []sqltypes.Type
	// at is the place of inserted among the sources.
	at   int
	then *outputPlan
}

// output compiles an OUTPUT clause; nil for none. base are the sources of the
// statement's FROM clause.
func (c *compiler) output(o *tsql.OutputClause, w *tableWriter, base *block) (*outputPlan, error) {
	if o == nil {
		return nil, nil
	}
	if len(w.triggers) > 0 && (o.Into == nil || o.Then != nil) {
		return nil, raise(334, "The target table '%s' of the DML statement cannot have any enabled triggers if the statement contains an OUTPUT clause without INTO clause.", w.table.Name)
	}
	b := &block{phase: phaseWhere}
	if base != nil {
		b.sources = append(b.sources, base.sources...)
	}
	p := &outputPlan{at: len(b.sources)}
	inserted := tableSourceOf(w.table, w.db, "inserted", "inserted")
	deleted := tableSourceOf(w.table, w.db, "deleted", "deleted")
	c.maskSource(inserted)
	c.maskSource(deleted)
	action := &source{alias: "$merge", columns: []columnDesc{{name: "$action", typ: sqltypes.NVarCharOf(10)}}}
	b.sources = append(b.sources, inserted, deleted, action)
	for i := range inserted.columns {
		inserted.columns[i].nullable, deleted.columns[i].nullable = true, true
	}
	sel := &selectPlan{}
	var err error
	if p.columns, err = c.selectList(o.Items, b, sel); err != nil {
		return nil, err
	}
	p.items = sel.out
	for i, e := range p.items {
		p.from = append(p.from, e.typ)
		p.columns[i].identity, p.columns[i].computed = false, false
	}
	if o.Into != nil {
		db, t, err := c.target(*o.Into, "INSERT")
		if err != nil {
			return nil, err
		}
		if p.into, err = c.inserter(db, t, o.IntoColumns, len(p.items)); err != nil {
			return nil, err
		}
	}
	if o.Then != nil {
		if p.then, err = c.output(o.Then, w, base); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// outputRun collects the rows of an OUTPUT clause while the statement runs. A
// nil plan collects nothing.
type outputRun struct {
	p    *outputPlan
	x    *Exec
	rows [][]value
	then *outputRun
}

func (p *outputPlan) start(x *Exec) *outputRun {
	r := &outputRun{p: p, x: x}
	if p != nil && p.then != nil {
		r.then = p.then.start(x)
	}
	return r
}

func (r *outputRun) add(deleted, inserted []value, action string) error {
	return r.addFrom(nil, deleted, inserted, action)
}

// addFrom computes the output of one changed row; base are the source rows.
func (r *outputRun) addFrom(base [][]value, deleted, inserted []value, action string) error {
	if r == nil || r.p == nil {
		return nil
	}
	fr := &frame{x: r.x, rows: make([][]value, r.p.at+3)}
	copy(fr.rows, base)
	width := max(len(inserted), len(deleted))
	if inserted == nil {
		inserted = make([]value, width)
	}
	if deleted == nil {
		deleted = make([]value, width)
	}
	fr.rows[r.p.at], fr.rows[r.p.at+1] = inserted, deleted
	fr.rows[r.p.at+2] = []value{sqltypes.StringOf(action)}
	row, err := evalAll(fr, r.p.items)
	if err != nil {
		return err
	}
	r.rows = append(r.rows, row)
	if r.then != nil {
		return r.then.addFrom(base, deleted, inserted, action)
	}
	return nil
}

// finish sends or stores the output and ends the statement.
func (r *outputRun) finish(command uint16, count int64) error {
	if err := r.deliver(); err != nil {
		return err
	}
	if err := r.x.fireTriggers(count); err != nil {
		return err
	}
	r.x.s.rowCount, r.x.s.lastError = count, 0
	return r.x.done(command, count)
}

func (r *outputRun) deliver() error {
	if r == nil || r.p == nil {
		return nil
	}
	if r.p.into != nil {
		vals := make([]value, len(r.p.items))
		for _, row := range r.rows {
			for i, v := range row {
				var err error
				if vals[i], err = r.p.into.assign(v, r.p.from[i], r.p.into.columns[i]); err != nil {
					return err
				}
			}
			if err := r.p.into.add(r.x, vals, nil, nil); err != nil {
				return err
			}
		}
		return r.then.deliver()
	}
	cols := make([]Column, len(r.p.columns))
	for i := range cols {
		cols[i] = r.p.columns[i].result()
	}
	if err := r.x.sink.Columns(cols); err != nil {
		return &sinkError{err}
	}
	for _, row := range r.rows {
		if err := r.x.sink.Row(row); err != nil {
			return &sinkError{err}
		}
	}
	return r.then.deliver()
}
