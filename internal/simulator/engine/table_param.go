package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// TableArg is the value of a table-valued parameter.
type TableArg struct {
	// Schema and Name are the table type's, as the client gave them.
	Schema, Name string
	// Types are those of the columns; none at all is an empty table.
	Types []sqltypes.Type
	// Default marks the columns that the rows hold no value for.
	Default []bool
	// Rows hold a value for each of the other columns, in their order.
	Rows [][]sqltypes.Value
}

// tableParam is the declaration of a table-valued parameter.
func tableParam(p tsql.Param, def *tsql.TableType) (Param, error) {
	if !p.ReadOnly {
		return Param{}, sqltypes.Errorf(352, 1, 15, "The table-valued parameter \"%s\" must be declared with the READONLY option.", p.Name)
	}
	return Param{Name: p.Name, table: def, tableName: p.Type.Base()}, nil
}

// bindTable checks an argument against a parameter when one of them is a table.
func bindTable(p Param, a Arg) error {
	switch {
	case p.table == nil && a.Table == nil:
		return nil
	case p.table == nil:
		return raise(206, "Operand type clash: %s is incompatible with %s", a.Table.Name, p.Type.Name())
	case a.Table == nil:
		return raise(206, "Operand type clash: %s is incompatible with %s", a.Type.Name(), p.tableName)
	}
	return nil
}

// declareParams gives the parameters their slots in a new scope of x, and
// makes the tables of those that are table-valued, read-only and with the rows
// of their arguments. from is as bind returns it.
func (x *Exec) declareParams(params []Param, from []int, args []callArg) (*variables, error) {
	scope := newVariables()
	x.scope = scope
	for i, p := range params {
		if p.table == nil {
			if err := scope.declare(p.Name, p.Type); err != nil {
				return nil, err
			}
			continue
		}
		// The slot keeps parameters and slots at one index; no name reaches it.
		if err := scope.declare(p.Name+" table", typeNull); err != nil {
			return nil, err
		}
		if err := x.declareTableParam(p, from[i], args); err != nil {
			x.dropTableVariables()
			return nil, err
		}
	}
	return scope, nil
}

// declareTableParam makes one table; a parameter without an argument is an
// empty table (MS docs: Use table-valued parameters).
func (x *Exec) declareTableParam(p Param, from int, args []callArg) error {
	if err := x.declareTable(p.Name, p.table); err != nil {
		return err
	}
	table := x.scope.tables[fold(p.Name)]
	if from >= 0 {
		if err := x.fillTableParam(table, args[from].Table); err != nil {
			return err
		}
	}
	table.readOnly = true
	return nil
}

func (x *Exec) fillTableParam(t *Table, arg *TableArg) error {
	if len(arg.Types) == 0 {
		return nil
	}
	if len(arg.Types) != len(t.Columns) {
		return raise(500, "Trying to pass a table-valued parameter with %d column(s) where the corresponding user-defined table type requires %d column(s).", len(arg.Types), len(t.Columns))
	}
	c := &compiler{x: x, maxRecursion: maxRecursion}
	w, err := c.tableWriter(x.in.tempdb, t)
	if err != nil {
		return err
	}
	in := &inserter{tableWriter: w, verb: "INSERT"}
	var given []int // of the argument's columns
	for i, col := range t.Columns {
		switch {
		case arg.Default[i]:
			continue
		case col.Identity != nil:
			return raise(1077, "INSERT into an identity column not allowed on table variables.")
		case col.Computed != "" || col.Type.ID == sqltypes.RowVersion:
			return raise(271, "The column \"%s\" cannot be modified because it is either a computed column or is the result of a UNION operator.", col.Name)
		}
		given, in.columns = append(given, i), append(in.columns, col)
	}
	vals := make([]value, len(given))
	out := in.output.start(x)
	for _, row := range arg.Rows {
		for k, i := range given {
			if vals[k], err = in.assign(row[k], arg.Types[i], in.columns[k]); err != nil {
				return err
			}
		}
		if err := in.add(x, vals, nil, out); err != nil {
			return err
		}
	}
	return nil
}

// tableArg is the value of a table variable as an argument. Columns that the
// called procedure's table fills by itself are left out.
func (x *Exec) tableArg(t *Table) (*TableArg, error) {
	arg := &TableArg{Name: t.Name}
	for _, col := range t.Columns {
		arg.Types = append(arg.Types, col.Type)
		arg.Default = append(arg.Default, col.Identity != nil || col.Computed != "" || col.Type.ID == sqltypes.RowVersion)
	}
	txn, err := x.reader(x.in.tempdb, t)
	if err != nil {
		return nil, err
	}
	err = readAll(txn, t, func(row []value) error {
		var given []value
		for i, col := range t.Columns {
			if !arg.Default[i] {
				given = append(given, row[col.slot()])
			}
		}
		arg.Rows = append(arg.Rows, given)
		return nil
	})
	return arg, err
}
