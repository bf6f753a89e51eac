package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// ddl runs statements that change definitions.
func (x *Exec) ddl(stmt tsql.Stmt) error {
	if x.function {
		return raise(443, "Invalid use of a side-effecting operator within a function.")
	}
	kind, _ := statementKind(stmt)
	info := statementPlan{kind: kind, text: x.textOf(stmt), data: true}
	run := x.ddlStmt(stmt)
	if run == nil {
		return unsupported("This statement")
	}
	switch st := stmt.(type) {
	case *tsql.AlterTableStmt, *tsql.CreateIndexStmt, *tsql.AlterIndexStmt, *tsql.DropIndexStmt:
		if err := x.refuseSnapshotDDL(); err != nil {
			return err
		}
	case *tsql.CreateDatabaseStmt, *tsql.AlterDatabaseStmt, *tsql.PrincipalStmt, *tsql.BackupStmt, *tsql.RestoreStmt:
		info.data = false
	case *tsql.DropStmt:
		info.data = st.Kind != "DATABASE"
	}
	if p, ok := stmt.(*tsql.PrincipalStmt); ok && p.Kind != "LOGIN" && !p.ServerRole {
		info.data = true
	}
	if err := x.statement(info, run); err != nil {
		return err
	}
	return x.doneQuietly()
}

func (x *Exec) ddlStmt(stmt tsql.Stmt) func() error {
	switch st := stmt.(type) {
	case *tsql.CreateTableStmt:
		return func() error { return x.createTable(st) }
	case *tsql.AlterTableStmt:
		return func() error { return x.alterTable(st) }
	case *tsql.CreateIndexStmt:
		return func() error { return x.createIndex(st) }
	case *tsql.DropIndexStmt:
		return func() error { return x.dropIndex(st) }
	case *tsql.AlterIndexStmt:
		return func() error { _, _, err := x.findTable(st.Table); return err }
	case *tsql.DropStmt:
		return func() error { return x.drop(st) }
	case *tsql.TruncateStmt:
		return func() error { return x.truncate(st) }
	case *tsql.CreateSchemaStmt:
		return func() error { return x.createSchema(st) }
	case *tsql.AlterSchemaStmt:
		return func() error { return x.alterSchema(st) }
	case *tsql.CreateViewStmt, *tsql.CreateProcedureStmt, *tsql.CreateFunctionStmt, *tsql.CreateTypeStmt, *tsql.CreateTriggerStmt:
		return func() error { return x.createModule(stmt) }
	case *tsql.CreateSynonymStmt:
		return func() error { return x.createSynonym(st) }
	case *tsql.SequenceStmt:
		return func() error { return x.sequenceStmt(st) }
	case *tsql.CreateDatabaseStmt:
		return func() error { return x.createDatabaseStmt(st) }
	case *tsql.AlterDatabaseStmt:
		return func() error { return x.alterDatabase(st) }
	case *tsql.BackupStmt:
		return func() error { return x.backup(st) }
	case *tsql.RestoreStmt:
		return func() error { return x.restore(st) }
	case *tsql.PrincipalStmt:
		return func() error { return x.principalStmt(st) }
	case *tsql.PermissionStmt:
		return func() error { return x.permissionStmt(st) }
	case *tsql.AuthorizationStmt:
		return func() error { return x.authorization(st) }
	case *tsql.EnableTriggerStmt:
		return func() error { return x.enableTriggers(st.On, &st.EnableTrigger) }
	case *tsql.SecurityPolicyStmt:
		return func() error { return x.securityPolicyStmt(st) }
	case *tsql.ColumnMasterKeyStmt:
		return func() error { return x.createColumnMasterKey(st) }
	case *tsql.ColumnEncryptionKeyStmt:
		return func() error { return x.columnEncryptionKeyStmt(st) }
	case *tsql.OtherStmt:
		return x.otherStmt(st)
	}
	return nil
}

// otherStmt accepts the statements that change nothing a client could see.
func (x *Exec) otherStmt(st *tsql.OtherStmt) func() error {
	switch {
	case strings.HasPrefix(st.What, "UPDATE STATISTICS"), strings.HasPrefix(st.What, "CREATE STATISTICS"), strings.Contains(st.What, " PARTITION "):
		return func() error { return nil }
	}
	if strings.HasPrefix(st.What, "DBCC ") {
		return func() error { return x.dbcc(st) }
	}
	return func() error { return unsupported(st.What) }
}

// place is where a new object goes.
func (x *Exec) place(n tsql.Name) (*Database, *Schema, error) {
	db := x.db
	if n.Database() != "" {
		if db = x.in.Database(n.Database()); db == nil {
			return nil, nil, sqltypes.Errorf(911, 1, 16, "Database '%s' does not exist. Make sure that the name is entered correctly.", n.Database())
		}
	}
	name := n.Schema()
	if name == "" {
		name = x.defaultSchema(db)
	}
	s := x.catalog(db).schema(name)
	if s == nil || !x.system && fold(name) == "sys" {
		return nil, nil, raise(2760, "The specified schema name \"%s\" either does not exist or you do not have permission to use it.", name)
	}
	return db, s, nil
}

// needDDL is error 262 unless the session may create objects of that kind.
func (x *Exec) needDDL(db *Database, permission string) error {
	if x.unrestricted(db) || x.catalog(db).isMember(x.user(db), "db_ddladmin") || x.allowed(db, Object{}, permission, 0) {
		return nil
	}
	return sqltypes.Errorf(262, 1, 14, "%s permission denied in database '%s'.", permission, db.Name())
}

func (x *Exec) needAlter(db *Database, o Object) error {
	if x.unrestricted(db) || x.catalog(db).isMember(x.user(db), "db_ddladmin") || x.allowed(db, o, "ALTER", 0) {
		return nil
	}
	return sqltypes.Errorf(1088, 13, 16, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", o.Name)
}

// event calls the DDL hooks.
func (x *Exec) event(ev DDLEvent) error {
	for _, hook := range x.in.hooks.ddl {
		if err := hook(x, ev); err != nil {
			return err
		}
	}
	return nil
}

// findTable finds a base or # table by name.
func (x *Exec) findTable(n tsql.Name) (*Database, *Table, error) {
	if strings.HasPrefix(n.Base(), "#") {
		if t := x.s.tempTable(n.Base()); t != nil {
			return x.in.tempdb, t, nil
		}
		return nil, nil, errInvalidObject(n.Base())
	}
	c := &compiler{x: x}
	r, err := c.resolveTable(n)
	if err != nil {
		return nil, nil, err
	}
	if r.table == nil {
		return nil, nil, errInvalidObject(n.String())
	}
	return r.db, r.table, nil
}

func (x *Exec) createTable(st *tsql.CreateTableStmt) error {
	if strings.HasPrefix(st.Name.Base(), "#") {
		return x.createTempTable(st)
	}
	db, schema, err := x.place(st.Name)
	if err != nil {
		return err
	}
	if err := x.needDDL(db, "CREATE TABLE"); err != nil {
		return err
	}
	return x.createTableIn(db, schema, st)
}

func (x *Exec) createTableIn(db *Database, schema *Schema, st *tsql.CreateTableStmt) error {
	if x.catalog(db).lookup(schema.Name, st.Name.Base()) != 0 {
		return sqltypes.Errorf(2714, 6, 16, "There is already an object named '%s' in the database.", st.Name.Base())
	}
	t, err := x.within(db).buildTable(db, schema.ID, st.Name.Base(), st)
	if err != nil {
		return err
	}
	if err := x.newConstraintNames(db, t); err != nil {
		return err
	}
	return x.addTable(db, t, x.textOf(st))
}

// addTable stores a new table and tells the hooks.
func (x *Exec) addTable(db *Database, t *Table, text string) error {
	txn, err := x.writer(db)
	if err != nil {
		return err
	}
	if err := txn.CreateTable(x.within(db).physical(t)); err != nil {
		return err
	}
	if err := x.putTable(db, t); err != nil {
		return err
	}
	return x.event(DDLEvent{Phase: DDLAfter, Kind: "CREATE TABLE", Database: db, After: t, Text: text})
}

// newConstraintNames is error 2714 when a constraint's name is taken.
func (x *Exec) newConstraintNames(db *Database, t *Table) error {
	c := x.catalog(db)
	var err error
	t.constraints(func(id int64, name string) {
		if other := c.names[c.objectKey(t.SchemaID, name)]; other != 0 && other != id && err == nil {
			err = sqltypes.Errorf(2714, 5, 16, "There is already an object named '%s' in the database.", name)
		}
	})
	return err
}

func (x *Exec) createTempTable(st *tsql.CreateTableStmt) error {
	name := st.Name.Base()
	if strings.HasPrefix(name, "##") {
		return unsupported("A global temporary table")
	}
	if x.s.tempTable(name) != nil {
		return sqltypes.Errorf(2714, 6, 16, "There is already an object named '%s' in the database.", name)
	}
	t, err := x.buildTable(x.in.tempdb, 1, name, st)
	if err != nil {
		return err
	}
	return x.addTempTable(t)
}

func (x *Exec) addTempTable(t *Table) error {
	t.heldBySession = true
	txn, err := x.writer(x.in.tempdb)
	if err != nil {
		return err
	}
	if err := txn.CreateTable(x.physical(t)); err != nil {
		return err
	}
	x.s.setTemp(fold(t.Name), t)
	return nil
}

// setTemp replaces the map of # tables, which marks share: t nil removes.
func (s *Session) setTemp(name string, t *Table) {
	temp := map[string]*Table{}
	for k, v := range s.temp {
		temp[k] = v
	}
	if t == nil {
		delete(temp, name)
	} else {
		temp[name] = t
	}
	s.temp = temp
}
