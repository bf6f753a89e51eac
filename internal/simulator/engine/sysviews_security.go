package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

var securityFillers = map[string]func(x *Exec, db *Database, out *rowFiller) error{
	"sys.database_principals":   principalRows,
	"sys.database_role_members": roleMemberRows,
	"sys.database_permissions":  permissionRows,
	"sys.server_principals":     serverPrincipalRows,
	"sys.sql_logins": func(x *Exec, _ *Database, out *rowFiller) error {
		return x.eachLogin(func(l *login, row fields) error {
			delete(row, "is_fixed_role")
			return out.add(row)
		})
	},
	"sys.server_role_members":          serverRoleMemberRows,
	"sys.server_permissions":           serverPermissionRows,
	"sys.column_master_keys":           masterKeyRows,
	"sys.column_encryption_keys":       encryptionKeyRows,
	"sys.column_encryption_key_values": encryptionKeyValueRows,
	"sys.security_policies":            policyRows,
	"sys.security_predicates":          predicateRows,
	"sys.dm_database_encryption_keys":  databaseEncryptionRows,
}

func principalRows(x *Exec, db *Database, out *rowFiller) error {
	for _, p := range x.catalog(db).sortedPrincipals() {
		row := fields{
			"name": text(p.Name), "principal_id": integer(int64(p.ID)), "type": text(p.Type), "type_desc": text("SQL_USER"),
			"default_schema_name": textOrNull(p.DefaultSchema), "create_date": x.dateTime(p.Created), "modify_date": x.dateTime(p.Created),
			"is_fixed_role": boolean(p.Fixed), "authentication_type": integer(0), "authentication_type_desc": text("NONE"),
		}
		if p.Owner != 0 {
			row["owning_principal_id"] = integer(int64(p.Owner))
		}
		if p.Type == "R" {
			row["type_desc"] = text("DATABASE_ROLE")
		}
		if l := x.in.login(p.Login); l != nil {
			row["sid"] = sidOf(l.ID)
		}
		if p.Login != "" {
			row["authentication_type"], row["authentication_type_desc"] = integer(1), text("INSTANCE")
		}
		if err := out.add(row); err != nil {
			return err
		}
	}
	return nil
}

func roleMemberRows(x *Exec, db *Database, out *rowFiller) error {
	for _, p := range x.catalog(db).sortedPrincipals() {
		for _, r := range p.MemberOf {
			if err := out.add(fields{"role_principal_id": integer(int64(r)), "member_principal_id": integer(int64(p.ID))}); err != nil {
				return err
			}
		}
	}
	return nil
}

// permissionTypes are the codes of the common permissions (MS docs:
// sys.database_permissions).
var permissionTypes = map[string]string{
	"ALTER": "AL", "CONNECT": "CO", "CONTROL": "CL", "CREATE TABLE": "CRTB", "CREATE VIEW": "CRVW", "CREATE PROCEDURE": "CRPR", "CREATE SCHEMA": "CRSM",
	"CREATE FUNCTION": "CRFN", "CREATE ROLE": "CRRL", "DELETE": "DL", "EXECUTE": "EX", "IMPERSONATE": "IM", "INSERT": "IN", "RECEIVE": "RC", "REFERENCES": "RF",
	"SELECT": "SL", "TAKE OWNERSHIP": "TO", "UNMASK": "UMSK", "UPDATE": "UP", "VIEW CHANGE TRACKING": "VWCT", "VIEW DATABASE STATE": "VWDS",
	"VIEW DEFINITION": "VW", "SHOWPLAN": "SPLN", "CHECKPOINT": "CP", "BACKUP DATABASE": "BADB", "BACKUP LOG": "BALO", "ALTER ANY SCHEMA": "ALSM",
	"ALTER ANY USER": "ALUS", "ALTER ANY ROLE": "ALRL", "ALTER ANY SECURITY POLICY": "ALSP", "ALTER ANY MASK": "AAMK",
	"CONNECT SQL": "COSQ", "CONTROL SERVER": "CL", "VIEW SERVER STATE": "VWSS", "VIEW ANY DATABASE": "VWDB", "VIEW ANY DEFINITION": "VWAD", "ALTER ANY DATABASE": "ALDB",
	"ALTER ANY LOGIN": "ALLG", "ALTER ANY CONNECTION": "ALCO", "ALTER SERVER STATE": "ALSS", "ALTER SETTINGS": "ALST", "CREATE ANY DATABASE": "CRDB",
	"VIEW DATABASE PERFORMANCE STATE": "VDP", "VIEW SERVER PERFORMANCE STATE": "VSP", "VIEW DATABASE SECURITY STATE": "VDS", "VIEW SERVER SECURITY STATE": "VSS",
}

func permissionCode(name string) value {
	code := permissionTypes[name]
	for len(code) < 4 {
		code += " "
	}
	return text(code)
}

func permissionRows(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	list := slices.SortedFunc(maps.Values(c.permissions), func(p, q *Permission) int {
		return cmp.Or(cmp.Compare(p.Class, q.Class), cmp.Compare(p.Major, q.Major), cmp.Compare(p.Column, q.Column), cmp.Compare(p.Grantee, q.Grantee), cmp.Compare(p.Name, q.Name))
	})
	for _, p := range list {
		if err := out.add(fields{
			"class": integer(int64(p.Class)), "class_desc": text(map[int]string{0: "DATABASE", 1: "OBJECT_OR_COLUMN", 3: "SCHEMA", classPrincipal: "DATABASE_PRINCIPAL"}[p.Class]),
			"major_id": integer(p.Major), "minor_id": integer(int64(p.Column)), "grantee_principal_id": integer(int64(p.Grantee)),
			"grantor_principal_id": integer(1), "type": permissionCode(p.Name), "permission_name": text(p.Name), "state": text(p.State),
			"state_desc": text(map[string]string{"G": "GRANT", "W": "GRANT_WITH_GRANT_OPTION", "D": "DENY"}[p.State]),
		}); err != nil {
			return err
		}
	}
	return nil
}

// serverRoles are the fixed server roles by principal_id (MS docs:
// sys.server_role_members).
var serverRoles = []struct {
	id   int64
	name string
}{{2, "public"}, {3, "sysadmin"}, {4, "securityadmin"}, {5, "serveradmin"}, {6, "setupadmin"}, {7, "processadmin"}, {8, "diskadmin"}, {9, "dbcreator"}, {10, "bulkadmin"}}

// eachLogin calls f with the logins that the session sees: all with VIEW ANY
// DEFINITION or the like, else its own and sa (MS docs: sys.server_principals).
func (x *Exec) eachLogin(f func(l *login, row fields) error) error {
	list := x.in.allLogins()
	slices.SortFunc(list, func(a, b *login) int { return cmp.Compare(a.ID, b.ID) })
	all := x.HasServerPermission("VIEW ANY DEFINITION")
	for _, l := range list {
		if !all && l.ID != 1 && l != x.s.effectiveLogin() {
			continue
		}
		if err := f(l, fields{
			"name": text(l.Name), "principal_id": integer(int64(l.ID)), "sid": sidOf(l.ID), "type": text("S"), "type_desc": text("SQL_LOGIN"),
			"is_disabled": boolean(l.Disabled), "create_date": x.dateTime(x.in.started), "modify_date": x.dateTime(x.in.started),
			"default_database_name": text(l.DefaultDatabase), "default_language_name": text("us_english"), "is_fixed_role": boolean(false),
		}); err != nil {
			return err
		}
	}
	return nil
}

func serverPrincipalRows(x *Exec, _ *Database, out *rowFiller) error {
	roles := func() error {
		for _, r := range serverRoles {
			if err := out.add(fields{
				"name": text(r.name), "principal_id": integer(r.id), "sid": sqltypes.BytesOf([]byte{byte(r.id)}), "type": text("R"), "type_desc": text("SERVER_ROLE"),
				"is_disabled": boolean(false), "create_date": x.dateTime(x.in.started), "modify_date": x.dateTime(x.in.started),
				"owning_principal_id": integer(1), "is_fixed_role": boolean(r.name != "public"),
			}); err != nil {
				return err
			}
		}
		return nil
	}
	return x.eachLogin(func(l *login, row fields) error {
		if err := out.add(row); err != nil {
			return err
		}
		if l.ID == 1 {
			return roles()
		}
		return nil
	})
}

func serverRoleMemberRows(x *Exec, _ *Database, out *rowFiller) error {
	return x.eachLogin(func(l *login, _ fields) error {
		for _, r := range serverRoles {
			member := slices.Contains(l.Roles, r.name) || r.name == "sysadmin" && l.Sysadmin
			if !member {
				continue
			}
			if err := out.add(fields{"role_principal_id": integer(r.id), "member_principal_id": integer(int64(l.ID))}); err != nil {
				return err
			}
		}
		return nil
	})
}

func serverPermissionRows(x *Exec, _ *Database, out *rowFiller) error {
	return x.eachLogin(func(l *login, _ fields) error {
		for _, name := range append([]string{"CONNECT SQL"}, l.Permissions...) {
			if err := out.add(fields{
				"class": integer(100), "class_desc": text("SERVER"), "major_id": integer(0), "minor_id": integer(0), "grantee_principal_id": integer(int64(l.ID)),
				"grantor_principal_id": integer(1), "type": permissionCode(name), "permission_name": text(name), "state": text("G"), "state_desc": text("GRANT"),
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// sortedByName lists the values of a map by key.
func sortedByName[T any](m map[string]T) []T {
	list := make([]T, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[k])
	}
	return list
}

func masterKeyRows(x *Exec, db *Database, out *rowFiller) error {
	for _, k := range sortedByName(x.catalog(db).masterKeys) {
		row := fields{
			"name": text(k.Name), "column_master_key_id": integer(int64(k.ID)), "create_date": x.dateTime(k.Created), "modify_date": x.dateTime(k.Created),
			"key_store_provider_name": text(k.Provider), "key_path": text(k.Path), "allow_enclave_computations": boolean(k.Signature != nil),
		}
		if k.Signature != nil {
			row["signature"] = sqltypes.BytesOf(k.Signature)
		}
		if err := out.add(row); err != nil {
			return err
		}
	}
	return nil
}

func encryptionKeyRows(x *Exec, db *Database, out *rowFiller) error {
	for _, k := range sortedByName(x.catalog(db).encryptionKeys) {
		if err := out.add(fields{
			"name": text(k.Name), "column_encryption_key_id": integer(int64(k.ID)), "create_date": x.dateTime(k.Created), "modify_date": x.dateTime(k.Created),
		}); err != nil {
			return err
		}
	}
	return nil
}

func encryptionKeyValueRows(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	for _, k := range sortedByName(c.encryptionKeys) {
		for _, v := range k.Values {
			master := c.masterKeys[fold(v.MasterKey)]
			if master == nil {
				continue
			}
			if err := out.add(fields{
				"column_encryption_key_id": integer(int64(k.ID)), "column_master_key_id": integer(int64(master.ID)),
				"encrypted_value": sqltypes.BytesOf(v.Value), "encryption_algorithm_name": text(v.Algorithm),
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

func policyRows(x *Exec, db *Database, out *rowFiller) error {
	for _, p := range sortedObjects(x.catalog(db).policies) {
		if err := out.add(x.objectFields(p.Object, 0), fields{"is_enabled": boolean(p.Enabled), "is_schema_bound": boolean(p.SchemaBound)}); err != nil {
			return err
		}
	}
	return nil
}

func predicateRows(x *Exec, db *Database, out *rowFiller) error {
	for _, p := range sortedObjects(x.catalog(db).policies) {
		for _, r := range p.Predicates {
			row := fields{
				"object_id": integer(p.ID), "security_predicate_id": integer(int64(r.ID)), "target_object_id": integer(r.Target),
				"predicate_definition": text(r.Text), "predicate_type": boolean(r.Block), "predicate_type_desc": text("FILTER"),
			}
			if r.Block {
				row["predicate_type_desc"] = text("BLOCK")
			}
			if r.Operation > 0 {
				row["operation"], row["operation_desc"] = integer(int64(r.Operation)), text(predicateOperations[r.Operation])
			}
			if err := out.add(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// databaseEncryptionRows: in Azure every database is encrypted at rest, else
// none is.
func databaseEncryptionRows(x *Exec, _ *Database, out *rowFiller) error {
	if !x.in.IsAzure() {
		return nil
	}
	for _, db := range x.visibleDatabases() {
		if db.IsSystem() {
			continue
		}
		if err := out.add(fields{
			"database_id": integer(int64(db.id)), "encryption_state": integer(3), "encryption_state_desc": text("ENCRYPTED"), "key_algorithm": text("AES"),
			"key_length": integer(256), "percent_complete": sqltypes.FloatOf(0), "encryptor_type": text("CERTIFICATE"), "create_date": x.dateTime(x.catalog(db).options.Created),
		}); err != nil {
			return err
		}
	}
	return nil
}
