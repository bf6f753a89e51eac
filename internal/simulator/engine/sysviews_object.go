package engine

import (
	"time"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
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

func (in *Instance) registerDatabaseViews() {
	in.view("databases", []Column{
		col("name", vName), col("database_id", typeInt), col("source_database_id", typeInt), col("owner_sid", vSID), col("create_date", typeDateTime),
		col("compatibility_level", typeTinyInt), col("collation_name", vName), col("user_access", typeTinyInt), col("user_access_desc", vDesc),
		col("is_read_only", typeBit), col("state", typeTinyInt), col("state_desc", vDesc), col("snapshot_isolation_state", typeTinyInt),
		col("snapshot_isolation_state_desc", vDesc), col("is_read_committed_snapshot_on", typeBit), col("recovery_model", typeTinyInt), col("recovery_model_desc", vDesc),
		col("is_auto_close_on", typeBit), col("is_trustworthy_on", typeBit), col("is_cdc_enabled", typeBit), col("is_encrypted", typeBit),
		col("log_reuse_wait", typeTinyInt), col("log_reuse_wait_desc", vDesc), col("containment", typeTinyInt), col("containment_desc", vDesc), col("replica_id", typeGUID),
	}, func(x *Exec, _ *Database, emit rowEmitter) error {
		for _, db := range x.in.Databases() {
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
			wait := int64(0)
			row := []value{
				text(db.Name()), integer(int64(db.id)),
				{},
				sidOf(1), x.dateTime(o.Created), integer(int64(o.CompatibilityLevel)), text(o.Collation),
				integer(access), text(o.UserAccess), boolean(o.ReadOnly), integer(state), text(o.State), boolean(o.SnapshotIsolation), text(snapshot),
				boolean(o.ReadCommittedSnapshot), integer(recovery), text(o.Recovery), boolean(false), boolean(o.Trustworthy), boolean(o.CDCEnabled), boolean(false),
				integer(wait), text("NOTHING"), integer(0), text("NONE"),
				{},
			}
			if err := emit(row); err != nil {
				return err
			}
		}
		return nil
	})
	in.view("schemas", []Column{col("name", vName), col("schema_id", typeInt), col("principal_id", typeInt)}, func(x *Exec, db *Database, emit rowEmitter) error {
		for _, s := range x.catalog(db).sortedSchemas() {
			if err := emit([]value{text(s.Name), integer(int64(s.ID)), integer(int64(s.Owner))}); err != nil {
				return err
			}
		}
		return nil
	})
	in.view("types", []Column{
		col("name", vName), col("system_type_id", typeTinyInt), col("user_type_id", typeInt), col("schema_id", typeInt), col("principal_id", typeInt),
		col("max_length", typeSmallInt), col("precision", typeTinyInt), col("scale", typeTinyInt), col("collation_name", vName), col("is_nullable", typeBit),
		col("is_user_defined", typeBit), col("is_assembly_type", typeBit), col("default_object_id", typeInt), col("rule_object_id", typeInt), col("is_table_type", typeBit),
	}, func(x *Exec, db *Database, emit rowEmitter) error {
		for _, t := range systemTypes {
			collation := value{}
			if t.ID.IsText() {
				collation = text(x.catalog(db).options.Collation)
			}
			assembly := t.ID == sqltypes.HierarchyID || t.ID == sqltypes.Geometry || t.ID == sqltypes.Geography
			if err := emit([]value{
				text(t.Name), integer(t.SystemTypeID), integer(t.UserTypeID), integer(4),
				{},
				integer(t.MaxLength), integer(t.Precision), integer(t.Scale),
				collation, boolean(t.Name != "sysname" && t.Name != "timestamp"), boolean(false), boolean(assembly), integer(0), integer(0), boolean(false),
			}); err != nil {
				return err
			}
		}
		for _, u := range x.catalog(db).types {
			st := systemTypeByID[u.Type.ID]
			if err := emit([]value{
				text(u.Name), integer(st.SystemTypeID), integer(int64(u.ID)), integer(int64(u.SchemaID)),
				{},
				integer(int64(u.Type.MaxLength())),
				integer(typePrecision(u.Type)), integer(typeScale(u.Type)),
				{},
				boolean(u.Nullable), boolean(true), boolean(false), integer(0), integer(0), boolean(false),
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

func objectColumns() []Column {
	return []Column{
		col("name", vName), col("object_id", typeInt), col("principal_id", typeInt), col("schema_id", typeInt), col("parent_object_id", typeInt),
		col("type", vKind), col("type_desc", vDesc), col("create_date", typeDateTime), col("modify_date", typeDateTime), col("is_ms_shipped", typeBit),
		col("is_published", typeBit), col("is_schema_published", typeBit),
	}
}

func (x *Exec) objectRow(o Object, parent int64) []value {
	return []value{
		text(o.Name), integer(o.ID),
		{},
		integer(int64(o.SchemaID)), integer(parent), kindValue(o.Kind), text(kindDescriptions[o.Kind]),
		x.dateTime(o.Created), x.dateTime(o.Modified), boolean(o.MSShipped), boolean(false), boolean(false),
	}
}

// eachObject calls f with every object of the catalogue that the session sees.
func (x *Exec) eachObject(db *Database, f func(o Object, parent int64) error) error {
	c := x.catalog(db)
	for _, t := range c.sortedTables() {
		if !x.visible(db, t.Object) {
			continue
		}
		if err := f(t.Object, 0); err != nil {
			return err
		}
		var err error
		t.constraints(func(id int64, _ string) {
			if o, ok := c.object(id); ok && err == nil {
				o.MSShipped = t.MSShipped
				err = f(o, t.ID)
			}
		})
		if err != nil {
			return err
		}
	}
	for _, m := range c.sortedModules() {
		if x.visible(db, m.Object) {
			if err := f(m.Object, m.Parent); err != nil {
				return err
			}
		}
	}
	for _, s := range sortedObjects(c.synonyms) {
		if err := f(s.Object, 0); err != nil {
			return err
		}
	}
	for _, s := range sortedObjects(c.sequences) {
		if err := f(s.Object, 0); err != nil {
			return err
		}
	}
	return nil
}

func (in *Instance) registerObjectViews() {
	for _, name := range []string{"objects", "all_objects"} {
		in.view(name, objectColumns(), func(x *Exec, db *Database, emit rowEmitter) error {
			return x.eachObject(db, func(o Object, parent int64) error { return emit(x.objectRow(o, parent)) })
		})
	}
	in.view("tables", append(objectColumns(), col("lob_data_space_id", typeInt), col("max_column_id_used", typeInt), col("is_replicated", typeBit),
		col("is_tracked_by_cdc", typeBit), col("lock_escalation", typeTinyInt), col("lock_escalation_desc", vDesc), col("is_memory_optimized", typeBit),
		col("temporal_type", typeTinyInt), col("temporal_type_desc", vDesc), col("is_filetable", typeBit), col("is_external", typeBit), col("has_replication_filter", typeBit),
		col("is_merge_published", typeBit), col("is_sync_tran_subscribed", typeBit), col("history_table_id", typeInt), col("is_node", typeBit), col("is_edge", typeBit)),
		func(x *Exec, db *Database, emit rowEmitter) error {
			for _, t := range x.catalog(db).sortedTables() {
				if !x.visible(db, t.Object) {
					continue
				}
				escalation := t.LockEscalation
				if escalation == "" {
					escalation = "TABLE"
				}
				level := map[string]int64{"TABLE": 0, "DISABLE": 1, "AUTO": 2}[escalation]
				row := append(x.objectRow(t.Object, 0), integer(0), integer(int64(t.Width)), boolean(t.TrackedByCDC), boolean(t.TrackedByCDC), integer(level), text(escalation),
					boolean(false), integer(0), text("NON_TEMPORAL_TABLE"), boolean(false), boolean(false), boolean(false), boolean(false), boolean(false), value{}, boolean(false), boolean(false))
				if err := emit(row); err != nil {
					return err
				}
			}
			return nil
		})
	modules := func(kinds ...ObjectKind) func(x *Exec, db *Database, emit rowEmitter) error {
		return func(x *Exec, db *Database, emit rowEmitter) error {
			for _, m := range x.catalog(db).sortedModules() {
				for _, k := range kinds {
					if m.Kind == k && x.visible(db, m.Object) {
						if err := emit(x.objectRow(m.Object, m.Parent)); err != nil {
							return err
						}
					}
				}
			}
			return nil
		}
	}
	in.view("views", objectColumns(), modules(KindView))
	in.view("all_views", objectColumns(), modules(KindView))
	in.view("procedures", objectColumns(), modules(KindProcedure))
	in.view("triggers", objectColumns(), modules(KindTrigger))
	in.view("sql_modules", []Column{col("object_id", typeInt), col("definition", vText), col("uses_ansi_nulls", typeBit), col("uses_quoted_identifier", typeBit), col("is_schema_bound", typeBit)},
		func(x *Exec, db *Database, emit rowEmitter) error {
			for _, m := range x.catalog(db).sortedModules() {
				if err := emit([]value{integer(m.ID), text(m.Text), boolean(true), boolean(m.QuotedIdentifier), boolean(false)}); err != nil {
					return err
				}
			}
			return nil
		})
	in.view("synonyms", append(objectColumns(), col("base_object_name", vName)), func(*Exec, *Database, rowEmitter) error { return nil })
	in.view("extended_properties", []Column{col("class", typeTinyInt), col("class_desc", vDesc), col("major_id", typeInt), col("minor_id", typeInt), col("name", vName), col("value", typeVariant)},
		func(*Exec, *Database, rowEmitter) error { return nil })
	in.view("sysobjects", []Column{col("name", vName), col("id", typeInt), col("xtype", vKind), col("uid", typeSmallInt), col("parent_obj", typeInt), col("crdate", typeDateTime), col("type", vKind)},
		func(x *Exec, db *Database, emit rowEmitter) error {
			return x.eachObject(db, func(o Object, parent int64) error {
				return emit([]value{text(o.Name), integer(o.ID), kindValue(o.Kind), integer(int64(o.SchemaID)), integer(parent), x.dateTime(o.Created), kindValue(o.Kind)})
			})
		})
	in.view("sysdatabases", []Column{col("name", vName), col("dbid", typeSmallInt)}, func(x *Exec, _ *Database, emit rowEmitter) error {
		for _, db := range x.in.Databases() {
			if err := emit([]value{text(db.Name()), integer(int64(db.id))}); err != nil {
				return err
			}
		}
		return nil
	})
}
