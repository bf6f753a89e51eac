package engine

import (
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// registerProcesses adds sys.sysprocesses (MS docs, compatibility views).
func (in *Instance) registerProcesses() {
	wide := catalogText(sqltypes.Type{ID: sqltypes.NChar, Length: 128})
	in.dynamicView("sysprocesses", []any{
		"spid", typeSmallInt, "kpid", typeSmallInt, "blocked", typeSmallInt, "waittype",
		sqltypes.Type{ID: sqltypes.Binary, Length: 2},
		"waittime", typeBigInt,
		"lastwaittype", catalogText(sqltypes.Type{ID: sqltypes.NChar, Length: 32}), "waitresource", catalogText(sqltypes.Type{ID: sqltypes.NChar, Length: 256}),
		"dbid", typeSmallInt, "uid", typeSmallInt, "cpu", typeInt, "physical_io", typeBigInt, "memusage", typeInt, "login_time", typeDateTime, "last_batch", typeDateTime,
		"ecid", typeSmallInt, "open_tran", typeSmallInt, "status", catalogText(sqltypes.Type{ID: sqltypes.NChar, Length: 30}), "sid",
		sqltypes.Type{ID: sqltypes.Binary, Length: 86},
		"hostname", wide, "program_name", wide, "hostprocess", catalogText(sqltypes.Type{ID: sqltypes.NChar, Length: 10}), "cmd", catalogText(sqltypes.Type{ID: sqltypes.NChar, Length: 26}),
		"nt_domain", wide, "nt_username", wide, "net_address", catalogText(sqltypes.Type{ID: sqltypes.NChar, Length: 12}), "net_library", catalogText(sqltypes.Type{ID: sqltypes.NChar, Length: 12}),
		"loginame", wide,
	}, func(x *Exec, emit rowEmitter) error {
		all, waits := x.HasServerPermission("VIEW SERVER STATE"), x.waits()
		for _, s := range x.in.Sessions() {
			if s != x.s && !all {
				continue
			}
			o := s.shown(x)
			l, waiting := waits[s.spid]
			last, resource := "MISCELLANEOUS", ""
			if waiting {
				last, resource = waitType(l), x.waitResource(l)
			}
			batch := s.since
			if !o.began.IsZero() {
				batch = o.began
			}
			pad := func(s string, n int) value { return text(fmt.Sprintf("%-*s", n, s)) }
			row := []value{
				integer(int64(s.spid)), integer(0), integer(int64(l.Blocker)), sqltypes.BytesOf([]byte{0, 0}), integer(x.milliseconds(l.Since)),
				pad(last, 32), pad(resource, 256), integer(int64(s.currentDB().id)), integer(1), integer(0), integer(0), integer(2),
				x.dateTime(s.since), x.dateTime(batch), integer(0), integer(o.transactions), pad(s.status(waiting), 30), sqltypes.BytesOf(make([]byte, 86)),
				pad(s.from.Host, 128), pad(s.from.App, 128), pad("", 10), pad(s.shownCommand(), 26),
				pad("", 128), pad("", 128), pad("", 12), pad("TCP/IP", 12), pad(s.login.Name, 128),
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	})
}

// shownCommand is what the session runs, or that it waits for its client.
func (s *Session) shownCommand() string {
	if s.running.Load() == nil {
		return "AWAITING COMMAND"
	}
	return s.command()
}

// registerWhoProcedures adds sp_who, sp_who2 and sp_lock (MS docs; sp_who2 has no page
// and is given the columns that it is known for).
func (in *Instance) registerWhoProcedures() {
	wanted := optional(sysname("@loginame"), value{})
	in.RegisterProcedure("sys", "sp_who", Procedure{Params: []Param{wanted}, Run: func(x *Exec, a []value) (int32, error) { return 0, x.who(a[0], false) }})
	in.RegisterProcedure("sys", "sp_who2", Procedure{Params: []Param{wanted}, Run: func(x *Exec, a []value) (int32, error) { return 0, x.who(a[0], true) }})
	in.RegisterProcedure("sys", "sp_lock", Procedure{
		Params: []Param{optional(Param{Name: "@spid1", Type: typeInt}, value{}), optional(Param{Name: "@spid2", Type: typeInt}, value{})},
		Run:    func(x *Exec, a []value) (int32, error) { return 0, x.spLock(a[0], a[1]) },
	})
}

// who sends the sessions; wanted is a login, a session's number or ACTIVE.
func (x *Exec) who(wanted value, second bool) error {
	name := catalogText(typeSysname)
	cols := []Column{
		{Name: "spid", Type: typeSmallInt},
		{Name: "ecid", Type: typeSmallInt},
		{Name: "status", Type: name},
		{Name: "loginame", Type: name},
		{Name: "hostname", Type: name},
		{Name: "blk", Type: sqltypes.Type{ID: sqltypes.Char, Length: 5}},
		{Name: "dbname", Type: name, Nullable: true},
		{Name: "cmd", Type: name},
		{Name: "request_id", Type: typeInt},
	}
	if second {
		cols = []Column{
			{Name: "SPID", Type: name},
			{Name: "Status", Type: name},
			{Name: "Login", Type: name},
			{Name: "HostName", Type: name},
			{Name: "BlkBy", Type: name},
			{Name: "DBName", Type: name},
			{Name: "Command", Type: name},
			{Name: "CPUTime", Type: name},
			{Name: "DiskIO", Type: name},
			{Name: "LastBatch", Type: name},
			{Name: "ProgramName", Type: name},
			{Name: "SPID", Type: name},
			{Name: "REQUESTID", Type: name},
		}
	}
	all, waits := x.HasServerPermission("VIEW SERVER STATE"), x.waits()
	var rows [][]value
	for _, s := range x.in.Sessions() {
		filter := wanted.Str()
		active := s.running.Load() != nil
		switch {
		case s != x.s && !all:
			continue
		case wanted.IsNull(), strings.EqualFold(filter, s.login.Name), filter == fmt.Sprint(s.spid), strings.EqualFold(filter, "active") && active:
		default:
			continue
		}
		l, waiting := waits[s.spid]
		status, spid, host := s.status(waiting), fmt.Sprintf("%-5d", s.spid), s.from.Host
		if !second {
			rows = append(rows, []value{
				integer(int64(s.spid)), integer(0), text(status), text(s.login.Name), text(host),
				text(fmt.Sprintf("%-5d", l.Blocker)), text(s.Database()), text(s.shownCommand()), integer(0),
			})
			continue
		}
		blocker := "  ."
		if l.Blocker != 0 {
			blocker = fmt.Sprint(l.Blocker)
		}
		if host == "" {
			host = "  ."
		}
		rows = append(rows, []value{
			text(spid), text(strings.ToUpper(status)), text(s.login.Name), text(host), text(blocker), text(s.Database()), text(s.shownCommand()), text("0"), text("0"),
			text(s.shown(x).began.Format("01/02 15:04:05")), text(s.from.App), text(spid), text("0"),
		})
	}
	return x.SendRows(cols, rows)
}

// spLock sends the locks of one or two sessions, or all.
func (x *Exec) spLock(first, second value) error {
	char := func(n int) sqltypes.Type { return sqltypes.NVarCharOf(n) }
	cols := []Column{
		{Name: "spid", Type: typeSmallInt},
		{Name: "dbid", Type: typeSmallInt},
		{Name: "ObjId", Type: typeInt},
		{Name: "IndId", Type: typeSmallInt},
		{Name: "Type", Type: char(4)},
		{Name: "Resource", Type: char(32)},
		{Name: "Mode", Type: char(8)},
		{Name: "Status", Type: char(5)},
	}
	kinds := map[string]string{"DATABASE": "DB", "OBJECT": "TAB", "KEY": "KEY", "RID": "RID", "APPLICATION": "APP"}
	if err := x.NeedServerState(); err != nil {
		return err
	}
	var rows [][]value
	for _, l := range x.shownLocks() {
		spid := int64(l.SPID)
		if !first.IsNull() && first.Int64() != spid && (second.IsNull() || second.Int64() != spid) {
			continue
		}
		kind, description := lockResource(l, x.isHeap)
		status := map[string]string{"GRANT": "GRANT", "WAIT": "WAIT", "CONVERT": "CNVT"}[lockStatus(l)]
		index := int64(0)
		if kind == "KEY" {
			index = 1
		}
		rows = append(rows, []value{integer(spid), integer(int64(l.Database)), integer(l.Table), integer(index), text(kinds[kind]), text(description), text(lockMode(l)), text(status)})
	}
	return x.SendRows(cols, rows)
}
