package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// ResultSet is a query's answer held in memory.
type ResultSet struct {
	Columns []Column
	Rows    [][]sqltypes.Value
}

// captureSink keeps result sets and passes transaction changes on.
type captureSink struct {
	sets  []*ResultSet
	count int64
	next  Sink
}

func (c *captureSink) Columns(cols []Column) error {
	c.sets = append(c.sets, &ResultSet{Columns: cols})
	return nil
}

func (c *captureSink) Row(row []value) error {
	set := c.sets[len(c.sets)-1]
	set.Rows = append(set.Rows, append([]value(nil), row...))
	return nil
}

func (c *captureSink) Done(d DoneInfo) error {
	if d.HasCount {
		c.count = d.Count
	}
	return nil
}

func (c *captureSink) Message(m *Message) error {
	if c.next == nil {
		return nil
	}
	return c.next.Message(m)
}

func (c *captureSink) EnvChange(kind EnvKind, newValue, oldValue []byte) error {
	if c.next == nil {
		return nil
	}
	return c.next.EnvChange(kind, newValue, oldValue)
}

func (c *captureSink) ReturnStatus(int32) error { return nil }
func (c *captureSink) ReturnValue(string, int, sqltypes.Type, value) error {
	return nil
}

// Query runs T-SQL as the system inside the statement's transaction and returns
// its last result set. args are parameters by name.
func (x *Exec) Query(sql string, args ...Arg) (*ResultSet, error) {
	captured, err := x.internal(sql, args)
	if err != nil {
		return nil, err
	}
	if len(captured.sets) == 0 {
		return &ResultSet{}, nil
	}
	return captured.sets[len(captured.sets)-1], nil
}

// Exec runs T-SQL as the system inside the statement's transaction and returns
// the row count of its last statement.
func (x *Exec) Exec(sql string, args ...Arg) (int64, error) {
	captured, err := x.internal(sql, args)
	if err != nil {
		return 0, err
	}
	return captured.count, nil
}

// Shipped is the same statement marking new objects as made by the server
// (is_ms_shipped).
func (x *Exec) Shipped() *Exec {
	y := *x
	y.shipping = true
	return &y
}

func (x *Exec) internal(sql string, args []Arg) (*captureSink, error) {
	prog, err := x.in.parse(sql, true)
	if err != nil {
		return nil, fmt.Errorf("parsing internal statement %q: %w", sql, err)
	}
	captured := &captureSink{next: x.sink}
	y := x.child()
	y.sink, y.system = captured, true
	y.throwAll()
	scope := newVariables()
	var vals []value
	for _, a := range args {
		if err := scope.declare(a.Name, a.Type); err != nil {
			return nil, err
		}
		vals = append(vals, a.Value)
	}
	saved := x.s.settings
	x.s.nocount, x.s.rowCountLimit, x.s.quotedOff = false, 0, false
	rowCount, lastError := x.s.rowCount, x.s.lastError
	err = y.runProgram(prog, scope, vals)
	x.s.settings = saved
	x.s.rowCount, x.s.lastError = rowCount, lastError
	if t, ok := errors.AsType[*thrown](err); ok {
		err = t.e
	}
	return captured, err
}

// discard is the sink of background work.
type discard struct{}

func (discard) Columns([]Column) error                              { return nil }
func (discard) Row([]value) error                                   { return nil }
func (discard) Done(DoneInfo) error                                 { return nil }
func (discard) Message(*Message) error                              { return nil }
func (discard) EnvChange(EnvKind, []byte, []byte) error             { return nil }
func (discard) ReturnStatus(int32) error                            { return nil }
func (discard) ReturnValue(string, int, sqltypes.Type, value) error { return nil }

// System runs f in a session and transaction of its own as the system, for
// background jobs. The transaction is committed when f returns nil.
func (in *Instance) System(database string, f func(x *Exec) error) error {
	return in.SystemContext(context.Background(), database, f)
}

// SystemContext is System with a context that ends lock waits.
func (in *Instance) SystemContext(ctx context.Context, database string, f func(x *Exec) error) error {
	db := in.Database(database)
	if db == nil {
		return sqltypes.Errorf(911, 1, 16, "Database '%s' does not exist. Make sure that the name is entered correctly.", database)
	}
	s := newSession(in, db, &login{Name: "sa", Sysadmin: true}, Login{App: "SQLServer system"})
	x := s.exec(ctx, discard{})
	x.system = true
	s.tx = s.newTransaction()
	s.tx.count = 1
	defer func() { // also when f panics
		if s.tx != nil {
			s.tx.rollback()
		}
	}()
	if err := f(x); err != nil {
		return err
	}
	if s.tx == nil {
		return nil
	}
	t := s.tx
	s.tx = nil
	return t.commit()
}

// readAll emits the rows of a table.
func readAll(txn *storage.Txn, t *Table, emit func([]value) error) error {
	it := txn.Scan(t.ID, storage.BaseIndex, storage.Range{}, storage.ScanOptions{NoLock: true})
	defer it.Close()
	for {
		_, row, ok := it.Next()
		if !ok {
			return it.Err()
		}
		if err := emit(row); err != nil {
			return err
		}
	}
}

// Elevated is the same statement with the rights of the server itself, for
// procedures that do for their caller what it may not do alone.
func (x *Exec) Elevated() *Exec {
	y := *x
	y.system = true
	return &y
}
