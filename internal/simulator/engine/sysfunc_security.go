package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func loginName(x *Exec, _ []value) (value, error) { return text(x.s.effectiveLogin().Name), nil }

func loginID(x *Exec, a []value) (value, error) {
	l := x.s.effectiveLogin()
	if len(a) > 0 {
		if l = x.in.login(a[0].Str()); l == nil {
			return value{}, nil
		}
	}
	return integer(int64(l.ID)), nil
}

func loginSID(x *Exec, a []value) (value, error) {
	l := x.s.effectiveLogin()
	if len(a) > 0 {
		if l = x.in.login(a[0].Str()); l == nil {
			return value{}, nil
		}
	}
	return sidOf(l.ID), nil
}

// sidOf is a login's security id: 0x01 for sa, 16 bytes for the others.
func sidOf(id int32) value {
	if id == 1 {
		return sqltypes.BytesOf([]byte{1})
	}
	sid := make([]byte, 16)
	sid[0], sid[1], sid[2], sid[3] = byte(id), byte(id>>8), byte(id>>16), byte(id>>24)
	return sqltypes.BytesOf(sid)
}

func userName(x *Exec, a []value) (value, error) {
	if len(a) > 0 {
		if p := x.catalog(x.db).principalByID(int32(a[0].Int64())); p != nil {
			return text(p.Name), nil
		}
		return value{}, nil
	}
	if u := x.user(x.db); u != nil {
		return text(u.Name), nil
	}
	return text("guest"), nil
}

func userID(x *Exec, a []value) (value, error) {
	u := x.user(x.db)
	if len(a) > 0 {
		u = x.catalog(x.db).principal(a[0].Str())
	}
	if u == nil {
		return value{}, nil
	}
	return integer(int64(u.ID)), nil
}

func isMember(x *Exec, a []value) (value, error) {
	c := x.catalog(x.db)
	if c.principal(a[0].Str()) == nil {
		return value{}, nil
	}
	u := x.user(x.db)
	return boolean(c.isMember(u, a[0].Str())), nil
}

func isRoleMember(x *Exec, a []value) (value, error) {
	c := x.catalog(x.db)
	u := x.user(x.db)
	if len(a) > 1 {
		u = c.principal(a[1].Str())
	}
	if u == nil || c.principal(a[0].Str()) == nil {
		return value{}, nil
	}
	return boolean(c.isMember(u, a[0].Str())), nil
}

func isServerRoleMember(x *Exec, a []value) (value, error) {
	l := x.s.effectiveLogin()
	if len(a) > 1 {
		if l = x.in.login(a[1].Str()); l == nil {
			return value{}, nil
		}
	}
	role := fold(a[0].Str())
	switch role {
	case "public":
		return integer(1), nil
	case "sysadmin":
		return boolean(l.Sysadmin), nil
	case "serveradmin", "securityadmin", "dbcreator", "setupadmin", "processadmin", "diskadmin", "bulkadmin":
		for _, r := range l.Roles {
			if fold(r) == role {
				return integer(1), nil
			}
		}
		return boolean(l.Sysadmin), nil
	}
	return value{}, nil
}

func hasDBAccess(x *Exec, a []value) (value, error) {
	db := x.in.Database(a[0].Str())
	if db == nil {
		return value{}, nil
	}
	return boolean(db.accessible(x.s.effectiveLogin())), nil
}

// hasPermsByName is HAS_PERMS_BY_NAME for the server, databases, schemas,
// objects and their columns. A name that does not exist, or that the session may
// not know of, is NULL.
func hasPermsByName(x *Exec, a []value) (value, error) {
	class, permission := strings.ToUpper(a[1].Str()), strings.ToUpper(a[2].Str())
	if a[0].IsNull() && a[1].IsNull() {
		return boolean(x.HasServerPermission(permission)), nil
	}
	switch class {
	case "DATABASE":
		return x.hasDatabasePerm(a[0], permission)
	case "SCHEMA":
		s := x.catalog(x.db).schema(a[0].Str())
		if s == nil {
			return value{}, nil
		}
		return boolean(x.allowed(x.db, Object{SchemaID: s.ID}, permission, 0)), nil
	case "OBJECT":
		column := ""
		if len(a) == 5 && !a[3].IsNull() {
			if !strings.EqualFold(a[4].Str(), "COLUMN") {
				return value{}, nil
			}
			column = a[3].Str()
		}
		return x.hasObjectPerm(a[0].Str(), column, permission)
	}
	return value{}, nil
}

// hasDatabasePerm is hasPermsByName for a database, the current one if name is
// NULL.
func (x *Exec) hasDatabasePerm(name value, permission string) (value, error) {
	db := x.db
	if !name.IsNull() {
		if db = x.in.Database(name.Str()); db == nil {
			return value{}, nil
		}
	}
	switch permission {
	case "ANY", "CONNECT":
		return boolean(db.accessible(x.s.effectiveLogin())), nil
	case "VIEW DATABASE STATE":
		return boolean(x.seesDatabaseState(db, permission)), nil
	case "VIEW DATABASE PERFORMANCE STATE":
		if !x.in.AtLeast(Release2022) {
			return value{}, nil
		}
		return boolean(x.seesDatabaseState(db, permission)), nil
	}
	return boolean(x.allowed(db, Object{}, permission, 0)), nil
}

// hasObjectPerm is hasPermsByName for an object, or for one of its columns.
func (x *Exec) hasObjectPerm(name, column, permission string) (value, error) {
	n := splitName(name)
	db := x.db
	if n.Database() != "" {
		if db = x.in.Database(n.Database()); db == nil {
			return value{}, nil
		}
	}
	schema := n.Schema()
	if schema == "" {
		schema = x.defaultSchema(db)
	}
	if permission == "ANY" {
		permission = "SELECT"
	}
	c := x.catalog(db)
	o, ok := c.object(c.lookup(schema, n.Base()))
	if !ok {
		if v, ok := x.in.hooks.views[hookName(schema, n.Base())]; ok && v.Visible != nil && v.Visible(db) {
			return boolean(x.MayReadSystemTable(db, v.Schema)), nil
		}
		return value{}, nil
	}
	ordinal := 0
	if column != "" {
		if ordinal = c.columnOrdinal(o.ID, column); ordinal == 0 {
			return value{}, nil
		}
	}
	return boolean(x.allowed(db, o, permission, ordinal)), nil
}

// columnOrdinal is the column_id of a table's column, 0 for none.
func (c *Catalog) columnOrdinal(object int64, name string) int {
	t := c.tables[object]
	if t == nil {
		return 0
	}
	for i := range t.Columns {
		if fold(t.Columns[i].Name) == fold(name) {
			return t.Columns[i].ID
		}
	}
	return 0
}
