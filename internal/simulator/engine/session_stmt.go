package engine

import (
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// sessionStmt returns the work of a statement about the session itself, nil when
// stmt is none.
func (x *Exec) sessionStmt(stmt tsql.Stmt) func() error {
	switch st := stmt.(type) {
	case *tsql.SetOptionStmt:
		return func() error { return x.setOption(st) }
	case *tsql.SetValueStmt:
		return func() error { return x.setValue(st) }
	case *tsql.SetIsolationStmt:
		return func() error { x.s.isolation = isolationLevels[st.Level]; return nil }
	case *tsql.SetIdentityInsertStmt:
		return func() error { return x.setIdentityInsert(st) }
	case *tsql.PrintStmt:
		return func() error { return x.print(st) }
	case *tsql.RaiserrorStmt:
		return func() error { return x.raiserror(st) }
	case *tsql.WaitForStmt:
		return func() error { return x.waitFor(st) }
	case *tsql.UseStmt:
		return func() error { return x.use(st.Database) }
	case *tsql.KillStmt:
		return func() error { return x.killSession(st) }
	case *tsql.CheckpointStmt:
		return func() error { return nil }
	case *tsql.ReconfigureStmt:
		return x.reconfigure
	case *tsql.ExecuteAsStmt:
		return func() error { return x.executeAs(st) }
	case *tsql.RevertStmt:
		return func() error {
			if n := len(x.s.impersonated); n > 0 {
				x.s.impersonated = x.s.impersonated[:n-1]
			}
			return nil
		}
	}
	return nil
}

// setOption is SET of on/off options. Those that only matter to the optimiser or
// to display are accepted.
func (x *Exec) setOption(st *tsql.SetOptionStmt) error {
	s := x.s
	for _, name := range st.Names {
		switch name {
		case "NOCOUNT":
			s.nocount = st.On
		case "XACT_ABORT":
			s.xactAbort = st.On
		case "IMPLICIT_TRANSACTIONS":
			s.implicit = st.On
		case "QUOTED_IDENTIFIER":
			s.quotedOff = !st.On
		case "ANSI_NULLS":
			if !st.On {
				return unsupported("SET ANSI_NULLS OFF")
			}
		case "ARITHABORT":
			s.arithAbort = st.On
		case "ANSI_DEFAULTS":
			s.implicit = st.On
		case "ANSI_WARNINGS", "ANSI_PADDING", "ANSI_NULL_DFLT_ON", "CONCAT_NULL_YIELDS_NULL":
			if !st.On {
				return unsupported("SET " + name + " OFF")
			}
		case "ANSI_NULL_DFLT_OFF", "NUMERIC_ROUNDABORT":
			if st.On {
				return unsupported("SET " + name + " ON")
			}
		case "ARITHIGNORE",
			"CURSOR_CLOSE_ON_COMMIT", "FORCEPLAN", "REMOTE_PROC_TRANSACTIONS", "NO_BROWSETABLE", "STATISTICS IO", "STATISTICS TIME", "STATISTICS PROFILE", "STATISTICS XML":
		case "FMTONLY":
			s.fmtOnly = st.On
		case "NOEXEC":
			s.noExec = st.On
		case "PARSEONLY":
			s.parseOnly = st.On
		case "SHOWPLAN_ALL", "SHOWPLAN_TEXT", "SHOWPLAN_XML":
			if st.On {
				return unsupported("SET " + name + " ON")
			}
		default:
			return sqltypes.Errorf(195, 7, 15, "'%s' is not a recognized SET option.", name)
		}
	}
	return nil
}

func (x *Exec) setValue(st *tsql.SetValueStmt) error {
	v, t, err := x.evaluate(st.Value)
	if err != nil {
		return err
	}
	s := x.s
	number := func() (int64, error) {
		w, err := sqltypes.Convert(v, t, typeBigInt, 0)
		return w.Int64(), err
	}
	switch st.Name {
	case "LOCK_TIMEOUT":
		n, err := number()
		if err != nil {
			return err
		}
		s.setLockTimeout(n)
	case "ROWCOUNT":
		if s.rowCountLimit, err = number(); err != nil {
			return err
		}
	case "TEXTSIZE":
		if s.textSize, err = number(); err != nil {
			return err
		}
	case "DATEFIRST":
		n, err := number()
		if err != nil {
			return err
		}
		if n < 1 || n > 7 {
			return raise(2742, "SET DATEFIRST %d is out of range.", n)
		}
		s.dateFirst = int(n)
	case "DEADLOCK_PRIORITY":
		return x.setDeadlockPriority(v, number)
	case "CONTEXT_INFO":
		s.context = v
	case "LANGUAGE":
		if !strings.EqualFold(v.Str(), "us_english") && !strings.EqualFold(v.Str(), "English") {
			return unsupported("SET LANGUAGE " + v.Str())
		}
		old := s.language
		s.language = v.Str()
		return x.sink.EnvChange(EnvLanguage, []byte(s.language), []byte(old))
	case "DATEFORMAT":
		if !strings.EqualFold(v.Str(), "mdy") && !strings.EqualFold(v.Str(), "ymd") {
			return unsupported("SET DATEFORMAT " + v.Str())
		}
		s.dateFormat = strings.ToLower(v.Str())
	case "QUERY_GOVERNOR_COST_LIMIT", "OFFSETS":
	default:
		return sqltypes.Errorf(195, 7, 15, "'%s' is not a recognized SET option.", st.Name)
	}
	return nil
}

func (s *Session) setLockTimeout(ms int64) {
	s.lockTimeoutMS, s.lockTimeout = ms, lockTimeoutOf(ms)
	if s.tx != nil {
		for _, txn := range s.tx.txns {
			txn.SetLockTimeout(s.lockTimeout)
		}
	}
}

// setDeadlockPriority is SET DEADLOCK_PRIORITY: a word or -10 to 10 (MS docs).
func (x *Exec) setDeadlockPriority(v value, number func() (int64, error)) error {
	words := map[string]int64{"LOW": -5, "NORMAL": 0, "HIGH": 5}
	n, ok := words[strings.ToUpper(v.Str())]
	if !ok {
		var err error
		if n, err = number(); err != nil {
			return err
		}
	}
	if n < -10 || n > 10 {
		return raise(1066, "Warning. Line %d: The option '%d' is not a valid value for DEADLOCK_PRIORITY.", x.line, n)
	}
	x.s.deadlockPriority = int(n)
	x.s.owner.SetDeadlockPriority(int(n))
	return nil
}

func (x *Exec) setIdentityInsert(st *tsql.SetIdentityInsertStmt) error {
	db, t, err := x.findTable(st.Table)
	if err != nil {
		return sqltypes.Errorf(1088, 11, 16, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", st.Table.String())
	}
	if t.identity() == nil {
		return raise(8106, "Table '%s' does not have the identity property. Cannot perform SET operation.", st.Table.String())
	}
	s := x.s
	if !st.On {
		if s.identityInsert.db == db && s.identityInsert.table == t.ID {
			s.identityInsert = identityInsert{}
		}
		return nil
	}
	if other := s.identityInsert; other.db != nil && (other.db != db || other.table != t.ID) {
		if o := x.catalog(other.db).tables[other.table]; o != nil {
			return raise(8107, "IDENTITY_INSERT is already ON for table '%s.%s.%s'. Cannot perform SET operation for table '%s'.",
				other.db.Name(), x.catalog(other.db).schemaName(o.SchemaID), o.Name, st.Table.String())
		}
	}
	s.identityInsert = identityInsert{db, t.ID}
	return nil
}

func (x *Exec) print(st *tsql.PrintStmt) error {
	v, t, err := x.evaluate(st.Value)
	if err != nil {
		return err
	}
	if v.IsNull() {
		return x.Print(" ")
	}
	w, err := sqltypes.Convert(v, t, sqltypes.NVarCharOf(4000), 0)
	if err != nil {
		return err
	}
	return x.Print(w.Str())
}

// waitFor sleeps by the server's clock; the call's end wakes it.
func (x *Exec) waitFor(st *tsql.WaitForStmt) error {
	v, t, err := x.evaluate(st.Value)
	if err != nil {
		return err
	}
	timeType := sqltypes.Type{ID: sqltypes.Time, Scale: 3}
	w, err := sqltypes.Convert(v, t, timeType, 0)
	if err != nil {
		return sqltypes.Errorf(148, 1, 15, "Incorrect time syntax in time string '%s' used with WAITFOR.", v.Str())
	}
	delay := time.Duration(w.Ticks()) * 100
	if st.Time {
		now := x.Now()
		midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
		target := midnight.Add(delay)
		if target.Before(now) {
			target = target.AddDate(0, 0, 1)
		}
		delay = target.Sub(now)
	}
	done := make(chan struct{})
	stop := x.in.clock.AfterFunc(delay, func() { close(done) })
	defer stop()
	select {
	case <-done:
		return nil
	case <-x.ctx.Done():
		return x.ctx.Err()
	}
}

// use changes the current database: of the session in a batch, of the scope in
// EXEC of a string.
func (x *Exec) use(name string) error {
	db := x.in.Database(name)
	if db == nil {
		return sqltypes.Errorf(911, 1, 16, "Database '%s' does not exist. Make sure that the name is entered correctly.", name)
	}
	if x.in.IsAzure() && db != x.db {
		return sqltypes.Errorf(40508, 1, 16, "USE statement is not supported to switch between databases. Use a new connection to connect to a different database.")
	}
	if err := x.admit(db); err != nil {
		return err
	}
	if err := x.s.from.Replica.admits(db, x.s.from.ReadIntent); err != nil {
		return err
	}
	old := x.s.Database()
	x.db = db
	x.s.db.Store(db)
	x.in.users.changed()
	if err := x.sink.EnvChange(EnvDatabase, []byte(db.Name()), []byte(old)); err != nil {
		return err
	}
	return x.Message(&Message{Number: 5701, State: 1, Class: 0, Text: "Changed database context to '" + db.Name() + "'."})
}
