package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

var sessionFillers = map[string]func(x *Exec, db *Database, out *rowFiller) error{
	"sys.dm_exec_sessions": sessionRows,
	"sys.dm_exec_requests": requestRows,
}

// settingFields are the SET options that sessions and requests show alike.
func (o *sessionState) settingFields() fields {
	return fields{
		"text_size": integer(o.textSize), "language": text(o.language), "date_format": text(o.dateFormat), "date_first": integer(int64(o.dateFirst)),
		"quoted_identifier": boolean(!o.quotedOff), "arithabort": boolean(o.arithAbort), "transaction_isolation_level": integer(isolationNumber(o.isolation)),
		"lock_timeout": integer(o.lockTimeoutMS), "deadlock_priority": integer(int64(o.deadlockPriority)), "row_count": integer(o.rowCount),
		"prev_error": integer(int64(o.lastError)), "open_transaction_count": integer(o.transactions),
	}
}

// sessionRows is sys.dm_exec_sessions (MS docs): without VIEW SERVER STATE one's
// own session.
func sessionRows(x *Exec, _ *Database, out *rowFiller) error {
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
		if err := out.add(o.settingFields(), fields{
			"session_id": integer(int64(s.spid)), "login_time": x.dateTime(s.since), "host_name": textOrNull(s.from.Host), "program_name": text(s.from.App),
			"security_id": sidOf(s.login.ID), "login_name": text(s.login.Name), "status": text(s.status(waiting)), "last_request_start_time": began,
			"last_request_end_time": ended, "original_security_id": sidOf(s.login.ID), "original_login_name": text(s.login.Name),
			"database_id": integer(int64(s.currentDB().id)),
		}); err != nil {
			return err
		}
	}
	return nil
}

// requestRows is sys.dm_exec_requests (MS docs): the sessions that are in a call.
func requestRows(x *Exec, _ *Database, out *rowFiller) error {
	all, waits := x.HasServerPermission("VIEW SERVER STATE"), x.waits()
	for _, s := range x.in.Sessions() {
		if s.running.Load() == nil || s != x.s && !all {
			continue
		}
		o := s.shown(x)
		l, waiting := waits[s.spid]
		f := fields{
			"session_id": integer(int64(s.spid)), "start_time": x.dateTime(o.began), "status": text(s.status(waiting)), "command": text(s.command()),
			"database_id": integer(int64(s.currentDB().id)), "blocking_session_id": integer(int64(l.Blocker)), "wait_time": integer(x.milliseconds(l.Since)),
			"wait_resource": text(""), "percent_complete": sqltypes.FloatOf(0), "transaction_id": integer(int64(o.transaction)), "total_elapsed_time": integer(x.milliseconds(o.began)),
			"connection_id": guidFor("connection " + itoa(int64(s.spid))),
		}
		if p := s.recentPlan.Load(); p != nil {
			f["sql_handle"], f["plan_handle"] = sqltypes.BytesOf(p.sqlHandle()), sqltypes.BytesOf(p.planHandle())
		}
		if waiting {
			f["wait_type"], f["last_wait_type"], f["wait_resource"] = text(waitType(l)), text(waitType(l)), text(x.waitResource(l))
		}
		if err := out.add(o.settingFields(), f); err != nil {
			return err
		}
	}
	return nil
}
