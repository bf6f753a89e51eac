package engine

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// BulkRows are the rows of a bulk load, in the order of the columns of its
// INSERT BULK.
type BulkRows interface {
	// Types are the types in which the values come.
	Types() []sqltypes.Type
	// Next reads the next row into row, or returns io.EOF behind the last. A
	// *sqltypes.Error ends the load as a statement's error does.
	Next(row []sqltypes.Value) error
}

// bulkTarget is an INSERT BULK that waits for its rows.
type bulkTarget struct {
	stmt *tsql.InsertBulkStmt
	text string
	db   *Database
}

// insertBulk is INSERT BULK: it checks the table and its columns, and makes the
// session expect the rows (MS-TDS 2.2.6.1).
func (x *Exec) insertBulk(st *tsql.InsertBulkStmt) error {
	if _, err := x.bulkLoader(&compiler{x: x, maxRecursion: maxRecursion}, st); err != nil {
		return err
	}
	x.s.bulk = &bulkTarget{stmt: st, text: x.textOf(st), db: x.db}
	return nil
}

// BulkLoad runs the bulk load that the last INSERT BULK announced. Errors of the
// load go to the sink, and undo it; what it returns is as of Batch.
func (s *Session) BulkLoad(ctx context.Context, rows BulkRows, sink Sink) error {
	target := s.bulk // before begin, by which any other call takes it back
	ctx, end := s.begin(ctx)
	defer end()
	x := s.exec(ctx, sink)
	if target == nil {
		return x.report(errNoBulk, true)
	}
	s.lastStatement.Store(&target.text)
	x.db = target.db
	return x.finish(x.runBulk(target, rows))
}

// AbandonBulkLoad takes INSERT BULK back: the client has given up sending rows.
func (s *Session) AbandonBulkLoad() { s.bulk = nil }

// errNoBulk answers rows that no INSERT BULK announced.
var errNoBulk = sqltypes.Errorf(4002, 1, 16, "The incoming tabular data stream (TDS) protocol stream is incorrect. The stream of a bulk load came without INSERT BULK.")

func (x *Exec) runBulk(target *bulkTarget, rows BulkRows) error {
	c := &compiler{x: x, maxRecursion: maxRecursion}
	load, err := x.bulkLoader(c, target.stmt)
	if err != nil {
		return x.statementError(nil, err)
	}
	info := statementPlan{kind: "insert", objects: c.objects, text: target.text, data: true}
	err = x.statement(info, func() error {
		n, err := load.run(x, rows)
		if err != nil {
			return err
		}
		x.s.rowCount, x.s.lastError = n, 0
		return x.done(CommandInsert, n)
	})
	if err != nil {
		return x.statementError(&tsql.InsertStmt{}, err)
	}
	return nil
}

// bulkLoader is the compiled form of an INSERT BULK.
type bulkLoader struct {
	*inserter
	// declared are the types that the statement gives the columns.
	declared  []sqltypes.Type
	keepNulls bool
}

// bulkLoader compiles the statement. Unless asked for, constraints are not
// checked, and a NULL becomes the column's default (MS docs: BULK INSERT,
// CHECK_CONSTRAINTS and KEEPNULLS). Values for an identity column are kept: a
// client that does not want that leaves the column out.
func (x *Exec) bulkLoader(c *compiler, st *tsql.InsertBulkStmt) (*bulkLoader, error) {
	for _, option := range st.Options {
		if !slices.Contains(bulkOptions, option) {
			return nil, sqltypes.Errorf(155, 1, 15, "'%s' is not a recognized BULK INSERT option.", option)
		}
	}
	db, t, err := c.target(tsql.Target{Name: st.Table}, "INSERT")
	if err != nil {
		return nil, err
	}
	w, err := c.tableWriter(db, t)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(st.Options, "CHECK_CONSTRAINTS") {
		w.checks, w.keys = nil, nil
	}
	load := &bulkLoader{inserter: &inserter{tableWriter: w, verb: "INSERT"}, keepNulls: slices.Contains(st.Options, "KEEP_NULLS")}
	for i, def := range st.Columns {
		col := t.Column(def.Name)
		switch {
		case col == nil:
			return nil, errInvalidColumn(def.Name)
		case slices.Contains(load.columns, col):
			return nil, raise(264, "The column name '%s' is specified more than once in the SET clause or column list of an INSERT. A column cannot be assigned more than one value in the same clause. Modify the clause to make sure that a column is updated only once. If this statement updates or inserts columns into a view, column aliasing can conceal the duplication in your code.", def.Name)
		case col.Computed != "":
			return nil, raise(271, "The column \"%s\" cannot be modified because it is either a computed column or is the result of a UNION operator.", col.Name)
		case col.Type.ID == sqltypes.RowVersion:
			return nil, raise(273, "Cannot insert an explicit value into a timestamp column. Use INSERT with a column list to exclude the timestamp column, or insert a DEFAULT into the timestamp column.")
		}
		declared, _, err := x.resolveType(def.Type)
		if err != nil {
			return nil, err
		}
		if declared.ID == sqltypes.XML {
			return nil, errBulkType(i)
		}
		load.explicit = load.explicit || col.Identity != nil
		load.columns, load.declared = append(load.columns, col), append(load.declared, declared)
	}
	return load, nil
}

// bulkOptions are the options of INSERT BULK. Those about locks, order and the
// size of batches change how fast it goes, and nothing here. There are no
// triggers to fire for rows that come in bulk.
var bulkOptions = []string{
	"CHECK_CONSTRAINTS", "FIRE_TRIGGERS", "KEEP_NULLS", "TABLOCK", "ORDER", "ROWS_PER_BATCH", "KILOBYTES_PER_BATCH",
	"ALLOW_ENCRYPTED_VALUE_MODIFICATIONS",
}

func errBulkType(column int) error {
	return raise(4816, "Invalid column type from bcp client for colid %d.", column+1)
}

// run stores all rows and returns their number.
func (l *bulkLoader) run(x *Exec, rows BulkRows) (int64, error) {
	from := rows.Types()
	if len(from) != len(l.columns) {
		return 0, errBulkType(min(len(from), len(l.columns)))
	}
	out := l.output.start(x)
	row, missing := make([]value, len(from)), make([]bool, len(from))
	for n := int64(0); ; n++ {
		if err := x.ctx.Err(); err != nil {
			return n, context.Cause(x.ctx)
		}
		err := rows.Next(row)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		for i, v := range row {
			col := l.columns[i]
			missing[i] = v.IsNull() && !l.keepNulls && l.defaults[col.slot()] != nil
			if row[i], err = l.value(i, v, from[i]); err != nil {
				return n, err
			}
		}
		if err := l.add(x, row, missing, out); err != nil {
			return n, err
		}
	}
}

// value converts one value to its column's type. Text and bytes must fit the
// type that the statement declares.
func (l *bulkLoader) value(i int, v value, from sqltypes.Type) (value, error) {
	col := l.columns[i]
	if declared := l.declared[i]; !v.IsNull() && declared.ID.IsBinary() && declared.Length > 0 && v.Kind() == sqltypes.KindBytes && len(v.Raw()) > declared.Length {
		return v, raise(4815, "Received an invalid column length from the bcp client for colid %d.", i+1)
	}
	switch col.Type.ID {
	case sqltypes.HierarchyID, sqltypes.Geometry, sqltypes.Geography:
		if v.Kind() == sqltypes.KindBytes {
			return v, nil // clients send CLR types as varbinary
		}
	}
	return l.assign(v, from, col)
}
