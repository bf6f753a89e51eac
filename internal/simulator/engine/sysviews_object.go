package engine

import "slices"

// objectColumns are the columns that every view of objects begins with.
func objectColumns() []Column {
	spec := viewSpecs()["sys.objects"]
	columns := make([]Column, len(spec.columns))
	for i, c := range spec.columns {
		columns[i] = c.Column
	}
	return columns
}

// objectRow has the values of objectColumns.
func (x *Exec) objectRow(o Object, parent int64) []value {
	return []value{
		text(o.Name), integer(o.ID),
		{},
		integer(int64(o.SchemaID)), integer(parent), kindValue(o.Kind), text(kindDescriptions[o.Kind]),
		x.dateTime(o.Created), x.dateTime(o.Modified), boolean(o.MSShipped), boolean(false), boolean(false),
	}
}

// objectFields are what sys.objects says of an object.
func (x *Exec) objectFields(o Object, parent int64) fields {
	return fields{
		"name": text(o.Name), "object_id": integer(o.ID), "schema_id": integer(int64(o.SchemaID)), "parent_object_id": integer(parent),
		"type": kindValue(o.Kind), "type_desc": text(kindDescriptions[o.Kind]), "create_date": x.dateTime(o.Created),
		"modify_date": x.dateTime(o.Modified), "is_ms_shipped": boolean(o.MSShipped),
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
	for _, p := range sortedObjects(c.policies) {
		if err := f(p.Object, 0); err != nil {
			return err
		}
	}
	return nil
}

// The schemas of system objects (MS docs: sys.schemas).
const (
	informationSchemaID = 3
	sysSchemaID         = 4
)

// systemObjects are the views, procedures and functions of the schemas sys and
// INFORMATION_SCHEMA that a database has, by name.
func (x *Exec) systemObjects(db *Database) []Object {
	var list []Object
	add := func(qualified, name string, kind ObjectKind) {
		schema := int32(sysSchemaID)
		switch {
		case len(qualified) > 18 && qualified[:18] == "information_schema":
			schema = informationSchemaID
		case len(qualified) < 4 || qualified[:4] != "sys.":
			return
		}
		list = append(list, Object{ID: systemObjectID(qualified), SchemaID: schema, Name: name, Kind: kind, MSShipped: true, Created: x.in.started, Modified: x.in.started})
	}
	for key, v := range x.in.hooks.views {
		if v.Visible == nil || v.Visible(db) {
			add(key, v.Name, KindView)
		}
	}
	for key := range x.in.hooks.procedures {
		if len(key) > 4 {
			add(key, key[4:], KindProcedure)
		}
	}
	for key := range x.in.hooks.functions {
		if len(key) > 4 {
			add(key, key[4:], KindScalarFunction)
		}
	}
	slices.SortFunc(list, func(a, b Object) int { return int(a.ID - b.ID) })
	return list
}

var objectFillers = map[string]func(x *Exec, db *Database, out *rowFiller) error{
	"sys.objects": func(x *Exec, db *Database, out *rowFiller) error {
		return x.eachObject(db, func(o Object, parent int64) error { return out.add(x.objectFields(o, parent)) })
	},
	"sys.system_objects": systemObjectRows,
	"sys.all_objects": func(x *Exec, db *Database, out *rowFiller) error {
		if err := x.eachObject(db, func(o Object, parent int64) error { return out.add(x.objectFields(o, parent)) }); err != nil {
			return err
		}
		return systemObjectRows(x, db, out)
	},
	"sys.tables":       tableRows,
	"sys.views":        moduleRows(KindView),
	"sys.procedures":   moduleRows(KindProcedure),
	"sys.system_views": systemViewRows,
	"sys.all_views": func(x *Exec, db *Database, out *rowFiller) error {
		if err := moduleRows(KindView)(x, db, out); err != nil {
			return err
		}
		return systemViewRows(x, db, out)
	},
	"sys.triggers":        triggerRows,
	"sys.sql_modules":     moduleTextRows,
	"sys.all_sql_modules": moduleTextRows,
	"sys.parameters":      parameterRows,
	"sys.all_parameters":  parameterRows,
}

func systemObjectRows(x *Exec, db *Database, out *rowFiller) error {
	for _, o := range x.systemObjects(db) {
		if err := out.add(x.objectFields(o, 0)); err != nil {
			return err
		}
	}
	return nil
}

func systemViewRows(x *Exec, db *Database, out *rowFiller) error {
	for _, o := range x.systemObjects(db) {
		if o.Kind == KindView {
			if err := out.add(x.objectFields(o, 0)); err != nil {
				return err
			}
		}
	}
	return nil
}

func tableRows(x *Exec, db *Database, out *rowFiller) error {
	for _, t := range x.catalog(db).sortedTables() {
		if !x.visible(db, t.Object) {
			continue
		}
		escalation := t.LockEscalation
		if escalation == "" {
			escalation = "TABLE"
		}
		lobs := int64(0)
		if t.hasLargeColumns() {
			lobs = 1
		}
		if err := out.add(x.objectFields(t.Object, 0), fields{
			"lob_data_space_id": integer(lobs), "max_column_id_used": integer(int64(t.Width)), "is_replicated": boolean(t.TrackedByCDC),
			"is_tracked_by_cdc": boolean(t.TrackedByCDC), "lock_escalation": integer(map[string]int64{"TABLE": 0, "DISABLE": 1, "AUTO": 2}[escalation]),
			"lock_escalation_desc": text(escalation),
		}); err != nil {
			return err
		}
	}
	return nil
}

func moduleRows(kind ObjectKind) func(x *Exec, db *Database, out *rowFiller) error {
	return func(x *Exec, db *Database, out *rowFiller) error {
		for _, m := range x.catalog(db).sortedModules() {
			if m.Kind == kind && x.visible(db, m.Object) {
				if err := out.add(x.objectFields(m.Object, m.Parent)); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func triggerRows(x *Exec, db *Database, out *rowFiller) error {
	for _, m := range x.catalog(db).sortedModules() {
		if m.Kind != KindTrigger || !x.visible(db, m.Object) {
			continue
		}
		o := x.objectFields(m.Object, m.Parent)
		if err := out.add(fields{
			"name": o["name"], "object_id": o["object_id"], "parent_id": integer(m.Parent), "type": o["type"], "type_desc": o["type_desc"],
			"create_date": o["create_date"], "modify_date": o["modify_date"], "is_ms_shipped": o["is_ms_shipped"],
		}); err != nil {
			return err
		}
	}
	return nil
}

func moduleTextRows(x *Exec, db *Database, out *rowFiller) error {
	for _, m := range x.catalog(db).sortedModules() {
		if !x.visible(db, m.Object) {
			continue
		}
		if err := out.add(fields{
			"object_id": integer(m.ID), "definition": text(m.Text), "uses_quoted_identifier": boolean(m.QuotedIdentifier), "is_schema_bound": boolean(false),
			"is_inlineable": boolean(m.Kind == KindScalarFunction), "inline_type": boolean(m.Kind == KindScalarFunction),
		}); err != nil {
			return err
		}
	}
	return nil
}
