package engine

import "github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"

func (in *Instance) information(name string, cols []Column, rows func(x *Exec, db *Database, emit rowEmitter) error) {
	in.RegisterView(View{Schema: "INFORMATION_SCHEMA", Name: name, Columns: cols, Rows: rows})
}

func optionalInt(n int64, ok bool) value {
	if !ok {
		return value{}
	}
	return integer(n)
}

func yesNo(b bool) value {
	if b {
		return text("YES")
	}
	return text("NO")
}

func (in *Instance) registerInformationSchema() {
	in.information("TABLES", []Column{col("TABLE_CATALOG", vName), col("TABLE_SCHEMA", vName), col("TABLE_NAME", vName), col("TABLE_TYPE", sqltypes.VarCharOf(10))},
		func(x *Exec, db *Database, emit rowEmitter) error {
			c := x.catalog(db)
			for _, t := range c.sortedTables() {
				if x.visible(db, t.Object) {
					if err := emit([]value{text(db.Name()), text(c.schemaName(t.SchemaID)), text(t.Name), text("BASE TABLE")}); err != nil {
						return err
					}
				}
			}
			for _, m := range c.sortedModules() {
				if m.Kind == KindView && x.visible(db, m.Object) {
					if err := emit([]value{text(db.Name()), text(c.schemaName(m.SchemaID)), text(m.Name), text("VIEW")}); err != nil {
						return err
					}
				}
			}
			return nil
		})
	in.information("COLUMNS", []Column{
		col("TABLE_CATALOG", vName), col("TABLE_SCHEMA", vName), col("TABLE_NAME", vName), col("COLUMN_NAME", vName), col("ORDINAL_POSITION", typeInt),
		col("COLUMN_DEFAULT", typeText), col("IS_NULLABLE", sqltypes.VarCharOf(3)), col("DATA_TYPE", vName), col("CHARACTER_MAXIMUM_LENGTH", typeInt), col("CHARACTER_OCTET_LENGTH", typeInt),
		col("NUMERIC_PRECISION", typeTinyInt), col("NUMERIC_PRECISION_RADIX", typeSmallInt), col("NUMERIC_SCALE", typeInt), col("DATETIME_PRECISION", typeSmallInt),
		col("CHARACTER_SET_CATALOG", vName), col("CHARACTER_SET_SCHEMA", vName), col("CHARACTER_SET_NAME", vName),
		col("COLLATION_CATALOG", vName), col("COLLATION_SCHEMA", vName), col("COLLATION_NAME", vName), col("DOMAIN_CATALOG", vName), col("DOMAIN_SCHEMA", vName), col("DOMAIN_NAME", vName),
	},
		func(x *Exec, db *Database, emit rowEmitter) error {
			c := x.catalog(db)
			position, last := int64(0), int64(0)
			return x.eachColumn(db, func(o Object, cl *TableColumn) error {
				if o.ID != last {
					position, last = 0, o.ID
				}
				position++
				def, charset, collation := value{}, value{}, value{}
				if cl.Default != nil {
					def = text(cl.Default.Text)
				}
				t := cl.Type
				if t.ID.IsText() {
					charset = text("iso_1")
					if t.ID.IsNational() {
						charset = text("UNICODE")
					}
					if t.Collation != nil {
						collation = text(t.Collation.Name)
					}
				}
				chars, octets, hasLength := characterLength(t)
				numeric := t.ID.IsNumber() && t.ID != sqltypes.Bit
				radix := int64(10)
				if t.ID.IsFloat() {
					radix = 2
				}
				return emit([]value{
					text(db.Name()), text(c.schemaName(o.SchemaID)), text(o.Name), text(cl.Name), integer(position), def, yesNo(cl.Nullable), text(t.Name()),
					optionalInt(chars, hasLength), optionalInt(octets, hasLength), optionalInt(typePrecision(t), numeric), optionalInt(radix, numeric),
					optionalInt(typeScale(t), numeric && !t.ID.IsFloat()), optionalInt(typeScale(t), t.ID.IsTemporal()),
					{},
					{},
					charset,
					{},
					{},
					collation,
					{},
					{},
					{},
				})
			})
		})
	in.information("SCHEMATA", []Column{col("CATALOG_NAME", vName), col("SCHEMA_NAME", vName), col("SCHEMA_OWNER", vName)}, func(x *Exec, db *Database, emit rowEmitter) error {
		c := x.catalog(db)
		for _, s := range c.sortedSchemas() {
			owner := value{}
			if p := c.principalByID(s.Owner); p != nil {
				owner = text(p.Name)
			}
			if err := emit([]value{text(db.Name()), text(s.Name), owner}); err != nil {
				return err
			}
		}
		return nil
	})
	in.information("TABLE_CONSTRAINTS", []Column{
		col("CONSTRAINT_CATALOG", vName), col("CONSTRAINT_SCHEMA", vName), col("CONSTRAINT_NAME", vName), col("TABLE_CATALOG", vName), col("TABLE_SCHEMA", vName), col("TABLE_NAME", vName),
		col("CONSTRAINT_TYPE", sqltypes.VarCharOf(11)), col("IS_DEFERRABLE", sqltypes.VarCharOf(2)), col("INITIALLY_DEFERRED", sqltypes.VarCharOf(2)),
	},
		func(x *Exec, db *Database, emit rowEmitter) error {
			return x.eachConstraint(db, func(t *Table, schema, name, kind string, _ []int) error {
				d := text(db.Name())
				return emit([]value{d, text(schema), text(name), d, text(schema), text(t.Name), text(kind), text("NO"), text("NO")})
			})
		})
	in.information("KEY_COLUMN_USAGE", []Column{
		col("CONSTRAINT_CATALOG", vName), col("CONSTRAINT_SCHEMA", vName), col("CONSTRAINT_NAME", vName), col("TABLE_CATALOG", vName), col("TABLE_SCHEMA", vName), col("TABLE_NAME", vName),
		col("COLUMN_NAME", vName), col("ORDINAL_POSITION", typeInt),
	},
		func(x *Exec, db *Database, emit rowEmitter) error {
			return x.eachConstraint(db, func(t *Table, schema, name, kind string, columns []int) error {
				d := text(db.Name())
				for i, id := range columns {
					if kind == "CHECK" {
						continue
					}
					if err := emit([]value{d, text(schema), text(name), d, text(schema), text(t.Name), text(t.ColumnByID(id).Name), integer(int64(i + 1))}); err != nil {
						return err
					}
				}
				return nil
			})
		})
}

func (x *Exec) eachConstraint(db *Database, f func(t *Table, schema, name, kind string, columns []int) error) error {
	c := x.catalog(db)
	for _, t := range c.sortedTables() {
		if !x.visible(db, t.Object) {
			continue
		}
		schema := c.schemaName(t.SchemaID)
		for _, ix := range t.Indexes {
			if ix.ConstraintID == 0 {
				continue
			}
			var ids []int
			for _, k := range ix.Keys {
				ids = append(ids, k.ColumnID)
			}
			kind := "UNIQUE"
			if ix.Constraint == KindPrimaryKey {
				kind = "PRIMARY KEY"
			}
			if err := f(t, schema, ix.Name, kind, ids); err != nil {
				return err
			}
		}
		for _, fk := range t.ForeignKeys {
			if err := f(t, schema, fk.Name, "FOREIGN KEY", fk.Columns); err != nil {
				return err
			}
		}
		for _, ck := range t.Checks {
			if err := f(t, schema, ck.Name, "CHECK", nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// characterLength is the length in characters and bytes of text and binary types.
func characterLength(t sqltypes.Type) (chars, octets int64, ok bool) {
	switch {
	case t.ID == sqltypes.Text || t.ID == sqltypes.Image:
		return 2147483647, 2147483647, true
	case t.ID == sqltypes.NText:
		return 1073741823, 2147483646, true
	case t.ID.IsNational() && t.ID != sqltypes.XML:
		if t.Length == sqltypes.Max {
			return -1, -1, true
		}
		return int64(t.Length), 2 * int64(t.Length), true
	case t.ID == sqltypes.XML:
		return -1, -1, true
	case t.ID == sqltypes.RowVersion:
		return 0, 0, false
	case t.ID.IsText() || t.ID.IsBinary():
		return int64(t.Length), int64(t.Length), true
	}
	return 0, 0, false
}
