package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// alterDatabase is ALTER DATABASE .. SET, COLLATE and MODIFY NAME.
func (x *Exec) alterDatabase(st *tsql.AlterDatabaseStmt) error {
	db := x.db
	if !st.Current {
		if db = x.in.Database(st.Name); db == nil {
			return errCannotAlter(st.Name)
		}
	}
	if !x.unrestricted(db) {
		return errCannotAlter(db.Name())
	}
	if err := x.noTransaction("ALTER DATABASE"); err != nil {
		return err
	}
	if db.Options().UserAccess == "SINGLE_USER" && x.s.currentDB() != db && len(x.users(db)) > 0 {
		return x.alterFailed(raise(5064, "Changes to the state or options of database '%s' cannot be made at this time. The database is in single-user mode, and a user is currently connected to it.", db.Name()))
	}
	switch {
	case st.NewName != "":
		return x.renameDatabase(db, st.NewName)
	case st.Collation != "":
		return x.alterCollation(db, st.Collation)
	case st.Other != "":
		return nil // files mean nothing here
	}
	for _, set := range st.Settings {
		if err := x.alterSetting(db, set, st); err != nil {
			return err
		}
	}
	return nil
}

func errCannotAlter(name string) error {
	return sqltypes.Errorf(5011, 5, 14, "User does not have permission to alter database '%s', the database does not exist, or the database is not in a state that allows access checks.", name)
}

// needLock is error 5030 while others use the database.
func (x *Exec) needLock(db *Database) error {
	if len(x.users(db)) > 0 {
		return x.alterFailed(sqltypes.Errorf(5030, 2, 16, "The database could not be exclusively locked to perform the operation."))
	}
	return nil
}

func (x *Exec) alterCollation(db *Database, name string) error {
	c, err := x.in.collation(name)
	if err != nil {
		return err
	}
	if err := x.needLock(db); err != nil {
		return err
	}
	refused := raise(5072, "ALTER DATABASE failed. The default collation of database '%s' cannot be set to %s.", db.Name(), c.Name)
	if bound := x.catalog(db).boundToCollation(); bound != "" {
		return x.failedAs(raise(5075, "The %s is dependent on database collation. The database collation cannot be changed if a schema-bound object depends on it. Remove the dependencies on the database collation and then retry the operation.", bound), refused)
	}
	if x.catalog(db).duplicates(nameRules{c}) {
		return refused
	}
	return x.saveOptions(db, func(o *DatabaseOptions) { o.Collation = c.Name })
}

// boundToCollation names a CHECK constraint or computed column, whose expressions
// were compiled with the database's collation; empty when there is none.
// Source: MS docs, "Set or change the database collation".
func (c *Catalog) boundToCollation() string {
	for _, t := range c.tables {
		for _, check := range t.Checks {
			return fmt.Sprintf("object '%s'", check.Name)
		}
		for _, column := range t.Columns {
			if column.Computed != "" {
				return fmt.Sprintf("column '%s.%s'", t.Name, column.Name)
			}
		}
	}
	return ""
}

func (x *Exec) renameDatabase(db *Database, name string) error {
	if x.in.Database(name) != nil {
		return sqltypes.Errorf(1801, 3, 16, "Database '%s' already exists. Choose a different database name.", name)
	}
	if err := x.needLock(db); err != nil {
		return err
	}
	if err := x.in.store.RenameDatabase(db.id, name); err != nil {
		return fmt.Errorf("renaming database %q: %w", db.Name(), err)
	}
	x.in.mu.Lock()
	defer x.in.mu.Unlock()
	delete(x.in.databases, fold(db.Name()))
	db.nameMu.Lock()
	db.name = name
	db.nameMu.Unlock()
	x.in.databases[fold(name)] = db
	db.leaveName()
	return nil
}

// saveOptions changes settings in a transaction of their own: ALTER DATABASE is not
// part of one, and it may write in a read-only database.
func (x *Exec) saveOptions(db *Database, change func(*DatabaseOptions)) error {
	return x.in.System(db.Name(), func(y *Exec) error {
		y.s.maintenance = true
		return y.UpdateOptions(db, change)
	})
}

// applyOptions tells the storage what concerns it.
func (db *Database) applyOptions(o *DatabaseOptions) {
	db.store.SetReadCommittedSnapshot(o.ReadCommittedSnapshot)
	db.store.SetReadOnly(o.ReadOnly)
}

func (x *Exec) alterSetting(db *Database, set tsql.DatabaseSetting, st *tsql.AlterDatabaseStmt) error {
	on := strings.EqualFold(set.Value, "ON")
	save := func(change func(*DatabaseOptions)) error { return x.saveOptions(db, change) }
	alone := func(counts func(*Session) bool, change func(*DatabaseOptions)) error {
		release, err := x.exclusive(db, st, counts)
		if err != nil {
			return err
		}
		defer release()
		return save(change)
	}
	switch set.Name {
	case "ALLOW_SNAPSHOT_ISOLATION":
		return x.alterSnapshotIsolation(db, on)
	case "READ_COMMITTED_SNAPSHOT":
		return alone(anybody, func(o *DatabaseOptions) { o.ReadCommittedSnapshot = on })
	case "SINGLE_USER":
		return alone(anybody, func(o *DatabaseOptions) { o.UserAccess = set.Name })
	case "RESTRICTED_USER":
		unwanted := func(s *Session) bool { return !db.privileged(s.login) }
		return alone(unwanted, func(o *DatabaseOptions) { o.UserAccess = set.Name })
	case "MULTI_USER":
		return save(func(o *DatabaseOptions) { o.UserAccess = set.Name })
	case "OFFLINE":
		return alone(anybody, func(o *DatabaseOptions) { o.State = set.Name })
	case "ONLINE":
		return save(func(o *DatabaseOptions) { o.State = set.Name })
	case "READ_ONLY", "READ_WRITE":
		return alone(anybody, func(o *DatabaseOptions) { o.ReadOnly = set.Name == "READ_ONLY" })
	case "RECOVERY":
		if !slices.Contains([]string{"FULL", "BULK_LOGGED", "SIMPLE"}, set.Value) {
			return sqltypes.Errorf(102, 1, 15, "Incorrect syntax near '%s'.", set.Value)
		}
		return save(func(o *DatabaseOptions) { o.Recovery = set.Value })
	case "COMPATIBILITY_LEVEL":
		return x.alterCompatibility(db, set.Value)
	case "CONTAINMENT":
		return save(func(o *DatabaseOptions) { o.Contained = strings.EqualFold(set.Value, "PARTIAL") })
	case "TRUSTWORTHY":
		return save(func(o *DatabaseOptions) { o.Trustworthy = on })
	case "CHANGE_TRACKING":
		if on {
			return unsupported("Change tracking")
		}
		return nil
	}
	if slices.Contains(idleSettings, set.Name) {
		return nil
	}
	return unsupported("ALTER DATABASE SET " + set.Name)
}

// idleSettings are accepted and mean nothing here.
var idleSettings = []string{
	"AUTO_CLOSE", "AUTO_SHRINK", "AUTO_CREATE_STATISTICS", "AUTO_UPDATE_STATISTICS", "AUTO_UPDATE_STATISTICS_ASYNC", "PAGE_VERIFY", "QUERY_STORE",
	"ANSI_NULL_DEFAULT", "ANSI_NULLS", "ANSI_PADDING", "ANSI_WARNINGS", "ARITHABORT", "CONCAT_NULL_YIELDS_NULL", "QUOTED_IDENTIFIER", "NUMERIC_ROUNDABORT",
	"RECURSIVE_TRIGGERS", "CURSOR_CLOSE_ON_COMMIT", "CURSOR_DEFAULT", "DB_CHAINING", "PARAMETERIZATION", "DATE_CORRELATION_OPTIMIZATION", "DELAYED_DURABILITY",
	"TARGET_RECOVERY_TIME", "ACCELERATED_DATABASE_RECOVERY", "DISABLE_BROKER", "ENABLE_BROKER", "NEW_BROKER", "HONOR_BROKER_PRIORITY", "MIXED_PAGE_ALLOCATION",
	"FILESTREAM", "ENCRYPTION",
}

func (x *Exec) alterCompatibility(db *Database, value string) error {
	level, err := strconv.Atoi(value)
	highest := 170
	if !x.in.IsAzure() {
		highest = min(x.in.MajorVersion()*10, highest)
	}
	var valid []string
	for l := 100; l <= highest; l += 10 {
		if level == l && err == nil {
			return x.saveOptions(db, func(o *DatabaseOptions) { o.CompatibilityLevel = level })
		}
		valid = append(valid, strconv.Itoa(l))
	}
	last := len(valid) - 1
	return raise(15048, "Valid values of the database compatibility level are %s or %s.", strings.Join(valid[:last], ", "), valid[last])
}

// SnapshotIsolationState is sys.databases.snapshot_isolation_state (MS docs).
type SnapshotIsolationState int32

// The states of ALLOW_SNAPSHOT_ISOLATION.
const (
	SnapshotOff SnapshotIsolationState = iota
	SnapshotOn
	SnapshotTurningOff
	SnapshotTurningOn
)

// String is snapshot_isolation_state_desc.
func (s SnapshotIsolationState) String() string {
	return [...]string{"OFF", "ON", "IN_TRANSITION_TO_OFF", "IN_TRANSITION_TO_ON"}[s]
}

// SnapshotIsolation is the state of ALLOW_SNAPSHOT_ISOLATION.
func (db *Database) SnapshotIsolation() SnapshotIsolationState {
	if turning := SnapshotIsolationState(db.turning.Load()); turning != 0 {
		return turning
	}
	if db.Options().SnapshotIsolation {
		return SnapshotOn
	}
	return SnapshotOff
}

// alterSnapshotIsolation waits for the transactions that are open, which are in
// transition meanwhile (MS docs: ALTER DATABASE SET options).
func (x *Exec) alterSnapshotIsolation(db *Database, on bool) error {
	state := SnapshotTurningOff
	if on {
		state = SnapshotTurningOn
	}
	if db.Options().SnapshotIsolation == on {
		return nil
	}
	if !db.turning.CompareAndSwap(0, int32(state)) {
		return x.alterFailed(raise(5061, "ALTER DATABASE failed because a lock could not be placed on database '%s'. Try again later.", db.Name()))
	}
	defer db.turning.Store(0)
	if err := db.store.Drain(x.ctx, storage.TxnOptions{Owner: x.s.owner, LockTimeout: x.s.lockTimeout}); err != nil {
		return err
	}
	return x.saveOptions(db, func(o *DatabaseOptions) { o.SnapshotIsolation = on })
}
