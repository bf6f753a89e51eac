package engine

import (
	"maps"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

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

var informationFillers = map[string]func(x *Exec, db *Database, out *rowFiller) error{
	"INFORMATION_SCHEMA.SCHEMATA":                informationSchemata,
	"INFORMATION_SCHEMA.TABLES":                  informationTables,
	"INFORMATION_SCHEMA.VIEWS":                   informationViews,
	"INFORMATION_SCHEMA.COLUMNS":                 informationColumns,
	"INFORMATION_SCHEMA.TABLE_CONSTRAINTS":       informationConstraints,
	"INFORMATION_SCHEMA.KEY_COLUMN_USAGE":        informationKeyColumns,
	"INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE": informationConstraintColumns,
	"INFORMATION_SCHEMA.CONSTRAINT_TABLE_USAGE":  informationConstraintTables,
	"INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS": informationReferences,
	"INFORMATION_SCHEMA.CHECK_CONSTRAINTS":       informationChecks,
	"INFORMATION_SCHEMA.ROUTINES":                informationRoutines,
	"INFORMATION_SCHEMA.PARAMETERS":              informationParameters,
	"INFORMATION_SCHEMA.DOMAINS":                 informationDomains,
	"INFORMATION_SCHEMA.COLUMN_DOMAIN_USAGE":     informationDomainColumns,
	"INFORMATION_SCHEMA.TABLE_PRIVILEGES":        informationPrivileges,
}

func informationSchemata(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	for _, s := range c.sortedSchemas() {
		row := fields{"CATALOG_NAME": text(db.Name()), "SCHEMA_NAME": text(s.Name)}
		if p := c.principalByID(s.Owner); p != nil {
			row["SCHEMA_OWNER"] = text(p.Name)
		}
		if err := out.add(row); err != nil {
			return err
		}
	}
	return nil
}

// tableFields name a table as most of these views do.
func (x *Exec) tableFields(db *Database, o Object) fields {
	return fields{"TABLE_CATALOG": text(db.Name()), "TABLE_SCHEMA": text(x.catalog(db).schemaName(o.SchemaID)), "TABLE_NAME": text(o.Name)}
}

func informationTables(x *Exec, db *Database, out *rowFiller) error {
	if err := x.eachTable(db, func(t *Table) error {
		return out.add(x.tableFields(db, t.Object), fields{"TABLE_TYPE": text("BASE TABLE")})
	}); err != nil {
		return err
	}
	for _, m := range x.catalog(db).sortedModules() {
		if m.Kind == KindView && x.visible(db, m.Object) {
			if err := out.add(x.tableFields(db, m.Object), fields{"TABLE_TYPE": text("VIEW")}); err != nil {
				return err
			}
		}
	}
	return nil
}

// shortText is a definition as these views show it: NULL beyond 4000
// characters (MS docs: VIEWS, ROUTINES).
func shortText(s string) value {
	if len([]rune(s)) > commentPiece {
		return value{}
	}
	return text(s)
}

func informationViews(x *Exec, db *Database, out *rowFiller) error {
	for _, m := range x.catalog(db).sortedModules() {
		if m.Kind == KindView && x.visible(db, m.Object) {
			if err := out.add(x.tableFields(db, m.Object), fields{"VIEW_DEFINITION": shortText(m.Text)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// describedType has the columns that these views describe a type by.
func describedType(t sqltypes.Type) fields {
	f := fields{"DATA_TYPE": text(t.Name())}
	if t.ID.IsText() && t.ID != sqltypes.XML {
		f["CHARACTER_SET_NAME"] = text("iso_1")
		if t.ID.IsNational() {
			f["CHARACTER_SET_NAME"] = text("UNICODE")
		}
		if t.Collation != nil {
			f["COLLATION_NAME"] = text(t.Collation.Name)
		}
	}
	chars, octets, hasLength := characterLength(t)
	f["CHARACTER_MAXIMUM_LENGTH"], f["CHARACTER_OCTET_LENGTH"] = optionalInt(chars, hasLength), optionalInt(octets, hasLength)
	numeric := t.ID.IsNumber() && t.ID != sqltypes.Bit
	radix := int64(10)
	if t.ID.IsFloat() {
		radix = 2
	}
	f["NUMERIC_PRECISION"], f["NUMERIC_PRECISION_RADIX"] = optionalInt(typePrecision(t), numeric), optionalInt(radix, numeric)
	f["NUMERIC_SCALE"] = optionalInt(typeScale(t), numeric && !t.ID.IsFloat())
	f["DATETIME_PRECISION"] = optionalInt(typeScale(t), t.ID.IsTemporal())
	return f
}

func informationColumns(x *Exec, db *Database, out *rowFiller) error {
	position, last := int64(0), int64(0)
	return x.eachColumn(db, func(o Object, c *TableColumn) error {
		if o.ID != last {
			position, last = 0, o.ID
		}
		position++
		row := fields{"COLUMN_NAME": text(c.Name), "ORDINAL_POSITION": integer(position), "IS_NULLABLE": yesNo(c.Nullable)}
		if c.Default != nil {
			row["COLUMN_DEFAULT"] = shortText(c.Default.Text)
		}
		if u := x.catalog(db).typeByID(c.UserTypeID); u != nil {
			row["DOMAIN_CATALOG"], row["DOMAIN_SCHEMA"], row["DOMAIN_NAME"] = text(db.Name()), text(x.catalog(db).schemaName(u.SchemaID)), text(u.Name)
		}
		return out.add(x.tableFields(db, o), describedType(c.Type), row)
	})
}

// constraintFields name a constraint, which is in its table's schema.
func (x *Exec) constraintFields(db *Database, t *Table, name string) fields {
	return fields{
		"CONSTRAINT_CATALOG": text(db.Name()), "CONSTRAINT_SCHEMA": text(x.catalog(db).schemaName(t.SchemaID)), "CONSTRAINT_NAME": text(name),
	}
}

func informationConstraints(x *Exec, db *Database, out *rowFiller) error {
	return x.eachConstraint(db, func(t *Table, name, kind string, _ []int) error {
		return out.add(x.tableFields(db, t.Object), x.constraintFields(db, t, name), fields{"CONSTRAINT_TYPE": text(kind)})
	})
}

func informationKeyColumns(x *Exec, db *Database, out *rowFiller) error {
	return x.eachConstraint(db, func(t *Table, name, kind string, columns []int) error {
		if kind == "CHECK" {
			return nil
		}
		for i, id := range columns {
			if err := out.add(x.tableFields(db, t.Object), x.constraintFields(db, t, name), fields{
				"COLUMN_NAME": text(t.ColumnByID(id).Name), "ORDINAL_POSITION": integer(int64(i + 1)),
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

func informationConstraintColumns(x *Exec, db *Database, out *rowFiller) error {
	return x.eachConstraint(db, func(t *Table, name, _ string, columns []int) error {
		for _, id := range columns {
			if err := out.add(x.tableFields(db, t.Object), x.constraintFields(db, t, name), fields{"COLUMN_NAME": text(t.ColumnByID(id).Name)}); err != nil {
				return err
			}
		}
		return nil
	})
}

func informationConstraintTables(x *Exec, db *Database, out *rowFiller) error {
	return x.eachConstraint(db, func(t *Table, name, _ string, _ []int) error {
		return out.add(x.tableFields(db, t.Object), x.constraintFields(db, t, name))
	})
}

func informationReferences(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	return x.eachTable(db, func(t *Table) error {
		for _, fk := range t.ForeignKeys {
			row := fields{"UPDATE_RULE": rule(fk.OnUpdate), "DELETE_RULE": rule(fk.OnDelete)}
			if ix := c.referencedIndex(fk); ix != nil {
				row["UNIQUE_CONSTRAINT_CATALOG"], row["UNIQUE_CONSTRAINT_NAME"] = text(db.Name()), text(ix.Name)
				row["UNIQUE_CONSTRAINT_SCHEMA"] = text(c.schemaName(c.tables[fk.RefTable].SchemaID))
			}
			if err := out.add(x.constraintFields(db, t, fk.Name), row); err != nil {
				return err
			}
		}
		return nil
	})
}

func rule(action string) value {
	if action == "" {
		return text("NO ACTION")
	}
	return text(action)
}

func informationChecks(x *Exec, db *Database, out *rowFiller) error {
	return x.eachTable(db, func(t *Table) error {
		for _, ck := range t.Checks {
			if err := out.add(x.constraintFields(db, t, ck.Name), fields{"CHECK_CLAUSE": text(ck.Text)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachConstraint calls f with the keys and checks of every visible table.
func (x *Exec) eachConstraint(db *Database, f func(t *Table, name, kind string, columns []int) error) error {
	return x.eachTable(db, func(t *Table) error {
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
			if err := f(t, ix.Name, kind, ids); err != nil {
				return err
			}
		}
		for _, fk := range t.ForeignKeys {
			if err := f(t, fk.Name, "FOREIGN KEY", fk.Columns); err != nil {
				return err
			}
		}
		for _, ck := range t.Checks {
			var ids []int
			if ck.ColumnID != 0 {
				ids = []int{ck.ColumnID}
			}
			if err := f(t, ck.Name, "CHECK", ids); err != nil {
				return err
			}
		}
		return nil
	})
}

func informationRoutines(x *Exec, db *Database, out *rowFiller) error {
	for _, m := range x.catalog(db).sortedModules() {
		if m.Kind == KindView || m.Kind == KindTrigger || !x.visible(db, m.Object) {
			continue
		}
		name, schema, catalog := text(m.Name), text(x.catalog(db).schemaName(m.SchemaID)), text(db.Name())
		row := fields{
			"SPECIFIC_CATALOG": catalog, "SPECIFIC_SCHEMA": schema, "SPECIFIC_NAME": name, "ROUTINE_CATALOG": catalog, "ROUTINE_SCHEMA": schema,
			"ROUTINE_NAME": name, "ROUTINE_DEFINITION": shortText(m.Text), "CREATED": x.dateTime(m.Created), "LAST_ALTERED": x.dateTime(m.Modified),
			"ROUTINE_TYPE": text("PROCEDURE"), "SQL_DATA_ACCESS": text("MODIFIES"), "MAX_DYNAMIC_RESULT_SETS": integer(-1),
		}
		described := fields{}
		if m.Kind != KindProcedure {
			row["ROUTINE_TYPE"], row["SQL_DATA_ACCESS"], row["MAX_DYNAMIC_RESULT_SETS"] = text("FUNCTION"), text("READS"), integer(0)
			row["DATA_TYPE"] = text("TABLE")
			if params := x.moduleParams(db, m); m.Kind == KindScalarFunction && len(params) > 0 && params[0].name == "" {
				described = describedType(params[0].typ)
				delete(row, "DATA_TYPE")
			}
		}
		if err := out.add(row, described); err != nil {
			return err
		}
	}
	return nil
}

// moduleParam is a parameter of a procedure or function; the value that a
// scalar function returns is the one without a name.
type moduleParam struct {
	id               int64
	name             string
	typ              sqltypes.Type
	userType         int32
	output, readOnly bool
}

// moduleParams lists the parameters of a module, none when its text no longer
// compiles.
func (x *Exec) moduleParams(db *Database, m *Module) []moduleParam {
	parsed, err := x.in.module(m)
	if err != nil {
		return nil
	}
	y := x.within(db)
	var list []moduleParam
	declare := func(params []tsql.Param) {
		for i, p := range params {
			t, user, err := y.resolveType(p.Type)
			if err == nil {
				list = append(list, moduleParam{id: int64(i + 1), name: p.Name, typ: t, userType: user, output: p.Output, readOnly: p.ReadOnly})
			}
		}
	}
	switch st := parsed.stmt.(type) {
	case *tsql.CreateProcedureStmt:
		declare(st.Params)
	case *tsql.CreateFunctionStmt:
		if m.Kind == KindScalarFunction {
			if t, _, err := y.resolveType(st.Returns); err == nil {
				list = append(list, moduleParam{typ: t, output: true})
			}
		}
		declare(st.Params)
	}
	return list
}

func parameterRows(x *Exec, db *Database, out *rowFiller) error {
	for _, m := range x.catalog(db).sortedModules() {
		if !x.visible(db, m.Object) {
			continue
		}
		for _, p := range x.moduleParams(db, m) {
			if err := out.add(typeFields(p.typ, p.userType), fields{
				"object_id": integer(m.ID), "name": text(p.name), "parameter_id": integer(p.id), "is_output": boolean(p.output), "is_readonly": boolean(p.readOnly),
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

func informationParameters(x *Exec, db *Database, out *rowFiller) error {
	for _, m := range x.catalog(db).sortedModules() {
		if !x.visible(db, m.Object) {
			continue
		}
		for _, p := range x.moduleParams(db, m) {
			mode := "IN"
			switch {
			case p.name == "":
				mode = "OUT"
			case p.output:
				mode = "INOUT"
			}
			if err := out.add(describedType(p.typ), fields{
				"SPECIFIC_CATALOG": text(db.Name()), "SPECIFIC_SCHEMA": text(x.catalog(db).schemaName(m.SchemaID)), "SPECIFIC_NAME": text(m.Name),
				"ORDINAL_POSITION": integer(p.id), "PARAMETER_MODE": text(mode), "IS_RESULT": yesNo(p.name == ""), "PARAMETER_NAME": text(p.name),
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sortedTypes lists the alias types by id.
func (c *Catalog) sortedTypes() []*UserType {
	return slices.SortedFunc(maps.Values(c.types), func(a, b *UserType) int { return int(a.ID - b.ID) })
}

// typeByID finds an alias type, nil when there is none.
func (c *Catalog) typeByID(id int32) *UserType {
	for _, u := range c.types {
		if u.ID == id {
			return u
		}
	}
	return nil
}

func informationDomains(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	for _, u := range c.sortedTypes() {
		if err := out.add(describedType(u.Type), fields{
			"DOMAIN_CATALOG": text(db.Name()), "DOMAIN_SCHEMA": text(c.schemaName(u.SchemaID)), "DOMAIN_NAME": text(u.Name),
		}); err != nil {
			return err
		}
	}
	return nil
}

func informationDomainColumns(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	return x.eachColumn(db, func(o Object, cl *TableColumn) error {
		u := c.typeByID(cl.UserTypeID)
		if u == nil {
			return nil
		}
		return out.add(x.tableFields(db, o), fields{
			"DOMAIN_CATALOG": text(db.Name()), "DOMAIN_SCHEMA": text(c.schemaName(u.SchemaID)), "DOMAIN_NAME": text(u.Name), "COLUMN_NAME": text(cl.Name),
		})
	})
}

func informationPrivileges(x *Exec, db *Database, out *rowFiller) error {
	c := x.catalog(db)
	return x.eachTable(db, func(t *Table) error {
		for _, p := range c.permissions {
			grantee := c.principalByID(p.Grantee)
			if p.Class != 1 || p.Major != t.ID || p.Column != 0 || p.State == "D" || grantee == nil {
				continue
			}
			if err := out.add(x.tableFields(db, t.Object), fields{
				"GRANTOR": text("dbo"), "GRANTEE": text(grantee.Name), "PRIVILEGE_TYPE": text(p.Name), "IS_GRANTABLE": yesNo(p.State == "W"),
			}); err != nil {
				return err
			}
		}
		return nil
	})
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
