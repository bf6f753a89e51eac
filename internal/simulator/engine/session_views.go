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
	in.registerSessions()
	in.registerRequests()
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

func (in *Instance) registerSessions() {
	short := catalogText(sqltypes.NVarCharOf(30))
	in.dynamicView("dm_exec_sessions", []any{
		"session_id", typeSmallInt, "login_time", typeDateTime, "host_name", vName, "program_name", vName, "host_process_id", typeInt, "client_version", typeInt,
		"client_interface_name", catalogText(sqltypes.NVarCharOf(32)), "security_id", vSID, "login_name", vName, "nt_domain", vName, "nt_user_name", vName,
		"status", short, "context_info", sqltypes.VarBinaryOf(128), "cpu_time", typeInt, "memory_usage", typeInt, "total_scheduled_time", typeInt, "total_elapsed_time", typeInt,
		"endpoint_id", typeInt, "last_request_start_time", typeDateTime, "last_request_end_time", typeDateTime, "reads", typeBigInt, "writes", typeBigInt,
		"logical_reads", typeBigInt, "is_user_process", typeBit, "text_size", typeInt, "language", vName, "date_format", catalogText(sqltypes.NVarCharOf(3)), "date_first", typeSmallInt,
		"quoted_identifier", typeBit, "arithabort", typeBit, "ansi_null_dflt_on", typeBit, "ansi_defaults", typeBit, "ansi_warnings", typeBit, "ansi_padding", typeBit,
		"ansi_nulls", typeBit, "concat_null_yields_null", typeBit, "transaction_isolation_level", typeSmallInt, "lock_timeout", typeInt, "deadlock_priority", typeInt,
		"row_count", typeBigInt, "prev_error", typeInt, "original_security_id", vSID, "original_login_name", vName, "group_id", typeInt,
		"database_id", typeSmallInt, "authenticating_database_id", typeInt, "open_transaction_count", typeInt,
	}, func(x *Exec, emit rowEmitter) error {
		all, waits := x.HasServerPermission("VIEW SERVER STATE"), x.waits()
		for _, s := range x.in.Sessions() {
			if s != x.s && !all {
				continue
			}
			o := s.shown(x)
			began, ended := x.dateTime(s.since), value{}
			if !o.began.IsZero() {
				began = x.dateTime(o.began)
			}
			if !o.ended.IsZero() {
				ended = x.dateTime(o.ended)
			}
			_, waiting := waits[s.spid]
			row := []value{
				integer(int64(s.spid)), x.dateTime(s.since), textOrNull(s.from.Host), text(s.from.App),
				{},
				integer(7),
				{},
				sidOf(s.login.ID), text(s.login.Name), text(""), text(""),
				text(s.status(waiting)),
				{},
				integer(0), integer(2), integer(0), integer(0),
				integer(4), began, ended, integer(0), integer(0),
				integer(0), boolean(true), integer(o.textSize), text(o.language), text(o.dateFormat), integer(int64(o.dateFirst)),
				boolean(!o.quotedOff), boolean(o.arithAbort), boolean(true), boolean(false), boolean(true), boolean(true),
				boolean(true), boolean(true), integer(isolationNumber(o.isolation)), integer(o.lockTimeoutMS), integer(int64(o.deadlockPriority)),
				integer(o.rowCount), integer(int64(o.lastError)), sidOf(s.login.ID), text(s.login.Name), integer(2),
				integer(int64(s.currentDB().id)), integer(1), integer(o.transactions),
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	})
}

func (in *Instance) registerRequests() {
	short := catalogText(sqltypes.NVarCharOf(30))
	in.dynamicView("dm_exec_requests", []any{
		"session_id", typeSmallInt, "request_id", typeInt, "start_time", typeDateTime, "status", short, "command", catalogText(sqltypes.NVarCharOf(32)),
		"sql_handle", sqltypes.VarBinaryOf(64), "statement_start_offset", typeInt, "statement_end_offset", typeInt, "plan_handle", sqltypes.VarBinaryOf(64),
		"database_id", typeSmallInt, "user_id", typeInt, "connection_id", typeGUID, "blocking_session_id", typeSmallInt, "wait_type", vDesc, "wait_time", typeInt,
		"last_wait_type", vDesc, "wait_resource", catalogText(sqltypes.NVarCharOf(256)), "open_transaction_count", typeInt, "open_resultset_count", typeInt, "transaction_id", typeBigInt,
		"percent_complete", sqltypes.Simple(sqltypes.Real), "cpu_time", typeInt, "total_elapsed_time", typeInt, "reads", typeBigInt, "writes", typeBigInt, "logical_reads", typeBigInt,
		"transaction_isolation_level", typeSmallInt, "lock_timeout", typeInt, "deadlock_priority", typeInt, "row_count", typeBigInt, "prev_error", typeInt,
	}, func(x *Exec, emit rowEmitter) error {
		all, waits := x.HasServerPermission("VIEW SERVER STATE"), x.waits()
		for _, s := range x.in.Sessions() {
			if s.running.Load() == nil || s != x.s && !all {
				continue
			}
			o := s.shown(x)
			l, waiting := waits[s.spid]
			wait, last, resource := value{}, text("MISCELLANEOUS"), ""
			if waiting {
				wait, resource = text(waitType(l)), x.waitResource(l)
				last = wait
			}
			row := []value{
				integer(int64(s.spid)), integer(0), x.dateTime(o.began), text(s.status(waiting)), text(s.command()),
				{},
				integer(0), integer(-1),
				{},
				integer(int64(s.currentDB().id)), integer(1),
				{},
				integer(int64(l.Blocker)), wait, integer(x.milliseconds(l.Since)),
				last, text(resource), integer(o.transactions), integer(1), integer(int64(o.transaction)),
				sqltypes.FloatOf(0), integer(0), integer(x.milliseconds(o.began)), integer(0), integer(0), integer(0),
				integer(isolationNumber(o.isolation)), integer(o.lockTimeoutMS), integer(int64(o.deadlockPriority)), integer(o.rowCount), integer(int64(o.lastError)),
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	})
}
