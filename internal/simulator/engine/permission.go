package engine

import (
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// user is the database user of the session's current login, nil without access.
func (x *Exec) user(db *Database) *Principal {
	l := x.s.effectiveLogin()
	c := x.catalog(db)
	if l.userOnly != "" {
		return c.principal(l.userOnly)
	}
	return c.userOf(l)
}

// roles are the ids of the user and of all roles it belongs to, public included.
func (c *Catalog) roles(u *Principal) []int32 {
	ids := []int32{u.ID, 0}
	for i := 0; i < len(ids); i++ {
		p := c.principalByID(ids[i])
		if p == nil {
			continue
		}
		for _, r := range p.MemberOf {
			if !slices.Contains(ids, r) {
				ids = append(ids, r)
			}
		}
	}
	return ids
}

// isMember reports whether the user is in the role, directly or not.
func (c *Catalog) isMember(u *Principal, role string) bool {
	r := c.principal(role)
	return r != nil && u != nil && slices.Contains(c.roles(u), r.ID)
}

// unrestricted reports system work and members of db_owner, dbo and sysadmin.
func (x *Exec) unrestricted(db *Database) bool {
	if x.system || x.s.isSysadmin() {
		return true
	}
	u := x.user(db)
	return u != nil && (u.ID == 1 || x.catalog(db).isMember(u, "db_owner"))
}

// IsDBOwner reports whether the session may do everything in the database.
func (x *Exec) IsDBOwner(db *Database) bool { return x.unrestricted(db) }

// IsSysadmin reports whether the session's login is a sysadmin.
func (x *Exec) IsSysadmin() bool { return x.system || x.s.isSysadmin() }

// IsRoleMember reports whether the session's user is in a database role; members
// of db_owner are in every role.
func (x *Exec) IsRoleMember(db *Database, role string) bool {
	return x.unrestricted(db) || x.catalog(db).isMember(x.user(db), role)
}

// HasPermission reports whether the session's user holds a permission on an
// object (MS docs: Permissions, the order of DENY over GRANT).
func (x *Exec) HasPermission(db *Database, o Object, permission string) bool {
	return x.allowed(db, o, permission, 0)
}

func (x *Exec) allowed(db *Database, o Object, permission string, column int) bool {
	if x.unrestricted(db) {
		return true
	}
	u := x.user(db)
	if u == nil {
		return false
	}
	c := x.catalog(db)
	ids := c.roles(u)
	granted := false
	if o.SchemaID != 0 {
		if s := c.schemaByID(o.SchemaID); s != nil && slices.Contains(ids, s.Owner) && s.Owner != 0 {
			granted = true
		}
	}
	switch permission {
	case "SELECT":
		granted = granted || c.isMember(u, "db_datareader") && !o.MSShipped
		if c.isMember(u, "db_denydatareader") {
			return false
		}
	case "INSERT", "UPDATE", "DELETE":
		granted = granted || c.isMember(u, "db_datawriter")
		if c.isMember(u, "db_denydatawriter") {
			return false
		}
	}
	for _, p := range c.permissions {
		if !slices.Contains(ids, p.Grantee) || p.Name != permission && p.Name != "CONTROL" && p.Name != "ALL" {
			continue
		}
		here := p.Class == 0 || p.Class == 1 && p.Major == o.ID && (p.Column == 0 || p.Column == column) || p.Class == 3 && p.Major == int64(o.SchemaID)
		if !here {
			continue
		}
		if p.State == "D" {
			return false
		}
		granted = true
	}
	return granted
}

// checkPermission is error 229 unless the session holds the permission.
func (x *Exec) checkPermission(db *Database, schema string, o Object, permission string) error {
	if x.unrestricted(db) || x.allowed(db, o, permission, 0) {
		return nil
	}
	if permission == "SELECT" && x.hasColumnPermission(db, o) {
		return nil
	}
	return sqltypes.Errorf(229, 5, 14, "The %s permission was denied on the object '%s', database '%s', schema '%s'.", permission, o.Name, db.Name(), schema)
}

// hasColumnPermission reports a SELECT granted on some columns only.
func (x *Exec) hasColumnPermission(db *Database, o Object) bool {
	u := x.user(db)
	if u == nil {
		return false
	}
	c := x.catalog(db)
	ids := c.roles(u)
	for _, p := range c.permissions {
		if p.Class == 1 && p.Major == o.ID && p.Column != 0 && p.Name == "SELECT" && p.State != "D" && slices.Contains(ids, p.Grantee) {
			return true
		}
	}
	return false
}

// hasColumnRules reports permissions on single columns of an object that may
// matter to the session.
func (x *Exec) hasColumnRules(db *Database, o Object) bool {
	if x.unrestricted(db) {
		return false
	}
	for _, p := range x.catalog(db).permissions {
		if p.Class == 1 && p.Major == o.ID && p.Column != 0 {
			return true
		}
	}
	return false
}

// columnPermission is error 230 for a column that the session may not read.
func (c *compiler) columnPermission(src *source, use *columnUse) error {
	if !src.restricted || c.x.allowed(src.db, src.table.Object, "SELECT", use.ordinal+1) {
		return nil
	}
	return sqltypes.Errorf(230, 1, 14, "The SELECT permission was denied on the column '%s' of the object '%s', database '%s', schema '%s'.",
		use.desc.name, src.table.Name, src.database, src.schema)
}

// owned reports names that a view or function reads for its caller: permission
// on the module is enough where one owner owns both (ownership chaining).
func (c *compiler) owned() bool { return c.module != nil || c.x.proc != "" }

// HasServerPermission reports a server permission such as VIEW SERVER STATE.
func (x *Exec) HasServerPermission(name string) bool {
	l := x.s.effectiveLogin()
	if x.system || l.Sysadmin {
		return true
	}
	for _, p := range l.Permissions {
		if strings.EqualFold(p, name) || strings.EqualFold(p, "CONTROL SERVER") {
			return true
		}
	}
	return false
}

// NeedServerState is error 300 without VIEW SERVER STATE.
func (x *Exec) NeedServerState() error {
	if x.HasServerPermission("VIEW SERVER STATE") {
		return nil
	}
	return sqltypes.Errorf(300, 1, 14, "VIEW SERVER STATE permission was denied on object 'server', database 'master'.")
}

// NeedDatabaseState is error 262 without VIEW DATABASE STATE, which VIEW SERVER
// STATE implies (MS docs: Permissions hierarchy).
//
// From SQL Server 2022 on VIEW DATABASE PERFORMANCE STATE is enough for the views
// that tell of performance (MS docs: sys.dm_cdc_log_scan_sessions).
func (x *Exec) NeedDatabaseState(db *Database) error {
	if x.seesDatabaseState(db, "VIEW DATABASE PERFORMANCE STATE") {
		return nil
	}
	return sqltypes.Errorf(262, 1, 14, "VIEW DATABASE STATE permission denied in database '%s'.", db.Name())
}

// seesDatabaseState reports VIEW DATABASE STATE or, asked for that, VIEW DATABASE
// PERFORMANCE STATE, which the former implies.
func (x *Exec) seesDatabaseState(db *Database, permission string) bool {
	if x.HasServerPermission("VIEW SERVER STATE") || x.allowed(db, Object{}, "VIEW DATABASE STATE", 0) {
		return true
	}
	return permission == "VIEW DATABASE PERFORMANCE STATE" && x.in.AtLeast(Release2022) && x.allowed(db, Object{}, permission, 0)
}

// MayReadSystemTable reports the right to read the tables of a schema of a system
// database that are no tables here.
func (x *Exec) MayReadSystemTable(db *Database, schema string) bool {
	s := x.catalog(db).schema(schema)
	return s != nil && x.allowed(db, Object{SchemaID: s.ID, MSShipped: true}, "SELECT", 0)
}
