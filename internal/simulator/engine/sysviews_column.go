package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// typeFields are the columns by which every view describes a type.
func typeFields(t sqltypes.Type, userTypeID int32) fields {
	st := systemTypeByID[t.ID]
	if st == nil {
		st = systemTypeByID[sqltypes.Int]
	}
	userType := st.UserTypeID
	if userTypeID != 0 {
		userType = int64(userTypeID)
	}
	return fields{
		"system_type_id": integer(st.SystemTypeID), "user_type_id": integer(userType), "max_length": integer(int64(t.MaxLength())),
		"precision": integer(typePrecision(t)), "scale": integer(typeScale(t)),
	}
}

// columnFields are what sys.columns says of a column.
func (x *Exec) columnFields(db *Database, table int64, c *TableColumn) fields {
	f := typeFields(c.Type, c.UserTypeID)
	f["object_id"], f["name"], f["column_id"] = integer(table), text(c.Name), integer(int64(c.ID))
	if c.Type.ID.IsText() && c.Type.Collation != nil && c.Type.ID != sqltypes.XML {
		f["collation_name"] = text(c.Type.Collation.Name)
	}
	f["is_nullable"], f["is_rowguidcol"] = boolean(c.Nullable), boolean(c.RowGUID)
	f["is_ansi_padded"] = boolean(c.AnsiPadded && (c.Type.ID.IsText() || c.Type.ID.IsBinary()))
	f["is_identity"], f["is_computed"], f["is_sparse"] = boolean(c.Identity != nil), boolean(c.Computed != ""), boolean(c.Sparse)
	f["is_masked"] = boolean(c.MaskedWith != "")
	f["default_object_id"] = integer(0)
	if c.Default != nil {
		f["default_object_id"] = integer(c.Default.ID)
	}
	if e := c.Encrypted; e != nil {
		kind := int64(1)
		if e.Type == "RANDOMIZED" {
			kind = 2
		}
		f["encryption_type"], f["encryption_type_desc"], f["encryption_algorithm_name"] = integer(kind), text(e.Type), text(e.Algorithm)
		if k := x.catalog(db).encryptionKeys[fold(e.Key)]; k != nil {
			f["column_encryption_key_id"] = integer(int64(k.ID))
		}
	}
	return f
}

// eachColumn calls f with the columns of every table and view that is visible.
func (x *Exec) eachColumn(db *Database, f func(o Object, c *TableColumn) error) error {
	c := x.catalog(db)
	for _, t := range c.sortedTables() {
		if !x.visible(db, t.Object) {
			continue
		}
		for _, col := range t.Columns {
			if err := f(t.Object, col); err != nil {
				return err
			}
		}
	}
	for _, m := range c.sortedModules() {
		if m.Kind != KindView || !x.visible(db, m.Object) {
			continue
		}
		cols, err := x.viewColumns(db, m)
		if err != nil {
			continue // a view whose tables are gone has no columns to show
		}
		for i, d := range cols {
			if err := f(m.Object, &TableColumn{ID: i + 1, Name: d.name, Type: d.typ, Nullable: d.nullable, AnsiPadded: true}); err != nil {
				return err
			}
		}
	}
	if db == x.in.tempdb {
		for _, t := range x.s.temp {
			for _, col := range t.Columns {
				if err := f(t.Object, col); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// eachSystemColumn calls f with the columns of the system views.
func (x *Exec) eachSystemColumn(db *Database, f func(o Object, c *TableColumn) error) error {
	for _, o := range x.systemObjects(db) {
		if o.Kind != KindView {
			continue
		}
		schema := "sys"
		if o.SchemaID == informationSchemaID {
			schema = "INFORMATION_SCHEMA"
		}
		for i, c := range x.in.hooks.views[hookName(schema, o.Name)].Columns {
			if err := f(o, &TableColumn{ID: i + 1, Name: c.Name, Type: c.Type, Nullable: c.Nullable, AnsiPadded: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// viewColumns are the columns of a user view.
func (x *Exec) viewColumns(db *Database, m *Module) ([]columnDesc, error) {
	c := &compiler{x: x.within(db), maxRecursion: maxRecursion}
	b := &block{}
	_, err := c.viewRef(&resolved{db: db, schema: x.catalog(db).schemaName(m.SchemaID), module: m}, m.Name, b)
	if err != nil {
		return nil, err
	}
	return b.sources[0].columns, nil
}

var columnFillers = map[string]func(x *Exec, db *Database, out *rowFiller) error{
	"sys.columns": func(x *Exec, db *Database, out *rowFiller) error { return x.eachColumn(db, x.columnOut(db, out)) },
	"sys.all_columns": func(x *Exec, db *Database, out *rowFiller) error {
		if err := x.eachColumn(db, x.columnOut(db, out)); err != nil {
			return err
		}
		return x.eachSystemColumn(db, x.columnOut(db, out))
	},
	"sys.system_columns": func(x *Exec, db *Database, out *rowFiller) error {
		return x.eachSystemColumn(db, x.columnOut(db, out))
	},
	"sys.computed_columns": func(x *Exec, db *Database, out *rowFiller) error {
		return x.eachColumn(db, func(o Object, c *TableColumn) error {
			if c.Computed == "" {
				return nil
			}
			return out.add(x.columnFields(db, o.ID, c), fields{"definition": text(c.Computed), "is_persisted": boolean(c.Persisted)})
		})
	},
	"sys.identity_columns": identityRows,
	"sys.masked_columns": func(x *Exec, db *Database, out *rowFiller) error {
		return x.eachColumn(db, func(o Object, c *TableColumn) error {
			if c.MaskedWith == "" {
				return nil
			}
			return out.add(x.columnFields(db, o.ID, c), fields{"masking_function": text(c.MaskedWith)})
		})
	},
	"sys.default_constraints": defaultRows,
	"sys.check_constraints":   checkRows,
}

func (x *Exec) columnOut(db *Database, out *rowFiller) func(o Object, c *TableColumn) error {
	return func(o Object, c *TableColumn) error { return out.add(x.columnFields(db, o.ID, c)) }
}

func identityRows(x *Exec, db *Database, out *rowFiller) error {
	for _, t := range x.catalog(db).sortedTables() {
		c := t.identity()
		if c == nil || !x.visible(db, t.Object) {
			continue
		}
		of := func(n int64) value {
			v, err := sqltypes.Convert(integer(n), typeBigInt, c.Type, 0)
			if err != nil {
				return value{}
			}
			return sqltypes.VariantOf(v, c.Type)
		}
		last := value{}
		if db.store.Counter(identityKey(t)) > 0 {
			last = of(lastIdentity(db, t, c.Identity))
		}
		if err := out.add(x.columnFields(db, t.ID, c), fields{
			"seed_value": of(c.Identity.Seed), "increment_value": of(c.Identity.Increment), "last_value": last,
			"is_not_for_replication": boolean(c.Identity.NotForReplication),
		}); err != nil {
			return err
		}
	}
	return nil
}

func defaultRows(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	for _, t := range c.sortedTables() {
		for _, cl := range t.Columns {
			if cl.Default == nil || !x.visible(db, t.Object) {
				continue
			}
			o, _ := c.object(cl.Default.ID)
			if err := out.add(x.objectFields(o, t.ID), fields{
				"parent_column_id": integer(int64(cl.ID)), "definition": text(cl.Default.Text), "is_system_named": boolean(cl.Default.SystemNamed),
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkRows(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	for _, t := range c.sortedTables() {
		if !x.visible(db, t.Object) {
			continue
		}
		for _, ck := range t.Checks {
			o, _ := c.object(ck.ID)
			if err := out.add(x.objectFields(o, t.ID), fields{
				"is_disabled": boolean(ck.Disabled), "is_not_trusted": boolean(ck.Disabled), "parent_column_id": integer(int64(ck.ColumnID)),
				"definition": text(ck.Text), "is_system_named": boolean(ck.SystemNamed),
			}); err != nil {
				return err
			}
		}
	}
	return nil
}
