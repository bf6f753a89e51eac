package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

func (x *Exec) drop(st *tsql.DropStmt) error {
	for _, n := range st.Names {
		if err := x.dropOne(st, n); err != nil {
			return err
		}
	}
	return nil
}

func (x *Exec) dropOne(st *tsql.DropStmt, n tsql.Name) error {
	missing := func() error {
		if st.IfExists {
			return nil
		}
		return sqltypes.Errorf(3701, 5, 11, "Cannot drop the %s '%s', because it does not exist or you do not have permission.", strings.ToLower(st.Kind), n.String())
	}
	switch st.Kind {
	case "TABLE":
		db, t, err := x.findTable(n)
		if err != nil {
			if e := asServerError(err); e != nil && e.Number == 208 {
				return missing()
			}
			return err
		}
		return x.DropTable(db, t, x.textOf(st))
	case "VIEW", "PROCEDURE", "PROC", "FUNCTION", "TRIGGER":
		return x.dropModule(n, missing)
	case "SYNONYM", "SEQUENCE":
		return x.dropNamed(st.Kind, n, missing)
	case "SECURITY POLICY":
		return x.dropPolicy(n, missing)
	case "COLUMN MASTER KEY", "COLUMN ENCRYPTION KEY":
		return x.dropColumnKey(st.Kind, n.Base(), missing)
	case "SCHEMA":
		return x.dropSchema(n, missing)
	case "TYPE":
		return x.dropType(n, missing)
	case "DATABASE":
		return x.dropDatabase(n.Base(), missing)
	case "LOGIN":
		if x.in.login(n.Base()) == nil {
			return sqltypes.Errorf(15151, 1, 16, "Cannot drop the login '%s', because it does not exist or you do not have permission.", n.Base())
		}
		return x.in.deleteLogin(n.Base())
	case "USER", "ROLE":
		return x.dropPrincipal(st.Kind, n.Base(), st.IfExists)
	}
	return unsupported("DROP " + st.Kind)
}

// DropTable drops a table; text is the statement's, for the hooks.
func (x *Exec) DropTable(db *Database, t *Table, text string) error {
	if t.MSShipped && !x.system {
		return sqltypes.Errorf(3701, 5, 11, "Cannot drop the table '%s', because it does not exist or you do not have permission.", t.Name)
	}
	if !t.heldBySession {
		if err := x.needAlter(db, t.Object); err != nil {
			return err
		}
	}
	for _, other := range x.catalog(db).tables {
		for _, fk := range other.ForeignKeys {
			if fk.RefTable == t.ID && other.ID != t.ID {
				return raise(3726, "Could not drop object '%s' because it is referenced by a FOREIGN KEY constraint.", t.Name)
			}
		}
	}
	if p := x.catalog(db).policyOn(t.ID); p != nil {
		return raise(3729, "Cannot DROP TABLE '%s' because it is being referenced by object '%s'.", t.Name, p.Name)
	}
	ev := DDLEvent{Phase: DDLBefore, Kind: "DROP TABLE", Database: db, Before: t, Text: text}
	if !t.heldBySession {
		if err := x.event(ev); err != nil {
			return err
		}
	}
	txn, err := x.writer(db)
	if err != nil {
		return err
	}
	if err := txn.DropTable(t.ID); err != nil {
		return x.storageError(err, t)
	}
	if t.heldBySession {
		x.s.setTemp(fold(t.Name), nil)
		return nil
	}
	if err := x.deleteTable(db, t); err != nil {
		return err
	}
	for _, m := range x.catalog(db).modules {
		if m.Kind == KindTrigger && m.Parent == t.ID {
			if err := x.deleteModule(db, m); err != nil {
				return err
			}
		}
	}
	ev.Phase = DDLAfter
	return x.event(ev)
}

func (x *Exec) truncate(st *tsql.TruncateStmt) error {
	db, t, err := x.findTable(st.Table)
	if err != nil {
		return sqltypes.Errorf(4701, 1, 16, "Cannot find the object \"%s\" because it does not exist or you do not have permissions.", st.Table.String())
	}
	if !t.heldBySession {
		if err := x.needAlter(db, t.Object); err != nil {
			return err
		}
		for _, other := range x.catalog(db).tables {
			for _, fk := range other.ForeignKeys {
				if fk.RefTable == t.ID && other.ID != t.ID {
					return raise(4712, "Cannot truncate table '%s' because it is being referenced by a FOREIGN KEY constraint.", t.Name)
				}
			}
		}
	}
	ev := DDLEvent{Phase: DDLBefore, Kind: "TRUNCATE TABLE", Database: db, Before: t, Text: x.textOf(st)}
	if err := x.event(ev); err != nil {
		return err
	}
	txn, err := x.writer(db)
	if err != nil {
		return err
	}
	if err := txn.TruncateTable(t.ID); err != nil {
		return x.storageError(err, t)
	}
	if id := t.identity(); id != nil {
		db.store.SetCounter(identityKey(t), 0)
	}
	ev.Phase, ev.After = DDLAfter, t
	return x.event(ev)
}

func (x *Exec) dropModule(n tsql.Name, missing func() error) error {
	db := x.db
	if n.Database() != "" {
		if db = x.in.Database(n.Database()); db == nil {
			return missing()
		}
	}
	schema := n.Schema()
	if schema == "" {
		schema = x.defaultSchema(db)
	}
	m := x.catalog(db).module(schema, n.Base())
	if m == nil && n.Schema() == "" {
		m = x.catalog(db).module("dbo", n.Base())
	}
	if m == nil || m.MSShipped && !x.system {
		return missing()
	}
	if err := x.needAlter(db, m.Object); err != nil {
		return err
	}
	return x.deleteModule(db, m)
}

func (x *Exec) createSchema(st *tsql.CreateSchemaStmt) error {
	name := st.Name
	if name == "" {
		name = st.Owner
	}
	if err := x.needDDL(x.db, "CREATE SCHEMA"); err != nil {
		return err
	}
	if err := x.CreateSchema(x.db, name, st.Owner); err != nil {
		return err
	}
	for _, body := range st.Body {
		if t, ok := body.(*tsql.CreateTableStmt); ok && t.Name.Schema() == "" {
			if err := x.createTableIn(x.db, x.catalog(x.db).schema(name), t); err != nil {
				return err
			}
			continue
		}
		if run := x.ddlStmt(body); run == nil {
			return unsupported("This statement in CREATE SCHEMA")
		} else if err := run(); err != nil {
			return err
		}
	}
	return nil
}

// CreateSchema makes a schema, owned by owner or, when that is empty, by dbo.
func (x *Exec) CreateSchema(db *Database, name, owner string) error {
	c := x.catalog(db)
	if c.schema(name) != nil {
		return sqltypes.Errorf(2714, 6, 16, "There is already an object named '%s' in the database.", name)
	}
	s := &Schema{ID: int32(4 + db.store.AddCounter("schemas", 1)), Name: name, Owner: 1}
	if owner != "" {
		p := c.principal(owner)
		if p == nil {
			return raise(15151, "Cannot find the user '%s', because it does not exist or you do not have permission.", owner)
		}
		s.Owner = p.ID
	}
	return x.putSchema(db, s)
}

func (x *Exec) dropSchema(n tsql.Name, missing func() error) error {
	c := x.catalog(x.db)
	s := c.schema(n.Base())
	if s == nil || s.ID <= 4 {
		return missing()
	}
	for _, t := range c.tables {
		if t.SchemaID == s.ID {
			return raise(3729, "Cannot drop schema '%s' because it is being referenced by object '%s'.", s.Name, t.Name)
		}
	}
	for _, m := range c.modules {
		if m.SchemaID == s.ID {
			return raise(3729, "Cannot drop schema '%s' because it is being referenced by object '%s'.", s.Name, m.Name)
		}
	}
	return x.deleteDocument(x.db, metaSchema+itoa(int64(s.ID)), func(c *Catalog) { delete(c.schemas, c.schemaKey(s.Name)) })
}

func (x *Exec) alterSchema(st *tsql.AlterSchemaStmt) error {
	c := x.catalog(x.db)
	s := c.schema(st.Name)
	if s == nil {
		return raise(15151, "Cannot alter the schema '%s', because it does not exist or you do not have permission.", st.Name)
	}
	if db, t, err := x.findTable(st.Object); err == nil {
		d := t.clone()
		d.SchemaID = s.ID
		if c.lookup(s.Name, t.Name) != 0 {
			return raise(15530, "The object with name \"%s\" already exists.", t.Name)
		}
		return x.putTable(db, d)
	}
	schema := st.Object.Schema()
	if schema == "" {
		schema = x.defaultSchema(x.db)
	}
	if m := c.module(schema, st.Object.Base()); m != nil {
		d := *m
		d.SchemaID = s.ID
		return x.putModule(x.db, &d)
	}
	return raise(15151, "Cannot find the object '%s', because it does not exist or you do not have permission.", st.Object.Base())
}

func (x *Exec) dropType(n tsql.Name, missing func() error) error {
	schema := n.Schema()
	if schema == "" {
		schema = "dbo"
	}
	c := x.catalog(x.db)
	s := c.schema(schema)
	if s == nil {
		return missing()
	}
	if m := c.module(schema, n.Base()); m != nil && m.Kind == kindTableType {
		return x.deleteModule(x.db, m)
	}
	u := c.types[c.objectKey(s.ID, n.Base())]
	if u == nil {
		return missing()
	}
	for _, t := range c.tables {
		for _, col := range t.Columns {
			if col.UserTypeID == u.ID {
				return raise(3732, "Cannot drop type '%s' because it is being referenced by object '%s'. There may be other objects that reference this type.", n.String(), t.Name)
			}
		}
	}
	return x.deleteDocument(x.db, metaType+itoa(int64(u.ID)), func(c *Catalog) { delete(c.types, c.objectKey(u.SchemaID, u.Name)) })
}
