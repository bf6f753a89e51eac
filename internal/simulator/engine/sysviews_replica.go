package engine

var replicaFillers = map[string]func(x *Exec, db *Database, out *rowFiller) error{
	"sys.availability_groups":                 groupRows,
	"sys.availability_replicas":               replicaRows,
	"sys.availability_databases_cluster":      groupDatabaseRows,
	"sys.dm_hadr_availability_replica_states": replicaStateRows,
	"sys.dm_hadr_availability_group_states":   groupStateRows,
	"sys.dm_hadr_database_replica_states":     databaseReplicaRows,
}

// groupName is what the availability group is called.
const groupName = "ag1"

func groupRows(x *Exec, _ *Database, out *rowFiller) error {
	if x.in.replicas.group() == nil {
		return nil
	}
	return out.add(fields{"group_id": guidFor(groupName), "name": text(groupName)})
}

func replicaRows(x *Exec, _ *Database, out *rowFiller) error {
	for i, r := range x.in.replicas.members() {
		allows := map[SecondaryConnections]string{SecondaryAll: "ALL", SecondaryReadOnly: "READ_ONLY", SecondaryNone: "NO"}[r.opts.Connections]
		number := map[SecondaryConnections]int64{SecondaryAll: 2, SecondaryReadOnly: 1, SecondaryNone: 0}[r.opts.Connections]
		row := fields{
			"replica_id": guidFor("replica " + r.Name()), "group_id": guidFor(groupName), "replica_metadata_id": integer(int64(65536 + i)),
			"replica_server_name": text(r.Name()), "owner_sid": sidOf(1), "endpoint_url": text("TCP://" + r.Name() + ":5022"),
			"secondary_role_allow_connections": integer(number), "secondary_role_allow_connections_desc": text(allows),
			"create_date": x.dateTime(x.in.started), "modify_date": x.dateTime(x.in.started),
		}
		if r.opts.RoutingPort != 0 {
			row["read_only_routing_url"] = text("TCP://" + r.opts.RoutingHost + ":" + itoa(int64(r.opts.RoutingPort)))
		}
		if err := out.add(row); err != nil {
			return err
		}
	}
	return nil
}

func groupDatabaseRows(x *Exec, _ *Database, out *rowFiller) error {
	if x.in.replicas.group() == nil {
		return nil
	}
	for _, db := range userDatabases(x.in) {
		if err := out.add(fields{"group_id": guidFor(groupName), "group_database_id": guidFor("database " + db.Name()), "database_name": text(db.Name())}); err != nil {
			return err
		}
	}
	return nil
}

// sees reports whether a session sees the state of a replica: the primary
// shows all, a secondary itself only (MS docs:
// sys.dm_hadr_database_replica_states).
func (x *Exec) sees(r *Replica) bool { return r == x.s.replica() || x.s.replica().IsPrimary() }

func replicaStateRows(x *Exec, _ *Database, out *rowFiller) error {
	for _, r := range x.in.replicas.members() {
		if !x.sees(r) {
			continue
		}
		role, desc := int64(2), "SECONDARY"
		if r.IsPrimary() {
			role, desc = 1, "PRIMARY"
		}
		if err := out.add(fields{
			"replica_id": guidFor("replica " + r.Name()), "group_id": guidFor(groupName), "is_local": boolean(r == x.s.replica()), "role": integer(role),
			"role_desc": text(desc), "operational_state": integer(2), "operational_state_desc": text("ONLINE"), "recovery_health": integer(1),
			"recovery_health_desc": text("ONLINE"),
		}); err != nil {
			return err
		}
	}
	return nil
}

func groupStateRows(x *Exec, _ *Database, out *rowFiller) error {
	primary := x.in.replicas.group()
	if primary == nil {
		return nil
	}
	row := fields{"group_id": guidFor(groupName), "primary_replica": text(primary.Name())}
	if x.s.IsSecondary() {
		row["secondary_recovery_health"], row["secondary_recovery_health_desc"] = integer(1), text("ONLINE")
	} else {
		row["primary_recovery_health"], row["primary_recovery_health_desc"] = integer(1), text("ONLINE")
	}
	return out.add(row)
}

func databaseReplicaRows(x *Exec, _ *Database, out *rowFiller) error {
	for _, r := range x.in.replicas.members() {
		if !x.sees(r) {
			continue
		}
		for _, db := range userDatabases(x.in) {
			state, desc := int64(1), "SYNCHRONIZING"
			if r.IsPrimary() {
				state, desc = 2, "SYNCHRONIZED"
			}
			if err := out.add(fields{
				"database_id": integer(int64(db.id)), "group_id": guidFor(groupName), "replica_id": guidFor("replica " + r.Name()),
				"group_database_id": guidFor("database " + db.Name()), "is_local": boolean(r == x.s.replica()), "is_primary_replica": boolean(r.IsPrimary()),
				"synchronization_state": integer(state), "synchronization_state_desc": text(desc), "is_commit_participant": boolean(r.IsPrimary()),
			}); err != nil {
				return err
			}
		}
	}
	return nil
}
