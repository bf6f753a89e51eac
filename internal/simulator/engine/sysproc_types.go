package engine

import (
	"cmp"
	"slices"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
)

// registerTypeProcedures adds sp_datatype_info and xp_msver, and the function
// that tells a primary replica.
func (in *Instance) registerTypeProcedures() {
	info := Procedure{
		Params: []Param{optional(Param{Name: "@data_type", Type: typeInt}, integer(0)), optional(Param{Name: "@ODBCVer", Type: typeTinyInt}, integer(2))},
		Run:    datatypeInfo,
	}
	in.RegisterProcedure("sys", "sp_datatype_info", info)
	in.RegisterProcedure("sys", "sp_datatype_info_100", info)
	in.RegisterProcedure("sys", "xp_msver", Procedure{Params: []Param{nullParam(sysname("@optname"))}, Run: msver})
	in.RegisterFunction("sys", "fn_hadr_is_primary_replica", Function{
		Params: []Param{sysname("@dbname")}, Returns: typeBit,
		Call: func(x *Exec, a []value) (value, error) {
			db := x.in.Database(a[0].Str())
			if x.in.Primary() == nil || db == nil || db.IsSystem() {
				return value{}, nil
			}
			return boolean(!x.s.IsSecondary()), nil
		},
	})
}

// datatypeInfo is sp_datatype_info (MS docs): the system types by their ODBC type,
// each also as an identity where it can be one.
func datatypeInfo(x *Exec, a []value) (int32, error) {
	var rows [][]value
	for _, st := range systemTypes {
		if st.SystemTypeID == 240 { // the types of the CLR are one to ODBC, which the server does not list
			continue
		}
		t := sqltypes.Type{ID: st.ID, Length: declaredLength(st), Precision: uint8(st.Precision), Scale: uint8(st.Scale)}
		d := describeODBC(t)
		if !a[0].IsNull() && a[0].Int64() != 0 && a[0].Int64() != d.dataType {
			continue
		}
		rows = append(rows, datatypeRow(st, t, d, false))
		if t.ID.IsInteger() && t.ID != sqltypes.Bit || t.ID.IsDecimal() {
			rows = append(rows, datatypeRow(st, t, d, true))
		}
	}
	slices.SortStableFunc(rows, func(p, q []value) int {
		return cmp.Or(cmp.Compare(p[1].Int64(), q[1].Int64()), cmp.Compare(p[11].Int64(), q[11].Int64()))
	})
	return 0, x.SendRows([]Column{
		col("TYPE_NAME", vName), col("DATA_TYPE", typeSmallInt), col("PRECISION", typeInt), col("LITERAL_PREFIX", vVarchar32), col("LITERAL_SUFFIX", vVarchar32),
		col("CREATE_PARAMS", vVarchar32), col("NULLABLE", typeSmallInt), col("CASE_SENSITIVE", typeSmallInt), col("SEARCHABLE", typeSmallInt),
		col("UNSIGNED_ATTRIBUTE", typeSmallInt), col("MONEY", typeSmallInt), col("AUTO_INCREMENT", typeSmallInt), col("LOCAL_TYPE_NAME", vName),
		col("MINIMUM_SCALE", typeSmallInt), col("MAXIMUM_SCALE", typeSmallInt), col("SQL_DATA_TYPE", typeSmallInt), col("SQL_DATETIME_SUB", typeSmallInt),
		col("NUM_PREC_RADIX", typeInt), col("INTERVAL_PRECISION", typeSmallInt), col("USERTYPE", typeSmallInt),
	}, rows)
}

// declaredLength is the greatest length that a type of a length is declared with.
func declaredLength(st systemType) int {
	switch {
	case st.Name == "sysname":
		return 128
	case st.ID == sqltypes.NVarChar || st.ID == sqltypes.NChar:
		return 4000
	case st.ID == sqltypes.VarChar || st.ID == sqltypes.Char || st.ID == sqltypes.VarBinary || st.ID == sqltypes.Binary:
		return 8000
	}
	return 0
}

func datatypeRow(st systemType, t sqltypes.Type, d odbcType, identity bool) []value {
	name := st.Name
	nullable := st.Name != "sysname" && t.ID != sqltypes.RowVersion && !identity
	if identity {
		name += " identity"
		if t.ID.IsDecimal() {
			name = st.Name + "() identity"
		}
	}
	prefix, suffix, params := value{}, value{}, value{}
	searchable := int64(2)
	switch {
	case t.ID.IsText():
		prefix, suffix, searchable = text("'"), text("'"), 3
		if t.ID == sqltypes.NVarChar || t.ID == sqltypes.NChar || t.ID == sqltypes.NText || t.ID == sqltypes.XML {
			prefix = text("N'")
		}
	case t.ID.IsBinary():
		prefix = text("0x")
	case t.ID.IsTemporal() || t.ID == sqltypes.UniqueIdentifier:
		prefix, suffix = text("'"), text("'")
	case t.ID == sqltypes.Money || t.ID == sqltypes.SmallMoney:
		prefix = text("$")
	}
	switch {
	case t.ID == sqltypes.Binary || t.ID == sqltypes.Char || t.ID == sqltypes.NChar:
		params = text("length")
	case declaredLength(st) > 0 && st.Name != "sysname":
		params = text("max length")
	case t.ID.IsDecimal():
		params = text("precision,scale")
	case t.ID == sqltypes.Time || t.ID == sqltypes.DateTime2 || t.ID == sqltypes.DateTimeOffset:
		params = text("scale")
	}
	if d.dataType == -1 || d.dataType == -4 || d.dataType == -10 || d.dataType == -152 {
		searchable = 1
	}
	unsigned, auto, least, most := value{}, value{}, value{}, value{}
	if !d.radix.IsNull() && t.ID != sqltypes.SQLVariant {
		unsigned, auto = boolean(t.ID == sqltypes.TinyInt), boolean(identity)
	}
	if !d.scale.IsNull() {
		least, most = d.scale, d.scale
		if t.ID.IsDecimal() {
			least = integer(0)
		}
	}
	return []value{
		text(name), integer(d.dataType), integer(d.precision), prefix, suffix, params, boolean(nullable), boolean(false), integer(searchable), unsigned,
		boolean(t.ID == sqltypes.Money || t.ID == sqltypes.SmallMoney), auto, text(name), least, most, integer(d.sqlType), d.sub, d.radix,
		{},
		integer(int64(compatType(st))),
	}
}

// compatType is the usertype of sys.systypes, 0 for the types that came after
// SQL Server 7.0.
func compatType(st systemType) int {
	return map[string]int{
		"char": 1, "varchar": 2, "binary": 3, "varbinary": 4, "tinyint": 5, "smallint": 6, "int": 7, "float": 8, "numeric": 10, "money": 11, "datetime": 12,
		"bit": 16, "sysname": 18, "text": 19, "image": 20, "smallmoney": 21, "smalldatetime": 22, "real": 23, "decimal": 24, "timestamp": 80,
	}[st.Name]
}

// msver is xp_msver (MS docs): facts about the server and its machine.
func msver(x *Exec, a []value) (int32, error) {
	platform := "NT x64"
	if x.in.onLinux() {
		platform = "Linux x64"
	}
	list := []struct {
		name, text string
		number     value
	}{
		{name: "ProductName", text: "Microsoft SQL Server"},
		{"ProductVersion", x.in.Version(), integer(int64(x.in.MajorVersion()) << 16)},
		{"Language", "English (United States)", integer(1033)},
		{name: "Platform", text: platform},
		{name: "Comments", text: "SQL"},
		{name: "CompanyName", text: "Microsoft Corporation"},
		{name: "FileDescription", text: "SQL Server Windows NT - 64 Bit"},
		{name: "FileVersion", text: x.in.Version()},
		{name: "InternalName", text: "SQLSERVR"},
		{name: "LegalCopyright", text: "Simulator"},
		{name: "LegalTrademarks"},
		{name: "OriginalFilename", text: "SQLSERVR.EXE"},
		{name: "PrivateBuild"},
		{name: "SpecialBuild"},
		{"WindowsVersion", "6.3", integer(6<<16 | 3)},
		{"ProcessorCount", "4", integer(4)},
		{"ProcessorActiveMask", "f", integer(15)},
		{"ProcessorType", "", integer(8664)},
		{"PhysicalMemory", "8192", integer(8192)},
		{name: "Product ID"},
	}
	var rows [][]value
	for i, f := range list {
		if a[0].IsNull() || fold(a[0].Str()) == fold(f.name) {
			rows = append(rows, []value{integer(int64(i + 1)), text(f.name), f.number, textOrNull(f.text)})
		}
	}
	return 0, x.SendRows([]Column{
		col("Index", typeInt), col("Name", catalogText(sqltypes.NVarCharOf(40))), col("Internal_Value", typeInt), col("Character_Value", catalogText(sqltypes.NVarCharOf(512))),
	}, rows)
}
