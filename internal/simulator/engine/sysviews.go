package engine

import (
	"maps"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// col declares a column of a system view: name, type and nullability are
// those of MS docs.
func col(name string, t sqltypes.Type) Column { return Column{Name: name, Type: t, Nullable: true} }

func catalogText(t sqltypes.Type) sqltypes.Type {
	t.Collation = sqltypes.DefaultCollation
	return t
}

var (
	vName = catalogText(typeSysname)
	vDesc = catalogText(sqltypes.NVarCharOf(60))
)

type rowEmitter = func(row []value) error

// view registers a system view of the schema sys.
func (in *Instance) view(name string, cols []Column, rows func(x *Exec, db *Database, emit rowEmitter) error) {
	in.RegisterView(View{Schema: "sys", Name: name, Columns: cols, Rows: rows})
}

// registerSystemViews adds the described views; those that a part of the
// engine registers by itself come later and win.
func (in *Instance) registerSystemViews() {
	fillers := map[string]func(x *Exec, db *Database, out *rowFiller) error{}
	for _, group := range []map[string]func(x *Exec, db *Database, out *rowFiller) error{
		databaseFillers, objectFillers, columnFillers, indexFillers, securityFillers, serverFillers, planFillers, sessionFillers, replicaFillers, compatFillers, informationFillers,
	} {
		maps.Copy(fillers, group)
	}
	in.registerDescribed(fillers)
}

// hasLargeColumns reports whether the table has columns that are stored apart.
func (t *Table) hasLargeColumns() bool {
	return slices.ContainsFunc(t.Columns, func(c *TableColumn) bool {
		return c.Type.Length == sqltypes.Max || c.Type.ID == sqltypes.Text || c.Type.ID == sqltypes.NText || c.Type.ID == sqltypes.Image || c.Type.ID == sqltypes.XML
	})
}

// sortedTables lists the tables of a catalogue by object id.
func (c *Catalog) sortedTables() []*Table {
	list := make([]*Table, 0, len(c.tables))
	for _, t := range c.tables {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *Table) int { return int(a.ID - b.ID) })
	return list
}

func (c *Catalog) sortedModules() []*Module {
	list := make([]*Module, 0, len(c.modules))
	for _, m := range c.modules {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *Module) int { return int(a.ID - b.ID) })
	return list
}

func (c *Catalog) sortedSchemas() []*Schema {
	list := make([]*Schema, 0, len(c.schemas))
	for _, s := range c.schemas {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *Schema) int { return int(a.ID - b.ID) })
	return list
}

func (c *Catalog) sortedPrincipals() []*Principal {
	list := make([]*Principal, 0, len(c.principals))
	for _, p := range c.principals {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *Principal) int { return int(a.ID - b.ID) })
	return list
}

// visible reports whether the session may see an object in the catalogue views:
// it holds some permission on it (MS docs: Metadata Visibility Configuration).
func (x *Exec) visible(db *Database, o Object) bool {
	if x.unrestricted(db) {
		return true
	}
	for _, p := range []string{"SELECT", "VIEW DEFINITION", "EXECUTE", "INSERT", "UPDATE", "DELETE", "ALTER"} {
		if x.allowed(db, o, p, 0) {
			return true
		}
	}
	return x.hasColumnPermission(db, o)
}

var kindDescriptions = map[ObjectKind]string{
	KindTable: "USER_TABLE", KindView: "VIEW", KindProcedure: "SQL_STORED_PROCEDURE", KindScalarFunction: "SQL_SCALAR_FUNCTION",
	KindInlineFunction: "SQL_INLINE_TABLE_VALUED_FUNCTION", KindTableFunction: "SQL_TABLE_VALUED_FUNCTION",
	KindPrimaryKey: "PRIMARY_KEY_CONSTRAINT", KindUnique: "UNIQUE_CONSTRAINT", KindDefault: "DEFAULT_CONSTRAINT", KindCheck: "CHECK_CONSTRAINT",
	KindForeignKey: "FOREIGN_KEY_CONSTRAINT", KindPolicy: "SECURITY_POLICY", KindTrigger: "SQL_TRIGGER", kindTableType: "TYPE_TABLE",
}

func kindValue(k ObjectKind) value {
	s := string(k)
	for len(s) < 2 {
		s += " "
	}
	return text(s)
}
