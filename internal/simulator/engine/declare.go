package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// declareAll gives all variables of a batch their slots before it runs: in T-SQL
// a declaration counts from its place in the text, not from its execution.
func (x *Exec) declareAll(list []tsql.Stmt) error {
	for _, stmt := range list {
		var err error
		switch st := stmt.(type) {
		case *tsql.DeclareStmt:
			err = x.declareVars(st)
		case *tsql.BlockStmt:
			err = x.declareAll(st.Body)
		case *tsql.IfStmt:
			err = x.declareAll([]tsql.Stmt{st.Then})
			if err == nil && st.Else != nil {
				err = x.declareAll([]tsql.Stmt{st.Else})
			}
		case *tsql.WhileStmt:
			err = x.declareAll([]tsql.Stmt{st.Body})
		case *tsql.TryStmt:
			if err = x.declareAll(st.Try); err == nil {
				err = x.declareAll(st.Catch)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *Exec) declareVars(st *tsql.DeclareStmt) error {
	for _, v := range st.Vars {
		if v.Cursor {
			x.scope.cursors[fold(v.Name)] = nil
			continue
		}
		if v.Table != nil {
			if err := x.declareTable(v.Name, v.Table); err != nil {
				return err
			}
			continue
		}
		if table, ok := x.tableType(v.Type); ok {
			if err := x.declareTable(v.Name, table); err != nil {
				return err
			}
			continue
		}
		t, _, err := x.resolveType(v.Type)
		if err != nil {
			return err
		}
		if err := x.scope.declare(v.Name, t); err != nil {
			return err
		}
	}
	return nil
}

// tableType finds a table type by name.
func (x *Exec) tableType(n tsql.TypeName) (*tsql.TableType, bool) {
	if n.IsZero() {
		return nil, false
	}
	schema := n.Schema()
	if schema == "" {
		schema = "dbo"
	}
	m := x.catalog(x.db).module(schema, n.Base())
	if m == nil || m.Kind != kindTableType {
		return nil, false
	}
	p, err := x.in.module(m)
	if err != nil {
		return nil, false
	}
	st, ok := p.stmt.(*tsql.CreateTypeStmt)
	if !ok {
		return nil, false
	}
	return st.Table, true
}

// declareTable makes a table variable. It lives in tempdb in a transaction of
// its own: a rollback does not empty it (MS docs: table).
func (x *Exec) declareTable(name string, def *tsql.TableType) error {
	t, err := x.tableTypeOf(def, name)
	if err != nil {
		return err
	}
	t.tableVariable = true
	if err := x.s.tableVariableTxn().CreateTable(x.physical(t)); err != nil {
		return err
	}
	x.s.openTables++
	x.scope.tables[fold(name)] = t
	return nil
}

// tableTypeOf is the definition of a TABLE (..) type.
func (x *Exec) tableTypeOf(def *tsql.TableType, name string) (*Table, error) {
	st := &tsql.CreateTableStmt{Columns: def.Columns, Constraints: def.Constraints, Indexes: def.Indexes}
	t, err := x.buildTable(x.in.tempdb, 1, name, st)
	if err != nil {
		return nil, err
	}
	t.heldBySession = true
	return t, nil
}

// tableVariableTxn is the storage transaction in which table variables live.
func (s *Session) tableVariableTxn() *storage.Txn {
	if s.tableVariables == nil {
		s.tableVariables = s.in.tempdb.store.Begin(storage.TxnOptions{Owner: s.owner})
	}
	return s.tableVariables
}

// endTableVariables forgets all table variables.
func (s *Session) endTableVariables() {
	if s.tableVariables != nil {
		s.tableVariables.Rollback()
		s.tableVariables, s.openTables = nil, 0
	}
}

// dropTableVariables ends the table variables of the scope. Their storage goes
// with the last of the session.
func (x *Exec) dropTableVariables() {
	for _, t := range x.scope.tables {
		if t.tableVariable {
			x.s.openTables--
		}
	}
	if x.s.openTables == 0 {
		x.s.endTableVariables()
	}
}
