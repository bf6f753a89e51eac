package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// killSession is KILL (MS docs): the session's call fails, its transaction is rolled
// back, its client sees the connection end. A rollback takes no time here, so that
// there is never a status to report.
func (x *Exec) killSession(st *tsql.KillStmt) error {
	v, t, err := x.evaluate(st.SPID)
	if err != nil {
		return err
	}
	w, err := sqltypes.Convert(v, t, typeInt, 0)
	if err != nil {
		return err
	}
	id := int(w.Int64())
	switch {
	case !x.HasServerPermission("ALTER ANY CONNECTION") && !serverRole(x, "processadmin"):
		return sqltypes.Errorf(6102, 1, 14, "User does not have permission to use the KILL statement.")
	case x.s.tranCount() > 0:
		return raise(6115, "KILL command cannot be used inside user transactions.")
	case id == x.s.spid:
		return raise(6104, "Cannot use KILL to kill your own process.")
	case id > 0 && id < firstSPID:
		return sqltypes.Errorf(6107, 1, 14, "Only user processes can be killed.")
	}
	for _, s := range x.in.Sessions() {
		switch {
		case s.spid != id:
		case st.StatusOnly:
			return raise(6120, "Status report cannot be obtained. Rollback operation for Process ID %d is not in progress.", id)
		default:
			s.kill()
			s.closeIdle()
			return nil
		}
	}
	return raise(6106, "Process ID %d is not an active process ID.", id)
}
