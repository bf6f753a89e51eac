package engine

import (
	"fmt"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

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
		if _, err := x.in.collation(st.Collation); err != nil {
			return err
		}
	}
	id := x.in.freeDatabaseID()
	if err := x.in.createDatabase(st.Name, id, x.s.effectiveLogin().Name, st.Collation); err != nil || !st.Contained {
		return err
	}
	return x.saveOptions(x.in.DatabaseByID(id), func(o *DatabaseOptions) { o.Contained = true })
}

// freeDatabaseID is the lowest database_id that no database has.
func (in *Instance) freeDatabaseID() int {
	id := msdbID + 1
	for in.DatabaseByID(id) != nil {
		id++
	}
	return id
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
	if x.s.currentDB() == db || len(x.users(db)) > 0 {
		return sqltypes.Errorf(3702, 4, 16, "Cannot drop database \"%s\" because it is currently in use.", db.Name())
	}
	x.in.mu.Lock()
	delete(x.in.databases, fold(db.Name()))
	x.in.mu.Unlock()
	db.leaveName()
	if err := x.in.store.DropDatabase(db.id); err != nil {
		return fmt.Errorf("dropping database %q: %w", name, err)
	}
	return nil
}
