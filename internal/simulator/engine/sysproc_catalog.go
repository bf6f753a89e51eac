package engine

import (
	"slices"
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// The ODBC catalogue procedures that drivers call for metadata (MS docs:
// sp_tables, sp_columns, sp_pkeys, sp_statistics; the _100 forms are what
// Microsoft's JDBC driver sends).

var (
	vVarchar32  = sqltypes.VarCharOf(32)
	vVarchar254 = sqltypes.VarCharOf(254)
)

func nullParam(p Param) Param { return optional(p, value{}) }

func (in *Instance) registerCatalogProcedures() {
	in.RegisterProcedure("sys", "sp_tables", Procedure{
		Params: []Param{
			nullParam(Param{Name: "@table_name", Type: sqltypes.NVarCharOf(384)}), nullParam(Param{Name: "@table_owner", Type: sqltypes.NVarCharOf(384)}),
			nullParam(sysname("@table_qualifier")), nullParam(Param{Name: "@table_type", Type: sqltypes.VarCharOf(100)}), optional(Param{Name: "@fUsePattern", Type: typeBit}, integer(1)),
		},
		Run: spTables,
	})
	pkeys := Procedure{
		Params: []Param{sysname("@table_name"), nullParam(sysname("@table_owner")), nullParam(sysname("@table_qualifier"))},
		Run:    spPkeys,
	}
	in.RegisterProcedure("sys", "sp_pkeys", pkeys)
	columns := Procedure{
		Params: []Param{
			{Name: "@table_name", Type: sqltypes.NVarCharOf(384)},
			nullParam(Param{Name: "@table_owner", Type: sqltypes.NVarCharOf(384)}), nullParam(sysname("@table_qualifier")),
			nullParam(Param{Name: "@column_name", Type: sqltypes.NVarCharOf(384)}), optional(Param{Name: "@NameScope", Type: typeInt}, integer(0)), optional(Param{Name: "@ODBCVer", Type: typeInt}, integer(2)),
			optional(Param{Name: "@fUsePattern", Type: typeBit}, integer(1)),
		},
	}
	columns.Run = func(x *Exec, a []value) (int32, error) { return spColumns(x, a, true) }
	in.RegisterProcedure("sys", "sp_columns_100", columns)
	if in.AtLeast(Release2025) {
		in.RegisterProcedure("sys", "sp_columns_170", columns)
	}
	columns.Run = func(x *Exec, a []value) (int32, error) {
		a[4], a[5] = integer(0), integer(2)
		return spColumns(x, a, false)
	}
	columns.Params = slices.Clone(columns.Params)
	columns.Params[4], columns.Params[5] = optional(Param{Name: "@ODBCVer", Type: typeInt}, integer(2)), optional(Param{Name: "@NameScope", Type: typeInt}, integer(0))
	in.RegisterProcedure("sys", "sp_columns", columns)
	statistics := Procedure{
		Params: []Param{
			sysname("@table_name"), nullParam(sysname("@table_owner")), nullParam(sysname("@table_qualifier")), optional(sysname("@index_name"), text("%")),
			optional(Param{Name: "@is_unique", Type: sqltypes.Type{ID: sqltypes.Char, Length: 1}}, text("N")), optional(Param{Name: "@accuracy", Type: sqltypes.Type{ID: sqltypes.Char, Length: 1}}, text("Q")),
		},
		Run: spStatistics,
	}
	in.RegisterProcedure("sys", "sp_statistics", statistics)
	in.RegisterProcedure("sys", "sp_statistics_100", statistics)
}

// inCurrent is error 15250 unless the qualifier names the current database.
func inCurrent(x *Exec, qualifier value) error {
	if !qualifier.IsNull() && qualifier.Str() != "" && !strings.EqualFold(qualifier.Str(), x.db.Name()) {
		return raise(15250, "The database name component of the object qualifier must be the name of the current database.")
	}
	return nil
}

// pattern matches an optional LIKE pattern, or a plain name when like is off.
func pattern(v value, name string, like bool) bool {
	if v.IsNull() {
		return true
	}
	if !like {
		return strings.EqualFold(v.Str(), name)
	}
	t := vName
	return sqltypes.Like(name, v.Str(), -1, t)
}

func spTables(x *Exec, a []value) (int32, error) {
	if err := inCurrent(x, a[2]); err != nil {
		return 1, err
	}
	types := strings.ToUpper(a[3].Str())
	wanted := func(kind string) bool { return a[3].IsNull() || strings.Contains(types, "'"+kind+"'") }
	like := a[4].Bool()
	c := x.catalog(x.db)
	var rows [][]value
	add := func(schema, name, kind string) {
		if wanted(kind) && pattern(a[0], name, like) && pattern(a[1], schema, like) {
			rows = append(rows, []value{text(x.db.Name()), text(schema), text(name), text(kind), {}})
		}
	}
	for _, t := range c.sortedTables() {
		if !x.visible(x.db, t.Object) {
			continue
		}
		kind := "TABLE"
		if t.MSShipped && t.Name == "systranschemas" {
			kind = "SYSTEM TABLE"
		}
		add(c.schemaName(t.SchemaID), t.Name, kind)
	}
	for _, m := range c.sortedModules() {
		if m.Kind == KindView && x.visible(x.db, m.Object) {
			add(c.schemaName(m.SchemaID), m.Name, "VIEW")
		}
	}
	for _, v := range x.in.hooks.views {
		add(v.Schema, v.Name, "VIEW")
	}
	slices.SortFunc(rows, func(p, q []value) int {
		for _, i := range []int{3, 1, 2} {
			if r := strings.Compare(p[i].Str(), q[i].Str()); r != 0 {
				return r
			}
		}
		return 0
	})
	return 0, x.SendRows([]Column{col("TABLE_QUALIFIER", vName), col("TABLE_OWNER", vName), col("TABLE_NAME", vName), col("TABLE_TYPE", vVarchar32), col("REMARKS", vVarchar254)}, rows)
}

// namedTable finds a table for the procedures that take exact names.
func namedTable(x *Exec, name, owner value) *Table {
	c := x.catalog(x.db)
	schema := owner.Str()
	if owner.IsNull() || schema == "" {
		schema = x.defaultSchema(x.db)
	}
	t := c.table(schema, name.Str())
	if t == nil || !x.visible(x.db, t.Object) {
		return nil
	}
	return t
}

func spPkeys(x *Exec, a []value) (int32, error) {
	if err := inCurrent(x, a[2]); err != nil {
		return 1, err
	}
	var rows [][]value
	if t := namedTable(x, a[0], a[1]); t != nil && t.PrimaryKey() != nil {
		for i, k := range t.PrimaryKey().Keys {
			rows = append(rows, []value{text(x.db.Name()), text(x.catalog(x.db).schemaName(t.SchemaID)), text(t.Name), text(t.ColumnByID(k.ColumnID).Name), integer(int64(i + 1)), text(t.PrimaryKey().Name)})
		}
	}
	return 0, x.SendRows([]Column{col("TABLE_QUALIFIER", vName), col("TABLE_OWNER", vName), col("TABLE_NAME", vName), col("COLUMN_NAME", vName), col("KEY_SEQ", typeSmallInt), col("PK_NAME", vName)}, rows)
}

func spStatistics(x *Exec, a []value) (int32, error) {
	if err := inCurrent(x, a[2]); err != nil {
		return 1, err
	}
	var rows [][]value
	if t := namedTable(x, a[0], a[1]); t != nil {
		db, schema := text(x.db.Name()), text(x.catalog(x.db).schemaName(t.SchemaID))
		count := x.db.store.RowCount(t.ID)
		rows = append(rows, []value{db, schema, text(t.Name), {}, {}, {}, integer(0), {}, {}, {}, integer(count), integer(count/100 + 1), {}})
		// In order of NON_UNIQUE, TYPE, INDEX_NAME, SEQ_IN_INDEX (MS docs: sp_statistics).
		indexes := slices.Clone(t.Indexes)
		slices.SortStableFunc(indexes, func(p, q *Index) int {
			if p.Unique != q.Unique {
				if p.Unique {
					return -1
				}
				return 1
			}
			if p.Clustered != q.Clustered {
				if p.Clustered {
					return -1
				}
				return 1
			}
			return strings.Compare(fold(p.Name), fold(q.Name))
		})
		for _, ix := range indexes {
			if strings.EqualFold(a[4].Str(), "Y") && !ix.Unique || !pattern(a[3], ix.Name, true) {
				continue
			}
			kind := integer(3)
			if ix.Clustered {
				kind = integer(1)
			}
			for i, k := range ix.Keys {
				order := "A"
				if k.Desc {
					order = "D"
				}
				rows = append(rows, []value{db, schema, text(t.Name), integer(sqltypes.BoolOf(!ix.Unique).Int64()), text(t.Name), text(ix.Name), kind, integer(int64(i + 1)), text(t.ColumnByID(k.ColumnID).Name), text(order), integer(count), integer(count/100 + 1), textOrNull(ix.Filter)})
			}
		}
	}
	char1 := sqltypes.Type{ID: sqltypes.Char, Length: 1, Collation: sqltypes.DefaultCollation}
	return 0, x.SendRows([]Column{
		col("TABLE_QUALIFIER", vName), col("TABLE_OWNER", vName), col("TABLE_NAME", vName), col("NON_UNIQUE", typeSmallInt), col("INDEX_QUALIFIER", vName), col("INDEX_NAME", vName),
		col("TYPE", typeSmallInt), col("SEQ_IN_INDEX", typeSmallInt), col("COLUMN_NAME", vName), col("COLLATION", char1), col("CARDINALITY", typeInt), col("PAGES", typeInt), col("FILTER_CONDITION", sqltypes.VarCharOf(128)),
	}, rows)
}

// odbcType is how the catalogue procedures describe a type.
type odbcType struct {
	dataType, precision, length int64
	scale, radix                value
	sqlType                     int64
	sub                         value
	octets                      value
	ssType                      int64
}

// describeODBC follows the values that sp_columns_100 answers at ODBC version 3
// (MS docs: sp_columns; those of Babelfish agree).
func describeODBC(t sqltypes.Type) odbcType {
	null := value{}
	number := func(code, precision, length, scale, radix, ss int64) odbcType {
		return odbcType{dataType: code, precision: precision, length: length, scale: integer(scale), radix: integer(radix), sqlType: code, sub: null, octets: null, ssType: ss}
	}
	temporal := func(code, precision, length, scale, sqlType int64, sub value, ss int64) odbcType {
		return odbcType{dataType: code, precision: precision, length: length, scale: integer(scale), radix: null, sqlType: sqlType, sub: sub, octets: null, ssType: ss}
	}
	sized := func(code, precision, length, ss int64) odbcType {
		if t.Length == sqltypes.Max {
			precision, length = 0, 0
		}
		return odbcType{dataType: code, precision: precision, length: length, scale: null, radix: null, sqlType: code, sub: null, octets: integer(length), ssType: ss}
	}
	p, s := int64(t.Precision), int64(t.Scale)
	n := int64(t.Length)
	switch t.ID {
	case sqltypes.Bit:
		return odbcType{dataType: -7, precision: 1, length: 1, scale: null, radix: null, sqlType: -7, ssType: 50}
	case sqltypes.TinyInt:
		return number(-6, 3, 1, 0, 10, 38)
	case sqltypes.SmallInt:
		return number(5, 5, 2, 0, 10, 38)
	case sqltypes.Int:
		return number(4, 10, 4, 0, 10, 38)
	case sqltypes.BigInt:
		return number(-5, 19, 8, 0, 10, 108)
	case sqltypes.Decimal:
		return number(3, p, p+2, s, 10, 106)
	case sqltypes.Numeric:
		return number(2, p, p+2, s, 10, 108)
	case sqltypes.Money:
		return number(3, 19, 21, 4, 10, 110)
	case sqltypes.SmallMoney:
		return number(3, 10, 12, 4, 10, 110)
	case sqltypes.Float:
		o := number(6, 53, 8, 0, 2, 109)
		o.scale = null
		return o
	case sqltypes.Real:
		o := number(7, 24, 4, 0, 2, 109)
		o.scale = null
		return o
	case sqltypes.Date:
		return temporal(91, 10, 6, 0, 9, integer(1), 0)
	case sqltypes.Time:
		return temporal(-154, timePrecision(8, t.Scale), 2*timePrecision(8, t.Scale), s, -154, null, 0)
	case sqltypes.DateTime:
		return temporal(93, 23, 16, 3, 9, integer(3), 111)
	case sqltypes.SmallDateTime:
		return temporal(93, 16, 16, 0, 9, integer(3), 111)
	case sqltypes.DateTime2:
		return temporal(93, timePrecision(19, t.Scale), 2*timePrecision(19, t.Scale), s, 9, integer(3), 0)
	case sqltypes.DateTimeOffset:
		return temporal(-155, timePrecision(26, t.Scale), 2*timePrecision(26, t.Scale), s, -155, null, 0)
	case sqltypes.Char:
		return sized(1, n, n, 47)
	case sqltypes.VarChar:
		return sized(12, n, n, 39)
	case sqltypes.NChar:
		return sized(-8, n, 2*n, 47)
	case sqltypes.NVarChar:
		return sized(-9, n, 2*n, 39)
	case sqltypes.Text:
		return sized(-1, 2147483647, 2147483647, 35)
	case sqltypes.NText:
		return sized(-10, 1073741823, 2147483646, 35)
	case sqltypes.Binary:
		return sized(-2, n, n, 45)
	case sqltypes.VarBinary:
		return sized(-3, n, n, 37)
	case sqltypes.Image:
		return sized(-4, 2147483647, 2147483647, 34)
	case sqltypes.UniqueIdentifier:
		return odbcType{dataType: -11, precision: 36, length: 16, scale: null, radix: null, sqlType: -11, ssType: 37}
	case sqltypes.RowVersion:
		return sized(-2, 8, 8, 45)
	case sqltypes.XML:
		return odbcType{dataType: -152, scale: null, radix: null, sqlType: -152, ssType: 0}
	case sqltypes.SQLVariant:
		return odbcType{dataType: -150, precision: 8000, length: 8000, radix: integer(10), scale: integer(0), sqlType: -150, ssType: 39}
	default:
		return odbcType{dataType: -151, precision: int64(max(t.MaxLength(), 0)), length: int64(max(t.MaxLength(), 0)), scale: null, radix: null, sqlType: -151, ssType: 23}
	}
}

func spColumns(x *Exec, a []value, extended bool) (int32, error) {
	if err := inCurrent(x, a[2]); err != nil {
		return 1, err
	}
	like := a[6].Bool()
	c := x.catalog(x.db)
	cols := []Column{
		col("TABLE_QUALIFIER", vName), col("TABLE_OWNER", vName), col("TABLE_NAME", vName), col("COLUMN_NAME", vName), col("DATA_TYPE", typeSmallInt), col("TYPE_NAME", vName), col("PRECISION", typeInt), col("LENGTH", typeInt),
		col("SCALE", typeSmallInt), col("RADIX", typeSmallInt), col("NULLABLE", typeSmallInt), col("REMARKS", vVarchar254), col("COLUMN_DEF", typeText), col("SQL_DATA_TYPE", typeSmallInt), col("SQL_DATETIME_SUB", typeSmallInt),
		col("CHAR_OCTET_LENGTH", typeInt), col("ORDINAL_POSITION", typeInt), col("IS_NULLABLE", vVarchar254),
	}
	if extended {
		for _, name := range []string{"SS_IS_SPARSE", "SS_IS_COLUMN_SET", "SS_IS_COMPUTED", "SS_IS_IDENTITY"} {
			cols = append(cols, col(name, typeSmallInt))
		}
		for _, name := range []string{"SS_UDT_CATALOG_NAME", "SS_UDT_SCHEMA_NAME", "SS_UDT_ASSEMBLY_TYPE_NAME", "SS_XML_SCHEMACOLLECTION_CATALOG_NAME", "SS_XML_SCHEMACOLLECTION_SCHEMA_NAME", "SS_XML_SCHEMACOLLECTION_NAME"} {
			cols = append(cols, col(name, vName))
		}
	}
	cols = append(cols, col("SS_DATA_TYPE", typeTinyInt))
	var rows [][]value
	last, position := int64(0), int64(0)
	err := x.eachColumn(x.db, func(o Object, cl *TableColumn) error {
		if o.ID != last {
			last, position = o.ID, 0
		}
		position++
		schema := c.schemaName(o.SchemaID)
		if !pattern(a[0], o.Name, like) || !pattern(a[1], schema, like) || !pattern(a[3], cl.Name, like) {
			return nil
		}
		d := describeODBC(cl.Type)
		name := cl.Type.Name()
		if cl.UserTypeID != 0 {
			if v, err := typeName(x, []value{integer(int64(cl.UserTypeID))}); err == nil && !v.IsNull() {
				name = v.Str()
			}
		}
		if cl.Identity != nil {
			name += " identity"
		}
		def := value{}
		if cl.Default != nil {
			def = text(cl.Default.Text)
		}
		row := []value{
			text(x.db.Name()), text(schema), text(o.Name), text(cl.Name), integer(d.dataType), text(name), integer(d.precision), integer(d.length), d.scale, d.radix, boolean(cl.Nullable),
			{},
			def,
			integer(d.sqlType), d.sub, d.octets, integer(position), yesNo(cl.Nullable),
		}
		if extended {
			row = append(row, boolean(cl.Sparse), boolean(false), boolean(cl.Computed != ""), boolean(cl.Identity != nil), value{}, value{}, value{}, value{}, value{}, value{})
		}
		rows = append(rows, append(row, integer(d.ssType)))
		return nil
	})
	if err != nil {
		return 1, err
	}
	return 0, x.SendRows(cols, rows)
}
