package engine

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"

// describe is a statement under SET FMTONLY ON, by which bulk clients learn a
// table's columns: queries send their columns and no rows, conditional
// statements run in all their branches, and nothing is changed (MS docs: SET
// FMTONLY).
func (x *Exec) describe(stmt tsql.Stmt) (flow, error) {
	switch st := stmt.(type) {
	case *tsql.BlockStmt:
		return x.runList(st.Body)
	case *tsql.IfStmt:
		f, err := x.runStmt(st.Then)
		if err == nil && st.Else != nil {
			f, err = x.runStmt(st.Else)
		}
		return f, err
	case *tsql.WhileStmt:
		return x.runStmt(st.Body)
	case *tsql.TryStmt:
		return x.runList(st.Try)
	case *tsql.SelectStmt:
		if spec, ok := st.Query.Body.(*tsql.SelectSpec); ok && spec.Into != nil {
			return flowNext, x.doneQuietly()
		}
		return flowNext, x.runPlanned(stmt)
	case *tsql.SetOptionStmt, *tsql.DeclareStmt, *tsql.ExecStmt, *tsql.UseStmt, *tsql.SetIsolationStmt, *tsql.SetValueStmt:
		return flowNext, x.runPlanned(stmt)
	}
	return flowNext, x.doneQuietly()
}
