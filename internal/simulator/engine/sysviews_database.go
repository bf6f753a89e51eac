package engine

import (
	"crypto/md5" //nolint:gosec // a pattern for invented ids, nothing secret
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/storage"
)

// dateTime is a time as datetime, in the server's zone.
func (x *Exec) dateTime(t time.Time) value {
	t = t.In(x.in.location)
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	days := int(day.Sub(time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)).Hours() / 24)
	sinceMidnight := time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
	ticks := (sinceMidnight.Nanoseconds()*300 + 500_000_000) / 1_000_000_000
	if ticks >= 300*86400 {
		days, ticks = days+1, 0
	}
	return sqltypes.DateTimeOf(days, ticks)
}

// DateTime converts a time to a datetime value in the server's zone.
func (x *Exec) DateTime(t time.Time) sqltypes.Value { return x.dateTime(t) }

// guidFor makes the id of something from its name: the same on every start.
func guidFor(name string) value {
	return sqltypes.GUIDOf(md5.Sum([]byte(fold(name)))) //nolint:gosec // see the import
}

var databaseFillers = map[string]func(x *Exec, db *Database, out *rowFiller) error{
	"sys.databases":      databaseRows,
	"sys.schemas":        schemaRows,
	"sys.types":          typeRows,
	"sys.data_spaces":    func(_ *Exec, _ *Database, out *rowFiller) error { return out.add(primaryFilegroup) },
	"sys.filegroups":     func(_ *Exec, _ *Database, out *rowFiller) error { return out.add(primaryFilegroup) },
	"sys.database_files": func(x *Exec, db *Database, out *rowFiller) error { return x.fileRows(db, out, fields{}) },
	"sys.master_files": func(x *Exec, _ *Database, out *rowFiller) error {
		for _, db := range x.in.Databases() {
			if err := x.fileRows(db, out, fields{"database_id": integer(int64(db.id))}); err != nil {
				return err
			}
		}
		return nil
	},
	"sys.sysdatabases":                   oldDatabaseRows,
	"sys.extended_properties":            propertyRows,
	"sys.database_service_objectives":    serviceObjectiveRows,
	"sys.dm_user_db_resource_governance": governanceRows,
	"sys.database_mirroring": func(x *Exec, _ *Database, out *rowFiller) error {
		for _, db := range x.in.Databases() {
			if err := out.add(fields{"database_id": integer(int64(db.id))}); err != nil {
				return err
			}
		}
		return nil
	},
	"sys.database_scoped_configurations": scopedConfigurationRows,
}

// visibleDatabases are those that sys.databases shows: in Azure SQL Database
// the current one and master (MS docs: sys.databases).
func (x *Exec) visibleDatabases() []*Database {
	if !x.in.IsAzure() {
		return x.in.Databases()
	}
	if x.db == x.in.master {
		return append([]*Database{x.in.master}, userDatabases(x.in)...)
	}
	return []*Database{x.in.master, x.db}
}

func userDatabases(in *Instance) []*Database {
	var list []*Database
	for _, db := range in.Databases() {
		if !db.IsSystem() {
			list = append(list, db)
		}
	}
	return list
}

func databaseRows(x *Exec, _ *Database, out *rowFiller) error {
	for _, db := range x.visibleDatabases() {
		o := x.catalog(db).options
		access := map[string]int64{"MULTI_USER": 0, "SINGLE_USER": 1, "RESTRICTED_USER": 2}[o.UserAccess]
		state := int64(0)
		if o.State == "OFFLINE" {
			state = 6
		}
		recovery := map[string]int64{"FULL": 1, "BULK_LOGGED": 2, "SIMPLE": 3}[o.Recovery]
		snapshot := "OFF"
		if o.SnapshotIsolation {
			snapshot = "ON"
		}
		row := fields{
			"name": text(db.Name()), "database_id": integer(int64(db.id)), "owner_sid": x.ownerSID(o.Owner), "create_date": x.dateTime(o.Created),
			"compatibility_level": integer(int64(o.CompatibilityLevel)), "collation_name": text(o.Collation),
			"user_access": integer(access), "user_access_desc": text(o.UserAccess), "is_read_only": boolean(o.ReadOnly),
			"state": integer(state), "state_desc": text(o.State), "snapshot_isolation_state": boolean(o.SnapshotIsolation),
			"snapshot_isolation_state_desc": text(snapshot), "is_read_committed_snapshot_on": boolean(o.ReadCommittedSnapshot),
			"recovery_model": integer(recovery), "recovery_model_desc": text(o.Recovery), "is_trustworthy_on": boolean(o.Trustworthy),
			"service_broker_guid": guidFor("broker of " + db.Name()), "is_cdc_enabled": boolean(o.CDCEnabled), "physical_database_name": text(db.Name()),
			"is_encrypted": boolean(x.in.IsAzure() && !db.IsSystem()), // MS docs: Transparent data encryption, on by default in Azure
		}
		if o.Contained {
			row["containment"], row["containment_desc"] = integer(1), text("PARTIAL")
		}
		if o.CDCEnabled && len(db.store.ReadLog(storage.LSN{}, 1)) > 0 {
			// What is not captured yet keeps the log (MS docs: sys.databases).
			row["log_reuse_wait"], row["log_reuse_wait_desc"] = integer(6), text("REPLICATION")
		}
		if x.in.AtLeast(ReleaseAzure) && x.in.product.engineEdition != 0 {
			row["is_accelerated_database_recovery_on"] = boolean(true) // MS docs: Accelerated database recovery
		}
		if g := x.in.replicas.group(); g != nil && !db.IsSystem() {
			row["replica_id"] = x.s.replicaID()
			row["group_database_id"] = guidFor("database " + db.Name())
		}
		if err := out.add(row); err != nil {
			return err
		}
	}
	return nil
}

func (x *Exec) ownerSID(owner string) value {
	if l := x.in.login(owner); l != nil {
		return sidOf(l.ID)
	}
	return sidOf(1)
}

func schemaRows(x *Exec, db *Database, out *rowFiller) error {
	for _, s := range x.catalog(db).sortedSchemas() {
		if err := out.add(fields{"name": text(s.Name), "schema_id": integer(int64(s.ID)), "principal_id": integer(int64(s.Owner))}); err != nil {
			return err
		}
	}
	return nil
}

func typeRows(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	for _, t := range systemTypes {
		collation := value{}
		if t.ID.IsText() && t.ID != sqltypes.XML {
			collation = text(c.options.Collation)
		}
		assembly := t.ID == sqltypes.HierarchyID || t.ID == sqltypes.Geometry || t.ID == sqltypes.Geography
		if err := out.add(fields{
			"name": text(t.Name), "system_type_id": integer(t.SystemTypeID), "user_type_id": integer(t.UserTypeID), "schema_id": integer(4),
			"max_length": integer(t.MaxLength), "precision": integer(t.Precision), "scale": integer(t.Scale), "collation_name": collation,
			"is_nullable": boolean(t.Name != "sysname" && t.Name != "timestamp"), "is_user_defined": boolean(false), "is_assembly_type": boolean(assembly),
		}); err != nil {
			return err
		}
	}
	for _, u := range c.sortedTypes() {
		st := systemTypeByID[u.Type.ID]
		collation := value{}
		if u.Type.ID.IsText() {
			collation = text(c.options.Collation)
		}
		if err := out.add(fields{
			"name": text(u.Name), "system_type_id": integer(st.SystemTypeID), "user_type_id": integer(int64(u.ID)), "schema_id": integer(int64(u.SchemaID)),
			"max_length": integer(int64(u.Type.MaxLength())), "precision": integer(typePrecision(u.Type)), "scale": integer(typeScale(u.Type)),
			"collation_name": collation, "is_nullable": boolean(u.Nullable), "is_user_defined": boolean(true), "is_assembly_type": boolean(false),
		}); err != nil {
			return err
		}
	}
	return nil
}

var primaryFilegroup = fields{
	"name": text("PRIMARY"), "data_space_id": integer(1), "type": text("FG"), "type_desc": text("ROWS_FILEGROUP"), "is_default": boolean(true),
}

// databaseFile is one of the two files that a database would have.
type databaseFile struct {
	name, path string
	log        bool
}

func (db *Database) files() []databaseFile {
	data, log := db.Name(), db.Name()+"_log"
	switch db.id {
	case masterID:
		log = "mastlog"
	case tempdbID:
		data, log = "tempdev", "templog"
	case modelID:
		data, log = "modeldev", "modellog"
	case msdbID:
		data, log = "MSDBData", "MSDBLog"
	}
	folder := "/var/opt/mssql/data/"
	if db.in.Release() < Release2017 {
		folder = `C:\Program Files\Microsoft SQL Server\MSSQL13.MSSQLSERVER\MSSQL\DATA\`
	}
	return []databaseFile{{name: data, path: folder + data + ".mdf"}, {name: log, path: folder + log + ".ldf", log: true}}
}

// fileRows are a database's files: 8 MB each, growing by 64 MB, the defaults of
// CREATE DATABASE.
func (x *Exec) fileRows(db *Database, out *rowFiller, common fields) error {
	for i, f := range db.files() {
		row := fields{
			"file_id": integer(int64(i + 1)), "file_guid": guidFor(f.path), "name": text(f.name), "physical_name": text(f.path),
			"type": integer(0), "type_desc": text("ROWS"), "data_space_id": integer(1), "size": integer(1024), "max_size": integer(-1), "growth": integer(8192),
		}
		if f.log {
			row["type"], row["type_desc"], row["data_space_id"], row["max_size"] = integer(1), text("LOG"), integer(0), integer(268435456)
		}
		if err := out.add(common, row); err != nil {
			return err
		}
	}
	return nil
}

func oldDatabaseRows(x *Exec, _ *Database, out *rowFiller) error {
	for _, db := range x.in.Databases() {
		o := x.catalog(db).options
		status := int64(65536) // online
		if o.ReadOnly {
			status |= 1024
		}
		if o.UserAccess == "SINGLE_USER" {
			status |= 4096
		}
		if o.State == "OFFLINE" {
			status |= 512
		}
		if o.Recovery == "SIMPLE" {
			status |= 8
		}
		if err := out.add(fields{
			"name": text(db.Name()), "dbid": integer(int64(db.id)), "sid": x.ownerSID(o.Owner), "status": integer(status), "crdate": x.dateTime(o.Created),
			"cmptlevel": integer(int64(o.CompatibilityLevel)), "filename": text(db.files()[0].path), "version": integer(x.in.product.internal),
		}); err != nil {
			return err
		}
	}
	return nil
}

// serviceObjectiveRows show every database as General Purpose with two cores.
func serviceObjectiveRows(x *Exec, db *Database, out *rowFiller) error {
	for _, d := range x.visibleDatabases() {
		if d.IsSystem() || db != x.in.master && d != db {
			continue
		}
		if err := out.add(fields{"database_id": integer(int64(d.id)), "edition": text("GeneralPurpose"), "service_objective": text("GP_Gen5_2")}); err != nil {
			return err
		}
	}
	return nil
}

func governanceRows(x *Exec, db *Database, out *rowFiller) error {
	return out.add(fields{
		"database_id": integer(int64(db.id)), "logical_database_guid": guidFor("database " + db.Name()), "server_name": text(x.serverName()),
		"slo_name": text("SQLDB_GP_GEN5_2"), "cpu_limit": integer(2),
	})
}

func scopedConfigurationRows(_ *Exec, _ *Database, out *rowFiller) error {
	for _, c := range []struct {
		id, value int64
		name      string
	}{{1, 0, "MAXDOP"}, {2, 0, "LEGACY_CARDINALITY_ESTIMATION"}, {3, 1, "PARAMETER_SNIFFING"}, {4, 0, "QUERY_OPTIMIZER_HOTFIXES"}} {
		if err := out.add(fields{
			"configuration_id": integer(c.id), "name": text(c.name), "value": sqltypes.VariantOf(integer(c.value), typeInt), "is_value_default": boolean(true),
		}); err != nil {
			return err
		}
	}
	return nil
}
