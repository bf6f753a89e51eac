package cdc

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/engine"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// lsnTextType is an LSN as the management views show it.
var lsnTextType = sqltypes.NVarCharOf(23)

func (a *Agent) registerViews() {
	a.in.RegisterView(engine.View{
		Schema: "sys", Name: "dm_cdc_log_scan_sessions", Rows: a.logScanSessions,
		Columns: []engine.Column{
			column("session_id", intType), column("start_time", datetimeType), column("end_time", datetimeType), column("duration", bigintType),
			column("scan_phase", sqltypes.NVarCharOf(200)), column("error_count", intType), column("start_lsn", lsnTextType), column("current_lsn", lsnTextType),
			column("end_lsn", lsnTextType), column("tran_count", bigintType), column("last_commit_lsn", lsnTextType), column("last_commit_time", datetimeType),
			column("log_record_count", bigintType), column("schema_change_count", bigintType), column("command_count", bigintType),
			column("first_begin_cdc_lsn", lsnTextType), column("last_commit_cdc_lsn", lsnTextType), column("last_commit_cdc_time", datetimeType),
			column("latency", intType), column("empty_scan_count", intType), column("failed_sessions_count", intType),
		},
	})
	a.in.RegisterView(engine.View{
		Schema: "sys", Name: "dm_cdc_errors", Rows: a.scanErrors,
		Columns: []engine.Column{
			column("session_id", intType), column("phase_number", intType), column("entry_time", datetimeType), column("error_number", intType),
			column("error_severity", intType), column("error_state", intType), column("error_message", sqltypes.NVarCharOf(1024)),
			column("start_lsn", lsnTextType), column("begin_lsn", lsnTextType), column("sequence_value", lsnTextType),
		},
	})
	a.in.RegisterView(engine.View{
		Schema: "sys", Name: "dm_server_services", Rows: a.services,
		Visible: func(*engine.Database) bool { return !a.in.IsAzure() }, // MS docs: applies to SQL Server
		Columns: []engine.Column{
			column("servicename", sqltypes.NVarCharOf(256)), column("startup_type", intType), column("startup_type_desc", sqltypes.NVarCharOf(256)),
			column("status", intType), column("status_desc", sqltypes.NVarCharOf(256)), column("process_id", intType),
			column("last_startup_time", sqltypes.Simple(sqltypes.DateTimeOffset)), column("service_account", sqltypes.NVarCharOf(256)),
			column("filename", sqltypes.NVarCharOf(256)), column("is_clustered", sqltypes.NVarCharOf(1)), column("cluster_nodename", sqltypes.NVarCharOf(256)),
			column("instant_file_initialization_enabled", sqltypes.NVarCharOf(1)),
		},
	})
}

// logScanSessions is sys.dm_cdc_log_scan_sessions: the aggregate row, then the
// last sessions.
func (a *Agent) logScanSessions(x *engine.Exec, db *engine.Database, emit func([]sqltypes.Value) error) error {
	if err := x.NeedDatabaseState(db); err != nil {
		return err
	}
	if !db.Options().CDCEnabled || x.Session().IsSecondary() { // a secondary scans no log
		return nil
	}
	total, sessions, _ := a.scanner(db.ID()).sessions.snapshot()
	if err := emit(sessionRow(x, &total, "Aggregate")); err != nil {
		return err
	}
	for i := range sessions {
		if err := emit(sessionRow(x, &sessions[i], "Done")); err != nil {
			return err
		}
	}
	return nil
}

// sessionRow prints one session. A session that found nothing has an LSN of
// zeros with a NUL behind it (Debezium's SQL Server connector cuts it off).
func sessionRow(x *engine.Exec, s *logSession, phase string) []sqltypes.Value {
	loc := x.Location()
	null := sqltypes.Null()
	startLSN := sqltypes.StringOf(s.startLSN.String())
	if s.commands == 0 {
		startLSN = sqltypes.StringOf(storage.LSN{}.String() + "\x00")
	}
	startTime, endTime, lastTime, latency := null, null, null, sqltypes.IntOf(0)
	if !s.start.IsZero() {
		startTime = localTime(s.start, loc)
	}
	if !s.end.IsZero() {
		endTime = localTime(s.end, loc)
	}
	if !s.lastCDCTime.IsZero() {
		lastTime = localTime(s.lastCDCTime, loc)
		latency = sqltypes.IntOf(int64(s.end.Sub(s.lastCDCTime).Seconds()))
	}
	last := sqltypes.StringOf(s.lastCDC.String())
	return []sqltypes.Value{
		sqltypes.IntOf(s.id), startTime, endTime, sqltypes.IntOf(int64(s.end.Sub(s.start).Seconds())), sqltypes.StringOf(phase), sqltypes.IntOf(s.errors),
		startLSN, last, last, sqltypes.IntOf(s.transactions), last, lastTime, sqltypes.IntOf(s.records), sqltypes.IntOf(s.schemaChanges),
		sqltypes.IntOf(s.commands), sqltypes.StringOf(s.firstCDC.String()), last, lastTime, latency, sqltypes.IntOf(s.emptyScans), sqltypes.IntOf(s.failed),
	}
}

// scanErrors is sys.dm_cdc_errors.
func (a *Agent) scanErrors(x *engine.Exec, db *engine.Database, emit func([]sqltypes.Value) error) error {
	if err := x.NeedDatabaseState(db); err != nil {
		return err
	}
	if !db.Options().CDCEnabled {
		return nil
	}
	if x.Session().IsSecondary() {
		return nil
	}
	const populating = 7 // the phase in which change tables are written
	lsn := func(l storage.LSN) sqltypes.Value { return sqltypes.StringOf(l.String()) }
	_, _, failures := a.scanner(db.ID()).sessions.snapshot()
	for _, f := range failures {
		err := emit([]sqltypes.Value{
			sqltypes.IntOf(f.session), sqltypes.IntOf(populating), localTime(f.at, x.Location()), sqltypes.IntOf(int64(f.err.Number)),
			sqltypes.IntOf(int64(f.err.Class)), sqltypes.IntOf(int64(f.err.State)), sqltypes.StringOf(f.err.Message),
			lsn(f.where.commit), lsn(f.where.begin), lsn(f.where.sequence),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// services is sys.dm_server_services: the server and its agent.
func (a *Agent) services(x *engine.Exec, _ *engine.Database, emit func([]sqltypes.Value) error) error {
	if err := x.NeedServerState(); err != nil {
		return err
	}
	service := func(name string, running bool) []sqltypes.Value {
		status, text := int64(1), "Stopped"
		if running {
			status, text = 4, "Running"
		}
		null := sqltypes.Null()
		return []sqltypes.Value{
			sqltypes.StringOf(name), sqltypes.IntOf(2), sqltypes.StringOf("Automatic"), sqltypes.IntOf(status), sqltypes.StringOf(text),
			null, null, sqltypes.StringOf("LocalSystem"), null, sqltypes.StringOf("N"), null, sqltypes.StringOf("N"),
		}
	}
	if err := emit(service("SQL Server (MSSQLSERVER)", true)); err != nil {
		return err
	}
	return emit(service("SQL Server Agent (MSSQLSERVER)", a.isRunning()))
}
