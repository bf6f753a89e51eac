package engine

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

func durationMS(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// noTransaction is error 226 inside a user transaction.
func (x *Exec) noTransaction(what string) error {
	if x.s.tranCount() > 0 {
		return sqltypes.Errorf(226, 6, 16, "%s statement not allowed within multi-statement transaction.", what)
	}
	return nil
}

func (x *Exec) createDatabaseStmt(st *tsql.CreateDatabaseStmt) error {
	if err := x.noTransaction("CREATE DATABASE"); err != nil {
		return err
	}
	if !x.HasServerPermission("CREATE ANY DATABASE") && !serverRole(x, "dbcreator") {
		return sqltypes.Errorf(262, 1, 14, "CREATE DATABASE permission denied in database 'master'.")
	}
	if x.in.Database(st.Name) != nil {
		return sqltypes.Errorf(1801, 3, 16, "Database '%s' already exists. Choose a different database name.", st.Name)
	}
	if st.Collation != "" {
		if _, ok := sqltypes.LookupCollation(st.Collation); !ok {
			return raise(448, "Invalid collation '%s'.", st.Collation)
		}
	}
	id := msdbID + 1
	for x.in.DatabaseByID(id) != nil {
		id++
	}
	return x.in.createDatabase(st.Name, id, x.s.effectiveLogin().Name, st.Collation)
}

func serverRole(x *Exec, role string) bool {
	for _, r := range x.s.effectiveLogin().Roles {
		if fold(r) == role {
			return true
		}
	}
	return false
}

func (x *Exec) dropDatabase(name string, missing func() error) error {
	if err := x.noTransaction("DROP DATABASE"); err != nil {
		return err
	}
	db := x.in.Database(name)
	if db == nil {
		return missing()
	}
	if db.IsSystem() {
		return raise(3708, "Cannot drop the database '%s' because it is a system database.", db.Name())
	}
	if !x.unrestricted(db) {
		return sqltypes.Errorf(3701, 1, 11, "Cannot drop the database '%s', because it does not exist or you do not have permission.", name)
	}
	for _, s := range x.in.Sessions() {
		if s.currentDB() == db {
			return sqltypes.Errorf(3702, 4, 16, "Cannot drop database \"%s\" because it is currently in use.", db.Name())
		}
	}
	x.in.mu.Lock()
	delete(x.in.databases, fold(db.Name()))
	x.in.mu.Unlock()
	if err := x.in.store.DropDatabase(db.id); err != nil {
		return fmt.Errorf("dropping database %q: %w", name, err)
	}
	return nil
}

// alterDatabase is ALTER DATABASE .. SET, COLLATE and MODIFY NAME.
func (x *Exec) alterDatabase(st *tsql.AlterDatabaseStmt) error {
	db := x.db
	if !st.Current {
		if db = x.in.Database(st.Name); db == nil {
			return sqltypes.Errorf(5011, 5, 14, "User does not have permission to alter database '%s', the database does not exist, or the database is not in a state that allows access checks.", st.Name)
		}
	}
	if !x.unrestricted(db) {
		return sqltypes.Errorf(5011, 5, 14, "User does not have permission to alter database '%s', the database does not exist, or the database is not in a state that allows access checks.", db.Name())
	}
	if err := x.noTransaction("ALTER DATABASE"); err != nil {
		return err
	}
	switch {
	case st.NewName != "":
		return x.renameDatabase(db, st.NewName)
	case st.Collation != "":
		if _, ok := sqltypes.LookupCollation(st.Collation); !ok {
			return raise(448, "Invalid collation '%s'.", st.Collation)
		}
		return x.saveOptions(db, func(o *DatabaseOptions) { o.Collation = st.Collation })
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

func (x *Exec) renameDatabase(db *Database, name string) error {
	if x.in.Database(name) != nil {
		return sqltypes.Errorf(1801, 3, 16, "Database '%s' already exists. Choose a different database name.", name)
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
	return nil
}

// saveOptions changes settings in a transaction of their own: ALTER DATABASE is
// not part of one.
func (x *Exec) saveOptions(db *Database, change func(*DatabaseOptions)) error {
	return x.in.System(db.Name(), func(y *Exec) error { return y.UpdateOptions(db, change) })
}

func (x *Exec) alterSetting(db *Database, set tsql.DatabaseSetting, st *tsql.AlterDatabaseStmt) error {
	on := strings.EqualFold(set.Value, "ON")
	switch set.Name {
	case "ALLOW_SNAPSHOT_ISOLATION":
		return x.saveOptions(db, func(o *DatabaseOptions) { o.SnapshotIsolation = on })
	case "READ_COMMITTED_SNAPSHOT":
		if err := x.exclusive(db, st); err != nil {
			return err
		}
		return x.saveOptions(db, func(o *DatabaseOptions) { o.ReadCommittedSnapshot = on })
	case "SINGLE_USER", "RESTRICTED_USER", "MULTI_USER":
		if set.Name == "SINGLE_USER" {
			if err := x.exclusive(db, st); err != nil {
				return err
			}
		}
		return x.saveOptions(db, func(o *DatabaseOptions) { o.UserAccess = set.Name })
	case "OFFLINE", "ONLINE":
		if set.Name == "OFFLINE" {
			if err := x.exclusive(db, st); err != nil {
				return err
			}
		}
		return x.saveOptions(db, func(o *DatabaseOptions) { o.State = set.Name })
	case "READ_ONLY", "READ_WRITE":
		return x.saveOptions(db, func(o *DatabaseOptions) { o.ReadOnly = set.Name == "READ_ONLY" })
	case "RECOVERY":
		return x.saveOptions(db, func(o *DatabaseOptions) { o.Recovery = set.Value })
	case "COMPATIBILITY_LEVEL":
		level, err := strconv.Atoi(set.Value)
		if err != nil {
			return raise(15048, "Valid values of the database compatibility level are 100, 110, 120, 130, 140, 150, 160 or 170.")
		}
		return x.saveOptions(db, func(o *DatabaseOptions) { o.CompatibilityLevel = level })
	case "TRUSTWORTHY":
		return x.saveOptions(db, func(o *DatabaseOptions) { o.Trustworthy = on })
	case "CHANGE_TRACKING":
		if on {
			return unsupported("Change tracking")
		}
		return nil
	case "AUTO_CLOSE", "AUTO_SHRINK", "AUTO_CREATE_STATISTICS", "AUTO_UPDATE_STATISTICS", "AUTO_UPDATE_STATISTICS_ASYNC", "PAGE_VERIFY", "QUERY_STORE",
		"ANSI_NULL_DEFAULT", "ANSI_NULLS", "ANSI_PADDING", "ANSI_WARNINGS", "ARITHABORT", "CONCAT_NULL_YIELDS_NULL", "QUOTED_IDENTIFIER", "NUMERIC_ROUNDABORT",
		"RECURSIVE_TRIGGERS", "CURSOR_CLOSE_ON_COMMIT", "CURSOR_DEFAULT", "DB_CHAINING", "PARAMETERIZATION", "DATE_CORRELATION_OPTIMIZATION", "DELAYED_DURABILITY",
		"TARGET_RECOVERY_TIME", "ACCELERATED_DATABASE_RECOVERY", "DISABLE_BROKER", "ENABLE_BROKER", "NEW_BROKER", "HONOR_BROKER_PRIORITY", "MIXED_PAGE_ALLOCATION", "CONTAINMENT", "FILESTREAM", "ENCRYPTION":
		return nil
	}
	return unsupported("ALTER DATABASE SET " + set.Name)
}

// exclusive waits until this session alone uses the database: others are rolled
// back at once WITH ROLLBACK, else the statement fails when they stay (5070).
func (x *Exec) exclusive(db *Database, st *tsql.AlterDatabaseStmt) error {
	for _, s := range x.in.Sessions() {
		if s == x.s || s.currentDB() != db {
			continue
		}
		if !st.Rollback {
			return sqltypes.Errorf(5070, 2, 16, "Database state cannot be changed while other users are using the database '%s'", db.Name())
		}
		s.kill()
		s.Close()
	}
	return nil
}
