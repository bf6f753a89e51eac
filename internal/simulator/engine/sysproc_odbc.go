package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// More of the ODBC catalogue procedures (MS docs: Catalog stored procedures).

func (in *Instance) registerODBCProcedures() {
	pattern := func(name string) Param { return nullParam(Param{Name: name, Type: sqltypes.NVarCharOf(390)}) }
	char1 := func(name, initial string) Param {
		return optional(Param{Name: name, Type: sqltypes.Type{ID: sqltypes.Char, Length: 1}}, text(initial))
	}
	version := optional(Param{Name: "@ODBCVer", Type: typeInt}, integer(2))
	in.RegisterProcedure("sys", "sp_fkeys", Procedure{
		Params: []Param{
			nullParam(sysname("@pktable_name")), nullParam(sysname("@pktable_owner")), nullParam(sysname("@pktable_qualifier")),
			nullParam(sysname("@fktable_name")), nullParam(sysname("@fktable_owner")), nullParam(sysname("@fktable_qualifier")),
		},
		Run: spFkeys,
	})
	special := Procedure{
		Params: []Param{
			sysname("@table_name"), nullParam(sysname("@table_owner")), nullParam(sysname("@qualifier")), char1("@col_type", "R"), char1("@scope", "T"),
			char1("@nullable", "U"), version,
		},
		Run: spSpecialColumns,
	}
	routines := Procedure{
		Params: []Param{
			pattern("@sp_name"), pattern("@sp_owner"), nullParam(sysname("@sp_qualifier")), optional(Param{Name: "@fUsePattern", Type: typeBit}, integer(1)),
		},
		Run: spStoredProcedures,
	}
	arguments := Procedure{
		Params: []Param{
			pattern("@procedure_name"), pattern("@procedure_owner"), nullParam(sysname("@procedure_qualifier")), pattern("@column_name"), version,
			optional(Param{Name: "@fUsePattern", Type: typeBit}, integer(1)),
		},
	}
	in.RegisterProcedure("sys", "sp_special_columns", special)
	in.RegisterProcedure("sys", "sp_special_columns_100", special)
	in.RegisterProcedure("sys", "sp_stored_procedures", routines)
	arguments.Run = func(x *Exec, a []value) (int32, error) { return spSprocColumns(x, a, false) }
	in.RegisterProcedure("sys", "sp_sproc_columns", arguments)
	arguments.Run = func(x *Exec, a []value) (int32, error) { return spSprocColumns(x, a, true) }
	in.RegisterProcedure("sys", "sp_sproc_columns_100", arguments)
	in.RegisterProcedure("sys", "sp_databases", Procedure{Run: spDatabases})
	in.RegisterProcedure("sys", "sp_server_info", Procedure{Params: []Param{nullParam(Param{Name: "@attribute_id", Type: typeInt})}, Run: spServerInfo})
}

// odbcRule is the number of an action in sp_fkeys.
func odbcRule(action string) value {
	n, ok := map[string]int64{"CASCADE": 0, "SET NULL": 2, "SET DEFAULT": 3}[action]
	if !ok {
		n = 1
	}
	return integer(n)
}

func spFkeys(x *Exec, a []value) (int32, error) {
	if a[0].IsNull() && a[3].IsNull() {
		return 1, raise(15252, "The primary or foreign key table name must be given.")
	}
	for _, qualifier := range []value{a[2], a[5]} {
		if err := inCurrent(x, qualifier); err != nil {
			return 1, err
		}
	}
	c := x.catalog(x.db)
	matches := func(t *Table, name, owner value) bool {
		return t != nil && (name.IsNull() || strings.EqualFold(name.Str(), t.Name)) && (owner.IsNull() || strings.EqualFold(owner.Str(), c.schemaName(t.SchemaID)))
	}
	var rows [][]value
	err := x.eachTable(x.db, func(t *Table) error {
		for _, fk := range t.ForeignKeys {
			parent := c.tables[fk.RefTable]
			if !matches(t, a[3], a[4]) || !matches(parent, a[0], a[1]) {
				continue
			}
			key := value{}
			if ix := c.referencedIndex(fk); ix != nil {
				key = text(ix.Name)
			}
			for i := range fk.Columns {
				rows = append(rows, []value{
					text(x.db.Name()), text(c.schemaName(parent.SchemaID)), text(parent.Name), text(parent.ColumnByID(fk.RefColumns[i]).Name),
					text(x.db.Name()), text(c.schemaName(t.SchemaID)), text(t.Name), text(t.ColumnByID(fk.Columns[i]).Name), integer(int64(i + 1)),
					odbcRule(fk.OnUpdate), odbcRule(fk.OnDelete), text(fk.Name), key, integer(7),
				})
			}
		}
		return nil
	})
	if err != nil {
		return 1, err
	}
	by := []int{5, 6} // by the referencing table
	if a[0].IsNull() {
		by = []int{1, 2} // by the referenced one
	}
	slices.SortStableFunc(rows, func(p, q []value) int {
		return cmp.Or(strings.Compare(p[by[0]].Str(), q[by[0]].Str()), strings.Compare(p[by[1]].Str(), q[by[1]].Str()), strings.Compare(p[11].Str(), q[11].Str()), cmp.Compare(p[8].Int64(), q[8].Int64()))
	})
	return 0, x.SendRows([]Column{
		col("PKTABLE_QUALIFIER", vName), col("PKTABLE_OWNER", vName), col("PKTABLE_NAME", vName), col("PKCOLUMN_NAME", vName),
		col("FKTABLE_QUALIFIER", vName), col("FKTABLE_OWNER", vName), col("FKTABLE_NAME", vName), col("FKCOLUMN_NAME", vName), col("KEY_SEQ", typeSmallInt),
		col("UPDATE_RULE", typeSmallInt), col("DELETE_RULE", typeSmallInt), col("FK_NAME", vName), col("PK_NAME", vName), col("DEFERRABILITY", typeSmallInt),
	}, rows)
}

// spSpecialColumns answers the columns of the best unique index, or the
// rowversion column.
func spSpecialColumns(x *Exec, a []value) (int32, error) {
	if err := inCurrent(x, a[2]); err != nil {
		return 1, err
	}
	var rows [][]value
	add := func(scope value, c *TableColumn) {
		d := describeODBC(c.Type)
		rows = append(rows, []value{scope, text(c.Name), integer(d.dataType), text(c.Type.Name()), integer(d.precision), integer(d.length), d.scale, integer(1)})
	}
	t := namedTable(x, a[0], a[1])
	switch {
	case t == nil:
	case strings.EqualFold(a[3].Str(), "V"):
		for _, c := range t.Columns {
			if c.Type.ID == sqltypes.RowVersion {
				add(value{}, c)
			}
		}
	default:
		if ix := t.bestUnique(strings.EqualFold(a[5].Str(), "O")); ix != nil {
			for _, k := range ix.Keys {
				add(boolean(strings.EqualFold(a[4].Str(), "T")), t.ColumnByID(k.ColumnID))
			}
		}
	}
	return 0, x.SendRows([]Column{
		col("SCOPE", typeSmallInt), col("COLUMN_NAME", vName), col("DATA_TYPE", typeSmallInt), col("TYPE_NAME", vName), col("PRECISION", typeInt), col("LENGTH", typeInt),
		col("SCALE", typeSmallInt), col("PSEUDO_COLUMN", typeSmallInt),
	}, rows)
}

// bestUnique is the primary key, else the first unique index without a filter;
// notNull asks for one whose columns are never NULL.
func (t *Table) bestUnique(notNull bool) *Index {
	if pk := t.PrimaryKey(); pk != nil {
		return pk
	}
	for _, ix := range t.Indexes {
		nullable := slices.ContainsFunc(ix.Keys, func(k IndexKey) bool { return t.ColumnByID(k.ColumnID).Nullable })
		if ix.Unique && ix.Filter == "" && !(notNull && nullable) {
			return ix
		}
	}
	return nil
}

// eachRoutine calls f with the procedures and functions whose name matches,
// by schema and name.
func (x *Exec) eachRoutine(name, owner value, like bool, f func(m *Module, schema, shown string) error) error {
	c := x.catalog(x.db)
	list := slices.DeleteFunc(c.sortedModules(), func(m *Module) bool {
		return m.Kind == KindView || m.Kind == KindTrigger || !x.visible(x.db, m.Object) || !pattern(name, m.Name, like) || !pattern(owner, c.schemaName(m.SchemaID), like)
	})
	slices.SortFunc(list, func(p, q *Module) int {
		return cmp.Or(strings.Compare(c.schemaName(p.SchemaID), c.schemaName(q.SchemaID)), strings.Compare(p.Name, q.Name))
	})
	for _, m := range list {
		group := ";0"
		if m.Kind == KindProcedure {
			group = ";1"
		}
		if err := f(m, c.schemaName(m.SchemaID), m.Name+group); err != nil {
			return err
		}
	}
	return nil
}

func spStoredProcedures(x *Exec, a []value) (int32, error) {
	if err := inCurrent(x, a[2]); err != nil {
		return 1, err
	}
	var rows [][]value
	err := x.eachRoutine(a[0], a[1], a[3].Bool(), func(_ *Module, schema, shown string) error {
		rows = append(rows, []value{text(x.db.Name()), text(schema), text(shown), integer(-1), integer(-1), integer(-1), {}, integer(2)})
		return nil
	})
	if err != nil {
		return 1, err
	}
	return 0, x.SendRows([]Column{
		col("PROCEDURE_QUALIFIER", vName), col("PROCEDURE_OWNER", vName),
		{Name: "PROCEDURE_NAME", Type: catalogText(sqltypes.NVarCharOf(134))},
		col("NUM_INPUT_PARAMS", typeInt),
		col("NUM_OUTPUT_PARAMS", typeInt), col("NUM_RESULT_SETS", typeInt), col("REMARKS", vVarchar254), col("PROCEDURE_TYPE", typeSmallInt),
	}, rows)
}

// spSprocColumns is sp_sproc_columns; the _100 form names CLR types, XML schema
// collections and table types besides, which are none here.
func spSprocColumns(x *Exec, a []value, extended bool) (int32, error) {
	if err := inCurrent(x, a[2]); err != nil {
		return 1, err
	}
	like := a[5].Bool()
	var rows [][]value
	err := x.eachRoutine(a[0], a[1], like, func(m *Module, schema, shown string) error {
		params := x.moduleParams(x.db, m)
		if m.Kind == KindProcedure {
			params = slices.Insert(params, 0, moduleParam{typ: typeInt})
		}
		for _, p := range params {
			name, kind := p.name, int64(1)
			switch {
			case p.id == 0:
				name, kind = "@RETURN_VALUE", 5
			case p.output:
				kind = 2
			}
			if !pattern(a[3], name, like) {
				continue
			}
			d := describeODBC(p.typ)
			nullable := p.id != 0
			row := []value{
				text(x.db.Name()), text(schema), text(shown), text(name), integer(kind), integer(d.dataType), text(p.typ.Name()), integer(d.precision), integer(d.length),
				d.scale, d.radix, boolean(nullable),
				{},
				{},
				integer(d.sqlType), d.sub, d.octets, integer(p.id), yesNo(nullable),
			}
			if extended {
				row = append(row, make([]value, len(sprocTypeColumns))...)
			}
			rows = append(rows, append(row, integer(d.ssType)))
		}
		return nil
	})
	if err != nil {
		return 1, err
	}
	cols := []Column{
		col("PROCEDURE_QUALIFIER", vName), col("PROCEDURE_OWNER", vName),
		{Name: "PROCEDURE_NAME", Type: catalogText(sqltypes.NVarCharOf(134))},
		col("COLUMN_NAME", vName),
		col("COLUMN_TYPE", typeSmallInt), col("DATA_TYPE", typeSmallInt), col("TYPE_NAME", vName), col("PRECISION", typeInt), col("LENGTH", typeInt), col("SCALE", typeSmallInt),
		col("RADIX", typeSmallInt), col("NULLABLE", typeSmallInt), col("REMARKS", vVarchar254), col("COLUMN_DEF", typeText), col("SQL_DATA_TYPE", typeSmallInt),
		col("SQL_DATETIME_SUB", typeSmallInt), col("CHAR_OCTET_LENGTH", typeInt), col("ORDINAL_POSITION", typeInt), col("IS_NULLABLE", vVarchar254),
	}
	if extended {
		for _, name := range sprocTypeColumns {
			cols = append(cols, col(name, vName))
		}
	}
	return 0, x.SendRows(append(cols, col("SS_DATA_TYPE", typeTinyInt)), rows)
}

// sprocTypeColumns are those that sp_sproc_columns_100 has besides.
var sprocTypeColumns = []string{
	"SS_UDT_CATALOG_NAME", "SS_UDT_SCHEMA_NAME", "SS_UDT_ASSEMBLY_TYPE_NAME", "SS_XML_SCHEMACOLLECTION_CATALOG_NAME", "SS_XML_SCHEMACOLLECTION_SCHEMA_NAME",
	"SS_XML_SCHEMACOLLECTION_NAME", "SS_TYPE_CATALOG_NAME", "SS_TYPE_SCHEMA_NAME",
}

// databaseKB is the size of the two files of a database.
const databaseKB = 2 * 8192

func spDatabases(x *Exec, _ []value) (int32, error) {
	var rows [][]value
	for _, db := range x.visibleDatabases() {
		if db.accessible(x.s.effectiveLogin()) {
			rows = append(rows, []value{text(db.Name()), integer(databaseKB), {}})
		}
	}
	slices.SortFunc(rows, func(p, q []value) int { return strings.Compare(fold(p[0].Str()), fold(q[0].Str())) })
	return 0, x.SendRows([]Column{col("DATABASE_NAME", vName), col("DATABASE_SIZE", typeInt), col("REMARKS", vVarchar254)}, rows)
}

func spServerInfo(x *Exec, a []value) (int32, error) {
	attributes := []struct {
		id          int64
		name, value string
	}{
		{1, "DBMS_NAME", "Microsoft SQL Server"},
		{2, "DBMS_VER", x.in.versionText()},
		{10, "OWNER_TERM", "owner"},
		{11, "TABLE_TERM", "table"},
		{12, "MAX_OWNER_NAME_LENGTH", "128"},
		{13, "TABLE_LENGTH", "128"},
		{14, "MAX_QUAL_LENGTH", "128"},
		{15, "COLUMN_LENGTH", "128"},
		{16, "IDENTIFIER_CASE", "MIXED"},
		{17, "TX_ISOLATION", "2"},
		{18, "COLLATION_SEQ", "charset=iso_1 sort_order=nocase_iso charset_num=1 sort_order_num=52"},
		{19, "SAVEPOINT_SUPPORT", "Y"},
		{20, "MULTI_RESULT_SETS", "Y"},
		{22, "ACCESSIBLE_TABLES", "Y"},
		{100, "USERID_LENGTH", "128"},
		{101, "QUALIFIER_TERM", "database"},
		{102, "NAMED_TRANSACTIONS", "Y"},
		{103, "SPROC_AS_LANGUAGE", "Y"},
		{104, "ACCESSIBLE_SPROC", "Y"},
		{105, "MAX_INDEX_COLS", "16"},
		{106, "RENAME_TABLE", "Y"},
		{107, "RENAME_COLUMN", "Y"},
		{108, "DROP_COLUMN", "Y"},
		{109, "INCREASE_COLUMN_LENGTH", "Y"},
		{110, "DDL_IN_TRANSACTION", "Y"},
		{111, "DESCENDING_INDEXES", "Y"},
		{112, "SP_RENAME", "Y"},
		{113, "REMOTE_SPROC", "Y"},
		{500, "SYS_SPROC_VERSION", x.in.Version()},
	}
	var rows [][]value
	for _, at := range attributes {
		if a[0].IsNull() || a[0].Int64() == at.id {
			rows = append(rows, []value{integer(at.id), text(at.name), text(at.value)})
		}
	}
	return 0, x.SendRows([]Column{{Name: "attribute_id", Type: typeInt}, {Name: "attribute_name", Type: sqltypes.VarCharOf(60)}, col("attribute_value", vVarchar254)}, rows)
}
