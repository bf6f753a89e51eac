package engine

import (
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

func columnColumns() []Column {
	return []Column{
		col("object_id", typeInt), col("name", vName), col("column_id", typeInt), col("system_type_id", typeTinyInt), col("user_type_id", typeInt),
		col("max_length", typeSmallInt), col("precision", typeTinyInt), col("scale", typeTinyInt), col("collation_name", vName), col("is_nullable", typeBit),
		col("is_ansi_padded", typeBit), col("is_rowguidcol", typeBit), col("is_identity", typeBit), col("is_computed", typeBit), col("is_filestream", typeBit),
		col("is_replicated", typeBit), col("is_non_sql_subscribed", typeBit), col("is_merge_published", typeBit), col("is_dts_replicated", typeBit), col("is_xml_document", typeBit),
		col("xml_collection_id", typeInt), col("default_object_id", typeInt), col("rule_object_id", typeInt), col("is_sparse", typeBit), col("is_column_set", typeBit),
		col("generated_always_type", typeTinyInt), col("generated_always_type_desc", vDesc), col("encryption_type", typeInt), col("is_hidden", typeBit), col("is_masked", typeBit),
	}
}

func columnRow(id int64, c *TableColumn) []value {
	st := systemTypeByID[c.Type.ID]
	if st == nil {
		st = systemTypeByID[sqltypes.Int]
	}
	userType := st.UserTypeID
	if c.UserTypeID != 0 {
		userType = int64(c.UserTypeID)
	}
	collation := value{}
	if c.Type.ID.IsText() && c.Type.Collation != nil {
		collation = text(c.Type.Collation.Name)
	}
	def := int64(0)
	if c.Default != nil {
		def = c.Default.ID
	}
	no := boolean(false)
	return []value{
		integer(id), text(c.Name), integer(int64(c.ID)), integer(st.SystemTypeID), integer(userType), integer(int64(c.Type.MaxLength())),
		integer(typePrecision(c.Type)), integer(typeScale(c.Type)), collation, boolean(c.Nullable), boolean(c.AnsiPadded && (c.Type.ID.IsText() || c.Type.ID.IsBinary())), boolean(c.RowGUID),
		boolean(c.Identity != nil), boolean(c.Computed != ""), no, no, no, no, no, no, integer(0), integer(def), integer(0), boolean(c.Sparse), no,
		integer(0), text("NOT_APPLICABLE"),
		{},
		no, boolean(c.MaskedWith != ""),
	}
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

func (in *Instance) registerColumnViews() {
	for _, name := range []string{"columns", "all_columns"} {
		in.view(name, columnColumns(), func(x *Exec, db *Database, emit rowEmitter) error {
			return x.eachColumn(db, func(o Object, c *TableColumn) error { return emit(columnRow(o.ID, c)) })
		})
	}
	in.view("computed_columns", append(columnColumns(), col("definition", vText), col("uses_database_collation", typeBit), col("is_persisted", typeBit)),
		func(x *Exec, db *Database, emit rowEmitter) error {
			return x.eachColumn(db, func(o Object, c *TableColumn) error {
				if c.Computed == "" {
					return nil
				}
				return emit(append(columnRow(o.ID, c), text(c.Computed), boolean(true), boolean(c.Persisted)))
			})
		})
	in.view("identity_columns", append(columnColumns(), col("seed_value", typeVariant), col("increment_value", typeVariant), col("last_value", typeVariant), col("is_not_for_replication", typeBit)),
		func(x *Exec, db *Database, emit rowEmitter) error {
			for _, t := range x.catalog(db).sortedTables() {
				c := t.identity()
				if c == nil || !x.visible(db, t.Object) {
					continue
				}
				last := value{}
				if db.store.Counter(identityKey(t)) > 0 {
					last = sqltypes.VariantOf(integer(lastIdentity(db, t, c.Identity)), typeBigInt)
				}
				err := emit(append(columnRow(t.ID, c), sqltypes.VariantOf(integer(c.Identity.Seed), typeBigInt), sqltypes.VariantOf(integer(c.Identity.Increment), typeBigInt), last, boolean(c.Identity.NotForReplication)))
				if err != nil {
					return err
				}
			}
			return nil
		})
	in.view("masked_columns", append(columnColumns(), col("masking_function", typeText)), func(x *Exec, db *Database, emit rowEmitter) error {
		return x.eachColumn(db, func(o Object, c *TableColumn) error {
			if c.MaskedWith == "" {
				return nil
			}
			return emit(append(columnRow(o.ID, c), text(c.MaskedWith)))
		})
	})
	in.view("default_constraints", append(objectColumns(), col("parent_column_id", typeInt), col("definition", vText), col("is_system_named", typeBit)),
		func(x *Exec, db *Database, emit rowEmitter) error {
			c := x.catalog(db)
			for _, t := range c.sortedTables() {
				for _, cl := range t.Columns {
					if cl.Default == nil || !x.visible(db, t.Object) {
						continue
					}
					o, _ := c.object(cl.Default.ID)
					if err := emit(append(x.objectRow(o, t.ID), integer(int64(cl.ID)), text(cl.Default.Text), boolean(cl.Default.SystemNamed))); err != nil {
						return err
					}
				}
			}
			return nil
		})
	in.view("check_constraints", append(objectColumns(), col("is_disabled", typeBit), col("is_not_trusted", typeBit), col("parent_column_id", typeInt), col("definition", vText), col("is_system_named", typeBit)),
		func(x *Exec, db *Database, emit rowEmitter) error {
			c := x.catalog(db)
			for _, t := range c.sortedTables() {
				for _, ck := range t.Checks {
					o, _ := c.object(ck.ID)
					if err := emit(append(x.objectRow(o, t.ID), boolean(ck.Disabled), boolean(false), integer(int64(ck.ColumnID)), text(ck.Text), boolean(ck.SystemNamed))); err != nil {
						return err
					}
				}
			}
			return nil
		})
}
