package engine

import (
	"fmt"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// dbcc is DBCC. Some commands answer something; those that check or tidy what is not
// there accept and say that they are done.
func (x *Exec) dbcc(st *tsql.OtherStmt) error {
	switch command := strings.TrimPrefix(st.What, "DBCC "); command {
	case "OPENTRAN":
		if err := x.oldestTransaction(); err != nil {
			return err
		}
	case "TRACEON", "TRACEOFF":
		if err := x.traceCommand(st, command == "TRACEON"); err != nil {
			return err
		}
	case "TRACESTATUS":
		if err := x.traceRows(st); err != nil {
			return err
		}
	case "USEROPTIONS":
		if err := x.userOptions(); err != nil {
			return err
		}
	case "CHECKIDENT":
		if err := x.checkIdentity(st); err != nil {
			return err
		}
	case "FREEPROCCACHE":
		x.in.planCache.clear()
	case "CHECKDB", "CHECKTABLE", "CHECKALLOC", "CHECKCATALOG", "CHECKCONSTRAINTS", "CLEANTABLE", "DROPCLEANBUFFERS",
		"FREESESSIONCACHE", "FREESYSTEMCACHE", "INDEXDEFRAG", "DBREINDEX", "SHRINKDATABASE", "SHRINKFILE", "UPDATEUSAGE", "FLUSHAUTHCACHE":
	default:
		return unsupported(st.What)
	}
	return x.Message(&Message{Number: 2528, State: 1, Class: 0, Text: "DBCC execution completed. If DBCC printed error messages, contact your system administrator."})
}

// oldestTransaction is DBCC OPENTRAN (MS docs): the oldest transaction of the current database
// that has written something.
func (x *Exec) oldestTransaction() error {
	var oldest *storage.TxnInfo
	for _, t := range x.in.store.Transactions() {
		if t.Database == x.db.id && t.SPID != 0 && !t.Begun.IsZero() && (oldest == nil || t.BeginLSN.Compare(oldest.BeginLSN) < 0) {
			oldest = &t
		}
	}
	if oldest == nil {
		return x.Message(&Message{Number: 7969, State: 1, Class: 0, Text: "No active open transactions."})
	}
	name := "user_transaction"
	for _, s := range x.in.Sessions() {
		if o := s.outside.Load(); s.spid == oldest.SPID && o != nil && o.name != "" {
			name = o.name
		}
	}
	vlf, block, slot := oldest.BeginLSN.Parts()
	lines := []string{
		fmt.Sprintf("Transaction information for database '%s'.", x.db.Name()),
		"Oldest active transaction:",
		fmt.Sprintf("    SPID (server process ID): %d", oldest.SPID),
		fmt.Sprintf("    Name          : %s", name),
		fmt.Sprintf("    LSN           : (%d:%d:%d)", vlf, block, slot),
		fmt.Sprintf("    Start time    : %s", oldest.Begun.In(x.in.location).Format("Jan _2 2006  3:04:05.000PM")),
	}
	for _, line := range lines {
		if err := x.Message(&Message{Number: 7967, State: 1, Class: 0, Text: line}); err != nil {
			return err
		}
	}
	return nil
}

// userOptions is DBCC USEROPTIONS (MS docs): the SET options of the session.
func (x *Exec) userOptions() error {
	s := x.s
	level := map[storage.Isolation]string{
		storage.ReadUncommitted: "read uncommitted", storage.ReadCommitted: "read committed", storage.RepeatableRead: "repeatable read",
		storage.Serializable: "serializable", storage.Snapshot: "snapshot",
	}[s.isolation]
	if s.isolation == storage.ReadCommitted && x.db.Options().ReadCommittedSnapshot {
		level = "read committed snapshot"
	}
	rows := [][]value{
		{text("textsize"), text(itoa(s.textSize))},
		{text("language"), text(s.language)},
		{text("dateformat"), text(s.dateFormat)},
		{text("datefirst"), text(itoa(int64(s.dateFirst)))},
		{text("lock_timeout"), text(itoa(s.lockTimeoutMS))},
	}
	flags := []struct {
		name string
		on   bool
	}{
		{"quoted_identifier", !s.quotedOff},
		{"arithabort", s.arithAbort},
		{"nocount", s.nocount},
		{"xact_abort", s.xactAbort},
		{"implicit_transactions", s.implicit},
		{"ansi_null_dflt_on", true},
		{"ansi_warnings", true},
		{"ansi_padding", true},
		{"ansi_nulls", true},
		{"concat_null_yields_null", true},
	}
	for _, f := range flags {
		if f.on {
			rows = append(rows, []value{text(f.name), text("SET")})
		}
	}
	rows = append(rows, []value{text("isolation level"), text(level)})
	return x.SendRows([]Column{{Name: "Set Option", Type: vName}, {Name: "Value", Type: vName}}, rows)
}
