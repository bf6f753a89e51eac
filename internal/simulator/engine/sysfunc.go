package engine

import (
	"strings"

	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/sqltypes"
	"github.com/sqlserver-cdc/benthos-sqlserver-cdc/internal/simulator/tsql"
)

// systemFunctions are the functions that read the session or the catalogue, by
// upper-case name (MS docs: Metadata Functions, Security Functions, System
// Functions).
var systemFunctions map[string]*systemFunction

var (
	typeText = sqltypes.NVarCharOf(4000)
	// sqlVariantText stands for sql_variant results, which are text or numbers here.
	typeVariant = sqltypes.Simple(sqltypes.SQLVariant)
)

func params(t ...sqltypes.Type) []sqltypes.Type { return t }

func text(s string) value { return sqltypes.StringOf(s) }

func textOrNull(s string) value {
	if s == "" {
		return value{}
	}
	return text(s)
}

func integer(n int64) value { return sqltypes.IntOf(n) }

func boolean(b bool) value { return sqltypes.BoolOf(b) }

func init() {
	one := params(typeText)
	systemFunctions = map[string]*systemFunction{
		"OBJECT_ID":              {1, 2, params(typeText, typeText), typeInt, objectID},
		"OBJECT_NAME":            {1, 2, params(typeInt, typeInt), typeSysname, objectName},
		"OBJECT_SCHEMA_NAME":     {1, 2, params(typeInt, typeInt), typeSysname, objectSchemaName},
		"OBJECT_DEFINITION":      {1, 1, params(typeInt), typeNVarMax, objectDefinition},
		"SCHEMA_NAME":            {0, 1, params(typeInt), typeSysname, schemaName},
		"SCHEMA_ID":              {0, 1, one, typeInt, schemaID},
		"DB_ID":                  {0, 1, one, typeSmallInt, dbID},
		"DB_NAME":                {0, 1, params(typeInt), typeSysname, dbName},
		"COL_NAME":               {2, 2, params(typeInt, typeInt), typeSysname, colName},
		"COL_LENGTH":             {2, 2, params(typeText, typeText), typeSmallInt, colLength},
		"COLUMNPROPERTY":         {3, 3, params(typeInt, typeText, typeText), typeInt, columnProperty},
		"OBJECTPROPERTY":         {2, 2, params(typeInt, typeText), typeInt, objectProperty},
		"OBJECTPROPERTYEX":       {2, 2, params(typeInt, typeText), typeInt, objectProperty},
		"INDEXPROPERTY":          {3, 3, params(typeInt, typeText, typeText), typeInt, indexProperty},
		"INDEX_COL":              {3, 3, params(typeText, typeInt, typeInt), typeSysname, indexCol},
		"TYPE_NAME":              {1, 1, params(typeInt), typeSysname, typeName},
		"TYPE_ID":                {1, 1, one, typeInt, typeIDFunc},
		"SERVERPROPERTY":         {1, 1, one, typeVariant, serverProperty},
		"DATABASEPROPERTYEX":     {2, 2, params(typeText, typeText), typeVariant, databaseProperty},
		"HAS_PERMS_BY_NAME":      {3, 5, params(typeText, typeText, typeText, typeText, typeText), typeInt, hasPermsByName},
		"HAS_DBACCESS":           {1, 1, one, typeInt, hasDBAccess},
		"IS_MEMBER":              {1, 1, one, typeInt, isMember},
		"IS_ROLEMEMBER":          {1, 2, params(typeText, typeText), typeInt, isRoleMember},
		"IS_SRVROLEMEMBER":       {1, 2, params(typeText, typeText), typeInt, isServerRoleMember},
		"SUSER_SNAME":            {0, 1, params(sqltypes.VarBinaryOf(85)), typeSysname, loginName},
		"SUSER_NAME":             {0, 1, params(typeInt), typeSysname, loginName},
		"SUSER_ID":               {0, 1, one, typeInt, loginID},
		"SUSER_SID":              {0, 1, one, sqltypes.VarBinaryOf(85), loginSID},
		"ORIGINAL_LOGIN":         {0, 0, nil, typeSysname, func(x *Exec, _ []value) (value, error) { return text(x.s.login.Name), nil }},
		"SYSTEM_USER":            {0, 0, nil, typeSysname, loginName},
		"USER_NAME":              {0, 1, params(typeInt), typeSysname, userName},
		"USER":                   {0, 0, nil, typeSysname, userName},
		"CURRENT_USER":           {0, 0, nil, typeSysname, userName},
		"SESSION_USER":           {0, 0, nil, typeSysname, userName},
		"USER_ID":                {0, 1, one, typeInt, userID},
		"DATABASE_PRINCIPAL_ID":  {0, 1, one, typeInt, userID},
		"HOST_NAME":              {0, 0, nil, typeSysname, func(x *Exec, _ []value) (value, error) { return textOrNull(x.s.from.Host), nil }},
		"HOST_ID":                {0, 0, nil, sqltypes.Type{ID: sqltypes.Char, Length: 10}, func(*Exec, []value) (value, error) { return text("1         "), nil }},
		"APP_NAME":               {0, 0, nil, typeSysname, func(x *Exec, _ []value) (value, error) { return text(x.s.from.App), nil }},
		"SCOPE_IDENTITY":         {0, 0, nil, sqltypes.Type{ID: sqltypes.Numeric, Precision: 38}, scopeIdentity},
		"IDENT_CURRENT":          {1, 1, one, sqltypes.Type{ID: sqltypes.Numeric, Precision: 38}, identCurrent},
		"IDENT_SEED":             {1, 1, one, sqltypes.Type{ID: sqltypes.Numeric, Precision: 38}, identSeed},
		"IDENT_INCR":             {1, 1, one, sqltypes.Type{ID: sqltypes.Numeric, Precision: 38}, identIncrement},
		"ROWCOUNT_BIG":           {0, 0, nil, typeBigInt, func(x *Exec, _ []value) (value, error) { return integer(x.s.rowCount), nil }},
		"XACT_STATE":             {0, 0, nil, typeSmallInt, func(x *Exec, _ []value) (value, error) { return integer(x.s.xactState()), nil }},
		"CURRENT_TRANSACTION_ID": {0, 0, nil, typeBigInt, func(x *Exec, _ []value) (value, error) { d, _ := x.s.Transaction(); return integer(int64(d)), nil }},
		"CONTEXT_INFO":           {0, 0, nil, sqltypes.VarBinaryOf(128), func(x *Exec, _ []value) (value, error) { return x.s.context, nil }},
		"MIN_ACTIVE_ROWVERSION":  {0, 0, nil, sqltypes.BinaryOf(8), minRowVersion},
		"ERROR_NUMBER":           {0, 0, nil, typeInt, caughtError(func(e *sqltypes.Error) value { return integer(int64(e.Number)) })},
		"ERROR_SEVERITY":         {0, 0, nil, typeInt, caughtError(func(e *sqltypes.Error) value { return integer(int64(e.Class)) })},
		"ERROR_STATE":            {0, 0, nil, typeInt, caughtError(func(e *sqltypes.Error) value { return integer(int64(e.State)) })},
		"ERROR_LINE":             {0, 0, nil, typeInt, caughtError(func(e *sqltypes.Error) value { return integer(int64(e.Line)) })},
		"ERROR_MESSAGE":          {0, 0, nil, typeText, caughtError(func(e *sqltypes.Error) value { return text(e.Message) })},
		"ERROR_PROCEDURE":        {0, 0, nil, typeSysname, caughtError(func(e *sqltypes.Error) value { return textOrNull(e.Procedure) })},
		"APPLOCK_MODE":           {3, 3, params(typeText, typeText, typeText), sqltypes.NVarCharOf(32), applockMode},
		"APPLOCK_TEST":           {4, 4, params(typeText, typeText, typeText, typeText), typeSmallInt, applockTest},
		"CURSOR_STATUS":          {2, 2, params(typeText, typeText), typeSmallInt, cursorStatus},
		"TRIGGER_NESTLEVEL":      {0, 3, params(typeInt), typeInt, func(x *Exec, _ []value) (value, error) { return integer(int64(len(x.s.firing))), nil }},
		"COLUMNS_UPDATED":        {0, 0, nil, sqltypes.VarBinaryOf(128), columnsUpdated},
		"FORMATMESSAGE":          {1, 21, params(typeText), typeText, func(x *Exec, a []value) (value, error) { return text(formatMessage(a[0].Str(), a[1:])), nil }},
	}
}

func caughtError(get func(*sqltypes.Error) value) func(x *Exec, _ []value) (value, error) {
	return func(x *Exec, _ []value) (value, error) {
		if len(x.caught) == 0 {
			return value{}, nil
		}
		return get(x.caught[len(x.caught)-1]), nil
	}
}

func minRowVersion(x *Exec, _ []value) (value, error) {
	return rowVersionBytes(2001 + x.db.store.Counter("rowversion")), nil
}

func scopeIdentity(x *Exec, _ []value) (value, error) { return numeric(x.identity), nil }

func numeric(v value) value {
	if v.IsNull() {
		return v
	}
	w, err := sqltypes.Convert(v, typeBigInt, sqltypes.Type{ID: sqltypes.Numeric, Precision: 38}, 0)
	if err != nil {
		return value{}
	}
	return w
}

// tableNamed finds a table by the text of its name.
func (x *Exec) tableNamed(name string) (*Database, *Table) {
	db, t, err := x.findTable(splitName(name))
	if err != nil {
		return nil, nil
	}
	return db, t
}

func identCurrent(x *Exec, a []value) (value, error) {
	db, t := x.tableNamed(a[0].Str())
	if t == nil || t.identity() == nil {
		return value{}, nil
	}
	return numeric(integer(lastIdentity(db, t, t.identity().Identity))), nil
}

func identSeed(x *Exec, a []value) (value, error) {
	_, t := x.tableNamed(a[0].Str())
	if t == nil || t.identity() == nil {
		return value{}, nil
	}
	return numeric(integer(t.identity().Identity.Seed)), nil
}

func identIncrement(x *Exec, a []value) (value, error) {
	_, t := x.tableNamed(a[0].Str())
	if t == nil || t.identity() == nil {
		return value{}, nil
	}
	return numeric(integer(t.identity().Identity.Increment)), nil
}

// globalVariable compiles @@name.
func (c *compiler) globalVariable(g *tsql.GlobalVariable) (*expr, error) {
	f, ok := globalVariables[strings.ToUpper(g.Name)]
	if !ok {
		return nil, sqltypes.Errorf(137, 2, 15, "Must declare the scalar variable \"%s\".", g.Name)
	}
	t := f.typ
	if t.ID.IsText() {
		t.Collation = c.x.collation()
	}
	return &expr{typ: t, nullable: true, eval: func(fr *frame) (value, error) { return f.get(fr.x), nil }}, nil
}

type globalVariable struct {
	typ sqltypes.Type
	get func(x *Exec) value
}

var globalVariables = map[string]globalVariable{
	"@@VERSION":          {sqltypes.NVarCharOf(300), func(x *Exec) value { return text(x.in.versionText()) }},
	"@@SPID":             {typeSmallInt, func(x *Exec) value { return integer(int64(x.s.spid)) }},
	"@@TRANCOUNT":        {typeInt, func(x *Exec) value { return integer(int64(x.s.tranCount())) }},
	"@@ROWCOUNT":         {typeInt, func(x *Exec) value { return integer(x.s.rowCount) }},
	"@@ERROR":            {typeInt, func(x *Exec) value { return integer(int64(x.s.lastError)) }},
	"@@IDENTITY":         {sqltypes.Type{ID: sqltypes.Numeric, Precision: 38}, func(x *Exec) value { return numeric(x.s.identity) }},
	"@@SERVERNAME":       {typeSysname, func(x *Exec) value { return text(x.serverName()) }},
	"@@SERVICENAME":      {typeSysname, func(*Exec) value { return text("MSSQLSERVER") }},
	"@@NESTLEVEL":        {typeInt, func(x *Exec) value { return integer(int64(x.s.nestLevel)) }},
	"@@LOCK_TIMEOUT":     {typeInt, func(x *Exec) value { return integer(x.s.lockTimeoutMS) }},
	"@@DATEFIRST":        {typeTinyInt, func(x *Exec) value { return integer(int64(x.s.dateFirst)) }},
	"@@LANGUAGE":         {typeSysname, func(x *Exec) value { return text(x.s.language) }},
	"@@LANGID":           {typeSmallInt, func(*Exec) value { return integer(0) }},
	"@@MAX_PRECISION":    {typeTinyInt, func(*Exec) value { return integer(38) }},
	"@@MAX_CONNECTIONS":  {typeInt, func(*Exec) value { return integer(32767) }},
	"@@MICROSOFTVERSION": {typeInt, func(x *Exec) value { return integer(x.in.packedVersion()) }},
	"@@OPTIONS":          {typeInt, func(*Exec) value { return integer(5496) }},
	"@@PROCID":           {typeInt, func(*Exec) value { return integer(0) }},
	"@@FETCH_STATUS":     {typeInt, func(x *Exec) value { return integer(x.s.fetchStatus) }},
	"@@CURSOR_ROWS":      {typeInt, func(x *Exec) value { return integer(x.s.cursorRows) }},
	"@@TEXTSIZE":         {typeInt, func(x *Exec) value { return integer(x.s.textSize) }},
	"@@DBTS":             {sqltypes.VarBinaryOf(8), func(x *Exec) value { return rowVersionBytes(2000 + x.db.store.Counter("rowversion")) }},
	"@@CPU_BUSY":         {typeInt, func(*Exec) value { return integer(0) }},
	"@@REMSERVER":        {typeSysname, func(*Exec) value { return value{} }},
}

// serverProperty is SERVERPROPERTY (MS docs: SERVERPROPERTY); a name that there
// is none of is NULL.
func serverProperty(x *Exec, a []value) (value, error) {
	name := strings.ToUpper(strings.TrimSpace(a[0].Str()))
	if v, ok := serverTexts(x)[name]; ok {
		if v == "" {
			return value{}, nil
		}
		return sqltypes.VariantOf(text(v), typeSysname), nil
	}
	if n, ok := serverNumbers(x)[name]; ok {
		return sqltypes.VariantOf(integer(n), typeInt), nil
	}
	if name == "RESOURCELASTUPDATEDATETIME" {
		return sqltypes.VariantOf(x.dateTime(x.in.started), typeDateTime), nil
	}
	return value{}, nil
}

// serverTexts are the properties that are text, "" for NULL.
func serverTexts(x *Exec) map[string]string {
	p := x.in.product
	parts := strings.Split(p.build, ".")
	folder := "/var/opt/mssql/data/"
	if !x.in.onLinux() {
		folder = `C:\Program Files\Microsoft SQL Server\MSSQL` + parts[0] + `.MSSQLSERVER\MSSQL\DATA\`
	}
	texts := map[string]string{
		"PRODUCTVERSION": p.build, "PRODUCTMAJORVERSION": parts[0], "PRODUCTMINORVERSION": parts[1], "PRODUCTBUILD": parts[2],
		"PRODUCTLEVEL": p.level, "PRODUCTUPDATELEVEL": p.update, "PRODUCTUPDATEREFERENCE": p.kb, "PRODUCTBUILDTYPE": "",
		"RESOURCEVERSION": parts[0] + "." + parts[1] + "." + parts[2], "BUILDCLRVERSION": "v4.0.30319",
		"EDITION": x.in.editionName(), "SERVERNAME": x.serverName(), "MACHINENAME": x.serverName(), "COMPUTERNAMEPHYSICALNETBIOS": x.serverName(),
		"INSTANCENAME": "", "COLLATION": x.in.opts.Collation, "SQLCHARSETNAME": "iso_1", "SQLSORTORDERNAME": "nocase_iso",
		"LICENSETYPE": "DISABLED", "FILESTREAMSHARENAME": "MSSQLSERVER",
		"INSTANCEDEFAULTDATAPATH": folder, "INSTANCEDEFAULTLOGPATH": folder,
	}
	if x.in.AtLeast(Release2019) {
		texts["INSTANCEDEFAULTBACKUPPATH"] = folder
	}
	if p.engineEdition != 0 {
		for _, name := range []string{"INSTANCEDEFAULTDATAPATH", "INSTANCEDEFAULTLOGPATH", "COMPUTERNAMEPHYSICALNETBIOS"} {
			texts[name] = ""
		}
	}
	return texts
}

// serverNumbers are the properties that are numbers.
func serverNumbers(x *Exec) map[string]int64 {
	collation, _ := sqltypes.LookupCollation(x.in.opts.Collation)
	numbers := map[string]int64{
		"ENGINEEDITION": x.in.EngineEdition(), "EDITIONID": x.in.editionID(), "LCID": 1033, "PROCESSID": 1, "SQLCHARSET": 1, "SQLSORTORDER": 52,
		"COLLATIONID": 872468488, "COMPARISONSTYLE": 196609, "ISCLUSTERED": 0, "ISFULLTEXTINSTALLED": 0, "ISLOCALDB": 0, "ISXTPSUPPORTED": 1,
		"ISPOLYBASEINSTALLED": 0, "ISSINGLEUSER": 0, "FILESTREAMCONFIGUREDLEVEL": 0, "FILESTREAMEFFECTIVELEVEL": 0, "ISINTEGRATEDSECURITYONLY": 0,
		"ISADVANCEDANALYTICSINSTALLED": 0, "ISHADRENABLED": 0, "ISBIGDATACLUSTER": 0,
	}
	if collation != sqltypes.DefaultCollation {
		delete(numbers, "COLLATIONID")
	}
	if x.in.replicas.group() != nil || x.in.product.engineEdition != 0 {
		numbers["ISHADRENABLED"] = 1
	}
	if x.in.replicas.group() != nil {
		numbers["HADRMANAGERSTATUS"] = 1
	} else {
		numbers["HADRMANAGERSTATUS"] = 2
	}
	if x.in.AtLeast(Release2019) {
		numbers["ISTEMPDBMETADATAMEMORYOPTIMIZED"] = 0
	}
	if x.in.AtLeast(Release2022) {
		numbers["ISEXTERNALAUTHENTICATIONONLY"], numbers["SUSPENDEDDATABASECOUNT"], numbers["ISSERVERSUSPENDEDFORSNAPSHOTBACKUP"] = 0, 0, 0
	}
	return numbers
}

func databaseProperty(x *Exec, a []value) (value, error) {
	db := x.in.Database(a[0].Str())
	if db == nil {
		return value{}, nil
	}
	o := db.Catalog().options
	variant := func(s string) value { return sqltypes.VariantOf(text(s), typeSysname) }
	flag := func(b bool) value { return sqltypes.VariantOf(boolean(b), typeInt) }
	switch strings.ToUpper(a[1].Str()) {
	case "COLLATION":
		return variant(o.Collation), nil
	case "STATUS":
		return variant(o.State), nil
	case "UPDATEABILITY":
		if o.ReadOnly || x.s.IsSecondary() && !db.IsSystem() {
			return variant("READ_ONLY"), nil
		}
		return variant("READ_WRITE"), nil
	case "USERACCESS":
		return variant(o.UserAccess), nil
	case "RECOVERY":
		return variant(o.Recovery), nil
	case "VERSION":
		return sqltypes.VariantOf(integer(x.in.product.internal), typeInt), nil
	case "EDITION", "SERVICEOBJECTIVE":
		switch {
		case !x.in.IsAzure():
			return value{}, nil
		case strings.EqualFold(a[1].Str(), "Edition"):
			return variant("GeneralPurpose"), nil
		default:
			return variant("GP_Gen5_2"), nil
		}
	case "ISANSINULLDEFAULT", "ISANSINULLSENABLED", "ISANSIPADDINGENABLED", "ISANSIWARNINGSENABLED", "ISARITHMETICABORTENABLED", "ISNULLCONCAT",
		"ISNUMERICROUNDABORTENABLED", "ISQUOTEDIDENTIFIERSENABLED", "ISRECURSIVETRIGGERSENABLED", "ISCLOSECURSORSONCOMMITENABLED",
		"ISLOCALCURSORSDEFAULT", "ISPARAMETERIZATIONFORCED", "ISSYNCWITHBACKUP", "ISTORNPAGEDETECTIONENABLED", "ISCLONE", "ISVERIFIEDCLONE":
		return flag(false), nil
	case "ISAUTOCREATESTATISTICS", "ISAUTOUPDATESTATISTICS":
		return flag(true), nil
	case "SQLSORTORDER":
		return sqltypes.VariantOf(integer(52), sqltypes.Simple(sqltypes.TinyInt)), nil
	case "ISFULLTEXTENABLED", "ISAUTOCLOSE", "ISAUTOSHRINK", "ISINSTANDBY", "ISPUBLISHED", "ISSUBSCRIBED", "ISMERGEPUBLISHED":
		return flag(false), nil
	case "LCID":
		return sqltypes.VariantOf(integer(1033), typeInt), nil
	}
	return value{}, nil
}
