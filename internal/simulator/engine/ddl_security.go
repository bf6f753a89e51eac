package engine

import (
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// principalStmt is CREATE and ALTER of logins, users and roles.
func (x *Exec) principalStmt(st *tsql.PrincipalStmt) error {
	switch {
	case st.ServerRole:
		return x.serverRoleMember(st)
	case st.Kind == "LOGIN":
		return x.loginStmt(st)
	case st.Kind == "USER" || st.Kind == "ROLE":
		if !x.unrestricted(x.db) && !x.catalog(x.db).isMember(x.user(x.db), "db_accessadmin") && !x.catalog(x.db).isMember(x.user(x.db), "db_securityadmin") {
			return raise(15247, "User does not have permission to perform this action.")
		}
		return x.databasePrincipal(st)
	}
	return unsupported(st.Kind)
}

func (x *Exec) loginStmt(st *tsql.PrincipalStmt) error {
	if !x.IsSysadmin() && !serverRole(x, "securityadmin") && !strings.EqualFold(st.Name, x.s.effectiveLogin().Name) {
		return raise(15247, "User does not have permission to perform this action.")
	}
	old := x.in.login(st.Name)
	if st.Mode == tsql.Create {
		if old != nil {
			return raise(15025, "The server principal '%s' already exists.", st.Name)
		}
		if st.FromWindows {
			return unsupported("A Windows login")
		}
		l := &login{ID: 256, Name: st.Name, Password: st.Password, DefaultDatabase: "master"}
		for _, o := range x.in.allLogins() {
			l.ID = max(l.ID, o.ID+1)
		}
		for _, o := range st.Options {
			if o.Name == "DEFAULT_DATABASE" {
				l.DefaultDatabase = strings.Trim(o.Value, "[]")
			}
		}
		return x.in.saveLogin(l)
	}
	if old == nil {
		return raise(15151, "Cannot alter the login '%s', because it does not exist or you do not have permission.", st.Name)
	}
	l := *old
	if st.HasPassword {
		l.Password = st.Password
	}
	if st.Enable || st.Disable {
		l.Disabled = st.Disable
	}
	for _, o := range st.Options {
		if o.Name == "DEFAULT_DATABASE" {
			l.DefaultDatabase = strings.Trim(o.Value, "[]")
		}
	}
	if st.NewName != "" {
		if err := x.in.deleteLogin(l.Name); err != nil {
			return err
		}
		l.Name = st.NewName
	}
	return x.in.saveLogin(&l)
}

func (x *Exec) serverRoleMember(st *tsql.PrincipalStmt) error {
	member := st.AddMember + st.DropMember
	old := x.in.login(member)
	if old == nil || !x.IsSysadmin() {
		return raise(15151, "Cannot add the principal '%s', because it does not exist or you do not have permission.", member)
	}
	l := *old
	if strings.EqualFold(st.Name, "sysadmin") {
		l.Sysadmin = st.AddMember != ""
		return x.in.saveLogin(&l)
	}
	l.Roles = slices.DeleteFunc(slices.Clone(l.Roles), func(r string) bool { return strings.EqualFold(r, st.Name) })
	if st.AddMember != "" {
		l.Roles = append(l.Roles, fold(st.Name))
	}
	return x.in.saveLogin(&l)
}

func (x *Exec) databasePrincipal(st *tsql.PrincipalStmt) error {
	c := x.catalog(x.db)
	old := c.principal(st.Name)
	if st.Mode == tsql.Create {
		if old != nil {
			return raise(15023, "User, group, or role '%s' already exists in the current database.", st.Name)
		}
		_, err := x.CreatePrincipal(x.db, st)
		return err
	}
	if old == nil {
		return raise(15151, "Cannot alter the %s '%s', because it does not exist or you do not have permission.", strings.ToLower(st.Kind), st.Name)
	}
	if st.AddMember != "" || st.DropMember != "" {
		return x.SetRoleMember(x.db, st.Name, st.AddMember+st.DropMember, st.AddMember != "")
	}
	p := *old
	if st.NewName != "" {
		p.Name = st.NewName
	}
	if st.DefaultSchema != "" {
		p.DefaultSchema = st.DefaultSchema
	}
	for _, o := range st.Options {
		if o.Name == "LOGIN" {
			p.Login = strings.Trim(o.Value, "[]")
		}
	}
	return x.putPrincipal(x.db, &p)
}

// CreatePrincipal makes a user or role.
func (x *Exec) CreatePrincipal(db *Database, st *tsql.PrincipalStmt) (*Principal, error) {
	p := &Principal{ID: int32(4 + db.store.AddCounter("principals", 1)), Name: st.Name, Type: "S", DefaultSchema: st.DefaultSchema, Owner: 1, Created: x.Now()}
	if st.Kind == "ROLE" {
		p.Type = "R"
		if o := x.catalog(db).principal(st.Owner); o != nil {
			p.Owner = o.ID
		}
		return p, x.putPrincipal(db, p)
	}
	if p.DefaultSchema == "" {
		p.DefaultSchema = "dbo"
	}
	switch {
	case st.Password == "":
	case x.in.IsAzure() || x.catalog(db).options.Contained:
		return nil, unsupported("A user with a password")
	default:
		return nil, raise(33233, "You can only create a user with a password in a contained database.")
	}
	if !st.WithoutLogin {
		p.Login = st.ForLogin
		if p.Login == "" {
			p.Login = st.Name
		}
		if x.in.login(p.Login) == nil {
			return nil, raise(15007, "'%s' is not a valid login or you do not have permission.", p.Login)
		}
	}
	return p, x.putPrincipal(db, p)
}

// SetRoleMember adds a user to a role or removes it.
func (x *Exec) SetRoleMember(db *Database, role, member string, add bool) error {
	c := x.catalog(db)
	r, m := c.principal(role), c.principal(member)
	if r == nil || m == nil || r.Type != "R" {
		return raise(15151, "Cannot alter the role '%s', because it does not exist or you do not have permission.", role)
	}
	p := *m
	p.MemberOf = slices.DeleteFunc(slices.Clone(p.MemberOf), func(id int32) bool { return id == r.ID })
	if add {
		p.MemberOf = append(p.MemberOf, r.ID)
	}
	return x.putPrincipal(db, &p)
}

func (x *Exec) dropPrincipal(kind, name string, ifExists bool) error {
	c := x.catalog(x.db)
	p := c.principal(name)
	if p == nil || p.Fixed || p.ID <= 4 {
		if ifExists {
			return nil
		}
		return raise(15151, "Cannot drop the %s '%s', because it does not exist or you do not have permission.", strings.ToLower(kind), name)
	}
	for _, s := range c.schemas {
		if s.Owner == p.ID {
			return raise(15138, "The database principal owns a schema in the database, and cannot be dropped.")
		}
	}
	if p.Type == "R" {
		for _, m := range c.principals {
			if slices.Contains(m.MemberOf, p.ID) {
				return raise(15144, "The role has members. It must be empty before it can be dropped.")
			}
		}
	}
	for _, perm := range c.permissions {
		if perm.Grantee == p.ID {
			if err := x.deletePermission(x.db, perm); err != nil {
				return err
			}
		}
	}
	return x.deletePrincipal(x.db, p)
}

// permissionStmt is GRANT, DENY and REVOKE.
func (x *Exec) permissionStmt(st *tsql.PermissionStmt) error {
	if isServerPermission(st) {
		return x.serverPermission(st)
	}
	if !x.unrestricted(x.db) {
		return raise(15151, "Cannot find the object '%s', because it does not exist or you do not have permission.", st.On.Base())
	}
	db := x.db
	c := x.catalog(db)
	base := Permission{}
	var table *Table
	switch {
	case st.On.IsZero() || st.Class == "DATABASE":
	case st.Class == "SCHEMA":
		s := c.schema(st.On.Base())
		if s == nil {
			return raise(15151, "Cannot find the schema '%s', because it does not exist or you do not have permission.", st.On.Base())
		}
		base.Class, base.Major = 3, int64(s.ID)
	case st.Class == "" || st.Class == "OBJECT":
		schema := st.On.Schema()
		if schema == "" {
			schema = x.defaultSchema(db)
		}
		id := c.lookup(schema, st.On.Base())
		if id == 0 {
			if x.in.hooks.views[hookName(schema, st.On.Base())] != nil || x.in.hooks.procedures[hookName(schema, st.On.Base())] != nil || x.in.hooks.functions[hookName(schema, st.On.Base())] != nil {
				id = systemObjectID(schema + "." + st.On.Base())
			} else {
				return raise(15151, "Cannot find the object '%s', because it does not exist or you do not have permission.", st.On.Base())
			}
		}
		base.Class, base.Major, table = 1, id, c.tables[id]
	case st.Class == "USER":
		u := c.principal(st.On.Base())
		if u == nil {
			return raise(15151, "Cannot find the user '%s', because it does not exist or you do not have permission.", st.On.Base())
		}
		base.Class, base.Major = classPrincipal, int64(u.ID)
	case st.Class == "LOGIN":
		return unsupported(st.Verb + " on a login")
	default:
		return nil // other classes have nothing that could be denied here
	}
	for _, name := range st.Principals {
		p := c.principal(name)
		if p == nil {
			return raise(15151, "Cannot find the user '%s', because it does not exist or you do not have permission.", name)
		}
		for _, perm := range st.Permissions {
			if err := x.setPermission(db, st, base, p, perm, table); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *Exec) setPermission(db *Database, st *tsql.PermissionStmt, base Permission, p *Principal, perm tsql.Permission, table *Table) error {
	names := []string{perm.Name}
	if perm.Name == "ALL" || perm.Name == "ALL PRIVILEGES" {
		names = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "REFERENCES", "EXECUTE"}
	}
	columns := []int{0}
	if len(perm.Columns) > 0 {
		columns = nil
		for _, n := range perm.Columns {
			if table == nil || table.Column(n) == nil {
				return errInvalidColumn(n)
			}
			columns = append(columns, table.Column(n).ID)
		}
	}
	for _, name := range names {
		if name == "EXEC" {
			name = "EXECUTE"
		}
		for _, col := range columns {
			entry := base
			entry.Grantee, entry.Name, entry.Column = p.ID, name, col
			old := x.catalog(db).permissions[entry.key()]
			switch st.Verb {
			case "REVOKE":
				if old != nil {
					if err := x.deletePermission(db, old); err != nil {
						return err
					}
				}
				continue
			case "DENY":
				entry.State = "D"
			default:
				entry.State = "G"
				if st.GrantOption {
					entry.State = "W"
				}
			}
			if err := x.putPermission(db, &entry); err != nil {
				return err
			}
		}
	}
	return nil
}

func isServerPermission(st *tsql.PermissionStmt) bool {
	for _, p := range st.Permissions {
		if strings.Contains(p.Name, "SERVER") || strings.HasPrefix(p.Name, "VIEW ANY") || strings.HasPrefix(p.Name, "ALTER ANY DATABASE") || strings.HasPrefix(p.Name, "ALTER ANY LOGIN") || p.Name == "IMPERSONATE ANY LOGIN" || p.Name == "CREATE ANY DATABASE" || p.Name == "CONNECT SQL" || p.Name == "ALTER ANY CONNECTION" {
			return st.On.IsZero()
		}
	}
	return false
}

func (x *Exec) serverPermission(st *tsql.PermissionStmt) error {
	if !x.IsSysadmin() {
		return sqltypes.Errorf(4613, 1, 16, "Grantor does not have GRANT permission.")
	}
	for _, name := range st.Principals {
		old := x.in.login(name)
		if old == nil {
			return raise(15151, "Cannot find the login '%s', because it does not exist or you do not have permission.", name)
		}
		l := *old
		for _, p := range st.Permissions {
			l.Permissions = slices.DeleteFunc(slices.Clone(l.Permissions), func(n string) bool { return n == p.Name })
			if st.Verb == "GRANT" {
				l.Permissions = append(l.Permissions, p.Name)
			}
		}
		if err := x.in.saveLogin(&l); err != nil {
			return err
		}
	}
	return nil
}

// authorization is ALTER AUTHORIZATION of a database or schema.
func (x *Exec) authorization(st *tsql.AuthorizationStmt) error {
	switch st.Class {
	case "DATABASE":
		db := x.in.Database(st.On.Base())
		if db == nil || !x.IsSysadmin() {
			return raise(15151, "Cannot find the database '%s', because it does not exist or you do not have permission.", st.On.Base())
		}
		return x.UpdateOptions(db, func(o *DatabaseOptions) { o.Owner = st.To })
	case "SCHEMA":
		c := x.catalog(x.db)
		s, p := c.schema(st.On.Base()), c.principal(st.To)
		if s == nil || p == nil {
			return raise(15151, "Cannot find the schema '%s', because it does not exist or you do not have permission.", st.On.Base())
		}
		d := *s
		d.Owner = p.ID
		return x.putSchema(x.db, &d)
	}
	return nil
}
