package engine

import (
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// isolationNumber is dm_exec_sessions.transaction_isolation_level.
func isolationNumber(l storage.Isolation) int64 {
	return map[storage.Isolation]int64{storage.ReadUncommitted: 1, storage.ReadCommitted: 2, storage.RepeatableRead: 3, storage.Serializable: 4, storage.Snapshot: 5}[l]
}

// waitType is the name of the wait for a lock (MS docs: sys.dm_os_wait_stats).
func waitType(l storage.LockInfo) string {
	return "LCK_M_" + strings.ReplaceAll(strings.ToUpper(l.Mode.String()), "-", "_")
}

// waits are the waiting requests by session.
func (x *Exec) waits() map[int]storage.LockInfo {
	list := map[int]storage.LockInfo{}
	for _, l := range x.in.store.Locks() {
		if l.Waiting {
			list[l.SPID] = l
		}
	}
	return list
}

// waitResource is what a session waits for, as sys.dm_exec_requests shows it.
func (x *Exec) waitResource(l storage.LockInfo) string {
	kind, description := lockResource(l, x.isHeap)
	switch kind {
	case "OBJECT":
		return fmt.Sprintf("OBJECT: %d:%d:0", l.Database, l.Table)
	case "APPLICATION":
		return fmt.Sprintf("APPLICATION: %d:%s", l.Database, description)
	case "DATABASE":
		return fmt.Sprintf("DATABASE: %d:0", l.Database)
	}
	return fmt.Sprintf("%s: %d:%d %s", kind, l.Database, l.Table, description)
}

// status is a session's status; suspended while it waits for a lock.
func (s *Session) status(waiting bool) string {
	switch {
	case waiting:
		return "suspended"
	case s.running.Load() != nil:
		return "running"
	}
	return "sleeping"
}

// command is the first word of what the session runs.
func (s *Session) command() string {
	if p := s.lastStatement.Load(); p != nil {
		if words := strings.Fields(*p); len(words) > 0 {
			return strings.ToUpper(strings.Trim(words[0], ";("))
		}
	}
	return "SELECT"
}

func (in *Instance) registerSessionViews() {
	in.dynamicView("dm_os_waiting_tasks", []any{
		"waiting_task_address", sqltypes.VarBinaryOf(8), "session_id", typeSmallInt, "exec_context_id", typeInt, "wait_duration_ms", typeBigInt, "wait_type", vDesc,
		"resource_address", sqltypes.VarBinaryOf(8), "blocking_task_address", sqltypes.VarBinaryOf(8), "blocking_session_id", typeSmallInt,
		"blocking_exec_context_id", typeInt, "resource_description", catalogText(sqltypes.NVarCharOf(3072)),
	}, func(x *Exec, emit rowEmitter) error {
		if err := x.NeedServerState(); err != nil {
			return err
		}
		waits := x.waits()
		for _, s := range x.in.Sessions() {
			l, waiting := waits[s.spid]
			if !waiting {
				continue
			}
			row := []value{{}, integer(int64(s.spid)), integer(0), integer(x.milliseconds(l.Since)), text(waitType(l)), {}, {}, integer(int64(l.Blocker)), integer(0), text(x.waitResource(l))}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	})
	in.registerProcesses()
}
