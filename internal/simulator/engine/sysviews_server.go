package engine

import (
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

func (in *Instance) registerSecurityViews() {
	in.view("database_principals", []Column{
		col("name", vName), col("principal_id", typeInt), col("type", sqltypes.Type{ID: sqltypes.Char, Length: 1}), col("type_desc", vDesc), col("default_schema_name", vName),
		col("create_date", typeDateTime), col("modify_date", typeDateTime), col("owning_principal_id", typeInt), col("sid", vSID), col("is_fixed_role", typeBit), col("authentication_type", typeInt), col("authentication_type_desc", vDesc),
	},
		func(x *Exec, db *Database, emit rowEmitter) error {
			for _, p := range x.catalog(db).sortedPrincipals() {
				desc, sid := "SQL_USER", value{}
				if p.Type == "R" {
					desc = "DATABASE_ROLE"
				}
				if l := x.in.login(p.Login); l != nil {
					sid = sidOf(l.ID)
				}
				auth, authDesc := int64(0), "NONE"
				if p.Login != "" {
					auth, authDesc = 1, "INSTANCE"
				}
				if err := emit([]value{text(p.Name), integer(int64(p.ID)), text(p.Type), text(desc), textOrNull(p.DefaultSchema), x.dateTime(p.Created), x.dateTime(p.Created), integer(int64(p.Owner)), sid, boolean(p.Fixed), integer(auth), text(authDesc)}); err != nil {
					return err
				}
			}
			return nil
		})
	in.view("database_role_members", []Column{col("role_principal_id", typeInt), col("member_principal_id", typeInt)}, func(x *Exec, db *Database, emit rowEmitter) error {
		for _, p := range x.catalog(db).sortedPrincipals() {
			for _, r := range p.MemberOf {
				if err := emit([]value{integer(int64(r)), integer(int64(p.ID))}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	in.view("database_permissions", []Column{
		col("class", typeTinyInt), col("class_desc", vDesc), col("major_id", typeInt), col("minor_id", typeInt), col("grantee_principal_id", typeInt), col("grantor_principal_id", typeInt),
		col("type", sqltypes.Type{ID: sqltypes.Char, Length: 4}), col("permission_name", vName), col("state", sqltypes.Type{ID: sqltypes.Char, Length: 1}), col("state_desc", vDesc),
	},
		func(x *Exec, db *Database, emit rowEmitter) error {
			c := x.catalog(db)
			keys := make([]string, 0, len(c.permissions))
			for k := range c.permissions {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			for _, k := range keys {
				p := c.permissions[k]
				class := map[int]string{0: "DATABASE", 1: "OBJECT_OR_COLUMN", 3: "SCHEMA"}[p.Class]
				state := map[string]string{"G": "GRANT", "W": "GRANT_WITH_GRANT_OPTION", "D": "DENY"}[p.State]
				if err := emit([]value{integer(int64(p.Class)), text(class), integer(p.Major), integer(int64(p.Column)), integer(int64(p.Grantee)), integer(1), text(p.Name[:2] + "  "), text(p.Name), text(p.State), text(state)}); err != nil {
					return err
				}
			}
			return nil
		})
	logins := func(x *Exec, _ *Database, emit rowEmitter) error {
		list := x.in.allLogins()
		slices.SortFunc(list, func(a, b *login) int { return int(a.ID - b.ID) })
		for _, l := range list {
			if err := emit([]value{text(l.Name), integer(int64(l.ID)), sidOf(l.ID), text("S"), text("SQL_LOGIN"), boolean(l.Disabled), x.dateTime(x.in.started), text(l.DefaultDatabase)}); err != nil {
				return err
			}
		}
		return nil
	}
	cols := []Column{col("name", vName), col("principal_id", typeInt), col("sid", vSID), col("type", sqltypes.Type{ID: sqltypes.Char, Length: 1}), col("type_desc", vDesc), col("is_disabled", typeBit), col("create_date", typeDateTime), col("default_database_name", vName)}
	in.view("server_principals", cols, logins)
	in.view("sql_logins", cols, logins)
}

// isolationNumber is dm_exec_sessions.transaction_isolation_level.
func isolationNumber(l storage.Isolation) int64 {
	return map[storage.Isolation]int64{storage.ReadUncommitted: 1, storage.ReadCommitted: 2, storage.RepeatableRead: 3, storage.Serializable: 4, storage.Snapshot: 5}[l]
}

func (in *Instance) registerServerViews() {
	in.view("dm_exec_sessions", []Column{
		col("session_id", typeSmallInt), col("login_time", typeDateTime), col("host_name", vName), col("program_name", vName), col("login_name", vName), col("original_login_name", vName),
		col("status", vDesc), col("database_id", typeSmallInt), col("is_user_process", typeBit), col("open_transaction_count", typeInt), col("client_interface_name", vName), col("transaction_isolation_level", typeSmallInt),
	},
		func(x *Exec, _ *Database, emit rowEmitter) error {
			all := x.HasServerPermission("VIEW SERVER STATE")
			for _, s := range x.in.Sessions() {
				if s != x.s && !all {
					continue
				}
				status, state := "sleeping", s.outside.Load()
				if s.running.Load() != nil {
					status = "running"
				}
				switch {
				case s == x.s:
					state = &sessionState{transactions: int64(s.tranCount()), isolation: s.isolation}
				case state == nil: // it has made no call yet
					state = &sessionState{isolation: storage.ReadCommitted}
				}
				if err := emit([]value{integer(int64(s.spid)), x.dateTime(s.since), textOrNull(s.from.Host), text(s.from.App), text(s.login.Name), text(s.login.Name), text(status), integer(int64(s.currentDB().id)), boolean(true), integer(state.transactions), {}, integer(isolationNumber(state.isolation))}); err != nil {
					return err
				}
			}
			return nil
		})
	in.view("dm_exec_connections", []Column{col("session_id", typeInt), col("connect_time", typeDateTime), col("net_transport", vDesc), col("protocol_type", vDesc), col("encrypt_option", vDesc), col("auth_scheme", vDesc), col("client_net_address", sqltypes.VarCharOf(48))},
		func(x *Exec, _ *Database, emit rowEmitter) error {
			for _, s := range x.in.Sessions() {
				if err := emit([]value{integer(int64(s.spid)), x.dateTime(s.since), text("TCP"), text("TSQL"), text("FALSE"), text("SQL"), text("127.0.0.1")}); err != nil {
					return err
				}
			}
			return nil
		})
	in.view("dm_exec_requests", []Column{col("session_id", typeSmallInt), col("request_id", typeInt), col("start_time", typeDateTime), col("status", vDesc), col("command", vDesc), col("database_id", typeSmallInt), col("blocking_session_id", typeSmallInt), col("text", vText)},
		func(x *Exec, _ *Database, emit rowEmitter) error {
			for _, s := range x.in.Sessions() {
				if s.running.Load() == nil {
					continue
				}
				sql := ""
				if p := s.lastStatement.Load(); p != nil {
					sql = *p
				}
				if err := emit([]value{integer(int64(s.spid)), integer(0), x.dateTime(x.Now()), text("running"), text("SELECT"), integer(int64(s.currentDB().id)), integer(0), text(sql)}); err != nil {
					return err
				}
			}
			return nil
		})
	in.view("configurations", []Column{col("configuration_id", typeInt), col("name", vName), col("value", typeVariant), col("value_in_use", typeVariant)},
		func(x *Exec, _ *Database, emit rowEmitter) error {
			for _, c := range []struct {
				id, value int64
				name      string
			}{{1536, 65536, "max text repl size (B)"}, {518, 0, "show advanced options"}, {16391, 0, "Ad Hoc Distributed Queries"}, {1562, 0, "clr enabled"}, {102, 0, "allow updates"}} {
				v := sqltypes.VariantOf(integer(c.value), typeInt)
				if err := emit([]value{integer(c.id), text(c.name), v, v}); err != nil {
					return err
				}
			}
			return nil
		})
	in.view("servers", []Column{col("server_id", typeInt), col("name", vName), col("is_linked", typeBit)}, func(x *Exec, _ *Database, emit rowEmitter) error {
		return emit([]value{integer(0), text(x.in.opts.ServerName), boolean(false)})
	})
	in.view("dm_os_sys_info", []Column{col("cpu_count", typeInt), col("sqlserver_start_time", typeDateTime)}, func(x *Exec, _ *Database, emit rowEmitter) error {
		return emit([]value{integer(2), x.dateTime(x.in.started)})
	})
	in.view("dm_tran_locks", []Column{col("resource_type", vDesc), col("request_session_id", typeInt), col("request_mode", vDesc), col("request_status", vDesc)}, func(*Exec, *Database, rowEmitter) error { return nil })
	in.view("dm_hadr_database_replica_states", []Column{col("database_id", typeInt), col("is_primary_replica", typeBit)}, func(*Exec, *Database, rowEmitter) error { return nil })
}
