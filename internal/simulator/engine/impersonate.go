package engine

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// executeAs is EXECUTE AS USER and LOGIN: the session is somebody else until
// REVERT (MS docs: EXECUTE AS).
func (x *Exec) executeAs(st *tsql.ExecuteAsStmt) error {
	if st.Kind == "CALLER" {
		return nil
	}
	v, _, err := x.evaluate(st.Name)
	if err != nil {
		return err
	}
	if st.Kind == "USER" {
		return x.executeAsUser(v.Str())
	}
	l := x.in.login(v.Str())
	if l == nil || l.ID != x.s.effectiveLogin().ID && !x.HasServerPermission("IMPERSONATE ANY LOGIN") {
		return raise(15406, "Cannot execute as the server principal because the principal \"%s\" does not exist, this type of principal cannot be impersonated, or you do not have permission.", v.Str())
	}
	x.s.impersonated = append(x.s.impersonated, l)
	return nil
}

func (x *Exec) executeAsUser(name string) error {
	u := x.catalog(x.db).principal(name)
	if u == nil || u.Type != "S" || !x.mayImpersonate(x.db, u) {
		return raise(15517, "Cannot execute as the database principal because the principal \"%s\" does not exist, this type of principal cannot be impersonated, or you do not have permission.", name)
	}
	if u.Login == "" {
		x.s.impersonated = append(x.s.impersonated, &login{Name: name, userOnly: u.Name})
		return nil
	}
	l := x.in.login(u.Login)
	if l == nil {
		return raise(15406, "Cannot execute as the server principal because the principal \"%s\" does not exist, this type of principal cannot be impersonated, or you do not have permission.", u.Login)
	}
	x.s.impersonated = append(x.s.impersonated, l)
	return nil
}

// mayImpersonate reports whether the session is the user, or holds IMPERSONATE
// on it, which db_owner has on all.
func (x *Exec) mayImpersonate(db *Database, u *Principal) bool {
	if x.unrestricted(db) {
		return true
	}
	me := x.user(db)
	if me == nil {
		return false
	}
	if me.ID == u.ID {
		return true
	}
	c := x.catalog(db)
	ids := c.roles(me)
	granted := false
	for _, p := range c.permissions {
		if p.Class != classPrincipal || p.Major != int64(u.ID) || !slices.Contains(ids, p.Grantee) || p.Name != "IMPERSONATE" && p.Name != "CONTROL" {
			continue
		}
		if p.State == "D" {
			return false
		}
		granted = true
	}
	return granted
}
